"""Bytes that a former master of Redis throws away are as grave as what its clients had been told of them."""

from pathlib import Path

import pytest

from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.rows import Finding
from tests.election_core import story

STORY = Path(__file__).parents[2] / "scenarios" / "redis" / "new_master_starts_with_older_data.txt"
ASKED = "50216"
"""Where the former master's history ends: 46,195 bytes behind what the new master has when it is started again."""


@pytest.mark.parametrize(
    ("asked", "severity"),
    [
        ("4321", "info"),  # 300 bytes: heartbeats
        (ASKED, "warning"),  # as many as sentinels hold back for a frozen master, and some more
        ("950216", "critical"),  # more than any heartbeats of the time in the logs
    ],
)
def test_bytes_that_are_more_than_heartbeats_are_critical(asked: str, severity: str) -> None:
    told = STORY.read_text("utf-8")
    assert ASKED in told
    logs = story.parse(told.replace(f":{ASKED})", f":{asked})").replace(f"was {ASKED},", f"was {asked},"))
    found = [row for row in story.judge(story.facts_of(logs)) if isinstance(row, Finding)]
    lost = [row.severity for row in found if row.rule == RuleId.POSSIBLE_DATA_LOSS]
    assert lost == [severity]
