"""Notices of ZooKeeper's lines."""

ALWAYS = {
    "ZK_VERSION": "release {value} runs",
    "ZK_LEADER_BIND_FAILED": "wins an election and cannot lead: it cannot listen for the others[ at {address}]",
    "ZK_LISTEN_ERROR": "cannot listen for elections, or no longer[: {address}]",
    "ZK_DEAF": "",
    "ZK_SAME_ID": "",
    "ZK_UNKNOWN_ID": "{peer} connects, which is outside of the configuration",
    "ZK_LEARNER_UNKNOWN": "learner {peer} is outside of the configuration",
    "ZK_EPOCH_REFUSED": "",
    "ZK_RECONFIG": "another set of servers is asked for[: {value}]",
    "ZK_RECONFIG_REFUSED": "another set of servers is refused[: {result}]",
    "ZK_LEARNER_TYPE": "",
    "ZK_DATABASE_FAILED": "",
    "ZK_DATABASE_EMPTY": "",
    "ZK_THREAD_FAILED": "a thread that the server needs has failed[: {result}]",
    "ZK_READ_ONLY": "",
    "ZK_STANDALONE": "",
    "ZK_PROCESS_END": "the process ends by its own decision[: {result}]",
    "ZK_COMMIT_MISMATCH": "",
    "ZK_COMMIT_FUTURE": "",
    "ZK_DIGEST_MISMATCH": "",
    "ZK_SNAPSHOT_AHEAD": "",
    "ZK_TRUNCATE_FAILED": "",
    "ZK_PEER_NOT_AUTHENTICATED": "{peer} cannot prove who it is, and is not listened to",
}

WHERE_LITTLE_IS_KNOWN = {
    "ZK_LOOKING": "looks for a leader",
    "ZK_ELECTED": "wins an election, and is not established yet",
    "ZK_LEADING": "is elected, and is not established yet",
    "ZK_ROLE_ERROR": "an election or a role breaks off[: {result}]",
    "ZK_PEER_UNREACHABLE": "cannot reach server {peer} for elections[ at {peer_address}]",
    "ZK_PEER_LOST": "the election connection to server {peer} breaks",
    "ZK_VOTE": "as {role}, hears server {peer}, which is {result}, vote for server {value}",
    "ZK_VOTE_TIMEOUT": "hears no vote in time, and waits for one for up to {duration} more",
    "ZK_LEADER_UNREACHABLE": "",
    "ZK_LEADER_RETRY": "the leader was not reached, and is tried again[: {peer_address}]",
    "ZK_LEADER_LOST": "loses its leader[: {result}]",
    "ZK_LEADER_SHUTDOWN": "gives up the lead[: {result}]",
    "ZK_LEARNER_ERROR": "breaks off with learner {peer}[: {result}]",
    "ZK_SYNC_SLOW": "",
    "ZK_FSYNC_SLOW": "the disk takes {duration} to make entries durable",
    "ZK_PAUSED": "the process did not run for {duration}",
    "ZK_LEARNER_SLOW": "",
    "ZK_EPOCH_FILE_MISSING": "",
    "ZK_VOTE_FOR_STRANGER": "",
    "ZK_VOTE_BY_STRANGER": "",
    "ZK_BOOT": "the process starts",
    "ZK_EXIT": "stops",
}

IN_EXCERPTS = {
    "ZK_SMALLER_ID": "has a smaller id than server {peer}, and waits for that one to connect for elections",
}

NEVER = frozenset(
    {
        *("ZK_STATE", "ZK_SETTING", "ZK_START", "ZK_ELECTION", "ZK_VOTE_SENT", "ZK_VOTE_CHANGED"),
        *("ZK_VOTE_COMPARED", "ZK_VOTE_COUNTED", "ZK_VOTE_STALE", "ZK_LISTENS", "ZK_ASKED", "ZK_SMALLER_ID"),
        *("ZK_SENDER_END", "ZK_SENDER_STOP", "ZK_TO_LOOKING", "ZK_DECIDED", "ZK_ROLE_END", "ZK_SERVER_STOPPING"),
        "ZK_COMMAND",
    }
)
