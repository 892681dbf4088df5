"""The decisions of Redis: of sentinels, of the nodes of a cluster, and of servers that copy from each other."""

from tests.election_core.decisions import Decision

REDIS = (
    Decision(
        "votes",
        "a sentinel votes once an epoch for each master that it watches, and saves the vote before it answers",
        "sentinel.c sentinelVoteLeader",
        "DOUBLE_VOTE",
    ),
    Decision(
        "cluster-votes",
        "a master of a cluster with slots votes once an epoch, and saves that before it answers",
        "cluster_legacy.c clusterSendFailoverAuthIfNeeded",
        "DOUBLE_VOTE",
    ),
    Decision(
        "quorum",
        "a sentinel replaces a master with the votes of a majority of the sentinels that it knows, and of the quorum",
        "sentinel.c sentinelGetLeader",
        "LEADER_WITHOUT_QUORUM",
    ),
    Decision(
        "epochs", "one sentinel replaces a master in an epoch, by one server", "Redis Sentinel", "SPLIT_BRAIN_SAME_TERM"
    ),
    Decision(
        "saved", "the epoch of a sentinel never gets smaller", "sentinel.c sentinelFlushConfig", "TERM_REGRESSION"
    ),
    Decision(
        "one-master",
        "a master that was replaced follows at once; nothing in the protocol makes it",
        "sentinel.c sentinelRefreshInstanceInfo (+convert-to-slave)",
        "SPLIT_BRAIN_OVERLAP",
    ),
    Decision(
        "outage",
        "somebody is master who answers clients",
        "sentinel.c, cluster_legacy.c clusterUpdateState",
        "LEADERLESS",
    ),
    Decision(
        "data",
        "a new master has all that the former one had; replicas copy whatever their master has",
        "replication.c masterTryPartialResynchronization",
        "POSSIBLE_DATA_LOSS",
    ),
)
