"""What a command prints: lines, tables, CSV and JSON. Nothing that stands in a log commands the terminal."""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as Grid

from jobs.cli.log import OUT, for_machines, tell
from jobs.reading.words import cell, harmless, harmless_json, no_formula

if TYPE_CHECKING:
    import pyarrow as pa


WIDE = 10_000
"""Columns of a table that is printed into a file or a pipe: no line is broken."""


def say(line: str) -> None:
    """Print a line as it is, however long."""
    OUT.print(harmless(line), soft_wrap=True)


def write(text: str) -> None:
    """Print a text for other programs: as it is, but on a terminal without what would command that."""
    sys.stdout.write(harmless(text, keep="\t\n") if sys.stdout.isatty() else text)


def plan(lines: Iterable[str]) -> None:
    """Say what there is to do; no name breaks its line."""
    for line in lines:
        tell(harmless(line, keep=""))


def first(lines: Iterable[str]) -> Iterator[str]:
    """The first lines, and how many more there are; all of them for machines."""
    from jobs.cli.summary import SHOWN

    every = list(lines)
    shown = len(every) if for_machines() else SHOWN
    yield from every[:shown]
    if len(every) > shown:
        yield f"  and {len(every) - shown:,} more"


Rows = Sequence[tuple[Any, ...]]


def rows_in(answer: "pa.Table") -> Rows:
    """The rows of an answer; two columns may bear one name."""
    columns = [column.to_pylist(maps_as_pydicts="strict") for column in answer.columns]
    return list(zip(*columns, strict=True))


def print_table(names: Sequence[str], rows: Rows) -> None:
    """For the eye."""
    grid = Grid(*map(harmless, names), box=None, pad_edge=False, header_style="bold")
    for row in rows:
        grid.add_row(*("" if value is None else harmless(cell(value)) for value in row))
    console = OUT if OUT.is_terminal else Console(width=WIDE, markup=False, highlight=False, emoji=False)
    console.print(grid)
    console.print(f"({len(rows):,} rows)")


def print_csv(names: Sequence[str], rows: Rows, shown: Callable[[Any], str] = cell) -> None:
    """For other programs: RFC 4180, with an empty field for null."""
    told = io.StringIO()
    writer = csv.writer(told, lineterminator="\n")
    writer.writerow(map(shown, names))
    writer.writerows(["" if value is None else shown(value) for value in row] for row in rows)
    write(told.getvalue())


def print_safe_csv(names: Sequence[str], rows: Rows) -> None:
    """The same for spreadsheets, which run what begins like a formula."""
    print_csv(names, rows, no_formula)


def print_json(names: Sequence[str], rows: Rows) -> None:
    """For other programs: one array of objects."""
    sys.stdout.write(as_json([dict(zip(names, row, strict=True)) for row in rows]))


def as_json(found: Any) -> str:
    """Rows or more as JSON."""
    return harmless_json(json.dumps(found, default=cell, ensure_ascii=False, indent=1)) + "\n"


FORMS = {"table": print_table, "csv": print_csv, "json": print_json}
