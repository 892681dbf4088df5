"""Values of the typed columns of findings: what became of a former leader, in what a loss is counted, and more."""

from enum import StrEnum


class Fate(StrEnum):
    """What had become of a leader when nobody served after it."""

    FROZEN = "frozen"
    """Its process did not run and went on later."""
    DIED = "died"
    """Its process ended without a word: killed, or the machine failed."""
    STOPPED = "stopped"
    """Somebody stopped it, or asked it to hand over."""
    ENDED_ITSELF = "ended_itself"
    """It ended, or gave its role up, for a reason that it prints."""
    REMOVED = "removed"
    """It was removed from its group."""
    CUT_OFF = "cut_off"
    """It ran, and the others did not hear from it."""
    OVERLOADED = "overloaded"
    """It ran too slowly to be heard in time."""
    UNKNOWN = "unknown"
    """The logs do not say."""


class Standing(StrEnum):
    """What a leader was when the next one began, or when nobody followed."""

    DIED = "died"
    """Its process had ended without a word."""
    STOPPED = "stopped"
    """Somebody had stopped it."""
    ENDED_ITSELF = "ended_itself"
    """Its process had ended for a reason that it prints."""
    REMOVED = "removed"
    """It had been removed from its group."""
    SILENT = "silent"
    """Its log just stops."""
    FROZEN = "frozen"
    """Its process did not run when it was lost."""
    OVERLOADED = "overloaded"
    """It ran too slowly to be heard in time."""
    MEMBERS_DIED = "members_died"
    """It ran, and so many of the others had ended that no majority was left."""
    TOPPLED = "toppled"
    """It ran, and gave up because a member came with a larger term that no leader had."""
    CUT_OFF = "cut_off"
    """It ran, the others reached each other, and it was not reached."""
    NOT_TOLD = "not_told"
    """It ran and was reached: an operator had another one lead, and it heard of that later."""
    WITHOUT_QUORUM = "without_quorum"
    """It lost its quorum, and the logs do not say why."""
    REACHABLE = "reachable"
    """It ran, and heard of the next one at once."""
    UNKNOWN = "unknown"
    """The logs do not say."""


FATE_OF = {
    Standing.DIED: Fate.DIED,
    Standing.STOPPED: Fate.STOPPED,
    Standing.ENDED_ITSELF: Fate.ENDED_ITSELF,
    Standing.REMOVED: Fate.REMOVED,
    Standing.FROZEN: Fate.FROZEN,
    Standing.OVERLOADED: Fate.OVERLOADED,
    Standing.MEMBERS_DIED: Fate.ENDED_ITSELF,
    Standing.TOPPLED: Fate.ENDED_ITSELF,
    Standing.CUT_OFF: Fate.CUT_OFF,
}
"""What became of a leader, by what it was; of all others that is not known."""


class Unit(StrEnum):
    """In what the two ends of a cut are counted."""

    BYTES = "bytes"
    """Offsets in a broker's commit log."""
    ENTRIES = "entries"
    """Indexes of a replicated log."""
    TRANSACTIONS = "transactions"
    """ZooKeeper's zxids: the epoch in the upper 32 bits, a counter in the lower ones."""
    REVISIONS = "revisions"
    """Revisions of etcd's key space."""
    MESSAGES = "messages"
    """Offsets in a queue."""


class LostFrom(StrEnum):
    """Where what a finding counts is missing."""

    LOG = "log"
    """It was cut off a log."""
    QUEUES = "queues"
    """It is in the log, and in no queue."""
    ONE_SIDE = "one_side"
    """It is in one log, which could not be cut, and in no other."""


class Scope(StrEnum):
    """For whom there was no leader, in a finding that tells of a time without one."""

    NO_LEADER = "no_leader"
    """Nobody served anybody."""
    NO_MAJORITY = "no_majority"
    """A leader led on without the majority that it needs, and could commit nothing."""
    READS_ONLY = "reads_only"
    """Another member answered reads, and nobody took writes."""
    UNREACHABLE = "unreachable"
    """A leader ran on: whoever could not reach it had none."""
    UNRECORDED = "unrecorded"
    """A leader ran on, and those who decide had none on record."""


class Refusal(StrEnum):
    """Why who holds the role refuses writes."""

    DISK_FULL = "disk_full"
    """Its disk is too full for writes, by its own word."""
    TRANSFERRING = "transferring"
    """It hands its leadership over, and that does not end."""
    UNACKNOWLEDGED = "unacknowledged"
    """It waits for acknowledgements of other replicas, which do not come."""
    NO_SPACE = "no_space"
    """A member's space is used up, and an alarm forbids writes to all."""
    CORRUPT = "corrupt"
    """Members hold different data, and an alarm forbids writes to all."""
    FEW_IN_SYNC = "few_in_sync"
    """Fewer replicas are in sync than a write with acks=all needs (Kafka ``min.insync.replicas``)."""
    DISK_HANGS = "disk_hangs"
    """Its disk does not make entries durable: what it leads waits for that."""
    STOOD_STILL = "stood_still"
    """Its loop did not run, by its own heartbeats: its process was frozen, or its disk or its CPU was too slow."""
    SILENT = "silent"
    """It printed nothing, though it prints its status all the time: it did not run, or its log lost lines."""
