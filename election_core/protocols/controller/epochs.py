"""Master epochs that went back, or that two masters had."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cmp_to_key, partial
from itertools import pairwise

from election_replay.election_core.judge.coverage import counted, same_term_coverage
from election_replay.election_core.judge.group import Group, Tenure, since
from election_replay.election_core.judge.same_term import same_term
from election_replay.election_core.model.catalogue import CRITICAL, POSSIBLE, RuleId
from election_replay.election_core.model.facts import Fact, TermWentBack
from election_replay.election_core.model.rows import Finding, RuleCoverage
from election_replay.election_core.protocols.controller import decision_rules
from election_replay.election_core.protocols.controller.acknowledgements import settings_of, unreplicated_tail
from election_replay.election_core.protocols.controller.checks import ELECTED
from election_replay.election_core.protocols.controller.decision_rules import cleaned, is_ahead
from election_replay.election_core.protocols.controller.facts import Decision, EpochAhead
from election_replay.election_core.protocols.controller.record import decisions, elections_of


def in_order(group: Group) -> tuple[Group, bool]:
    """Return the group with its tenures in order of time, and whether that order is certain. Epochs order them, unless
    epochs went back or restarted at 1 after an operator removed the set; then only clock bounds can."""
    decided = decisions(group)
    if not (cleaned(group) or _went_back(group, decided)):
        return group, True
    in_time = sorted(group.tenures, key=cmp_to_key(partial(_by_begin, group)))
    if all(group.clocks.elapsed(tenure.begin, following.begin)[0] > 0 for tenure, following in pairwise(in_time)):
        return replace(group, tenures=in_time), True
    return group, False


def _by_begin(group: Group, tenure: Tenure, other: Tenure) -> int:
    """Compare two tenures by begin: negative, positive, or 0 where the clocks do not decide."""
    if group.clocks.elapsed(tenure.begin, other.begin)[0] > 0:
        return -1
    return 1 if group.clocks.elapsed(other.begin, tenure.begin)[0] > 0 else 0


def _went_back(group: Group, decided: list[Decision]) -> bool:
    """Return True when epochs went back, so that they do not order the masters."""
    controllers = decision_rules.record_lost(decided) or any(controllers_back(group, decided))
    return controllers or any(True for _ in group.of(TermWentBack)) or any(map(is_ahead, group.of(EpochAhead)))


def same_epoch(group: Group) -> list[Finding]:
    """Return ``SPLIT_BRAIN_SAME_TERM``: two masters of one epoch, unless an operator removed the set in between.

    Only controllers print such a removal: where none shows both elections, the finding is possible only, as one master
    may simply have followed the other after a removal.
    """
    split = [found for found in same_term(group, "epoch") if not _begun_anew(group, found)]
    elected = {(fact.node, fact.term) for fact in group.of(Decision)}
    return [
        _with_what_exists_once(group, found if _surely_twice(found, elected) else replace(found, certainty=POSSIBLE))
        for found in split
    ]


def _surely_twice(found: Finding, elected: set[tuple[str | None, int | None]]) -> bool:
    return bool(found.overlap_min_ms) or {(node, found.terms[0]) for node in found.nodes} <= elected


def _with_what_exists_once(group: Group, found: Finding) -> Finding:
    """Add a sentence to the finding where neither of the two logs was compared with another's afterwards."""
    masters = {tenure.source: tenure for tenure in group.tenures if tenure.term in found.terms}
    alone = [unreplicated_tail(group, tenure, tenure.begin) for tenure in masters.values()]
    if len(alone) < 2 or None in alone:
        return found
    names = " and ".join(tenure.name for tenure in masters.values())
    with_settings = (f"{tenure.name} with {settings_of(group, source)}" for source, tenure in masters.items())
    acknowledged = (
        f" They acknowledged: {'; '.join(with_settings)}." if all(map(partial(settings_of, group), masters)) else ""
    )
    more = (
        f" The logs of {names} never met again, as far as these logs reach: what each acknowledged alone exists only "
        f"there.{acknowledged}"
    )
    return replace(found, summary=found.summary + more)


def _begun_anew(group: Group, found: Finding) -> bool:
    """Return True when an operator removed the broker set between two masters of one epoch."""
    tenures = [t for t in group.tenures if t.term in found.terms]
    return any(
        any(group.clocks.elapsed(tenure.begin, since(fact))[0] > 0 for tenure in tenures)
        and any(group.clocks.elapsed(since(fact), tenure.begin)[0] > 0 for tenure in tenures)
        for fact in cleaned(group)
    )


def epochs_back(group: Group, decided: list[Decision], split: list[Finding]) -> Iterator[Finding]:
    """Yield ``EPOCH_REGRESSION``: a broker took a smaller epoch in one run, or the controllers' masterEpoch went back.

    Controllers lose an epoch only with their state. JRaft controllers print old decisions again when they read their
    log, so theirs are not compared.
    """
    causes: dict[int, str] = {}
    for found in controllers_back(group, decided):
        of_epoch = causes.setdefault(found.terms[1], found.finding_id)
        yield found if of_epoch == found.finding_id else replace(found, implied_by=of_epoch)
    cause = next(iter(causes.values()), None)
    for fact in group.of(TermWentBack):
        twice = next((found.finding_id for found in split if fact.after in found.terms), None)
        implied = twice if fact.after == fact.before else causes.get(fact.after, cause)
        lines = (*fact.evidence, fact.since_event)
        yield _epoch_back(group, fact, f"Broker {fact.who}", (fact.before, fact.after), fact.who, lines, implied)
    yield from decision_rules.epochs_ahead(group, cause)


def controllers_back(group: Group, decided: list[Decision]) -> Iterator[Finding]:
    """Yield the steps back among the epochs that each controller printed, in its own order. The epoch that an election
    without winner uses up is not printed but counted, and the count may be wrong: such elections are left out."""
    printed = [fact for fact in decided if fact.decision == ELECTED and fact.raft_index is None]
    for source, of_source in decision_rules.by_source(printed).items():
        numbered = [(fact, fact.term) for fact in of_source if fact.term is not None]
        for (before, earlier), (fact, later) in pairwise(numbered):
            if later < earlier and not _anew_between(group, before, fact):
                lines = (before.since_event, fact.since_event)
                yield _epoch_back(group, fact, f"The controllers (on {source})", (earlier, later), "", lines)


def _anew_between(group: Group, before: Decision, after: Decision) -> bool:
    """Return True when an operator may have removed the broker set between two decisions of one controller."""
    return any(
        before.ordinal < fact.ordinal < after.ordinal
        if fact.source_node == after.source_node
        else group.clocks.elapsed(since(before), since(fact))[1] > 0
        and group.clocks.elapsed(since(fact), since(after))[1] > 0
        for fact in cleaned(group)
    )


def _epoch_back(
    group: Group,
    fact: Fact,
    who: str,
    epochs: tuple[int, int],
    name: str,
    lines: Iterable[str | None],
    implied_by: str | None = None,
) -> Finding:
    before, after = epochs
    return group.finding(
        RuleId.EPOCH_REGRESSION,
        (who, before, after),
        severity=CRITICAL,
        nodes=(name,),
        terms=(before, after),
        when=fact.since,
        summary=f"{who} went back from master epoch {before} to {after}."
        if before != after
        else f"{who} took two roles of master epoch {before} within one run of its process.",
        evidence=lines,
        implied_by=implied_by,
    )


def epochs_coverage(group: Group, decided: list[Decision], found: Sequence[Finding]) -> Iterator[RuleCoverage]:
    """Yield the coverage of ``SPLIT_BRAIN_SAME_TERM`` and ``EPOCH_REGRESSION``."""
    yield same_term_coverage(group, found)
    roles_taken = sum(1 for role in group.roles if role.term is not None)
    yield counted(group, RuleId.EPOCH_REGRESSION, found, roles_taken + len(elections_of(decided)))
