"""Leaders that gave up because a quorum did not answer."""

from pathlib import Path

import pytest

from election_replay.election_core.model.facts import QuorumLost
from tests.election_core import story

SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.mark.parametrize("protocol", ["raft", "zab"])
def test_who_gave_up_did_not_lead_on_in_that_term(protocol: str) -> None:
    """etcd and ZooKeeper print that they give up, not that they might: unlike DLedger's rounds, nothing comes back."""
    facts = [
        fact
        for path in sorted((SCENARIOS / protocol).glob("*.txt"))
        for fact in story.scenario_facts(path)
        if isinstance(fact, QuorumLost)
    ]
    assert facts
    assert not [fact for fact in facts if fact.regained]
