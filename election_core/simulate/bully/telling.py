"""A Bully world as a story for somebody who has never seen an election."""

from collections.abc import Callable, Iterator

from election_replay.election_core.simulate.telling import Values, story
from election_replay.election_core.simulate.world import World

_TELL: dict[str, Callable[[Values], str | None]] = {
    "BULLY_SUSPECT": lambda v: f"has heard nothing of its coordinator {v['peer']} for more than 3.5 s",
    "BULLY_ELECTION_SENT": lambda v: f"asks {v['peer']}, which is higher, whether it lives (election {v['term']})",
    "BULLY_OK_RECEIVED": lambda v: f"is told by {v['peer']} that it lives, and waits for an announcement",
    "BULLY_OK_TIMEOUT": lambda _: "has no answer from anybody higher",
    "BULLY_COORDINATOR_TIMEOUT": lambda _: "has waited in vain: nobody announced itself",
    "BULLY_COORDINATOR_SENT": lambda v: f"LEADS election {v['term']}, and tells everybody",
    "BULLY_COORDINATOR_RECEIVED": lambda v: f"hears that {v['peer']} leads election {v['term']}",
}

_WHY: dict[str, str] = {
    "BULLY_SUSPECT": "The coordinator sends a beat each second. Whoever misses it holds an election.",
    "BULLY_ELECTION_SENT": "The highest node that lives leads. So a node asks those above it, and only those.",
    "BULLY_OK_RECEIVED": "An answer is enough: a higher one lives and will see to it.",
    "BULLY_OK_TIMEOUT": "Who does not answer within 2 s is taken for dead. If it is only cut off, two will lead.",
    "BULLY_COORDINATOR_SENT": "There is no vote and no majority: a node makes itself the coordinator.",
}


def narrate(world: World) -> Iterator[str]:
    """The story, line by line."""
    return story(world, _TELL, _WHY)
