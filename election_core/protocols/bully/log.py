"""Bully: what the nodes of a group say in canonical events.

Source: Garcia-Molina, "Elections in a Distributed Computing System" (1982). A node that misses its leader, or starts,
asks every higher one whether it lives. An answer (OK) makes it wait for the leader's announcement; without an answer
in time it leads, and says so (COORDINATOR). A node that hears of a lower leader holds an election.
"""

from collections.abc import Mapping

from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.protocols.highest_id.facts import ELECTION, RESULT
from election_replay.election_core.protocols.highest_id.id_order import rank
from election_replay.election_core.protocols.highest_id.log import CoordinatorLog, Move, NodeLog

PROTOCOL = "bully"


def _on_election_sent(log: NodeLog, event: FoldEvent) -> None:
    log.sends(event, ELECTION)
    log.asks(event, event.peer)


def _on_election_received(log: NodeLog, event: FoldEvent) -> None:
    log.hears(event, ELECTION)


def _on_coordinator_sent(log: NodeLog, event: FoldEvent) -> None:
    log.sends(event, RESULT, event.node)
    log.leads(event)


def _on_coordinator_received(log: NodeLog, event: FoldEvent) -> None:
    log.hears(event, RESULT, event.peer)
    if event.peer is not None and event.node is not None and rank(event.peer) < rank(event.node):
        log.refuses(event)
    else:
        log.follows(event, event.peer)


def _on_nothing(log: NodeLog, event: FoldEvent) -> None:
    """The move changes no role."""


MOVES: Mapping[str, Move] = {
    "BULLY_START": NodeLog.started,
    "BULLY_STOP": NodeLog.stopped,
    "BULLY_SUSPECT": NodeLog.suspects,
    "BULLY_ELECTION_SENT": _on_election_sent,
    "BULLY_ELECTION_RECEIVED": _on_election_received,
    "BULLY_OK_SENT": _on_nothing,
    "BULLY_OK_RECEIVED": NodeLog.hears,
    "BULLY_OK_TIMEOUT": _on_nothing,
    "BULLY_COORDINATOR_SENT": _on_coordinator_sent,
    "BULLY_COORDINATOR_RECEIVED": _on_coordinator_received,
    "BULLY_COORDINATOR_TIMEOUT": _on_nothing,
}
"""What each event means for the node that says it."""

KINDS = frozenset(MOVES)


def bully_log() -> CoordinatorLog:
    """The state machine of one file of Bully events."""
    return CoordinatorLog(PROTOCOL, MOVES)
