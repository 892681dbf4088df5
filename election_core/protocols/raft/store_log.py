"""One etcd member's lines about its data: its end, differences from other members' data, and refused writes.

Source: etcd ``server/etcdserver/corrupt.go``, ``server/etcdserver/txn/util.go``, ``server/storage/mvcc/kvstore.go``,
``server/etcdserver/bootstrap.go``; etcd-io/raft ``raft.go``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import Fact, LogEndedEarlier, RefusedWrites
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.measures import Refusal
from election_replay.election_core.model.timing import US_PER_MS, Timeout
from election_replay.election_core.protocols.raft.facts import ForcedRestart, StoresDiffered

RESTORED, REFUSED, DISCARDED, FORCED, SYNCED_LATE = (
    "ETCD_STORE_RESTORED",
    "ETCD_APPLY_FAILED",
    "ETCD_WAL_DISCARDED",
    "ETCD_MEMBER_FORCED",
    "ETCD_FSYNC_SLOW",
)
DIFFERS = frozenset({"ETCD_HASH_MISMATCH", "ETCD_FOLLOWER_AHEAD"})
CUT = frozenset({"RAFT_CONFLICT", "RAFT_TAIL_CUT", "RAFT_COMMITTED_CONFLICT", "RAFT_LOG_LOST"})
KINDS = frozenset({RESTORED, REFUSED, DISCARDED, FORCED, SYNCED_LATE, *DIFFERS, *CUT})
"""The events that only this part of the fold reads."""

START = "RAFT_START"
_DURABLE = Timeout.ETCD_AT_ONCE.us
"""Entries that a member printed that long ago (us) are on its disk: it writes them before it answers."""
_EPISODE = Timeout.WRITE_EPISODE.us
_WHY = {"etcdserver: no space": Refusal.NO_SPACE, "etcdserver: corrupt cluster": Refusal.CORRUPT}
"""Errors with which a member refuses every write, by their text; other errors concern one request."""


@dataclass(slots=True)
class Episode:
    """Consecutive lines that say the same; what the first one reports had begun ``early`` us before it."""

    first: FoldEvent
    last: FoldEvent
    count: int = 1
    early: int = 0


@dataclass(slots=True)
class StoreLog:
    """The state machine of one member's data; ``on`` takes its lines in program order."""

    restored: list[FoldEvent] = field(default_factory=list)
    first: FoldEvent | None = None
    last: FoldEvent | None = None
    _end: tuple[tuple[int, int], FoldEvent] | None = None
    _unwritten: tuple[tuple[int, int], FoldEvent] | None = None
    _back: list[tuple[tuple[int, int], tuple[int, int], FoldEvent, FoldEvent]] = field(default_factory=list)
    _forced: list[tuple[FoldEvent, FoldEvent | None]] = field(default_factory=list)
    _discarded: FoldEvent | None = None
    _differs: dict[str | None, Episode] = field(default_factory=dict)
    _refused: list[tuple[Refusal, Episode]] = field(default_factory=list)
    _hung: list[Episode] = field(default_factory=list)

    def on(self, event: FoldEvent) -> None:
        """Take the next line that this member wrote."""
        self._goes_on(event)
        if event.kind == START:
            self._starts(event)
        elif event.kind in CUT:
            self._end = self._unwritten = None
        elif event.kind in DIFFERS:
            spell = self._differs.setdefault(event.peer, Episode(event, event, 0))
            spell.last, spell.count = event, spell.count + 1
        elif event.kind == RESTORED and event.state_version is not None:
            self.restored.append(event)
        elif event.kind == REFUSED:
            self._on_refused(event)
        elif event.kind == SYNCED_LATE:
            self._on_synced_late(event)
        elif event.kind == DISCARDED:
            self._discarded = event
        elif event.kind == FORCED:
            self._forced.append((event, self._discarded))
            self._end = self._unwritten = None
        elif event.ledger_end is not None and event.ledger_end_term is not None:
            self._unwritten = (event.ledger_end_term, event.ledger_end), event

    def _goes_on(self, event: FoldEvent) -> None:
        """Note the first and last line that names the member or its cluster, and entries that are on disk by now."""
        if event.node is not None or event.cluster_name is not None:
            self.first, self.last = self.first or event, event
        if self._unwritten is not None and event.at - self._unwritten[1].by >= _DURABLE:
            self._end, self._unwritten = self._unwritten, None

    def _starts(self, event: FoldEvent) -> None:
        """Take a start, at which the member reads its log: the end (term, index) of its last entry never goes back. A
        leader may cut it, and the log says so; entries not yet written when a process ended are not counted."""
        if event.ledger_end is None or event.ledger_end_term is None:
            return
        end = event.ledger_end_term, event.ledger_end
        if self._end is not None and end < self._end[0] and self._discarded is None:
            self._back.append((self._end[0], end, self._end[1], event))
        self._end, self._unwritten, self._discarded = (end, event), None, None

    def _on_refused(self, event: FoldEvent) -> None:
        why = _WHY.get(event.result or "")
        if why is None:
            return
        spell = next((spell for known, spell in reversed(self._refused) if known == why), None)
        if spell is not None and event.at - spell.last.by <= _EPISODE:
            spell.last, spell.count = event, spell.count + 1
        else:
            self._refused.append((why, Episode(event, event)))

    def _on_synced_late(self, event: FoldEvent) -> None:
        """Take that entries are durable at last: the member did nothing else meanwhile (``WAL#sync``,
        ``raftNode#start``)."""
        took = (event.duration_ms or 0) * US_PER_MS
        last = self._hung[-1] if self._hung else None
        if last is not None and event.at - took - last.last.by < Timeout.MIN_REPORTED.us:
            last.last, last.count = event, last.count + 1
        elif took >= Timeout.MIN_REPORTED.us:
            self._hung.append(Episode(event, event, early=took))

    def facts(self, emit: FactWriter, node: str | None) -> Iterator[Fact]:
        """Yield what the lines prove about the member's data."""
        for before, after, shown, event in self._back:
            yield LogEndedEarlier(*emit.at(event), before=before[1], after=after[1], evidence=(shown.event_id,))
        for event, discarded in self._forced:
            yield ForcedRestart(
                *emit.at(event),
                count=discarded.count if discarded is not None else None,
                evidence=(discarded.event_id,) if discarded is not None else (),
            )
        for peer, spell in self._differs.items():
            yield StoresDiffered(*emit.about(node, spell.first, spell.last), peer=peer, count=spell.count)
        for why, spell in (*self._refused, *((Refusal.DISK_HANGS, spell) for spell in self._hung)):
            begin = spell.first.at - spell.early, spell.first.by - spell.early, spell.first.event_id
            end = spell.last.at, spell.last.by, spell.last.event_id
            refused = emit.during(node, *begin, *end)
            yield RefusedWrites(*refused, why=why.value, count=spell.count, peer=None, evidence=())
