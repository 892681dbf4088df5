"""The events of all runs as Parquet files, which some rivals start from.

python -m proof.comparison.rivals.landed CORPORA EVENTS
"""

import sys
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.in_process import events_of


def main(corpora: Path, events: Path) -> None:
    """Land each run below ``corpora`` into a file below ``events``."""
    for described in sorted(corpora.glob("*/*/run.json")):
        system, run = described.parent.parts[-2:]
        (events / system).mkdir(parents=True, exist_ok=True)
        pq.write_table(events_of(described.parent), events / system / f"{run}.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
