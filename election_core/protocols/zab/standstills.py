"""Standstills of a ZooKeeper server, found by its monitoring commands and its JVM.

srvr  |  |  |  |                  ||||||  |  |  |    asked every second; those of the gap are all answered at its end
srvr  |  |  |  |                  |  |  |  |         no request in the gap: the server may have run

Source: apache/zookeeper ``NIOServerCnxn#checkFourLetterWord``: a command is printed as it is read. The kernel takes
connections also for a process that does not run.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import RefusedWrites
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.measures import Refusal
from election_replay.election_core.model.timing import US_PER_MS, Timeout

BURST = 3
"""So many of one command within ``AT_ONCE_US`` were sent earlier, if the same client sent them one by one before."""
AT_ONCE_US = 200 * US_PER_MS
"""The time in which a server that resumes reads all requests that arrived in the meantime."""


@dataclass(frozen=True, slots=True)
class Standstill:
    """A standstill of a server: it began in [``since``, ``since_by``], in us of its own clock, and ended at the line
    ``end``."""

    since: int
    since_by: int
    begin_event: str | None
    end: FoldEvent


@dataclass(slots=True)
class _Asker:
    """One command from one host: its last line, the usual times between lines, and the gap that may be a standstill."""

    last: FoldEvent
    apart: list[int] = field(default_factory=list)
    before: FoldEvent | None = None
    first: FoldEvent | None = None
    count: int = 0


@dataclass(slots=True)
class Standstills:
    """The standstills that the log of one server shows."""

    every: list[Standstill] = field(default_factory=list)
    _askers: dict[tuple[str | None, str], _Asker] = field(default_factory=dict)
    _read: int = 0

    def starts(self) -> None:
        """Forget all requests: another process begins."""
        self._askers.clear()

    def ran(self, event: FoldEvent) -> None:
        """Note that the server ran: it printed a line other than a command."""
        self._read = event.at

    def paused(self, event: FoldEvent) -> None:
        """Add a pause that the process reports itself (``JvmPauseMonitor``, which looks twice a second)."""
        lasted = (event.duration_ms or 0) * US_PER_MS
        if lasted >= Timeout.MIN_REPORTED.us:
            since = event.at - lasted
            self.every.append(Standstill(since - Timeout.JVM_PAUSE_LOOK.us, since, None, event))

    def asked(self, event: FoldEvent) -> None:
        """Take a command that the server answers. A burst after a gap is a standstill: all were sent during the gap."""
        key = event.setting, (event.peer_address or "").rpartition(":")[0]
        asker = self._askers.get(key)
        if asker is None:
            self._askers[key] = _Asker(event)
            return
        gap, asker.last, before = event.at - asker.last.at, event, asker.last
        if asker.first is not None and event.at - asker.first.at <= AT_ONCE_US:
            asker.count += 1
            self._note(asker)
            return
        asker.first = None
        usual = max(asker.apart, default=0)
        if len(asker.apart) == BURST and gap >= max(2 * usual, Timeout.MIN_REPORTED.us):
            asker.before, asker.first, asker.count = before, event, 1
        else:
            asker.apart = [*asker.apart, gap][-BURST:]

    def _note(self, asker: _Asker) -> None:
        before, first = asker.before, asker.first
        if asker.count != BURST or before is None or first is None or before.at < self._read < first.at:
            return
        due = before.by + max(asker.apart)  # the next command, and all after it, came while it stood still
        if due < first.at:
            self.every.append(Standstill(before.at, due, before.event_id, first))

    def facts(self, emit: FactWriter, node: str | None) -> Iterator[RefusedWrites]:
        """Yield one fact for each standstill: the server takes no writes during it."""
        for still in self.every:
            ends = still.end.at, still.end.by, still.end.event_id
            during = emit.during(node, still.since, still.since_by, still.begin_event, *ends)
            yield RefusedWrites(*during, why=Refusal.STOOD_STILL.value, count=1, peer=None, evidence=())
