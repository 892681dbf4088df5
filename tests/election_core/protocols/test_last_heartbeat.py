"""A printed time of the last heartbeat, whose zone no line tells: quarters of an hour are known by an earlier line."""

from pathlib import Path

from election_replay.election_core.model.rows import Finding
from tests.election_core.story import facts_of, judge, parse

STORY = Path(__file__).parents[2] / "scenarios" / "dledger" / "follower_suspended_for_a_quarter_hour.txt"


def leaderless(*, without: str | None = None) -> Finding:
    lines = STORY.read_text().splitlines()
    logs = parse("\n".join(line for line in lines if without is None or without not in line))
    (found,) = (row for row in judge(facts_of(logs)) if isinstance(row, Finding) and row.rule == "LEADERLESS")
    return found


def test_an_earlier_time_out_shows_the_zone() -> None:
    assert (leaderless().duration_min_ms or 0) > 15 * 60_000


def test_without_a_zone_a_suspended_follower_does_not_say_when_it_heard_of_its_leader() -> None:
    found = leaderless(without="01:51:00.5")
    assert (found.duration_min_ms or 0) < 3_000
    assert (found.duration_max_ms or 0) > 15 * 60_000
