"""Logs of two clusters in one group: they look like one cluster whose members lead one term twice, or lose what they
committed.

    blue-zk1, blue-zk2, blue-zk3     [members 1, 2, 3; epochs 1, 2]
    green-zk1, green-zk2, green-zk3                                   [members 1, 2, 3; epochs 1, 2]

Nothing names the cluster in a line of ZooKeeper, DLedger or Kafka. Two clusters show by several members for whom two
logs speak each: at once, or one after the other and with a term that both had led. Members that moved to other hosts go
on with later terms. What such logs show together may be true of neither cluster, so no finding is sure.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations

from election_replay.election_core.fold.roles import LEADER, SEEN
from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.judge.consistency import none_sure
from election_replay.election_core.judge.group import least_together, since, until
from election_replay.election_core.judge.wording import listed
from election_replay.election_core.model.catalogue import DEFINITE, OF_ONE_LOG, WARNING, RuleId, finding_id
from election_replay.election_core.model.facts import Fact, Role
from election_replay.election_core.model.rows import Finding, Row, RuleCoverage
from election_replay.election_core.protocols.log_quality.facts import SpeaksFor
from election_replay.election_core.protocols.log_quality.log import OF_MANY_GROUPS, PROTOCOL

SEVERAL = 2
"""One member with two logs may be two machines with one identity; so many members are two clusters."""

WHY = "the logs may be of two clusters"
MIXED = (
    "Several logs each speak for {}: logs of two clusters, or of one that began anew. What they show together may be "
    "true of neither, so nothing else of this group is sure. Hand in each cluster in a folder of its own."
)

Spoken = Mapping[str, Sequence[Fact]]
"""What the logs say of one member, by source."""


def in_mixed_clusters(rows: Iterable[Row], twice: Mapping[str, Spoken]) -> list[Row]:
    """Return the rows of a group whose logs may be of two clusters, with a finding that says so, and with all others in
    doubt; ``twice`` are the members of both, as :func:`members_of_two` returns them."""
    spoken = {member: _speaking(of_member) for member, of_member in twice.items()}
    found = [_finding(spoken)] if all(spoken.values()) else []  # told once, in the process's own group
    doubted = none_sure([*rows], WHY, OF_ONE_LOG)
    return [*map(_counted, doubted), *found] if found else doubted


def _speaking(spoken: Spoken) -> list[SpeaksFor]:
    return [fact for of_source in spoken.values() for fact in of_source if isinstance(fact, SpeaksFor)]


def members_of_two(facts: Sequence[Fact], clocks: Clocks) -> dict[str, Spoken]:
    """Return the members of two clusters in the logs, by their names; empty where they are of one."""
    spoken: dict[str, dict[str, dict[str, list[Fact]]]] = defaultdict(lambda: defaultdict(dict))
    for fact in facts:
        of_many = isinstance(fact, Role) and fact.protocol in OF_MANY_GROUPS
        if fact.node is not None and (of_many or isinstance(fact, SpeaksFor)):
            protocol = fact.member_of if isinstance(fact, SpeaksFor) else fact.protocol
            spoken[protocol][fact.node].setdefault(fact.source_node, []).append(fact)
    for protocol, members in spoken.items():
        twice = {member: of_member for member, of_member in members.items() if len(of_member) > 1}
        at_once = [member for member, of_member in twice.items() if _at_once(of_member, clocks)]
        again = len(twice) >= SEVERAL and _led_again(protocol, twice, facts)
        if again or len(at_once) >= SEVERAL:
            return dict(sorted(twice.items()))
    return {}


def _at_once(spoken: Spoken, clocks: Clocks) -> bool:
    """Return True when two logs surely spoke for one member at once."""
    pairs = combinations(spoken.values(), 2)
    return any(least_together(clocks, first, second) > 0 for here, there in pairs for first in here for second in there)


def _led_again(protocol: str, twice: Mapping[str, Spoken], facts: Iterable[Fact]) -> bool:
    """Return True when a log began to lead a term after another log that led it had ended, by their clocks."""
    logs = {source: of_source for of_member in twice.values() for source, of_source in of_member.items()}
    led: dict[int, dict[str, Role]] = defaultdict(dict)
    for fact in facts:
        if isinstance(fact, Role) and fact.role == LEADER and fact.protocol == protocol and fact.source_node in logs:
            led[fact.term or 0].setdefault(fact.source_node, fact)
    pairs = (pair for roles in led.values() for pair in permutations(roles.values(), 2))
    return any(
        later.cause != SEEN and _span(logs[role.source_node])[1] < _span(logs[later.source_node])[0]
        for role, later in pairs
    )


def _span(of_source: Sequence[Fact]) -> tuple[int, int]:
    """Return the times in us, by its own clock, of a log's first and last sign."""
    return min(fact.since for fact in of_source), max((until(fact) or since(fact)).by for fact in of_source)


def _finding(twice: Mapping[str, Sequence[SpeaksFor]]) -> Finding:
    """Return the finding that the logs are of two clusters."""
    facts = [fact for of_member in twice.values() for fact in of_member]
    first, last = (choose(facts, key=lambda fact: (fact.since, fact.source_node)) for choose in (min, max))
    sources = {member: sorted({fact.source_node for fact in of_member}) for member, of_member in twice.items()}
    every = sorted({fact.source_node for fact in facts})
    return Finding(
        finding_id=finding_id(first.cluster, first.replica_group, RuleId.IDENTITY_CONTRADICTION, "clusters", *every),
        cluster=first.cluster,
        replica_group=first.replica_group,
        protocol=PROTOCOL,
        rule=RuleId.IDENTITY_CONTRADICTION.value,
        severity=WARNING,
        certainty=DEFINITE,
        nodes=tuple(every),
        terms=(),
        start_time=last.since,
        end_time=None,
        summary=MIXED.format(listed(f"{member} ({', '.join(names)})" for member, names in sources.items())),
        evidence=tuple(dict.fromkeys(line for fact in facts for line in fact.evidence)),
    )


def _counted(row: Row) -> Row:
    """Return a row; coverage counts the finding."""
    if isinstance(row, RuleCoverage) and (row.protocol, row.rule) == (PROTOCOL, RuleId.IDENTITY_CONTRADICTION):
        return replace(row, violates=row.violates + 1)
    return row
