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
        judged_by=(
            "judge.completeness",
            "protocols.dledger.losses",
            "protocols.kraft.partition_rules",
            "protocols.kraft.quorum_log",
            "protocols.kraft.quorum_rules",
            "protocols.raft.jraft_log",
            "protocols.raft.log",
            "protocols.raft.rules",
            "protocols.raft_family.rules",
            "protocols.zab.losses",
        ),
    ),
    Rule(
        id=RuleId.QUEUES_CUT_AT_START,
        severity="warning if the broker leads afterwards; info if not",
        meaning=(
            "A DLedger broker cut its queues at its start below the end of its log: messages are in the log and in no "
            "queue, and where that broker leads their queue offsets are given twice. No election did that."
        ),
        source="RocketMQ DLedgerCommitLog#recover, DefaultMessageStore#truncateDirtyLogicFiles",
        needs="the line that cuts the queues, and the end of the log that the same start prints",
        refuted_by="A later line that the queues were built again from the place of the cut.",
        judged_by=("protocols.dledger.losses",),
    ),
)
