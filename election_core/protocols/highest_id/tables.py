"""The algorithms in which the highest id leads, each a table of its events' effects.

Bully: Garcia-Molina, "Elections in a Distributed Computing System" (1982). A node that misses its leader, or starts,
asks every higher node whether it is alive. An answer (OK) makes it wait for the leader's announcement; without an
answer in time it leads, and announces that (COORDINATOR). A node that hears of a lower leader holds an election.

Ring: two forms have that name. With one id in the message (Chang and Roberts, 1979) a node passes on the larger of the
received id and its own; a node that receives its own id leads. With a growing list (the form of most textbooks) each
node adds itself, and a node that finds itself in the list names the largest id in it. Then the result goes round once.
"""

from collections.abc import Callable
from dataclasses import dataclass

from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.protocols.highest_id.id_order import rank
from election_replay.election_core.protocols.highest_id.log import Moves, NodeLog


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One algorithm: protocol name, effects of its events, rule, and its name for a leader. ``gives_way(node, other)``:
    of two leaders, ``node`` gives way to ``other``."""

    protocol: str
    moves: Moves
    rule: RuleId
    leader: str
    gives_way: Callable[[str, str], bool]


BULLY = Algorithm(
    "bully",
    {
        "BULLY_START": (NodeLog.started,),
        "BULLY_STOP": (NodeLog.stopped,),
        "BULLY_SUSPECT": (NodeLog.suspects,),
        "BULLY_ELECTION_SENT": (NodeLog.sends_election, NodeLog.asks),
        "BULLY_ELECTION_RECEIVED": (NodeLog.hears_election,),
        "BULLY_OK_SENT": (),
        "BULLY_OK_RECEIVED": (NodeLog.hears,),
        "BULLY_OK_TIMEOUT": (),
        "BULLY_COORDINATOR_SENT": (NodeLog.sends_result, NodeLog.leads),
        "BULLY_COORDINATOR_RECEIVED": (NodeLog.hears_result, NodeLog.follows_higher),
        "BULLY_COORDINATOR_TIMEOUT": (),
    },
    RuleId.BULLY_NOT_HIGHEST,
    "coordinator",
    lambda node, other: rank(other) > rank(node),
)

RING = Algorithm(
    "token_ring",
    {
        "RING_START": (NodeLog.started,),
        "RING_STOP": (NodeLog.stopped,),
        "RING_SUSPECT": (NodeLog.suspects,),
        "RING_ELECTION_SENT": (NodeLog.sends_election, NodeLog.joins),
        "RING_ELECTION_RECEIVED": (NodeLog.hears_election, NodeLog.joins),
        "RING_ELECTION_DROPPED": (),
        "RING_ELECTED_SENT": (NodeLog.sends_result, NodeLog.learns),
        "RING_ELECTED_RECEIVED": (NodeLog.hears_result, NodeLog.learns),
        "RING_SKIPPED": (NodeLog.did_not_arrive,),
    },
    RuleId.RING_NOT_HIGHEST,
    "leader",
    lambda node, other: other != node,
)
