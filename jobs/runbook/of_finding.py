"""The steps of one finding: their commands name what is known of it and of its group."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.facts import Fact, MemberAddress
from election_replay.election_core.model.rows import Finding, Row
from election_replay.jobs.runbook.filling import at, filled, plain
from election_replay.jobs.runbook.steps import NextSteps, StepRow, steps_for, system_of

ADDRESS = re.compile(r"([A-Za-z0-9][A-Za-z0-9.-]*):([0-9]+)")
GROUP_IS_BROKER_NAME = ("acting_master", "broker_identity", "controller", "metadata")
"""Protocols whose groups bear the name of the broker set, which RocketMQ's tools ask for."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class KnownOfGroup:
    """What the logs of a group tell for all of its findings: pairs of member and address, and whether a clock is wrong.

    Where a clock is proven wrong, who shows a finding knows better than it does what time it was.
    """

    addresses: tuple[tuple[str, str], ...] = ()
    a_clock_is_wrong: bool = False

    @classmethod
    def of(cls, facts: Iterable[Fact], rows: Iterable[Row]) -> "KnownOfGroup":
        """Of the facts and the rows of one group."""
        of_members = (fact for fact in facts if isinstance(fact, MemberAddress))
        return cls(
            addresses=tuple(sorted({(fact.node, fact.address) for fact in of_members if fact.node is not None})),
            a_clock_is_wrong=any(isinstance(row, Finding) and is_of_a_wrong_clock(row) for row in rows),
        )

    def of_finding(self, finding: Finding) -> dict[str, str | None]:
        """What stands for each name in capitals, but for the warehouse; ``None``: it remains."""
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
    """Whether a finding says how wrong the clock of one node was, so that what that node logged is shown shifted."""
    bounds = (finding.clock_least_ms, finding.clock_most_ms)
    return finding.rule == RuleId.CLOCK_SKEW and len(finding.nodes) == 1 and bounds != (None, None)


def next_steps(finding: Finding, cause: str, group: KnownOfGroup) -> tuple[StepRow, ...] | None:
    """What to do about a finding with this cause; ``None`` where nobody knows."""
    steps = steps_for(finding.rule, system_of(finding.protocol, finding.replica_group), cause)
    return steps_of_finding(steps, finding, group) if steps else None


def steps_of_finding(steps: NextSteps, finding: Finding, group: KnownOfGroup) -> tuple[StepRow, ...]:
    """The steps of a finding in order, with what is known of it in their commands.

    Where a command asks for an address, and that of several nodes could be meant, a last row of the kind ``known``
    lists those of the group.
    """
    known = group.of_finding(finding)
    rows = tuple((kind, text, filled(command, known), source) for kind, text, command, source in steps.in_order)
    if group.addresses and any(re.search("BROKER:|HOST", command or "") for _, _, command, _ in rows):
        listed = ", ".join(f"{node} is {address}" for node, address in group.addresses)
        return (*rows, ("known", f"By the logs {listed}", None, None))
    return rows
