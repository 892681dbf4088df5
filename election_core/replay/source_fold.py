"""One source: the logs of one folder, folded into facts.

Lines of one stream are in program order; two streams of a machine share its clock and nothing else. Streams of
different processes on one machine (a name server beside a broker) have lives of their own. Each protocol has a
state machine of its own for the lines it knows; the registry lists them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from election_core.fold.fact_writer import Speaker
from election_core.fold.identity import IDENTITY_KINDS, NOT_LISTED, SNAPSHOTS, Identity, Listed, process_of
from election_core.fold.process_runs import START_KINDS, START_SETTINGS, STOP_KINDS, Activity, Segment
from election_core.fold.settings import PrintedSettings
from election_core.model.facts import Fact
from election_core.model.fold_event import FoldEvent
from election_core.model.timing import TimingRule
from election_core.protocols.log_quality import log as log_quality
from election_core.replay.protocol_log import ProtocolLog, ReadsSnapshots
from election_core.replay.registry import FOLDS, LINE_KINDS

_LIFE_KINDS = START_KINDS | STOP_KINDS
INTERESTING = frozenset().union(START_KINDS, STOP_KINDS, IDENTITY_KINDS, LINE_KINDS)
"""The kinds of events that the fold reads; all others are signs of life only."""


@dataclass(slots=True)
class SourceLog:
    """Everything that one source's logs say. Feed ``seen`` and ``on``, then take ``facts`` once.

    The snapshots of the source's metadata files come after its logs.
    """

    cluster: str
    source_node: str
    bound_ms: int
    listed: Listed = NOT_LISTED
    activity: dict[str, Activity] = field(default_factory=dict)
    identity: Identity = field(default_factory=Identity)
    logs: dict[tuple[int, str], ProtocolLog] = field(default_factory=dict)
    itself: log_quality.SourcesLog = field(default_factory=log_quality.SourcesLog)
    settings: PrintedSettings = field(default_factory=PrintedSettings)
    timing_rules: tuple[TimingRule, ...] = ()
    _stream_of: dict[str, str] = field(default_factory=dict)
    _readers: dict[tuple[str, str], tuple[ProtocolLog, ...]] = field(default_factory=dict)
    _snapshots: bool = False

    def seen(self, stream: str, time: int, event_id: str | None = None, file: str = "") -> bool:
        """A line of ``stream`` was written at ``time`` (microseconds UTC, own clock) into one of its files.

        Whether the clock just went on from the line before it in this file.
        """
        self._activity(stream).seen(time, event_id)
        return self.itself.seen(stream, file, time, event_id or "")

    def recall_line(self, stream: str, time: int, event_id: str, file: str) -> bool:
        """A line of a former night, whose signs of life :meth:`recall_segment` tells; else as :meth:`seen`."""
        return self.itself.seen(stream, file, time, event_id)

    def recall_segment(self, stream: str, segment: Segment) -> None:
        """Lines of former nights were written through ``segment`` by the process that writes ``stream``."""
        self._activity(stream).covered.append(segment)

    def digest(self) -> Iterator[tuple[str, Segment]]:
        """The signs of life of the lines that were ``seen``, each with a stream of its process."""
        for process, activity in sorted(self.activity.items()):
            for segment in activity.digest():
                yield self._stream_of[process], segment

    def on(self, event: FoldEvent) -> None:
        """Take an event of one of :data:`INTERESTING`."""
        kind = event.kind
        if kind in _LIFE_KINDS:
            self._note_life(event)
        if kind in IDENTITY_KINDS:
            self.identity.on(event)
        if kind in log_quality.KINDS:
            self.itself.on(event)
        self.settings.on(event)
        readers = self._readers.get((kind, event.stream))
        if readers is None:
            readers = self._readers[kind, event.stream] = tuple(self._new_readers(kind, event.stream))
        for log in readers:
            log.on(event)

    def facts(self) -> Iterator[Fact]:
        """All facts of this source, after its last event."""
        incarnations = {process: activity.incarnations() for process, activity in self.activity.items()}
        speaker = Speaker(
            *(self.cluster, self.source_node, self.bound_ms, self.identity, incarnations, self.listed),
            settings=self.settings.values(),
            timing_rules=self.timing_rules,
        )
        by_stream = [
            (stream, fact) for (_, stream), log in sorted(self.logs.items()) for fact in log.facts(speaker, stream)
        ]
        yield from (fact for _, fact in by_stream)
        yield from self.settings.facts(speaker, (fact for _, fact in by_stream))
        yield from self.itself.facts(speaker, by_stream)

    def _new_readers(self, kind: str, stream: str) -> Iterator[ProtocolLog]:
        """The state machines that read lines of this kind in this stream."""
        for number, fold in enumerate(FOLDS):
            scope = fold.scope(stream) if kind in fold.kinds else None
            if scope is not None:
                log = self._log(number, scope)
                if not self._snapshots and process_of(stream) == SNAPSHOTS and isinstance(log, ReadsSnapshots):
                    self._snapshots = True
                    log.after_logs(self._activity("broker.log").incarnations())
                yield log

    def _log(self, number: int, scope: str) -> ProtocolLog:
        key = (number, scope)
        if key not in self.logs:
            self.logs[key] = FOLDS[number].make()
        return self.logs[key]

    def _activity(self, stream: str) -> Activity:
        process = process_of(stream)
        if process not in self.activity:
            self.activity[process], self._stream_of[process] = Activity(), stream
        return self.activity[process]

    def _note_life(self, event: FoldEvent) -> None:
        activity = self._activity(event.stream)
        if event.kind in STOP_KINDS:
            activity.stopping(event.at, event.event_id)
        elif event.kind == "CFG_ITEM":
            if event.setting in START_SETTINGS:
                activity.marker(event.at, f"{event.stream} {event.setting}", event.event_id)
        elif event.kind in START_KINDS:
            activity.marker(event.at, f"{event.stream} {event.kind}", event.event_id)
