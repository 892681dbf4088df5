"""What an etcd member tells of its own clock: how late its loop was, and how far it is ahead of its peers'."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model import digits
from election_replay.election_core.model.facts import Fact, Silence
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import US_PER_MS, Timeout
from election_replay.election_core.protocols.raft.facts import ClockMeasured


@dataclass(slots=True)
class OwnClock:
    """The lines in which a leader says how late its loop was, and those in which it measured its peers' clocks."""

    late: list[FoldEvent] = field(default_factory=list)
    drifts: list[FoldEvent] = field(default_factory=list)

    def facts(self, emit: FactWriter, node: str | None, timeout_us: int, tick_us: int) -> Iterator[Fact]:
        """A stall begins up to two ticks (microseconds) before the time by which the heartbeats were late."""
        for event in self.drifts:
            yield from _measured(emit, event)
        for stall, late_us in self._stalls(timeout_us):
            latest = stall.at - late_us
            earliest = latest - 2 * tick_us
            end = (stall.at, stall.by, stall.event_id)
            yield Silence(*emit.during(node, earliest, latest, None, *end), noticed=True)

    def _stalls(self, timeout_us: int) -> Iterator[tuple[FoldEvent, int]]:
        """How long the loop did not run, in microseconds: of note where its followers can have missed it."""
        noted: FoldEvent | None = None
        for event in self.late:
            late_us = (event.duration_ms or 0) * US_PER_MS
            again = noted is not None and event.at - noted.at < late_us  # once for each peer
            if event.duration_ms is not None and late_us >= timeout_us and not again:
                noted = event
                yield event, late_us


def _measured(emit: FactWriter, event: FoldEvent) -> Iterator[ClockMeasured]:
    """What a probe measured; etcd prints it where its own clock is more than a second ahead.

    Releases up to 3.4 print the two numbers in each other's place, so the larger one is taken for the difference; where
    both are larger than a second nothing tells which it is (``rafthttp/probing_status.go``).
    """
    printed = [event.duration_ms or 0]
    other = digits.number(event.value)
    if other is not None:
        printed.append(other)
    ahead, *round_trip = sorted(printed, reverse=True)
    limit = Timeout.ETCD_DRIFT.value.ms
    if event.peer is not None and ahead >= limit and not any(number >= limit for number in round_trip):
        rtt = round_trip[0] if round_trip else None
        yield ClockMeasured(*emit.at(event), peer=event.peer, ahead_ms=ahead, rtt_ms=rtt)
