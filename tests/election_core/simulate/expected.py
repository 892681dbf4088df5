"""What the tests of simulated worlds have to know of each protocol; a new protocol adds its entry."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expected:
    """``proven``: the rules that a world breaks provably, in the worlds of the quick suite.

    ``repeated``: scenarios that hold much of what is drawn, for the test that a seed repeats byte for byte.
    """

    proven: frozenset[str]
    repeated: tuple[str, ...]


EXPECTED: dict[str, Expected] = {
    "dledger": Expected(
        proven=frozenset(
            {
                *("SPLIT_BRAIN_SAME_TERM", "SPLIT_BRAIN_OVERLAP", "DOUBLE_VOTE", "TERM_REGRESSION"),
                *("LEADER_WITHOUT_QUORUM", "LEADER_KEPT_WITHOUT_QUORUM", "HEARTBEAT_RULE", "MEMBER_CANNOT_JOIN"),
                *("WRONG_ROUND_RESULT", "WRONG_VOTE_RESULT", "TERM_RULE", "TRANSFER_RULE"),
                *("UNKNOWN_VERSION", "IDENTITY_CONTRADICTION"),
                *("LEADERLESS", "ELECTION_STORM", "LOG_GAP", "CLOCK_SKEW"),
            }
        ),
        repeated=("dledger-old-copy", "dledger-any-faults-lost-lines"),
    ),
    "controller": Expected(
        proven=frozenset(
            {
                *("SPLIT_BRAIN_SAME_TERM", "CLOCK_SKEW", "BROKER_IDENTITY_RESET", "REGISTER_CODE_MISMATCH"),
                *("SPLIT_BRAIN_OVERLAP", "UNCLEAN_ELECTION", "POSSIBLE_DATA_LOSS", "MASTER_NOT_IN_SYNC_STATE_SET"),
                *(
                    "EPOCH_REGRESSION",
                    "WRONG_ELECTION",
                    "WRONG_SET_CHANGE",
                    "SYNC_STATE_SET_STALE",
                    "SYNC_STATE_SET_SMALL",
                ),
                *("REPLICATION_RULE", "ACK_RULE", "LEADERLESS", "ELECTION_STORM", "LOG_GAP"),
            }
        ),
        repeated=("controller-old-record", "controller-settings-lost"),
    ),
    "broker_identity": Expected(
        proven=frozenset(
            {
                *("BROKER_ID_CONFLICT", "BROKER_IDENTITY_RESET", "REGISTER_CODE_MISMATCH", "INCOMPATIBLE_VERSIONS"),
                "SPLIT_BRAIN_SAME_TERM",
            }
        ),
        repeated=("identity-copied", "identity-race-lost-lines"),
    ),
    "acting_master": Expected(
        proven=frozenset(
            {
                *("ACTING_MASTER_OVERLAP", "ACTING_MASTER_NOT_MIN_ID", "ACTING_MASTER_WRITABLE"),
                *("SPECIAL_SERVICE_GAP", "LEADERLESS", "PRE_ONLINE_STUCK", "LOG_GAP"),
            }
        ),
        repeated=("acting-seen-by-half", "acting-any-cuts-lost-lines"),
    ),
    "raft": Expected(
        proven=frozenset(
            {
                *("SPLIT_BRAIN_SAME_TERM", "SPLIT_BRAIN_OVERLAP", "DOUBLE_VOTE", "TERM_REGRESSION"),
                *("LEADER_WITHOUT_QUORUM", "STALE_LOG_VOTE", "WRONG_VOTE_RESULT", "COMMITTED_ENTRY_LOST"),
                *("LEADERLESS", "ELECTION_STORM", "LOG_GAP", "CLOCK_SKEW"),
            }
        ),
        repeated=("raft-old-copy", "raft-any-faults-lost-lines"),
    ),
    "order_lock": Expected(
        proven=frozenset(
            {
                *("LOCK_DOUBLE_HOLD", "LOCK_WITHOUT_QUORUM", "LOCK_NON_STRICT_RISK", "LOCK_USED_AFTER_EXPIRY"),
                *("ACTING_MASTER_OVERLAP", "LEADERLESS"),
            }
        ),
        repeated=("lock-cut", "lock-any-faults-lost-lines"),
    ),
    "metadata": Expected(
        proven=frozenset(
            {"METADATA_ROLLBACK", "PRE_ONLINE_SKIPPED", "STALE_REVERSE_SYNC", "LOG_GAP", "LEADERLESS"},
        ),
        repeated=("metadata-equal-versions", "metadata-skip-lost-lines"),
    ),
    "zab": Expected(
        proven=frozenset(
            {
                *("SPLIT_BRAIN_SAME_TERM", "SPLIT_BRAIN_OVERLAP", "TERM_REGRESSION"),
                *("LEADER_WITHOUT_QUORUM", "ZAB_WRONG_WINNER", "COMMITTED_ENTRY_LOST"),
                *("LEADERLESS", "ELECTION_STORM", "LOG_GAP", "CLOCK_SKEW"),
            }
        ),
        repeated=("zab-old-copies", "zab-any-faults-lost-lines"),
    ),
}
