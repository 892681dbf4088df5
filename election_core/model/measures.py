"""Values of the typed columns of findings: fates of former leaders, units of losses, and more."""

from enum import StrEnum


class Fate(StrEnum):
    """What had happened to a leader when nobody served after it."""

    FROZEN = "frozen"
    """Its process did not run, and went on later."""
    DIED = "died"
    """Its process ended without a line about it: killed, or the machine failed."""
    STOPPED = "stopped"
    """Somebody stopped it, or asked it to hand over."""
    ENDED_ITSELF = "ended_itself"
    """It ended, or gave up its role, for a reason that it logged."""
    REMOVED = "removed"
    """It was removed from its group."""
    CUT_OFF = "cut_off"
    """It ran, and the others did not hear from it."""
    OVERLOADED = "overloaded"
    """It ran too slowly to be heard in time."""
    UNKNOWN = "unknown"
    """The logs do not show it."""


class Standing(StrEnum):
    """The state of a leader when the next one began, or when nobody followed."""

    DIED = "died"
    """Its process had ended without a line about it."""
    STOPPED = "stopped"
    """Somebody had stopped it."""
    ENDED_ITSELF = "ended_itself"
    """Its process had ended for a reason that it logged."""
    REMOVED = "removed"
    """It had been removed from its group."""
    SILENT = "silent"
    """Its log just stops."""
    FROZEN = "frozen"
    """Its process did not run when it was lost."""
    OVERLOADED = "overloaded"
    """It ran too slowly to be heard in time."""
    MEMBERS_DIED = "members_died"
    """It ran, and too few of the others were left for a majority."""
    TOPPLED = "toppled"
    """It ran, and gave up because a member came with a larger term that had no leader."""
    CUT_OFF = "cut_off"
    """It ran, the others reached each other, and it was not reached."""
    NOT_TOLD = "not_told"
    """It ran and was reachable: an operator gave the lead to another member, and it learned of that later."""
    WITHOUT_QUORUM = "without_quorum"
    """It lost its quorum, and the logs do not show why."""
    REACHABLE = "reachable"
    """It ran, and heard of the next leader at once."""
    UNKNOWN = "unknown"
    """The logs do not show it."""


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
"""The fate of a leader by its state; UNKNOWN for all other states."""


class Unit(StrEnum):
    """The unit of the two ends of a cut."""

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
    """Where the counted data are missing."""

    LOG = "log"
    """They were cut off a log."""
    QUEUES = "queues"
    """They are in the log, and in no queue."""
    ONE_SIDE = "one_side"
    """They are in one log, which could not be cut, and in no other."""


class Scope(StrEnum):
    """For whom there was no leader, in a finding about a time without one."""

    NO_LEADER = "no_leader"
    """Nobody served any client."""
    NO_MAJORITY = "no_majority"
    """A leader led on without the majority that it needs, and could commit nothing."""
    READS_ONLY = "reads_only"
    """Another member answered reads, and nobody took writes."""
    UNREACHABLE = "unreachable"
    """A leader ran on: clients that could not reach it had none."""
    UNRECORDED = "unrecorded"
    """A leader ran on, and the members that decide had none on record."""


class Refusal(StrEnum):
    """Why the member that holds the role refuses writes."""

    DISK_FULL = "disk_full"
    """Its disk is too full for writes, by its own log."""
    TRANSFERRING = "transferring"
    """It hands its leadership over, and the hand-over does not end."""
    UNACKNOWLEDGED = "unacknowledged"
    """It waits for acknowledgements of other replicas, which do not arrive."""
    NO_SPACE = "no_space"
    """A member's space is used up, and an alarm forbids writes to all."""
    CORRUPT = "corrupt"
    """Members hold different data, and an alarm forbids writes to all."""
    FEW_IN_SYNC = "few_in_sync"
    """Fewer replicas are in sync than a write with acks=all needs (Kafka ``min.insync.replicas``)."""
    DISK_HANGS = "disk_hangs"
    """Its disk does not make entries durable, and everything that it leads waits."""
    STOOD_STILL = "stood_still"
    """Its loop did not run, by its own heartbeats: its process was frozen, or its disk or its CPU was too slow."""
    SILENT = "silent"
    """It logged nothing, though it logs its status all the time: it did not run, or its log lost lines."""
