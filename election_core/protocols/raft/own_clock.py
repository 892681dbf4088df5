"""An etcd member's lines about its own clock: how late its loop was, and how far it is ahead of its peers'."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model import digits
from election_replay.election_core.model.facts import Fact, RefusedWrites, Silence
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.measures import Refusal
from election_replay.election_core.model.timing import US_PER_MS, Timeout
from election_replay.election_core.protocols.raft.facts import ClockMeasured


@dataclass(slots=True)
class OwnClock:
    """The lines in which a leader prints how late its loop was, and those about its peers' clocks."""

    late: list[FoldEvent] = field(default_factory=list)
    drifts: list[FoldEvent] = field(default_factory=list)

    def facts(self, emit: FactWriter, node: str | None, timeout_us: int, tick_us: int) -> Iterator[Fact]:
        """Yield the measured clocks and the stalls; a stall begins up to two ticks before the heartbeats became late.

        ``timeout_us`` and ``tick_us`` are in us. Followers can miss a leader that stalls for their ``timeout_us``. It
        writes and sends in the loop that beats, so it commits nothing meanwhile (``etcdserver/raft.go``,
        ``raftNode#start``).
        """
        for event in self.drifts:
            yield from _measured(emit, event)
        for stall, late_us in self._stalls(min(timeout_us, Timeout.MIN_REPORTED.us)):
            latest = stall.at - late_us
            earliest = latest - 2 * tick_us
            during = emit.during(node, earliest, latest, None, stall.at, stall.by, stall.event_id)
            if late_us >= timeout_us:
                yield Silence(*during, noticed=True)
            yield RefusedWrites(*during, why=Refusal.STOOD_STILL.value, count=1, peer=None, evidence=())

    def _stalls(self, least_us: int) -> Iterator[tuple[FoldEvent, int]]:
        """Yield (line, lateness in us) of each stall of at least ``least_us``."""
        noted: FoldEvent | None = None
        for event in self.late:
            late_us = (event.duration_ms or 0) * US_PER_MS
            again = noted is not None and event.at - noted.at < late_us  # printed once for each peer
            if event.duration_ms is not None and late_us >= least_us and not again:
                noted = event
                yield event, late_us


def _measured(emit: FactWriter, event: FoldEvent) -> Iterator[ClockMeasured]:
    """Yield what a probe measured; etcd prints it where its own clock is more than a second ahead.

    Releases up to 3.4 print the two numbers in each other's place, so the larger one is taken as the difference. If
    both exceed a second, nothing tells them apart (``rafthttp/probing_status.go``).
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
