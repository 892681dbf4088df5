"""What was logged at one member because of what was logged at another: it ties their clocks together.

Only what holds for incomplete logs counts. A line may have been dropped and a log may begin anywhere, so the first
line found is not always the first one written: a node may win one term twice, and a node that lost its ``currterm``
file, or got an old copy of it, raises itself to one term twice.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from election_core.fold.roles import FOLLOWER, LEADER
from election_core.judge.clock import Message, Moment
from election_core.judge.group import since
from election_core.model.facts import Alive, Fact, Role, TermRaised, TermWentBack, VoteGranted
from election_core.model.timing import Timeout
from election_core.protocols.dledger.log import PROTOCOL, TRANSFER

AT_ONCE = Timeout.DLEDGER_AT_ONCE.us
"""A leader that was elected so soon after it had raised its term cannot have won that term before: it would have
lost its quorum first, which takes more than ``maxHeartBeatLeak`` heartbeats, or a failed round of 2 s."""

Raises = dict[tuple[str | None, int | None], Moment]
"""Node and term -> when the node's own log first says that it raised itself to the term."""


def messages(own: Iterable[Fact]) -> Iterator[Message]:
    """Causal pairs: a follower follows after its leader reached the term; a vote counts after the voter did.

    A voter grants a vote only in a term that it reached before (``handleVote``: REJECT_TERM_NOT_READY first).
    """
    own = list(own)
    raised = raises(own)
    led = _led(own, raised)
    begins = _begins(own)
    for fact in own:
        if isinstance(fact, Role) and fact.role == FOLLOWER and fact.cause == "heartbeat":
            cause = led.get((fact.leader, fact.term))
        elif isinstance(fact, VoteGranted):
            cause = raised.get((fact.voter, fact.term))
        else:
            continue
        if cause is not None and not _of_an_earlier_life(fact, cause, begins):
            yield Message(cause, since(fact))


def _begins(own: list[Fact]) -> dict[str, list[int]]:
    """When the lives of each DLedger member's process began, by its own clock, in order."""
    begun: dict[str, set[int]] = {}
    for fact in own:
        if isinstance(fact, Alive) and fact.protocol == PROTOCOL:
            begun.setdefault(fact.source_node, set()).add(fact.since)
    return {source: sorted(times) for source, times in begun.items()}


def _of_an_earlier_life(effect: Fact, cause: Moment, begins: dict[str, list[int]]) -> bool:
    """Whether the effect was seen in an earlier life of the process that logged the cause.

    A process that lost its ``currterm`` file comes to a term again, and the lines of the first time may be missing.
    """
    lives = begins.get(cause.source, [])
    last = bisect_right(lives, cause.at) - 1
    return last > 0 and lives[0] <= effect.since_by < lives[last]


def raises(own: list[Fact]) -> Raises:
    """Raises that no other raise of the same node to the same term can have come before."""
    raised: dict[tuple[str, int], Moment] = {}
    for fact in own:
        if isinstance(fact, TermRaised) and fact.node is not None:
            key = (fact.node, fact.term)
            raised[key] = min(raised.get(key, since(fact)), since(fact))
    forgot = _forgotten(own)
    return {key: moment for key, moment in raised.items() if key[1] > forgot.get(key[0], -1)}


def _forgotten(own: list[Fact]) -> dict[str, int]:
    """The largest term that each node is known to have forgotten: it went back, or voted for two in one term."""
    forgot: dict[str, int] = {}
    voted: dict[tuple[str, int], str | None] = {}
    for fact in own:
        node, term = fact.node, None
        if isinstance(fact, TermWentBack):
            term = fact.before
        elif isinstance(fact, VoteGranted):
            node = fact.voter
            if voted.setdefault((node, fact.term), fact.node) != fact.node:
                term = fact.term
        if node is not None and term is not None:
            forgot[node] = max(forgot.get(node, -1), term)
    return forgot


def _led(own: list[Fact], raised: Raises) -> Raises:
    """When each leader of each term can first have sent heartbeats: at its election where that was its first one.

    Raft proper (JRaft) raises the term for every election, so that none is won twice; DLedger does not.
    """
    led = dict(raised)
    for fact in own:
        if not isinstance(fact, Role) or fact.role != LEADER or fact.cause not in ("elected", TRANSFER):
            continue
        key = (fact.node, fact.term)
        if fact.protocol != PROTOCOL or _at_once(raised.get(key), fact):
            led[key] = since(fact)
    return led


def _at_once(raised: Moment | None, elected: Role) -> bool:
    return raised is not None and raised.source == elected.source_node and 0 <= elected.since - raised.at <= AT_ONCE
