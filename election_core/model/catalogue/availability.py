"""Rules of availability: times without a leader, and too many elections."""

from election_replay.election_core.model.catalogue.rule import Rule, RuleId

AVAILABILITY: tuple[Rule, ...] = (
    Rule(
        id=RuleId.LEADERLESS,
        severity="warning; info below two seconds, below thirty if planned, or if a leader kept running",
        meaning=(
            "Members were up and a leader had existed before, but nobody led who could take writes. It begins when "
            "the leader is lost, or its majority where a majority commits. It ends when the next leader serves, or "
            "when the same leader has its majority again. Also: members looked for a first leader for more than a "
            "minute and found none to the end of their logs."
        ),
        source="DLedger DLedgerLeaderElector#maintainAsFollower; RocketMQ ReplicasInfoManager#electMaster",
        needs=(
            "the end of one leader and the begin of the next; for a killed leader, who heard from it last; for a lost "
            "majority, the leader's rounds without one, or which of its followers heard from it last"
        ),
        proven_by="the controllers recorded {terms} without a master",
        refuted_by="A member whose logs are missing here and that led in this time, or successful writes in it.",
    ),
    Rule(
        id=RuleId.MEMBER_CANNOT_JOIN,
        severity="warning",
        meaning=(
            "A member joined its leader at least five times in a row and followed it for less than ten seconds each "
            "time, while the leader kept leading. Until an operator acts, the group has one member less."
        ),
        source="ZooKeeper QuorumPeer#run, Learner#syncWithLeader; Raft section 5.5",
        needs="the member's own lines that say when it follows and when it does not, and those of its leader",
        refuted_by="Lines of the member which show that it followed for longer.",
    ),
    Rule(
        id=RuleId.ELECTION_STORM,
        severity="warning",
        meaning=(
            "At least three unplanned elections within ten minutes, at least ten seconds apart. An election that "
            "nobody won counts too if a majority took part: votes were split, or the winner was not established."
        ),
        source="Availability: each election stops writes",
        needs="the begins of the leaders' roles, or the controllers' elections; rounds of votes and their results",
        proven_by="each election has a term of its own",
        refuted_by="Operators who asked for these elections, or epochs that were raised without an election.",
    ),
    Rule(
        id=RuleId.NEEDLESS_ELECTION,
        severity="info",
        meaning=(
            "A member that was cut off raised its epoch alone. When the others heard from it again, a leader that had "
            "its majority had to give up. Since 4.0 Kafka's voters first ask whether they would be elected (pre- "
            "vote)."
        ),
        source="Ongaro, Consensus: Bridging Theory and Practice, section 9.6; Kafka KIP-996",
        needs="the candidacies of the member, and the line with which the leader gave up its role",
        proven_by="the epochs that the member raised alone are those of its own lines",
        refuted_by="A line of the leader, before it gave up, that it had lost its majority.",
    ),
    Rule(
        id=RuleId.WRITES_UNANSWERED,
        severity="info",
        meaning=(
            "A broker stored writes but answered after their clients had given up: too slow for its clients, yet "
            "quick enough to keep its role. No election caused it, and none follows from it."
        ),
        source="RocketMQ NettyRemotingAbstract#writeResponse, DefaultMessageStore#asyncPutMessage",
        needs=(
            "answers to writes whose connection was closed (5.1 and later), several over a second or more, or with "
            "puts that took more than half a second"
        ),
        refuted_by="Clients that were stopped at that moment and no longer waited.",
    ),
    Rule(
        id=RuleId.WRITES_REFUSED,
        severity="warning; info below two seconds, and where only a hole in a log shows it",
        meaning=(
            "A leader kept its role but took no writes, and its lines say why: the disk is too full, a transfer of "
            "leadership does not end, other replicas do not acknowledge, or too few replicas are in sync. In etcd "
            "also: its disk hangs, its loop stood still, or an alarm forbids writes on all members. In DLedger "
            "possibly: it printed no status for some seconds. Clients see the same as in a time without a leader, and "
            "no election ends it."
        ),
        source=(
            "RocketMQ DefaultMessageStore (CleanCommitLogService#isSpaceToDelete), GroupTransferService; DLedger "
            "DLedgerServer#handleAppend, #handleLeadershipTransfer; etcd server/etcdserver/apply (NOSPACE, CORRUPT); "
            "Kafka Partition#appendRecordsToLeader (min.insync.replicas)"
        ),
        needs=(
            "the lines that mark the disk as full and as well again; a request to hand over, and appends that fail "
            "from then on; messages that were not acknowledged in time, one after the other; etcd: requests that were "
            "not applied for lack of space or because the cluster is corrupt, and syncs of a second or more; Kafka: "
            "appends that failed because too few replicas were in sync, or a replica in sync that was fenced"
        ),
        refuted_by="A write that this broker acknowledged in this time.",
    ),
    Rule(
        id=RuleId.FORMER_LEADER_STILL_MASTER,
        severity="info",
        meaning=(
            "The broker of a DLedger member that no longer leads was still changing to slave while the broker of "
            "another leader was master: clients may be sent to either of them, and writes to the former one fail."
        ),
        source="RocketMQ DLedgerRoleChangeHandler#handle",
        needs="the lines with which both brokers ended their changes of role, and how long these took",
        refuted_by="The former leader's role ended at another time than its log shows.",
    ),
)
