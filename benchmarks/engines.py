"""The same logs by both engines, each in a cold process; and how long a look takes, with Java out of reach.

Prints one line of JSON for each measurement: wall and CPU seconds of each round (CPU with that of child processes),
the ratio of the shortest, whether the tables are the same row by row, and how many jobs Spark ran. Then what a second
night costs that brings one new file, and one that brings nothing, over the same by an older commit, with the packages
of today.

    python -m benchmarks.engines                          # the logs of `make demo`
    python -m benchmarks.engines --landing DIR --rounds 1
    python -m benchmarks.engines --before COMMIT          # other than the last one that knew no local engine
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.printed import say
from benchmarks.sizes import real_runs
from election_replay.jobs.reading.published import Published
from election_replay.jobs.warehouse.table_sets import CARRIED
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from proof.older.__main__ import checkout

BEFORE = "64f5793"
"""The last commit in which Spark alone did everything, however little."""

DEMO = Path(__file__).parents[1] / "examples" / "landing"
OWN = {"runs", "validations", "landed_files", *CARRIED}
"""Tables that tell of a run, or are not for readers."""
OF_A_RUN = ("first_seen_run", "first_seen_at", "last_seen_at")
"""Columns that tell which run found a row first, and when."""


def cold(*arguments: str, code: Path | None = None, **settings: str) -> dict[str, float]:
    """The seconds of a command in a process of its own, and the CPU seconds of it and its children.

    Python finds its modules compiled, as an installation has them, whatever the environment says of that. ``code`` is
    the checkout of :data:`BEFORE` or another such commit; ``settings`` are variables of the environment.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | settings
    module = "election_replay.jobs.cli.app"
    if code is not None:
        environment, module = environment | {"PYTHONPATH": str(code)}, "jobs.cli"
    before, began = os.times(), time.monotonic()
    words = [sys.executable, "-m", module, *arguments]
    subprocess.run(words, env=environment, cwd=code, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.monotonic() - began, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"wall_s": round(wall, 1), "cpu_s": round(cpu, 1)}


def tables(warehouse: str) -> dict[str, list[str]]:
    """All published rows, without what tells of the run that made them."""
    published = Published(Warehouse(warehouse))
    found = {name: published.rows(f"SELECT * FROM {name}") for name in TABLES if name not in OWN}  # noqa: S608
    return {
        name: sorted(json.dumps({key: row[key] for key in row if key not in OF_A_RUN}, default=str) for row in rows)
        for name, rows in found.items()
    }


def shortest(rounds: list[dict[str, float]]) -> float:
    """The shortest wall time of some rounds."""
    return min(one["wall_s"] for one in rounds)


def local_vs_spark(landing: str, folder: Path, rounds: int) -> dict[str, Any]:
    """``run`` by each engine, by turns."""
    told: dict[str, list[dict[str, float]]] = {"local": [], "spark": []}
    jobs = spark_jobs(landing, folder)
    for number in range(rounds):
        for engine, own in told.items():
            warehouse = str(folder / f"{engine}-{number}")
            own.append(
                cold("run", "--landing", landing, "--warehouse", warehouse, "--engine", engine, "--config", "none")
            )
    same = tables(str(folder / "local-0")) == tables(str(folder / "spark-0"))
    ratio = round(shortest(told["local"]) / shortest(told["spark"]), 2)
    return {"ratio": ratio, "same_tables": same, "spark_jobs": jobs, **told}


def spark_jobs(landing: str, folder: Path) -> int:
    """How many jobs Spark runs for a ``run``, by its own log of events."""
    settings, events = folder / "settings", folder / "events"
    settings.mkdir()
    events.mkdir()
    told = f"spark.eventLog.enabled true\nspark.eventLog.dir file://{events}\nspark.eventLog.compress false\n"
    (settings / "spark-defaults.conf").write_text(told)
    words = (
        "run",
        "--landing",
        landing,
        "--warehouse",
        str(folder / "counted"),
        "--engine",
        "spark",
        "--config",
        "none",
    )
    cold(*words, SPARK_CONF_DIR=str(settings))
    return sum(file.read_text().count('"SparkListenerJobStart"') for file in events.rglob("*") if file.is_file())


def nights(landing: str, folder: Path, code: Path | None = None) -> dict[str, dict[str, float]]:
    """A first night by Spark, a second one with one new file, and a third with nothing new."""
    zone, warehouse, settings = folder / "zone", str(folder / "warehouse"), folder / "none.yaml"
    shutil.copytree(landing, zone)
    settings.write_text("{}\n")
    new = max((file for file in zone.rglob("*") if file.is_file()), key=lambda file: (file.stat().st_size, str(file)))
    waiting = new.rename(folder / "waiting")
    told = {}
    for night in ("first", "one_new_file", "nothing_new"):
        if night == "one_new_file":
            waiting.rename(new)
        told[night] = cold(
            *("run", "--landing", str(zone), "--warehouse", warehouse, "--config", str(settings)), code=code
        )
    return told


def second_night(landing: str, folder: Path, rounds: int, before: str) -> None:
    """What nights cost, here and in an older commit, by turns."""
    codes = {"now": None, "before": checkout(before, folder / "before")}
    told: dict[str, list[dict[str, dict[str, float]]]] = {which: [] for which in codes}
    for number in range(rounds):
        for which, code in codes.items():
            told[which].append(nights(landing, folder / f"nights-{which}-{number}", code))
    least = {which: {night: shortest([one[night] for one in own]) for night in own[0]} for which, own in told.items()}
    say("second_night", seconds=least["now"])
    ratio = least["now"]["one_new_file"] / least["before"]["one_new_file"]
    say("second_night_vs_before", ratio=round(ratio, 2), commit=before, **told)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--landing", type=Path, default=DEMO, help="the logs; the demo's, and then all bundled real runs"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--before", metavar="COMMIT", default=BEFORE, help="an older commit, to compare nights with")
    chosen = parser.parse_args()
    landing, name = str(chosen.landing), "demo" if chosen.landing == DEMO else chosen.landing.name
    folder = Path(tempfile.mkdtemp(prefix="bench-engines-"))
    try:
        looks = [cold("look", landing, PATH="/nonexistent", JAVA_HOME="/nonexistent") for _ in range(chosen.rounds)]
        say(f"look_{name}", value=shortest(looks), unit="s", rounds=looks)
        both = local_vs_spark(landing, folder, chosen.rounds)
        say(f"spark_{name}_s", value=shortest(both["spark"]), unit="s")
        say(f"local_vs_spark_{name}", **both)
        if chosen.landing == DEMO:
            zone, again = folder / "real-runs", folder / "of-real-runs"
            again.mkdir()
            real_runs(zone)
            say("local_vs_spark_real_runs", **local_vs_spark(str(zone), again, 1))
        second_night(landing, folder, chosen.rounds, chosen.before)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
