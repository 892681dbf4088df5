"""Output of commands: lines, tables, CSV and JSON. Control characters from logs are escaped on terminals."""

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
"""The width, in columns, of a table that is printed to a file or a pipe, so that no line wraps."""


def print_line(line: str) -> None:
    """Print a line literally and without wrapping."""
    OUT.print(harmless(line), soft_wrap=True)


def write(text: str) -> None:
    """Print text for other programs: unchanged, but with control characters escaped on a terminal."""
    sys.stdout.write(harmless(text, keep="\t\n") if sys.stdout.isatty() else text)


def write_file(file: str, text: str) -> None:
    """Write a file. Raises :class:`~jobs.JobError` if that fails."""
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise JobError(f"cannot write {file}: {error.strerror}") from None


def print_lines(lines: Iterable[str]) -> None:
    """Log each line, with line ends in names escaped."""
    for line in lines:
        log_event(harmless(line, keep=""))


def first(lines: Iterable[str]) -> Iterator[str]:
    """Yield the first lines and a line with the number of further ones; all lines for machines."""
    from election_replay.jobs.cli.summary import SHOWN

    every = list(lines)
    shown = len(every) if for_machines() else SHOWN
    yield from every[:shown]
    if len(every) > shown:
        yield f"  and {len(every) - shown:,} more"


def more(count: int, noun: str) -> Iterator[str]:
    """Yield a line about ``count`` further items; none if that is 0 or less."""
    if count > 0:
        yield f"  and {count:,} more {noun}"


Rows = Iterable[tuple[Any, ...]]

TABLE_ROWS = 1_000
"""The maximum number of rows of a printed table by default."""


def rows_in(answer: "pa.Table | pa.RecordBatch") -> list[tuple[Any, ...]]:
    """Return the rows as tuples; two columns may have the same name."""
    columns = [column.to_pylist(maps_as_pydicts="strict") for column in answer.columns]
    return list(zip(*columns, strict=True))


def rows_of(batches: "Iterable[pa.RecordBatch]") -> Iterator[tuple[Any, ...]]:
    """Return an iterator over the rows of batches."""
    return (row for batch in batches for row in rows_in(batch))


def print_table(names: Sequence[str], rows: Rows, limit: int | None = None) -> None:
    """Print a table of at most ``limit`` rows, by default :data:`TABLE_ROWS`; as records if the terminal is narrow."""
    most = TABLE_ROWS if limit is None else limit
    rows = iter(rows)
    found = [*islice(rows, most)] if most else [*rows]
    more = bool(most) and next(rows, None) is not None
    shown = [["" if value is None else harmless(cell(value)) for value in row] for row in found]
    heads = [harmless(name) for name in names]
    console = OUT if OUT.is_terminal else Console(width=WIDE, markup=False, highlight=False, emoji=False)
    if OUT.is_terminal and table_width(heads, shown) > console.width:
        print_records(heads, shown)
    else:
        grid = Grid(*heads, box=None, pad_edge=False, header_style="bold")
        for row in shown:
            grid.add_row(*row)
        console.print(grid)
    cut = "; there are more: --limit 0 shows all" if more else ""
    console.print(f"({len(found):,} rows{cut})")


def table_width(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the width in terminal columns that a table needs without wrapping."""
    longest = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return sum(longest) + 2 * (len(longest) - 1)


def print_records(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print each row as lines of a name and a value."""
    margin = max(map(len, heads), default=0)
    for number, row in enumerate(rows, 1):
        OUT.print(f"-- {number} " + "-" * max(margin - 4 - len(str(number)), 0))
        for head, value in zip(heads, row, strict=True):
            OUT.print(f"{head:<{margin}}  {value}", soft_wrap=True)


def print_csv(names: Sequence[str], rows: Rows, limit: int | None = None, shown: Callable[[Any], str] = cell) -> None:
    """Print CSV (RFC 4180) row by row, with an empty field for null."""
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
    """Print CSV for spreadsheets, in which no text is taken for a formula."""
    print_csv(names, rows, limit, no_formula)


def print_json(names: Sequence[str], rows: Rows, limit: int | None = None) -> None:
    """Print one JSON array of objects, row by row."""
    begin = "[\n"
    for row in limited(rows, limit):
        sys.stdout.write(begin + indent(as_json(dict(zip(names, row, strict=True))).rstrip("\n"), " "))
        begin = ",\n"
    sys.stdout.write("[]\n" if begin == "[\n" else "\n]\n")
    sys.stdout.flush()


def print_changes(found: "Changes | None", form: str, where_none: str = "") -> None:
    """Print the differences of two runs as text or JSON; ``where_none`` is the text if ``found`` is ``None``."""
    from election_replay.jobs.reading import changes
    from election_replay.jobs.showing.changes_text import changes_text

    if form == "json":
        sys.stdout.write(as_json(changes.as_json(found) if found else {"findings": [], "rows": {}}))
        return
    with ignoring_broken_pipe():
        for line in changes_text(found) if found else (where_none,):
            print_line(line)


@contextmanager
def ignoring_broken_pipe() -> Iterator[None]:
    """Stop printing without an error when the reader of a pipe, such as `head`, is gone."""
    try:
        yield
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich turns a broken pipe into SystemExit
        sys.stdout = None  # a flush at exit would fail


def limited(rows: Rows, limit: int | None) -> Rows:
    """Return at most ``limit`` rows; all if that is ``None`` or 0."""
    return islice(rows, limit) if limit else rows


ROWS_AT_ONCE = 500
"""Rows of CSV in one write."""


def as_json(found: Any) -> str:
    """Return indented JSON with a final line end."""
    return harmless_json(json.dumps(found, default=cell, ensure_ascii=False, indent=1)) + "\n"


FORMS = {"table": print_table, "csv": print_csv, "json": print_json}
