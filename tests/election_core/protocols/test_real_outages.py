"""Lines of real clusters to which something was done at a known time: the bounds of an outage contain its true length."""

from pathlib import Path

import pytest

from election_replay.election_core.model.rows import Finding
from tests.election_core import story

HERE = Path(__file__).parent
OUTAGES = [
    ("frozen_leader_reads_late", "4 (zk-4, epoch 2)", 32_327),
    ("replica_loses_its_master_twice", "10.0.0.12:6379 (redis-2, epoch 3)", 3_873),
]
"""A file, the leader that was lost, and the time in ms from what was done to it until the next one led."""


@pytest.mark.parametrize(("name", "leader", "true_ms"), OUTAGES)
def test_the_bounds_of_an_outage_contain_its_true_length(name: str, leader: str, true_ms: int) -> None:
    rows = story.judge(story.facts_of(story.parse((HERE / f"{name}.txt").read_text())))
    outages = [row for row in rows if isinstance(row, Finding) and row.rule == "LEADERLESS" and leader in row.summary]
    lasted = [(row.duration_min_ms or 0, row.duration_max_ms or 0) for row in outages]
    assert [least <= true_ms <= most for least, most in lasted] == [True], lasted
