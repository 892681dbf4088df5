"""What to do about findings in etcd."""

from functools import partial

from election_replay.election_core.model.catalogue.rule import RuleId
from election_replay.election_core.model.next_steps import commands as run
from election_replay.election_core.model.next_steps.steps import (
    CUT_OFF,
    DIED,
    ETCD,
    FROZEN,
    LARGER_TERM,
    MEMBERS_DIED,
    REACHABLE,
    Check,
    NextSteps,
)

DISASTER = "etcd docs, op-guide/recovery; etcdutl/README.md (snapshot restore)"
FAILURES = "etcd docs, op-guide/failures and tuning; etcdctl/README.md"
RAFT = "Raft section 5; etcd raft/design"

_STATUS = Check("Who leads, at which term, and how far each member's raft index is", run.ETCD_STATUS)
_HEALTH = Check("Which members answer, and how long they take", run.ETCD_HEALTH)
_MEMBERS = Check("Which members the cluster has, and under which ids and addresses", run.ETCD_MEMBERS)
_HASH = Check("Whether all members hold the same data at one revision", run.ETCD_HASH)
_BACKUP = Check(
    "Save what is there before anything else is done, from the member with the highest index", run.ETCD_SNAPSHOT
)
_LOG = Check("What the member's own log holds: terms, votes, commit (on a copy of its data directory)", run.ETCD_LOG)
_LINES = Check("What each member logged around that moment, in one time", run.AROUND)
_DISK = Check("Whether the disk is slow: slow fsync makes leaders late", run.DISK)
_NET = Check("Whether the members reach each other on the peer port", run.REACH)

of = partial(NextSteps, system=ETCD)

ETCD_STEPS: tuple[NextSteps, ...] = (
    of(
        rule=RuleId.SPLIT_BRAIN_SAME_TERM,
        checks=(_BACKUP, _HASH, _LOG),
        do_not="Do not start a member from an old copy of its data directory: it forgets votes that it gave.",
        source=DISASTER,
    ),
    of(
        rule=RuleId.SPLIT_BRAIN_OVERLAP,
        checks=(_STATUS, _HASH, _NET),
        do_not="Do not take reads with --consistency=s from the former leader for the truth: they may be stale.",
        source=FAILURES,
    ),
    of(
        rule=RuleId.LEADER_WITHOUT_QUORUM,
        checks=(_MEMBERS, _STATUS, _LOG),
        do_not="Do not use --force-new-cluster on more than one member: each makes a cluster of its own.",
        source=DISASTER,
    ),
    of(
        rule=RuleId.DOUBLE_VOTE,
        checks=(_LOG, _HASH, _LINES),
        do_not="Do not start the voter from an old copy of its data directory again: it forgets votes that it gave.",
        source=RAFT,
    ),
    of(
        rule=RuleId.TERM_REGRESSION,
        checks=(_LOG, _STATUS, _HASH),
        do_not="Do not let the member go on with an old data directory: remove it, empty it, and add it as a new one.",
        source=DISASTER,
    ),
    of(
        rule=RuleId.STALE_LOG_VOTE,
        checks=(_BACKUP, _HASH, _LOG),
        do_not="Do not move leadership before the members' data are compared.",
        source=RAFT,
    ),
    of(
        rule=RuleId.COMMITTED_ENTRY_LOST,
        checks=(_BACKUP, _HASH, _LOG),
        do_not="Do not remove the member that holds more than the others: it may be the only copy of what is gone.",
        source=DISASTER,
    ),
    of(
        rule=RuleId.CLUSTER_RESTORED,
        checks=(_MEMBERS, _STATUS, _HASH),
        do_not="Do not delete the old data directories: they may be the only copy of what the snapshot lacks.",
        source=DISASTER,
    ),
    of(
        rule=RuleId.CLUSTER_FORCED,
        checks=(_BACKUP, _MEMBERS, _HASH),
        do_not="Do not start the former members with their data: wipe them and add them anew.",
        source=DISASTER,
    ),
    of(
        rule=RuleId.STORE_WENT_BACK,
        checks=(_LOG, _STATUS, _HASH),
        do_not="Do not let the member go on with an old data directory: remove it, empty it, and add it as a new one.",
        source=DISASTER,
    ),
    of(
        rule=RuleId.STORES_DIFFER,
        checks=(_BACKUP, _HASH, _STATUS),
        do_not="Do not disarm the alarm before it is known which members hold the right data.",
        source="etcd docs, op-guide/data_corruption",
    ),
    of(
        rule=RuleId.WRITES_REFUSED,
        checks=(Check("Which alarms are set", run.ETCD_ALARMS), _STATUS, _HASH),
        do_not="Do not disarm an alarm before its reason is gone: compact and defragment for space, compare for data.",
        source="etcd docs, op-guide/maintenance (space quota)",
    ),
    of(
        rule=RuleId.LEADERLESS,
        checks=(_HEALTH, _STATUS, _LINES),
        do_not="Do not restore a snapshot while a majority can still come back: a restored cluster is another one.",
        source=FAILURES,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=DIED,
        checks=(Check("Whether the kernel killed the process, for memory say", run.OOM), _HEALTH, _STATUS),
        do_not="Do not remove and add a member that will come back by itself: its data would be sent anew.",
        source=FAILURES,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=FROZEN,
        checks=(_DISK, Check("How long the leader's disk takes to sync", run.ETCD_FSYNC), _STATUS),
        do_not="Do not raise --election-timeout on one member only: all must have the same.",
        source=FAILURES,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=CUT_OFF,
        checks=(_NET, _HEALTH, _STATUS),
        do_not="Do not change the membership from the smaller side of a cut: it has no majority to decide it.",
        source=FAILURES,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=MEMBERS_DIED,
        checks=(_HEALTH, Check("Whether the kernel killed a process, for memory say", run.OOM), _MEMBERS),
        do_not="Do not force a new cluster while the members that ended can come back with their data.",
        source=DISASTER,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=LARGER_TERM,
        checks=(_NET, _LINES, Check("Whether pre-vote is on in every member", run.LINES)),
        do_not="Do not look for a slow disk: a member that had stood alone came back with a larger term. With "
        "--pre-vote it would have asked first.",
        source="etcd docs, op-guide/configuration (pre-vote); Raft thesis, 9.6",
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=REACHABLE,
        checks=(_LINES, _DISK, _STATUS),
        do_not="Do not look for a dead machine: the old leader was alive. Heartbeats were late, or somebody moved it.",
        source=FAILURES,
    ),
    of(
        rule=RuleId.ELECTION_STORM,
        checks=(_DISK, _NET, Check("Whether a member is out of space or has raised an alarm", run.ETCD_ALARMS)),
        do_not="Do not restart members one after the other to calm it: each restart is one more election.",
        source=FAILURES,
    ),
)
