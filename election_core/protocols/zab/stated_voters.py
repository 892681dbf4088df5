"""How many servers vote, as far as the lines of one ZooKeeper server say it: no line names them all.

Have quorum of supporters, sids: [1, 2]                   they are a majority when it begins: at most three vote
Not sufficient followers synced, only synced with [2]     it is none: at least two vote
QuorumHierarchical - 5, 5, 3                              groups: majorities do not count
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import VotersStated
from election_replay.election_core.model.fold_event import FoldEvent


@dataclass(slots=True)
class Bounds:
    """At least and at most so many servers vote in ``epoch``; all null: from here on others do."""

    epoch: int | None
    least: int | None
    most: int | None
    event: FoldEvent


@dataclass(slots=True)
class StatedVoters:
    """What one log says of the voters of its ensemble."""

    bounds: list[Bounds] = field(default_factory=list)
    groups: FoldEvent | None = None

    def accepted(
        self, epoch: int, supporters: Collection[str] | None, heard: Collection[str], event: FoldEvent
    ) -> None:
        """A leader was established by its supporters, a majority, in whose election it heard of all these."""
        if supporters:
            self.bounds.append(Bounds(epoch, len(heard), 2 * len(set(supporters)) - 1, event))

    def too_few(self, epoch: int | None, event: FoldEvent) -> None:
        """A leader gave up with the servers that the line names; releases before 3.4.7 print half of the voters."""
        if epoch is None:
            return
        if event.members:
            self.bounds.append(Bounds(epoch, 2 * len(set(event.members)), None, event))
        elif event.count is not None:
            self.bounds.append(Bounds(epoch, 2 * event.count, 2 * event.count + 1, event))

    def changed(self, event: FoldEvent) -> None:
        """Others vote from here on."""
        self.bounds.append(Bounds(None, None, None, event))

    def in_groups(self, event: FoldEvent) -> None:
        """Servers vote in groups, and no line says who is where (``QuorumHierarchical``)."""
        self.groups = self.groups or event

    def facts(self, emit: FactWriter) -> Iterator[VotersStated]:
        """All of it."""
        for bounds in self.bounds:
            least, most = bounds.least, bounds.most
            yield VotersStated(*emit.at(bounds.event), term=bounds.epoch, voters_least=least, voters_most=most)
        if self.groups is not None:
            yield VotersStated(*emit.at(self.groups), groups=self.groups.count)
