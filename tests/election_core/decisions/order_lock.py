"""The decisions about order locks: one broker's table, the quorum of the strict mode, what two holders are."""

from tests.election_core.decisions import Decision

_TRY = "RebalanceLockManager#tryLockBatch"
_UNLOCK = "RebalanceLockManager#unlockBatch"
_LOCK_BATCH = "AdminBrokerProcessor#lockBatchMQ"
_UNLOCK_BATCH = "AdminBrokerProcessor#unlockBatchMQ"

_NO_RENEWAL = "a renewal prints nothing"
_MISSING = "where the lines of one broker read so, lines between them are missing"
_KEPT = "whether an entry was kept or removed shows only in what is granted next"
_NOT_ASKED = "which broker a client asked first is not printed"
_NO_ANSWER = "the answer that the client gets is not printed"

ORDER_LOCK = (
    # one broker's table
    Decision(
        "own-lock-renewed",
        "a lock of this client that has not expired: renewed",
        _TRY,
        "LOCK_DOUBLE_HOLD",
        never_conforms=_NO_RENEWAL,
        never_violates=_NO_RENEWAL,
    ),
    Decision("no-entry", "no entry: granted", _TRY, "LOCK_DOUBLE_HOLD", never_violates=_MISSING),
    Decision(
        "entry-expired",
        "an entry older than a minute goes to whoever asks, its own client included",
        _TRY,
        "LOCK_USED_AFTER_EXPIRY",
        never_conforms="what a client does after its lock expired is not in the brokers' logs",
    ),
    Decision(
        "minute-is-a-property",
        "the minute is a property (rocketmq.broker.rebalance.lockMaxLiveTime): a lock that expires earlier shows that "
        "none of its broker's is sure to live after its line",
        _TRY,
        "LOCK_DOUBLE_HOLD",
        never_violates="which value the property has is the operator's choice",
    ),
    Decision("held-by-another", "another's lock that has not expired: refused", _TRY, "LOCK_DOUBLE_HOLD"),
    Decision(
        "one-holder-at-one-broker",
        "one broker gives a lock to one client",
        _TRY,
        "LOCK_DOUBLE_HOLD",
        never_violates=_MISSING,
    ),
    Decision(
        "unlock-of-an-own-lock",
        "the own entry is removed, an expired one too",
        _UNLOCK,
        "LOCK_DOUBLE_HOLD",
        never_violates=_KEPT,
    ),
    Decision(
        "unlock-of-anothers-lock",
        "another's entry is kept",
        _UNLOCK,
        "LOCK_USED_AFTER_EXPIRY",
        never_conforms="what a client does after its lock expired is not in the brokers' logs",
    ),
    Decision("unlock-of-no-lock", "nobody has an entry: nothing", _UNLOCK, "LOCK_DOUBLE_HOLD", never_violates=_KEPT),
    Decision(
        "unlock-of-an-unknown-group",
        "the consumer group never had a lock in this process: nothing, once for all queues",
        _UNLOCK,
        "LOCK_DOUBLE_HOLD",
    ),
    # the quorum
    Decision(
        "asked-broker-first",
        "the asked broker locks for itself first; what it refuses it asks of nobody else",
        _LOCK_BATCH,
        "LOCK_WITHOUT_QUORUM",
        never_conforms=_NOT_ASKED,
        never_violates=_NOT_ASKED,
    ),
    Decision(
        "one-grant-is-enough",
        "not strict (lockInStrictMode=false): the asked broker's grant is the lock, and brokers may differ",
        f"{_LOCK_BATCH}; RIP-32",
        "LOCK_DOUBLE_HOLD",
    ),
    Decision(
        "quorum-of-one",
        "strict with totalReplicas=1: one grant is the lock, as if not strict",
        _LOCK_BATCH,
        "LOCK_DOUBLE_HOLD",
    ),
    Decision(
        "quorum-of-the-configured",
        "strict: more than half of totalReplicas must grant, living or not; with two replicas both",
        _LOCK_BATCH,
        "LOCK_WITHOUT_QUORUM",
    ),
    Decision(
        "two-quorums",
        "strict: two clients cannot both have a quorum of one set",
        f"{_LOCK_BATCH}; RIP-32",
        "LOCK_DOUBLE_HOLD",
    ),
    Decision(
        "members-by-acting-mode",
        "strict: a broker learns of its peers only with slave acting master; else it asks nobody, or itself twice",
        f"{_LOCK_BATCH}, BrokerController#syncBrokerMemberGroup",
        "LOCK_WITHOUT_QUORUM",
        never_conforms=_NO_ANSWER,
        never_violates=_NO_ANSWER,
    ),
    Decision(
        "silent-peer-grants-nothing",
        "strict: a peer that does not answer adds nothing",
        _LOCK_BATCH,
        "LOCK_WITHOUT_QUORUM",
    ),
    Decision(
        "late-answers-count-nothing",
        "strict: answers after two seconds change nothing",
        _LOCK_BATCH,
        "LOCK_WITHOUT_QUORUM",
        never_conforms=_NO_ANSWER,
        never_violates=_NO_ANSWER,
    ),
    Decision(
        "missed-quorum-is-not-undone",
        "strict: grants that missed the quorum stay until they are unlocked or expire, and are no lock",
        _LOCK_BATCH,
        "LOCK_DOUBLE_HOLD",
        never_violates=_NO_ANSWER,
    ),
    Decision(
        "unlock-goes-to-all",
        "strict: the unlock is sent to every member and answered at once, whoever it reaches",
        _UNLOCK_BATCH,
        "LOCK_DOUBLE_HOLD",
        never_violates="an unlock that reaches nobody prints nothing",
    ),
    # two holders
    Decision(
        "two-brokers-two-clients",
        "two clients hold one queue at two brokers of a set: for certain within a minute of the first one's grant, or "
        "while it refuses others; after that perhaps",
        f"{_TRY}; RIP-32",
        "LOCK_DOUBLE_HOLD",
    ),
    Decision(
        "client-lets-go",
        "a client that gives a queue up anywhere, or takes it elsewhere, holds it no more",
        "ProcessQueue#isLockExpired, RebalanceImpl#unlock",
        "LOCK_DOUBLE_HOLD",
    ),
    Decision(
        "table-dies-with-its-process",
        "a restarted broker, or a new master, has an empty table",
        "RebalanceLockManager",
        "LOCK_NON_STRICT_RISK",
    ),
)
