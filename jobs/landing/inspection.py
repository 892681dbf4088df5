"""Shows what the pipeline makes of a log file, line by line: to find out why a line was not understood.

The file is read as the landing reads it, without Spark and without a warehouse. Lines that are not events are grouped
by their *shape*: the text with its numbers, ids and names in brackets taken out. A frequent shape that speaks about
leadership is a text that the dialect does not know yet.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import polars as pl

from election_replay.election_core.dialects import KINDS, Dialect, Record, speaker_of
from election_replay.election_core.dialects.described.dialect import NAME as DESCRIBED
from election_replay.election_core.dialects.described.dialect import shown
from election_replay.election_core.dialects.torn import parse_record
from election_replay.election_core.envelopes import Inner, Reader, Refused, chain_text
from election_replay.election_core.model.events import Event, Unparsable
from election_replay.election_core.model.streams import stream_at, stream_of
from election_replay.jobs import JobError
from election_replay.jobs.landing.blocks import Block, Blocks
from election_replay.jobs.landing.enveloped import begun_by, chain_of, lines_in, named, opened_by
from election_replay.jobs.landing.evidence import CONTINUATION_LINES, HEAD_BYTES, TEXT_CHARACTERS
from election_replay.jobs.landing.landing_zone import LandingZone, LocalZone
from election_replay.jobs.landing.lines import decoded
from election_replay.jobs.landing.masking import masked, without_secrets
from election_replay.jobs.landing.recognising import dialect_of, looked_at
from election_replay.jobs.landing.understanding import Understanding

MANY_SHAPES = 20_000
"""A file with more shapes than this is no log; further shapes are counted together."""
OTHER = "(more shapes than can be told apart)"

_PREFIX = re.compile(r"^\S+[ T]\S+ +(?:\[?[A-Z]{4,5}\]? +)?(?:.{1,80}? - )?")
_VALUES = re.compile(r"[\w.:/-]*\d[\w.:/-]*|'[^']*'|\"[^\"]*\"|\{[^{}]*\}|\[[^\[\]]*\]")
_MESSAGE = re.compile(r'^\{.*?"(?:msg|message)": *"((?:[^"\\]|\\.)*)"')
_COLUMNS = tuple(
    field.name for field in fields(Event) if field.name not in {"kind", "event_time", "time_resolution_ms", "thread"}
)


@dataclass(frozen=True, slots=True)
class Seen:
    """One record of the file and its result: an event, the reason of its quarantine, or neither."""

    line_no: int
    text: str
    event: Event | None
    reason: str | None


@dataclass(slots=True)
class Inspection:
    """What a whole file holds; ``nodes`` counts lines by the node that their envelopes name, ``""`` if they name none.

    ``first_of_kind`` is the number of the first line of each kind, ``example`` the number and text of the first line of
    each shape.
    """

    path: str
    stream: str
    dialect: Dialect | None
    envelope: str | None = None
    nodes: Counter[str] = field(default_factory=Counter)
    lines: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    first_of_kind: dict[str, int] = field(default_factory=dict)
    shapes: Counter[str] = field(default_factory=Counter)
    example: dict[str, tuple[int, str]] = field(default_factory=dict)
    quarantined: list[Seen] = field(default_factory=list)
    events: list[Seen] = field(default_factory=list)
    problem: str | None = None
    misunderstood: str | None = None
    unread: list[tuple[int, str]] = field(default_factory=list)

    @property
    def read_as(self) -> str:
        """The dialect as text, with its layout where that is not the system's own."""
        if self.dialect is None:
            return "no dialect: all its lines are ignored"
        if self.dialect.system == DESCRIBED:
            return shown(self.dialect.name)
        name, blank, layout = self.dialect.name.partition(" ")
        return f"{name} in the layout {layout}" if blank else name

    def add(self, seen: Seen) -> None:
        """Count one record."""
        if seen.reason is not None:
            self.quarantined.append(seen)
        elif seen.event is not None:
            self.kinds[seen.event.kind] += 1
            self.first_of_kind.setdefault(seen.event.kind, seen.line_no)
            self.events.append(seen)
        else:
            self._add_shape(seen)

    def _add_shape(self, seen: Seen) -> None:
        shape = shape_of(seen.text)
        if shape not in self.shapes and len(self.shapes) >= MANY_SHAPES:
            shape = OTHER
        self.shapes[shape] += 1
        self.example.setdefault(shape, (seen.line_no, seen.text))


def shape_of(text: str) -> str:
    """Return a text without what changes from line to line; of a JSON object only its message."""
    message = _MESSAGE.search(text)
    if message:
        return _VALUES.sub("#", message[1])[:160].strip()
    return _VALUES.sub("#", _PREFIX.sub("", text))[:160].strip()


def inspect(path: str, utc_offset_minutes: int | None = None, setting: str | None = None) -> Inspection:
    """Read a log file, in the dialect that ``setting`` names if it is given.

    ``utc_offset_minutes`` is the zone of times that do not tell theirs, None: the dialect's. Raises :class:`JobError`
    when there is no such file.
    """
    file = Path(path)
    if not file.is_file():
        raise JobError(f"there is no file {path}")
    stream = stream_of(file.name)
    file = file.resolve()
    blocks = Blocks(LocalZone(str(file.parent)), file.name, file.stat().st_size)
    head = blocks.peek(looked_at(stream))
    chain = chain_of(stream, head[:HEAD_BYTES], setting)
    found = Inspection(path, stream, dialect_of(stream, opened_by(chain, head) if chain else head, setting))
    understood = Understanding(stream, found.dialect)
    if chain:
        found.envelope = chain_text(chain)
        reader = Reader(chain, lambda text: speaker_of(text, found.dialect) is not None)
        records = _enveloped(found, reader, blocks, utc_offset_minutes)
    else:
        understood.begin(head)
        records = _records(found, _lines(blocks, understood), utc_offset_minutes)
    for seen in records:
        found.add(seen)
    found.problem = blocks.problem if blocks.unread or not blocks.problem else f"damaged: {blocks.problem}"
    found.misunderstood = understood.problem(masked)
    found.unread = understood.shapes(masked) if found.misunderstood else []
    return found


def lines_in_file(zone: LandingZone, path: str, size: int, stream: str) -> Iterator[tuple[int, str | None, str]]:
    """Yield the lines of a log file out of their envelopes, without secrets: number, node that the envelope names,
    text.

    Raises :class:`JobError` where the file cannot be read to its end.
    """
    blocks = Blocks(zone, path, size)
    head = blocks.peek(looked_at(stream))
    chain = chain_of(stream, head[:HEAD_BYTES])
    if chain:
        dialect = dialect_of(stream, opened_by(chain, head))
        reader = Reader(chain, lambda text: speaker_of(text, dialect) is not None)
        for inner in _opened(Inspection(path, stream, dialect), reader, blocks):
            if isinstance(inner, Inner):
                yield from ((inner.line_no, inner.node, text) for text in (inner.text, *inner.more))
    else:
        texts = (text for block in _blocks(blocks) for text in _texts(block.data))
        yield from ((number, None, text) for number, text in enumerate(texts, 1))
    if blocks.missing or blocks.problem:
        raise JobError(blocks.problem or "it is not there any more")


def _lines(blocks: Blocks, understood: Understanding) -> Iterator[str]:
    for block in _blocks(blocks):
        texts = _texts(block.data)
        understood.take_all(texts)
        yield from texts


def _texts(data: bytes) -> list[str]:
    """Return the lines of a block without the secrets in them: what landing would not keep is not shown either."""
    text = decoded(data)[0].decode("utf-8", "replace")
    lines = [line.rstrip("\r").removeprefix("\ufeff") for line in text.removesuffix("\n").split("\n")]
    return without_secrets(pl.Series(lines, dtype=pl.String))


def _records(found: Inspection, lines: Iterator[str], utc_offset_minutes: int | None) -> Iterator[Seen]:
    """Yield the records of a file: each dated line with the undated lines after it."""
    begin: tuple[int, str] | None = None
    more: list[str] = []
    start: re.Pattern[str] | None = None
    for number, line in enumerate(lines, 1):
        found.lines = number
        if found.dialect is None:
            yield Seen(number, line, None, None)
            continue
        start = start or re.compile(found.dialect.record_start)
        if start.search(line):
            if begin is not None:
                yield _seen(found.dialect, found.stream, begin, more, utc_offset_minutes)
            begin, more = (number, line), []
        elif begin is None:
            yield Seen(number, line, None, None)
        elif len(more) < CONTINUATION_LINES:
            more.append(line[:TEXT_CHARACTERS])
    if begin is not None and found.dialect is not None:
        yield _seen(found.dialect, found.stream, begin, more, utc_offset_minutes)


def _enveloped(found: Inspection, reader: Reader, blocks: Blocks, utc_offset_minutes: int | None) -> Iterator[Seen]:
    """Yield the records of a file in envelopes: those of each node and program by themselves."""
    open_records: dict[tuple[str | None, ...], OpenRecord] = {}
    for inner in _opened(found, reader, blocks):
        if isinstance(inner, Refused):
            yield Seen(inner.line_no, inner.text, None, inner.reason)
            continue
        found.nodes[inner.node or ""] += 1
        who = inner.node, inner.program, inner.file
        before = open_records.get(who)
        preferred = before.dialect if before else named(inner.file) or found.dialect
        itself = before is not None and before.utc_offset_minutes is None
        begun = begun_by(inner, preferred, dates_itself=itself) or begun_by(inner, found.dialect, dates_itself=itself)
        more = [text[:TEXT_CHARACTERS] for text in inner.more]
        if begun is not None:
            text, speaker, offset = begun
            if before is not None:
                yield before.seen(utc_offset_minutes)
            found.dialect = found.dialect or speaker
            stream = stream_at(inner.file) if inner.file else found.stream
            open_records[who] = OpenRecord(speaker, stream, inner.line_no, text, more, offset)
        elif before is None:
            yield Seen(inner.line_no, inner.text, None, None)
        else:
            before.more += [inner.text[:TEXT_CHARACTERS], *more][: CONTINUATION_LINES - len(before.more)]
    for left in open_records.values():
        yield left.seen(utc_offset_minutes)


def _opened(found: Inspection, reader: Reader, blocks: Blocks) -> Iterator[Inner | Refused]:
    for block in _blocks(blocks):
        for number, line, _, _ in lines_in(block, found.lines + 1, bytewise=reader.bytewise):
            found.lines = number
            yield from map(_without_secrets, reader.read(number, line))
    yield from map(_without_secrets, reader.finish())


def _without_secrets(inner: Inner | Refused) -> Inner | Refused:
    """Return the content of a line without the secrets in it."""
    if isinstance(inner, Refused):
        return replace(inner, text=masked(inner.text))
    return replace(inner, text=masked(inner.text), more=tuple(map(masked, inner.more)))


def _blocks(blocks: Blocks) -> Iterator[Block]:
    yield from blocks
    if blocks.rest:
        yield blocks.take_rest()


@dataclass(slots=True)
class OpenRecord:
    """A record that more lines may be added to."""

    dialect: Dialect
    stream: str
    line_no: int
    text: str
    more: list[str]
    utc_offset_minutes: int | None

    def seen(self, utc_offset_minutes: int | None) -> Seen:
        """Return the record's result, read in its own zone or else in the given one."""
        zone = utc_offset_minutes if self.utc_offset_minutes is None else self.utc_offset_minutes
        return _seen(self.dialect, self.stream, (self.line_no, self.text), self.more, zone)


def _seen(
    dialect: Dialect, stream: str, begin: tuple[int, str], more: list[str], utc_offset_minutes: int | None
) -> Seen:
    number, text = begin
    if not any(needle in text for needle in dialect.needles):
        return Seen(number, text, None, None)
    zone = dialect.utc_offset_minutes if utc_offset_minutes is None else utc_offset_minutes
    try:
        return Seen(number, text, parse_record(dialect, Record(text, tuple(more), stream, zone)), None)
    except Unparsable as error:
        return Seen(number, text, None, str(error))


def render(event: Event) -> str:
    """Return the fields of an event as ``name=value`` pairs."""
    values = ((name, getattr(event, name)) for name in _COLUMNS)
    return " ".join(f"{name}={_short(value)}" for name, value in values if value is not None)


def _short(value: object) -> str:
    text = "{" + ", ".join(map(str, value)) + "}" if isinstance(value, tuple) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def meaning(kind: str) -> str:
    """Return the one-line meaning of a kind of event; empty for an unknown kind."""
    return KINDS.get(kind, "")
