"""Introductions: lines in which sources describe themselves and each other, from which all together reveal a group.

The logs of some systems never name their group: a Redis server knows neither the name under which sentinels watch it
nor its own address. Others know both. So introductions are read before the fold, from all sources of a cluster
together, and each source gets the member that it speaks for.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Introduction:
    """The content of an introducing line; ``at`` is in us UTC on the clock of the machine that wrote it."""

    source_node: str
    stream: str
    kind: str
    at: int
    replica_group: str | None = None
    node: str | None = None
    peer: str | None = None
    address: str | None = None
    peer_address: str | None = None
    value: str | None = None
    value_before: str | None = None
    setting: str | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Introduced:
    """The group and member that a log speaks for, by all logs of its cluster together. ``names`` maps addresses to
    members with names of their own; ``groups`` maps members to groups; ``moves`` lists when members changed their group
    (us UTC, each by its own clock), in order."""

    replica_group: str
    member: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    moves: Mapping[str, Sequence[tuple[int, str]]] = field(default_factory=dict)

    def group_at(self, member: str | None, time: int, otherwise: str) -> str:
        """Return the group of a member at a time in us UTC; ``otherwise`` if it is unknown."""
        moved = [group for at, group in self.moves.get(member or "", ()) if at <= time]
        return moved[-1] if moved else self.groups.get(member or "", otherwise)


Place = tuple[str, str]
"""A source and a stream."""

Introduce = Callable[[Iterable[Introduction]], Mapping[Place, Introduced]]
"""Maps the introductions of one cluster to the member that each of its logs speaks for."""
