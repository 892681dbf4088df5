"""What the tests of simulated worlds have to know of each protocol; a new protocol adds its entry."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expected:
    """``proven``: the rules that a world breaks provably, in the worlds of the quick suite.

    ``repeated``: scenarios that hold much of what is drawn, for the test that a seed repeats byte for byte.
    ``story``: a scenario, a seed, and what a newcomer reads in it.
    """

    proven: frozenset[str]
    repeated: tuple[str, ...]
    story: tuple[str, int, tuple[str, ...]]


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
        story=(
            "dledger-isolated-leader",
            1,
            (">>> isolate n1", "n1  LEADS term 1", "has heard nothing of its leader n1", "n2  LEADS term 2", "cuts"),
        ),
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
        story=(
            "controller-isolated-master",
            2,
            (
                *(
                    ">>> isolate broker-1",
                    "ctl-1     ELECTS broker 2 master of epoch 2",
                    "broker-2  IS MASTER of epoch 2",
                ),
                *("broker-1  cannot acknowledge", "broker-1  follows broker 2", "broker-1  cuts"),
            ),
        ),
    ),
    "broker_identity": Expected(
        proven=frozenset(
            {
                *("BROKER_ID_CONFLICT", "BROKER_IDENTITY_RESET", "REGISTER_CODE_MISMATCH", "INCOMPATIBLE_VERSIONS"),
                "SPLIT_BRAIN_SAME_TERM",
            }
        ),
        repeated=("identity-copied", "identity-race-lost-lines"),
        story=(
            "identity-crash-accepted",
            1,
            (
                *("broker-2  is told that id 2 is the next one", "ctl-1     gives the id 2", ">>> kill broker-2"),
                "broker-2  owns the id 2, and writes its identity file",
            ),
        ),
    ),
    "acting_master": Expected(
        proven=frozenset(
            {
                *("ACTING_MASTER_OVERLAP", "ACTING_MASTER_NOT_MIN_ID", "ACTING_MASTER_WRITABLE"),
                *("SPECIAL_SERVICE_GAP", "LEADERLESS", "PRE_ONLINE_STUCK", "LOG_GAP"),
            }
        ),
        repeated=("acting-seen-by-half", "acting-any-cuts-lost-lines"),
        story=(
            "acting-kill-master",
            1,
            (
                *(">>> kill broker-0", "drops broker-0 from its table", "broker-1  STARTS the special services"),
                *("broker-0  reads what consumers have read meanwhile", "broker-1  stops the special services"),
            ),
        ),
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
        story=(
            "raft-isolated-leader",
            1,
            (
                *(">>> isolate", "would vote for", "LEADS term 2", "has not heard a majority", "LEADS term 3"),
                "cuts entries off",
            ),
        ),
    ),
    "order_lock": Expected(
        proven=frozenset(
            {
                *("LOCK_DOUBLE_HOLD", "LOCK_WITHOUT_QUORUM", "LOCK_NON_STRICT_RISK", "LOCK_USED_AFTER_EXPIRY"),
                *("ACTING_MASTER_OVERLAP", "LEADERLESS"),
            }
        ),
        repeated=("lock-cut", "lock-any-faults-lost-lines"),
        story=(
            "lock-cut",
            1,
            (
                *("broker-0  locks queue 0 for client-1", ">>> cut, nothing passes", "broker-1  STARTS the special"),
                *("broker-1  locks queue 0 for client-2", "broker-0  gives queue 2 to client-1"),
            ),
        ),
    ),
    "metadata": Expected(
        proven=frozenset(
            {"METADATA_ROLLBACK", "PRE_ONLINE_SKIPPED", "STALE_REVERSE_SYNC", "LOG_GAP", "LEADERLESS"},
        ),
        repeated=("metadata-equal-versions", "metadata-skip-lost-lines"),
        story=(
            "metadata-equal-versions",
            1,
            (
                *(">>> kill broker-0", "broker-0  reads what consumers have read meanwhile from broker-1"),
                *("broker-0  takes the consumers' places over from broker-1", "places over from broker-2"),
            ),
        ),
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
        story=(
            "zab-isolated-leader",
            1,
            (
                *(">>> isolate", "votes for itself", "is elected; it leads nobody yet", "LEADS epoch 1"),
                *("too few followers answer: shuts down", "LEADS epoch 2", "cuts entries off"),
            ),
        ),
    ),
}
