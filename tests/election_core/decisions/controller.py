"""The decisions of RocketMQ's controllers, and of the brokers under them (5.0.0 and later)."""

from tests.election_core.decisions import Decision

_MANAGER = "ReplicasInfoManager"
_ELECT = f"{_MANAGER}#electMaster"
_ALTER = f"{_MANAGER}#alterSyncStateSet"
_POLICY = "DefaultElectPolicy#elect"
_INACTIVE = "ControllerManager#onBrokerInactive"
_BEATS = "DefaultBrokerHeartbeatManager"
_BROKER = "ReplicasManager"
_HA = "AutoSwitchHAService"
_EPOCHS = "EpochFileCache"
_COMMIT_LOG = "CommitLog#asyncPutMessage"

_NO_HEARTBEATS = "brokers' heartbeats and the controllers' table of them are not printed"
_NO_LINE = "prints nothing"
_LINES_DROP = "brokers' appenders drop INFO lines: the line that is missing may have been written"
_NO_OFFSETS = "offsets of single acknowledgements are not printed"

CONTROLLER = (
    # the record of a broker set
    Decision(
        "epoch-for-each-election",
        "masterEpoch grows with every election",
        _ELECT,
        "EPOCH_REGRESSION",
    ),
    Decision(
        "nobody-uses-an-epoch",
        "an election without a winner takes an epoch too, and leaves no master",
        _ELECT,
        "EPOCH_REGRESSION",
        never_violates="the epoch that it takes is not printed; the next election may be of another controller",
    ),
    Decision("epoch-has-one-winner", "an epoch has one winner", _ELECT, "WRONG_ELECTION"),
    Decision(
        "set-epoch-for-each-change",
        "each election with a winner and each change of the set takes one syncStateSetEpoch",
        f"{_ELECT}, {_ALTER}",
        "WRONG_SET_CHANGE",
    ),
    Decision(
        "proposal-is-no-decision",
        "a decision counts once it is committed; without confirmation its outcome is open",
        "DLedgerController.EventScheduler#run",
        "EPOCH_REGRESSION",
        never_violates="a proposal that is acted upon was committed after all",
    ),
    Decision(
        "same-entry-same-decision",
        "JRaft: all controllers decide the same at the same entry of their log",
        "JRaftControllerStateMachine#onApply",
        "CONTROLLERS_DISAGREE",
    ),
    Decision(
        "jraft-applied",
        "JRaft: a controller cuts its log behind what it has applied, never before",
        "LogManagerImpl#unsafeTruncateSuffix",
        "COMMITTED_ENTRY_LOST",
    ),
    Decision(
        "slaves-join-the-set",
        "a slave that lives and is caught up joins the SyncStateSet within seconds, unless it learns asynchronously",
        "AutoSwitchHAService#maybeExpandInSyncStateSet",
        "SYNC_STATE_SET_SMALL",
    ),
    Decision(
        "set-removed-by-an-operator",
        "only the removal of the whole broker set lets its epochs begin anew",
        f"{_MANAGER}#cleanBrokerData",
        "EPOCH_REGRESSION",
    ),
    Decision(
        "controllers-have-one-leader",
        "the controllers' own group has one leader in a term",
        "JRaftControllerStateMachine#onLeaderStart",
        "SPLIT_BRAIN_SAME_TERM",
    ),
    # who is alive
    Decision(
        "alive-by-heartbeat",
        "a broker is alive until its last heartbeat is older than the timeout that it announced, or its channel closes",
        f"{_BEATS}#isBrokerActive, #scanNotActiveBroker",
        "LEADERLESS",
        never_conforms=_NO_HEARTBEATS,
        never_violates=_NO_HEARTBEATS,
    ),
    Decision(
        "inactive-master-is-replaced",
        "when a master is inactive the controllers elect another one, with up to three tries",
        _INACTIVE,
        "LEADERLESS",
    ),
    Decision(
        "inactive-slave-changes-nothing",
        "when a slave is inactive, or the controller does not lead, nothing is elected",
        _INACTIVE,
        "LEADERLESS",
        never_conforms="one text for both cases, which names neither the recorded master nor the leading controller",
        never_violates="one text for both cases, which names neither the recorded master nor the leading controller",
    ),
    # electMaster
    Decision(
        "election-of-an-unknown-set",
        "the set is unknown: 2010",
        _ELECT,
        "WRONG_ELECTION",
        never_conforms=_NO_LINE,
        never_violates=_NO_LINE,
    ),
    Decision(
        "first-requester-wins",
        "the first election is won by the broker that asks, unchecked",
        _ELECT,
        "WRONG_ELECTION",
    ),
    Decision(
        "recorded-master-stays",
        "where the policy finds the recorded master nothing changes: 2011",
        _ELECT,
        "WRONG_ELECTION",
    ),
    Decision(
        "new-master-alone-in-its-set",
        "the SyncStateSet of a new master is itself",
        _ELECT,
        "WRONG_SET_CHANGE",
        never_violates=_LINES_DROP,
    ),
    Decision(
        "nobody-only-by-own-request",
        "no winner: the controllers' own request removes the master (2004), that of a broker changes nothing (2012)",
        _ELECT,
        "WRONG_ELECTION",
    ),
    Decision(
        "elected-are-told",
        "after an election every live member is told, once and without an answer",
        "ControllerManager#notifyBrokerRoleChanged",
        "LEADERLESS",
        never_conforms="the notice's content is not printed, and a lost one is made up for by the next poll",
        never_violates="the notice's content is not printed, and a lost one is made up for by the next poll",
    ),
    # the policy
    Decision(
        "set-before-all-replicas",
        "live members of the SyncStateSet first; all replicas only after them, and with enableElectUncleanMaster",
        _POLICY,
        "UNCLEAN_ELECTION",
    ),
    Decision(
        "designated-or-nobody",
        "a broker that an operator named is elected, or nobody is",
        _POLICY,
        "WRONG_ELECTION",
    ),
    Decision(
        "policy-order",
        "of several candidates the larger epoch, then the larger offset, then the smaller priority",
        f"{_POLICY} (BrokerLiveInfo)",
        "WRONG_ELECTION",
        never_conforms=_NO_HEARTBEATS,
        never_violates=_NO_HEARTBEATS,
    ),
    Decision(
        "policy-ties",
        "candidates that compare equal are merged; differences of offsets are cut to 32 bits",
        f"{_POLICY} (BrokerLiveInfo)",
        "WRONG_ELECTION",
        never_conforms=_NO_HEARTBEATS,
        never_violates=_NO_HEARTBEATS,
    ),
    # alterSyncStateSet, in the order of its checks
    Decision(
        "set-of-an-unknown-broker-set",
        "the set is unknown: 2013",
        _ALTER,
        "WRONG_SET_CHANGE",
        never_conforms=_NO_LINE,
        never_violates=_NO_LINE,
    ),
    Decision("set-unchanged", "the wanted set is the recorded one: 2013", _ALTER, "WRONG_SET_CHANGE"),
    Decision("set-by-its-master-only", "the requester is not the recorded master: 2002", _ALTER, "WRONG_SET_CHANGE"),
    Decision("set-of-the-master-epoch", "another masterEpoch: 2000", _ALTER, "WRONG_SET_CHANGE"),
    Decision("set-of-its-own-epoch", "another syncStateSetEpoch: 2001", _ALTER, "WRONG_SET_CHANGE"),
    Decision(
        "set-of-known-live-members",
        "a member is not registered: 2003, or not alive: 2006",
        _ALTER,
        "WRONG_SET_CHANGE",
        never_conforms=_NO_HEARTBEATS,
        never_violates=_NO_HEARTBEATS,
    ),
    Decision(
        "set-contains-the-master",
        "the wanted set lacks the master: 2013",
        _ALTER,
        "MASTER_NOT_IN_SYNC_STATE_SET",
    ),
    # the broker's reaction
    Decision(
        "role-by-a-larger-epoch-only",
        "a broker takes a role only with a larger epoch than its own",
        f"{_BROKER}#changeToMaster, #changeToSlave",
        "EPOCH_REGRESSION",
    ),
    Decision(
        "role-of-an-old-epoch",
        "a notice or poll with an epoch that is not larger is ignored",
        f"{_BROKER}#changeBrokerRole",
        "EPOCH_REGRESSION",
        never_conforms=_NO_LINE,
        never_violates=_NO_LINE,
    ),
    Decision(
        "end-of-a-role-change",
        "the end of a change of role is printed with the values of that moment, perhaps of the next change",
        f"{_BROKER}#registerBrokerWhenRoleChange",
        "SPLIT_BRAIN_SAME_TERM",
        never_violates="such a line proves no role",
    ),
    Decision(
        "epoch-file-ahead",
        "a store whose epochs are ahead of the new one refuses its role",
        f"{_HA}#changeToMaster, #changeToSlave",
        "REPLICATION_RULE",
    ),
    Decision(
        "master-without-controllers",
        "a master that is cut off from the controllers goes on as master until it hears of a larger epoch",
        f"{_BROKER} (no lease)",
        "SPLIT_BRAIN_OVERLAP",
    ),
    Decision(
        "fenced-until-running",
        "a broker serves nobody before it has registered and knows its master",
        f"{_BROKER}#startBasicService",
        "LEADERLESS",
        never_conforms="requests that are refused are not printed",
        never_violates="requests that are refused are not printed",
    ),
    Decision(
        "jraft-scan",
        "JRaft: up to 5.3.3 an inverted condition keeps the leader from looking for silent brokers",
        "RaftBrokerHeartBeatManager#scanNotActiveBroker",
        "LEADERLESS",
        never_conforms="that a scan was due is not printed where it is skipped",
        never_violates="that a scan was due is not printed where it is skipped",
    ),
    # the SyncStateSet on the master
    Decision(
        "caught-up-at-the-confirm-offset",
        "a slave is caught up at the confirm offset and inside the newest epoch",
        f"{_HA}#maybeExpandInSyncStateSet",
        "REPLICATION_RULE",
    ),
    Decision(
        "caught-up-is-wanted",
        "a slave that is caught up is wanted in the set",
        f"{_HA}#maybeExpandInSyncStateSet",
        "REPLICATION_RULE",
    ),
    Decision(
        "slave-not-considered",
        "learners, members, and slaves behind the end of the last transfer are not considered",
        f"{_HA}#updateConnectionLastCaughtUpTime",
        "REPLICATION_RULE",
        never_conforms=_NO_LINE,
        never_violates=_NO_LINE,
    ),
    Decision(
        "slow-slave-is-removed",
        "a member that has not caught up for more than haMaxTimeSlaveNotCatchup, or is not connected, is removed",
        f"{_HA}#maybeShrinkSyncStateSet, #removeConnection",
        "REPLICATION_RULE",
        never_conforms="neither the times of catching up nor the reason of a removal are printed",
        never_violates="neither the times of catching up nor the reason of a removal are printed",
    ),
    Decision(
        "refused-set-is-tried-again",
        "a report that was refused is tried again; until one is answered both sets count",
        f"{_BROKER}#doReportSyncStateSetChanged",
        "SYNC_STATE_SET_STALE",
    ),
    Decision(
        "confirm-offset",
        "the confirm offset is the smallest acknowledged one of the set; it stands still while a member is gone",
        f"{_HA}#computeConfirmOffset",
        "REPLICATION_RULE",
        never_conforms=_NO_OFFSETS,
        never_violates=_NO_OFFSETS,
    ),
    Decision(
        "epoch-recorded",
        "an epoch is recorded if it and its start are beyond the last one; one without messages before it is not",
        f"{_EPOCHS}#appendEntry",
        "REPLICATION_RULE",
    ),
    Decision(
        "log-parts-at-the-common-point",
        "a slave cuts its log at the end of the newest epoch with the same start in both logs",
        f"{_EPOCHS}#findConsistentPoint, AutoSwitchHAClient#doTruncate",
        "REPLICATION_RULE",
    ),
    Decision(
        "no-common-point",
        "without a common point nothing is cut and nothing replicated",
        "AutoSwitchHAClient#doTruncate",
        "REPLICATION_RULE",
    ),
    Decision(
        "cut-loses-nothing",
        "what a former master has beyond the common point is thrown away",
        "AutoSwitchHAClient#doTruncate",
        "POSSIBLE_DATA_LOSS",
    ),
    # acknowledgement
    Decision(
        "refused-before-writing",
        "fewer in sync than minInSyncReplicas: the message is refused",
        _COMMIT_LOG,
        "ACK_RULE",
        never_conforms="only the producer is told",
        never_violates="only the producer is told",
    ),
    Decision(
        "acknowledged-by-all",
        "allAckInSyncStateSet: every member of the set must acknowledge",
        _COMMIT_LOG,
        "ACK_RULE",
    ),
    Decision(
        "acknowledged-by-a-number",
        "else inSyncReplicas must, members of the set or not",
        _COMMIT_LOG,
        "ACK_RULE",
    ),
    Decision(
        "store-kept",
        "a broker's log never ends earlier than it did, unless it cut it",
        "DefaultMessageStore#recover",
        "STORE_WENT_BACK",
        never_conforms="only what goes back is counted",
    ),
)
