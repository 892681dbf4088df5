"""What all rivals in Python share: where runs are, and how a claim is printed."""

import sys
from collections.abc import Iterator
from pathlib import Path

from proof.comparison.questions import Question


def event_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Names and Parquet files of the events of all runs below ``folder``."""
    for file in sorted(folder.glob("*/*.parquet")):
        yield f"{file.parent.name}/{file.stem}", file


def claim(run: str, question: Question) -> None:
    """Print a claim."""
    sys.stdout.write(f"{run}\t{question}\n")
