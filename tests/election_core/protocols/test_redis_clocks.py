"""A command of a sentinel ties its clock to that of the server that names it, whoever else commanded the same."""

from pathlib import Path

from election_replay.election_core.protocols.redis.causality import causal_pairs
from tests.election_core import story

STORY = Path(__file__).parents[2] / "scenarios" / "redis" / "master_frozen.txt"
HEARD = "5:X 17:47:00.324 # -sdown slave 10.0.0.11:6379 10.0.0.11 6379 @ orders 10.0.0.12 6379\n"
LOST = "5:X 17:47:12.500 * +convert-to-slave slave 10.0.0.11:6379 10.0.0.11 6379 @ orders 10.0.0.12 6379\n"


def test_a_command_that_did_not_arrive_hides_no_other() -> None:
    told = STORY.read_text("utf-8")
    assert HEARD in told
    logs = story.parse(told.replace(HEARD, HEARD + LOST))
    pairs = {(pair.cause.source, pair.effect.source) for pair in causal_pairs(story.facts_of(logs))}
    assert ("sentinel-1", "redis-1") in pairs
    assert ("sentinel-2", "redis-1") not in pairs
