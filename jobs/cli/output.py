"""What a command prints: lines, tables, CSV and JSON. Nothing that stands in a log commands the terminal."""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as Grid

from election_replay.jobs import JobError
from election_replay.jobs.cli.log import OUT, for_machines, log_event
from election_replay.jobs.reading.words import cell, harmless, harmless_json, no_formula

if TYPE_CHECKING:
    import pyarrow as pa

    from election_replay.jobs.reading.changes import Changes


WIDE = 10_000
"""Columns of a table that is printed into a file or a pipe: no line is broken."""


def print_line(line: str) -> None:
    """Print a line as it is, however long."""
    OUT.print(harmless(line), soft_wrap=True)


def write(text: str) -> None:
    """Print a text for other programs: as it is, but on a terminal without what would command that."""
    sys.stdout.write(harmless(text, keep="\t\n") if sys.stdout.isatty() else text)


def write_file(file: str, text: str) -> None:
    """Write a file that was asked for. Raises :class:`~jobs.JobError` where that is not possible."""
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise JobError(f"cannot write {file}: {error.strerror}") from None


def print_lines(lines: Iterable[str]) -> None:
    """Say what there is to do; no name breaks its line."""
    for line in lines:
        log_event(harmless(line, keep=""))


def first(lines: Iterable[str]) -> Iterator[str]:
    """The first lines, and how many more there are; all of them for machines."""
    from election_replay.jobs.cli.summary import SHOWN

    every = list(lines)
    shown = len(every) if for_machines() else SHOWN
    yield from every[:shown]
    if len(every) > shown:
        yield f"  and {len(every) - shown:,} more"


def more(count: int, noun: str) -> Iterator[str]:
    """How many more there are."""
    if count > 0:
        yield f"  and {count:,} more {noun}"


Rows = Iterable[tuple[Any, ...]]

TABLE_ROWS = 1_000
"""Rows of a table for the eye, unless somebody asks for more."""


def rows_in(answer: "pa.Table | pa.RecordBatch") -> list[tuple[Any, ...]]:
    """The rows of an answer; two columns may bear one name."""
    columns = [column.to_pylist(maps_as_pydicts="strict") for column in answer.columns]
    return list(zip(*columns, strict=True))


def rows_of(batches: "Iterable[pa.RecordBatch]") -> Iterator[tuple[Any, ...]]:
    """The rows of an answer as they come."""
    return (row for batch in batches for row in rows_in(batch))


def print_table(names: Sequence[str], rows: Rows, limit: int | None = None) -> None:
    """For the eye, not more than :data:`TABLE_ROWS` rows; records one below the other where a terminal is narrow."""
    most = TABLE_ROWS if limit is None else limit
    rows = iter(rows)
    found = [*islice(rows, most)] if most else [*rows]
    more = bool(most) and next(rows, None) is not None
    shown = [["" if value is None else harmless(cell(value)) for value in row] for row in found]
    heads = [harmless(name) for name in names]
    console = OUT if OUT.is_terminal else Console(width=WIDE, markup=False, highlight=False, emoji=False)
    if OUT.is_terminal and wide(heads, shown) > console.width:
        print_records(heads, shown)
    else:
        grid = Grid(*heads, box=None, pad_edge=False, header_style="bold")
        for row in shown:
            grid.add_row(*row)
        console.print(grid)
    cut = "; there are more: --limit 0 shows all" if more else ""
    console.print(f"({len(found):,} rows{cut})")


def wide(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Columns of a terminal that a table needs if no cell is broken."""
    longest = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return sum(longest) + 2 * (len(longest) - 1)


def print_records(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Each row as lines of a name and a value."""
    margin = max(map(len, heads), default=0)
    for number, row in enumerate(rows, 1):
        OUT.print(f"-- {number} " + "-" * max(margin - 4 - len(str(number)), 0))
        for head, value in zip(heads, row, strict=True):
            OUT.print(f"{head:<{margin}}  {value}", soft_wrap=True)


def print_csv(names: Sequence[str], rows: Rows, limit: int | None = None, shown: Callable[[Any], str] = cell) -> None:
    """For other programs, row by row: RFC 4180, with an empty field for null."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    lines = (["" if value is None else shown(value) for value in row] for row in limited(rows, limit))
    for number, line in enumerate(chain([[*map(shown, names)]], lines), 1):
        writer.writerow(line)
        if not number % ROWS_AT_ONCE:
            write(text.getvalue())
            text.seek(0)
            text.truncate()
    write(text.getvalue())
    sys.stdout.flush()


def print_safe_csv(names: Sequence[str], rows: Rows, limit: int | None = None) -> None:
    """The same for spreadsheets, which run what begins like a formula."""
    print_csv(names, rows, limit, no_formula)


def print_json(names: Sequence[str], rows: Rows, limit: int | None = None) -> None:
    """For other programs, row by row: one array of objects."""
    begin = "[\n"
    for row in limited(rows, limit):
        sys.stdout.write(begin + indent(as_json(dict(zip(names, row, strict=True))).rstrip("\n"), " "))
        begin = ",\n"
    sys.stdout.write("[]\n" if begin == "[\n" else "\n]\n")
    sys.stdout.flush()


def print_changes(found: "Changes | None", form: str, where_none: str = "") -> None:
    """What changed between two runs, as text or JSON; ``where_none`` is said where there is nothing to compare."""
    from election_replay.jobs.reading import changes
    from election_replay.jobs.showing.changes_text import changes_text

    if form == "json":
        sys.stdout.write(as_json(changes.as_json(found) if found else {"findings": [], "rows": {}}))
        return
    with while_read():
        for line in changes_text(found) if found else (where_none,):
            print_line(line)


@contextmanager
def while_read() -> Iterator[None]:
    """An answer is printed as long as somebody reads it: `| head` has what it wanted."""
    try:
        yield
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich leaves by itself
        sys.stdout = None  # nothing is left to flush


def limited(rows: Rows, limit: int | None) -> Rows:
    """As many of the rows as are asked for; none or 0: all."""
    return islice(rows, limit) if limit else rows


ROWS_AT_ONCE = 500
"""Rows of CSV that are written at once."""


def as_json(found: Any) -> str:
    """Rows or more as JSON."""
    return harmless_json(json.dumps(found, default=cell, ensure_ascii=False, indent=1)) + "\n"


FORMS = {"table": print_table, "csv": print_csv, "json": print_json}
