"""Rules of slaves that act as master (RIP-32), and of the metadata that they hand back."""

from election_replay.election_core.model.catalogue.rule import Rule, RuleId

ACTING_MASTER: tuple[Rule, ...] = (
    Rule(
        id=RuleId.ACTING_MASTER_OVERLAP,
        severity=(
            "warning; info if one of them was frozen or not yet registered, or if it lasted only as long as a notice "
            "takes"
        ),
        meaning=(
            "Two brokers of a set ran the special services (delayed messages, transaction checks, pop revive) at "
            "once: a master that was cut off and the slave that acts for it, or two slaves that act."
        ),
        source="RocketMQ BrokerController#changeSpecialServiceStatus, #onMinBrokerChange (RIP-32)",
        needs="the begin and end of both masters' services",
        refuted_by="A line that stopped the special services of one of the two before the other began.",
    ),
    Rule(
        id=RuleId.ACTING_MASTER_NOT_MIN_ID,
        severity="warning",
        meaning=(
            "A broker acted as master although it, or a member that asked the same name servers, had learned that a "
            "smaller id is alive."
        ),
        source="RocketMQ BrokerController#updateMinBroker (RIP-32: the smallest live id acts)",
        needs="what the acting broker, or one with the same name servers, knew of the smallest id",
        refuted_by="A line which says that the smaller id was gone at that moment.",
    ),
    Rule(
        id=RuleId.ACTING_MASTER_WRITABLE,
        severity="warning",
        meaning=(
            "A name server showed a set's topics as writable while the set had no master, only one that acts and "
            "must be read only."
        ),
        source="RocketMQ RouteInfoManager#registerBroker, #reduceTopicQueues (RIP-32)",
        needs="a name server's line on the permission of the set's topics",
        refuted_by="A master that registered before the line, whose registration was lost.",
    ),
    Rule(
        id=RuleId.SPECIAL_SERVICE_GAP,
        severity="info; warning beyond heartbeat time-out, scan and poll together",
        meaning=(
            "Members were up and none ran the special services: delayed messages waited, and transactions were not "
            "checked."
        ),
        source="RocketMQ RouteInfoManager#scanNotActiveBroker, BrokerController#syncBrokerMemberGroup (RIP-32)",
        needs="the end of the master, as a name server saw it, and the begin of the acting one",
        refuted_by="A member whose logs are missing here and that ran the services in this time.",
    ),
    Rule(
        id=RuleId.PRE_ONLINE_STUCK,
        severity="warning for a master that others wait for; info otherwise",
        meaning=(
            "A broker that had been started did not come online for a long time: its pre-online failed again and "
            "again. It serves nothing, and without its master the set takes no writes."
        ),
        source="RocketMQ BrokerPreOnlineService#run (RIP-32)",
        needs="the repeated failures of pre-online",
        proven_by="the broker's own log says each failure",
        refuted_by="A line of the broker's service, or a finished pre-online, between the failures.",
    ),
    Rule(
        id=RuleId.METADATA_ROLLBACK,
        severity="warning; info if consumers had committed their offsets again by the first copy",
        meaning=(
            "Offsets went back, or topics or groups went missing, when an acting master handed over: messages are "
            "consumed or delivered again. The tables themselves are compared, not their versions."
        ),
        source="RocketMQ BrokerPreOnlineService#syncMetadataReverse, #prepareForSlaveOnline; RIP-32",
        needs="copies of the tables from both sides of a hand-over",
        refuted_by=(
            "Copies of the tables from between the two, in which nothing went back, or an operator's reset of the "
            "offsets."
        ),
    ),
    Rule(
        id=RuleId.PRE_ONLINE_SKIPPED,
        severity="warning; info if nothing is seen to have gone back",
        meaning=(
            "A broker came back without pre-online while another one acted, or its pre-online found nobody at the "
            "name servers: nothing was taken over."
        ),
        source=(
            "RocketMQ BrokerController#start (skipPreOnline, totalReplicas), "
            "BrokerPreOnlineService#prepareForBrokerOnline"
        ),
        needs="the start of service without pre-online while another member acted",
        refuted_by="Lost lines of a pre-online of the broker.",
    ),
    Rule(
        id=RuleId.STALE_REVERSE_SYNC,
        severity="warning",
        meaning=(
            "A reverse sync took over offsets that are lower than those of the acting master (an equal version is "
            "enough, and of several members the last one wins), or tables of a smaller version than its own."
        ),
        source="RocketMQ BrokerPreOnlineService#syncMetadataReverse; DataVersion#compare",
        needs="the lines of the reverse sync and copies of the tables around it",
        refuted_by="Copies of the tables right before the sync in which the offsets taken over are the higher ones.",
    ),
)
