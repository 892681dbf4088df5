"""What the facts of a ring must satisfy: the highest id of those that live leads, and it alone."""

from collections.abc import Iterator

from election_core.clock import Clocks
from election_core.facts import Fact
from election_core.protocols import coordinator
from election_core.protocols.token_ring.log import PROTOCOL
from election_core.rows import Row

__all__ = ["PROTOCOL", "judge"]

_WORDS = coordinator.Words("RING_NOT_HIGHEST", "leader", lambda own, other: other != own)


def judge(own: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """All rows of one ring."""
    return coordinator.judge(own, clocks, _WORDS)
