"""A hand-over as a story."""

from collections.abc import Iterator

from election_replay.election_core.simulate.acting_master.telling import SENTENCES as SERVICES
from election_replay.election_core.simulate.acting_master.telling import WHY as WHY_SERVICES
from election_replay.election_core.simulate.telling import Sentences, story
from election_replay.election_core.simulate.world import World

SENTENCES: Sentences = {
    **SERVICES,
    "PRE_REVERSE_CONSUMER": lambda v: f"takes the consumers' places over from {v['peer_address']}",
    "PRE_REVERSE_DELAY": lambda v: f"takes the delayed messages' places over from {v['peer_address']}",
    "SYNC_CONSUMER": lambda v: f"copies the tables of {v['peer_address']}",
    "META_TOPIC_DELETE_NONE": lambda v: f"DROPS the topic {v['topic']}, which its master does not have",
    "META_GROUP_DELETE_NONE": lambda v: f"DROPS the group {v['consumer_group']}, which its master does not have",
}

WHY: dict[str, str] = {
    **WHY_SERVICES,
    "PRE_REVERSE_CONSUMER": "It compares versions, not places; a version moves only every so many commits.",
    "SYNC_CONSUMER": "Slaves copy every minute: what was read since the last copy, a dead master takes along.",
    "META_TOPIC_DELETE_NONE": "Pre-online takes over places, no topics and groups.",
}


def narrate(world: World) -> Iterator[str]:
    """The story, line by line."""
    return story(world, SENTENCES, WHY)
