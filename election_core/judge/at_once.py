"""Which roles of one log may have been held at once with a role of another: found without looking at all of them."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from election_replay.election_core.judge.clock import Clocks, Moment
from election_replay.election_core.judge.group import since, until
from election_replay.election_core.model.facts import Role


@dataclass(frozen=True, slots=True)
class OfOneLog:
    """Some roles of one log in the order in which they began, each with the latest end of it and those before."""

    roles: Sequence[Role]
    latest: Sequence[Moment | None]

    @classmethod
    def of(cls, roles: Iterable[Role]) -> "OfOneLog":
        """Put roles of one log in order."""
        ordered = sorted(roles, key=lambda role: (role.since, role.since_by, role.ordinal))
        latest: list[Moment | None] = []
        for role in ordered:
            end = until(role)
            before = latest[-1] if latest else end
            latest.append(None if end is None or before is None else max(before, end))
        return cls(ordered, latest)

    def near(self, role: Role, clocks: Clocks) -> Sequence[Role]:
        """Those that are neither surely before nor surely after ``role``, and perhaps more.

        What surely came before stands before all that may not have, and what surely came after stands behind: so it is
        as long as no clock was set. Where one was, it is all of them.
        """
        if not (clocks.never_set(role.source_node) and clocks.never_set(self.roles[0].source_node)):
            return self.roles
        begin, end = since(role), until(role)
        first = bisect_left(self.latest, 1, key=lambda latest: _not_surely_before(latest, begin, clocks))
        last = len(self.roles)
        if end is not None:
            last = bisect_left(self.roles, 1, key=lambda other: int(clocks.elapsed(end, since(other))[0] > 0))
        return self.roles[first:last]


def _not_surely_before(end: Moment | None, begin: Moment, clocks: Clocks) -> int:
    return int(end is None or clocks.elapsed(end, begin)[0] <= 0)
