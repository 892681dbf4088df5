"""Rules of broker sets under the RocketMQ 5 controller: elections, SyncStateSets, replication, loss."""

from election_replay.election_core.model.catalogue.rule import Rule, RuleId

CONTROLLER: tuple[Rule, ...] = (
    Rule(
        id=RuleId.UNCLEAN_ELECTION,
        severity="critical if messages were cut off because of it; warning otherwise",
        meaning="A master was elected that was not in the SyncStateSet.",
        source="RocketMQ DefaultElectPolicy#elect, ReplicasInfoManager#electMaster (enableElectUncleanMaster)",
        needs="the controllers' election and the SyncStateSet one epoch before it",
        proven_by="the controllers recorded both the set and the winner outside of it",
        refuted_by=(
            "A SyncStateSet with the winner in it that was decided before the election and whose line was lost."
        ),
    ),
    Rule(
        id=RuleId.MASTER_NOT_IN_SYNC_STATE_SET,
        severity="warning",
        meaning="The controllers recorded a SyncStateSet that does not contain the master of its epoch.",
        source="RocketMQ ReplicasInfoManager#alterSyncStateSet",
        needs="the set and every one since the last election",
        proven_by="the controllers recorded the set without its master",
        refuted_by="An election between the two lines that made another broker the master.",
    ),
    Rule(
        id=RuleId.EPOCH_REGRESSION,
        severity="critical",
        meaning=(
            "A broker took a role of a smaller master epoch than before within one run of its process, its store "
            "knows a later epoch than the controllers give, or the controllers' epoch went back."
        ),
        source="RocketMQ ReplicasManager#changeToMaster, ReplicasInfoManager#electMaster",
        needs="two role changes within one run of a process, or two elections by one controller",
        proven_by="one log says the smaller epoch after the larger one",
        refuted_by="A restart, or a new store of the controllers, between the two lines.",
    ),
    Rule(
        id=RuleId.WRONG_ELECTION,
        severity="critical if two brokers got one epoch; warning otherwise",
        meaning=(
            "The controllers elected against their own rules: two winners of one epoch, the recorded master again, or "
            "another broker than the one that had to win."
        ),
        source="RocketMQ ReplicasInfoManager#electMaster",
        needs="the committed elections; for the request behind one, the lines of a JRaft controller",
        refuted_by="A lost line of a decision between the two, or of the request that led to the election.",
    ),
    Rule(
        id=RuleId.WRONG_SET_CHANGE,
        severity="warning",
        meaning="The controllers recorded or refused a SyncStateSet against their own record.",
        source="RocketMQ ReplicasInfoManager#alterSyncStateSet",
        needs="the committed sets, and the refusals that brokers and controllers print",
        refuted_by="A lost line of a set between the two.",
    ),
    Rule(
        id=RuleId.CONTROLLERS_DISAGREE,
        severity="critical",
        meaning="Two JRaft controllers applied the same entry of their log and came to different decisions.",
        source="RocketMQ JRaftControllerStateMachine#onApply",
        needs="the line of one entry on two JRaft controllers",
        refuted_by="The two lines are about different entries: of another group, or of a store that was created anew.",
    ),
    Rule(
        id=RuleId.REPLICATION_RULE,
        severity="critical if a log was cut at the wrong place; warning otherwise",
        meaning=(
            "A slave was called caught up although it was behind, a log was cut at another place than where it parts "
            "from its master's, or an epoch was left out or refused without a reason."
        ),
        source=(
            "RocketMQ AutoSwitchHAService#maybeExpandInSyncStateSet, AutoSwitchHAClient#doTruncate, "
            "EpochFileCache#appendEntry, #findConsistentPoint"
        ),
        needs="the line of the decision, which holds what was compared",
        refuted_by="A version whose decision compares other numbers than those that its line prints.",
    ),
    Rule(
        id=RuleId.ACK_RULE,
        severity="warning",
        meaning="A master waited for another number of acknowledgements than its configuration demands.",
        source="RocketMQ CommitLog#asyncPutMessage, GroupTransferService (allAckInSyncStateSet)",
        needs=("a message that was not acknowledged in time, and allAckInSyncStateSet in the configuration dump"),
        refuted_by="A reload of the configuration between its dump and the message.",
    ),
    Rule(
        id=RuleId.SYNC_STATE_SET_STALE,
        severity="info",
        meaning=(
            "A master could not change its SyncStateSet for longer than a poll: refused (fenced), or not answered."
        ),
        source="RocketMQ ReplicasManager#doReportSyncStateSetChanged, ReplicasInfoManager#alterSyncStateSet",
        needs="the master's failed reports (ERROR lines, which are never dropped)",
        proven_by="the master's own log says each refusal",
        refuted_by="A successful report of the master in between.",
    ),
    Rule(
        id=RuleId.SYNC_STATE_SET_SMALL,
        severity="info",
        meaning=(
            "For more than a minute the SyncStateSet lacked brokers that were up and had a role: messages "
            "acknowledged in that time may exist in fewer copies than possible, or in only one."
        ),
        source="RocketMQ AutoSwitchHAService#maybeExpandInSyncStateSet, GroupTransferService (allAckInSyncStateSet)",
        needs="the sets that the controllers committed, and the logs of the brokers outside of them",
        refuted_by="A lost line of a change of the set, or a broker that is meant to stay outside (asyncLearner).",
    ),
    Rule(
        id=RuleId.POSSIBLE_DATA_LOSS,
        severity=(
            "critical if clients' writes were acknowledged by the settings or the protocol in the logs, or if a master "
            "came back without its data; warning if no line says so; info if nobody can have had an acknowledgement"
        ),
        meaning=(
            "A former master cut messages off its log that the new master never had. The logs do not say whether they "
            "had been acknowledged to a producer."
        ),
        source="RocketMQ AutoSwitchHAClient#doTruncate",
        needs="the epochs and the cut that a returning master prints",
        refuted_by=(
            "The new master's log holding the same messages, or the producers' own records: if nobody got an "
            "acknowledgement for what was cut off, nothing that counted was lost."
        ),
    ),
    Rule(
        id=RuleId.REPLICATION_STUCK,
        severity="warning",
        meaning=(
            "A slave could not continue from its master's log, because the logs have no point in common or its own "
            "could not be cut: it copies nothing and does not follow."
        ),
        source="RocketMQ AutoSwitchHAClient#doTruncate, EpochFileCache#findConsistentPoint",
        needs="the slave's failed attempts (ERROR lines, which are never dropped)",
        proven_by="the slave's own log says each failed attempt",
        refuted_by="A lost line of a successful cut, or of another master, between two of the attempts.",
    ),
)
