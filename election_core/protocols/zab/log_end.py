"""How far the log of one server reached, by its own lines, and where it ended earlier at a start."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import LogEndedEarlier
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.protocols.zab.facts import Truncated
from election_replay.election_core.protocols.zab.tables import COUNTER_BITS


@dataclass(slots=True)
class Cut:
    """A log that had ended at ``log_end`` was cut after ``to`` (zxids), as ``leader`` wanted."""

    leader: str | None
    log_end: int | None
    to: int
    event: FoldEvent


@dataclass(slots=True)
class ReachedEnd:
    """The last entry that the log is known to hold, as a zxid, with the line that shows it; how leaders cut the log."""

    cuts: list[Cut] = field(default_factory=list)
    _reached: tuple[int, FoldEvent] | None = None
    _synced: tuple[int, FoldEvent] | None = None
    _back: list[tuple[int, FoldEvent, int, FoldEvent]] = field(default_factory=list)

    def note(self, end: int | None, event: FoldEvent, *, started: bool) -> None:
        """The server prints where its log ends, as the first thing after it ``started``, or later.

        The first zxid of an epoch stands in no log: there a leader is once established (``Leader#startZkServer``).
        """
        if end is None:
            return
        if started and self._reached is not None and end < self._reached[0]:
            self._back.append((*self._reached, end, event))
            self._reached = None
        self._synced = None
        if end % (1 << COUNTER_BITS):
            self._reached = end, event

    def synchronising(self, zxid: int | None, event: FoldEvent) -> None:
        """The leader brings the server's data to its own ``zxid``; a snapshot may end earlier, and so may a cut log."""
        self._synced = (zxid, event) if zxid is not None and zxid % (1 << COUNTER_BITS) else None
        if event.result != "diff":
            self._reached = None

    def in_step(self) -> None:
        """The server has what the leader sent (``Learner#syncWithLeader``)."""
        if self._synced is not None and (self._reached is None or self._reached[0] < self._synced[0]):
            self._reached = self._synced

    def facts(self, emit: FactWriter) -> Iterator[LogEndedEarlier | Truncated]:
        """Where the log ended earlier at a start than it had reached, and where it was cut."""
        for before, shown, after, event in self._back:
            yield LogEndedEarlier(*emit.at(event), before=before, after=after, evidence=(shown.event_id,))
        for cut in self.cuts:
            yield Truncated(*emit.at(cut.event), peer=cut.leader, from_index=cut.log_end, to_index=cut.to)
