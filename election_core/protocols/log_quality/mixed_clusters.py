"""Logs of two clusters in one group: they look like one cluster whose members lead one term twice, or lose what they
committed.

    blue-zk1, blue-zk2, blue-zk3     [members 1, 2, 3; epochs 1, 2]
    green-zk1, green-zk2, green-zk3                                   [members 1, 2, 3; epochs 1, 2]

Nothing names the cluster in a line of ZooKeeper, DLedger or Kafka. Two clusters show by several members for whom two
logs speak each: at once, or one after the other and with a term that both had led. Members that moved to other hosts go
on with later terms. Where members have other ids in each cluster, no log of one names a member of the other. What such
logs show together may be true of neither cluster, so no finding is sure.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, permutations

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
TWICE = "Several logs each speak for {}: logs of two clusters, or of one that began anew"
STRANGERS = "The logs of {} never name each other's members: logs of two clusters"
MIXED = (
    "{}. What they show together may be true of neither, so nothing else of this group is sure. Hand in each cluster "
    "in a folder of its own."
)

WITHOUT_A_NAME = frozenset({"zab", "kraft"})
"""Protocols whose lines never name the group: it has one name everywhere."""

Spoken = Mapping[str, Sequence[Fact]]
"""What the logs say of one member, by source."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """The members of two clusters in the logs of one group, and a clause that says how they show."""

    members: Mapping[str, Spoken]
    says: str


def in_mixed_clusters(rows: Iterable[Row], mixed: Mixed) -> list[Row]:
    """Return the rows of a group whose logs may be of two clusters, with a finding that says so, and with all others in
    doubt."""
    spoken = [_speaking(of_member) for of_member in mixed.members.values()]
    found = [_finding([*chain(*spoken)], mixed.says)] if all(spoken) else []  # told once, in the process's own group
    doubted = none_sure([*rows], WHY, OF_ONE_LOG)
    return [*map(_counted, doubted), *found] if found else doubted


def _speaking(spoken: Spoken) -> list[SpeaksFor]:
    return [fact for of_source in spoken.values() for fact in of_source if isinstance(fact, SpeaksFor)]


def mixed_clusters(facts: Sequence[Fact], clocks: Clocks) -> Mixed | None:
    """Return the members of two clusters in the logs of a group; None where they are of one."""
    spoken: dict[str, dict[str, dict[str, list[Fact]]]] = defaultdict(lambda: defaultdict(dict))
    for fact in facts:
        of_many = isinstance(fact, Role) and fact.protocol in OF_MANY_GROUPS
        if fact.node is not None and (of_many or isinstance(fact, SpeaksFor)):
            protocol = fact.member_of if isinstance(fact, SpeaksFor) else fact.protocol
            spoken[protocol][fact.node].setdefault(fact.source_node, []).append(fact)
    for protocol, members in spoken.items():
        twice = {member: of_member for member, of_member in sorted(members.items()) if len(of_member) > 1}
        at_once = [member for member, of_member in twice.items() if _at_once(of_member, clocks)]
        again = len(twice) >= SEVERAL and _led_again(protocol, twice, facts)
        if again or len(at_once) >= SEVERAL:
            return Mixed(twice, TWICE.format(listed(map(_with_sources, twice.items()))))
        if protocol in WITHOUT_A_NAME and len(apart := _strangers(protocol, members, facts)) > 1:
            names = listed(listed(map(_with_sources, of_one.items())) for of_one in apart)
            return Mixed({member: of for of_one in apart for member, of in of_one.items()}, STRANGERS.format(names))
    return None


def _with_sources(spoken: tuple[str, Spoken]) -> str:
    return f"{spoken[0]} ({', '.join(sorted(spoken[1]))})"


def _strangers(protocol: str, members: Mapping[str, Spoken], facts: Iterable[Fact]) -> list[dict[str, Spoken]]:
    """Return the members whose logs name each other, set by set, in each of which somebody led; sets of one member are
    left out."""
    if len(members) < 2 * SEVERAL:
        return []
    kin, leads = {member: {member} for member in members}, set[str]()
    of_sources = {source: member for member, of_member in members.items() for source in of_member}
    for fact in facts:
        member = of_sources.get(fact.source_node) if fact.protocol == protocol else None
        if member is None:
            continue
        if isinstance(fact, Role) and fact.role == LEADER and fact.node == member:
            leads.add(member)
        for other in _named_in(fact) & members.keys() - kin[member]:
            kin[member] |= kin[other]
            kin |= dict.fromkeys(kin[member], kin[member])
    sets = {id(names): names for names in kin.values() if len(names) >= SEVERAL and names & leads}
    return [{member: members[member] for member in sorted(names)} for names in sets.values()]


def _named_in(fact: Fact) -> set[str]:
    """Return all texts in a fact, the names of members among them."""
    values = (getattr(fact, name) for name in fact.__match_args__)
    return {
        text for value in values for text in (value if isinstance(value, tuple) else (value,)) if isinstance(text, str)
    }


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


def _finding(facts: Sequence[SpeaksFor], says: str) -> Finding:
    """Return the finding that the logs are of two clusters."""
    first, last = (choose(facts, key=lambda fact: (fact.since, fact.source_node)) for choose in (min, max))
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
        summary=MIXED.format(says),
        evidence=tuple(dict.fromkeys(line for fact in facts for line in fact.evidence)),
    )


def _counted(row: Row) -> Row:
    """Return a row; coverage counts the finding."""
    if isinstance(row, RuleCoverage) and (row.protocol, row.rule) == (PROTOCOL, RuleId.IDENTITY_CONTRADICTION):
        return replace(row, violates=row.violates + 1)
    return row
