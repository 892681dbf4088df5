"""Lines of one log file into rows: events, the lines behind them, what could not be read, and the counts.

Only lines that can be of interest reach Python: a vectorised filter looks for the dialect's literals first. Secrets
are masked before a line is read, so that nothing kept of it (columns, text, quarantine) holds them. A record
is a line that begins as the dialect says; the undated lines after it belong to it. Every physical line is counted
once: as an event, as ignored (continuation lines too), or as quarantined.

So that the silence of a log can be told from the absence of news, the first line of every ten seconds in which the
log says anything, and the last dated line before it, become events of kind ``TICK`` unless they are events anyway.
Nothing is said about the end of a file that may still grow: landing it in one go or night by night gives the same rows.
"""

import hashlib
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from election_core.dialects import FLOODS, Dialect, Record, Unparsable, tick
from election_core.dialects.dialect import seconds
from election_core.dialects.rocketmq import metadata as rocketmq_metadata
from election_core.model.events import Event
from jobs.landing.blocks import LINE_BYTES, Block, line_ends
from jobs.landing.masking import masked, without_secrets
from jobs.landing.pseudonyms import Hidden, Pseudonyms
from jobs.landing.understanding import Understanding
from jobs.landing.zones import LocalTimes, Reading
from schemas.events import MEANING

TEXT_CHARACTERS = 2_000
"""How much of a line is kept as text."""

CONTINUATION_LINES = 20
"""How many undated lines of a record are kept."""

HELD_LINES = 5_000
"""A record longer than this is not kept together."""

TEN_SECONDS = r"(\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d)\d"
"""The time of a line, without the last digit of its seconds."""

STEP = 20
"""Where a line is so many seconds behind those before it, ticks begin anew: its clock was put back."""

SECONDS = r"(\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d)"
"""The time of a line."""

SECOND_LENGTH = len("2026-03-01 10:00:00")

Row = tuple[str, tuple[Any, ...]]
"""A table's name and the values of one of its rows, in the order of its columns."""

Indices = np.ndarray[Any, np.dtype[np.int64]]

fields_of = attrgetter(*(column.name for column in MEANING))
EPOCH_ENTRIES = [column.name for column in MEANING].index("epoch_entries")
LOG_LINES, QUARANTINE, EVENTS = "log_lines", "quarantine", "events"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the lines of one file come from; ``file_time`` is microseconds UTC."""

    cluster: str
    source_node: str
    stream: str
    fingerprint: str
    path: str
    batch: int
    file_time: int | None
    clock_bound_ms: int
    utc_offset_minutes: int
    time_zone: str | None = None
    file: str | None = None

    def event_id(self, line_no: int) -> str:
        """The stable name of the event on a line; that of the ``file`` is in it where a file holds several sources."""
        file = self.file or f"{self.cluster}|{self.source_node}|{self.stream}|{self.fingerprint}"
        return digest(f"{file}|{line_no}".encode())


@dataclass(slots=True)
class Progress:
    """How far a file is landed, and what the next landing must know of the line before: plain data."""

    lines: int = 0
    tick_bucket: int | None = None
    last_line_no: int | None = None
    last_line: str | None = None
    zone_state: str | None = None
    flood: str | None = None


@dataclass(slots=True)
class Counts:
    """Lines of one landing of one file."""

    total: int = 0
    event: int = 0
    quarantined: int = 0

    @property
    def ignored(self) -> int:
        """All lines that are neither; a line that an earlier landing ignored and this one took counts minus one."""
        return self.total - self.event - self.quarantined


def digest(data: bytes) -> str:
    """A stable 128-bit name for ``data``."""
    return hashlib.sha256(data).hexdigest()[:32]


class Evidence:
    """Takes the blocks of one file in order and gives the rows they make."""

    def __init__(
        self, place: Place, dialect: Dialect | None, progress: Progress, pseudonyms: Pseudonyms | None = None
    ) -> None:
        self.place = place
        self.dialect = dialect
        self.pseudonyms = pseudonyms
        self.progress = progress
        self.counts = Counts()
        self.envelope: str | None = None
        self.problem: str | None = None
        self.state: str | None = None
        self.waiting = 0
        self._held: pl.DataFrame | None = None
        self._next: Block | None = None
        self._times = LocalTimes(place.time_zone, progress.zone_state) if place.time_zone else None
        self._fixed = Reading(place.utc_offset_minutes)
        self._readings: dict[int | None, Reading] = {}
        last = local_seconds(progress.last_line, dialect) if dialect and progress.last_line else None
        if self._times and last is not None:
            self._readings[progress.last_line_no] = self._times.again(last)
        self._last_time: int | None = None
        self._understood = Understanding(place.stream, dialect)

    def take(self, block: Block) -> Iterator[Row]:
        """Rows of the lines before these, but for the last record: these may go on with it."""
        if self.progress.lines == 0 and self._next is None:
            self._understood.begin(block.data)
        if self.dialect is None:
            self._count(block.data.count(b"\n") + (not block.data.endswith(b"\n")))
            return
        if self._next is not None:
            yield from self._records(self._next, self.dialect, last=False)
        self._next = block

    def finish(self) -> Iterator[Row]:
        """Rows of all lines that are left."""
        if self.dialect is not None and self._next is not None:
            yield from self._records(self._next, self.dialect, last=True)
            self._next = None

    def take_lines(self, lines: pl.DataFrame) -> Iterator[Row]:
        """Rows of the lines before these, but for the last record; who took them out of their file has counted them.

        ``lines`` are as :func:`numbered` gives them.
        """
        if self.dialect is not None:
            yield from self._whole(self._behind_held(lines), self.dialect, last=False)

    def finish_lines(self) -> Iterator[Row]:
        """Rows of all that :meth:`take_lines` still holds."""
        if self.dialect is not None and self._held is not None:
            yield from self._whole(self._held, self.dialect, last=True)

    def _records(self, block: Block, dialect: Dialect, *, last: bool) -> Iterator[Row]:
        """Rows of what is held and the block, whose last record is held unless it is the ``last`` block."""
        new = lines_of(block)
        if self.progress.lines == 0:
            new = new.with_columns(pl.col("text").str.strip_prefix("\ufeff"))
        lines = self._behind_held(numbered(new, self.progress.lines + 1))
        self._count(new.height)
        yield from self._whole(lines, dialect, last=last)

    def _behind_held(self, lines: pl.DataFrame) -> pl.DataFrame:
        """What is held, and lines behind it."""
        return lines if self._held is None else pl.concat([self._held, lines])

    def _whole(self, lines: pl.DataFrame, dialect: Dialect, *, last: bool) -> Iterator[Row]:
        """Rows of lines, whose last record is held unless they are the ``last`` ones."""
        begins = lines["text"].str.contains(dialect.record_start).arg_true().to_numpy()
        end = lines.height
        if not last and len(begins) and end - begins[-1] < HELD_LINES:
            end = int(begins[-1])
        self._held = lines[end:] if end < lines.height else None
        yield from self._rows(lines[:end], begins[begins < end], dialect)

    def take_snapshot(self, data: bytes, problem: str | None) -> Iterator[Row]:
        """Rows of a metadata snapshot, whose lines are its records; a broken one is one quarantined line."""
        if not rocketmq_metadata.is_known(self.place.stream):
            self._count(1)
            return
        if self.pseudonyms:  # byte by byte: not all of it needs to be text
            data = self.pseudonyms.in_text(data.decode("latin-1")).encode("latin-1")
        try:
            if problem:
                raise Unparsable(f"file is damaged: {problem}")
            for number, entry in enumerate(rocketmq_metadata.entries(self.place.stream, data), 1):
                self._count(1)
                yield from self._event(number, entry.event, masked(entry.text)[:TEXT_CHARACTERS])
        except Unparsable as error:
            self._count(1)
            text = data[: 4 * TEXT_CHARACTERS].decode("utf-8", "replace")
            yield self.quarantine(1, str(error), text, len(data))

    def quarantine(self, line_no: int, reason: str, text: str, length: int) -> Row:
        """The row that says why a line could not be read."""
        at = self.place
        self.counts.quarantined += 1
        return QUARANTINE, (
            *(at.cluster, at.source_node, at.stream, at.fingerprint, at.path),
            *(line_no, reason, self._kept(text)[:TEXT_CHARACTERS], length, at.batch),
        )

    def _kept(self, text: str) -> str:
        """A text as it may be kept."""
        return self._named(masked(text))

    def _named(self, text: str) -> str:
        """A text with names in place of what the settings want hidden."""
        return self.pseudonyms.in_text(text) if self.pseudonyms else text

    def broken_off(self, problem: str, rest: bytes, length: int) -> Row:
        """The row that stands for the line in which a damaged file breaks off; it is counted as one line."""
        self.counts.total += 1
        text = rest.decode("utf-8", "replace")
        return self.quarantine(self.progress.lines + 1, f"file is damaged from here on: {problem}", text, length)

    @property
    def misunderstood(self) -> str | None:
        """Why the lines of this landing were not understood; ``None`` where they were, or where there is none."""
        return self._understood.problem(self._kept)

    @property
    def last_line_time(self) -> int | None:
        """Time of the last dated line of this landing, microseconds UTC."""
        return self._last_time

    def _count(self, lines: int) -> None:
        self.counts.total += lines
        self.progress.lines += lines

    def _rows(self, lines: pl.DataFrame, begins: Indices, dialect: Dialect) -> Iterator[Row]:
        """Rows of whole records, which begin on the lines ``begins``."""
        self._understood.take(lines["text"], begins)
        text, lengths, unreadable = lines["text"], lines["length"].to_numpy(), lines["unreadable"].to_numpy()
        numbers = lines["line_no"].to_numpy()
        wanted = begins[text.gather(begins).str.contains_any(list(dialect.needles)).to_numpy()]
        long = lengths > LINE_BYTES
        for at in np.union1d(np.flatnonzero(long), wanted[unreadable[wanted]]).tolist():
            reason = "not text" if unreadable[at] else f"line longer than {LINE_BYTES} bytes"
            yield self.quarantine(int(numbers[at]), reason, text[at], int(lengths[at]))
        bad = long | unreadable
        dated, readable = begins[~bad[begins]], set(wanted[~bad[wanted]].tolist())
        texts = text.gather(dated)
        buckets = self._zoned(texts, numbers[dated], dialect) if self._times else buckets_in(texts, dialect)
        ticks, late = self._ticks(buckets, dated)
        if late is not None:
            yield from self._tick(*late, dialect)
        candidates = sorted(readable | ticks)
        ends = np.append(begins, lines.height)[np.searchsorted(begins, candidates, side="right")].tolist()
        taken = -1
        for at, end, line in zip(candidates, ends, without_secrets(text.gather(candidates)).to_list(), strict=True):
            rows: list[Row] = []
            kept, number = self._named(line), int(numbers[at])
            if at in readable:
                rows = list(self._record(number, kept, lengths[at], self._continuation(text, at, end), dialect))
            if not rows and at in ticks:
                rows = list(self._tick(number, kept, dialect))
            taken = at if rows else taken
            yield from rows
        if len(dated):
            last, number = int(dated[-1]), int(numbers[dated[-1]])
            self.progress.last_line_no = number
            self.progress.last_line = None if last == taken else self._kept(text[last])
            time = self._time_of(number, text[last], dialect)
            self._last_time = time[0] if time else self._last_time
            self._readings = {number: self._reading(number)}

    def _continuation(self, text: pl.Series, at: int, end: int) -> tuple[str, ...]:
        """The undated lines after line ``at`` of a record that ends before line ``end``, as far as they are kept."""
        if end == at + 1:
            return ()
        lines = text[at + 1 : min(end, at + 1 + CONTINUATION_LINES)].to_list()
        return tuple(self._kept(line)[:TEXT_CHARACTERS] for line in lines)

    def _reading(self, line_no: int) -> Reading:
        """The zone of a line's time."""
        return self._readings.get(line_no, self._fixed)

    def _zoned(self, texts: pl.Series, numbers: Indices, dialect: Dialect) -> pl.Series:
        """Read the local times of dated lines in their order; the tens of seconds that they lie in, UTC."""
        buckets: list[int | None] = []
        for number, text in zip(numbers.tolist(), texts.to_list(), strict=True):
            local = local_seconds(text, dialect)
            if local is None or self._times is None:
                buckets.append(None)
                continue
            if dialect.time_of(text, 0) != dialect.time_of(text, 60):
                self._readings[number] = self._times.read(local)
            buckets.append(bucket_at(local - 60 * self._reading(number).offset_minutes))
        self.progress.zone_state = self._times.state if self._times else None
        return pl.Series(buckets, dtype=pl.Int64)

    def _ticks(self, buckets: pl.Series, numbers: Indices) -> tuple[set[int], tuple[int, str] | None]:
        """Places of the lines to tick, and number and text of the line before all of these if it is one."""
        before = self.progress.tick_bucket
        known = buckets.cum_max().shift(1, fill_value=before).fill_null(strategy="forward")
        known = known if before is None else known.clip(lower_bound=before)
        if steps_back(buckets, known):
            new, self.progress.tick_bucket = new_after_steps(buckets.to_list(), before)
        else:
            new = (buckets > known.fill_null(-1)).fill_null(value=False).arg_true().to_list()
            if new:
                self.progress.tick_bucket = max(buckets.max(), before or 0)  # type: ignore[type-var, assignment]
        ticks = {int(numbers[at]) for at in new} | {int(numbers[at - 1]) for at in new if at}
        late = None
        if new and new[0] == 0 and self.progress.last_line is not None and self.progress.last_line_no:
            late = (self.progress.last_line_no, masked(self.progress.last_line))  # an older release kept it as it was
        return ticks, late

    def _record(self, line_no: int, text: str, length: int, more: tuple[str, ...], dialect: Dialect) -> Iterator[Row]:
        """The rows of a record: an event and its text, a quarantine row, or nothing."""
        kept = "\n".join((text[:TEXT_CHARACTERS], *more))
        try:
            event = self._parse(line_no, text, more, dialect)
            if event is not None and self.pseudonyms:
                event, kept = self.pseudonyms.in_event(event, kept)
        except Unparsable as error:
            yield self.quarantine(line_no, str(error), "" if isinstance(error, Hidden) else text, int(length))
        else:
            if event is not None and not (event.kind in FLOODS and self._repeats(event)):
                yield from self._event(line_no, event, kept)

    def _repeats(self, event: Event) -> bool:
        """Whether an event stands already for what the line says, in the ten seconds of the line."""
        now = str((event.event_time or 0) // 10_000_000)
        before, kept = json.loads(self.progress.flood or '["", []]')
        key = [event.kind, event.consumer_group, event.topic]
        known = kept if now == before else []
        if key not in known:
            self.progress.flood = json.dumps([now, [*known, key]])
        return key in known

    def _parse(self, line_no: int, text: str, continuation: tuple[str, ...], dialect: Dialect) -> Event | None:
        zone = self._reading(line_no)
        event = dialect.parse(Record(text, continuation, self.place.stream, zone.offset_minutes))
        if event is None or not (zone.doubt_minutes or not zone.exists):
            return event
        if not zone.exists:
            raise Unparsable(f"{self.place.time_zone} skips that time: was the line written in another zone?")
        return replace(event, time_resolution_ms=event.time_resolution_ms + zone.doubt_minutes * 60_000)

    def _time_of(self, line_no: int, text: str, dialect: Dialect) -> tuple[int, int] | None:
        """When a dated line was written, and to what resolution; ``None`` for an impossible time."""
        zone = self._reading(line_no)
        time = dialect.time_of(text, zone.offset_minutes)
        return (time[0], time[1] + zone.doubt_minutes * 60_000) if time and zone.exists else None

    def _tick(self, line_no: int, text: str, dialect: Dialect) -> Iterator[Row]:
        if time := self._time_of(line_no, text, dialect):
            yield from self._event(line_no, tick(*time), text[:TEXT_CHARACTERS])

    def _event(self, line_no: int, event: Event, text: str) -> Iterator[Row]:
        at = self.place
        event_id = at.event_id(line_no)
        self.counts.event += 1
        where = (event_id, at.cluster, at.source_node, at.stream, at.fingerprint)
        yield EVENTS, (*where, at.file_time, line_no, at.path, at.clock_bound_ms, *meaning(event), at.batch)
        yield LOG_LINES, (*where, at.path, line_no, text, at.batch)


def local_seconds(text: str, dialect: Dialect) -> int | None:
    """The time of a line, in seconds since 1970 as if it were UTC; ``None`` where there is no possible one."""
    if not dialect.plain:
        time = dialect.time_of(text, 0)
        return time[0] // 1_000_000 if time else None
    found = re.search(SECONDS, text)
    try:
        return seconds(found.group(1).replace("/", "-")) if found else None
    except ValueError:
        return None


def bucket_at(utc: int) -> int:
    """The ten seconds of a time in seconds since 1970: yyyymmddhhmms."""
    return int(f"{datetime.fromtimestamp(utc, UTC):%Y%m%d%H%M%S}") // 10


def behind(low: int, high: int) -> bool:
    """Whether a bucket is so far behind another that the clock was put back; no impossible time is."""
    try:
        first, last = (datetime.strptime(f"{bucket}0", "%Y%m%d%H%M%S").replace(tzinfo=UTC) for bucket in (low, high))
    except ValueError:
        return False
    return (last - first).total_seconds() >= STEP


def steps_back(buckets: pl.Series, known: pl.Series) -> bool:
    """Whether some line is so far behind those before it that the clock was put back."""
    low = (buckets < known).fill_null(value=False)
    return any(behind(*pair) for pair in set(zip(buckets.filter(low), known.filter(low), strict=True)))


def new_after_steps(buckets: Sequence[int | None], high: int | None) -> tuple[list[int], int | None]:
    """The places that begin another ten seconds where the clock was put back, and the bucket to go on from."""
    new = []
    for at, bucket in enumerate(buckets):
        if bucket is not None and (high is None or bucket > high or behind(bucket, high)):
            new.append(at)
            high = bucket
    return new, high


def meaning(event: Event) -> tuple[Any, ...]:
    """What an event says, in the order of the table's columns."""
    values = fields_of(event)
    if event.epoch_entries is None:
        return values
    return (*values[:EPOCH_ENTRIES], tuple(map(astuple, event.epoch_entries)), *values[EPOCH_ENTRIES + 1 :])


def buckets_in(texts: pl.Series, dialect: Dialect) -> pl.Series:
    """The tens of seconds that lines lie in: as written, or in UTC where a time says its zone."""
    if dialect.plain:
        found = buckets_of(texts)
        if not found.has_nulls():
            return found
    else:
        found = pl.Series([None], dtype=pl.Int64).new_from_index(0, len(texts))
    times = (dialect.time_of(text, 0) for text in texts.filter(found.is_null()).to_list())
    other = [bucket_at(time[0] // 1_000_000) if time else None for time in times]
    return found.scatter(found.is_null().arg_true(), pl.Series(other, dtype=pl.Int64))


def buckets_of(texts: pl.Series) -> pl.Series:
    """The tens of seconds that lines lie in, as written: yyyymmddhhmms.

    Most lines begin with their time, which they share with their neighbours: it is read once for all of these.
    """
    runs = texts.str.head(SECOND_LENGTH).rle_id()
    firsts = texts.gather(runs.is_first_distinct().arg_true())
    times = firsts.str.extract(TEN_SECONDS)
    if times.ne_missing(firsts.str.head(SECOND_LENGTH - 1)).any():
        times, runs = texts.str.extract(TEN_SECONDS), pl.int_range(len(texts), eager=True)
    return times.str.replace_all(r"\D", "").cast(pl.Int64, strict=False).gather(runs)


def lines_of(block: Block) -> pl.DataFrame:
    """The lines of a block: text without line end, length in bytes as written, and whether it could be decoded.

    Bytes of zero in front of a line are no part of it: a machine that lost its power leaves them in a log.
    """
    data, unreadable = decoded(block.data)
    as_written = line_offsets(block.data, block.ends)
    offsets = as_written if data is block.data else line_offsets(data)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    texts = pl.Series(pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers), dtype=pl.String)
    shortened = block.length - len(block.data)  # only a block of one line is ever shortened
    lengths = np.diff(as_written) + shortened
    if b"\0" in data:
        written, texts = texts.str.len_bytes(), texts.str.strip_chars_start("\0")
        lengths -= (written - texts.str.len_bytes()).to_numpy()
    flags = np.zeros(len(texts), dtype=bool)
    flags[unreadable] = True
    ends = "\r\n" if b"\r" in data else "\n"  # to strip one character is twice as fast
    return pl.DataFrame({"text": texts.str.strip_chars_end(ends), "length": lengths, "unreadable": flags})


def numbered(lines: pl.DataFrame, first: int) -> pl.DataFrame:
    """Lines with their numbers in the file, from ``first`` on."""
    return lines.with_columns(pl.int_range(first, first + lines.height, dtype=pl.Int64).alias("line_no"))


def line_offsets(data: bytes, ends: Indices | None = None) -> Indices:
    """Where each line begins, and where the last one ends; ``ends`` are those of its line feeds, if they are known."""
    ends = line_ends(data) if ends is None else ends
    tail = [len(data)] if data and not data.endswith(b"\n") else []
    return np.concatenate([[0], ends, tail]).astype(np.int64)


def decoded(data: bytes) -> tuple[bytes, list[int]]:
    """The same lines in UTF-8, and the numbers, from 0, of those that are neither UTF-8 nor GBK."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return decoded_by_line(data)
    return data, []


def decoded_by_line(data: bytes) -> tuple[bytes, list[int]]:
    """The slow way of :func:`decoded`, for blocks with other bytes in them."""
    lines, unreadable = [], []
    for number, line in enumerate(data.split(b"\n")):
        for encoding in ("utf-8", "gbk"):
            try:
                lines.append(line.decode(encoding))
                break
            except UnicodeDecodeError:
                continue
        else:
            lines.append(line.decode("utf-8", "replace"))
            unreadable.append(number)
    return "\n".join(lines).encode(), unreadable


@dataclass(frozen=True, slots=True)
class Head:
    """What the beginning of a file says: its identity, the time of its first dated line, the name of its dialect and
    those of the envelopes that its lines came in, if any.

    ``problem``: why it could not be read; it says nothing then.
    """

    fingerprint: str
    file_time: int | None
    dialect: str | None
    envelope: str | None = None
    problem: str | None = None


HEAD_BYTES = 64 << 10
"""The first dated line is looked for in so much of a file."""

BANNER_BYTES = 1 << 10
"""The identity of a file without dated lines is taken from so much of it."""


def head_of(data: bytes, dialect: Dialect | None, zone: int | str) -> Head:
    """The identity of the file that begins with ``data``: all up to the end of its first dated line.

    ``zone`` is that of its times, in minutes east of UTC or by name.

    A file may begin with a banner that every restart writes anew; the first dated line tells such files apart.
    """
    end = 0
    for line in io.BytesIO(data) if dialect else ():
        end += len(line)
        text = line.decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r\n")
        if dialect and line.endswith(b"\n") and re.match(dialect.record_start, text):
            time = dialect.time_of(text, offset_of(text, zone, dialect))
            return Head(digest(data[:end]), time[0] if time else None, dialect.name)
    return Head(digest(data[:BANNER_BYTES]), None, dialect.name if dialect else None)


def offset_of(text: str, zone: int | str, dialect: Dialect) -> int:
    """Minutes east of UTC of the zone that the first dated line of a file, ``text``, is written in."""
    if isinstance(zone, int):
        return zone
    return LocalTimes(zone).read(local_seconds(text, dialect) or 0).offset_minutes
