"""A ring's world as a story for somebody who has never seen an election."""

from collections.abc import Callable, Iterator

from election_replay.election_core.simulate.telling import Values, story
from election_replay.election_core.simulate.world import World


def _passes(v: Values) -> str:
    if "members" in v:
        return f"adds itself and hands the election on to {v['peer']}: {', '.join(v['members'])}"
    return f"hands the election on to {v['peer']}, with the id {v['value']}"


def _result(v: Values) -> str:
    if v["value"] == v["node"]:
        return f"LEADS election {v['term']}"
    return f"hears that {v['value']} leads election {v['term']}, and hands it on"


_TELL: dict[str, Callable[[Values], str | None]] = {
    "RING_SUSPECT": lambda v: f"has looked for its leader {v['peer']} twice in vain",
    "RING_ELECTION_SENT": _passes,
    "RING_ELECTION_DROPPED": lambda v: f"lets the id {v['value']} go no further: its own is larger, and on its way",
    "RING_ELECTED_SENT": _result,
    "RING_SKIPPED": lambda v: f"gets no answer from {v['peer']}, and passes it over",
}

_WHY: dict[str, str] = {
    "RING_SUSPECT": "Each node looks for its next neighbour each second; only the one before the leader can miss it.",
    "RING_ELECTION_SENT": "The election goes round the ring. Who finds its own id in it knows that all have seen it.",
    "RING_ELECTED_SENT": "The largest id of those that took part leads. Now the result goes round once.",
    "RING_SKIPPED": "Who does not answer within 2 s is taken for dead: the ring closes over it.",
}


def narrate(world: World) -> Iterator[str]:
    """The story, line by line."""
    return story(world, _TELL, _WHY)
