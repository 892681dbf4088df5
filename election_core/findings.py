"""The catalogue of findings: a closed enumeration, each with its rule, its source and its severity.

A finding is a code plus evidence; its sentence is rendered from the numbers. The id of a finding is a hash of
what it says and of whom, never of when it was computed, so that a rerun finds the same finding.

Severity follows the consequence: *critical* = data lost or forked, or a safety rule broken, and that is proven
or definite; *warning* = availability lost, or a safety rule perhaps broken; *info* = worth knowing, the
protocol dealt with it.
"""

import hashlib
from dataclasses import dataclass

from election_core.clock import UNBOUNDED

PROVEN = "proven"
DEFINITE = "definite"
POSSIBLE = "possible"

CRITICAL = "critical"
WARNING = "warning"
INFO = "info"


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of the catalogue. ``source`` says where the rule comes from, ``needs`` what decides it."""

    rule: str
    severity: str
    meaning: str
    source: str

    @property
    def needs(self) -> str:
        """Which lines a log must hold for the rule to be judged at all."""
        return NEEDS[self.rule]

    @property
    def proven_by(self) -> str:
        """What a proven finding follows from, whatever the clocks were; ``{terms}`` stands for its terms."""
        return PROVEN_BY.get(self.rule, "its lines say so themselves")

    @property
    def refuted_by(self) -> str:
        """What, if it were found, would show that a finding of this rule is wrong."""
        return REFUTED_BY[self.rule]


CATALOGUE: tuple[Rule, ...] = (
    Rule(
        "SPLIT_BRAIN_SAME_TERM",
        "critical",
        "Two nodes led the same term or epoch. Follows from terms alone, whatever the clocks were.",
        "Raft section 5.2 (election safety); DLedger DLedgerLeaderElector#handleHeartBeat; "
        "RocketMQ ReplicasManager#changeToMaster",
    ),
    Rule(
        "SPLIT_BRAIN_OVERLAP",
        "critical if the stale leader took writes that were cut off or stay forked; warning if it may have; "
        "info if it was frozen, could not commit (Raft, ZAB), or only for as long as a notice takes",
        "Two nodes acted as leader at the same time with different terms or epochs.",
        "DLedger DLedgerLeaderElector#sendHeartbeats (maxHeartBeatLeak); RocketMQ ReplicasManager (no lease)",
    ),
    Rule(
        "DOUBLE_VOTE",
        "critical",
        "One voter granted one term to two candidates.",
        "Raft section 5.2; DLedger DLedgerLeaderElector#handleVote, MemberState#persistTerm",
    ),
    Rule(
        "TERM_REGRESSION",
        "warning",
        "A node's own term went back: its persistent term and vote were lost or replaced.",
        "Raft figure 2 (persistent state); DLedger MemberState#loadTerm",
    ),
    Rule(
        "LEADER_WITHOUT_QUORUM",
        "critical; warning for ZooKeeper, where servers may have weights",
        "A candidate called itself elected, or a leader established, without a majority of the members.",
        "DLedger DLedgerLeaderElector#maintainAsCandidate; etcd raft#stepCandidate; ZooKeeper Leader#startZkServer",
    ),
    Rule(
        "LEADER_KEPT_WITHOUT_QUORUM",
        "warning",
        "A leader kept its role for more than 12 s without a quorum of heartbeats; it has to give up after 6 s.",
        "DLedger DLedgerLeaderElector#sendHeartbeats (maxHeartBeatLeak)",
    ),
    Rule(
        "WRONG_ROUND_RESULT",
        "warning",
        "The printed result of a voting round does not follow from its printed counts.",
        "DLedger DLedgerLeaderElector#maintainAsCandidate",
    ),
    Rule(
        "WRONG_VOTE_RESULT",
        "warning",
        "A voter's printed answer is one that the rules of voting do not allow.",
        "DLedger DLedgerLeaderElector#handleVote",
    ),
    Rule(
        "STALE_LOG_VOTE",
        "critical",
        "A voter granted its vote to a candidate whose log is behind its own. Judged where logs print what was "
        "compared; etcd does, DLedger does not.",
        "Raft section 5.4.1; etcd raft#Step (MsgVote); DLedger DLedgerLeaderElector#handleVote",
    ),
    Rule(
        "HEARTBEAT_RULE",
        "warning",
        "A follower gave its leader up before the silence had lasted long enough, or a leader its role.",
        "DLedger DLedgerLeaderElector#maintainAsFollower, #sendHeartbeats",
    ),
    Rule(
        "TERM_RULE",
        "warning",
        "A node took a role in a term that is not its own, did not raise its term to the largest that it had heard of, "
        "or asked for votes twice in a term in which nobody could win.",
        "DLedger DLedgerLeaderElector#changeRoleToLeader, #changeRoleToCandidate, #maintainAsCandidate; "
        "MemberState#nextTerm, #changeToFollower",
    ),
    Rule(
        "TRANSFER_RULE",
        "warning",
        "A transfer of leadership was refused, or ended, with an answer that does not follow from roles and terms.",
        "DLedger DLedgerLeaderElector#handleLeadershipTransfer, #handleTakeLeadership, TakeLeadershipTask#check",
    ),
    Rule(
        "MEMBERS_DISAGREE",
        "warning",
        "A node got requests from one that is not in its list of members, or that bears its own id: lists that differ "
        "can make two majorities.",
        "DLedger DLedgerLeaderElector#handleVote, #handleHeartBeat (UNKNOWN_MEMBER, UNEXPECTED_MEMBER)",
    ),
    Rule(
        "BROKER_ROLE_RULE",
        "warning",
        "The broker of a DLedger member took another role than its member's demands.",
        "RocketMQ DLedgerRoleChangeHandler#handle",
    ),
    Rule(
        "UNCLEAN_ELECTION",
        "critical if messages were cut off because of it; warning otherwise",
        "A master was elected that was not in the SyncStateSet.",
        "RocketMQ DefaultElectPolicy#elect, ReplicasInfoManager#electMaster (enableElectUncleanMaster)",
    ),
    Rule(
        "MASTER_NOT_IN_SYNC_STATE_SET",
        "warning",
        "The controllers recorded a SyncStateSet that does not contain the master of its epoch.",
        "RocketMQ ReplicasInfoManager#alterSyncStateSet",
    ),
    Rule(
        "EPOCH_REGRESSION",
        "critical",
        "A broker took a role of a smaller master epoch than before in one life, its store knows a later epoch than "
        "the controllers give, or the controllers' epoch went back.",
        "RocketMQ ReplicasManager#changeToMaster, ReplicasInfoManager#electMaster",
    ),
    Rule(
        "WRONG_ELECTION",
        "critical if two brokers got one epoch; warning otherwise",
        "The controllers elected against their own rules: two winners of one epoch, the recorded master again, or "
        "another than the one that had to win.",
        "RocketMQ ReplicasInfoManager#electMaster",
    ),
    Rule(
        "WRONG_SET_CHANGE",
        "warning",
        "The controllers recorded or refused a SyncStateSet against their own record.",
        "RocketMQ ReplicasInfoManager#alterSyncStateSet",
    ),
    Rule(
        "CONTROLLERS_DISAGREE",
        "critical",
        "Two JRaft controllers applied the same entry of their log and came to different decisions.",
        "RocketMQ JRaftControllerStateMachine#onApply",
    ),
    Rule(
        "REPLICATION_RULE",
        "critical if a log was cut at the wrong place; warning otherwise",
        "A slave was called caught up that is behind, a log was cut where it does not part from its master's, or an "
        "epoch was left out or refused without reason.",
        "RocketMQ AutoSwitchHAService#maybeExpandInSyncStateSet, AutoSwitchHAClient#doTruncate, "
        "EpochFileCache#appendEntry, #findConsistentPoint",
    ),
    Rule(
        "ACK_RULE",
        "warning",
        "A master waited for another number of acknowledgements than its configuration demands.",
        "RocketMQ CommitLog#asyncPutMessage, GroupTransferService (allAckInSyncStateSet)",
    ),
    Rule(
        "SYNC_STATE_SET_STALE",
        "info",
        "A master could not change its SyncStateSet for longer than a poll: refused (fenced), or not answered.",
        "RocketMQ ReplicasManager#doReportSyncStateSetChanged, ReplicasInfoManager#alterSyncStateSet",
    ),
    Rule(
        "POSSIBLE_DATA_LOSS",
        "warning; info if nobody can have had an acknowledgement",
        "A former master cut messages off its log that the new master never had. Whether they had been "
        "acknowledged to a producer is not in the logs.",
        "RocketMQ AutoSwitchHAClient#doTruncate",
    ),
    Rule(
        "LEADERLESS",
        "warning; info if planned or if a node went on serving",
        "Members were up, a leader had existed before, and nobody led.",
        "DLedger DLedgerLeaderElector#maintainAsFollower; RocketMQ ReplicasInfoManager#electMaster",
    ),
    Rule(
        "ELECTION_STORM",
        "warning",
        "At least three unplanned elections within ten minutes, at least ten seconds apart.",
        "Availability: each election stops writes",
    ),
    Rule(
        "ZAB_WRONG_WINNER",
        "critical if proven; warning if possible",
        "A server took over a worse vote within one round, or a leader was established whose log is behind the logs of "
        "servers that it needed for its quorum: what they had committed is cut off.",
        "ZooKeeper FastLeaderElection#totalOrderPredicate, Leader#waitForEpochAck (epoch, zxid, server id)",
    ),
    Rule(
        "BULLY_NOT_HIGHEST",
        "warning",
        "A node became coordinator of a Bully group while a higher one was up from before its election until after it.",
        "Garcia-Molina, Elections in a Distributed Computing System (1982)",
    ),
    Rule(
        "RING_NOT_HIGHEST",
        "critical if the node's own message says so; warning if by the others' events",
        "A node became leader of a ring although a higher id took part, or was up from before the election until after "
        "it.",
        "Chang and Roberts, An improved algorithm for decentralized extrema-finding (1979); ring with a list of ids",
    ),
    Rule(
        "ACTING_MASTER_OVERLAP",
        "warning; info if one of them was frozen, not yet registered, or only for as long as a notice takes",
        "Two brokers of a set ran the special services (delayed messages, transaction checks, pop revive) at once: a "
        "master that was cut off and the slave that acts for it, or two slaves that act.",
        "RocketMQ BrokerController#changeSpecialServiceStatus, #onMinBrokerChange (RIP-32)",
    ),
    Rule(
        "ACTING_MASTER_NOT_MIN_ID",
        "warning",
        "A broker acted as master although it, or a member that asked the same name servers, had learned that a "
        "smaller id lives.",
        "RocketMQ BrokerController#updateMinBroker (RIP-32: the smallest live id acts)",
    ),
    Rule(
        "ACTING_MASTER_WRITABLE",
        "warning",
        "A name server showed a set's topics as writable while the set had no master, only one that acts and must be "
        "read only.",
        "RocketMQ RouteInfoManager#registerBroker, #reduceTopicQueues (RIP-32)",
    ),
    Rule(
        "SPECIAL_SERVICE_GAP",
        "info; warning beyond heartbeat time-out, scan and poll together",
        "Members were up and none ran the special services: delayed messages waited, transactions were not checked.",
        "RocketMQ RouteInfoManager#scanNotActiveBroker, BrokerController#syncBrokerMemberGroup (RIP-32)",
    ),
    Rule(
        "PRE_ONLINE_STUCK",
        "warning for a master that others wait for; info otherwise",
        "A broker that was started did not come online for a long time: its pre-online failed again and again. It "
        "serves nothing, and without its master the set takes no writes.",
        "RocketMQ BrokerPreOnlineService#run (RIP-32)",
    ),
    Rule(
        "METADATA_ROLLBACK",
        "warning; info if consumers had committed their places again by the first look",
        "Offsets went back, or topics or groups went missing, when an acting master handed over: messages are consumed "
        "or delivered again. The tables themselves are compared, not their versions.",
        "RocketMQ BrokerPreOnlineService#syncMetadataReverse, #prepareForSlaveOnline; RIP-32",
    ),
    Rule(
        "PRE_ONLINE_SKIPPED",
        "warning; info if nothing is seen to have gone back",
        "A broker came back without pre-online while another one acted, or its pre-online found nobody at the name "
        "servers: nothing was taken over.",
        "RocketMQ BrokerController#start (skipPreOnline, totalReplicas), BrokerPreOnlineService#prepareForBrokerOnline",
    ),
    Rule(
        "STALE_REVERSE_SYNC",
        "warning",
        "A reverse sync took over offsets that are lower than those of the acting master (an equal version is enough, "
        "and of several members the last one wins), or tables of a smaller version than the own one.",
        "RocketMQ BrokerPreOnlineService#syncMetadataReverse; DataVersion#compare",
    ),
    Rule(
        "NOT_JUDGED",
        "warning",
        "A log or a replica group could not be replayed because of a fault of this software; its rows are missing. All "
        "others were judged.",
        "This software",
    ),
    Rule(
        "LOG_GAP",
        "info",
        "A log is silent for at least ten seconds inside one life of its process: the process was frozen, or "
        "lines were lost. Nothing is concluded from missing lines.",
        "RocketMQ logback files: appenders drop INFO lines in bursts",
    ),
    Rule(
        "BROKER_ID_CONFLICT",
        "critical if two brokers surely had one id; warning otherwise",
        "One broker id and two machines: an identity that was copied, allocated twice, or belongs to another set.",
        "RocketMQ ReplicasManager (brokerIdentity), ReplicasInfoManager#applyBrokerId, #registerBroker",
    ),
    Rule(
        "BROKER_IDENTITY_RESET",
        "warning; info if an operator had removed the id",
        "A broker and the controllers lost the identity that they had agreed on: the broker came back as a new "
        "replica and left its id as a dead one, or the controllers do not know its id any more.",
        "RocketMQ ReplicasInfoManager#getNextBrokerId, #registerBroker (2010); persistent broker ids",
    ),
    Rule(
        "REGISTER_CODE_MISMATCH",
        "info",
        "A broker applied for an id that has another register code and was refused; it takes the next one.",
        "RocketMQ ReplicasInfoManager#applyBrokerId (2014)",
    ),
    Rule(
        "INCOMPATIBLE_VERSIONS",
        "warning",
        "Brokers and controllers of which one side knows persistent broker ids (5.1.1 and later) and one does not.",
        "RocketMQ, design of persistent broker ids: table of compatible versions",
    ),
    Rule(
        "LOCK_DOUBLE_HOLD",
        "critical if definite; warning if possible",
        "Two clients of one consumer group held the lock of one queue at once, at two brokers of a set.",
        "RocketMQ RebalanceLockManager#tryLockBatch, AdminBrokerProcessor#lockBatchMQ; RIP-32",
    ),
    Rule(
        "LOCK_WITHOUT_QUORUM",
        "info",
        "Strict mode: a lock was granted by fewer brokers than the quorum, because the others did not answer. The "
        "client was refused, but the grants are not undone and keep others out until they expire.",
        "RocketMQ AdminBrokerProcessor#lockBatchMQ",
    ),
    Rule(
        "LOCK_NON_STRICT_RISK",
        "info",
        "Non-strict mode: locks stood in the tables of two brokers of a set at once, or moved to another broker "
        "before their clients can have known that the first one was gone.",
        "RIP-32 (lockInStrictMode); RocketMQ RebalanceLockManager",
    ),
    Rule(
        "LOCK_USED_AFTER_EXPIRY",
        "info",
        "A client counted a queue as its own after its expired lock had gone to another client.",
        "RocketMQ RebalanceLockManager#unlockBatch",
    ),
    Rule(
        "CLOCK_SKEW",
        "warning; info for a step inside the configured bound",
        "Messages between two machines prove that their clocks differ by more than their configured bounds, "
        "or that a clock stepped. Verdicts about these machines rest on messages only. Or the lines of one file show "
        "that its clock was put back: they are judged in the order of the file.",
        "Difference constraints between clock offsets; the order of lines in a file",
    ),
    Rule(
        "IDENTITY_CONTRADICTION",
        "warning; info for one log in two folders",
        "It is not clear for which member a log speaks: it contradicts the inventory, changes its own name, or "
        "another folder speaks for the same member at the same time. Two folders with the same log are judged once.",
        "RocketMQ brokerName, dLegerGroup, dLegerSelfId; ZooKeeper myid; the inventory in the settings",
    ),
    Rule(
        "UNKNOWN_VERSION",
        "info",
        "A node runs a release whose log texts and rules are not known: lines that it words differently are not "
        "understood, and nothing is concluded from their absence.",
        "RocketMQ MQVersion, 4.5 to 5.5; ZooKeeper 3.4 to 3.9; etcd 3.3 to 3.7",
    ),
)

RULES = {entry.rule: entry for entry in CATALOGUE}

NEEDS: dict[str, str] = {
    "SPLIT_BRAIN_SAME_TERM": "the role lines of both leaders, each in its own log, or of members that heard both",
    "SPLIT_BRAIN_OVERLAP": "the begin and end of both leaders' roles, further apart than resolution and clock bounds",
    "DOUBLE_VOTE": "the answers that both candidates printed, or the voter's own lines; DLedger's voters print nothing",
    "TERM_REGRESSION": "two lines of one node that say its own term",
    "LEADER_WITHOUT_QUORUM": "the printed result of the round with its counts, or the supporters, and the members",
    "LEADER_KEPT_WITHOUT_QUORUM": "at least three printed rounds of heartbeats without a quorum",
    "WRONG_ROUND_RESULT": "the printed result with its counts; how many answers were valid only all answers tell",
    "WRONG_VOTE_RESULT": "the printed answer and the candidate's own term; the other candidate's log for its votes",
    "STALE_LOG_VOTE": "the log ends that were compared; etcd's voters print them, DLedger's do not",
    "HEARTBEAT_RULE": "the printed time of the last heartbeat; maxHeartBeatLeak is not printed",
    "TERM_RULE": "the lines of role changes and raised terms, each with both its terms",
    "TRANSFER_RULE": "the transferee's line about the end of the transfer, or the leader's refusal",
    "MEMBERS_DISAGREE": "the refused request (a WARN line, never dropped); lists of members are not printed",
    "BROKER_ROLE_RULE": "the line that ends the broker's change of role",
    "UNCLEAN_ELECTION": "the controllers' election and the SyncStateSet one epoch before it",
    "MASTER_NOT_IN_SYNC_STATE_SET": "the set and every one since the last election",
    "EPOCH_REGRESSION": "two role changes of one life, or two elections by one controller",
    "WRONG_ELECTION": "the committed elections; for the request behind one, the lines of a JRaft controller",
    "WRONG_SET_CHANGE": "the committed sets, and the refusals that brokers and controllers print",
    "CONTROLLERS_DISAGREE": "the line of one entry on two JRaft controllers",
    "REPLICATION_RULE": "the line of the decision, which holds what was compared",
    "ACK_RULE": "a message that was not acknowledged in time, and allAckInSyncStateSet in the configuration dump",
    "SYNC_STATE_SET_STALE": "the master's failed reports (ERROR lines, which are never dropped)",
    "POSSIBLE_DATA_LOSS": "the epochs and the cut that a returning master prints",
    "LEADERLESS": "the end of one leader and the begin of the next; for a killed one, who heard of it last",
    "ELECTION_STORM": "the begins of the leaders' roles, or the controllers' elections",
    "ZAB_WRONG_WINNER": "the votes that a server sends to itself; the supporters of the leader and their last zxids",
    "BULLY_NOT_HIGHEST": "the starts of the higher node and an event of it after the election",
    "RING_NOT_HIGHEST": "the list of ids in the message, or the higher node's starts and an event after the election",
    "ACTING_MASTER_OVERLAP": "the begin and end of both masters' services",
    "ACTING_MASTER_NOT_MIN_ID": "what the acting broker, or one with the same name servers, knew of the smallest id",
    "ACTING_MASTER_WRITABLE": "a name server's line on the permission of the set's topics",
    "SPECIAL_SERVICE_GAP": "the end of the master, as seen by a name server, and the begin of the acting one",
    "PRE_ONLINE_STUCK": "the repeated failures of pre-online",
    "METADATA_ROLLBACK": "copies of the tables from both sides of a hand-over",
    "PRE_ONLINE_SKIPPED": "the start of service without pre-online while another member acted",
    "STALE_REVERSE_SYNC": "the lines of the reverse sync and copies of the tables around it",
    "NOT_JUDGED": "nothing: it says that something is missing",
    "LOG_GAP": "the periodic lines of a log",
    "BROKER_ID_CONFLICT": "the controllers' answers, or the registration lines of both brokers",
    "BROKER_IDENTITY_RESET": "the registration lines of both lives of the broker",
    "REGISTER_CODE_MISMATCH": "the request with its code and the controllers' answer to it",
    "INCOMPATIBLE_VERSIONS": "a line that only some versions print, of the broker and of the controllers",
    "LOCK_DOUBLE_HOLD": "printed signs of both holds within 60 s; renewals print nothing",
    "LOCK_WITHOUT_QUORUM": "the brokers that did not answer (WARN lines), and totalReplicas",
    "LOCK_NON_STRICT_RISK": "the lock lines of both brokers",
    "LOCK_USED_AFTER_EXPIRY": "a printed sign of the old holder after its 60 s",
    "CLOCK_SKEW": "a message between the two machines that both logged; lines on both sides of a step in one file",
    "IDENTITY_CONTRADICTION": "lines in which a process names itself, or an entry of the inventory",
    "UNKNOWN_VERSION": "a line that says the release: its start (ZooKeeper, etcd), or the name of rocketmqHome",
}
"""What each rule needs to be decidable."""

PROVEN_BY: dict[str, str] = {
    "SPLIT_BRAIN_SAME_TERM": "both signed {terms}",
    "DOUBLE_VOTE": "two candidates printed a grant of the same voter in {terms}",
    "TERM_REGRESSION": "the node's own log says the smaller term after the larger one",
    "LEADER_WITHOUT_QUORUM": "the candidate printed the count with which it called itself elected",
    "LEADER_KEPT_WITHOUT_QUORUM": "the leader's own log counts the rounds without a quorum",
    "WRONG_ROUND_RESULT": "result and counts stand in one line",
    "WRONG_VOTE_RESULT": "the answer and the candidate's term stand in one log",
    "STALE_LOG_VOTE": "the grant and both ledger ends stand in one line",
    "HEARTBEAT_RULE": "the time of the last heartbeat and that of giving up are of one clock",
    "UNCLEAN_ELECTION": "the controllers recorded both the set and the winner outside of it",
    "MASTER_NOT_IN_SYNC_STATE_SET": "the controllers recorded the set without its master",
    "EPOCH_REGRESSION": "one log says the smaller epoch after the larger one",
    "SYNC_STATE_SET_STALE": "the master's own log says each refusal",
    "LEADERLESS": "the controllers recorded {terms} without a master",
    "ELECTION_STORM": "each election has a term of its own",
    "PRE_ONLINE_STUCK": "the broker's own log says each failure",
    "LOG_GAP": "the two lines around the silence are of one clock",
    "BROKER_ID_CONFLICT": "both addresses are printed with the same id",
    "BROKER_IDENTITY_RESET": "the registration lines of both lives are printed",
    "REGISTER_CODE_MISMATCH": "the refusal is printed with its code",
    "INCOMPATIBLE_VERSIONS": "each side printed a line that only its version has",
    "CLOCK_SKEW": "a message cannot be read before it was sent",
}
"""What proven findings follow from, where the lines do not simply say so themselves."""

REFUTED_BY: dict[str, str] = {
    "SPLIT_BRAIN_SAME_TERM": "One of the two role lines belongs to another cluster or group (a copied log folder, two "
    "groups of one name), or all members were wiped in between, so that the term began anew.",
    "SPLIT_BRAIN_OVERLAP": "A line that ends the older leader's role before the newer one began (read-only, step down, "
    "shutdown), or proof that a machine's clock was off by more than its configured bound.",
    "DOUBLE_VOTE": "One of the two answers is not a grant of this voter in this term: a line of another run, or two "
    "voters under one id.",
    "TERM_REGRESSION": "The two lines are of different members: another machine or store under the same id, or a log "
    "file that was put into the wrong folder.",
    "LEADER_WITHOUT_QUORUM": "A smaller group at that moment than the members that are known, so that the votes were a "
    "majority.",
    "LEADER_KEPT_WITHOUT_QUORUM": "A heartbeat round with a quorum in between whose line was lost, or a larger "
    "maxHeartBeatLeak in the configuration.",
    "WRONG_ROUND_RESULT": "A version whose rules for the result of a round differ from the ones named as the source.",
    "WRONG_VOTE_RESULT": "A version whose rules for votes differ, or a line between the two that changed the term and "
    "was lost.",
    "STALE_LOG_VOTE": "Ledger ends that the voter itself had at that moment and that are not ahead of the candidate's.",
    "HEARTBEAT_RULE": "A smaller heartBeatTimeInterval or maxHeartBeatLeak in the member's configuration.",
    "UNCLEAN_ELECTION": "A SyncStateSet with the winner in it that was decided before the election and whose line was "
    "lost.",
    "MASTER_NOT_IN_SYNC_STATE_SET": "An election between the two lines that made another broker the master.",
    "EPOCH_REGRESSION": "A restart, or a new store of the controllers, between the two lines.",
    "SYNC_STATE_SET_STALE": "A successful report of the master in between.",
    "POSSIBLE_DATA_LOSS": "The new master's log holding the same messages, or the producers' own records: if nobody "
    "got an acknowledgement for what was cut off, nothing that counted was lost.",
    "LEADERLESS": "A member whose logs are missing here and that led in this time, or successful writes in it.",
    "ELECTION_STORM": "Operators who asked for these elections, or epochs that were counted without an election.",
    "ACTING_MASTER_OVERLAP": "A line that stopped the special services of one of the two before the other began.",
    "ACTING_MASTER_NOT_MIN_ID": "A line that says that the smaller id was gone at that moment.",
    "ACTING_MASTER_WRITABLE": "A master that registered before the line and whose registration was lost.",
    "SPECIAL_SERVICE_GAP": "A member whose logs are missing here and that ran the services in this time.",
    "PRE_ONLINE_STUCK": "A line of the broker's service, or a finished pre-online, between the failures.",
    "METADATA_ROLLBACK": "Copies of the tables from between the two, in which nothing went back, or an operator's "
    "reset of the offsets.",
    "PRE_ONLINE_SKIPPED": "A pre-online of the broker whose lines were lost.",
    "STALE_REVERSE_SYNC": "Copies of the tables right before the sync in which the offsets taken over are the higher "
    "ones.",
    "NOT_JUDGED": "Nothing: a replay by a version without the fault judges what is missing.",
    "LOG_GAP": "Lines of this time in a file that was not collected.",
    "BROKER_ID_CONFLICT": "One broker that changed its address: the first one's end before the second one's "
    "registration.",
    "BROKER_IDENTITY_RESET": "A second machine: then the broker is a new one, and the old id belongs to one that is "
    "gone.",
    "REGISTER_CODE_MISMATCH": "Nothing but a forged line: both request and refusal are printed.",
    "INCOMPATIBLE_VERSIONS": "An upgrade of one side between the two lines.",
    "LOCK_DOUBLE_HOLD": "A line that released or expired the first hold before the second one began, or proof that a "
    "machine's clock was off by more than its configured bound.",
    "LOCK_WITHOUT_QUORUM": "The grants of the brokers that did not answer, in their own logs.",
    "LOCK_NON_STRICT_RISK": "Lines of the clients that they had given up the queue at the first broker.",
    "LOCK_USED_AFTER_EXPIRY": "A renewal of the old holder: renewals print nothing.",
    "UNKNOWN_VERSION": "A line that names a release whose texts are known.",
    "IDENTITY_CONTRADICTION": "A log of another node in the folder: then the lines that name the other group or member "
    "are not this node's own.",
    "ACK_RULE": "A reload of the configuration between its dump and the message.",
    "BROKER_ROLE_RULE": "A newer role of the member, whose line was lost, that demands what the broker did.",
    "BULLY_NOT_HIGHEST": "An end of the higher node before the election, and a start after it, whose lines were lost.",
    "CONTROLLERS_DISAGREE": "The two lines are of different entries: of another group, or of a store that began anew.",
    "MEMBERS_DISAGREE": "A request of another cluster that only went astray: then no list of members differs.",
    "REPLICATION_RULE": "A version whose decision compares other numbers than those that its line prints.",
    "RING_NOT_HIGHEST": "An end of the higher node before the message passed it, whose line was lost.",
    "TERM_RULE": "A change of the term between the two lines that was lost.",
    "TRANSFER_RULE": "A change of role or term between request and answer that was lost.",
    "WRONG_ELECTION": "A decision between the two, or a request behind the election, whose line was lost.",
    "WRONG_SET_CHANGE": "A set between the two whose line was lost.",
    "ZAB_WRONG_WINNER": "A newer round, or a newer last zxid of the winner, whose lines were lost.",
    "CLOCK_SKEW": "Another pair of lines for the message: a request that was sent twice, or an answer to another one.",
}
"""What would show that a finding is wrong; a reviewer looks for it first."""


def finding_id(cluster: str, replica_group: str, rule: str, *what: object) -> str:
    """A stable id: the same verdict about the same things has the same id in every run."""
    text = "\x1f".join([cluster, replica_group, rule, *(str(part) for part in what)])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


NO_BOUND = 1 << 55
"""A duration in microseconds, a thousand years, that only a clock of which nothing is known makes possible."""


def seconds(us: int) -> str:
    """A duration for a sentence: ``8 s``, ``1.5 s``, ``2 min 5 s``; one without bound is not told in numbers."""
    if us >= NO_BOUND:
        return "any time"
    total = us / 1_000_000
    if total >= 120:
        return f"{int(total // 60)} min {int(total % 60)} s"
    return f"{total:.1f}".removesuffix(".0") + " s"


def between(least_us: int, most_us: int) -> str:
    """A range of durations for a sentence: ``6 s to 8 s``; clocks that cannot be compared know no most."""
    least, most = seconds(max(least_us, 0)), seconds(most_us)
    if most_us >= UNBOUNDED:
        return f"at least {least}"
    return least if least == most else f"{least} to {most}"
