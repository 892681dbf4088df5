"""A member's roles and candidacies by its own lines, as every protocol keeps them."""

from dataclasses import dataclass, field

from election_replay.election_core.fold.campaign import Campaign
from election_replay.election_core.fold.roles import Step
from election_replay.election_core.model.fold_event import FoldEvent


@dataclass(slots=True)
class RoleLog:
    """The roles and campaigns of one member, line by line. ``open`` is its campaign that has not ended; ``fresh``: no
    line has shown a role since its start."""

    node: str | None = None
    steps: list[Step] = field(default_factory=list)
    campaigns: list[Campaign] = field(default_factory=list)
    open: Campaign | None = None
    fresh: bool = False

    @property
    def last(self) -> Step | None:
        """Return the member's present role; ``None`` if no line has shown one since its start."""
        return self.steps[-1] if self.steps and not self.fresh else None

    @property
    def role(self) -> str | None:
        """Return the name of the present role, or ``None``."""
        return self.last.role if self.last is not None else None

    @property
    def term(self) -> int | None:
        """Return the term of the present role, or ``None``."""
        return self.last.term if self.last is not None else None

    @property
    def leader(self) -> str | None:
        """Return the leader of the present role, or ``None``."""
        return self.last.leader if self.last is not None else None

    def takes(
        self, event: FoldEvent, role: str, term: int | None, leader: str | None, cause: str, at: int | None = None
    ) -> None:
        """Note a role from a line on, or from ``at`` on. A repetition is no change, except after a start."""
        last = self.last
        if last is None or cause == "start" or (last.role, last.term, last.leader) != (role, term, leader):
            begin = event.at if at is None else at
            self.steps.append(Step(begin, event.by, role, term, leader, event.event_id, cause, self.node))
            self.fresh = False

    def stands(self, event: FoldEvent, term: int | None, cause: str | None, since: FoldEvent | None = None) -> Campaign:
        """Note that the member is a candidate from this line, or from ``since`` on; return the campaign."""
        first = since or event
        self.open = Campaign(self.node, term, first.at, first.by, first.event_id, cause, rounds=1)
        self.campaigns.append(self.open)
        return self.open

    def begins(self) -> None:
        """Note a new process of the member: an open campaign ended with the old one."""
        if self.open is not None:
            self.open.outcome = "abandoned"
        self.open = None

    def ends(self, event: FoldEvent, outcome: str) -> None:
        """End the open campaign with a line, if there is one."""
        if self.open is not None:
            self.open.close(event, outcome)
        self.open = None
