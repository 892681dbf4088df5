"""Put the lines of a file into the order in which they were written.

Log stores export the newest line first (Kibana, Splunk, CloudWatch). Such a file is recognised by its times: they fall
from line to line, while a clock that is put back falls once. The lines of one record, and those of one time, may stand
in the order in which they were written or be reversed as well; both are recognised.

``cat zookeeper.log zookeeper.log.1`` puts the end of a log before its beginning: all times of the second part are
before the first one of the file, and end where that one begins. ``sort`` puts lines in the order of their letters.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, pairwise
from operator import itemgetter
from typing import Any

from election_replay.jobs.landing.written_times import Stamp, seconds, stamp

FEWEST = 2
"""How often times must fall, at least: once may be a clock that was put back."""

FEWEST_OF_LIVE = 8
"""How often times must fall in a log that may still grow: a few lines of several threads may stand out of order."""

SAMPLE = 500
"""How many lines are looked at to tell whether times go forwards or back."""

SHARE = 4
"""How many times must fall for each one that rises."""

FEWEST_SORTED = 12
"""So many first lines in the order of their letters, though their times fall, are no accident."""

FEWEST_SORTED_OF_LIVE = 200
"""So many in a log that may still grow: it may have begun with its settings, by name."""

FEWEST_TIES = 10
"""Where times do not fall: so many lines, at least, differ from the line of the same time before them, each otherwise:
a quiet process prints the same few lines again and again, which may be in the order of their letters."""

FEWEST_OF_PART = 20
"""A part of a log has at least so many lines with a time: excerpts that somebody pasted have fewer."""

LONGEST_BREAK = 60
"""The longest time, in seconds, between the end of one part of a log and the beginning of the next; and it is no longer
than one in a part without a line."""

_HEADING = re.compile(r"(?i)\b(?:@timestamp|timestamp|_time|message|_raw)\b.*[,;\t]|[,;\t].*\b(?:message|_raw|line)\b")
_NUMBER = re.compile(r"[\da-f]+", re.ASCII)
_TERM = re.compile(
    r"(?i)(?:term|epoch|round)\b\\?[\"'():=]{0,3} ?(?:0x)?(\d{1,18})\b|_TERM\] from \d+ to (\d+)", re.ASCII
)
"""A term, an epoch or a round, of which the last one in a line is the latest."""
_NUMBERED = re.compile(r"[ \t]{0,8}(\d{1,7})(?:\t|[:|] ?| )", re.ASCII)
_LEADING = re.compile(r"[\d.,:TZ/+-]*", re.ASCII)
_INDENTED = re.compile(r"\s+(?:at |\.\.\. )")


def newest_first(lines: Iterable[str], *, grows: bool = False) -> bool:
    """Return True when the times of lines :func:`falls`."""
    stamps = [found for line in islice(lines, SAMPLE) if (found := stamp(line)) is not None]
    by_form = [(before[1], after[1]) for before, after in pairwise(stamps) if before[0] == after[0]]
    return falls(by_form, grows=grows)


def falls(steps: Iterable[tuple[Any, Any]], *, grows: bool = False) -> bool:
    """Return True when times fall from line to line, at least FEWEST times, and SHARE times as often as they rise.
    ``steps`` are the times of each line and the next one; ``grows``: the file may have lines to come."""
    moved = [after < before for before, after in steps if before != after]
    fallen = moved.count(True)
    return fallen >= (FEWEST_OF_LIVE if grows else FEWEST) and (SHARE + 1) * fallen >= SHARE * len(moved)


def reversed_files(lines: Sequence[str]) -> list[str]:
    """Return the lines from the oldest to the newest, with lines without a time behind the dated line of their record.

    A heading of columns stays first.
    """
    heading = [*lines[:1]] if lines and _HEADING.search(lines[0]) and stamp(lines[0]) is None else []
    rest = lines[len(heading) :]
    dated = [stamp(line) is not None for line in rest]
    turned = records_reversed(rest, dated)
    records = records_of(rest[::-1]) if turned else records_of(rest)[::-1]
    if ties_as_written(rest):
        of_times = groupby(records, key=first_stamp)
        records = [record for _, of_time in of_times for record in reversed([*of_time])]
    return [*heading, *(line for record in records for line in record)]


def records_of(lines: Sequence[str]) -> list[Sequence[str]]:
    """Return the records in lines: each begins with a line that has a time."""
    begins = [number for number, line in enumerate(lines) if number == 0 or stamp(line) is not None]
    return [lines[begin:end] for begin, end in pairwise([*begins, len(lines)])]


def ties_as_written(lines: Sequence[str]) -> bool:
    """Return True when lines of one time stand in the order in which they were written: their terms rise."""
    risen = 0
    dated = ((stamp(line), term) for line in lines if (term := term_in(line)) is not None)
    for (time, before), (other, after) in pairwise(dated):
        if time is not None and time == other:
            risen += (after > before) - (after < before)
    return risen > 0


def term_in(line: str) -> float | None:
    """Return the last term, epoch or round in a line, one to which it rises as half less; None if there is none."""
    found = _TERM.findall(line)
    return (int(found[-1][0]) if found[-1][0] else int(found[-1][1]) - 0.5) if found else None


def sorted_as_texts(lines: Sequence[str], *, grows: bool = False) -> bool:
    """Return True when lines stand in the order of their letters, and the order of their times would not do that;
    numbers of lines before them, as of ``cat -n``, are not of their letters."""
    numbers = [int(number[1]) for line in lines if (number := _NUMBERED.match(line))]
    if len(numbers) == len(lines) and all(before < after for before, after in pairwise(numbers)):
        lines = [_NUMBERED.sub("", line, count=1) for line in lines]
    fewest = FEWEST_SORTED_OF_LIVE if grows else FEWEST_SORTED
    if len(lines) < fewest or any(after < before for before, after in pairwise(lines)):
        return False
    if 2 * len({begun[0] for line in lines if (begun := _LEADING.match(line))}) > len(lines):
        return False  # most lines begin with a time that no other has: they stand in the order of these
    dated = [(found, _NUMBER.sub("9", line)) for line in lines if (found := stamp(line)) is not None]
    falls = any(after[1] < before[1] for (before, _), (after, _) in pairwise(dated))
    ties = {(before[1], after[1]) for before, after in pairwise(dated) if before[0] == after[0]}
    return falls or sum(before != after for before, after in ties) >= FEWEST_TIES


def by_time(lines: Sequence[str]) -> list[str]:
    """Return the lines in the order of their times, and those of one time that have a term in the order of these."""
    found: list[str] = []
    of_times = groupby(sorted(records_of(lines), key=first_stamp), key=first_stamp)
    for _, run in of_times:
        of_time = [*run]
        terms = [term_in(record[0]) for record in of_time]
        places = [place for place, term in enumerate(terms) if term is not None]
        risen = sorted(places, key=lambda place: terms[place] or 0)
        moved = dict(zip(places, risen, strict=True))
        found += [line for place in range(len(of_time)) for line in of_time[moved.get(place, place)]]
    return found


def first_stamp(record: Sequence[str]) -> Stamp:
    """Return the time of a record, as a key to sort by; one without a time is the first."""
    return stamp(record[0]) or ("", "")


@dataclass(slots=True)
class Part:
    """Lines of a log behind one another; the first time among them, the last one, how many there are, and the longest
    time without a line, in seconds."""

    lines: list[str]
    first: float
    last: float
    dated: int = 0
    longest: float = 0.0

    def takes(self, line: str, now: float | None) -> None:
        """Take the next line, with its time."""
        self.lines.append(line)
        if now is not None:
            self.dated += 1
            self.longest = max(self.longest, now - self.last)
            self.last = max(self.last, now)


def parts_in_order(lines: Sequence[str]) -> list[str] | None:
    """Return the lines of a log whose parts stand behind one another, the last written one first, in the order in which
    they were written; None for any other log.

    A part ends at most :data:`LONGEST_BREAK` before the one begins that stands above it.
    """
    parts: list[Part] = []
    forms = set()
    for line in lines:
        found = stamp(line)
        now = seconds(found) if found else None
        forms |= {found[0]} if found else set()
        if not parts or (now is not None and now < parts[-1].first - 1):
            parts.append(Part([], now or 0.0, now or 0.0))
        part = parts[-1]
        if now is not None and not part.dated:
            part.first = part.last = now
        part.takes(line, now)
    longest = min(LONGEST_BREAK, max((part.longest for part in parts), default=0.0) + 1)
    near = all(-1 <= above.first - below.last <= longest for above, below in pairwise(parts))
    whole = len(parts) > 1 and len(forms) == 1 and min(part.dated for part in parts) >= FEWEST_OF_PART
    return [line for part in reversed(parts) for line in part.lines] if whole and near else None


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
