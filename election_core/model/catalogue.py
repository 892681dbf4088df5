"""Rules: their ids, and how certain and how severe a finding is. ``jobs/runbook`` holds what each rule means.

A finding is a code plus evidence; its sentence is rendered from the numbers. The id of a finding is a hash of its
content and subject, never of when it was computed, so that a rerun finds the same finding.

Severity follows the consequence: *critical* = data lost or forked, or a safety rule broken, and that is proven or
definite; *warning* = availability lost, or a safety rule perhaps broken; *info* = the protocol handled it.
"""

import hashlib
from enum import StrEnum

PROVEN = "proven"
DEFINITE = "definite"
POSSIBLE = "possible"

CRITICAL = "critical"
WARNING = "warning"
INFO = "info"


class RuleId(StrEnum):
    """The closed enumeration of rules; a finding names one of them."""

    SPLIT_BRAIN_SAME_TERM = "SPLIT_BRAIN_SAME_TERM"
    SPLIT_BRAIN_OVERLAP = "SPLIT_BRAIN_OVERLAP"
    DOUBLE_VOTE = "DOUBLE_VOTE"
    TERM_REGRESSION = "TERM_REGRESSION"
    LEADER_WITHOUT_QUORUM = "LEADER_WITHOUT_QUORUM"
    LEADER_KEPT_WITHOUT_QUORUM = "LEADER_KEPT_WITHOUT_QUORUM"
    WRONG_ROUND_RESULT = "WRONG_ROUND_RESULT"
    WRONG_VOTE_RESULT = "WRONG_VOTE_RESULT"
    STALE_LOG_VOTE = "STALE_LOG_VOTE"
    HEARTBEAT_RULE = "HEARTBEAT_RULE"
    TERM_RULE = "TERM_RULE"
    TRANSFER_RULE = "TRANSFER_RULE"
    MEMBERS_DISAGREE = "MEMBERS_DISAGREE"
    BROKER_ROLE_RULE = "BROKER_ROLE_RULE"
    UNCLEAN_ELECTION = "UNCLEAN_ELECTION"
    MASTER_NOT_IN_SYNC_STATE_SET = "MASTER_NOT_IN_SYNC_STATE_SET"
    EPOCH_REGRESSION = "EPOCH_REGRESSION"
    WRONG_ELECTION = "WRONG_ELECTION"
    WRONG_SET_CHANGE = "WRONG_SET_CHANGE"
    CONTROLLERS_DISAGREE = "CONTROLLERS_DISAGREE"
    REPLICATION_RULE = "REPLICATION_RULE"
    ACK_RULE = "ACK_RULE"
    SYNC_STATE_SET_STALE = "SYNC_STATE_SET_STALE"
    SYNC_STATE_SET_SMALL = "SYNC_STATE_SET_SMALL"
    POSSIBLE_DATA_LOSS = "POSSIBLE_DATA_LOSS"
    COMMITTED_ENTRY_LOST = "COMMITTED_ENTRY_LOST"
    QUEUES_CUT_AT_START = "QUEUES_CUT_AT_START"
    CLUSTER_RESTORED = "CLUSTER_RESTORED"
    CLUSTER_FORCED = "CLUSTER_FORCED"
    STORE_WENT_BACK = "STORE_WENT_BACK"
    STORES_DIFFER = "STORES_DIFFER"
    REPLICATION_STUCK = "REPLICATION_STUCK"
    LEADERLESS = "LEADERLESS"
    ELECTION_STORM = "ELECTION_STORM"
    MEMBER_CANNOT_JOIN = "MEMBER_CANNOT_JOIN"
    ZAB_WRONG_WINNER = "ZAB_WRONG_WINNER"
    BULLY_NOT_HIGHEST = "BULLY_NOT_HIGHEST"
    RING_NOT_HIGHEST = "RING_NOT_HIGHEST"
    ACTING_MASTER_OVERLAP = "ACTING_MASTER_OVERLAP"
    ACTING_MASTER_NOT_MIN_ID = "ACTING_MASTER_NOT_MIN_ID"
    ACTING_MASTER_WRITABLE = "ACTING_MASTER_WRITABLE"
    SPECIAL_SERVICE_GAP = "SPECIAL_SERVICE_GAP"
    PRE_ONLINE_STUCK = "PRE_ONLINE_STUCK"
    NEEDLESS_ELECTION = "NEEDLESS_ELECTION"
    WRITES_UNANSWERED = "WRITES_UNANSWERED"
    WRITES_REFUSED = "WRITES_REFUSED"
    FORMER_LEADER_STILL_MASTER = "FORMER_LEADER_STILL_MASTER"
    METADATA_ROLLBACK = "METADATA_ROLLBACK"
    PRE_ONLINE_SKIPPED = "PRE_ONLINE_SKIPPED"
    STALE_REVERSE_SYNC = "STALE_REVERSE_SYNC"
    NOT_JUDGED = "NOT_JUDGED"
    LOG_GAP = "LOG_GAP"
    BROKER_ID_CONFLICT = "BROKER_ID_CONFLICT"
    BROKER_IDENTITY_RESET = "BROKER_IDENTITY_RESET"
    REGISTER_CODE_MISMATCH = "REGISTER_CODE_MISMATCH"
    INCOMPATIBLE_VERSIONS = "INCOMPATIBLE_VERSIONS"
    LOCK_DOUBLE_HOLD = "LOCK_DOUBLE_HOLD"
    LOCK_WITHOUT_QUORUM = "LOCK_WITHOUT_QUORUM"
    LOCK_NON_STRICT_RISK = "LOCK_NON_STRICT_RISK"
    LOCK_USED_AFTER_EXPIRY = "LOCK_USED_AFTER_EXPIRY"
    CLOCK_SKEW = "CLOCK_SKEW"
    IDENTITY_CONTRADICTION = "IDENTITY_CONTRADICTION"
    UNKNOWN_VERSION = "UNKNOWN_VERSION"


TWO_LEADERS = frozenset(
    {
        RuleId.SPLIT_BRAIN_SAME_TERM,
        RuleId.SPLIT_BRAIN_OVERLAP,
        RuleId.ACTING_MASTER_OVERLAP,
        RuleId.FORMER_LEADER_STILL_MASTER,
        RuleId.BROKER_ID_CONFLICT,
        RuleId.BULLY_NOT_HIGHEST,
        RuleId.RING_NOT_HIGHEST,
        RuleId.IDENTITY_CONTRADICTION,
    }
)
"""Rules about two leaders at once, one in place of another, or a leader of unclear identity."""

WENT_BACK = frozenset(
    {RuleId.TERM_REGRESSION, RuleId.EPOCH_REGRESSION, RuleId.BROKER_IDENTITY_RESET, RuleId.IDENTITY_CONTRADICTION}
)
"""Rules whose findings say that terms were reset, or that it is unclear whose they are."""

OF_ONE_LOG = frozenset({RuleId.IDENTITY_CONTRADICTION, RuleId.LOG_GAP, RuleId.NOT_JUDGED, RuleId.UNKNOWN_VERSION})
"""Rules about each log by itself, whichever cluster it is of."""


def finding_id(cluster: str, replica_group: str, rule: str, *key: object) -> str:
    """Return a stable id: the same verdict about the same subject has the same id in every run."""
    text = "\x1f".join([cluster, replica_group, rule, *(str(part) for part in key)])
    return hashlib.sha256(text.encode()).hexdigest()[:32]
