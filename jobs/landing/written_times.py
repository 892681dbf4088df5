"""The times in lines of any system, as far as they tell the order of the lines of one file."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import pairwise

from election_replay.election_core.dialects.stamps import MONTHS

_ISO = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?", re.ASCII)
_NAMED = re.compile(
    r"\b([A-Z][a-z]{2}) {1,2}(\d{1,2})(?:, (\d{4}) @)? (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?", re.ASCII
)
_DAY_FIRST = re.compile(r"\b(\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?", re.ASCII)
_EPOCH = re.compile(
    r'(?:^|"(?:ts|time|timestamp|@timestamp)" ?: ?"?)(1\d{9})(\d{3}|\d{6}|\d{9}|)(?:\.(\d{1,9}))?\b', re.ASCII
)

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


def stamp_of(line: bytes) -> Stamp | None:
    """Return the first time in a line that is not decoded yet, None if there is none."""
    return stamp(line[:400].decode("utf-8", "replace"))


def seconds(time: Stamp) -> float:
    """Return a stamp as seconds since some day; those of one form have it in common."""
    form, digits = time
    whole, fraction = digits[:-9], int(digits[-9:]) / 1e9
    if form == "epoch":
        return int(whole) + fraction
    try:
        return datetime.strptime(f"2000{whole}"[-14:], "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp() + fraction
    except ValueError:  # the digits of something else
        return 0.0


def setbacks(stamps: Iterable[Stamp]) -> Iterator[float]:
    """Yield by how many seconds times go back, from each stamp to the next one of its form."""
    for before, after in pairwise(stamps):
        if before[0] == after[0] and after[1] < before[1]:
            yield seconds(before) - seconds(after)
