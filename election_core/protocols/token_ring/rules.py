"""What the facts of a ring must satisfy: the highest id of those that live leads, and it alone."""

from collections.abc import Iterator

from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Row
from election_replay.election_core.protocols.highest_id import rules as highest_id
from election_replay.election_core.protocols.token_ring.log import PROTOCOL

__all__ = ["PROTOCOL", "judge"]

_WORDS = highest_id.Words(RuleId.RING_NOT_HIGHEST, "leader", lambda node, other: other != node)


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """All rows of one ring."""
    return highest_id.judge(facts, clocks, _WORDS)
