"""What the facts of a Bully group must satisfy: the highest node that lives leads, and it alone."""

from collections.abc import Iterator

from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Row
from election_replay.election_core.protocols.bully.log import PROTOCOL
from election_replay.election_core.protocols.highest_id import rules as highest_id
from election_replay.election_core.protocols.highest_id.id_order import rank

__all__ = ["PROTOCOL", "judge"]

_WORDS = highest_id.Words(RuleId.BULLY_NOT_HIGHEST, "coordinator", lambda node, other: rank(other) > rank(node))


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """All rows of one Bully group."""
    return highest_id.judge(facts, clocks, _WORDS)
