"""What benchmarks print, one line of JSON for each measurement, and the part of a page that shows what they printed."""

import json
import re
from dataclasses import dataclass
from typing import Any

BEGIN, END = "<!-- printed by make bench -->", "<!-- end of what was printed -->"
NUMBERS = ("ratio", "value", "us")
"""The fields of which one is the number that a measurement is about, where it is about one."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What a line measures. ``goal`` says how much it should be at most, or at ``least``."""

    meaning: str
    goal: float | None = None
    least: bool = False


MEASURES = {
    "real runs": Measure("the bundled real runs landed and replayed on one core, without Spark: speeds and sizes"),
    "busy broker": Measure("the same of logs in which one line in a hundred is of interest"),
    "dense_us_per_event": Measure("CPU microseconds an event, in landing logs of which every line is of interest", 45),
    "big_file_two_vs_one_cores": Measure("how much faster two cores land one file of 500 MB than one does", 1.7, True),
    "landing_vs_spark": Measure("landing 200 MB over Spark alone that keeps the lines with one substring", 1.3),
    "look_demo": Measure("seconds of `look` on the demo's logs, in a cold process without Java", 3),
    "spark_demo_s": Measure("seconds of `run` by Spark on the demo's logs, in a cold process", 20),
    "local_vs_spark_demo": Measure("`run` by the local engine over `run` by Spark, on the demo's logs", 0.5),
    "local_vs_spark_real_runs": Measure("the same on the logs of all bundled real runs", 0.5),
    "second_night": Measure("seconds of `run` by Spark: first night, one new file, nothing new (goal of the last: 1)"),
    "second_night_vs_before": Measure(
        "a night with one new file over the same by a release without local engine", 0.33
    ),
    "replay_vs_spark_writer_floor": Measure(
        "a replay over one whose core does nothing, with Spark's own Delta writer", 1.6
    ),
    "replay_vs_honest_floor": Measure("the same, written as ours is", 1.6),
    "rdd_vs_replay": Measure("the same fold behind `rdd.mapPartitions`, rows in and rows out, over ours", 5, True),
    "night30_vs_night1": Measure("the last of thirty nights over the first that go on from a checkpoint", 1.1),
    "growth_1x_4x_16x": Measure("what a group more costs among 8,000, over what it costs among 2,000", 1.1),
    "hot_group_peak_mb": Measure("megabytes of a Python worker while one group says a million lines in a night"),
    "two_vs_one_executors": Measure("one executor on one core over two on two, the driver beside them", 1.7, True),
    "many_groups": Measure("seconds of a replay of 20,000 groups, one of which says a million lines, with all gates"),
}
"""All that `make bench` measures, in the order of the page."""


def say(name: str, **of: Any) -> None:
    """Print one measurement, and its goal where it has one."""
    goal = MEASURES[name].goal if name in MEASURES else None
    print(json.dumps({"name": name, **of, **({"goal": goal} if goal else {})}), flush=True)  # noqa: T201 - the result


def table(lines: list[dict[str, Any]]) -> str:
    """What was printed of each measure, beside its goal."""
    rows = ["| name | printed | goal | what it is |", "|---|---|---|---|"]
    for line in lines:
        measure = MEASURES[line["name"]]
        printed = next((line[name] for name in NUMBERS if name in line), "see below")
        bound = "at least" if measure.least else "at most"
        goal = "" if measure.goal is None else f"{bound} {measure.goal}"
        rows.append(f"| `{line['name']}` | {printed} | {goal} | {measure.meaning} |")
    return "\n".join(rows)


def section(printed: list[str], day: str) -> str:
    """The part of the page that is made of the lines that were ``printed``."""
    lines = {line["name"]: line for line in map(json.loads, printed)}
    told = [lines[name] for name in MEASURES if name in lines]
    verbatim = "\n".join(f"    {json.dumps(line)}" for line in told)
    return f"{BEGIN}\nPrinted on {day}, on two cores without other work:\n\n{table(told)}\n\n{verbatim}\n{END}"


def rewritten(page: str, printed: list[str], day: str) -> str:
    """The page with what was printed in place of what was printed before."""
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: section(printed, day), page, flags=re.DOTALL)
