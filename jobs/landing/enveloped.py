"""Turns one file whose lines came in envelopes into rows: the lines are opened one by one, and read node by node.

:class:`Enveloped` is for such a file what :class:`~jobs.landing.evidence.Evidence` is for a plain one. Each node and
program that the envelopes name has an evidence of its own: its lines stay in order, its stack traces stay its own, and
its rows bear its name. Line numbers and counts are those of the file. The text that is kept is that of the line inside:
it stands word for word behind the prefix of the line that the number names, and reads like any other line.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache

import polars as pl

from election_replay.election_core import dialects
from election_replay.election_core.dialects import (
    CANONICAL,
    SYSTEMS,
    Dialect,
    dialect_for,
    speaker_of,
    stream_in_system,
)
from election_replay.election_core.dialects.described.dialect import NAME as PROGRAM
from election_replay.election_core.dialects.known_layouts import layouts_of
from election_replay.election_core.dialects.undated import dated
from election_replay.election_core.envelopes import Chain, Inner, Reader, Refused, chain_text, detected
from election_replay.election_core.envelopes.detection import SAMPLE as LOOKED_AT
from election_replay.election_core.model.streams import stream_at
from election_replay.jobs.landing.blocks import LINE_BYTES, Block, line_ends
from election_replay.jobs.landing.event_lines import Place, digest
from election_replay.jobs.landing.evidence import (
    BANNER_BYTES,
    Counts,
    Evidence,
    Found,
    Head,
    Progress,
    offset_of,
)
from election_replay.jobs.landing.lines import lines_of
from election_replay.jobs.landing.listing import Writer
from election_replay.jobs.landing.masking import masked
from election_replay.jobs.landing.pseudonyms import Pseudonyms
from election_replay.jobs.landing.recognising import telling
from election_replay.jobs.landing.understanding import KEPT, Understanding, archive, encoding
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.data_files import Row

MOST_SOURCES = 1_000
"""A file that names more nodes and programs is no log of a cluster; lines of further ones are quarantined."""


@dataclass(frozen=True, slots=True)
class Source:
    """The node, program and file that the envelopes of some lines name (None: they name none), and the dialect of the
    lines.

    ``utc_offset_minutes`` is the zone of the lines' times as far as the envelopes give it; None: they do not.
    """

    node: str | None
    program: str | None
    file: str | None
    dialect: str
    utc_offset_minutes: int | None


source_of = lru_cache(maxsize=4096)(Source)
"""Returns a source, the same object for all of its lines."""


@dataclass(slots=True)
class Lines:
    """Lines of one source that wait to be read: their texts, the numbers of the file's lines that they stand on, and
    whether each could not be decoded."""

    texts: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    unreadable: list[bool] = field(default_factory=list)

    def frame(self) -> pl.DataFrame:
        """Return the lines as a frame that :meth:`~jobs.landing.evidence.Evidence.take_lines` takes."""
        texts = pl.Series(self.texts, dtype=pl.String)
        return pl.DataFrame(
            {
                "text": texts,
                "length": texts.str.len_bytes().cast(pl.Int64),
                "unreadable": pl.Series(self.unreadable, dtype=pl.Boolean),
                "line_no": pl.Series(self.numbers, dtype=pl.Int64),
            }
        )


@dataclass(frozen=True, slots=True)
class Part:
    """What a landing read of one node in a shared file; its lines are counted with those of the file.
    ``last_line_time`` is us UTC."""

    source_node: str
    last_line_time: int
    counts: Counts = field(default_factory=Counts)
    waiting: int = 0
    misunderstood: None = None


class Enveloped:
    """Takes the blocks of one enveloped file in order and yields their rows; the counterpart of an evidence.

    ``dialect`` is that of the file's name, if the name tells one; ``state`` is what an earlier landing left. When the
    file is ``complete``, no more pieces of what is unfinished at its end will come. ``writers`` are those
    of its lines where no envelope names them; None: nobody knows, and the line is passed over. Where
    ``nodes`` are named, only their lines are read.
    """

    def __init__(
        self,
        place: Place,
        chain: Chain,
        dialect: Dialect | None,
        progress: Progress,
        config: Config,
        *,
        state: str | None = None,
        complete: bool = False,
        pseudonyms: Pseudonyms | None = None,
        writers: Sequence[Writer | None] = (),
        nodes: frozenset[str] = frozenset(),
    ) -> None:
        kept = json.loads(state) if state else {"reader": None, "speaking": [], "sources": []}
        self.place, self.progress, self.pseudonyms = place, progress, pseudonyms
        self.counts = Counts()
        self.envelope = chain_text(chain) or None
        self._dialect, self._config, self._complete, self._writers = dialect, config, complete, writers
        self._nodes = nodes
        self._reader = Reader(chain, self._known, kept["reader"])
        self._unknown: list[str] = []
        self._itself = Evidence(place, None, progress, pseudonyms)
        self._itself.counts = self.counts
        self._speaking: dict[tuple[str | None, ...], tuple[str, int | None]] = {
            tuple(who): (dialect, offset) for who, (dialect, offset) in kept["speaking"]
        }
        self._sources = {
            (found := Source(**source)): self._evidence(found, Progress(**so_far)) for source, so_far in kept["sources"]
        }

    @property
    def state(self) -> str:
        """The state that the next landing needs, as JSON."""
        kept = {
            "reader": self._reader.state(self._kept),
            "speaking": [*self._speaking.items()],
            "sources": [(asdict(source), asdict(evidence.progress)) for source, evidence in self._sources.items()],
        }
        return json.dumps(kept, sort_keys=True)

    @property
    def dialect(self) -> Dialect | None:
        """The dialect of the lines that no envelope gives to a file with another dialect; None if it is not known."""
        return self._dialect

    @property
    def misunderstood(self) -> str | None:
        """The reason why the lines inside were not understood; None where they were, or where they are of other
        programs."""
        for evidence in self._sources.values():
            if problem := evidence.misunderstood:
                return problem
        understood = Understanding(self.place.stream, None if self._sources else self._dialect)
        understood.begin("\n".join(self._unknown).encode("utf-8", "replace"))
        understood.take_all(self._unknown)
        if understood.dialect and self._unknown:  # what dates these lines may have been taken off with their envelopes
            understood.strangers = understood.lines
        return understood.problem(self._kept)

    @property
    def waiting(self) -> int:
        """The number of characters of what is unfinished, of a line or a journal entry; another landing reads the rest
        of it."""
        return self._reader.waiting

    @property
    def last_line_time(self) -> int | None:
        """Time of the latest dated line of this landing, us UTC; None if there is none."""
        return max(
            (source.last_line_time for source in self._sources.values() if source.last_line_time is not None),
            default=None,
        )

    def parts(self) -> list[Part]:
        """Return the nodes, other than that of the file itself, of which this landing read a dated line."""
        latest: dict[str, int] = {}
        for source in self._sources.values():
            if source.last_line_time is not None and source.place.source_node != self.place.source_node:
                latest[source.place.source_node] = max(source.last_line_time, latest.get(source.place.source_node, 0))
        return [Part(node, time) for node, time in sorted(latest.items())]

    def take(self, block: Block) -> Iterator[Found]:
        """Yield rows of the lines so far, but for the last record of each source: later lines may belong to it."""
        waiting: dict[Source, Lines] = {}
        for number, line, length, unreadable in self._lines(block):
            self.counts.total += 1
            self.progress.lines += 1
            if length > LINE_BYTES:
                yield self.quarantine(number, f"line longer than {LINE_BYTES} bytes", line, length)
                continue
            for found in self._reader.read(number, self._before_opening(line)):
                if not self._writers:
                    yield from self._sorted(found, waiting, unreadable=unreadable)
                elif isinstance(found, Inner) and (writer := self._writers[number - 1]) is not None:
                    yield from self._sorted(
                        replace(found, node=writer.node, file=writer.log), waiting, unreadable=unreadable
                    )
        yield from self._read(waiting)

    def finish(self) -> Iterator[Found]:
        """Yield the rows of all lines that are left."""
        waiting: dict[Source, Lines] = {}
        for found in self._left():
            yield from self._sorted(found, waiting, unreadable=False)
        yield from self._read(waiting)
        for evidence in self._sources.values():
            yield from evidence.finish_lines()

    def _left(self) -> Iterator[Inner | Refused]:
        """Return what is unfinished and cannot wait: all of it in a complete file, and a journal entry that may not be
        stored as it was written."""
        if self._reader.bytewise and not self._complete:
            state = self._reader.state()
            return self._reader.finish() if self.pseudonyms or masked(state) != state else iter(())
        return self._reader.finish() if self._complete else iter(())

    def quarantine(self, line_no: int, reason: str, text: str, length: int) -> Row:
        """Return the row that says why a line could not be read, and count it."""
        return self._itself.quarantine(line_no, reason, text, length)

    def broken_off(self, problem: str, rest: bytes, length: int) -> Row:
        """Return the row for the line in which a damaged file breaks off; it is counted as one line."""
        return self._itself.broken_off(problem, rest, length)

    def _before_opening(self, line: str) -> str:
        """Return a line with its names hidden, so that pieces of it may be stored too.

        Lines of a journal export stay as they are, since its fields state their lengths.
        """
        return self.pseudonyms.in_text(line) if self.pseudonyms and not self._reader.bytewise else line

    def _kept(self, text: str) -> str:
        """Return a text as it may be stored: without secrets, and with pseudonyms where the settings ask for them."""
        return self.pseudonyms.in_text(masked(text)) if self.pseudonyms else masked(text)

    def _named(self, name: str | None) -> str | None:
        """Return a name as it may be stored."""
        return self.pseudonyms.in_text(name) if self.pseudonyms and name else name

    def _known(self, text: str) -> bool:
        return speaker_of(text, self._dialect) is not None

    def _lines(self, block: Block) -> Iterator[tuple[int, str, int, bool]]:
        """Yield number, text and length in bytes of each line, and whether it could not be decoded."""
        return lines_in(block, self.progress.lines + 1, bytewise=self._reader.bytewise)

    def _sorted(self, found: Inner | Refused, waiting: dict[Source, Lines], *, unreadable: bool) -> Iterator[Found]:
        """Add a line to the ``waiting`` ones of its source, if it begins a record of a known dialect or follows one
        there.

        Yields the quarantine row of a line that is refused, or whose source is one too many.
        """
        if isinstance(found, Refused):
            yield self.quarantine(found.line_no, found.reason, found.text, len(found.text.encode("utf-8", "replace")))
            return
        who = tuple(map(self._named, (found.node, found.program, found.file)))
        before = self._speaking.get(who)
        preferred = dialects.named(before[0]) if before else named(who[2]) or self._dialect
        itself = before is not None and before[1] is None
        begun = begun_by(found, preferred, dates_itself=itself) or begun_by(found, self._dialect, dates_itself=itself)
        if begun is not None:
            text, speaker, offset = begun
            self._speaking[who] = before = speaker.name, offset
        elif before is not None:
            text = found.text
        else:
            if len(self._unknown) < KEPT:
                self._unknown.append(found.text)
            return
        source = source_of(*who, *before)
        if source not in self._sources:
            if len(self._sources) >= MOST_SOURCES:
                reason = f"more than {MOST_SOURCES} nodes and programs in one file"
                yield self.quarantine(found.line_no, reason, found.text, len(found.text.encode()))
                return
            self._sources[source] = self._evidence(source, Progress())
        if self._nodes and self._sources[source].place.source_node not in self._nodes:
            return
        lines = waiting.setdefault(source, Lines())
        for line in (text, *found.more):
            lines.texts.append(line)
            lines.numbers.append(found.line_no)
            lines.unreadable.append(unreadable)

    def _read(self, waiting: dict[Source, Lines]) -> Iterator[Found]:
        for source, lines in waiting.items():
            yield from self._sources[source].take_lines(lines.frame())

    def _evidence(self, source: Source, progress: Progress) -> Evidence:
        """Return the evidence of one source, at a place of its own; its lines are counted with the file's."""
        at, dialect = self.place, dialects.named(source.dialect) or CANONICAL
        node = node_of(at.source_node, source.node, self._config.node_from(at.cluster, at.source_node))
        stream = stream_in(source, at.stream, dialect)
        zone = self._config.zone_of(at.cluster, node, dialect.utc_offset_minutes)
        if source.utc_offset_minutes is not None:
            zone = source.utc_offset_minutes
        elif isinstance(zone, str) and CANONICAL in {self._dialect, dialect}:
            zone = dialect.utc_offset_minutes
        place = replace(
            at,
            source_node=node,
            stream=stream,
            clock_bound_ms=self._config.bound_of(at.cluster, node),
            utc_offset_minutes=0 if isinstance(zone, str) else zone,
            time_zone=zone if isinstance(zone, str) else None,
            file=f"{at.cluster}|{at.source_node}|{at.stream}|{at.fingerprint}",
        )
        evidence = Evidence(place, dialect, progress, self.pseudonyms)
        evidence.counts = self.counts
        return evidence


def says_nothing(state: str | None) -> bool:
    """Return True when ``state`` shows that no line of the file was understood."""
    return not state or not json.loads(state)["sources"]


def begun_by(
    found: Inner, preferred: Dialect | None, *, dates_itself: bool = False
) -> tuple[str, Dialect, int | None] | None:
    """Return the first line of the record that a line begins, its dialect and its zone; None where it begins no record.

    The zone is minutes east of UTC, None: the envelope does not give it. A line without a time gets that of its
    envelope, in UTC, unless its source ``dates_itself``: there it is a further line of a record.
    """
    if (speaker := speaker_of(found.text, preferred)) is not None:
        return found.text, speaker, found.utc_offset_minutes
    text = None if found.time is None or dates_itself else dated(found.text, found.time, found.program)
    if text is not None and (speaker := speaker_of(text, preferred)) is not None:
        return text, speaker, 0
    return None


def lines_in(block: Block, first: int, *, bytewise: bool) -> Iterator[tuple[int, str, int, bool]]:
    """Yield number (from ``first`` on), text and length in bytes of each line of a block, and whether it could not be
    decoded.

    ``bytewise``: the text is latin-1, a character for each byte.
    """
    if bytewise:
        data = block.data.decode("latin-1").removesuffix("\n")
        for number, line in enumerate(data.split("\n"), first):
            yield number, line, len(line) + 1 + block.length - len(block.data), False
        return
    for text, length, unreadable, number in lines_of(block, first).iter_rows():
        yield number, text, length, unreadable


def named(file: str | None) -> Dialect | None:
    """Return the dialect of a file that an envelope names; None if there is none."""
    return dialect_for(stream_at(file)) if file else None


def node_of(folder: str, node: str | None, node_from: str) -> str:
    """Return the node of lines that an envelope gives to ``node``, in a file of ``folder``.

    It is the folder where the settings take nodes from folders, where the envelope names no node, and where it names
    the folder's machine, with its domain or without; else it is the node that the envelope names.
    """
    if node is None or node_from == "folder" or node.casefold() == folder.casefold():
        return folder
    host, dot, _ = node.partition(".")
    return folder if dot and host.casefold() == folder.casefold() else node


PROCESS_STREAMS = {system.name: system.stream for system in SYSTEMS if system.stream}
"""By system, the stream of a process where no name tells it: the log that it writes unless it is told otherwise."""


def stream_in(source: Source, stream: str, dialect: Dialect) -> str:
    """Return the stream of a source's lines: that of the file that its envelope names, or of this file if its name
    fits.

    The name of a shared file tells nothing; there the words in the names of program and node may: ``controller-0``.
    """
    if source.file:
        return stream_in_system(stream_at(source.file), dialect.name)
    by_name = dialect_for(stream)
    if dialect is CANONICAL or (by_name and by_name.system == dialect.system):
        return stream
    for word in re.split(r"[^A-Za-z]+", f"{source.program or ''} {source.node or ''}"):
        known = dialect_for(f"{word.lower()}.log") if word else None
        if known and known.system == dialect.system:
            return f"{word.lower()}.log"
    return PROCESS_STREAMS.get(dialect.system, stream)


@dataclass(frozen=True, slots=True)
class Beginning:
    """What the first lines of a file show: the envelopes that its lines came in, and the dialect of the first known
    line."""

    chain: Chain
    dialect: Dialect | None


def texts_of(data: bytes) -> list[str]:
    """Return the whole lines at the beginning of a file, without byte order marks and carriage returns."""
    lines = data[: data.rfind(b"\n") + 1].decode("utf-8", "replace").split("\n")[:-1]
    return [line.removeprefix("\ufeff").rstrip("\r") for line in lines]


def chain_of(stream: str, data: bytes, setting: str | None = None) -> Chain:
    """Return the envelopes of a file that begins with ``data``; empty where its lines come in none.

    A file of canonical events is judged by its other lines. ``setting`` is the dialect that the settings name: a
    program that they describe is known by nothing else.
    """
    program = setting if setting is not None and setting.startswith(f"{PROGRAM} ") else None
    by_name = dialects.named(program) or dialect_for(stream)
    lines = texts_of(data)
    if by_name is CANONICAL:
        lines = [line for line in lines if speaker_of(line, CANONICAL) is not CANONICAL]

    def known(text: str) -> bool:
        return speaker_of(text, by_name) is not None

    if archive(data) or (encoding(data, "any.log") and not data.startswith(b"__CURSOR=")):  # an export holds lengths
        return ()
    chain = detected(lines, known)
    if chain and any(map(THREADS.match, lines[:LOOKED_AT])) and any(map(in_known_layout, lines[:LOOKED_AT])):
        return ()
    if any(map(known, lines)) or not (by_name or telling(lines)):
        return chain
    if not chain:
        return detected(lines, in_known_layout)
    inside = [found for _, found in opened_lines(chain, data, by_name)][:LOOKED_AT]
    if any(begun_by(found, by_name) or in_known_layout(found.text) for found in inside):
        return chain
    return () if any(map(in_known_layout, lines[:LOOKED_AT])) else chain


THREADS = re.compile(
    r"\[(?!pod/)[^\[\]]{0,80}"
    r"(?:\bmain\b|[Tt]hread|Service|Processor|Executor|Schedule|Worker|QuorumPeer)[^\]]{0,80}\]? "
)
"""A line that begins with the name of a thread in brackets, where some tools put the name of a host."""


def in_known_layout(text: str) -> bool:
    """Return True when a line is in a known layout, of whatever program."""
    return next(layouts_of(text), None) is not None


def opened_by(chain: Chain, data: bytes) -> bytes:
    """Return the texts inside the whole lines at the beginning of a file."""
    return "\n".join(found.text for _, found in opened_lines(chain, data, None)).encode("utf-8", "replace")


def opened_lines(chain: Chain, data: bytes, dialect: Dialect | None) -> Iterator[tuple[int, Inner]]:
    """Yield what the whole lines at the beginning of a file hold, each with the offset in bytes at which its line
    ends."""
    reader = Reader(chain, lambda text: speaker_of(text, dialect) is not None)
    whole = data[: data.rfind(b"\n") + 1]
    lines = lines_in(Block(whole, len(whole)), 1, bytewise=reader.bytewise) if whole else ()
    for end, (number, text, _, _) in zip(line_ends(whole).tolist(), lines, strict=True):
        yield from ((end, found) for found in reader.read(number, text) if isinstance(found, Inner))


def head_in_envelopes(
    data: bytes, chain: Chain, dialect: Dialect | None, config: Config, cluster: str, node: str
) -> Head:
    """Return the head of an enveloped file that begins with ``data``; its identity is all up to the end of its first
    dated line.

    ``dialect`` is that of most lines inside; None: unknown. Where neither it nor a line tells a dialect, nothing in the
    file can be read, and the head names no envelope.
    """
    envelope = chain_text(chain)
    for end, found in opened_lines(chain, data, dialect):
        begun = begun_by(found, named(found.file) or dialect) or begun_by(found, dialect)
        if begun is None:
            continue
        text, speaker, spoken = begun
        zone = config.zone_of(cluster, node, speaker.utc_offset_minutes)
        zone = speaker.utc_offset_minutes if dialect is CANONICAL and isinstance(zone, str) else zone
        time = speaker.time_of(text, offset_of(text, zone, speaker) if spoken is None else spoken)
        return Head(digest(data[:end]), time[0] if time else None, (dialect or speaker).name, envelope)
    at_all = digest(data[:BANNER_BYTES])
    return Head(at_all, None, dialect.name, envelope) if dialect else Head(at_all, None, None)
