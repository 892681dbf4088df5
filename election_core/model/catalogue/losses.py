"""Rules of what was committed and is lost, and of what a broker lost of its queues."""

from election_replay.election_core.model.catalogue.rule import Rule, RuleId

LOSSES: tuple[Rule, ...] = (
    Rule(
        id=RuleId.COMMITTED_ENTRY_LOST,
        severity="critical",
        meaning=(
            "A log was cut below what had been printed as committed, a leader's log ends below what an earlier term "
            "or epoch had committed, or a member lost entries that it had acknowledged."
        ),
        source=(
            "Raft section 5.4 (leader completeness); DLedger DLedgerEntryPusher; etcd raft log.go; "
            "ZooKeeper Leader#waitForNewLeaderAck, LearnerHandler#syncFollower; "
            "JRaft LogManagerImpl#unsafeTruncateSuffix"
        ),
        needs=(
            "the commit index in status lines or at starts (ZooKeeper: the last zxid of an established leader), and "
            "the line that cuts or the length of the later leader's log"
        ),
        proven_by="the indexes are those of the members' own lines",
        refuted_by=(
            "Stores of the whole group that were emptied or restored in between, so that indexes began anew, or a "
            "line of another group."
        ),
    ),
    Rule(
        id=RuleId.QUEUES_CUT_AT_START,
        severity="warning if the broker leads afterwards; info if not",
        meaning=(
            "When it started, a DLedger broker cut its queues below the end of its log: messages are in the log but "
            "in no queue, and where that broker leads, their queue offsets are given twice. The start did that, not "
            "an election."
        ),
        source="RocketMQ DLedgerCommitLog#recover, DefaultMessageStore#truncateDirtyLogicFiles",
        needs="the line that cuts the queues, and the end of the log that the same start prints",
        refuted_by="A later line which says that the queues were rebuilt from the place of the cut.",
    ),
    Rule(
        id=RuleId.CLUSTER_RESTORED,
        severity="warning; critical if it lacks revisions that the former cluster had",
        meaning=(
            "The data folders of a cluster's members started as another cluster: a snapshot was restored, or the data "
            "were emptied. Whatever the former cluster had beyond that snapshot is gone."
        ),
        source="etcd docs, op-guide/recovery; etcd server/etcdserver/bootstrap.go",
        needs="the cluster's id at starts of one folder, and the revisions that the data were read with",
        proven_by="the ids and revisions are those of the members' own lines",
        refuted_by="An operator who used these machines for another cluster on purpose.",
    ),
    Rule(
        id=RuleId.CLUSTER_FORCED,
        severity="warning; critical if another member of the former cluster kept leading",
        meaning=(
            "A member made a new cluster of itself alone (--force-new-cluster). What the others had beyond its log is "
            "not in it. Those of them that still run are a second cluster under the same id."
        ),
        source="etcd docs, op-guide/recovery; etcd server/etcdserver/raft.go (restartAsStandaloneNode)",
        needs="the line with which the member starts, and the leaderships of the others",
        refuted_by="Logs of the others that end before it.",
    ),
    Rule(
        id=RuleId.STORE_WENT_BACK,
        severity="warning",
        meaning=(
            "A member started with a log that ends before an entry that it had reached, and no leader had cut it: its "
            "data are an older copy, or were emptied."
        ),
        source="Raft section 5.2 (persistent state); etcd-io/raft raft.go (newRaft); ZooKeeper FastLeaderElection "
        "(lookForLeader)",
        needs="where the log ended, as printed with votes and starts, and the start after it",
        proven_by="both ends are those of its own lines",
        refuted_by="A line between the two which says that a leader cut the log.",
    ),
    Rule(
        id=RuleId.STORES_DIFFER,
        severity="critical",
        meaning="By their own comparison, members of one cluster hold different data.",
        source="etcd server/etcdserver/corrupt.go",
        needs="the lines of the hash check, which members run at start, after compactions or as configured",
        refuted_by="A member that had been emptied and had not caught up when it was asked.",
    ),
)
