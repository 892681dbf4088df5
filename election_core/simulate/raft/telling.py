"""An etcd world as a story for somebody who has never seen an election."""

from collections.abc import Callable, Iterator

from election_replay.election_core.protocols.raft.tables import PRE_VOTE
from election_replay.election_core.simulate.telling import Values, story
from election_replay.election_core.simulate.world import World


def _tally(v: Values) -> str:
    vote = "would vote for it" if v["request"].startswith(PRE_VOTE) else "voted for it"
    return f"counts: {v['accepted']} {vote}, {v['count']} refused"


def _cast(v: Values) -> str:
    if v["request"] == PRE_VOTE:
        return f"would vote for {v['peer']}"
    return f"votes for {v['peer']} in term {v['term']}"


def _rejected(v: Values) -> str:
    mine, theirs = (v["ledger_end_term"], v["ledger_end"]), (v["peer_ledger_end_term"], v["peer_ledger_end"])
    if theirs < mine:
        why = f"its own log goes to {mine[1]}, that of {v['peer']} only to {theirs[1]}"
    else:
        why = f"its vote is {v['value_before']}'s" if v["value_before"] else "it has a leader"
    return f"refuses {v['peer']}: {why}"


_TELL: dict[str, Callable[[Values], str | None]] = {
    "ETCD_MEMBER_STARTS": lambda _: "starts for the first time: every member begins as follower",
    "ETCD_MEMBER_RESTARTS": lambda _: "starts again, with what its disk holds",
    "RAFT_ELECTION": lambda v: f"has heard no leader for too long in term {v['term']}",
    "RAFT_TO_PRE_CANDIDATE": lambda v: f"asks whether it could win, and stays in term {v['term']}",
    "RAFT_TO_CANDIDATE": lambda v: f"is candidate in term {v['term']}, and votes for itself",
    "RAFT_TALLY": _tally,
    "RAFT_VOTE_CAST": _cast,
    "RAFT_VOTE_REJECTED": _rejected,
    "RAFT_VOTE_IGNORED": lambda v: f"does not answer {v['peer']}: it has heard its leader a moment ago",
    "RAFT_TO_LEADER": lambda v: f"LEADS term {v['term']}",
    "RAFT_NO_QUORUM": lambda _: "leads, but has not heard a majority for an election timeout: gives up",
    "RAFT_TERM_HIGHER": lambda v: f"hears of term {v['term']} from {v['peer']}; its own was {v['from_term']}",
    "RAFT_LEADER_KNOWN": lambda v: f"follows {v['peer']} in term {v['term']}" if v["peer"] != v["node"] else None,
    "RAFT_LEADER_CHANGED": lambda v: f"follows {v['peer']} in term {v['term']}, no longer {v['value_before']}",
    "RAFT_CONFLICT": lambda v: f"cuts entries off from {v['raft_index']} on: its leader has others",
    "RAFT_TRANSFER": lambda v: f"is to hand over to {v['peer']}, and takes no writes from now on",
    "RAFT_TRANSFER_TAKEN": lambda v: f"is asked by {v['peer']} to take over",
    "ETCD_PEER_LOST": lambda v: f"has lost its connection to {v['peer']} ({v['result']})",
    "ETCD_HEARTBEAT_LATE": lambda v: f"notices that it has not run for {v['duration_ms'] / 1000:.1f} s",
}

_WHY: dict[str, str] = {
    "RAFT_ELECTION": "Each member waits another time, drawn at random: mostly one is the first, and wins.",
    "RAFT_TO_PRE_CANDIDATE": "A member that is cut off cannot win: asking first keeps its term from climbing.",
    "RAFT_TO_CANDIDATE": "A term is a logical clock. Each member votes once in a term, so each has at most one leader.",
    "RAFT_VOTE_CAST": "A voter compares logs first: no entry that a majority holds is missing in a leader's log.",
    "RAFT_TO_LEADER": "A leader needs a majority of all members, dead ones included: two always share a member.",
    "RAFT_NO_QUORUM": "It could commit nothing in that time; by then the others may have elected another one.",
    "RAFT_CONFLICT": "These entries were never committed: their writers got no acknowledgement.",
    "RAFT_VOTE_IGNORED": "A leader that its voters can hear is not overthrown.",
}


def narrate(world: World) -> Iterator[str]:
    """The story, line by line: faults and what the members do about them; an explanation where a thing is new."""
    return story(world, _TELL, _WHY)
