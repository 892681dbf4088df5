"""Introductions: lines in which sources tell of themselves and of each other, so that all together tell a group.

Some systems' logs never say to which group they belong: a server of Redis knows neither the name under which sentinels
watch it nor its own address. Others know both. So the lines that introduce somebody are read before the fold, of all
sources of a cluster together, and each source is told whom it speaks for.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Introduction:
    """What such a line says; ``at`` is microseconds UTC on the clock of the machine that wrote it."""

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
    """Whom a log speaks for, as all logs of its cluster tell together.

    ``names`` are members by their addresses, where they have names beside these; ``groups`` those of members, and
    ``moves`` when members went over to other groups (microseconds UTC, each on its own clock), in order.
    """

    replica_group: str
    member: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    moves: Mapping[str, Sequence[tuple[int, str]]] = field(default_factory=dict)

    def group_at(self, member: str | None, time: int, otherwise: str) -> str:
        """The group of a member at a time, in microseconds UTC."""
        moved = [group for at, group in self.moves.get(member or "", ()) if at <= time]
        return moved[-1] if moved else self.groups.get(member or "", otherwise)


Place = tuple[str, str]
"""A source and a stream."""

Introduce = Callable[[Iterable[Introduction]], Mapping[Place, Introduced]]
"""From the introductions of one cluster to whom each of its logs speaks for."""
