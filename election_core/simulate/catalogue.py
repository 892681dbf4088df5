"""All scenarios of all protocols; a new protocol adds its lines here."""

from collections.abc import Callable, Iterator

from election_core.simulate.dledger import scenarios as dledger
from election_core.simulate.dledger import telling as dledger_telling
from election_core.simulate.dledger import truth as dledger_truth
from election_core.simulate.scenario import Scenario
from election_core.simulate.truth import Truth
from election_core.simulate.world import World

SCENARIOS: dict[str, Scenario] = {scenario.name: scenario for scenario in (*dledger.SCENARIOS,)}

_TRUTHS: dict[str, Callable[[World], list[Truth]]] = {"dledger": dledger_truth.truths}
_TELLINGS: dict[str, Callable[[World], Iterator[str]]] = {"dledger": dledger_telling.told}


def truths(scenario: Scenario, world: World) -> list[Truth]:
    """What a reviewer should hear of a world."""
    return _TRUTHS[scenario.protocol](world)


def told(scenario: Scenario, world: World) -> Iterator[str]:
    """A world as a story, line by line."""
    return _TELLINGS[scenario.protocol](world)
