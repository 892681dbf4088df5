"""Notices of etcd's lines."""

ALWAYS = {
    "ETCD_VERSION": "release {value} runs",
    "ETCD_MEMBER_ADDED": "member {peer}[ at {peer_address}] is added to the cluster",
    "ETCD_MEMBER_ADDED/True": "member {peer}[ at {peer_address}] is added to the cluster as a learner, without a vote",
    "ETCD_MEMBER_PROMOTED": "learner[ {peer}] becomes a voter",
    "ETCD_MEMBER_REMOVED": "member {peer} is removed from the cluster",
    "ETCD_MEMBER_UPDATED": "member {peer} gets other addresses[: {peer_address}]",
    "ETCD_MEMBER_ZOMBIE": "",
    "ETCD_MEMBER_FORCED": "makes a new cluster of itself alone, as it was told to (--force-new-cluster): the old "
    "members must be wiped; those that still run are a second cluster",
    "ETCD_WAL_DISCARDED": "[{count} ]entries that were not committed are dropped[: the log ends at entry {committed}]",
    "ETCD_CHANGE_REFUSED": "a change of members is refused[: {result}]",
    "RAFT_CHANGE_REFUSED": "a change of members is refused[: {result}]",
    "RAFT_UNPROMOTABLE": "cannot be elected: it is a learner, or removed",
    "ETCD_REMOVED": "learns that its cluster removed it, and ends: its data directory must be wiped before it is added "
    "anew",
    "ETCD_PEER_REFUSED": "refuses member {peer}, which was removed from the cluster",
    "ETCD_ID_MISMATCH": "messages are meant for another member[ ({peer})]: an address belongs to somebody else now",
    "ETCD_CLUSTER_MISMATCH": "a member of another cluster is at a configured address[ ({peer})]",
    "ETCD_TRANSFER_FAILED": "",
    "ETCD_NOT_LEADER": "",
    "ETCD_HASH_MISMATCH": "",
    "ETCD_HASH_CHANGED": "",
    "ETCD_APPLY_FAILED": "",
    "ETCD_FOLLOWER_AHEAD": "",
    "ETCD_ALARM": "an alarm is set for the cluster[: {value}]: it refuses writes from here on",
    "ETCD_WAL_REPAIRED": "",
    "ETCD_STORE_FAILED": "",
    "ETCD_START_FAILED": "cannot start, or not join its cluster[: {result}]",
    "ETCD_SERVER_ERROR": "the server cannot go on[: {result}]",
    "RAFT_LOG_LOST": "",
    "RAFT_COMMITTED_CONFLICT": "",
    "RAFT_LOG_GAP": "",
    "RAFT_STALLED": "",
}

WHERE_LITTLE_IS_KNOWN = {
    "ETCD_NAME_FAILED": "no quorum takes the member's name in time[: {result}]",
    "ETCD_PEER_LOST": "a connection to {peer} breaks[: {result}]",
    "ETCD_PEER_INACTIVE": "{peer} cannot be reached",
    "ETCD_PEER_UNHEALTHY": "{peer} does not answer its health check[: {result}]",
    "ETCD_NO_LEADER": "a health check finds that no leader is known",
    "ETCD_HEARTBEAT_LATE": "its heartbeats, as leader, are late by {duration}",
    "ETCD_FSYNC_SLOW": "the disk takes {duration} to make entries durable",
    "ETCD_READ_LATE": "",
    "ETCD_CLOCK_DRIFT": "its clock is {duration} ahead of {peer}",
    "RAFT_ELECTION": "hears no leader for its timeout (term {term})",
    "RAFT_NO_QUORUM": "gives up the lead: it hears no quorum",
    "RAFT_LEADER_LOST": "knows no leader any more: it was {peer} (term {term})",
    "RAFT_LEADER_KNOWN": "learns that {peer} leads (term {term})",
    "RAFT_VOTE_REFUSED": "{peer} refuses its vote (term {term})",
    "RAFT_VOTE_IGNORED": "does not answer {peer}, which asks for its vote (term {term}): it hears its leader",
    "RAFT_TERM_LOWER": "a message of an older term is ignored[, from {peer}]",
    "RAFT_NO_LEADER": "a request comes while no leader is known",
    "RAFT_SNAPSHOT": "the leader's snapshot takes the place of its log",
    "RAFT_LEARNER_ASKED": "",
    "RAFT_PROPOSAL_DROPPED": "",
    "ETCD_SIGNAL": "is told to stop[ ({value})]",
    "ETCD_BOOT": "the process starts",
    "ETCD_MEMBER_STARTS": "starts as a new member",
    "ETCD_MEMBER_RESTARTS": "starts again",
    "ETCD_STOPPED": "stops",
}

IN_EXCERPTS = {
    "RAFT_TO_CANDIDATE": "asks for votes for term {term}",
    "RAFT_VOTE_CAST": "votes for {peer} (term {term})",
}

NEVER = frozenset(
    {
        *("ETCD_NAME", "ETCD_ELECTION_TIMEOUT", "ETCD_SERVER_STARTS", "ETCD_MEMBER_NAMED", "ETCD_PEER_ACTIVE"),
        *("ETCD_STOPPING", "ETCD_CHANGE_APPLIED", "RAFT_START", "RAFT_MEMBERS", "RAFT_VOTE_SENT", "RAFT_VOTE_GRANTED"),
        *("ETCD_STORE_RESTORED",),
        *("RAFT_TALLY", "RAFT_TO_PRE_CANDIDATE", "RAFT_TO_CANDIDATE", "RAFT_TO_FOLLOWER", "RAFT_TERM_HIGHER"),
        *("RAFT_TO_LEADER", "RAFT_VOTE_CAST", "RAFT_VOTE_REJECTED", "RAFT_LEADER_CHANGED"),
    }
)
