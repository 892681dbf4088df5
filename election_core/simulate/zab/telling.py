"""A ZooKeeper world as a story for somebody who has never seen an election."""

from collections.abc import Callable, Iterator

from election_replay.election_core.simulate.telling import Values, story
from election_replay.election_core.simulate.world import World
from election_replay.election_core.simulate.zab.voice import NAMES


def _vote(v: Values) -> str | None:
    leader = NAMES[v["value"] - 1]
    if v["peer"] == v["node"]:
        whom = "itself" if leader == v["node"] else leader
        return f"votes for {whom} in its round {v['count']} (epoch {v['term']}, zxid {v['zxid']:#x})"
    if v["result"] != "LOOKING" and v["role"] == "LOOKING":
        return f"hears that {v['peer']} {'leads' if v['result'] == 'LEADING' else f'follows {leader}'} already"
    return None


def _shutdown(v: Values) -> str:
    if v["decision"] == "QUORUM_LOST":
        return "leads, but too few followers answer: shuts down"
    return "was elected, but no quorum came in time: gives up"


_TELL: dict[str, Callable[[Values], str | None]] = {
    "ZK_START": lambda _: "starts",
    "ZK_LOOKING": lambda _: "looks for a leader",
    "ZK_VOTE": _vote,
    "ZK_VOTE_TIMEOUT": lambda v: f"hears nobody, and waits {v['duration_ms'] / 1000:g} s for the next vote",
    "ZK_LEADING": lambda _: "is elected; it leads nobody yet",
    "ZK_FOLLOWING": lambda _: "has found a leader",
    "ZK_LEADER_REACHED": lambda v: f"reaches {v['peer']}, and hears its epoch",
    "ZK_EPOCH_REFUSED": lambda v: f"refuses epoch {v['from_term']}: it has promised {v['term']}",
    "ZK_SYNC_RECEIVED": lambda v: f"gets what it lacks from the leader, up to zxid {v['zxid']:#x}",
    "ZK_TRUNCATED": lambda v: f"cuts entries off: its leader's log ends at zxid {v['zxid']:#x}",
    "ZK_EPOCH_ACCEPTED": lambda _: "has the leader's log and epoch",
    "ZK_ESTABLISHED": lambda v: f"LEADS epoch {v['zxid'] >> 32}, with {' and '.join(v['members'])} behind it",
    "ZK_UPTODATE": lambda _: "follows, and serves clients",
    "ZK_LEADER_LOST": lambda v: f"has lost its leader ({v['exception'].partition(':')[0]})",
    "ZK_LEADER_SHUTDOWN": _shutdown,
    "ZK_LEARNER_LOST": lambda v: f"has lost its follower {v['peer']}",
    "ZK_PEER_LOST": lambda v: f"has lost its connection to {v['peer']}",
}

_WHY: dict[str, str] = {
    "ZK_LOOKING": "Nobody leads at first. Rounds only tell votes apart; they begin again with the process.",
    "ZK_VOTE": "Everybody votes for itself, and takes over every better vote: epoch first, then zxid, then id.",
    "ZK_LEADING": "A quorum votes for it. Now a quorum must promise it a new epoch, and take its log over.",
    "ZK_EPOCH_ACCEPTED": "The winner has the most recent log of a quorum, so all that was committed is in it.",
    "ZK_ESTABLISHED": "An epoch is a logical clock: one established leader each. Only now does it take writes.",
    "ZK_LEADER_SHUTDOWN": "It could commit nothing: a commit needs a quorum of its own epoch.",
    "ZK_TRUNCATED": "These entries were never committed: their writers got no acknowledgement.",
}


def narrate(world: World) -> Iterator[str]:
    """The story, line by line: faults and what the servers do about them; an explanation where a thing is new."""
    return story(world, _TELL, _WHY)
