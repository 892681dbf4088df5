"""The same logs by both engines, each in a cold process; and how long a look takes, with Java out of reach.

Prints one line of JSON for each measurement: wall and CPU seconds of each round (CPU with that of child processes),
the ratio of the shortest, and whether the tables are the same row by row. Then what a second night costs that brings
one new file, and one that brings nothing; with ``--before`` over the same by another checkout, with its own ``.venv``.

    python -m benchmarks.engines                          # the logs of `make demo`
    python -m benchmarks.engines --landing DIR --rounds 1
    python -m benchmarks.engines --before ../former       # {"name": "second_night_vs_before", ...}
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

from election_replay.jobs.reading.published import Published
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

DEMO = Path(__file__).parents[1] / "examples" / "landing"
OWN = {"runs", "validations", "landed_files", "replay_states"}
"""Tables that tell of a run, or are not for readers."""


def cold(*arguments: str, path: str | None = None, command: str | None = None) -> dict[str, float]:
    """The seconds of a command in a process of its own, and the CPU seconds of it and its children.

    Python finds its modules compiled, as an installation has them, whatever the environment says of that.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {} if path is None else {"PATH": path, "JAVA_HOME": path}
    before, began = os.times(), time.monotonic()
    ours = [sys.executable, "-m", "election_replay.jobs.cli.app"] if command is None else [command]
    subprocess.run([*ours, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.monotonic() - began, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"wall_s": round(wall, 1), "cpu_s": round(cpu, 1)}


def tables(warehouse: str) -> dict[str, list[str]]:
    """All published rows."""
    published = Published(Warehouse(warehouse))
    return {
        name: sorted(json.dumps(row, default=str) for row in published.rows(f"SELECT * FROM {name}"))  # noqa: S608
        for name in TABLES
        if name not in OWN
    }


def shortest(rounds: list[dict[str, float]]) -> float:
    """The shortest wall time of some rounds."""
    return min(one["wall_s"] for one in rounds)


def local_vs_spark(landing: str, folder: Path, rounds: int) -> dict[str, Any]:
    """``run`` by each engine, by turns."""
    told: dict[str, list[dict[str, float]]] = {"local": [], "spark": []}
    for number in range(rounds):
        for engine, own in told.items():
            warehouse = str(folder / f"{engine}-{number}")
            own.append(
                cold("run", "--landing", landing, "--warehouse", warehouse, "--engine", engine, "--config", "none")
            )
    same = tables(str(folder / "local-0")) == tables(str(folder / "spark-0"))
    return {"ratio": round(shortest(told["local"]) / shortest(told["spark"]), 2), "same_tables": same, **told}


def nights(landing: str, folder: Path, command: str | None = None) -> dict[str, dict[str, float]]:
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
            *("run", "--landing", str(zone), "--warehouse", warehouse, "--config", str(settings)), command=command
        )
    return told


def second_night(landing: str, folder: Path, rounds: int, before: Path | None) -> None:
    """What later nights cost, here and in another checkout, by turns."""
    commands = {"now": None, **({"before": str(before / ".venv" / "bin" / "election-replay")} if before else {})}
    told: dict[str, list[dict[str, dict[str, float]]]] = {which: [] for which in commands}
    for number in range(rounds):
        for which, command in commands.items():
            told[which].append(nights(landing, folder / f"nights-{which}-{number}", command))
    least = {which: {night: shortest([one[night] for one in own]) for night in own[0]} for which, own in told.items()}
    say("second_night", goal_nothing_new_s=1, seconds=least["now"])
    if before:
        ratio = least["now"]["one_new_file"] / least["before"]["one_new_file"]
        say("second_night_vs_before", ratio=round(ratio, 2), goal=0.33, seconds=least)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--landing", type=Path, default=DEMO)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--before", type=Path, help="another checkout, to compare later nights with")
    chosen = parser.parse_args()
    landing, name = str(chosen.landing), "demo" if chosen.landing == DEMO else chosen.landing.name
    folder = Path(tempfile.mkdtemp(prefix="bench-engines-"))
    try:
        looks = [cold("look", landing, path="/nonexistent") for _ in range(chosen.rounds)]
        say(f"look_{name}", value=shortest(looks), unit="s", goal=5, rounds=looks)
        say(f"local_vs_spark_{name}", goal=0.5, **local_vs_spark(landing, folder, chosen.rounds))
        second_night(landing, folder, chosen.rounds, chosen.before)
    finally:
        shutil.rmtree(folder)


def say(name: str, **of: Any) -> None:
    """One measurement."""
    print(json.dumps({"name": name, **of}), flush=True)  # noqa: T201 - the result


if __name__ == "__main__":
    main()
