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
        judged_by=(
            "protocols.controller.losses",
            "protocols.kraft.partition_rules",
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
        judged_by=("protocols.controller.sets",),
    ),
    Rule(
        id=RuleId.EPOCH_REGRESSION,
        severity="critical",
        meaning=(
            "A broker took a role of a smaller master epoch than before in one life, its store knows a later epoch "
            "than the controllers give, or the controllers' epoch went back."
        ),
        source="RocketMQ ReplicasManager#changeToMaster, ReplicasInfoManager#electMaster",
        needs="two role changes of one life, or two elections by one controller",
        proven_by="one log says the smaller epoch after the larger one",
        refuted_by="A restart, or a new store of the controllers, between the two lines.",
        judged_by=(
            "protocols.controller.decision_rules",
            "protocols.controller.epochs",
        ),
    ),
    Rule(
        id=RuleId.WRONG_ELECTION,
        severity="critical if two brokers got one epoch; warning otherwise",
        meaning=(
            "The controllers elected against their own rules: two winners of one epoch, the recorded master again, "
            "or another than the one that had to win."
        ),
        source="RocketMQ ReplicasInfoManager#electMaster",
        needs="the committed elections; for the request behind one, the lines of a JRaft controller",
        refuted_by="A decision between the two, or a request behind the election, whose line was lost.",
        judged_by=(
            "protocols.controller.checks",
            "protocols.controller.decision_rules",
        ),
    ),
    Rule(
        id=RuleId.WRONG_SET_CHANGE,
        severity="warning",
        meaning="The controllers recorded or refused a SyncStateSet against their own record.",
        source="RocketMQ ReplicasInfoManager#alterSyncStateSet",
        needs="the committed sets, and the refusals that brokers and controllers print",
        refuted_by="A set between the two whose line was lost.",
        judged_by=(
            "protocols.controller.checks",
            "protocols.controller.decision_rules",
        ),
    ),
    Rule(
        id=RuleId.CONTROLLERS_DISAGREE,
        severity="critical",
        meaning="Two JRaft controllers applied the same entry of their log and came to different decisions.",
        source="RocketMQ JRaftControllerStateMachine#onApply",
        needs="the line of one entry on two JRaft controllers",
        refuted_by="The two lines are of different entries: of another group, or of a store that began anew.",
        judged_by=("protocols.controller.decision_rules",),
    ),
    Rule(
        id=RuleId.REPLICATION_RULE,
        severity="critical if a log was cut at the wrong place; warning otherwise",
        meaning=(
            "A slave was called caught up that is behind, a log was cut where it does not part from its master's, "
            "or an epoch was left out or refused without reason."
        ),
        source=(
            "RocketMQ AutoSwitchHAService#maybeExpandInSyncStateSet, AutoSwitchHAClient#doTruncate, "
            "EpochFileCache#appendEntry, #findConsistentPoint"
        ),
        needs="the line of the decision, which holds what was compared",
        refuted_by="A version whose decision compares other numbers than those that its line prints.",
        judged_by=(
            "protocols.controller.checks",
            "protocols.controller.losses",
        ),
    ),
    Rule(
        id=RuleId.ACK_RULE,
        severity="warning",
        meaning="A master waited for another number of acknowledgements than its configuration demands.",
        source="RocketMQ CommitLog#asyncPutMessage, GroupTransferService (allAckInSyncStateSet)",
        needs=("a message that was not acknowledged in time, and allAckInSyncStateSet in the configuration dump"),
        refuted_by="A reload of the configuration between its dump and the message.",
        judged_by=(
            "protocols.controller.checks",
            "protocols.controller.losses",
        ),
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
        judged_by=("protocols.controller.sets",),
    ),
    Rule(
        id=RuleId.SYNC_STATE_SET_SMALL,
        severity="info",
        meaning=(
            "For more than a minute the SyncStateSet lacked brokers that lived and had a role: what was acknowledged "
            "then may be in fewer copies than there could have been, or in one only."
        ),
        source="RocketMQ AutoSwitchHAService#maybeExpandInSyncStateSet, GroupTransferService (allAckInSyncStateSet)",
        needs="the sets that the controllers committed, and the logs of the brokers outside of them",
        refuted_by="A change of the set whose line was lost, or a broker that was to stay outside (asyncLearner).",
        judged_by=("protocols.controller.sets",),
    ),
    Rule(
        id=RuleId.POSSIBLE_DATA_LOSS,
        severity=(
            "warning; critical if a master came back without its data; info if nobody can have had an acknowledgement"
        ),
        meaning=(
            "A former master cut messages off its log that the new master never had. Whether they had been "
            "acknowledged to a producer is not in the logs."
        ),
        source="RocketMQ AutoSwitchHAClient#doTruncate",
        needs="the epochs and the cut that a returning master prints",
        refuted_by=(
            "The new master's log holding the same messages, or the producers' own records: if nobody got an "
            "acknowledgement for what was cut off, nothing that counted was lost."
        ),
        judged_by=(
            "protocols.controller.losses",
            "protocols.redis.losses",
            "protocols.redis.rules",
            "protocols.kraft.partition_rules",
        ),
    ),
    Rule(
        id=RuleId.REPLICATION_STUCK,
        severity="warning",
        meaning=(
            "A slave could not go on with its master's log, since both have no point in common or its own could not be "
            "cut: it copies nothing and does not follow."
        ),
        source="RocketMQ AutoSwitchHAClient#doTruncate, EpochFileCache#findConsistentPoint",
        needs="the slave's failed tries (ERROR lines, which are never dropped)",
        proven_by="the slave's own log says each failed try",
        refuted_by="A successful cut, or another master, between two of the tries, whose line was lost.",
        judged_by=("protocols.controller.stuck",),
    ),
)
