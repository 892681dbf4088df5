"""The log lines of all members around a finding, verbatim and merged in common time.

They are those that the warehouse stores, or all lines of the files if the landing zone is given. Lines of files are
also marked if none of these members printed that shape before: a new shape often shows what is wrong.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import cycle
from pathlib import Path, PurePosixPath
from typing import Any

from rich.text import Text

from election_replay.election_core.dialects import named
from election_replay.election_core.judge.wording import number_of
from election_replay.jobs import JobError
from election_replay.jobs.landing.inspection import lines_in_file, shape_of
from election_replay.jobs.landing.landing_zone import READ_FAILURES, LandingZone, open_landing
from election_replay.jobs.reading.incident import Incident
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import FOREVER, Row, harmless, paragraph

COLOURS = ("cyan", "yellow", "green", "magenta", "blue", "bright_red", "bright_cyan", "bright_yellow")
"""The colours of nodes, repeated if there are more nodes."""

ZONE = timedelta(minutes=15)
"""Zones differ from UTC by multiples of this: a line with another difference is not the one that was landed."""

STORED = """
    SELECT happened_at AS at, source_node AS node, path, line_no, text, logged_at
    FROM events_around($cluster, $moment, $within) WHERE source_node IN (SELECT unnest($sources))
"""
FILES = """
    SELECT path, max(file_bytes) AS size, max(stream) AS stream, max(read_as) AS read_as FROM landed_files
    WHERE cluster = $cluster AND read_as IS NOT NULL AND status <> 'part' GROUP BY path ORDER BY path
"""


@dataclass(frozen=True, slots=True)
class RawLine:
    """A line with its common time, node, file and line number.

    ``proof``: it proves a finding. ``new``: its shape is new; ``alike`` is the number of shown lines with that shape.
    A line that is not ``dated`` continues the one before.
    """

    at: datetime
    node: str
    path: str
    line_no: int
    text: str
    dated: bool = True
    proof: bool = False
    new: bool = False
    alike: int = 1


@dataclass(frozen=True, slots=True)
class RawLines:
    """Lines in order of time. ``whole``: all lines of the files; ``problems``: the files not read, with reasons."""

    lines: list[RawLine]
    whole: bool
    problems: list[str]


def raw_lines(published: Published, incident: Incident, landing: str | None = None) -> RawLines:
    """Return the lines of an incident's members in its window; if ``landing`` is given, all lines of its files."""
    proofs = {(line["path"], line["line_no"]) for lines in incident.evidence.values() for line in lines}
    speakers = {member["source_node"] for member in incident.members}
    speakers |= {line["source_node"] for lines in incident.evidence.values() for line in lines}
    sources = sorted(speaker for speaker in speakers if speaker)
    window = incident.begin, incident.end
    read: list[RawLine] = []
    problems: list[str] = []
    if landing:
        read, problems = lines_of_files(published, open_landing(landing), incident.cluster, sources, window)
    paths = {line.path for line in read}
    rest = [line for line in stored_lines(published, incident.cluster, sources, window) if line.path not in paths]
    lines = sorted((*read, *rest), key=lambda line: (line.at, line.node, line.path, line.line_no))
    proven = [replace(line, proof=(line.path, line.line_no) in proofs) for line in lines]
    return RawLines(proven, bool(landing), problems)


def stored_lines(
    published: Published, cluster: str, sources: Collection[str], window: tuple[datetime, datetime]
) -> Iterator[RawLine]:
    """Yield the stored lines between two times."""
    for row in stored_rows(published, cluster, sources, *window):
        if row["text"] is not None and window[0] <= row["at"] <= window[1]:
            for more, text in enumerate(row["text"].split("\n")):
                yield RawLine(row["at"], row["node"], row["path"], row["line_no"] + more, text, dated=not more)


def stored_rows(
    published: Published, cluster: str, sources: Collection[str], begin: datetime, end: datetime
) -> list[dict[str, Any]]:
    """Return the rows of stored lines between two times, and some up to a second outside."""
    within = int((end - begin).total_seconds() / 2) + 1
    values = {"cluster": cluster, "moment": begin + (end - begin) / 2, "within": within, "sources": [*sources]}
    return published.rows(STORED, values)


def lines_of_files(
    published: Published, zone: LandingZone, cluster: str, sources: Collection[str], window: tuple[datetime, datetime]
) -> tuple[list[RawLine], list[str]]:
    """Return all lines between two times in the files of ``sources``, and messages about files that were not read."""
    known: dict[str, dict[int, Row]] = {}
    for row in stored_rows(published, cluster, sources, *FOREVER):
        known.setdefault(row["path"], {})[row["line_no"]] = row
    found: list[RawLine] = []
    before: set[str] = set()
    problems = []
    for file in published.rows(FILES, {"cluster": cluster}):
        if file["path"] in known:
            try:
                inside = [*lines_in_window(lines_with_times(zone, file, known[file["path"]]), window, before)]
            except (*READ_FAILURES, JobError) as error:
                problems.append(f"{file['path']}: {error}")
            else:
                found += inside
    shapes = [shape_of(line.text) if line.dated and before else "" for line in found]
    often = Counter(shapes)
    fresh = often.keys() - before - {""}
    marked = (
        replace(line, new=shape in fresh, alike=often[shape]) if shape in fresh else line
        for line, shape in zip(found, shapes, strict=True)
    )
    return [*marked], problems


def first_of_each(lines: Iterable[RawLine]) -> Iterator[RawLine]:
    """Yield the first line of each new shape."""
    before: set[str] = set()
    for line in lines:
        if line.new and (shape := shape_of(line.text)) not in before:
            before.add(shape)
            yield line


def lines_in_window(lines: Iterable[RawLine], window: tuple[datetime, datetime], before: set[str]) -> Iterator[RawLine]:
    """Yield the lines of one file in the window, and add the shapes of earlier ones to ``before``."""
    for line in lines:
        if line.at < window[0]:
            before.add(shape_of(line.text))
        elif line.at <= window[1]:
            yield line


def lines_with_times(zone: LandingZone, file: Row, known: dict[int, Row]) -> Iterator[RawLine]:
    """Yield the lines of one file with common times: stored lines have theirs, and fix the shift of those that follow.

    The first dated line of a file is always stored. Raises :class:`JobError` if the file is not the one landed.
    """
    dialect = named(file["read_as"])
    shift: dict[str | None, timedelta] = {}
    last: dict[str | None, RawLine] = {}
    for line_no, who, text in lines_in_file(zone, file["path"], file["size"], file["stream"]):
        time = dialect.time_of(text, 0) if dialect else None
        shown = datetime.fromtimestamp(time[0] / 1e6, UTC) if time else None
        row = known.get(line_no)
        if row is not None:
            if shown and (row["logged_at"] - shown) % ZONE:
                raise JobError("it is no more the file that was landed")
            shift[who] = row["at"] - (shown or row["logged_at"])
            last[who] = RawLine(row["at"], row["node"], file["path"], line_no, text)
        elif who in last:
            at = shown + shift[who] if shown else last[who].at
            last[who] = replace(last[who], at=at, line_no=line_no, text=text, dated=shown is not None)
        else:
            continue
        yield last[who]


def lines_text(found: RawLines, *, new_alone: bool = False) -> Iterator[Text]:
    """Yield each line with time, node and place, one colour a node; ``new_alone``: the first line of each new shape."""
    shown = [*first_of_each(found.lines)] if new_alone else found.lines
    nodes = sorted({line.node for line in found.lines})
    colours = dict(zip(nodes, cycle(COLOURS), strict=False))
    wide = max(map(len, nodes), default=0)
    for line in shown:
        mark = ">" if line.proof else "+" if line.new else " "
        at = f"{line.at:%H:%M:%S.%f}"[: -3 if line.at.microsecond else 8]
        place = f"{PurePosixPath(line.path).name}:{line.line_no}"
        often = f"({line.alike:,} alike) " if new_alone and line.alike > 1 else ""
        text = f"{at:<12} {mark} {line.node:<{wide}}  {place:<24} {often}{line.text}"
        yield Text(harmless(text), style=colours[line.node])
    yield Text("")
    yield from map(Text, paragraph("; ".join(summary(found, len(shown), new_alone=new_alone)) + "."))
    yield from (Text(f"Not read: {problem}") for problem in found.problems)


def summary(found: RawLines, shown: int, *, new_alone: bool) -> Iterator[str]:
    """Yield phrases about which lines are shown, and the meanings of their marks."""
    of_files = f"all of the files{' that could be read' if found.problems else ''}"
    every = of_files if found.whole else "those that the warehouse keeps (--landing DIR shows all)"
    yield f"{number_of(shown, 'line')} in common time (UTC), {'the first of each new shape' if new_alone else every}"
    yield ">: proves a finding"
    if found.whole:
        yield "+: none of these nodes printed a line of this shape before"


FORMATS = files("election_replay.jobs.showing").joinpath("lnav.json").read_text(encoding="utf-8")


def write_lnav(found: RawLines, folder: Path) -> None:
    """Write the lines and lnav's formats into a folder. Raises :class:`JobError` if that fails."""
    lines = (
        {
            "at": f"{line.at:%Y-%m-%dT%H:%M:%S.%f}Z",
            "node": line.node,
            "level": "proof" if line.proof else "new" if line.new else "line",
            "path": line.path,
            "line_no": line.line_no,
            "text": line.text,
        }
        for line in found.lines
    )
    formats = folder / "formats" / "election_replay"
    try:
        formats.mkdir(parents=True, exist_ok=True)
        (formats / "lnav.json").write_text(FORMATS, encoding="utf-8")
        (folder / "lines.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise JobError(f"cannot write {folder}: {error.strerror}") from None
