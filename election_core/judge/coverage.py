"""How often each rule held, was broken or could not be judged, summed over the logs of a group."""

from collections import Counter
from collections.abc import Iterable, Iterator

from election_replay.election_core.fold.checks import CONFORMS, UNDECIDABLE, VIOLATES
from election_replay.election_core.judge.group import Group
from election_replay.election_core.model.catalogue import POSSIBLE, RuleId
from election_replay.election_core.model.facts import RuleChecked, TermWentBack
from election_replay.election_core.model.rows import Finding, RuleCoverage


def coverage(
    group: Group, rule: RuleId, conforms: int, violates: int, undecidable: int = 0, why: str | None = None
) -> RuleCoverage:
    """One row of ``rule_coverage``."""
    return RuleCoverage(
        cluster=group.cluster,
        replica_group=group.replica_group,
        protocol=group.protocol,
        rule=rule.value,
        conforms=conforms,
        violates=violates,
        undecidable=undecidable,
        why_undecidable=why if undecidable else None,
    )


def counted(group: Group, rule: RuleId, found: Iterable[Finding], checked: int, why: str) -> RuleCoverage:
    """One row of ``rule_coverage`` from the findings: of so many ``checked``, those that are sure broke the ``rule``,
    and those that are possible are undecidable, for the reason ``why``."""
    certainties = [finding.certainty for finding in found if finding.rule == rule]
    unclear = certainties.count(POSSIBLE)
    return coverage(group, rule, max(checked - len(certainties), 0), len(certainties) - unclear, unclear, why)


def regression_coverage(group: Group, rule: RuleId) -> RuleCoverage:
    """Members whose term or epoch never went back, and each time that one did."""
    back = [fact.source_node for fact in group.of(TermWentBack)]
    in_terms = {role.source_node for role in group.roles if role.term is not None}
    return coverage(group, rule, len(in_terms.difference(back)), len(back))


RuleTally = tuple[str, str, str | None, int]
"""Rule, verdict, reason where it cannot tell, how often."""


def tallies_of(group: Group) -> Iterator[RuleTally]:
    """The verdicts that the logs of a group's nodes brought."""
    for fact in group.of(RuleChecked):
        yield fact.rule, fact.verdict, fact.why, fact.count


def summed(group: Group, verdicts: Iterable[RuleTally]) -> Iterator[RuleCoverage]:
    """One row of coverage for each rule."""
    tallies: dict[str, Counter[str]] = {}
    reasons: dict[str, set[str]] = {}
    for rule, says, why, count in verdicts:
        tallies.setdefault(rule, Counter())[says] += count
        if why is not None and says == UNDECIDABLE:
            reasons.setdefault(rule, set()).add(why)
    for rule, tally in sorted(tallies.items()):
        because = "; ".join(sorted(reasons.get(rule, set()))) or None
        yield coverage(group, RuleId(rule), tally[CONFORMS], tally[VIOLATES], tally[UNDECIDABLE], because)
