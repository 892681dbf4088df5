"""Turn around files whose newest line comes first, as log stores export them (Kibana, Splunk, CloudWatch).

Such a file is recognised by its times: they fall from line to line, while a clock that is put back falls once. The
lines of one record may stand in the order in which they were written or be reversed as well; both are recognised.
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
"""How many bytes of a file's beginning are read to tell the order of its lines."""

LARGEST = 1 << 30
"""The largest file, in bytes, that is held in memory to be taken apart."""

FEWEST = 2
"""How often times must fall, at least: once may be a clock that was put back."""

SHARE = 4
"""How many times must fall for each one that rises."""

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
"""(form, digits): the form in which a time is written, and its digits, which sort as the times of that form do."""


def stamp(line: str) -> Stamp | None:
    """Return the first time in a line, None if there is none; zones are ignored, as a file has only one."""
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
    """Return True when times fall from line to line: at least FEWEST times, and SHARE times as often as they rise."""
    falls = rises = 0
    stamps = (found for line in lines if (found := stamp(line)) is not None)
    for (form, before), (other, after) in pairwise(stamps):
        if form == other:
            falls += after < before
            rises += after > before
    return falls >= FEWEST and falls >= SHARE * rises


def reversed_files(lines: Sequence[str]) -> list[str]:
    """Return the lines from the oldest to the newest, with lines without a time behind the dated line of their record.

    A heading of columns stays first.
    """
    heading = [*lines[:1]] if lines and _HEADING.search(lines[0]) and stamp(lines[0]) is None else []
    rest = lines[len(heading) :]
    dated = [stamp(line) is not None for line in rest]
    if records_reversed(rest, dated):
        return [*heading, *reversed(rest)]
    begins = [number for number, is_dated in enumerate(dated) if is_dated or number == 0]
    records = [rest[begin:end] for begin, end in pairwise([*begins, len(rest)])]
    return [*heading, *(line for record in reversed(records) for line in record)]


def records_reversed(lines: Sequence[str], dated: Sequence[bool]) -> bool:
    """Return True when the lines of each record are reversed too: lines without a time stand above their dated line.

    Stack traces tell, as only their first line is not indented. Where they do not decide, lines that begin without a
    time and end with one are reversed.
    """
    votes = 0
    for is_dated, run in groupby(zip(lines, dated, strict=True), key=itemgetter(1)):
        if not is_dated:
            of_record = [bool(_INDENTED.match(line)) for line, _ in run]
            votes += of_record[0] - of_record[-1]
    return votes > 0 or (votes == 0 and not dated[0] and dated[-1])


def read_backwards(layout: InferredLayout, into: Path) -> Iterator[InferredLayout]:
    """Yield the layout without the files whose newest line comes first, then a layout of these, turned, in ``into``.

    Yields only the layout itself when there are no such files.
    """
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
    """Return True when the newest line of a file comes first, by its first :data:`LOOKED_AT` bytes."""
    return newest_first(head(zone, file.path, file.size, LOOKED_AT).data.decode("utf-8", "replace").splitlines())


def written(file: LogFile, zone: LandingZone, into: Path) -> LogFile:
    """Write a file with its lines turned around, unpacked, into the folder ``into`` and return it."""
    blocks = Blocks(zone, file.path, file.size)
    data = b"".join(block.data for block in blocks) + blocks.rest
    lines = reversed_files(data.decode("utf-8", "surrogateescape").split("\n")[: None if data[-1:] != b"\n" else -1])
    target = into / unpacked(file.path)
    target.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    target.write_bytes(text)
    name = file.known_as or Path(unpacked(file.path)).name
    return replace(file, path=unpacked(file.path), size=len(text), known_as=unpacked(name))
