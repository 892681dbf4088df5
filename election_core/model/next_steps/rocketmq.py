"""What to do about findings in RocketMQ: DLedger groups, broker sets under controllers, acting masters, locks."""

from election_replay.election_core.model.catalogue.rule import RuleId
from election_replay.election_core.model.next_steps import commands as run
from election_replay.election_core.model.next_steps.steps import (
    CUT_OFF,
    DIED,
    FROZEN,
    LARGER_TERM,
    LOST,
    MEMBERS_DIED,
    REACHABLE,
    Check,
    NextSteps,
)

DEPLOY = "RocketMQ docs/en/controller/deploy.md"
DESIGN = "RocketMQ docs/en/controller/design.md"
IDENTITY = "RocketMQ docs/en/controller/persistent_unique_broker_id.md"
ACTING = "RocketMQ docs/cn/SlaveActingMasterMode.md (RIP-32)"
DLEDGER = "RocketMQ docs/en/dledger/deploy_guide.md; Raft section 5"

_WHO_LEADS = Check("Which broker is registered as master (BID 0), and at which address", run.MQ_CLUSTER)
_SET = Check("Who is master by the controllers, and which replicas are in its SyncStateSet", run.MQ_SET)
_EPOCHS = Check("At which offset each replica's epochs begin and end: where they part, logs parted", run.MQ_EPOCHS)
_HA = Check("Whether the replicas copy again, and how far behind they are", run.MQ_HA)
_LOST = Check("From which offset to which the log was cut", run.LOSSES)
_SETTINGS = Check("Which settings the broker really runs with", run.MQ_CONFIG)
_PROBE = Check("Whether the set takes messages now", run.MQ_PROBE)
_DEAD = Check("Whether the kernel killed the process, for memory say", run.OOM)
_FROZEN = Check("How long the collector or a safepoint stopped the process", run.PAUSES)
_NET = Check("Whether the machines reach each other on the broker's, HA and controller ports", run.REACH)
_LINES = Check("What each node logged around that moment, in one time", run.AROUND)
_VOTES = Check("Who asked for votes in that term, and who granted them", run.VOTES)
_MACHINES = Check("Whether one machine spoke for two members, or two for one", run.IDENTITIES)
_PROCESSES = Check("Whether two processes run with one store or one member id", run.PROCESSES)
_EXPLAIN = Check("Which lines prove it, and what would refute it", run.LINES)

NO_RESTART = (
    "Do not restart the stale master before its commit log is copied: when it rejoins it cuts off what it alone has."
)
NO_STORE = (
    "Do not delete or copy a member's store to make it start: its term and vote are in it, and without them it votes "
    "twice."
)

ROCKETMQ_STEPS: tuple[NextSteps, ...] = (
    NextSteps(
        rule=RuleId.SPLIT_BRAIN_SAME_TERM,
        checks=(_MACHINES, _VOTES, _PROCESSES),
        do_not=NO_STORE,
        source=DLEDGER,
    ),
    NextSteps(
        rule=RuleId.SPLIT_BRAIN_OVERLAP,
        checks=(_WHO_LEADS, _EPOCHS, _LOST),
        do_not=NO_RESTART,
        source=DESIGN,
    ),
    NextSteps(
        rule=RuleId.SPLIT_BRAIN_OVERLAP,
        cause=LOST,
        checks=(_LOST, Check("Which of the messages that were cut off producers sent again", run.MQ_MESSAGE), _EPOCHS),
        do_not="Do not reset consumer offsets before the producers have sent again what was cut off: offsets above the "
        "cut now mean other messages.",
        source=DESIGN,
    ),
    NextSteps(
        rule=RuleId.SPLIT_BRAIN_OVERLAP,
        cause=FROZEN,
        checks=(_FROZEN, _WHO_LEADS, _EPOCHS),
        do_not="Do not raise the heartbeat time-outs to hide pauses: each second more is a second without a master "
        "when one really dies.",
        source=DEPLOY,
    ),
    NextSteps(
        rule=RuleId.SPLIT_BRAIN_OVERLAP,
        cause=CUT_OFF,
        checks=(_NET, _EPOCHS, _SETTINGS),
        do_not=NO_RESTART,
        source=DEPLOY,
    ),
    NextSteps(rule=RuleId.DOUBLE_VOTE, checks=(_VOTES, _MACHINES, _PROCESSES), do_not=NO_STORE, source=DLEDGER),
    NextSteps(
        rule=RuleId.TERM_REGRESSION,
        checks=(
            _MACHINES,
            Check(
                "Whether the store was replaced: its files are newer than the process",
                "ls -l --time-style=full-iso STORE/dledger-NODE",
            ),
            _VOTES,
        ),
        do_not=NO_STORE,
        source=DLEDGER,
    ),
    NextSteps(
        rule=RuleId.LEADER_WITHOUT_QUORUM,
        checks=(Check("Which members each one is configured with (dLegerPeers)", run.MQ_CONFIG), _VOTES, _WHO_LEADS),
        do_not="Do not shorten the list of members on some machines only: lists that differ make two majorities.",
        source=DLEDGER,
    ),
    NextSteps(
        rule=RuleId.LEADER_KEPT_WITHOUT_QUORUM,
        checks=(_NET, _LINES, _PROBE),
        do_not="Do not count what this leader answered in that time as stored: it could not commit it.",
        source=DLEDGER,
    ),
    NextSteps(
        rule=RuleId.WRITES_UNANSWERED,
        checks=(
            Check("Whether the broker's disk keeps up", run.DISK),
            _FROZEN,
            Check("How long puts take, and how many wait", run.MQ_STATUS),
        ),
        do_not="Do not send the same messages again without a key to tell them apart: the broker stored them.",
        source="RocketMQ NettyRemotingAbstract#writeResponse; docs/en/best_practice.md",
    ),
    NextSteps(
        rule=RuleId.WRITES_REFUSED,
        checks=(
            Check("Whether the broker's disk is full, and keeps up", run.DISK),
            _WHO_LEADS,
            Check("How long puts take, and how many wait", run.MQ_STATUS),
        ),
        do_not="Do not delete files of the commit log by hand, and do not hand over to a member that is down: a broker "
        "deletes by itself what is old, and a transfer begun is ended by a restart of the leader alone.",
        source="RocketMQ DefaultMessageStore#isSpaceToDelete; DLedger DLedgerServer#handleLeadershipTransfer",
    ),
    NextSteps(
        rule=RuleId.FORMER_LEADER_STILL_MASTER,
        checks=(
            _WHO_LEADS,
            Check("Which brokers the name servers give to clients for the topic", run.MQ_ROUTE),
            _PROBE,
        ),
        do_not="Do not restart the former leader while it changes its role: it ends the change by itself.",
        source="RocketMQ DLedgerRoleChangeHandler#handle",
    ),
    NextSteps(
        rule=RuleId.WRONG_ROUND_RESULT,
        checks=(_EXPLAIN, Check("Which release runs: clusterList shows it", run.MQ_CLUSTER), _VOTES),
        do_not="Do not mix releases of DLedger in one group while this stands open.",
        source=DLEDGER,
    ),
    NextSteps(
        rule=RuleId.WRONG_VOTE_RESULT,
        checks=(_EXPLAIN, _VOTES, Check("Which release runs: clusterList shows it", run.MQ_CLUSTER)),
        do_not=NO_STORE,
        source=DLEDGER,
    ),
    NextSteps(
        rule=RuleId.STALE_LOG_VOTE,
        checks=(_VOTES, _LOST, Check("Up to where each member's log reaches", run.MQ_STATUS)),
        do_not="Do not transfer leadership until the longest log is known: what only it holds is cut off.",
        source="Raft section 5.4.1; DLedger DLedgerLeaderElector#handleVote",
    ),
    NextSteps(
        rule=RuleId.HEARTBEAT_RULE,
        checks=(_SETTINGS, _FROZEN, _LINES),
        do_not="Do not set heartBeatTimeIntervalMs or maxHeartBeatLeak on one member only.",
        source=DLEDGER,
    ),
    NextSteps(rule=RuleId.TERM_RULE, checks=(_EXPLAIN, _VOTES, _MACHINES), do_not=NO_STORE, source=DLEDGER),
    NextSteps(
        rule=RuleId.TRANSFER_RULE,
        checks=(
            _EXPLAIN,
            _WHO_LEADS,
            Check("Whether the transferee's log reaches as far as the leader's", run.MQ_STATUS),
        ),
        do_not="Do not ask for the transfer again while the last one still runs: the leader takes no writes meanwhile.",
        source="DLedger DLedgerLeaderElector#handleLeadershipTransfer",
    ),
    NextSteps(
        rule=RuleId.MEMBERS_DISAGREE,
        checks=(Check("Which members each one is configured with (dLegerPeers)", run.MQ_CONFIG), _MACHINES, _PROCESSES),
        do_not="Do not add or remove members one machine at a time without stopping the group: lists that differ can "
        "make two majorities.",
        source=DLEDGER,
    ),
    NextSteps(
        rule=RuleId.BROKER_ROLE_RULE,
        checks=(_WHO_LEADS, _LINES, Check("Which permission the broker's queues are shown with", run.MQ_ROUTE)),
        do_not="Do not change brokerRole by hand in a DLedger group: the member's role decides it.",
        source="RocketMQ DLedgerRoleChangeHandler",
    ),
    NextSteps(
        rule=RuleId.UNCLEAN_ELECTION,
        checks=(
            Check("Whether such elections are allowed (enableElectUncleanMaster)", run.MQ_CONTROLLER_CONFIG),
            _LOST,
            _EPOCHS,
        ),
        do_not="Do not start the former master before its commit log is copied: it cuts its log back to the new "
        "master's when it follows.",
        source=DEPLOY,
    ),
    NextSteps(
        rule=RuleId.MASTER_NOT_IN_SYNC_STATE_SET,
        checks=(_SET, Check("What each controller holds for itself, and who leads them", run.MQ_CONTROLLERS), _EPOCHS),
        do_not="Do not clean the broker's metadata at the controllers (cleanBrokerMetadata) while it leads.",
        source=DESIGN,
    ),
    NextSteps(
        rule=RuleId.EPOCH_REGRESSION,
        checks=(Check("Who leads the controllers, and at which term", run.MQ_CONTROLLERS), _EPOCHS, _SET),
        do_not="Do not start controllers with an empty store beside brokers that know later epochs: new epochs then "
        "fence nobody.",
        source=DESIGN,
    ),
    NextSteps(
        rule=RuleId.WRONG_ELECTION,
        checks=(_SET, Check("Who leads the controllers, and how many there are", run.MQ_CONTROLLERS), _EPOCHS),
        do_not="Do not run electMaster until both winners' logs are compared: what only the loser holds is cut off.",
        source="RocketMQ ReplicasInfoManager#electMaster",
    ),
    NextSteps(
        rule=RuleId.WRONG_SET_CHANGE,
        checks=(_SET, _HA, _EXPLAIN),
        do_not="Do not elect by hand from a SyncStateSet that is in doubt.",
        source="RocketMQ ReplicasInfoManager#alterSyncStateSet",
    ),
    NextSteps(
        rule=RuleId.CONTROLLERS_DISAGREE,
        checks=(
            Check("What each controller holds for itself, asked one by one", run.MQ_CONTROLLERS),
            Check("What each of them says of the set, asked one by one", run.MQ_SET),
            _EXPLAIN,
        ),
        do_not="Do not let the controller that differs become leader: stop it, and give it the others' snapshot.",
        source="RocketMQ JRaftControllerStateMachine#onApply",
    ),
    NextSteps(
        rule=RuleId.REPLICATION_RULE,
        checks=(_EPOCHS, _HA, _EXPLAIN),
        do_not=NO_RESTART,
        source="RocketMQ AutoSwitchHAClient#doTruncate",
    ),
    NextSteps(
        rule=RuleId.ACK_RULE,
        checks=(
            Check(
                "inSyncReplicas, minInSyncReplicas, allAckInSyncStateSet as the broker runs with them", run.MQ_CONFIG
            ),
            _SET,
            _HA,
        ),
        do_not="Do not lower inSyncReplicas to make producers succeed: what one replica alone has is lost with it.",
        source=DEPLOY,
    ),
    NextSteps(
        rule=RuleId.SYNC_STATE_SET_STALE,
        checks=(_SET, _NET, Check("Who leads the controllers", run.MQ_CONTROLLERS)),
        do_not="Do not read the set at this master alone: the controllers' record decides who may be elected.",
        source=DESIGN,
    ),
    NextSteps(
        rule=RuleId.SYNC_STATE_SET_SMALL,
        checks=(_SET, _HA, _NET),
        do_not="Do not stop the master while its set holds it alone: nobody else is sure to have what it acknowledged.",
        source=DESIGN,
    ),
    NextSteps(
        rule=RuleId.POSSIBLE_DATA_LOSS,
        checks=(
            _LOST,
            Check("Whether producers had to wait for replicas (inSyncReplicas, allAckInSyncStateSet)", run.MQ_CONFIG),
            Check("Whether a message that a producer holds as sent is still there", run.MQ_MESSAGE),
        ),
        do_not="Do not call it harmless before the producers' records are compared: whether it was acknowledged is "
        "not in the brokers' logs.",
        source=DEPLOY,
    ),
    NextSteps(
        rule=RuleId.COMMITTED_ENTRY_LOST,
        checks=(_LOST, Check("Up to where each member's log reaches", run.MQ_STATUS), _MACHINES),
        do_not="Do not delete the store of the member that was cut: it may be the only copy of what is gone.",
        source="Raft section 5.4; DLedger DLedgerEntryPusher",
    ),
    NextSteps(
        rule=RuleId.QUEUES_CUT_AT_START,
        checks=(
            Check("Where each queue of the topic ends at this broker", run.MQ_TOPIC),
            Check("Whether entries of the queue still point into the log", run.MQ_QUEUE),
            _WHO_LEADS,
        ),
        do_not="Do not let this broker lead before its queues are built again: queue offsets would be given twice.",
        source="RocketMQ DLedgerCommitLog#recover",
    ),
    NextSteps(
        rule=RuleId.REPLICATION_STUCK,
        checks=(_HA, _EPOCHS, Check("How far the disk of the slave is filled", "df -h STORE")),
        do_not="Do not elect the slave that is stuck: it lacks all that its master took since.",
        source="RocketMQ AutoSwitchHAClient#doTruncate",
    ),
    NextSteps(
        rule=RuleId.LEADERLESS,
        checks=(_WHO_LEADS, _LINES, _PROBE),
        do_not="Do not restart all members at once: that ends the election that is under way, and begins another one.",
        source=DLEDGER,
    ),
    NextSteps(
        rule=RuleId.LEADERLESS,
        cause=DIED,
        checks=(_DEAD, _WHO_LEADS, _HA),
        do_not="Do not start the old leader with another store or id: it must come back as the member that it was.",
        source=DLEDGER,
    ),
    NextSteps(
        rule=RuleId.LEADERLESS,
        cause=FROZEN,
        checks=(_FROZEN, Check("Whether the disk kept the process waiting", run.DISK), _WHO_LEADS),
        do_not="Do not raise the time-outs to hide pauses: each second more is a second without a leader when one "
        "really dies.",
        source=DLEDGER,
    ),
    NextSteps(
        rule=RuleId.LEADERLESS,
        cause=CUT_OFF,
        checks=(_NET, _LINES, _WHO_LEADS),
        do_not="Do not restart the leader that was cut off before its log is compared with the new one's.",
        source=DLEDGER,
    ),
    NextSteps(
        rule=RuleId.LEADERLESS,
        cause=MEMBERS_DIED,
        checks=(_DEAD, _WHO_LEADS, _LINES),
        do_not="Do not make the group smaller while the members that ended can come back with their stores.",
        source=DLEDGER,
    ),
    NextSteps(
        rule=RuleId.LEADERLESS,
        cause=LARGER_TERM,
        checks=(_NET, _LINES, _WHO_LEADS),
        do_not="Do not look for a slow disk: a member that had stood alone came back with a larger term, and the "
        "leader gives up when it hears of one.",
        source="DLedgerLeaderElector#sendHeartbeats (EXPIRED_TERM)",
    ),
    NextSteps(
        rule=RuleId.LEADERLESS,
        cause=REACHABLE,
        checks=(
            Check("Who asked for the change, or which thread was late", run.AROUND),
            _FROZEN,
            Check("The times that the group counts with, as its members print them", run.LINES),
        ),
        do_not="Do not look for a dead machine: the old leader was alive, and the election was not needed.",
        source=DLEDGER,
    ),
    NextSteps(
        rule=RuleId.ELECTION_STORM,
        checks=(_NET, _FROZEN, _SETTINGS),
        do_not="Do not restart members one after the other to calm it: each restart is one more election.",
        source=DLEDGER,
    ),
    NextSteps(
        rule=RuleId.ACTING_MASTER_OVERLAP,
        checks=(
            Check("Whom each name server shows as master, asked one by one", run.MQ_CLUSTER),
            _NET,
            Check("Which groups got delayed or transaction messages twice", run.MQ_PROGRESS),
        ),
        do_not="Do not switch enableSlaveActingMaster on the brokers of one side only.",
        source=ACTING,
    ),
    NextSteps(
        rule=RuleId.ACTING_MASTER_NOT_MIN_ID,
        checks=(Check("Which ids each name server knows of the set, asked one by one", run.MQ_CLUSTER), _NET, _LINES),
        do_not="Do not give a broker another brokerId while the set runs.",
        source=ACTING,
    ),
    NextSteps(
        rule=RuleId.ACTING_MASTER_WRITABLE,
        checks=(
            Check("Which permission each name server shows for the set's topics, asked one by one", run.MQ_ROUTE),
            _WHO_LEADS,
            _PROBE,
        ),
        do_not="Do not open write permission (addWritePerm) for a set whose slave acts: it takes no messages.",
        source=ACTING,
    ),
    NextSteps(
        rule=RuleId.SPECIAL_SERVICE_GAP,
        checks=(
            _WHO_LEADS,
            Check("Whether enableSlaveActingMaster is on, at brokers and name servers", run.MQ_CONFIG),
            Check("How late delayed messages are: the lag of their consumers", run.MQ_PROGRESS),
        ),
        do_not="Do not send delayed messages again: those that waited are delivered once a member serves.",
        source=ACTING,
    ),
    NextSteps(
        rule=RuleId.PRE_ONLINE_STUCK,
        checks=(Check("What the pre-online says at each try", run.AROUND), _HA, _NET),
        do_not="Do not set skipPreOnline to get it online: consumer and delay offsets then go back.",
        source=ACTING,
    ),
    NextSteps(
        rule=RuleId.METADATA_ROLLBACK,
        checks=(
            Check("How far the group's offsets went back, queue by queue", run.MQ_PROGRESS),
            Check("Which tables of which version each member held, and when", run.VERSIONS),
            Check("Whether skipPreOnline is set", run.MQ_CONFIG),
        ),
        do_not="Do not skip the lag (skipAccumulatedMessage) to end the repeats: that skips what was never consumed.",
        source=ACTING,
    ),
    NextSteps(
        rule=RuleId.PRE_ONLINE_SKIPPED,
        checks=(
            Check("Whether skipPreOnline is set, and totalReplicas", run.MQ_CONFIG),
            Check("How far the groups' offsets went back, queue by queue", run.MQ_PROGRESS),
            Check("Which tables of which version each member held, and when", run.VERSIONS),
        ),
        do_not="Do not copy consumerOffset.json from the slave into a broker that runs: it writes its own over it.",
        source=ACTING,
    ),
    NextSteps(
        rule=RuleId.STALE_REVERSE_SYNC,
        checks=(
            Check("Which tables of which version each member held, and when", run.VERSIONS),
            Check("How far the groups' offsets went back, queue by queue", run.MQ_PROGRESS),
            Check("How many members answer for the set", run.MQ_CLUSTER),
        ),
        do_not="Do not restart the broker again: each start takes over the tables once more.",
        source=ACTING,
    ),
    NextSteps(
        rule=RuleId.BROKER_ID_CONFLICT,
        checks=(
            _MACHINES,
            Check("Which id and check code each machine holds", "cat STORE/brokerIdentity"),
            Check("Which address the controllers hold for the id", run.MQ_SET),
        ),
        do_not="Do not copy a broker's store to another machine with its identity file.",
        source=IDENTITY,
    ),
    NextSteps(
        rule=RuleId.BROKER_IDENTITY_RESET,
        checks=(
            Check("Which id and check code the broker holds now", "cat STORE/brokerIdentity"),
            Check("Which ids the controllers hold for the set, dead ones too", run.MQ_SET),
            _MACHINES,
        ),
        do_not="Do not clean the old id (cleanBrokerMetadata) before the broker's log is known to be the new one's.",
        source=IDENTITY,
    ),
    NextSteps(
        rule=RuleId.REGISTER_CODE_MISMATCH,
        checks=(
            Check("Which id and check code the broker holds", "cat STORE/brokerIdentity"),
            Check("Which ids the controllers hold for the set", run.MQ_SET),
            Check("Which id the broker got in the end", run.MQ_CLUSTER),
        ),
        do_not="Do not edit the identity file: the broker takes the next id by itself.",
        source=IDENTITY,
    ),
    NextSteps(
        rule=RuleId.INCOMPATIBLE_VERSIONS,
        checks=(
            Check("Which release each broker runs", run.MQ_CLUSTER),
            Check("Who leads the controllers", run.MQ_CONTROLLERS),
            Check("Which ids the controllers hold for the set", run.MQ_SET),
        ),
        do_not="Do not upgrade brokers across 5.1.1 before the controllers, or mix both sides for long.",
        source=IDENTITY,
    ),
    NextSteps(
        rule=RuleId.LOCK_DOUBLE_HOLD,
        checks=(
            Check("Who held which queue at which broker, and when", run.LOCKS),
            Check("Which clients of the group are connected, and consume in order", run.MQ_CONSUMERS),
            Check("Whether lockInStrictMode is on", run.MQ_CONFIG),
        ),
        do_not="Do not trust the order of what was consumed in that time: repair what depends on it first.",
        source=ACTING,
    ),
    NextSteps(
        rule=RuleId.LOCK_WITHOUT_QUORUM,
        checks=(
            Check("Which members of the set answer", run.MQ_CLUSTER),
            Check("Whether totalReplicas is what the set really has", run.MQ_CONFIG),
            Check("Who held which queue at which broker, and when", run.LOCKS),
        ),
        do_not="Do not restart consumers to free the queues: grants without a quorum expire by themselves after 60 s.",
        source="RocketMQ AdminBrokerProcessor#lockBatchMQ",
    ),
    NextSteps(
        rule=RuleId.LOCK_NON_STRICT_RISK,
        checks=(
            Check("Whether lockInStrictMode is on", run.MQ_CONFIG),
            Check("Who held which queue at which broker, and when", run.LOCKS),
            Check("What one client of the group does with its queues", run.MQ_CONSUMER),
        ),
        do_not="Do not switch strict mode on for some brokers of a set only.",
        source=ACTING,
    ),
    NextSteps(
        rule=RuleId.LOCK_USED_AFTER_EXPIRY,
        checks=(
            Check("Who held which queue at which broker, and when", run.LOCKS),
            Check("What the old holder does with its queues", run.MQ_CONSUMER),
            _FROZEN,
        ),
        do_not="Do not make the handling of one message longer than the 60 s that a lock lives.",
        source="RocketMQ RebalanceLockManager",
    ),
)
