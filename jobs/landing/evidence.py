"""Turns the lines of one log file into rows: events, the lines behind them, what could not be read, and the counts.

Only lines that can be of interest reach Python: a vectorised filter looks for the dialect's literals first. Secrets are
masked before a line is read, so that nothing that is kept of it (columns, text, quarantine) holds them. A record is a
line that begins as the dialect says; the undated lines after it belong to it. Every physical line is counted once: as
an event, as ignored (continuation lines too), or as quarantined.

A silent log must be told from one without news. So the first line of every ten seconds in which the log says anything,
and the last dated line before it, become events of kind ``TICK`` unless they are events anyway. Nothing is said about
the end of a file that may still grow: landing it in one go or night by night gives the same rows.
"""

import io
import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from election_replay.election_core.dialects import FLOODS, Dialect, Record, tick
from election_replay.election_core.dialects.rocketmq import metadata as rocketmq_metadata
from election_replay.election_core.dialects.torn import parse_record
from election_replay.election_core.model.events import Event, Unparsable
from election_replay.jobs.landing.blocks import LINE_BYTES, Block, line_feeds
from election_replay.jobs.landing.event_lines import EventLines, Place, digest
from election_replay.jobs.landing.lines import lines_of, marked
from election_replay.jobs.landing.masking import masked, without_secrets
from election_replay.jobs.landing.pseudonyms import Hidden, Pseudonyms
from election_replay.jobs.landing.repeats import Repeats
from election_replay.jobs.landing.time_buckets import (
    NO_BUCKET,
    Buckets,
    Indices,
    bucket_at,
    buckets_in,
    local_seconds,
    newly_begun,
)
from election_replay.jobs.landing.understanding import Understanding
from election_replay.jobs.landing.zones import LocalTimes, Reading
from election_replay.jobs.warehouse.data_files import Row

TEXT_CHARACTERS = 2_000
"""How many characters of a line are kept as text."""

CONTINUATION_LINES = 20
"""How many undated lines of a record are kept."""

HELD_LINES = 5_000
"""A record of more lines than this is not kept together."""

Found = Row | EventLines
"""What is found in a file: a row, or many lines that are kept."""

QUARANTINE = "quarantine"


@dataclass(slots=True)
class Progress:
    """How far a file is landed, and what the next landing must know of the lines before: plain data."""

    lines: int = 0
    tick_bucket: int | None = None
    last_line_no: int | None = None
    last_line: str | None = None
    zone_state: str | None = None
    flood: str | None = None


@dataclass(slots=True)
class Counts:
    """Numbers of lines of one landing of one file."""

    total: int = 0
    event: int = 0
    quarantined: int = 0
    repeated: int = 0

    @property
    def ignored(self) -> int:
        """The number of lines that are neither events nor quarantined.

        A line that an earlier landing ignored and this one took counts minus one.
        """
        return self.total - self.event - self.quarantined


@dataclass(frozen=True, slots=True)
class Reached:
    """The state after the lines of a landing, for the lines that follow them: plain data.

    ``flooding`` is the number, as text, of the ten seconds since 1970 in which the first event of a kind in ``FLOODS``
    lies, None: there was none; for that event alone it matters what was read before. ``doubtful``: see
    :class:`~jobs.landing.repeats.Repeats`.
    """

    progress: Progress
    counts: Counts
    last_line_time: int | None
    understood: Understanding
    flooding: str | None
    doubtful: bool


class Evidence:
    """Takes the blocks of one file in order and yields the rows of their lines."""

    def __init__(
        self, place: Place, dialect: Dialect | None, progress: Progress, pseudonyms: Pseudonyms | None = None
    ) -> None:
        self.place = place
        self.dialect = dialect
        self.pseudonyms = pseudonyms
        self.progress = progress
        self.counts = Counts()
        self.envelope: str | None = None
        self.state: str | None = None
        self.waiting = 0
        self._held: pl.DataFrame | None = None
        self._next: pl.DataFrame | None = None
        self._times = LocalTimes(place.time_zone, progress.zone_state) if place.time_zone else None
        self._fixed = Reading(place.utc_offset_minutes)
        self._readings: dict[int | None, Reading] = {}
        last = local_seconds(progress.last_line, dialect) if dialect and progress.last_line else None
        if self._times and last is not None:
            self._readings[progress.last_line_no] = self._times.again(last)
        self._last_time: int | None = None
        self._earlier = Repeats()
        self._passed: Callable[[], bytes] | None = None
        self._understood = Understanding(place.stream, dialect)
        self._flood: tuple[str, list[list[str | None]]] = tuple(json.loads(progress.flood or '["", []]'))
        self._flooding: str | None = None

    def passed(self, data: Callable[[], bytes]) -> None:
        """Take a function that returns the last bytes that earlier landings read: lines of them may come again."""
        self._passed = data

    def take(self, block: Block) -> Iterator[Found]:
        """Yield rows of the lines taken before, but for their last record: lines of ``block`` may belong to it."""
        if self.progress.lines == 0 and self._next is None:
            self._understood.begin(block.data)
        if self.dialect is None:
            self._count(line_feeds(block.data) + (not block.data.endswith(b"\n")))
            return
        if self._next is not None:
            yield from self._records(self._next, self.dialect, last=False)
        self._next = marked(lines_of(block, self.progress.lines + 1), self.dialect)

    def finish(self) -> Iterator[Found]:
        """Yield the rows of all lines that are left."""
        if self.dialect is not None and self._next is not None:
            yield from self._records(self._next, self.dialect, last=True)
            self._next = None

    def take_lines(self, lines: pl.DataFrame) -> Iterator[Found]:
        """Yield rows of all lines so far, but for the last record. The caller, who took the lines out of their file,
        counts them.

        ``lines`` are as :func:`~jobs.landing.lines.lines_of` returns them.
        """
        if self.dialect is not None:
            once = self._once(marked(lines, self.dialect), self.dialect)
            yield from self._whole(self._behind_held(once), self.dialect, last=False)

    def finish_lines(self) -> Iterator[Found]:
        """Yield the rows of all lines that :meth:`take_lines` still holds."""
        if self.dialect is not None and self._held is not None:
            yield from self._whole(self._held, self.dialect, last=True)

    @property
    def reached(self) -> Reached:
        """The state after the lines so far."""
        return Reached(
            self.progress,
            self.counts,
            self._last_time,
            self._understood.shortened(),
            flooding=self._flooding,
            doubtful=self._earlier.doubtful,
        )

    def add(self, later: Reached) -> None:
        """Add the state after the lines behind these, which another evidence took."""
        self.progress = replace(later.progress, flood=later.progress.flood or self.progress.flood)
        self.counts.total += later.counts.total
        self.counts.event += later.counts.event
        self.counts.quarantined += later.counts.quarantined
        self.counts.repeated += later.counts.repeated
        self._last_time = self._last_time if later.last_line_time is None else later.last_line_time
        self._understood.add(later.understood)

    def _records(self, new: pl.DataFrame, dialect: Dialect, *, last: bool) -> Iterator[Found]:
        """Yield rows of the lines that are held and of new ones; the last record is held unless these are the ``last``
        lines."""
        lines = self._behind_held(self._once(new, dialect))
        self._count(new.height)
        yield from self._whole(lines, dialect, last=last)

    def _once(self, lines: pl.DataFrame, dialect: Dialect) -> pl.DataFrame:
        """Return the lines without those that stand in the file already, and count these as repeated."""
        if (
            self._passed
            and lines.height
            and (self._times or lines["bucket"].to_numpy().min() <= (self.progress.tick_bucket or 0))
        ):
            data = self._passed()
            passed = data[data.find(b"\n") + 1 :]
            self._earlier.remember(marked(lines_of(Block(passed, len(passed)), 1), dialect))
        self._passed = None
        new = self._earlier.once(lines)
        self.counts.repeated += lines.height - new.height
        return new

    def _behind_held(self, lines: pl.DataFrame) -> pl.DataFrame:
        """Return the lines that are held, and ``lines`` behind them."""
        return lines if self._held is None else self._held.vstack(lines)

    def _whole(self, lines: pl.DataFrame, dialect: Dialect, *, last: bool) -> Iterator[Found]:
        """Yield the rows of lines; their last record is held unless these are the ``last`` lines."""
        begins = np.flatnonzero(lines["begins"].to_numpy())
        end = lines.height
        if not last and len(begins) and end - begins[-1] < HELD_LINES:
            end = int(begins[-1])
        self._held = lines[end:] if end < lines.height else None
        yield from self._rows(lines[:end], begins[begins < end], dialect)

    def take_snapshot(self, data: bytes, problem: str | None) -> Iterator[Found]:
        """Yield the rows of a metadata snapshot, whose lines are its records; a broken snapshot is one quarantined
        line."""
        if not rocketmq_metadata.is_known(self.place.stream):
            self._count(1)
            return
        if self.pseudonyms:  # byte by byte: not all of it needs to be text
            data = self.pseudonyms.in_text(data.decode("latin-1")).encode("latin-1")
        kept = EventLines(self.place)
        try:
            if problem:
                raise Unparsable(f"file is damaged: {problem}")
            for number, entry in enumerate(rocketmq_metadata.entries(self.place.stream, data), 1):
                self._count(1)
                kept.add(number, entry.event, masked(entry.text)[:TEXT_CHARACTERS])
        except Unparsable as error:
            self._count(1)
            text = data[: 4 * TEXT_CHARACTERS].decode("utf-8", "replace")
            yield self.quarantine(1, str(error), text, len(data))
        yield from self._counted(kept)

    def _counted(self, kept: EventLines) -> Iterator[EventLines]:
        """Count the lines that are kept as events, and yield them in the order of the file; nothing where there are
        none."""
        self.counts.event += len(kept.lines)
        if kept.lines:
            kept.sort()
            yield kept

    def quarantine(self, line_no: int, reason: str, text: str, length: int) -> Row:
        """Return the row that says why a line could not be read, and count it."""
        at = self.place
        self.counts.quarantined += 1
        return QUARANTINE, (
            *(at.cluster, at.source_node, at.stream, at.fingerprint, at.path),
            *(line_no, reason, self._kept(text)[:TEXT_CHARACTERS], length, at.batch),
        )

    def _kept(self, text: str) -> str:
        """Return a text as it may be stored: without secrets, and with pseudonyms where the settings ask for them."""
        return self._named(masked(text))

    def _named(self, text: str) -> str:
        """Return a text with pseudonyms in place of the names that the settings want hidden."""
        return self.pseudonyms.in_text(text) if self.pseudonyms else text

    def broken_off(self, problem: str, rest: bytes, length: int) -> Row:
        """Return the row for the line in which a damaged file breaks off; it is counted as one line."""
        self.counts.total += 1
        text = rest.decode("utf-8", "replace")
        return self.quarantine(self.progress.lines + 1, f"file is damaged from here on: {problem}", text, length)

    @property
    def misunderstood(self) -> str | None:
        """The reason why the lines of this landing were not understood; None where they were, or where there are
        none."""
        return self._understood.problem(self._kept)

    @property
    def last_line_time(self) -> int | None:
        """Time of the last dated line of this landing, us UTC; None if there is none."""
        return self._last_time

    def _count(self, lines: int) -> None:
        self.counts.total += lines
        self.progress.lines += lines

    def _rows(self, lines: pl.DataFrame, begins: Indices, dialect: Dialect) -> Iterator[Found]:
        """Yield the rows of whole records, which begin on the lines ``begins``."""
        text, lengths, unreadable = lines["text"], lines["length"].to_numpy(), lines["unreadable"].to_numpy()
        self._understood.take(text, begins)
        numbers = lines["line_no"].to_numpy()
        wanted = np.flatnonzero(lines["wanted"].to_numpy())
        long = lengths > LINE_BYTES
        for at in np.union1d(np.flatnonzero(long), wanted[unreadable[wanted]]).tolist():
            reason = "not text" if unreadable[at] else f"line longer than {LINE_BYTES} bytes"
            yield self.quarantine(int(numbers[at]), reason, text[at], int(lengths[at]))
        bad = long | unreadable
        dated, readable = begins[~bad[begins]], wanted[~bad[wanted]]
        if self._times:
            buckets = self._zoned(text[dated], numbers[dated], dialect)
        else:
            buckets = buckets_in(text, dated, lines["bucket"].to_numpy(), dialect)
        bucket_starts, late = self._bucket_starts(buckets, dated)
        ends = np.append(begins, lines.height)[np.searchsorted(begins, readable, side="right")]
        undated = np.minimum(ends - readable - 1, CONTINUATION_LINES)
        texts = self._texts(text, bucket_starts, readable, undated)
        kept = EventLines(self.place)
        if late is not None:
            self._bucket_start(kept, *late, dialect)
        records = zip(
            readable.tolist(), numbers[readable].tolist(), lengths[readable].tolist(), undated.tolist(), strict=True
        )
        taken = yield from self._events(kept, records, texts, dialect)
        signs = np.setdiff1d(bucket_starts, taken)
        for at, number in zip(signs.tolist(), numbers[signs].tolist(), strict=True):
            if self._bucket_start(kept, number, texts[at], dialect):
                taken.append(at)
        yield from self._counted(kept)
        if len(dated):
            last, number = int(dated[-1]), int(numbers[dated[-1]])
            self.progress.last_line_no = number
            self.progress.last_line = None if last in taken else self._kept(text[last])
            time = self._time_of(number, text[last], dialect)
            self._last_time = time[0] if time else self._last_time
            self._readings = {number: self._reading(number)}
        if self._flood[1]:
            self.progress.flood = json.dumps(self._flood)

    def _texts(self, text: pl.Series, bucket_starts: Indices, records: Indices, undated: Indices) -> dict[int, str]:
        """Return, by their places, the texts as they may be stored of lines to tick and of records, each with the
        ``undated`` lines after it."""
        behind = np.arange(undated.sum()) - np.repeat(np.cumsum(undated) - undated, undated)
        places = np.unique(np.concatenate((bucket_starts, records, np.repeat(records + 1, undated) + behind)))
        return dict(zip(places.tolist(), map(self._named, without_secrets(text[places])), strict=True))

    def _events(
        self, kept: EventLines, records: Iterable[tuple[int, int, int, int]], texts: Mapping[int, str], dialect: Dialect
    ) -> Generator[Row, None, list[int]]:
        """Keep those records that are events, and yield the rows of those that go into quarantine.

        ``records`` are (place, line number, length, undated lines after it that are kept); ``texts`` are texts by
        place. Returns the places of the records that are events or in quarantine.
        """
        taken = []
        for at, number, length, undated in records:
            line = texts[at]
            more = tuple([texts[at + 1 + behind][:TEXT_CHARACTERS] for behind in range(undated)]) if undated else ()
            try:
                if self._record(kept, number, line, more, dialect):
                    taken.append(at)
            except Unparsable as error:
                yield self.quarantine(number, str(error), "" if isinstance(error, Hidden) else line, length)
                taken.append(at)
        return taken

    def _reading(self, line_no: int) -> Reading:
        """Return the zone of a line's time."""
        return self._readings.get(line_no, self._fixed)

    def _zoned(self, texts: pl.Series, numbers: Indices, dialect: Dialect) -> Buckets:
        """Read the local times of dated lines in their order, and return their buckets of ten seconds, in UTC."""
        buckets: list[int] = []
        for number, text in zip(numbers.tolist(), texts.to_list(), strict=True):
            local = local_seconds(text, dialect)
            if local is None or self._times is None:
                buckets.append(NO_BUCKET)
                continue
            if dialect.time_of(text, 0) != dialect.time_of(text, 60):
                self._readings[number] = self._times.read(local)
            buckets.append(bucket_at(local - 60 * self._reading(number).offset_minutes))
        self.progress.zone_state = self._times.state if self._times else None
        return np.array(buckets, dtype=np.int64)

    def _bucket_starts(self, buckets: Buckets, places: Indices) -> tuple[Indices, tuple[int, str] | None]:
        """Return the places of the lines to tick, and (number, text) of the dated line before all of these if it is to
        tick too."""
        new, self.progress.tick_bucket = newly_begun(buckets, self.progress.tick_bucket)
        begun = np.array(new, dtype=np.int64)
        bucket_starts = places[np.union1d(begun, begun[begun > 0] - 1)]
        late = None
        if new and new[0] == 0 and self.progress.last_line is not None and self.progress.last_line_no:
            late = (self.progress.last_line_no, masked(self.progress.last_line))  # an older release kept it as it was
        return bucket_starts, late

    def _record(self, kept: EventLines, line_no: int, text: str, more: tuple[str, ...], dialect: Dialect) -> bool:
        """Keep a record if it is an event, and return True if so. Raises :class:`Unparsable`."""
        event = self._parse(line_no, text, more, dialect)
        if event is None:
            return False
        whole = "\n".join((text[:TEXT_CHARACTERS], *more))
        if self.pseudonyms:
            event, whole = self.pseudonyms.in_event(event, whole)
        if event.kind in FLOODS and self._repeats(event):
            return False
        kept.add(line_no, event, whole)
        return True

    def _repeats(self, event: Event) -> bool:
        """Return True when an event of the same kind, consumer group and topic is kept already for the ten seconds of
        this one."""
        now = str((event.event_time or 0) // 10_000_000)
        before, kept = self._flood
        self._flooding = self._flooding or now
        key = [event.kind, event.consumer_group, event.topic]
        known = kept if now == before else []
        if key in known:
            return True
        self._flood = now, [*known, key]
        return False

    def _parse(self, line_no: int, text: str, continuation: tuple[str, ...], dialect: Dialect) -> Event | None:
        zone = self._reading(line_no)
        event = parse_record(dialect, Record(text, continuation, self.place.stream, zone.offset_minutes))
        if event is None or not (zone.doubt_minutes or not zone.exists):
            return event
        if not zone.exists:
            raise Unparsable(f"{self.place.time_zone} skips that time: was the line written in another zone?")
        return replace(event, time_resolution_ms=event.time_resolution_ms + zone.doubt_minutes * 60_000)

    def _time_of(self, line_no: int, text: str, dialect: Dialect) -> tuple[int, int] | None:
        """Return the time of a dated line (us UTC) and its resolution in ms; None for an impossible time."""
        zone = self._reading(line_no)
        time = dialect.time_of(text, zone.offset_minutes)
        return (time[0], time[1] + zone.doubt_minutes * 60_000) if time and zone.exists else None

    def _bucket_start(self, kept: EventLines, line_no: int, text: str, dialect: Dialect) -> bool:
        """Keep a line as a tick if its time is possible, and return True if so."""
        time = self._time_of(line_no, text, dialect)
        if time:
            kept.add(line_no, tick(*time), text[:TEXT_CHARACTERS])
        return time is not None


@dataclass(frozen=True, slots=True)
class Head:
    """What the beginning of a file shows: its identity, the time (us UTC) of its first dated line, the names of its
    dialect and of the envelopes that its lines came in, if any.

    ``problem`` says why the beginning could not be read; it shows nothing then.
    """

    fingerprint: str
    file_time: int | None
    dialect: str | None
    envelope: str | None = None
    problem: str | None = None


HEAD_BYTES = 64 << 10
"""How many bytes of a file are searched for its first dated line."""

BANNER_BYTES = 1 << 10
"""How many bytes make the identity of a file without dated lines."""


def head_of(data: bytes, dialect: Dialect | None, zone: int | str) -> Head:
    """Return the head of the file that begins with ``data``; its identity is all up to the end of its first dated line.

    ``zone`` is that of its times, in minutes east of UTC or by name. A file may begin with a banner that every restart
    writes anew; the first dated line tells such files apart.
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
    """Return the zone, in minutes east of UTC, of ``text``, the first dated line of a file."""
    if isinstance(zone, int):
        return zone
    return LocalTimes(zone).read(local_seconds(text, dialect) or 0).offset_minutes
