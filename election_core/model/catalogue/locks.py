"""Rules of order locks."""

from election_replay.election_core.model.catalogue.rule import Rule, RuleId

LOCKS: tuple[Rule, ...] = (
    Rule(
        id=RuleId.LOCK_DOUBLE_HOLD,
        severity="critical if definite; warning if possible",
        meaning="Two clients of one consumer group held the lock of one queue at once, at two brokers of a set.",
        source="RocketMQ RebalanceLockManager#tryLockBatch, AdminBrokerProcessor#lockBatchMQ; RIP-32",
        needs="printed signs of both holds within 60 s; renewals print nothing",
        refuted_by=(
            "A line that released or expired the first hold before the second one began, or proof that a machine's "
            "clock was off by more than its configured bound."
        ),
    ),
    Rule(
        id=RuleId.LOCK_WITHOUT_QUORUM,
        severity="info",
        meaning=(
            "Strict mode: a lock was granted by fewer brokers than the quorum, because the others did not answer. "
            "The client was refused, but the grants are not undone and keep others out until they expire."
        ),
        source="RocketMQ AdminBrokerProcessor#lockBatchMQ",
        needs="the brokers that did not answer (WARN lines), and totalReplicas",
        refuted_by="The grants of the brokers that did not answer, in their own logs.",
    ),
    Rule(
        id=RuleId.LOCK_NON_STRICT_RISK,
        severity="info",
        meaning=(
            "Non-strict mode: the locks of a broker that ended went to another client at another broker of the set, "
            "before their holders can have known that the first broker was gone."
        ),
        source="RIP-32 (lockInStrictMode); RocketMQ RebalanceLockManager",
        needs="the lock lines of both brokers",
        refuted_by="Lines of the clients which say that they had given up the queue at the first broker.",
    ),
    Rule(
        id=RuleId.LOCK_USED_AFTER_EXPIRY,
        severity="info",
        meaning="A client counted a queue as its own after its expired lock had gone to another client.",
        source="RocketMQ RebalanceLockManager#unlockBatch",
        needs="a printed sign of the old holder after its 60 s",
        refuted_by="A renewal of the old holder: renewals print nothing.",
    ),
)
