"""A world as text: its faults, its leaders, and what the logs prove."""

from collections.abc import Iterable, Iterator

from election_replay.election_core.simulate.scenario import Scenario
from election_replay.election_core.simulate.truth import Truth
from election_replay.election_core.simulate.world import SECOND, World

WITHOUT_TERMS = {"acting_master", "order_lock", "metadata"}
"""Protocols in which the smallest id leads, without any term."""


def story(scenario: Scenario, world: World, truths: Iterable[Truth]) -> Iterator[str]:
    """Yield the text, line by line, each with the seconds since the world began."""
    moments = [
        (fault.true_us, " ".join(filter(None, (">>>", fault.action, fault.node, fault.detail))))
        for fault in world.faults
    ]
    for tenure in world.tenures:
        term = "" if scenario.protocol in WITHOUT_TERMS else f" term {tenure.term}"
        moments.append((tenure.begin_us, f"    {tenure.node} LEADS{term}"))
        if tenure.end_us is not None:
            moments.append((tenure.end_us, f"    {tenure.node} leads{term} no longer: {tenure.how_ended}"))
    moments += [(true.begin_us, f"    {true.rule}: {true.words}") for true in truths if true.provable]
    for time_us, text in sorted(moments):
        yield f"{(time_us - world.began_us) / SECOND:8.2f} s  {text}"
