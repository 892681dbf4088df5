"""Each event that a finding names is a proof, with the log that holds it."""

from dataclasses import replace
from pathlib import Path

from election_replay.election_core.model.rows import Finding
from election_replay.election_core.replay.proofs import proofs
from tests.election_core import story

SCENARIO = Path(__file__).parents[2] / "scenarios" / "dledger" / "two_leaders_of_one_term.txt"


def test_each_event_of_a_finding_is_found_in_its_log() -> None:
    facts = story.facts_of(story.parse(SCENARIO.read_text()))
    rows = story.judge(facts)
    named = [(row.rule, one) for row in rows if isinstance(row, Finding) for one in dict.fromkeys(row.evidence)]
    found = list(proofs(facts, rows))
    assert len(named) > 2
    assert [(proof.finding.rule, proof.event_id) for proof in found] == named
    assert all(proof.source_node == proof.event_id.partition("/")[0] for proof in found)


def test_without_a_finding_there_is_no_proof() -> None:
    facts = story.facts_of(story.parse(SCENARIO.read_text()))
    assert not list(proofs(facts, [row for row in story.judge(facts) if not isinstance(row, Finding)]))


def test_a_line_is_as_late_as_the_latest_fact_that_it_begins_in_whatever_order_facts_come() -> None:
    facts = story.facts_of(story.parse(SCENARIO.read_text()))
    rows = story.judge(facts)
    first = next(proofs(facts, rows))
    earlier = [replace(fact, since=fact.since - 10) for fact in facts if fact.since_event == first.event_id]
    for every in ([*earlier, *facts], [*facts, *earlier]):
        assert next(proofs(every, rows)).about == first.about
