"""An index that finds the roles of one log that may overlap a role of another log."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from election_replay.election_core.judge.clock import Clocks, Moment
from election_replay.election_core.judge.group import since, until
from election_replay.election_core.model.facts import Role


@dataclass(frozen=True, slots=True)
class OfOneLog:
    """The roles of one log in the order in which they began, each with the latest end of it and all before it."""

    roles: Sequence[Role]
    latest: Sequence[Moment | None]

    @classmethod
    def of(cls, roles: Iterable[Role]) -> "OfOneLog":
        """Return the index of the roles of one log."""
        ordered = sorted(roles, key=lambda role: (role.since, role.since_by, role.ordinal))
        latest: list[Moment | None] = []
        for role in ordered:
            end = until(role)
            before = latest[-1] if latest else end
            latest.append(None if end is None or before is None else max(before, end))
        return cls(ordered, latest)

    def near(self, role: Role, clocks: Clocks) -> Sequence[Role]:
        """Return the roles that are neither surely before nor surely after ``role``, and perhaps more. The binary
        search is valid only for clocks that were never set; otherwise all roles are returned."""
        if not (clocks.never_set(role.source_node) and clocks.never_set(self.roles[0].source_node)):
            return self.roles
        begin, end = since(role), until(role)
        first = bisect_left(self.latest, 1, key=lambda latest: _not_surely_before(latest, begin, clocks))
        last = len(self.roles)
        if end is not None:
            last = bisect_left(self.roles, 1, key=lambda other: int(clocks.elapsed(end, since(other))[0] > 0))
        return self.roles[first:last]


def _not_surely_before(end: Moment | None, begin: Moment, clocks: Clocks) -> int:
    """Return 0 while an end is surely before ``begin``, else 1: a key for bisection."""
    return int(end is None or clocks.elapsed(end, begin)[0] <= 0)
