"""How often each rule held, was broken or could not be judged, summed over the logs of a group."""

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
    """One row of ``rule_coverage``."""
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
    """One row of ``rule_coverage`` from the findings.

    Of so many ``checked``, those of which a finding is sure broke the ``rule``, whatever its severity; those that are
    possible are undecidable, for the reason ``why``. So are ``untold`` others, of which no finding tells. Where
    findings may be about some of those that the log leaves open, these are all of them, ``unclear``.
    """
    sure, possible = sure_and_possible(found, rule)
    undecidable = max(possible, unclear) + untold
    return coverage(group, rule, max(checked - sure - undecidable, 0), sure, undecidable, why)


def sure_and_possible(found: Iterable[Finding], rule: RuleId) -> tuple[int, int]:
    """How many findings of a rule are sure, and how many are possible; findings of one id are one."""
    certainties = list({row.finding_id: row.certainty for row in found if row.rule == rule}.values())
    possible = certainties.count(POSSIBLE)
    return len(certainties) - possible, possible


def same_term_coverage(group: Group, found: Sequence[Finding]) -> RuleCoverage:
    """Terms or epochs with one leader, and each two that led the same one."""
    led = {tenure.term for tenure in group.tenures}
    split = [finding for finding in found if finding.rule == RuleId.SPLIT_BRAIN_SAME_TERM]
    once = led.difference(*(finding.terms for finding in split))
    why = "an operator may have let the epochs begin anew in between: only controllers would say so"
    return counted(group, RuleId.SPLIT_BRAIN_SAME_TERM, found, len(once) + len(split), why)


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
