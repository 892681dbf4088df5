"""The same logs by both engines, each in a cold process; and how long a look takes, with Java out of reach.

Prints one line of JSON for each measurement: wall and CPU seconds of each round (CPU with that of child processes),
the ratio of the shortest, and whether the tables are the same row by row.

    python -m benchmarks.engines                          # the logs of `make demo`
    python -m benchmarks.engines --landing DIR --rounds 1
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


def cold(*arguments: str, path: str | None = None) -> dict[str, float]:
    """The seconds of a command in a process of its own, and the CPU seconds of it and its children."""
    environment = {**os.environ, **({} if path is None else {"PATH": path, "JAVA_HOME": path})}
    before, began = os.times(), time.monotonic()
    command = [sys.executable, "-m", "election_replay.jobs.cli.app", *arguments]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--landing", type=Path, default=DEMO)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    landing, name = str(chosen.landing), "demo" if chosen.landing == DEMO else chosen.landing.name
    folder = Path(tempfile.mkdtemp(prefix="bench-engines-"))
    try:
        looks = [cold("look", landing, path="/nonexistent") for _ in range(chosen.rounds)]
        say(f"look_{name}", value=shortest(looks), unit="s", goal=5, rounds=looks)
        say(f"local_vs_spark_{name}", goal=0.5, **local_vs_spark(landing, folder, chosen.rounds))
    finally:
        shutil.rmtree(folder)


def say(name: str, **of: Any) -> None:
    """One measurement."""
    print(json.dumps({"name": name, **of}), flush=True)  # noqa: T201 - the result


if __name__ == "__main__":
    main()
