"""The end of one server's log by its own lines, and starts at which it ended earlier than before."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import LeaderLog, LogEndedEarlier
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.protocols.zab.facts import DiffSkips, LearnerCompared, Truncated
from election_replay.election_core.protocols.zab.tables import COUNTER_BITS


@dataclass(slots=True)
class Cut:
    """A log that had ended at ``log_end`` was cut after ``to`` (zxids), on the order of ``leader``."""

    leader: str | None
    log_end: int | None
    to: int
    event: FoldEvent


@dataclass(slots=True)
class ReachedEnd:
    """The last entry (zxid) that the log is known to hold, with the line that shows it; and the leaders' cuts."""

    cuts: list[Cut] = field(default_factory=list)
    _ends: list[tuple[int, FoldEvent]] = field(default_factory=list)
    _reached: tuple[int, FoldEvent] | None = None
    _synced: tuple[int, FoldEvent] | None = None
    _back: list[tuple[int, FoldEvent, int, FoldEvent]] = field(default_factory=list)
    _diff: int | None = None
    _skips: list[tuple[int | None, int, int, FoldEvent]] = field(default_factory=list)
    _compared: list[tuple[str | None, int, int, FoldEvent]] = field(default_factory=list)

    def note(self, end: int | None, event: FoldEvent, *, started: bool) -> None:
        """Take the printed end of the log; right after a start it may not be earlier than before. The first zxid of an
        epoch is in no log: an established leader prints it (``Leader#startZkServer``)."""
        if end is None:
            return
        if started and self._reached is not None and end < self._reached[0]:
            self._back.append((*self._reached, end, event))
            self._reached = None
        self._synced = None
        if end % (1 << COUNTER_BITS):
            self._reached = end, event
            self._ends.append(self._reached)

    def synchronising(self, zxid: int | None, event: FoldEvent) -> None:
        """Take that the leader brings the server's data to ``zxid``; a snapshot or a cut log may end earlier."""
        self._synced = (zxid, event) if zxid is not None and zxid % (1 << COUNTER_BITS) else None
        self._diff = zxid if event.result == "diff" else None
        if event.result != "diff":
            self._reached = None

    def proposed(self, zxid: int | None, expected: int | None, event: FoldEvent) -> None:
        """Take an entry that is not the next one. A learner expects 1 as the first one of a diff, and as the first one
        after it, which is beyond the diff (``Learner#syncWithLeader``, ``Follower#processPacket``)."""
        if zxid is not None and expected is not None and self._diff is not None and zxid <= self._diff:
            self._skips.append((expected - 1 if expected > 1 else None, zxid, self._diff, event))

    def compared(self, learner: str | None, ends: int | None, to: int | None, event: FoldEvent) -> None:
        """Take that this server, a leader, found where the log of a learner ``ends``, and brings it ``to`` a zxid."""
        if ends and to is not None and ends < to:
            self._compared.append((learner, ends, to, event))

    def in_step(self) -> None:
        """Take that the server has everything its leader sent (``Learner#syncWithLeader``)."""
        if self._synced is not None and (self._reached is None or self._reached[0] < self._synced[0]):
            self._reached = self._synced

    def facts(
        self, emit: FactWriter
    ) -> Iterator[LogEndedEarlier | LeaderLog | Truncated | LearnerCompared | DiffSkips]:
        """Yield where the log ended as elections began, starts at which it ended earlier than it had reached, the cuts,
        and how it and its learners were brought up to date."""
        for end, event in self._ends:
            yield LeaderLog(*emit.at(event), term=end >> COUNTER_BITS, to_index=end)
        for before, shown, after, event in self._back:
            yield LogEndedEarlier(*emit.at(event), before=before, after=after, evidence=(shown.event_id,))
        for cut in self.cuts:
            yield Truncated(*emit.at(cut.event), peer=cut.leader, from_index=cut.log_end, to_index=cut.to)
        for learner, ends, to, event in self._compared:
            yield LearnerCompared(*emit.at(event), peer=learner, from_index=ends, to_index=to)
        for last, zxid, to, event in self._skips:
            yield DiffSkips(*emit.at(event), before=last, after=zxid, to_index=to)
