"""The root comes first: what a finding follows from is a finding of the same group, no less grave, and never itself."""

from pathlib import Path

import pytest

from election_replay.election_core.model.catalogue import CRITICAL, INFO, WARNING
from election_replay.election_core.model.rows import Finding
from tests.election_core import story

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*/*.txt"))
GRAVITY = (CRITICAL, WARNING, INFO)


def judged(path: Path) -> list[Finding]:
    return [row for row in story.scenario_rows(path) if isinstance(row, Finding)]


def scenario(name: str) -> Path:
    return next(path for path in SCENARIOS if f"{path.parent.name}/{path.stem}" == name)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_follows_is_no_graver_than_its_root(path: Path) -> None:
    """Lists show roots: what is an alarm must not hide behind what is none, nor two findings behind each other."""
    found = {finding.finding_id: finding for finding in judged(path)}
    for finding in found.values():
        chain = [finding]
        while chain[-1].implied_by is not None:
            assert chain[-1].implied_by in found, finding.summary
            chain.append(found[chain[-1].implied_by])
            assert len(chain) <= 3, [link.summary for link in chain]
            assert GRAVITY.index(chain[-1].severity) <= GRAVITY.index(chain[-2].severity), finding.summary


def test_an_old_store_comes_before_the_second_vote_and_that_before_two_leaders() -> None:
    found = {finding.rule: finding for finding in judged(scenario("raft/one_voter_two_leaders"))}
    old, twice, two = (found[rule] for rule in ("TERM_REGRESSION", "DOUBLE_VOTE", "SPLIT_BRAIN_SAME_TERM"))
    assert (old.implied_by, twice.implied_by, two.implied_by) == (None, old.finding_id, twice.finding_id)


def test_a_second_vote_without_an_old_store_is_a_root() -> None:
    found = {finding.rule: finding for finding in judged(scenario("dledger/two_leaders_of_one_term"))}
    assert found["DOUBLE_VOTE"].implied_by is None
    assert found["SPLIT_BRAIN_SAME_TERM"].implied_by == found["DOUBLE_VOTE"].finding_id


def test_a_cut_follows_from_the_leader_that_lacks_the_entries() -> None:
    leader, cut = (found for found in judged(scenario("zab/committed_entries_lost")) if found.severity == CRITICAL)
    assert (leader.implied_by, cut.implied_by) == (None, leader.finding_id)


def test_an_entry_is_lost_by_the_store_of_a_voter_that_was_emptied() -> None:
    """That voter would have refused a log that ends below its own: the empty store is the root, and as grave."""
    found = {finding.rule: finding for finding in judged(scenario("dledger/committed_entries_lost_by_a_wiped_voter"))}
    old, lost = found["TERM_REGRESSION"], found["COMMITTED_ENTRY_LOST"]
    assert (old.implied_by, lost.implied_by, old.severity) == (None, old.finding_id, CRITICAL)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_rule_of_before_and_after_shows_both_lines(path: Path) -> None:
    """A term that went back is proven by two lines, the larger one by the earlier; a refusal prints both in one."""
    for finding in judged(path):
        if finding.rule in ("TERM_REGRESSION", "EPOCH_REGRESSION") and " refused a role of " not in finding.summary:
            assert len(finding.evidence) > 1, finding.summary
