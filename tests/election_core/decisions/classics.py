"""The decisions of Raft as etcd runs it, ZAB as ZooKeeper runs it, Bully and the ring elections."""

from tests.election_core.decisions import Decision

_NO_NUMBERS = "the algorithm has no terms; only where events number their elections can two leaders share one"

RAFT = (
    Decision("one-vote", "one vote a term, written down before it is answered", "raft#Step (MsgVote)", "DOUBLE_VOTE"),
    Decision(
        "log-up-to-date",
        "a vote only for a log that is not behind: last term first, then last index",
        "raft#Step (MsgVote), raftLog#isUpToDate",
        "STALE_LOG_VOTE",
    ),
    Decision(
        "majority",
        "leader with the votes of a majority of the voters in force, of both halves while they change",
        "raft#stepCandidate, quorum/joint.go",
        "LEADER_WITHOUT_QUORUM",
    ),
    Decision(
        "committed-index",
        "a later leader's log has every entry that was committed before",
        "Raft section 5.4.3",
        "COMMITTED_ENTRY_LOST",
    ),
    Decision("one-leader", "at most one leader a term", "Raft section 5.2", "SPLIT_BRAIN_SAME_TERM"),
    Decision("term-kept", "the term never gets smaller, over restarts too", "raft#loadState", "TERM_REGRESSION"),
    Decision(
        "check-quorum",
        "a leader that hears no quorum gives up; meanwhile it cannot commit",
        "raft#stepLeader (MsgCheckQuorum)",
        "SPLIT_BRAIN_OVERLAP",
        never_violates="commits of a stale leader are not printed, and need a broken rule of voting",
    ),
    Decision("outage", "between two leaders nobody leads, unless the first one hands over", "raft#tick", "LEADERLESS"),
    Decision(
        "store-kept", "a log never ends earlier than it did, unless a leader cuts it", "raft#newRaft", "STORE_WENT_BACK"
    ),
    Decision("stores-equal", "members hold the same data at one revision", "etcdserver/corrupt.go", "STORES_DIFFER"),
    Decision("restored", "a folder stays that of one cluster", "etcdserver/bootstrap.go", "CLUSTER_RESTORED"),
    Decision("forced", "a cluster of one is made by an operator alone", "restartAsStandaloneNode", "CLUSTER_FORCED"),
    Decision(
        "writes-refused",
        "with a leader writes are applied, but for an alarm: no space, or data that differ",
        "etcdserver/apply (NOSPACE, CORRUPT)",
        "WRITES_REFUSED",
        never_conforms="what is applied is not printed",
    ),
)

ZAB = (
    Decision(
        "votes-get-better",
        "within a round a vote is only changed to a better one: epoch, zxid, server id",
        "FastLeaderElection#totalOrderPredicate",
        "ZAB_WRONG_WINNER",
    ),
    Decision(
        "winner-newest",
        "the leader's log is not behind those of its quorum",
        "FastLeaderElection#lookForLeader, Leader#waitForEpochAck",
        "ZAB_WRONG_WINNER",
    ),
    Decision(
        "quorum-of-supporters",
        "established with the acknowledgements of a quorum of the voters",
        "Leader#waitForNewLeaderAck",
        "LEADER_WITHOUT_QUORUM",
    ),
    Decision(
        "committed-zxid",
        "a later leader has every entry with which an earlier one was established, and cuts none of them",
        "Leader#waitForNewLeaderAck, LearnerHandler#syncFollower",
        "COMMITTED_ENTRY_LOST",
    ),
    Decision(
        "diff-whole",
        "a diff begins at the end of the learner's log, and leaves nothing out",
        "LearnerHandler#queueCommittedProposals",
        "STORES_DIFFER",
        never_conforms="a diff with everything prints nothing that is compared",
    ),
    Decision("one-leader", "one leader an epoch", "Leader#getEpochToPropose", "SPLIT_BRAIN_SAME_TERM"),
    Decision(
        "epoch-kept",
        "a server's epoch is on its disk and never gets smaller",
        "QuorumPeer#getCurrentEpoch",
        "TERM_REGRESSION",
        never_conforms="only what went back is counted",
    ),
    Decision(
        "joins",
        "a server that follows stays with its leader",
        "QuorumPeer#run, Learner#syncWithLeader",
        "MEMBER_CANNOT_JOIN",
        never_conforms="only what fails is counted",
    ),
    Decision(
        "gives-up",
        "a leader without quorum shuts down after syncLimit ticks and commits nothing meanwhile",
        "Leader#lead",
        "SPLIT_BRAIN_OVERLAP",
        never_violates="what a stale leader commits is not printed, and needs a broken rule of voting",
    ),
)

BULLY = (
    Decision("highest", "the highest node that lives leads", "Garcia-Molina 1982", "BULLY_NOT_HIGHEST"),
    Decision("one-at-once", "one coordinator at a time", "Garcia-Molina 1982", "SPLIT_BRAIN_OVERLAP"),
    Decision("one-an-election", "one coordinator an election", "Garcia-Molina 1982", "SPLIT_BRAIN_SAME_TERM"),
)

TOKEN_RING = (
    Decision("highest", "the largest id that takes part leads", "Chang and Roberts 1979", "RING_NOT_HIGHEST"),
    Decision(
        "one-an-election",
        "one leader an election",
        "Chang and Roberts 1979",
        "SPLIT_BRAIN_SAME_TERM",
        never_violates=_NO_NUMBERS,
    ),
)
