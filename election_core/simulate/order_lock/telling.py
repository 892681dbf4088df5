"""A world with order locks as a story."""

from collections.abc import Iterator

from election_replay.election_core.simulate.acting_master.telling import SENTENCES as SERVICES
from election_replay.election_core.simulate.acting_master.telling import WHY as WHY_SERVICES
from election_replay.election_core.simulate.telling import Sentences, Values, story
from election_replay.election_core.simulate.world import World


def _queue(v: Values) -> str:
    return f"queue {v['key'][2]}"


SENTENCES: Sentences = {
    **SERVICES,
    "LOCK_NEW": lambda v: f"locks {_queue(v)} for {v['client_id']}",
    "LOCK_REFUSED": lambda v: f"refuses {_queue(v)} to {v['client_id']}: {v['peer_client_id']} has it",
    "LOCK_TAKEN_EXPIRED": lambda v: f"gives {_queue(v)} to {v['client_id']}: the lock of {v['peer_client_id']} expired",
    "LOCK_RELEASED": lambda v: f"gets {_queue(v)} back from {v['client_id']}",
    "LOCK_RELEASE_REFUSED": lambda v: (
        f"does not take {_queue(v)} back from {v['client_id']}: it is {v['peer_client_id']}'s"
    ),
    "LOCK_PEER_ERR": lambda v: f"gets no answer from {v['peer_address']} about a lock",
}

WHY: dict[str, str] = {
    **WHY_SERVICES,
    "LOCK_NEW": "Who reads a queue in order must be alone: it asks the master for a lock every 20 s.",
    "LOCK_REFUSED": "A lock that nobody renews expires after a minute.",
    "LOCK_PEER_ERR": "In strict mode a majority of all brokers must grant. A grant that misses it is not undone.",
}


def narrate(world: World) -> Iterator[str]:
    """The story, line by line."""
    return story(world, SENTENCES, WHY)
