"""What was logged at one member because of what was logged at another: it ties their clocks together.

Only what holds for incomplete logs counts. A line may have been dropped and a log may begin anywhere, so the first
line found is not always the first one written: a node may win one term twice, and a node that lost its ``currterm``
file, or got an old copy of it, raises itself to one term twice.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from election_replay.election_core.fold.roles import FOLLOWER, LEADER, TRANSFER
from election_replay.election_core.judge.clock import Message, Moment
from election_replay.election_core.judge.group import since
from election_replay.election_core.model.facts import Fact, Role, VoteGranted
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.dledger.log import PROTOCOL
from election_replay.election_core.protocols.raft_family.causality import (
    Raises,
    of_two_machines,
    process_begins,
    raises,
)

AT_ONCE = Timeout.DLEDGER_AT_ONCE.us
"""A leader that was elected so soon after it had raised its term cannot have won that term before: it would have
lost its quorum first, which takes more than ``maxHeartBeatLeak`` heartbeats, or a failed round of 2 s."""


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """A follower follows after its leader reached the term; a vote counts after the voter did.

    A voter grants a vote only in a term that it reached before (``handleVote``: REJECT_TERM_NOT_READY first).
    """
    facts = list(facts)
    raised = raises(facts)
    led = _led(facts, raised)
    begins = process_begins(facts, PROTOCOL)
    for fact in facts:
        if isinstance(fact, Role) and fact.role == FOLLOWER and fact.cause == "heartbeat":
            cause = led.get((fact.leader, fact.term))
        elif isinstance(fact, VoteGranted):
            cause = raised.get((fact.voter, fact.term))
        else:
            continue
        if cause is not None and not _of_an_earlier_life(fact, cause, begins):
            yield Message(cause, since(fact))


def _of_an_earlier_life(effect: Fact, cause: Moment, begins: dict[str, list[int]]) -> bool:
    """Whether the effect was seen in an earlier life of the process that logged the cause.

    A process that lost its ``currterm`` file comes to a term again, and the lines of the first time may be missing.
    """
    starts = begins.get(cause.source, [])
    last = bisect_right(starts, cause.at) - 1
    return last > 0 and starts[0] <= effect.since_by < starts[last]


def _led(facts: list[Fact], raised: Raises) -> Raises:
    """When each leader of each term can first have sent heartbeats: at its election where that was its first one.

    Raft proper (JRaft) raises the term for every election, so that none is won twice; DLedger does not.
    """
    led, doubled = dict(raised), of_two_machines(facts)
    for fact in facts:
        if not isinstance(fact, Role) or fact.role != LEADER or fact.cause not in ("elected", TRANSFER):
            continue
        if fact.node in doubled:
            continue
        key = (fact.node, fact.term)
        if fact.protocol != PROTOCOL or _at_once(raised.get(key), fact):
            led[key] = since(fact)
    return led


def _at_once(raised: Moment | None, elected: Role) -> bool:
    return raised is not None and raised.source == elected.source_node and 0 <= elected.since - raised.at <= AT_ONCE
