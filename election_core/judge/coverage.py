"""Coverage: how often each rule held, was broken or could not be judged in a group."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from election_replay.election_core.fold.checks import CONFORMS, UNDECIDABLE, VIOLATES
from election_replay.election_core.judge.group import Group
from election_replay.election_core.model.catalogue import POSSIBLE, RuleId
from election_replay.election_core.model.facts import RuleChecked, TermWentBack
from election_replay.election_core.model.rows import Finding, RuleCoverage
from election_replay.election_core.model.timing import CONFIGURED, DEFAULT, PRINTED


def coverage(
    group: Group, rule: RuleId, conforms: int, violates: int, undecidable: int = 0, why: str | None = None
) -> RuleCoverage:
    """Return one row of ``rule_coverage``."""
    origins = group.origins()
    return RuleCoverage(
        **group.names,
        rule=rule.value,
        conforms=conforms,
        violates=violates,
        undecidable=undecidable,
        why_undecidable=why if undecidable else None,
        times_printed=origins[PRINTED],
        times_configured=origins[CONFIGURED],
        times_assumed=origins[DEFAULT],
    )


def counted(
    group: Group,
    rule: RuleId,
    found: Iterable[Finding],
    checked: int,
    why: str | None = None,
    *,
    unclear: int = 0,
    untold: int = 0,
) -> RuleCoverage:
    """Return one row of ``rule_coverage``, from the findings of a rule and how many things were ``checked``.

    - violates: findings that are proven or definite, whatever their severity
    - undecidable: the larger of the possible findings and ``unclear``, plus ``untold``; ``why`` is the reason
    - conforms: the rest

    ``unclear`` counts all things that the logs leave open, some of which have a possible finding; ``untold`` counts
    those that never have one.
    """
    sure, possible = sure_and_possible(found, rule)
    undecidable = max(possible, unclear) + untold
    return coverage(group, rule, max(checked - sure - undecidable, 0), sure, undecidable, why)


def sure_and_possible(found: Iterable[Finding], rule: RuleId) -> tuple[int, int]:
    """Return how many findings of a rule are sure and how many are possible; findings of one id count once."""
    certainties = list({row.finding_id: row.certainty for row in found if row.rule == rule}.values())
    possible = certainties.count(POSSIBLE)
    return len(certainties) - possible, possible


def same_term_coverage(group: Group, found: Sequence[Finding]) -> RuleCoverage:
    """Return the coverage: one check per term with a single leader, and per pair that shared a term."""
    led = {tenure.term for tenure in group.tenures}
    split = [finding for finding in found if finding.rule == RuleId.SPLIT_BRAIN_SAME_TERM]
    once = led.difference(*(finding.terms for finding in split))
    why = "an operator may have let the epochs begin anew in between: only controllers would say so"
    return counted(group, RuleId.SPLIT_BRAIN_SAME_TERM, found, len(once) + len(split), why)


def regression_coverage(group: Group, rule: RuleId) -> RuleCoverage:
    """Return the coverage of a regression rule: members whose term never went back conform; each step back violates."""
    back = [fact.source_node for fact in group.of(TermWentBack)]
    in_terms = {role.source_node for role in group.roles if role.term is not None}
    return coverage(group, rule, len(in_terms.difference(back)), len(back))


RuleTally = tuple[str, str, str | None, int]
"""A rule, a verdict, the reason why it is undecidable, and a count."""


def tallies_of(group: Group) -> Iterator[RuleTally]:
    """Yield the verdicts that the logs of a group's nodes brought."""
    for fact in group.of(RuleChecked):
        yield fact.rule, fact.verdict, fact.why, fact.count


def summed(group: Group, verdicts: Iterable[RuleTally]) -> Iterator[RuleCoverage]:
    """Yield one row of coverage for each rule."""
    tallies: dict[str, Counter[str]] = {}
    reasons: dict[str, set[str]] = {}
    for rule, says, why, count in verdicts:
        tallies.setdefault(rule, Counter())[says] += count
        if why is not None and says == UNDECIDABLE:
            reasons.setdefault(rule, set()).add(why)
    for rule, tally in sorted(tallies.items()):
        because = "; ".join(sorted(reasons.get(rule, set()))) or None
        yield coverage(group, RuleId(rule), tally[CONFORMS], tally[VIOLATES], tally[UNDECIDABLE], because)
