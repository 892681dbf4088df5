"""Token Ring: what the nodes of a ring say in canonical events.

Two forms go by that name. With one id in the message (Chang and Roberts, 1979) a node passes on the larger of the id
it got and its own; the id that comes home leads. With a growing list (the form of most textbooks) each node adds
itself, and the node that finds itself in the list names the largest id of it. Then the result goes round once.
"""

from collections.abc import Mapping

from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.protocols.highest_id.facts import ELECTION, RESULT
from election_replay.election_core.protocols.highest_id.id_order import higher, highest
from election_replay.election_core.protocols.highest_id.log import CoordinatorLog, Move, NodeLog

PROTOCOL = "token_ring"


def _on_election_sent(log: NodeLog, event: FoldEvent) -> None:
    """Only an own id at the head of the message makes a candidate; all others pass it on."""
    log.sends(event, ELECTION, _ids(event))
    log.joins(event)
    head = event.members[0] if event.members else event.value
    if head is not None and head == event.node:
        log.asks(event)


def _on_election_received(log: NodeLog, event: FoldEvent) -> None:
    log.hears(event, ELECTION, _ids(event))
    log.joins(event)


def _on_elected(log: NodeLog, event: FoldEvent) -> None:
    """The result passes by; a list that comes with it says who took part."""
    leader = event.value
    if leader is None:
        return
    above = higher(leader, event.members or ())
    if above and event.members:
        claim = f"named {leader} as leader of a ring in which {highest(above)} took part"
        log.wrong.append((event.members[0], claim, event))
    if leader == event.node:
        log.leads(event, event.members)
    else:
        log.follows(event, leader)


def _on_elected_sent(log: NodeLog, event: FoldEvent) -> None:
    log.sends(event, RESULT, event.value)
    _on_elected(log, event)


def _on_elected_received(log: NodeLog, event: FoldEvent) -> None:
    log.hears(event, RESULT, event.value)
    _on_elected(log, event)


def _ids(event: FoldEvent) -> str:
    return event.value or " ".join(event.members or ())


def _on_nothing(log: NodeLog, event: FoldEvent) -> None:
    """The move changes no role."""


MOVES: Mapping[str, Move] = {
    "RING_START": NodeLog.started,
    "RING_STOP": NodeLog.stopped,
    "RING_SUSPECT": NodeLog.suspects,
    "RING_ELECTION_SENT": _on_election_sent,
    "RING_ELECTION_RECEIVED": _on_election_received,
    "RING_ELECTION_DROPPED": _on_nothing,
    "RING_ELECTED_SENT": _on_elected_sent,
    "RING_ELECTED_RECEIVED": _on_elected_received,
    "RING_SKIPPED": NodeLog.did_not_arrive,
}
"""What each event means for the node that says it."""

KINDS = frozenset(MOVES)


def ring_log() -> CoordinatorLog:
    """The state machine of one file of ring events."""
    return CoordinatorLog(PROTOCOL, MOVES)
