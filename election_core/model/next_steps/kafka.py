"""What to do about findings in Kafka (KRaft)."""

from functools import partial

from election_replay.election_core.model.catalogue.rule import RuleId
from election_replay.election_core.model.next_steps import commands as run
from election_replay.election_core.model.next_steps.steps import (
    CUT_OFF,
    DIED,
    FROZEN,
    KAFKA,
    LOST,
    MEMBERS_DIED,
    Check,
    NextSteps,
)

OPERATIONS = "Kafka documentation, operations (KRaft, basic operations)"
RAFT = "KIP-595 (Raft in Kafka); Raft section 5"
PRE_VOTE = "KIP-996 (pre-vote), in Kafka 4.0"
UNCLEAN = "Kafka documentation, unclean.leader.election.enable; KIP-966 (ELR)"

_QUORUM = Check("Who leads the metadata quorum, at which epoch", run.KAFKA_QUORUM)
_LAG = Check("How far each controller's log is, and since when it has not fetched", run.KAFKA_REPLICATION)
_STATE = Check("Which epoch and vote the controller keeps on its disk", run.KAFKA_STATE)
_LOG = Check("What the metadata log holds (on a copy of it)", run.KAFKA_LOG)
_TOPIC = Check("Who leads each partition of the topic, and who is in sync", run.KAFKA_TOPIC)
_OFFLINE = Check("Which partitions have no leader", run.KAFKA_OFFLINE)
_UNDER = Check("Which partitions have fewer in-sync replicas than their topic demands", run.KAFKA_UNDER)
_ENDS = Check("Where the partition's log begins and ends", run.KAFKA_OFFSETS)
_UNSAFE = Check("Whether the topic lets a replica lead that is not in sync", run.KAFKA_CONFIG)
_LINES = Check("What each node logged around that moment, in one time", run.AROUND)
_NET = Check("Whether the nodes reach each other", run.REACH)
_DISK = Check("Whether the disk is slow, or full", run.DISK)
_UP = Check("Since when the process runs, and how it ended", run.SYSTEMD)
_PAUSES = Check("Whether the JVM stood still", run.PAUSES)

of = partial(NextSteps, system=KAFKA)

KAFKA_STEPS: tuple[NextSteps, ...] = (
    of(
        rule=RuleId.SPLIT_BRAIN_SAME_TERM,
        checks=(_QUORUM, _STATE, _LOG),
        do_not="Do not format or restart a controller before its directory is copied: its log may be the only one that "
        "holds what it committed.",
        source=RAFT,
    ),
    of(
        rule=RuleId.SPLIT_BRAIN_OVERLAP,
        checks=(_QUORUM, _TOPIC, _NET),
        do_not="Do not restart the older leader to help: it gives up by itself, and its log shows what it took.",
        source=RAFT,
    ),
    of(
        rule=RuleId.WRITES_REFUSED,
        checks=(_UNDER, _TOPIC, _LINES),
        do_not="Do not lower min.insync.replicas to let writes through: what one replica alone acknowledges is lost "
        "with it. Bring the other replicas back.",
        source="Kafka documentation, min.insync.replicas and acks",
    ),
    of(
        rule=RuleId.DOUBLE_VOTE,
        checks=(_STATE, _LAG, _LOG),
        do_not="Do not start the controller with an old or empty metadata directory under its old id: it forgets votes "
        "that it gave. Remove it as a voter, format it, and add it.",
        source=RAFT,
    ),
    of(
        rule=RuleId.TERM_REGRESSION,
        checks=(_STATE, _LAG, _LOG),
        do_not="Do not put back a copy of quorum-state: epoch and vote must never get older.",
        source=RAFT,
    ),
    of(
        rule=RuleId.STALE_LOG_VOTE,
        checks=(_LOG, _STATE, _LAG),
        do_not="Do not restart more controllers before their metadata logs are copied and compared.",
        source=RAFT,
    ),
    of(
        rule=RuleId.COMMITTED_ENTRY_LOST,
        checks=(_TOPIC, _ENDS, _LINES),
        do_not="Do not start the replica that still holds the messages before its log directory is copied: it cuts "
        "them off when it follows.",
        source=UNCLEAN,
    ),
    of(
        rule=RuleId.POSSIBLE_DATA_LOSS,
        checks=(_TOPIC, _ENDS, _LINES),
        do_not="Do not write the messages again before the writers' own records say which were acknowledged.",
        source=OPERATIONS,
    ),
    of(
        rule=RuleId.POSSIBLE_DATA_LOSS,
        cause=LOST,
        checks=(_LINES, _UNSAFE, _ENDS),
        do_not="Do not count on acks=1 for what must not be lost: use acks=all and min.insync.replicas of 2.",
        source=OPERATIONS,
    ),
    of(
        rule=RuleId.UNCLEAN_ELECTION,
        checks=(_TOPIC, _UNSAFE, _ENDS),
        do_not="Do not start the former leader before its log directory is copied: it cuts off what the new one lacks.",
        source=UNCLEAN,
    ),
    of(
        rule=RuleId.LEADERLESS,
        checks=(_QUORUM, _OFFLINE, _LINES),
        do_not="Do not force an unclean election while a replica that was in sync can still come back.",
        source=OPERATIONS,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=DIED,
        checks=(_UP, _OFFLINE, _UNDER),
        do_not="Do not restart further brokers or controllers before this one is in sync again.",
        source=OPERATIONS,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=FROZEN,
        checks=(_PAUSES, _DISK, _UNDER),
        do_not="Do not lengthen session and fetch time-outs to hide pauses: every outage gets as much longer.",
        source=OPERATIONS,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=CUT_OFF,
        checks=(_NET, _LAG, _OFFLINE),
        do_not="Do not restart the node that was cut off before the network is looked at.",
        source=OPERATIONS,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=MEMBERS_DIED,
        checks=(_UP, _QUORUM, _OFFLINE),
        do_not="Do not format the storage of a controller that ended: it must come back with its own log.",
        source=OPERATIONS,
    ),
    of(
        rule=RuleId.NEEDLESS_ELECTION,
        checks=(_NET, _LAG, _QUORUM),
        do_not="Do not restart the leader that gave up: nothing is wrong with it. Since 4.0 voters ask first whether "
        "they would be elected; upgrade all controllers.",
        source=PRE_VOTE,
    ),
    of(
        rule=RuleId.ELECTION_STORM,
        checks=(_LAG, _NET, _DISK),
        do_not="Do not restart controllers one after the other to calm it: each restart is one more election.",
        source=OPERATIONS,
    ),
)
