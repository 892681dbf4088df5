"""Bounds on the number of voters, by the lines of one ZooKeeper server: no line names all of them.

Have quorum of supporters, sids: [1, 2]                   a majority: at most three vote
Not sufficient followers synced, only synced with [2]     no majority: at least two vote
QuorumHierarchical - 5, 5, 3                              groups: majorities do not count
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import VotersStated
from election_replay.election_core.model.fold_event import FoldEvent


@dataclass(slots=True)
class Bounds:
    """In ``epoch``, between ``least`` and ``most`` servers vote; all None: the voters change at this line."""

    epoch: int | None
    least: int | None
    most: int | None
    event: FoldEvent


@dataclass(slots=True)
class StatedVoters:
    """The statements of one log about the voters of its ensemble."""

    bounds: list[Bounds] = field(default_factory=list)
    groups: FoldEvent | None = None

    def accepted(
        self, epoch: int, supporters: Collection[str] | None, heard: Collection[str], event: FoldEvent
    ) -> None:
        """Take a leader established by a majority, ``supporters``, after it heard all of ``heard`` in the election."""
        if supporters:
            self.bounds.append(Bounds(epoch, len(heard), 2 * len(set(supporters)) - 1, event))

    def too_few(self, epoch: int | None, event: FoldEvent) -> None:
        """Take a leader that gave up with the servers named in the line; before 3.4.7 half of the voters are
        printed."""
        if epoch is None:
            return
        if event.members:
            self.bounds.append(Bounds(epoch, 2 * len(set(event.members)), None, event))
        elif event.count is not None:
            self.bounds.append(Bounds(epoch, 2 * event.count, 2 * event.count + 1, event))

    def changed(self, event: FoldEvent) -> None:
        """Take a change of the voters."""
        self.bounds.append(Bounds(None, None, None, event))

    def in_groups(self, event: FoldEvent) -> None:
        """Take that servers vote in groups; no line prints their members (``QuorumHierarchical``)."""
        self.groups = self.groups or event

    def facts(self, emit: FactWriter) -> Iterator[VotersStated]:
        """Yield the bounds, and that servers vote in groups."""
        for bounds in self.bounds:
            least, most = bounds.least, bounds.most
            yield VotersStated(*emit.at(bounds.event), term=bounds.epoch, voters_least=least, voters_most=most)
        if self.groups is not None:
            yield VotersStated(*emit.at(self.groups), groups=self.groups.count)
