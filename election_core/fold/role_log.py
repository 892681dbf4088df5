"""The roles and the candidacies that a member tells of itself: what every protocol keeps of its lines."""

from dataclasses import dataclass, field

from election_replay.election_core.fold.campaign import Campaign
from election_replay.election_core.fold.roles import Step
from election_replay.election_core.model.fold_event import FoldEvent


@dataclass(slots=True)
class RoleLog:
    """What one member is and wants to be, line by line.

    ``open`` is its candidacy that nothing has ended yet; ``fresh``: no line has told a role since its start.
    """

    node: str | None = None
    steps: list[Step] = field(default_factory=list)
    campaigns: list[Campaign] = field(default_factory=list)
    open: Campaign | None = None
    fresh: bool = False

    @property
    def last(self) -> Step | None:
        """The role that the member has, if a line has told one."""
        return self.steps[-1] if self.steps and not self.fresh else None

    @property
    def role(self) -> str | None:
        """Its name."""
        return self.last.role if self.last is not None else None

    def takes(
        self, event: FoldEvent, role: str, term: int | None, leader: str | None, cause: str, at: int | None = None
    ) -> None:
        """The member has a role from a line on, or from ``at`` on. The same again is no change, but after a start."""
        last = self.last
        if last is None or cause == "start" or (last.role, last.term, last.leader) != (role, term, leader):
            begin = event.at if at is None else at
            self.steps.append(Step(begin, event.by, role, term, leader, event.event_id, cause, self.node))
            self.fresh = False

    def stands(self, event: FoldEvent, term: int | None, cause: str | None, since: FoldEvent | None = None) -> Campaign:
        """The member is a candidate, from its line or an earlier one on."""
        first = since or event
        self.open = Campaign(self.node, term, first.at, first.by, first.event_id, cause, rounds=1)
        self.campaigns.append(self.open)
        return self.open

    def begins(self) -> None:
        """A new process of the member: the candidacy that was open ended with the old one."""
        if self.open is not None:
            self.open.outcome = "abandoned"
        self.open = None

    def ends(self, event: FoldEvent, outcome: str) -> None:
        """A line ends the candidacy, if one is open."""
        if self.open is not None:
            self.open.close(event, outcome)
        self.open = None
