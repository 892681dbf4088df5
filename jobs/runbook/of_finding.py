"""The next steps of one finding, with known values of it and of its group filled into their commands."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.facts import Fact, MemberAddress
from election_replay.election_core.model.rows import Finding, Row
from election_replay.election_core.protocols.redis.kin import is_shard
from election_replay.jobs.runbook.filling import at, filled, plain
from election_replay.jobs.runbook.steps import REDIS, REDIS_CLUSTER, NextSteps, StepRow, steps_for, system_of

ADDRESS = re.compile(r"([A-Za-z0-9][A-Za-z0-9.-]*):([0-9]+)")
GROUP_IS_BROKER_NAME = ("acting_master", "broker_identity", "controller", "metadata")
"""Protocols whose groups are named after the broker set, the name that RocketMQ's tools ask for."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class KnownOfGroup:
    """What is known of a group for all its findings: (member, address) pairs, and whether a clock is wrong.

    If a clock is proven wrong, times are not filled in here: the pages that show a finding correct them first.
    """

    addresses: tuple[tuple[str, str], ...] = ()
    a_clock_is_wrong: bool = False

    @classmethod
    def of(cls, facts: Iterable[Fact], rows: Iterable[Row]) -> "KnownOfGroup":
        """Return what the facts and rows of one group show."""
        of_members = (fact for fact in facts if isinstance(fact, MemberAddress))
        return cls(
            addresses=tuple(sorted({(fact.node, fact.address) for fact in of_members if fact.node is not None})),
            a_clock_is_wrong=any(isinstance(row, Finding) and is_of_a_wrong_clock(row) for row in rows),
        )

    def of_finding(self, finding: Finding) -> dict[str, str | None]:
        """Return the value of each placeholder except WAREHOUSE; ``None`` if unknown."""
        named = [address for node, address in self.addresses if node in finding.nodes]
        where = ADDRESS.fullmatch(named[0]) if len(finding.nodes) == len(named) == 1 else None
        time = {} if self.a_clock_is_wrong else at(EPOCH + timedelta(microseconds=finding.start_time))
        return time | {
            "CLUSTER": plain(finding.cluster),
            "FINDING_ID": plain(finding.finding_id),
            "BROKER_NAME": plain(finding.replica_group) if finding.protocol in GROUP_IS_BROKER_NAME else None,
            "BROKER:10911": where and where[0],
            "HOST PORT": where and f"{where[1]} {where[2]}",
            "HOST": where and where[1],
        }


def is_of_a_wrong_clock(finding: Finding) -> bool:
    """Return True if a finding bounds the offset of one node's clock, so that this node's times are corrected."""
    bounds = (finding.clock_least_ms, finding.clock_most_ms)
    return finding.rule == RuleId.CLOCK_SKEW and len(finding.nodes) == 1 and bounds != (None, None)


def next_steps(finding: Finding, cause: str, group: KnownOfGroup) -> tuple[StepRow, ...] | None:
    """Return the next steps for a finding with this cause; ``None`` if there are none."""
    steps = steps_for(finding.rule, tools_for(finding), cause)
    return steps_of_finding(steps, finding, group) if steps else None


def tools_for(finding: Finding) -> str:
    """Return the system whose tools apply to a finding: no sentinel watches a shard of Redis Cluster."""
    system = system_of(finding.protocol, finding.replica_group)
    in_a_cluster = system == REDIS and is_shard(finding.replica_group, finding.nodes)
    return REDIS_CLUSTER if in_a_cluster else system


def steps_of_finding(steps: NextSteps, finding: Finding, group: KnownOfGroup) -> tuple[StepRow, ...]:
    """Return the steps of a finding in order, with known values in their commands.

    If a command asks for an address and the group's addresses are known, a last row of the kind ``known`` lists them.
    """
    known = group.of_finding(finding)
    rows = tuple((kind, text, filled(command, known), source) for kind, text, command, source in steps.in_order)
    if group.addresses and any(re.search("BROKER:|HOST", command or "") for _, _, command, _ in rows):
        listed = ", ".join(f"{node} is {address}" for node, address in group.addresses)
        return (*rows, ("known", f"By the logs {listed}", None, None))
    return rows
