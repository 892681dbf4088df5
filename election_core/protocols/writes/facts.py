"""Facts about answers to writes."""

from dataclasses import dataclass

from election_replay.election_core.model.facts import Fact


@dataclass(slots=True, unsafe_hash=True)
class AnsweredTooLate(Fact):
    """A broker answered ``count`` writes, which it had stored, after their clients had given up or left.

    It begins with the first of these answers, or with the first put meanwhile that took more than half a second; the
    slowest put took ``slowest_ms`` (null: no such put). ``unconfirmed`` of the writes were stored without the flush, or
    the copies, that were asked for; ``refused`` more were not stored, and answered as late.
    """

    count: int
    slowest_ms: int | None
    unconfirmed: int
    refused: int
    evidence: tuple[str, ...]
