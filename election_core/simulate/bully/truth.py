"""What the events of a Bully group say, for its truth."""

from collections.abc import Callable

from election_replay.election_core.simulate.highest_id import truth
from election_replay.election_core.simulate.highest_id.truth import Signs
from election_replay.election_core.simulate.truth import Truth
from election_replay.election_core.simulate.world import Line, World


def _is(*kinds: str) -> Callable[[Line], bool]:
    return lambda line: line.say is not None and line.say.kind in kinds


SIGNS = Signs(
    rule="BULLY_NOT_HIGHEST",
    leads=_is("BULLY_COORDINATOR_SENT"),
    follows=_is("BULLY_COORDINATOR_RECEIVED"),
    asks=_is("BULLY_ELECTION_SENT"),
    passes_by=_is(),
    suspects="BULLY_SUSPECT",
    sent=("BULLY_ELECTION_SENT", "BULLY_COORDINATOR_SENT"),
    received=("BULLY_ELECTION_RECEIVED", "BULLY_COORDINATOR_RECEIVED"),
)


def truths(world: World) -> list[Truth]:
    """Everything that a reviewer should hear of a world."""
    return truth.truths(world, SIGNS)
