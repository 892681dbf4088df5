"""From what a source logged to facts: the identity and process runs of the source, and the writer of its facts."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from election_replay.election_core.fold.identity import Identity, process_of
from election_replay.election_core.fold.process_runs import Incarnation, Segment
from election_replay.election_core.fold.roles import Span
from election_replay.election_core.model.facts import Alive, Role, Silence
from election_replay.election_core.model.introductions import Introduced
from election_replay.election_core.model.inventory import NO_ENTRY, InventoryRow
from election_replay.election_core.model.timing import Timeout, Timing, TimingRule, Values, configured_of


@dataclass(frozen=True, slots=True)
class Speaker:
    """One source after its last event: its identity and its process runs. ``member``: the only member to report on,
    where the files of the source hold the lines of several. ``introduced`` maps a stream to the member that it speaks
    for, as known from all logs of the cluster together. ``written`` holds each stream's first and last line."""

    cluster: str
    source_node: str
    bound_ms: int
    identity: Identity
    incarnations: dict[str, list[Incarnation]]
    listed: InventoryRow = NO_ENTRY
    settings: Values = field(default_factory=dict)
    timing_rules: tuple[TimingRule, ...] = ()
    member: str | None = None
    introduced: Mapping[str, Introduced] = field(default_factory=dict)
    written: Mapping[str, Segment] = field(default_factory=dict)

    def shows(self, stream: str, until: int) -> bool:
        """Return True when a stream shows what came until a time in us, or goes on about as long as the source does."""
        last = max((each.last for each in self.written.values()), default=until)
        return stream not in self.written or self.written[stream].last >= min(until, last - Timeout.SILENT_END.us)

    @property
    def broker_set(self) -> str | None:
        """Return the broker set, by the source's own lines, else by the inventory."""
        return self.identity.broker_set or self.listed.replica_group

    def broker_id_at(self, time: int, incarnations: list[Incarnation]) -> str | None:
        """Return the broker id that the process had, by its own lines, else by the inventory."""
        return self.identity.broker_id_at(time, incarnations) or self.listed.member

    def timing_of(self, group: str) -> Timing:
        """Return the time-outs of this source in a group, as far as its log and the pipeline's settings give them."""
        configured = configured_of(self.timing_rules, self.cluster, group)
        return Timing({self.source_node: self.settings}, configured)

    def about(
        self, group: str, protocol: str, stream: str, node: Callable[[int], str | None] | str | None = None
    ) -> "FactWriter":
        """Return a writer of one protocol's facts about a group, from the process that writes ``stream``. ``node`` is
        the member, or a function from a time to the member."""
        node_at = node if callable(node) else _always(node)
        return FactWriter(self, group, protocol, self.incarnations.get(process_of(stream), []), node_at)


def _always(node: str | None) -> Callable[[int], str | None]:
    return lambda _: node


class Timestamped(Protocol):
    """Anything logged at a time: an event, a decision, a grant."""

    @property
    def at(self) -> int:
        """The earliest time, in us UTC on the source's own clock."""

    @property
    def by(self) -> int:
        """The latest time."""

    @property
    def event_id(self) -> str:
        """The id of the line."""


FactHeader = tuple[
    str, str, str, str | None, str, int, int, str | None, int | None, int | None, str | None, int, int, str | None
]  # fmt: skip
"""The fields that all facts have, in order."""


@dataclass(frozen=True, slots=True)
class FactWriter:
    """Writes the common fields of one protocol's facts about a group, as in ``TermRaised(*emit.at(event), term=3)``.
    ``node_at`` maps a time to the node that wrote the lines."""

    speaker: Speaker
    group: str
    protocol: str
    incarnations: list[Incarnation]
    node_at: Callable[[int], str | None]

    @property
    def timing(self) -> Timing:
        """Return the time-outs of this source in this group, as far as known."""
        return self.speaker.timing_of(self.group)

    def at(self, noted: Timestamped, until: Timestamped | None = None, ordinal: int = 0) -> FactHeader:
        """Return the header of a fact about the writing node at the time of ``noted``, to that of ``until``."""
        return self.about(self.node_at(noted.at), noted, until, ordinal)

    def about(
        self, node: str | None, noted: Timestamped, until: Timestamped | None = None, ordinal: int = 0
    ) -> FactHeader:
        """Return the header of a fact about ``node`` at the time of ``noted``, to that of ``until``."""
        if until is None:
            return self.during(node, noted.at, noted.by, noted.event_id, None, None, None, ordinal)
        return self.during(node, noted.at, noted.by, noted.event_id, until.at, until.by, until.event_id, ordinal)

    def during(
        self,
        node: str | None,
        since: int,
        since_by: int,
        since_event: str | None,
        until: int | None = None,
        until_by: int | None = None,
        until_event: str | None = None,
        ordinal: int = 0,
    ) -> FactHeader:
        """Return the header of a fact with explicit times; an end before its beginning is moved to it."""
        if until is not None and until_by is not None and until_by < until:
            until_by = until
        speaker, by = self.speaker, max(since, since_by)
        return (
            *(speaker.cluster, self.group, self.protocol, node, speaker.source_node),
            *(since, by, since_event, until, until_by, until_event, speaker.bound_ms, ordinal, speaker.member),
        )

    def roles(self, spans: Iterable[Span]) -> Iterator[Role]:
        """Yield the facts of role spans."""
        for span in spans:
            step = span.step
            node, end = step.node or self.node_at(step.at), (span.until, span.until_by, span.until_event)
            yield Role(
                *self.during(node, step.at, step.by, step.event_id, *end),
                role=step.role,
                term=step.term,
                leader=step.leader,
                address=step.address,
                end_cause=span.end_cause,
                cause=step.cause,
            )

    def alive(self) -> Iterator[Alive]:
        """Yield the runs of the process."""
        for run in self.incarnations:
            node, end = self.node_at(run.first_seen), (run.last_seen, run.last_by, run.stop_event)
            during = self.during(node, run.first_seen, run.first_by, run.start_event, *end)
            yield Alive(*during, stopped=run.stop is not None, goes_on=run.goes_on)

    def silences(self) -> Iterator[Silence]:
        """Yield the silences inside the runs of the process."""
        for run in self.incarnations:
            for gap in run.silences:
                end = (gap.end, gap.end_by, gap.end_event)
                node = self.node_at(gap.begin)
                yield Silence(*self.during(node, gap.begin, gap.begin_by, gap.begin_event, *end))
