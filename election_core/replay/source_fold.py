"""One source: the logs of one folder, folded into facts.

Lines of one stream are in program order; two streams of a machine share its clock and nothing else. Different processes
on one machine, such as a name server beside a broker, have process runs of their own. Each protocol has a state machine
for the lines that it reads; the registry lists them.

Files may hold the lines of several members (:mod:`election_core.fold.members`). From the first line of a second member
on, each member's lines are also read by themselves; which reading counts is decided after the last line. Where time
goes back from the lines of one member to those of another, their logs were joined, one behind the other: then all lines
of a part are its member's.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import product
from operator import itemgetter

import numpy as np

from election_replay.election_core.fold.fact_writer import Speaker
from election_replay.election_core.fold.identity import (
    BROKER,
    IDENTITY_KINDS,
    UNIDENTIFIED,
    Identity,
    NamedId,
    is_snapshot,
    process_of,
)
from election_replay.election_core.fold.members import interleaved_names, speaker_of
from election_replay.election_core.fold.process_runs import (
    SETTING,
    START_KINDS,
    START_SETTINGS,
    STOP_KINDS,
    WORK_KINDS,
    Activity,
    Incarnation,
    Segment,
    Signs,
    Start,
    gaps_of,
)
from election_replay.election_core.fold.program_order import ProgramOrder
from election_replay.election_core.fold.settings import AS_DURATION, PrintedSettings
from election_replay.election_core.model.facts import Alive, Fact, OrderLost, Written
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.introductions import Introduced
from election_replay.election_core.model.inventory import NO_ENTRY, InventoryRow
from election_replay.election_core.model.timing import Timeout, TimingRule
from election_replay.election_core.protocols.log_quality import log as log_quality
from election_replay.election_core.replay.failures import error_text, failed
from election_replay.election_core.replay.protocol_log import ProtocolLog, ReadsSnapshots
from election_replay.election_core.replay.registry import FOLDS, FOLDS_OF, LINE_KINDS, PROTOCOL_OF, RHYTHM_KINDS

_LIFE_KINDS = START_KINDS | STOP_KINDS | WORK_KINDS
INTERESTING = frozenset().union(START_KINDS, STOP_KINDS, IDENTITY_KINDS, LINE_KINDS)
"""The kinds of events that the fold reads; all others are only signs of life."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The facts of processes that write as one member, each with its stream."""

    speaker: Speaker
    facts: list[tuple[str, Fact]]


@dataclass(slots=True)
class Members:
    """The members that write as one process of a source: the log of each, and its first and last line."""

    logs: "dict[str, SourceLog]" = field(default_factory=dict)
    _spoke: dict[str, tuple[int, int]] = field(default_factory=dict)
    _turns: list[NamedId] = field(default_factory=list)
    """The lines before and after each change of the writing member, and the last line."""
    joined: bool = False
    """The log of one member follows that of another, with times before its end."""

    def speaks(self, line: NamedId) -> None:
        """Take a line that a member wrote."""
        first, last = self._spoke.get(line.node, (line.at, line.at))
        self._spoke[line.node] = min(first, line.at), max(last, line.at)
        if len(self._turns) > 1 and self._turns[-1].node == line.node == self._turns[-2].node:
            self._turns.pop()
        self._turns.append(line)

    def interleaved(self, incarnations: list[Incarnation]) -> bool:
        """Return True when several members wrote in one process run; a start may change the name of one machine."""
        return self.joined or bool(interleaved_names(self._turns, incarnations))

    @property
    def apart(self) -> bool:
        """Return True when a second member has written, so that each member is read by itself."""
        return self.joined or bool(self._spoke)

    @property
    def one_behind_the_other(self) -> list[NamedId]:
        """Return the first line of each member whose logs were joined, in their order."""
        first: dict[str, NamedId] = {}
        for line in self._turns if self.joined else ():
            first.setdefault(line.node, line)
        return [*first.values()]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An item of a source that waits: a line, its event, signs of life, or a segment of former nights."""

    stream: str
    file: int
    time: int = 0
    by: int = 0
    event_id: str | None = None
    held: FoldEvent | Signs | Segment | None = None
    member: str | None = None
    recalled: bool = False


@dataclass(slots=True)
class SourceLog:
    """The whole log of one source. Feed ``seen`` and ``on``, then take ``facts`` once. Snapshots of metadata files come
    after the logs. All lines wait until the last one is read, because only then the steps of the clock are known, and
    with them the order of lines of several files."""

    cluster: str
    source_node: str
    bound_ms: int
    listed: InventoryRow = NO_ENTRY
    activity: dict[str, Activity] = field(default_factory=dict)
    identity: Identity = field(default_factory=Identity)
    logs: dict[tuple[int, str], ProtocolLog] = field(default_factory=dict)
    itself: log_quality.SourcesLog = field(default_factory=log_quality.SourcesLog)
    order: ProgramOrder = field(default_factory=ProgramOrder)
    settings: PrintedSettings = field(default_factory=PrintedSettings)
    timing_rules: tuple[TimingRule, ...] = ()
    introduced: Mapping[str, Introduced] = field(default_factory=dict)
    members: dict[str, Members] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    """The protocols that failed on this source, with the error text; none of their facts are returned."""
    _named: dict[str, set[str]] = field(default_factory=dict)
    _first: dict[str, tuple[NamedId, NamedId]] = field(default_factory=dict)
    _stream_of: dict[str, str] = field(default_factory=dict)
    _takers: dict[tuple[str, str], tuple[Callable[[FoldEvent], None], ...]] = field(default_factory=dict)
    _snapshots: bool = False
    _incarnations: dict[str, list[Incarnation]] = field(default_factory=dict)

    def seen(self, stream: str, time: int, by: int, event_id: str | None = None, file: str = "") -> bool:
        """Take a line of ``stream`` that was written in ``[time, by]`` (us UTC, own clock) into ``file``. Return True
        when the clock just went on from the former line of this file."""
        steady = self.order.seen(stream, file, time, by, event_id or "", self.order.place)
        self._wait(_Waiting(stream, self.order.file, time, by, event_id))
        return steady

    def lived(self, stream: str, signs: Signs, speaker: str | None = None) -> None:
        """Take lines of ``stream`` that only show that the clock went on; ``speaker`` is the member that they name."""
        self.order.went_on(signs.since.tolist())
        self._wait(_Waiting(stream, self.order.file, held=signs, member=speaker))

    def recall_line(self, stream: str, time: int, by: int, event_id: str, file: str) -> bool:
        """Take a line of a former night, whose signs of life :meth:`recall_segment` gives; else as :meth:`seen`."""
        steady = self.order.seen(stream, file, time, by, event_id, self.order.place)
        self._wait(_Waiting(stream, self.order.file, time, by, event_id, recalled=steady))
        return steady

    def recall_segment(self, stream: str, segment: Segment, member: str | None = None) -> None:
        """Take a segment of former nights' lines, by the process of ``stream`` or by one ``member`` of several. The
        clock had not been put back by then."""
        if member is not None:
            self._named.setdefault(process_of(stream), {""}).add(member)
        self._wait(_Waiting(stream, -1, held=segment, member=member))

    @property
    def several(self) -> bool:
        """Return True when one process wrote as several members, by this night's lines or a former checkpoint."""
        return any(len(names) > 1 for names in self._named.values())

    def digest(self) -> Iterator[tuple[str, Segment, str | None]]:
        """Yield the signs of life as (stream, segment, member); the member is ``None`` for a whole process."""
        self._take_waiting()
        for process, activity in sorted(self.activity.items()):
            for segment in activity.digest():
                yield self._stream_of[process], segment, None
        for process, members in sorted(self.members.items()):
            for name, log in sorted(members.logs.items()) if members.apart else ():
                for segment in log.activity[process].digest():
                    yield self._stream_of[process], segment, name

    @property
    def was_set(self) -> int:
        """Return how often the clock was put back."""
        self._take_waiting()
        return len(self.order.timeline.steps)

    def _wait(self, line: _Waiting) -> None:
        """Queue a line. Snapshots come last and are taken at once: their tables are large."""
        if is_snapshot(line.stream):
            self._take_waiting()
            self._take_line(line)
        else:
            self.order.waiting.append(line)

    def _take_waiting(self) -> None:
        """Take all queued lines, with their times on the timeline of the source."""
        if not self.order.waiting:
            return
        waiting, begun = self.order.taken()
        self.order.settle(lambda: _spoken(waiting, begun))
        for stream in self.order.joined:
            self.members.setdefault(process_of(stream), Members()).joined = True
        stepped = bool(self.order.timeline.steps)
        starts = self._starts(waiting, begun) if stepped else {}
        lines = (self._on_timeline(line, place, starts) for place, line in enumerate(waiting, begun))
        for line in self._part_by_part(lines, begun) if stepped else waiting:
            self._take_line(line)

    def _part_by_part(self, lines: Iterable[_Waiting], begun: int) -> list[_Waiting]:
        """Return lines with their members, and the parts of a file with joined logs in order of time."""
        begins: dict[tuple[int, int], int] = {}
        parts: list[tuple[int, int, _Waiting]] = []
        for place, line in enumerate(lines, begun):
            begin = begins.setdefault((line.file, self.order.part(line.file, place)), line.time)
            joined = line.stream in self.order.joined
            member = line.member or (self.order.member_at(line.file, place) if joined else None)
            parts.append((line.file, begin, replace(line, member=member)))
        return [line for _, _, line in (sorted(parts, key=itemgetter(0, 1)) if self.order.joined else parts)]

    def _on_timeline(self, line: _Waiting, place: int, starts: Mapping[str, list[tuple[int, int]]]) -> _Waiting:
        """Return a line with timeline times; signs of life that may be on either side of a step get the earlier one."""
        held = line.held
        if isinstance(held, Segment):
            return line
        if isinstance(held, Signs):
            return replace(line, held=self._moved(line, place, held))
        if held is None:
            ahead = self.order.on_timeline(line.file, place, line.time, line.by)[0] - line.time
            return replace(line, time=line.time + ahead, by=line.by + ahead)
        alike = starts.get(process_of(line.stream), []) if _starts_process(held) else ()
        at, by = self.order.on_timeline(line.file, place, held.at, held.by, alike)
        return replace(line, held=replace(held, at=at, by=by, ahead=at - held.at))

    def _take_line(self, line: _Waiting) -> None:
        """Take a line with its time on the timeline."""
        if isinstance(line.held, Segment):
            self._recall(line, line.held)
        elif isinstance(line.held, Signs):
            self._lived(line.stream, line.held, line.member)
        elif line.held is None:
            self.order.note_written(line.stream, line.time, line.by)
            if not line.recalled:
                self._activity(line.stream).seen(line.time, line.by, line.event_id)
            if line.member is not None:
                log = self.members[process_of(line.stream)].logs.setdefault(line.member, self._another())
                log._activity(line.stream).seen(line.time, line.by, line.event_id)
        else:
            if line.member is not None:
                self._note_speaker(line.member, line.held)
            self._take(line.held)

    def _starts(self, waiting: Sequence[_Waiting], begun: int) -> dict[str, list[tuple[int, int]]]:
        """Return, by process, the starts with a known number of clock steps before them: (reading, number)."""
        starts: dict[str, list[tuple[int, int]]] = {}
        for place, line in enumerate(waiting, begun):
            if isinstance(line.held, FoldEvent) and _starts_process(line.held):
                least, most = self.order.behind(line.file, place, line.held.at)
                if least == most:
                    starts.setdefault(process_of(line.stream), []).append((line.held.at, least))
        return starts

    def _moved(self, line: _Waiting, place: int, signs: Signs) -> Signs:
        """Return signs of life with timeline times."""
        since = [self.order.on_timeline(line.file, place, time, time)[0] for time in signs.since.tolist()]
        ahead = np.array(since, np.int64) - signs.since
        return Signs(signs.since + ahead, signs.by + ahead, signs.event_ids)

    def _lived(self, stream: str, signs: Signs, speaker: str | None) -> None:
        if len(signs.since):
            for number in (int(signs.since.argmin()), int(signs.since.argmax())):
                self.order.note_written(stream, int(signs.since[number]), int(signs.by[number]))
        self._activity(stream).lived(signs)
        members = self.members.get(process_of(stream))
        if speaker is not None and members is not None and members.apart:
            members.logs.setdefault(speaker, self._another())._lived(stream, signs, None)

    def _recall(self, line: _Waiting, segment: Segment) -> None:
        source = self
        if line.member is not None:
            members = self.members.setdefault(process_of(line.stream), Members())
            source = members.logs.setdefault(line.member, self._another())
        source._activity(line.stream).covered.append(segment)

    @property
    def given_up(self) -> set[tuple[str, str]]:
        """Return the (stream, table name) pairs in snapshots whose entries no later fold will read."""
        self._take_waiting()
        readers = self.logs.values() if self._snapshots else ()
        return {table for log in readers if isinstance(log, ReadsSnapshots) for table in log.given_up}

    def on(self, event: FoldEvent) -> None:
        """Take an event of one of :data:`INTERESTING`, from the line that was seen last."""
        speaker = speaker_of(event)
        if speaker is not None:
            self._named.setdefault(process_of(event.stream), set()).add(speaker)
        self._wait(_Waiting(event.stream, self.order.file, held=event, member=speaker))

    def _take(self, event: FoldEvent) -> None:
        """Hand an event to all its readers; a reader that fails does so alone."""
        takers = self._takers.get((event.kind, event.stream))
        if takers is None:
            takers = self._takers[event.kind, event.stream] = tuple(self._new_takers(event.kind, event.stream))
        for take in takers:
            try:
                take(event)
            except Exception as error:  # noqa: BLE001 - a fault in one protocol must not take the source along
                self._fail(take, error)
        if event.setting is not None or event.kind in AS_DURATION:
            self.settings.on(event)

    def facts(self) -> Iterator[Fact]:
        """Yield all facts of this source, after its last event."""
        self._take_waiting()
        self._incarnations = {process: self._runs_of(process) for process in self.activity}
        speaker = self._speaker()
        readings = [self._reading(speaker), *self._readings_of_members(speaker)]
        for reading in readings:
            yield from (fact for _, fact in reading.facts)
            yield from self.settings.facts(reading.speaker, (fact for _, fact in reading.facts))
        stated = [fact for reading in readings for fact in reading.facts]
        apart = {process for process in self.members if self._interleaved(process)}
        joined = {process: members.one_behind_the_other for process, members in self.members.items()}
        yield from self.itself.facts(speaker, stated, apart, joined)
        steps = [*log_quality.clock_steps(self.order.timeline, gaps_of(self.activity.values()), speaker, stated)]
        yield from (*steps, *self._order_lost(speaker, log_quality.PROTOCOL, "", steps))
        yield from self._failures([fact for _, fact in stated])

    @property
    def first_seen(self) -> int:
        """Return the time of the source's first line in us UTC; 0 if none was read."""
        runs = (run for process in self.activity for run in self._runs_of(process))
        return min((run.first_seen for run in runs), default=0)

    def recall_failure(self, protocol: str, error: str) -> None:
        """Take a failure of a former night: the protocol stays failed on this source."""
        self.failed[protocol] = error

    def _fail(self, take: Callable[[FoldEvent], None], error: Exception) -> None:
        """Mark the protocol of a failed reader; an error in what all protocols depend on is raised again."""
        protocol = next((PROTOCOL_OF[number] for (number, _), log in self.logs.items() if log.on == take), None)
        if protocol is None:
            raise error
        self.failed[protocol] = error_text(error)

    def _failures(self, facts: list[Fact]) -> Iterator[Fact]:
        """Yield a fact for each failed protocol in each group that the source has facts about."""
        groups = sorted({fact.replica_group for fact in facts}) or [UNIDENTIFIED]
        for (protocol, error), group in product(sorted(self.failed.items()), groups):
            where = self.cluster, group, self.source_node
            yield failed(*where, error, protocol=protocol, since=self.first_seen, bound_ms=self.bound_ms)

    def _speaker(self) -> Speaker:
        return Speaker(
            *(self.cluster, self.source_node, self.bound_ms, self.identity, self._incarnations, self.listed),
            settings=self.settings.values(),
            timing_rules=self.timing_rules,
            introduced=self.introduced,
            written=self.order.written,
        )

    def _reading(self, speaker: Speaker) -> "Reading":
        """Return the facts of the processes that write as one member."""
        mixed = {process for process in self.members if self._interleaved(process)}
        mixed.update(log_quality.mixed_processes(speaker))
        return self._read(speaker, frozenset(self.activity) - mixed)

    def _interleaved(self, process: str) -> bool:
        """Return True when several members wrote in one run of a process; each of them is read by itself then."""
        members = self.members.get(process)
        return members is not None and members.interleaved(self._incarnations.get(process, []))

    def _readings_of_members(self, speaker: Speaker) -> Iterator["Reading"]:
        """Yield the facts of each member whose lines are interleaved with another one's."""
        for process, members in sorted(self.members.items()):
            for name, log in sorted(members.logs.items()) if self._interleaved(process) else ():
                incarnations = {process: log._runs_of(process)}
                of_member = replace(speaker, incarnations=incarnations, member=name)
                yield log._read(of_member, frozenset({process}))
                self.failed |= log.failed

    def _read(self, speaker: Speaker, processes: frozenset[str]) -> "Reading":
        """Return the facts of the given processes by all protocols that did not fail."""
        found: dict[str, list[tuple[str, Fact]]] = {}
        for (number, stream), log in sorted(self.logs.items(), key=itemgetter(0)):
            protocol = PROTOCOL_OF[number]
            if process_of(stream) in processes and protocol not in self.failed:
                try:
                    of_log = list(log.facts(self._of_own_runs(speaker, number, stream), stream))
                    of_log += self._roles_written(speaker, number, stream, of_log)
                    of_log += self._order_lost(speaker, protocol, stream, of_log)
                    found.setdefault(protocol, []).extend((stream, fact) for fact in of_log)
                except Exception as error:  # noqa: BLE001 - the same
                    self.failed[protocol] = error_text(error)
        facts = [fact for protocol, read in found.items() if protocol not in self.failed for fact in read]
        return Reading(speaker, facts)

    def _of_own_runs(self, speaker: Speaker, number: int, stream: str) -> Speaker:
        """Return the speaker with the process runs that belong to one of several files of the same kind. A member that
        writes several files gets in each the runs with lines there. Where each file counts as a process of its own, a
        start in one file ends the run in another."""
        process, beside = process_of(stream), {other for of_fold, other in self.logs if of_fold == number}
        if len(beside) == 1 or speaker.member is not None:
            return speaker
        of_process = [other for other in beside if process_of(other) == process]
        runs = [
            run
            for run in speaker.incarnations.get(process, ())
            if self._wrote_in(run, stream) or not any(self._wrote_in(run, other) for other in of_process)
        ]
        itself = self._itself(speaker, number, stream)
        others = {process_of(other) for other in beside if itself and self._itself(speaker, number, other) == itself}
        starts = [run for other in others - {process} for run in speaker.incarnations.get(other, ())]
        runs = [run.until_start_of(starts) for run in runs]
        return replace(speaker, incarnations={**speaker.incarnations, process: runs})

    def _itself(self, speaker: Speaker, number: int, stream: str) -> str | None:
        """Return the member that a file speaks for, by its own lines or by all logs together; ``None``: unknown."""
        known = speaker.introduced.get(stream)
        return getattr(self.logs[number, stream], "node", None) or (known.member if known else None)

    def _wrote_in(self, run: Incarnation, stream: str) -> bool:
        """Return True when a file may have lines of a run of its process."""
        written = self.order.written.get(stream)
        return written is None or (written.first <= run.last_by and run.first_seen <= written.last_by)

    def _roles_written(self, speaker: Speaker, number: int, scope: str, facts: Sequence[Fact]) -> Iterator[Written]:
        """Yield the extent of the files in which a protocol's roles are logged, where process runs do not show it."""
        process, fold = process_of(scope), FOLDS[number]
        several = sum(process_of(stream) == process for stream in self.order.written) > 1
        if not fold.tells_roles or speaker.member is not None:
            return
        read = [(kind, stream) for kind, stream in self._takers if kind in fold.kinds and fold.scope(stream) == scope]
        streams = {stream for kind, stream in read if kind in fold.tells_roles} or {stream for _, stream in read}
        ran = {fact.replica_group for fact in facts if isinstance(fact, Alive)}
        for group in sorted({fact.replica_group for fact in facts}):
            if group in ran and not several:
                continue
            emit = speaker.about(group, PROTOCOL_OF[number], scope, lambda _: None)
            for stream in sorted(streams):
                if (written := self.order.written.get(stream)) is not None:
                    yield Written(
                        *emit.during(None, written.first, written.first_by, None, written.last, written.last_by),
                        stream=stream,
                    )

    def _order_lost(self, speaker: Speaker, protocol: str, scope: str, facts: Sequence[Fact]) -> Iterator[OrderLost]:
        """Yield that the order of the lines is lost, for each group that they tell of."""
        for group in sorted({fact.replica_group for fact in facts}) if self.listed.order_lost else ():
            emit = speaker.about(group, protocol, scope, lambda _: None)
            yield OrderLost(*emit.during(None, self.first_seen, self.first_seen, None))

    def _note_speaker(self, name: str, event: FoldEvent) -> None:
        """Take a line of one of several members also as its own; earlier lines count as the first member's."""
        process, line = process_of(event.stream), NamedId(event.at, event.by, name, event.event_id)
        members = self.members.get(process)
        if members is None or not members.apart:
            begin, end = self._first.get(process, (line, line))
            if begin.node == name:
                self._first[process] = min(begin, line), max(end, line)
                return
            members = self.members.setdefault(process, Members())
            members.logs[begin.node] = self._until_now(process, members.logs.get(begin.node))
            members.logs[begin.node].activity[process].ends_before_starts_after(end.at)
            members.speaks(begin)
            members.speaks(end)
        members.speaks(line)
        log = members.logs.setdefault(name, self._another())
        log._activity(event.stream).seen(event.at, event.by, event.event_id)
        log._take(event)

    def _until_now(self, process: str, recalled: "SourceLog | None") -> "SourceLog":
        """Return a copy of this source as a member's log so far; ``recalled`` holds former signs of life."""
        source = replace(deepcopy(self), members={}, _takers={})
        if recalled is not None:
            source.activity[process].covered = recalled.activity[process].covered
        return source

    def _another(self) -> "SourceLog":
        return SourceLog(self.cluster, self.source_node, self.bound_ms)

    def _new_takers(self, kind: str, stream: str) -> Iterator[Callable[[FoldEvent], None]]:
        """Yield the functions that take lines of this kind in this stream, in order."""
        if kind in _LIFE_KINDS:
            yield self._note_life
        if kind in RHYTHM_KINDS:
            yield self._note_rhythm
        if kind in IDENTITY_KINDS:
            yield self.identity.on
        if kind in log_quality.KINDS:
            yield self.itself.on
        yield from (log.on for log in self._new_readers(kind, stream))

    def _new_readers(self, kind: str, stream: str) -> Iterator[ProtocolLog]:
        """Yield the state machines that read lines of this kind in this stream."""
        for number in FOLDS_OF.get(kind, ()):
            scope = FOLDS[number].scope(stream)
            if scope is not None:
                log = self._log(number, scope)
                if not self._snapshots and is_snapshot(stream) and isinstance(log, ReadsSnapshots):
                    self._snapshots = True
                    log.after_logs(self._runs_of(BROKER))
                yield log

    def _log(self, number: int, scope: str) -> ProtocolLog:
        key = (number, scope)
        if key not in self.logs:
            self.logs[key] = FOLDS[number].make()
        return self.logs[key]

    def _runs_of(self, process: str) -> list[Incarnation]:
        if process in self._incarnations:
            return self._incarnations[process]
        activity = self.activity.get(process, Activity())
        return activity.incarnations()

    def _activity(self, stream: str) -> Activity:
        process = process_of(stream)
        if process not in self.activity:
            self.activity[process], self._stream_of[process] = Activity(), stream
        return self.activity[process]

    def _note_rhythm(self, event: FoldEvent) -> None:
        self._activity(event.stream).shortest = Timeout.STALL.us

    def _note_life(self, event: FoldEvent) -> None:
        """Note a line that tells of the start or stop of a process."""
        activity, start = self._activity(event.stream), Start(event.at, event.by, event.event_id)
        if event.kind in STOP_KINDS:
            activity.stopping(event.at, event.event_id)
        elif event.setting in START_SETTINGS and event.kind == SETTING:
            activity.marker(start, f"{event.stream} {event.setting}")
        elif event.kind in START_KINDS:
            activity.marker(start, f"{event.stream} {event.kind}")
        elif event.kind in WORK_KINDS:
            activity.past_start(start, f"{event.stream} {event.kind}")


def _spoken(waiting: Sequence[_Waiting], begun: int) -> dict[int, list[tuple[int, str]]]:
    """Return by file the places of lines in which members name themselves, and the members."""
    spoken: dict[int, list[tuple[int, str]]] = {}
    for place, line in enumerate(waiting, begun):
        if line.member is not None and line.file >= 0:
            spoken.setdefault(line.file, []).append((place, line.member))
    return spoken


def _starts_process(event: FoldEvent) -> bool:
    """Return True when a process writes such a line at its start."""
    return event.kind in START_KINDS and (event.kind != SETTING or event.setting in START_SETTINGS)
