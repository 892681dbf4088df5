"""Limits of the verdicts on a group: unknown releases, clocks that were put back, logs of doubtful origin. Nothing here
is an incident of the system: the findings tell how far the logs can be trusted, and why."""

from collections.abc import Iterator
from itertools import combinations

from election_replay.election_core.fold.versions import ReleaseClaim, range_of
from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.judge.coverage import coverage
from election_replay.election_core.judge.group import Group, group_of, least_together, since, until
from election_replay.election_core.judge.wording import listed, name_of, seconds
from election_replay.election_core.model.catalogue import DEFINITE, INFO, POSSIBLE, PROVEN, WARNING, RuleId
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Finding, Row
from election_replay.election_core.protocols.log_quality.facts import Claim, ListedAs, LogCopied, Release, SpeaksFor
from election_replay.election_core.protocols.log_quality.log import JOINED, PROTOCOL

__all__ = ["PROTOCOL", "judge", "tells_of_two_sources"]


Evident = ListedAs | Claim | SpeaksFor
"""Facts that show which member a log speaks for."""


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows about the sources of one group."""
    group = group_of(facts, clocks)
    yield from _unknown_releases(group)
    yield from _identities(group)


# -- releases -------------------------------------------------------------------------------------------------------


def _unknown_releases(group: Group) -> Iterator[Row]:
    """Yield ``UNKNOWN_VERSION`` for nodes with a release whose texts and rules were not read, and its coverage."""
    by_source: dict[str, list[Release]] = {}
    for fact in group.of(Release):
        by_source.setdefault(fact.source_node, []).append(fact)
    releases = {source: [fact for fact in of_source if fact.release] for source, of_source in by_source.items()}
    unknown = {source: [fact for fact in of_source if not _is_known(fact)] for source, of_source in releases.items()}
    for of_source in unknown.values():
        if of_source:
            yield _unknown_release(group, of_source)
    strange = sum(1 for of_source in unknown.values() if of_source)
    silent = sum(1 for of_source in releases.values() if not of_source)
    yield coverage(
        group,
        RuleId.UNKNOWN_VERSION,
        len(releases) - silent - strange,
        strange,
        silent,
        "the log never says which release wrote it",
    )


def _is_known(fact: Release) -> bool:
    return ReleaseClaim(fact.system or "", fact.release or "").known


def _unknown_release(group: Group, unknown: list[Release]) -> Finding:
    first = unknown[0]
    system = first.system or ""
    releases = " and ".join(sorted({fact.release or "" for fact in unknown}))
    return group.finding(
        RuleId.UNKNOWN_VERSION,
        (first.source_node, releases),
        severity=INFO,
        nodes=(first.who,),
        when=(first.since, None),
        summary=f"{name_of(first.node, first.source_node)} says that it runs {system} {releases}; the releases "
        f"{range_of(system)} are known. Lines that this release words differently are not understood.",
        evidence=tuple(line for fact in unknown for line in fact.evidence),
    )


# -- identities -----------------------------------------------------------------------------------------------------


def _identities(group: Group) -> Iterator[Row]:
    """Yield ``IDENTITY_CONTRADICTION`` for logs of unclear identity, and its coverage."""
    found = [*_against_inventory(group), *_changed_names(group), *_same_member(group)]
    yield from found
    yield from _copies(group)
    checked = {fact.source_node for kind in _CHECKED for fact in group.of(kind)}
    doubtful = {node for finding in found for node in finding.nodes}
    unclear = sum(1 for finding in found if finding.certainty == POSSIBLE)
    yield coverage(
        group, RuleId.IDENTITY_CONTRADICTION, len(checked - doubtful), len(found) - unclear, unclear, _NO_ORDER
    )


def tells_of_two_sources(row: Row) -> bool:
    """Return True when a row may say that two folders hold one log: then the one that ends later counts."""
    return isinstance(row, Finding) and row.rule == RuleId.IDENTITY_CONTRADICTION.value


_NO_ORDER = "the clocks do not tell whether two machines were one member at once, or one after the other"


_CHECKED: tuple[type[Evident], ...] = (ListedAs, Claim, SpeaksFor)


def _contradiction(
    group: Group, key: tuple[object, ...], first: Evident, summary: str, *others: Evident, sure: bool = True
) -> Finding:
    facts = (first, *others)
    return group.finding(
        RuleId.IDENTITY_CONTRADICTION,
        key,
        severity=WARNING if sure else INFO,
        certainty=POSSIBLE if not sure else DEFINITE if isinstance(first, SpeaksFor) else PROVEN,
        nodes=tuple(sorted({fact.source_node for fact in facts})),
        when=(max(fact.since for fact in facts), None),
        summary=summary,
        evidence=(line for fact in facts for line in fact.evidence),
    )


def _against_inventory(group: Group) -> Iterator[Finding]:
    for fact in group.of(ListedAs):
        if fact.agrees:
            continue
        member, of = fact.listed_member, fact.listed_group
        listed = f"member {member} of {of}" if member else f"a member of {of}"
        claim = f"member {fact.node} of {group.replica_group}" if fact.node else f"a member of {group.replica_group}"
        summary = f"The inventory lists {fact.source_node} as {listed}; its own log speaks for {claim}, which counts."
        yield _contradiction(group, (fact.source_node, of, member), fact, summary)


def _changed_names(group: Group) -> Iterator[Finding]:
    by_name: dict[tuple[str, str, str], list[Claim]] = {}
    for fact in group.of(Claim):
        by_name.setdefault((fact.source_node, fact.process, fact.name_kind), []).append(fact)
    for (source, process, subject), claims in sorted(by_name.items()):
        firsts = {fact.name: fact for fact in sorted(claims, key=lambda fact: fact.ordinal, reverse=True)}
        names = sorted(firsts, key=lambda name: firsts[name].ordinal)
        if len(names) > 1:
            first, second, *_ = (firsts[name] for name in names)
            summary = (
                f"The {process} in {source} calls itself {subject} {', then '.join(names)}: logs of several members in "
                "one folder, or a machine that was given to another one."
            )
            if subject == JOINED:
                summary = (
                    f"The {process} logs of {source} are those of {listed(names)}, one behind the other: each is read "
                    "by itself. Hand in the log of each member in a folder of its own."
                )
            yield _contradiction(group, (source, process, subject, *names), first, summary, second)


def _same_member(group: Group) -> Iterator[Finding]:
    """Yield pairs of folders that speak for one member: surely at once, or where a set clock hides the order."""
    by_member: dict[tuple[str, str], list[SpeaksFor]] = {}
    for fact in group.of(SpeaksFor):
        by_member.setdefault((fact.member_of, fact.node or ""), []).append(fact)
    known: set[tuple[str, ...]] = set()
    for (_, member), spoken_for in sorted(by_member.items()):
        if len({fact.source_node for fact in spoken_for}) == 1:
            continue
        pairs = [(a, b) for a, b in combinations(spoken_for, 2) if a.source_node != b.source_node]
        for sure in (True, False):
            for first, second in pairs:
                who = (member, *sorted((first.source_node, second.source_node)))
                together = least_together(group.clocks, first, second)
                if who in known or (together <= 0 if sure else _one_after_the_other(group, first, second)):
                    continue
                known.add(who)
                yield _both_speak_for(group, who, (first, second), together if sure else None)


def _one_after_the_other(group: Group, first: SpeaksFor, second: SpeaksFor) -> bool:
    """Return True when one process had ended before the other began, as far as the clocks tell. Clocks that were never
    set tell it, apart from their bounds."""
    if not group.clocks.stepped & {first.source_node, second.source_node}:
        return True
    return any(
        end is not None and group.clocks.surely_before(end, since(later))
        for end, later in ((until(first), second), (until(second), first))
    )


def _both_speak_for(
    group: Group, who: tuple[str, ...], facts: tuple[SpeaksFor, SpeaksFor], together_us: int | None
) -> Finding:
    member, source, other = who
    if together_us is None:
        how_long = "at once or one after the other: a clock was set, and they do not tell"
    else:
        how_long = f"for at least {seconds(together_us)} at once"
    summary = (
        f"{source} and {other} both speak for {member}, {how_long}: one log in two folders, or two machines with one "
        "identity."
    )
    first, second = facts
    return _contradiction(group, who, first, summary, second, sure=together_us is not None)


def _copies(group: Group) -> Iterator[Finding]:
    for fact in group.of(LogCopied):
        yield group.finding(
            RuleId.IDENTITY_CONTRADICTION,
            (fact.source_node, fact.original, "copy"),
            severity=INFO,
            nodes=tuple(sorted({fact.source_node, fact.original})),
            when=(fact.since, None),
            summary=f"{fact.source_node} holds the same log of {fact.node} as {fact.original}: it is judged once.",
            evidence=fact.evidence,
        )
