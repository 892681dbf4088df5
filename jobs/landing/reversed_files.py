"""Files whose newest line comes first, as log stores write their exports (Kibana, Splunk, CloudWatch): they are
read from their last line to their first.

Whether a file is one is told by its times: they fall from line to line, while a clock that is put back falls once.
A record of several lines may stand as it was written, or be turned around with all others; both are seen.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path

from election_replay.election_core.dialects.stamps import MONTHS
from election_replay.election_core.model.streams import unpacked
from election_replay.jobs.landing.blocks import Blocks, head
from election_replay.jobs.landing.inferred_layout import InferredLayout
from election_replay.jobs.landing.landing_zone import LandingZone, open_landing
from election_replay.jobs.landing.listing import LogFile

LOOKED_AT = 1 << 18
"""So many bytes of a file's beginning tell the order of its lines."""

LARGEST = 1 << 30
"""A file that is larger, after decompression, is not held in memory to be turned."""

FEWEST = 2
"""So many times must fall; one may be a clock that was put back."""

SHARE = 4
"""For each time that rises, so many must fall."""

READ_BACKWARDS = "the newest line comes first: it is read backwards, and lines are counted from its end"

_ISO = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?", re.ASCII)
_NAMED = re.compile(
    r"\b([A-Z][a-z]{2}) {1,2}(\d{1,2})(?:, (\d{4}) @)? (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?", re.ASCII
)
_DAY_FIRST = re.compile(r"\b(\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?", re.ASCII)
_EPOCH = re.compile(
    r'(?:^|"(?:ts|time|timestamp|@timestamp)" ?: ?"?)(1\d{9})(\d{3}|\d{6}|\d{9}|)(?:\.(\d{1,9}))?\b', re.ASCII
)
_HEADING = re.compile(r"(?i)\b(?:@timestamp|timestamp|_time|message|_raw)\b.*[,;\t]|[,;\t].*\b(?:message|_raw|line)\b")
_INDENTED = re.compile(r"\s+(?:at |\.\.\. )")

Stamp = tuple[str, str]
"""How a time is written, and the time as digits that are in order as the times are."""


def stamp(line: str) -> Stamp | None:
    """The first time in a line; ``None`` where there is none. Zones are passed over: one file has one."""
    beginning = line[:400]
    if found := _ISO.search(beginning):
        return "iso", "".join(found.groups("")[:6]) + (found[7] or "").ljust(9, "0")
    if (found := _NAMED.search(beginning)) and found[1].lower() in MONTHS:
        month = f"{MONTHS.index(found[1].lower()):02}"
        return "named", (found[3] or "") + month + found[2].zfill(2) + "".join(found.group(4, 5, 6)) + (
            found[7] or ""
        ).ljust(9, "0")
    if (found := _DAY_FIRST.search(beginning)) and found[2].lower() in MONTHS:
        month = f"{MONTHS.index(found[2].lower()):02}"
        return "day first", found[3] + month + found[1] + "".join(found.group(4, 5, 6)) + (found[7] or "").ljust(9, "0")
    if found := _EPOCH.search(beginning):
        return "epoch", found[1] + (found[2] or found[3] or "").ljust(9, "0")
    return None


def newest_first(lines: Iterable[str]) -> bool:
    """Whether the times of lines fall from one to the next; those that are equal say nothing."""
    falls = rises = 0
    stamps = (found for line in lines if (found := stamp(line)) is not None)
    for (form, before), (other, after) in pairwise(stamps):
        if form == other:
            falls += after < before
            rises += after > before
    return falls >= FEWEST and falls >= SHARE * rises


def reversed_files(lines: Sequence[str]) -> list[str]:
    """The lines from the oldest to the newest. Lines without a time stay behind the one that they belong to."""
    heading = [*lines[:1]] if lines and _HEADING.search(lines[0]) and stamp(lines[0]) is None else []
    rest = lines[len(heading) :]
    dated = [stamp(line) is not None for line in rest]
    if records_reversed(rest, dated):
        return [*heading, *reversed(rest)]
    begins = [number for number, is_dated in enumerate(dated) if is_dated or number == 0]
    records = [rest[begin:end] for begin, end in pairwise([*begins, len(rest)])]
    return [*heading, *(line for record in reversed(records) for line in record)]


def records_reversed(lines: Sequence[str], dated: Sequence[bool]) -> bool:
    """Whether records of several lines are turned around too: the lines without a time stand above the one with it.

    A stack trace tells it, whose first line alone is not indented.
    """
    votes = 0
    for is_dated, run in groupby(zip(lines, dated, strict=True), key=itemgetter(1)):
        if not is_dated:
            of_record = [bool(_INDENTED.match(line)) for line, _ in run]
            votes += of_record[0] - of_record[-1]
    return votes > 0 or (votes == 0 and not dated[0] and dated[-1])


def read_backwards(layout: InferredLayout, into: Path) -> Iterator[InferredLayout]:
    """What was mailed, and the same of those files whose newest line comes first, turned into the folder ``into``."""
    zone = open_landing(layout.root)
    backwards = [file for file in layout.files if not file.below and is_backwards(file, zone)]
    if not backwards:
        yield layout
        return
    kept = [file for file in layout.files if file not in backwards]
    paths = {file.path for file in backwards}
    yield replace(
        layout,
        files=kept,
        read_otherwise=[*layout.read_otherwise, *((path, READ_BACKWARDS) for path in sorted(paths))],
    )
    yield InferredLayout(str(into), [written(file, zone, into) for file in backwards], [])


def is_backwards(file: LogFile, zone: LandingZone) -> bool:
    """Whether the newest line of a file comes first."""
    return newest_first(head(zone, file.path, file.size, LOOKED_AT).data.decode("utf-8", "replace").splitlines())


def written(file: LogFile, zone: LandingZone, into: Path) -> LogFile:
    """A file whose oldest line comes first, made of one whose newest does."""
    blocks = Blocks(zone, file.path, file.size)
    data = b"".join(block.data for block in blocks) + blocks.rest
    lines = reversed_files(data.decode("utf-8", "surrogateescape").split("\n")[: None if data[-1:] != b"\n" else -1])
    target = into / unpacked(file.path)
    target.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    target.write_bytes(text)
    name = file.known_as or Path(unpacked(file.path)).name
    return replace(file, path=unpacked(file.path), size=len(text), known_as=unpacked(name))
