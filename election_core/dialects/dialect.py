"""Dialects: how one system writes its log, and how a table of its log texts becomes a parser.

A dialect is a set of literal tables: each row (:class:`Text`) is the format string of the system's own source, with the
placeholders named after the columns they fill. This module turns rows into anchored patterns, and picks the few that
can match a message by its first characters.

Placeholders of a template:

``{term:int}``   a value of the shape ``int`` for the column ``term``
``{peer}``       a value without blanks (shape ``word``)
``{}``           a value without blanks that is not kept
``{:vote}``      a shape that fills several columns at once

``{{`` and ``}}`` are literal braces. Blanks at the end of a template or of a line do not count.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from string import Formatter
from typing import Any, NamedTuple

from election_replay.election_core.model import digits
from election_replay.election_core.model.deeds import Deed
from election_replay.election_core.model.events import Event

Fields = Mapping[str, Any]
Condition = Callable[[str, str], bool]
"""Decides by ``(thread, stream)`` between texts that read alike; for ZooKeeper the class stands in for the thread."""

TELLING = 12
"""A literal of this many characters is unlikely to be printed by other programs; ``LOOKING`` alone proves nothing."""

COLUMNS = frozenset(column.name for column in fields(Event))


class Record(NamedTuple):
    """One record of a log: its first line and the undated lines that follow it, such as a stack trace.

    ``text`` has no line end. ``continuation`` holds the first of those lines only, each possibly cut. ``stream`` is the
    file name without roll and compression suffixes. ``utc_offset_minutes`` is the zone of the line's time.
    """

    text: str
    continuation: tuple[str, ...]
    stream: str
    utc_offset_minutes: int


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one system writes its log.

    ``record_start`` is an anchored pattern (RE2 syntax) of a line that begins a record. A line without any of the
    ``needles`` is never an event. ``utc_offset_minutes`` is the zone of the times unless configured. ``parse`` returns
    None for lines of no interest and raises only :class:`Unparsable`. ``time_of`` takes a first line and its zone, and
    returns (us UTC, resolution in ms), or None if the line has no possible time.

    ``parse_line`` is ``parse`` for a line that a layout has taken apart. ``reads`` returns True if the system's own
    layouts can take a line apart. ``anchors`` are the ``needles`` for any layout, ``telling`` those literals that no
    other program prints. ``plain``: times are written as ``2026-03-01 10:00:00``. ``by_class``: some texts are told
    apart by the class that prints them. ``missing``: what a layout does not print, for people.
    """

    name: str
    record_start: str
    needles: tuple[str, ...]
    utc_offset_minutes: int
    parse: Callable[[Record], Event | None]
    time_of: Callable[[str, int], tuple[int, int] | None]
    parse_line: Callable[[Any, Record], Event | None] | None = None
    reads: Callable[[str], bool] = field(default=bool)
    anchors: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()
    plain: bool = True
    by_class: bool = False
    missing: str | None = None

    @property
    def distinguishing_lines(self) -> tuple[str, ...]:
        """Literals of the system's texts that no other program prints; by default the long ``anchors``."""
        return self.telling or tuple(anchor for anchor in self.anchors if len(anchor) >= TELLING)

    @property
    def system(self) -> str:
        """The name without the layout that may follow it."""
        return self.name.partition(" ")[0]

    @property
    def in_layout(self) -> bool:
        """True when the dialect reads a layout other than the system's own."""
        return " " in self.name


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of a printed value, and how to read it. ``pattern`` has no groups. ``read`` returns the value, or with
    ``spread`` the columns it fills; it raises ``ValueError`` for an impossible value."""

    pattern: str
    read: Callable[[str], Any]
    spread: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """One log text: its kind, the format string of its source, its meaning, and the columns it implies.

    Several texts may share a kind: older wordings of one event. ``sets`` are columns that the text fills without a
    value. ``then`` turns the columns read into the final ones. A text that ``floods`` may be printed hundreds of times
    a second without saying anything new. ``does`` declares its effects beside its content. A text without a distinctive
    word has a ``needle``: something else that its line contains, such as the class that prints it.
    """

    kind: str
    template: str
    meaning: str = ""
    when: Condition | None = None
    sets: Fields = field(default_factory=dict)
    then: Callable[[Fields], Fields] | None = None
    floods: bool = False
    does: tuple[Deed, ...] = ()
    needle: str | None = None


SIGN = "_SIGN"
"""The end of each kind whose lines no rule reads."""


def signs(kind: str, *templates: str) -> tuple[Text, ...]:
    """Return texts of one kind that no rule reads: each line of them shows only that its process runs."""
    return tuple(
        Text(kind, template, "a line that no rule reads: a sign that the process runs") for template in templates
    )


def under(protocol: str, texts: Iterable[Text], *does: Deed) -> tuple[Text, ...]:
    """Return the texts with ``protocol`` set, unless a text names one of its own; ``does`` are effects of all."""
    return tuple(replace(text, sets={"protocol": protocol, **text.sets}, does=(*text.does, *does)) for text in texts)


def on_thread(*beginnings: str) -> Condition:
    """Return a condition: the thread's name begins with one of these, after ``#...#`` of a broker in a container."""
    return lambda thread, _: thread.rpartition("#")[2].startswith(beginnings)


def off_thread(*beginnings: str) -> Condition:
    """Return the opposite condition of :func:`on_thread`."""
    return lambda thread, _: not thread.rpartition("#")[2].startswith(beginnings)


def integer(printed: str) -> int | None:
    """Return a whole number of at most 64 bits, zeros before it or not, or None for a printed null; ``ValueError`` for
    anything else."""
    found = digits.number(printed)
    if found is not None:
        return found
    if printed == "null":
        return None
    if not re.fullmatch(r"-?0*[0-9]{1,19}", printed):
        raise ValueError(f"not a whole number: {printed[:40]!r}")
    number = int(printed)
    if abs(number) > digits.LARGEST:
        raise ValueError(f"number beyond 64 bits: {printed}")
    return number


def boolean(printed: str) -> bool | None:
    """Return True or False, or None for a printed null; ``ValueError`` for anything else."""
    try:
        return {"true": True, "false": False, "null": None}[printed]
    except KeyError:
        raise ValueError(f"neither true nor false: {printed[:40]!r}") from None


def words(printed: str) -> str | None:
    """Return the text itself, or None if it is empty or a printed null."""
    return None if printed in ("", "null") else printed


SHAPES: Mapping[str, Shape] = {
    "": Shape(r"\S*?", words),
    "text": Shape(r".*?", words),
    "int": Shape(r"\S*?", integer),
    "bool": Shape(r"\S*?", boolean),
}
"""The shapes that every system prints."""


@dataclass(frozen=True)
class Pattern:
    """A compiled text: ``regex`` matches whole messages; ``anchor`` is a literal that each of them contains. ``places``
    are the columns and shapes of the groups of ``regex``; values that are not kept have no group."""

    text: Text
    expression: str
    prefix: str
    anchor: str
    needle: str
    places: tuple[tuple[str, Shape], ...]

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The compiled expression, made on first use: there are many hundred texts, and a log holds few of them."""
        return re.compile(self.expression, re.DOTALL)

    def read(self, message: str, thread: str, stream: str) -> dict[str, Any] | None:
        """Return the columns that ``message`` fills, or None if it is another text; it must not end in blanks. Raises
        ``ValueError`` if the text matches and a value in it is impossible."""
        found = self.regex.match(message)
        text = self.text
        if found is None or (text.when is not None and not text.when(thread, stream)):
            return None
        columns: dict[str, Any] = dict(text.sets)
        for (name, shape), printed in zip(self.places, found.groups(), strict=True):
            if shape.spread:
                columns.update(shape.read(printed))
            else:
                columns[name] = shape.read(printed)
        return columns if text.then is None else dict(text.then(columns))


def compiled(text: Text, shapes: Mapping[str, Shape], before: str) -> Pattern:
    """Return ``text`` as a pattern; ``before`` precedes every message. Raises ``ValueError`` for a template that names
    an unknown column or shape."""
    parts = list(Formatter().parse(text.template.rstrip()))
    regex, literals, places = "", [""], []
    for position, (literal, name, shape_name, _) in enumerate(parts):
        literals[-1] += literal
        if name is None:  # an escaped brace ends a part without a placeholder
            continue
        if name and name not in COLUMNS:
            raise ValueError(f"{text.kind}: no column {name}")
        if (shape_name or "") not in shapes:
            raise ValueError(f"{text.kind}: no shape {shape_name}")
        shape = shapes[shape_name or ""]
        blank = ""
        # Line ends are stripped: an empty last value has no blank before it.
        if position == len(parts) - 1 and literals[-1].strip():
            literals[-1], blank = literals[-1].rstrip(" "), " *"
        regex += f"{re.escape(literals[-1])}{blank}"
        if name or shape.spread:
            regex += f"({shape.pattern})"
            places.append((name, shape))
        else:
            regex += f"(?:{shape.pattern})"
        literals.append("")
    regex += re.escape(literals[-1])
    prefix, anchor = literals[0], max(literals, key=len)
    needle = text.needle or max((before + prefix if prefix else "", *literals), key=len)
    return Pattern(text, rf"{regex}\Z", prefix, anchor, needle, tuple(places))


KEY_LENGTHS = (8, 4)
"""Lengths of the message prefixes by which texts are looked up: the short one for texts with a short first literal."""


class Table:
    """Texts, looked up by the first characters of a message; longer texts are tried first.

    ``before`` is what every layout writes before a message: it makes the needles of short messages longer.
    ``compile_text`` turns a text into a pattern.
    """

    def __init__(
        self,
        texts: Iterable[Text],
        shapes: Mapping[str, Shape],
        before: str = " - ",
        compile_text: Callable[[Text, Mapping[str, Shape], str], Pattern] = compiled,
    ) -> None:
        every = [compile_text(text, {**SHAPES, **shapes}, before) for text in texts]
        self.patterns: Sequence[Pattern] = sorted(every, key=lambda row: -len(row.text.template))
        self.kinds: dict[str, str] = {}
        for pattern in every:
            self.kinds.setdefault(pattern.text.kind, pattern.text.meaning)
        self.floods = frozenset(row.text.kind for row in every if row.text.floods)
        self.does: Mapping[Deed, frozenset[str]] = {
            deed: frozenset(row.text.kind for row in every if deed in row.text.does) for deed in Deed
        }
        self._by_key: list[dict[str, tuple[tuple[str, Pattern], ...]]] = [
            {key: () for row in every if len(key := row.prefix[:length]) == length} for length in KEY_LENGTHS
        ]
        """Filled on first use of a key: there are a thousand, and a log holds few of them."""
        self._others = tuple((row.anchor, row) for row in self.patterns if len(row.prefix) < min(KEY_LENGTHS))

    def _fitting(self, key: str) -> tuple[tuple[str, Pattern], ...]:
        return tuple(
            (pattern.anchor, pattern)
            for pattern in self.patterns
            if pattern.prefix.startswith(key) or key.startswith(pattern.prefix)
        )

    def candidates(self, message: str) -> Iterator[Pattern]:
        """Yield the patterns that may match ``message``, in the order in which to try them."""
        for keys, length in zip(self._by_key, KEY_LENGTHS, strict=True):
            if (fitting := keys.get(key := message[:length])) is not None:
                keys[key] = fitting = fitting or self._fitting(key)
                break
        else:
            fitting = self._others
        for anchor, pattern in fitting:
            if anchor in message:  # cheaper than matching the pattern, which mostly fails
                yield pattern

    def needles(self) -> tuple[str, ...]:
        """Return the fewest literals such that the line of every event contains one."""
        return fewest({pattern.needle for pattern in self.patterns})

    def anchors(self) -> tuple[str, ...]:
        """Return the fewest literals such that the message of every event contains one."""
        return fewest({pattern.text.needle or pattern.anchor for pattern in self.patterns})

    def telling(self) -> tuple[str, ...]:
        """Return the fewest literals of messages that no other program is likely to print."""
        return fewest({pattern.anchor for pattern in self.patterns if len(pattern.anchor) >= TELLING})


def fewest(literals: Iterable[str]) -> tuple[str, ...]:
    """Return the literals that contain no other one."""
    shortest_first = sorted(literals, key=lambda text: (len(text), text))
    width = len(shortest_first[0])
    kept: list[str] = []
    beginning_with: defaultdict[str, list[str]] = defaultdict(list)
    for literal in shortest_first:
        beginnings = (literal[at : at + width] for at in range(len(literal)))
        if not any(shorter in literal for beginning in beginnings for shorter in beginning_with.get(beginning, ())):
            kept.append(literal)
            beginning_with[literal[:width]].append(literal)
    return tuple(kept)


@lru_cache(maxsize=4096)
def _since_1970(printed: str) -> int:
    moment = datetime.fromisoformat(printed).replace(tzinfo=UTC)
    if not 1970 <= moment.year <= 2999:
        raise ValueError(f"absurd year {moment.year}")
    return int(moment.timestamp())


_SECOND = {f":{second:02d}": second for second in range(60)}
"""Seconds by the text after the minute of a time."""


def seconds(printed: str) -> int:
    """Return the seconds from 1970-01-01 to ``2026-03-01 10:00:07``, taken as UTC; ``ValueError`` for no such time.
    Lines come in order of time, so the value of a minute is cached for all of its lines."""
    second = _SECOND.get(printed[16:])
    return _since_1970(printed) if second is None else _since_1970(printed[:16]) + second


def moment(printed: str, fraction: str | None, utc_offset_minutes: int) -> tuple[int, int]:
    """Return (us UTC, resolution in ms) of a local time and the digits after its seconds. Loggers truncate times: the
    line was written within the second, or millisecond, that begins here. Raises ``ValueError`` for no such time."""
    utc = (seconds(printed) - utc_offset_minutes * 60) * 1_000_000
    return (utc + int(fraction[:6].ljust(6, "0")), 1) if fraction else (utc, 1000)
