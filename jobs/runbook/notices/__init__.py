"""Lines that a story tells though no rule judges them: what each kind says, in words for people.

A sentence stands behind the name of whoever wrote the line. ``{peer}`` is a column of the event; what stands in
brackets is left out where a column in it has no value. ``{duration}`` is how long, the shortest to the longest of the
lines that are told together. A kind without a sentence of its own is told by its meaning (``dialects.KINDS``). Behind a
kind, after a slash, may stand the code or the flag of those of its lines that are meant.

``ALWAYS`` are told in every story: who belongs to the group, what ends a member or keeps it out, what its disk or its
data suffer. ``WHERE_LITTLE_IS_KNOWN`` say something where a story has neither a leader nor a finding, and would
drown it elsewhere.
"""

from collections.abc import Mapping

from election_replay.jobs.runbook.notices import described, etcd, kafka, redis, rocketmq, zookeeper

SYSTEMS = (described, etcd, kafka, redis, rocketmq, zookeeper)

ALWAYS: Mapping[str, str] = {kind: text for system in SYSTEMS for kind, text in system.ALWAYS.items()}
WHERE_LITTLE_IS_KNOWN: Mapping[str, str] = {
    kind: text for system in SYSTEMS for kind, text in system.WHERE_LITTLE_IS_KNOWN.items()
}
NEVER = frozenset[str]().union(*(system.NEVER for system in SYSTEMS))
"""Kinds of lines that a system prints while all goes on as it should: signs of life, settings, requests of clients."""

RELEASES = frozenset({"ETCD_VERSION", "ZK_VERSION", "RD_VERSION", "KAFKA_VERSION"})
"""Lines that name a release; only another one than before is told."""

AT_STARTS = frozenset({"ETCD_MEMBER_ADDED", "ETCD_MEMBER_PROMOTED", "ETCD_MEMBER_UPDATED"})
"""Lines of changes of members that a start prints again, as it reads the log; there they are not told."""

STARTS = frozenset({"ETCD_BOOT", "ETCD_MEMBER_STARTS", "ETCD_MEMBER_RESTARTS", "ETCD_SERVER_STARTS", "RAFT_START"})
"""Lines of such a start."""

LEADER_IS_KNOWN = frozenset({"RAFT_LEADER_KNOWN", "RAFT_TO_LEADER"})
"""Lines from which on a member that has started has read its log."""

READS_ITS_LOG_FOR_US = 60_000_000
"""So long after its start, at most, a member prints old changes again that it applies late."""

OF_ANOTHER = frozenset({"CTL_BROKER_EXPIRED", "CTL_ELECT_DONE", "CTL_ELECT_OK", "RC_FAILED_OVER", "RC_FAIL_TOLD"})
"""Lines whose ``node`` is not the member that wrote them."""

APART = redis.APART | kafka.APART
"""Lines each of which undoes what another one says: those that say the same are not told together."""
