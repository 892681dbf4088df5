"""What the events of a ring say, for its truth."""

from election_replay.election_core.simulate.highest_id import truth
from election_replay.election_core.simulate.highest_id.truth import Signs, says
from election_replay.election_core.simulate.truth import Truth
from election_replay.election_core.simulate.world import Line, World

_RESULTS = ("RING_ELECTED_SENT", "RING_ELECTED_RECEIVED")
_ELECTIONS = ("RING_ELECTION_SENT", "RING_ELECTION_RECEIVED")


def _named(line: Line) -> object:
    return says(line, "value") if line.say is not None and line.say.kind in _RESULTS else None


def _passes_by(line: Line) -> bool:
    return line.say is not None and line.say.kind in _ELECTIONS


SIGNS = Signs(
    rule="RING_NOT_HIGHEST",
    leads=lambda line: _named(line) == line.node,
    follows=lambda line: _named(line) not in (None, line.node),
    asks=_passes_by,
    passes_by=_passes_by,
    suspects="RING_SUSPECT",
    sent=("RING_ELECTION_SENT", "RING_ELECTED_SENT"),
    received=("RING_ELECTION_RECEIVED", "RING_ELECTED_RECEIVED"),
)


def truths(world: World) -> list[Truth]:
    """Everything that a reviewer should hear of a world."""
    return truth.truths(world, SIGNS)
