"""Ends that move: what a group's verdicts owe to the last lines of its logs.

Where nothing happens, a night moves the ends of lives that go on, and nothing else. While a group is judged these ends
are numbers that remember with what they were compared. What is compared is always a sum of some ends, each so many
times, with a number; so the record is one range for each such sum. As long as the ends of another night keep all sums
within their ranges, every comparison comes out as it did: the rules would do the same, whatever they are, and say the
same rows, unless a row itself holds an end. Whatever cannot be written down in this way voids the record.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from typing import Any

from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Row

EndOfLog = tuple[int, int]
"""When the last line of a log was written: not before, and not after; microseconds UTC on its own clock."""

Sum = tuple[tuple[str, int, int], ...]
"""Some ends, by the source and which of its two times, each so many times."""

MOST_SUMS = 500
"""A record of more sums is void: to look at it would cost what judging does."""

MOST_RECORDS = 8
"""So many orders in which logs may end are kept of a group."""

_EARLIEST, _LATEST = -(1 << 62), 1 << 62


@dataclass(slots=True)
class Comparisons:
    """The comparisons with the ends of a group's logs: for each sum the least and the largest value that gives the
    same answers. ``void``: something depends on an end in another way."""

    ends: Mapping[str, EndOfLog]
    ranges: dict[Sum, tuple[int, int]] = field(default_factory=dict)
    void: bool = False

    def hold(self, ends: Mapping[str, EndOfLog]) -> bool:
        """Whether all comparisons come out the same with other ends; logs that are not named end where they did."""
        if self.void:
            return False
        now = {**self.ends, **ends}
        return all(least <= _value(of, now) <= most for of, (least, most) in self.ranges.items())

    def as_json(self) -> list[Any]:
        """The record for JSON."""
        return [dict(sorted(self.ends.items())), [[of, *self.ranges[of]] for of in sorted(self.ranges)]]

    @classmethod
    def from_json(cls, record: Sequence[Any]) -> "Comparisons":
        """What :meth:`as_json` gave."""
        ends, ranges = record
        return cls(
            {source: (at, by) for source, (at, by) in ends.items()},
            {tuple((source, which, times) for source, which, times in of): (low, high) for of, low, high in ranges},
        )

    def note(self, of: Sum, least: int, most: int) -> None:
        """The sum had to be in this range."""
        if of[0][2] < 0:
            of, least, most = tuple((source, which, -times) for source, which, times in of), -most, -least
        before = self.ranges.get(of, (_EARLIEST, _LATEST))
        self.ranges[of] = max(least, before[0]), min(most, before[1])
        self.void = self.void or len(self.ranges) > MOST_SUMS


@dataclass(frozen=True, slots=True)
class Standing:
    """Why the verdicts of a group stand: records of some judgements of the same facts, whose logs ended otherwise, and
    which all came to the same ``rows``; of those a hash."""

    rows: str
    records: tuple[Comparisons, ...]

    @classmethod
    def of(cls, rows: Sequence[Row], noted: Comparisons) -> "Standing":
        """What one judgement gives."""
        return cls(sha256(repr(rows).encode()).hexdigest()[:16], () if noted.void else (noted,))

    def after(self, before: "Standing | None") -> "Standing":
        """The same with the records of ``before``, which was told of the same facts, if it came to the same rows."""
        if before is None or before.rows != self.rows:
            return self
        return Standing(self.rows, (*self.records, *before.records)[:MOST_RECORDS])

    @property
    def ends(self) -> Mapping[str, EndOfLog]:
        """Where the logs ended at the last judgement."""
        return self.records[0].ends

    def hold(self, ends: Mapping[str, EndOfLog]) -> bool:
        """Whether the rows are the same with other ends."""
        return any(record.hold(ends) for record in self.records)

    def as_text(self) -> str | None:
        """It as JSON; ``None`` if another end may change the rows in any way."""
        return json.dumps([self.rows, *(record.as_json() for record in self.records)]) if self.records else None

    @classmethod
    def from_text(cls, text: str) -> "Standing":
        """What :meth:`as_text` wrote."""
        rows, *records = json.loads(text)
        return cls(rows, tuple(map(Comparisons.from_json, records)))


def _value(of: Sum, ends: Mapping[str, EndOfLog]) -> int:
    return sum(times * ends[source][which] for source, which, times in of)


class End(int):
    """A time, or a span of time, that depends on where logs end: the sum ``of`` ends, and ``more`` microseconds."""

    of: Sum
    more: int
    noting: Comparisons

    def _compared(self, other: object) -> "tuple[Sum, int, int] | None":
        """The ends in the difference to another number, what is added to them, and the difference itself."""
        if not isinstance(other, int):
            return None
        difference = int.__sub__(self, other)
        of = _added(self.of, other.of, -1) if isinstance(other, End) else self.of
        return of, self.more - (other.more if isinstance(other, End) else int(other)), difference

    def __lt__(self, other: int) -> bool:
        compared = self._compared(other)
        if compared is None:
            return bool(self._plain() < other)
        of, more, difference = compared
        if of and difference < 0:
            self.noting.note(of, _EARLIEST, -more - 1)
        elif of:
            self.noting.note(of, -more, _LATEST)
        return difference < 0

    def __le__(self, other: int) -> bool:
        compared = self._compared(other)
        if compared is None:
            return bool(self._plain() <= other)
        of, more, difference = compared
        if of and difference <= 0:
            self.noting.note(of, _EARLIEST, -more)
        elif of:
            self.noting.note(of, -more + 1, _LATEST)
        return difference <= 0

    def __gt__(self, other: int) -> bool:
        return not self <= other

    def __ge__(self, other: int) -> bool:
        return not self < other

    def __eq__(self, other: object) -> bool:
        compared = self._compared(other)
        if compared is None:
            return False
        of, more, difference = compared
        if of and difference == 0:
            self.noting.note(of, -more, -more)
        elif of and difference < 0:
            self.noting.note(of, _EARLIEST, -more - 1)
        elif of:
            self.noting.note(of, -more + 1, _LATEST)
        return difference == 0

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        """Of what it is and not of its value: so dictionaries find it whatever the night."""
        return hash((self.of, self.more))

    def __bool__(self) -> bool:
        return self != 0

    def __add__(self, other: int) -> int:
        return _sum(self, other, 1)

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        return _sum(self, other, -1)

    def __rsub__(self, other: int) -> int:
        return -_sum(self, other, -1)

    def __neg__(self) -> int:
        return _end(self.noting, _added((), self.of, -1), -self.more, int.__neg__(self))

    def __abs__(self) -> int:
        return self if self >= 0 else -self

    def __reduce__(self) -> tuple[Any, ...]:
        return int, (int.__int__(self),)

    def _plain(self) -> int:
        """As a number that remembers nothing."""
        self.noting.void = True
        return int.__int__(self)


def _voiding(name: str) -> Any:
    """An operation on numbers after which nobody knows what depends on the end."""
    operation = getattr(int, name)

    def voids(self: End, *others: Any) -> Any:
        self.noting.void = True
        return operation(
            int.__int__(self), *(int.__int__(other) if isinstance(other, End) else other for other in others)
        )

    return voids


for _name in (
    *("__mul__", "__rmul__", "__floordiv__", "__rfloordiv__", "__truediv__", "__rtruediv__", "__mod__", "__rmod__"),
    *("__divmod__", "__rdivmod__", "__pow__", "__rpow__", "__lshift__", "__rshift__", "__and__", "__or__", "__xor__"),
    *("__int__", "__index__", "__float__", "__trunc__", "__floor__", "__ceil__", "__round__", "__invert__", "__pos__"),
    *("__str__", "__repr__", "__format__", "to_bytes", "bit_length", "conjugate"),
):
    setattr(End, _name, _voiding(_name))


def _end(noting: Comparisons, of: Sum, more: int, value: int) -> int:
    if not of:
        return value
    end = int.__new__(End, value)
    end.of, end.more, end.noting = of, more, noting
    return end


def _sum(end: End, other: int, sign: int) -> int:
    if isinstance(other, End):
        of = _added(end.of, other.of, sign)
        value = int.__add__(end, other) if sign > 0 else int.__sub__(end, other)
        return _end(end.noting, of, end.more + sign * other.more, value)
    if not isinstance(other, int):
        return NotImplemented
    return _end(end.noting, end.of, end.more + sign * other, int.__add__(end, sign * other))


def _added(of: Sum, other: Sum, sign: int) -> Sum:
    times = {(source, which): count for source, which, count in of}
    for source, which, count in other:
        times[source, which] = times.get((source, which), 0) + sign * count
    return tuple((*end, count) for end, count in sorted(times.items()) if count)


def noted_of(facts: Iterable[Fact]) -> Comparisons:
    """An empty record of a group, with the ends of the logs whose processes live on; void where a log has several."""
    ends: dict[str, EndOfLog] = {}
    several = False
    for fact in facts:
        if fact.moves and fact.until is not None and fact.until_by is not None:
            end = fact.until, fact.until_by
            several |= ends.setdefault(fact.source_node, end) != end
    return Comparisons(ends, void=several)


def with_ends(facts: Iterable[Fact], noting: Comparisons) -> list[Fact]:
    """The facts of a group, with ends that note what they are compared with; they stay as they are if it is void."""
    if noting.void:
        return [*facts]
    return [_with_end(fact, noting) if fact.moves else fact for fact in facts]


def _with_end(fact: Fact, noting: Comparisons) -> Fact:
    source = fact.source_node
    until, until_by = (_end(noting, ((source, which, 1),), 0, end) for which, end in enumerate(noting.ends[source]))
    return replace(fact, until=until, until_by=until_by)


def holds_end(value: object) -> bool:
    """Whether a value is an end, or a row that holds one."""
    if isinstance(value, tuple):
        return any(map(holds_end, value))
    return isinstance(value, End)


def plain(row: Row, noting: Comparisons) -> Row:
    """A row of plain numbers. What it holds of ends voids their record: another night would say something else."""
    values = {name.name: getattr(row, name.name) for name in fields(row)}
    held = {name: _plain(value) for name, value in values.items() if holds_end(value)}
    if not held:
        return row
    noting.void = True
    return replace(row, **held)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return int.__int__(value) if isinstance(value, End) else value
