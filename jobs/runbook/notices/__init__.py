"""Lines that a story shows although no rule judges them: a sentence for each kind.

A sentence follows the name of the member that wrote the line. ``{peer}`` is a column of the event; text in brackets is
left out where a column in it has no value. ``{duration}`` is the range of durations of the lines that are shown
together. A kind without a sentence of its own gets its meaning (``dialects.KINDS``). A code, flag or role after
a slash selects some lines of a kind.

``ALWAYS`` are shown in every story: who belongs to the group, what ends a member or keeps it out, what happens to its
disk or data. ``WHERE_LITTLE_IS_KNOWN`` are shown only where a story has neither a leader nor a finding, and of an
excerpt; they would drown it elsewhere. ``IN_EXCERPTS`` are shown of an excerpt alone, which is too short to drown.
"""

from collections.abc import Mapping

from election_replay.jobs.runbook.notices import described, etcd, kafka, redis, rocketmq, zookeeper

SYSTEMS = (described, etcd, kafka, redis, rocketmq, zookeeper)

ALWAYS: Mapping[str, str] = {kind: text for system in SYSTEMS for kind, text in system.ALWAYS.items()}
WHERE_LITTLE_IS_KNOWN: Mapping[str, str] = {
    kind: text for system in SYSTEMS for kind, text in system.WHERE_LITTLE_IS_KNOWN.items()
}
IN_EXCERPTS: Mapping[str, str] = {kind: text for system in SYSTEMS for kind, text in system.IN_EXCERPTS.items()}
NEVER = frozenset[str]().union(*(system.NEVER for system in SYSTEMS))
"""Kinds of lines that a healthy system prints: signs of life, settings, requests of clients."""

STATES = {
    "ETCD_VERSION": "value",
    "ZK_VERSION": "value",
    "RD_VERSION": "value",
    "KAFKA_VERSION": "value",
    "KAFKA_VOTERS": "members",
    "RC_STATE": "result",
}
"""Lines that state a release, the voters or a state, each with the column that does; only a change is shown."""

AT_STARTS = frozenset({"ETCD_MEMBER_ADDED", "ETCD_MEMBER_PROMOTED", "ETCD_MEMBER_UPDATED"})
"""Lines about changes of members that a start prints again as it reads the log; those are not shown."""

STARTS = frozenset({"ETCD_BOOT", "ETCD_MEMBER_STARTS", "ETCD_MEMBER_RESTARTS", "ETCD_SERVER_STARTS", "RAFT_START"})
"""Kinds of lines of such a start."""

LEADER_IS_KNOWN = frozenset({"RAFT_LEADER_KNOWN", "RAFT_TO_LEADER"})
"""Lines that show that a member that started has read its log."""

NAMES_A_LEADER = frozenset({"RAFT_LEADER_KNOWN", "KAFKA_CONTROLLER_KNOWN"})
"""Kinds of lines that only repeat what a story says of its leaders."""

READS_ITS_LOG_FOR_US = 60_000_000
"""For at most this many us after its start a member may print old changes again that it applies late."""

OF_ANOTHER = frozenset({"CTL_BROKER_EXPIRED", "CTL_ELECT_DONE", "CTL_ELECT_OK", "RC_FAILED_OVER", "RC_FAIL_TOLD"})
"""Kinds of lines whose ``node`` is not the member that wrote them."""

APART = redis.APART | kafka.APART
"""Lines that undo each other: equal ones are not shown together."""
