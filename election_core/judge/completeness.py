"""Leader completeness: the leader of a later term has every entry that was committed before.

    committed, known in term 1     |1 2 3 4 5 6 7|       a majority had them
    log of the leader of term 2    |1 2 3 4 5|           6 and 7 are lost, even if no line shows a truncation

Source: Raft section 5.4.3; ZAB, "integrity of the history of a new leader". The rule follows from terms and indexes
alone, whatever the clocks were. Indexes are those of entries; ZooKeeper's are zxids.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from operator import attrgetter, itemgetter

from election_replay.election_core.fold.checks import CONFORMS, UNDECIDABLE, VIOLATES
from election_replay.election_core.fold.roles import FOLLOWER, LEADER
from election_replay.election_core.judge.coverage import RuleTally
from election_replay.election_core.judge.group import Group
from election_replay.election_core.model.catalogue import CRITICAL, WARNING, RuleId
from election_replay.election_core.model.facts import LogEndedEarlier, TermWentBack, VoteGranted
from election_replay.election_core.model.measures import LostFrom, Unit
from election_replay.election_core.model.quorum import is_majority
from election_replay.election_core.model.rows import Finding, Row


@dataclass(frozen=True, slots=True)
class LogEnd:
    """The log of ``node``, leader of ``term``, ended at ``index`` when it was elected, by a line ``at`` (us)."""

    node: str
    term: int
    index: int
    at: int
    event_id: str | None


@dataclass(frozen=True, slots=True)
class KnownCommit:
    """``node`` knew in ``term`` that the entries up to ``index`` were committed."""

    node: str
    term: int
    index: int
    event_id: str | None


@dataclass(frozen=True, slots=True)
class Lack:
    """A leader's log, and the highest commit of an earlier term that it does not reach."""

    leader: LogEnd
    commit: KnownCommit


NO_COMMIT = "no line says what an earlier term or epoch had committed, or where the leader's log ended"
BEGAN_ANEW = "the terms or epochs of most members went back: their indexes may have begun anew"


def lacks(group: Group, leaders: Iterable[LogEnd], commits: Iterable[KnownCommit]) -> Iterator[Lack]:
    """Yield the leaders whose log ends below the commits of an earlier term; none where indexes may have been reset. An
    entry is lost once: later entries at the indexes that one leader lacked are different ones."""
    if indexes_began_anew(group):
        return
    coming = sorted(enumerate(commits), key=lambda numbered: numbered[1].term, reverse=True)
    known: list[tuple[int, int, int, KnownCommit]] = []  # a heap of commits of earlier terms, the highest first
    for leader in sorted(leaders, key=attrgetter("term")):
        while coming and coming[-1][1].term < leader.term:
            number, commit = coming.pop()
            heappush(known, (-commit.index, -commit.term, number, commit))
        lost = []
        while known and known[0][-1].index > leader.index:
            lost.append(heappop(known))
        if lost:
            yield Lack(leader, lost[0][-1])
            # All lost commits are cut to the leader's index, so the latest of them replaces them all.
            _, term, number, latest = min(lost, key=itemgetter(1, 2))
            heappush(known, (-leader.index, term, number, replace(latest, index=leader.index)))


def finding_of(
    group: Group, lack: Lack, summary: str, count: int, unit: Unit, breaches: Iterable[Finding] = ()
) -> Finding:
    """Return ``COMMITTED_ENTRY_LOST`` by the logs of two members: at least ``count`` entries, in indexes of a ``unit``.
    It is implied by the first of ``breaches`` that explains it: a broken voting rule of that term, or a voter whose
    term went back."""
    leader, commit = lack.leader, lack.commit
    return group.finding(
        RuleId.COMMITTED_ENTRY_LOST,
        (leader.node, leader.term),
        severity=CRITICAL,
        nodes=(leader.node, commit.node),
        terms=(commit.term, leader.term),
        when=leader.at,
        summary=summary,
        evidence=[commit.event_id, leader.event_id],
        implied_by=next((breach.finding_id for breach in breaches if _lets_lead(group, breach, lack)), None),
        entries_lost=count,
        cut_node=leader.node,
        cut_epoch=commit.term,
        cut_from=leader.index,
        cut_to=commit.index,
        unit=unit,
        lost_from=LostFrom.LOG,
    )


def store_went_back(group: Group, fact: LogEndedEarlier, before: str, after: str, implied_by: str | None) -> Finding:
    """Return ``STORE_WENT_BACK``; ``before`` and ``after`` are the former and the present end of the log, in words."""
    return group.finding(
        RuleId.STORE_WENT_BACK,
        (fact.who, fact.since),
        severity=WARNING,
        nodes=(fact.who,),
        when=fact.since,
        summary=f"{fact.who} started with a log that ends at {after}, though it had reached {before}: its data are an "
        "older copy, or were emptied. Writes that it had acknowledged may be lost.",
        evidence=[*fact.evidence, fact.since_event],
        implied_by=implied_by,
        offset_before=fact.before,
        offset_after=fact.after,
    )


def _lets_lead(group: Group, breach: Finding, lack: Lack) -> bool:
    """Return True when a breach let a leader win whose log lacks entries. A voter whose term went back from at least
    the commit's term may have lost the entries, and voted for a log that it would have refused before."""
    leader, commit = lack.leader, lack.commit
    if breach.rule != RuleId.TERM_REGRESSION:
        return leader.term in breach.terms
    before, after = breach.terms
    return after < commit.term <= before and any(
        (vote.voter, vote.node, vote.term) == (breach.nodes[0], leader.node, leader.term)
        for vote in group.of(VoteGranted)
    )


def as_grave_as_losses(rows: Iterable[Row], lost: Iterable[Row]) -> Iterator[Row]:
    """Yield ``rows`` and ``lost``; findings that imply a loss become critical, as the loss is."""
    losses = list(lost)
    roots = {row.implied_by for row in losses if isinstance(row, Finding)}
    for row in rows:
        if isinstance(row, Finding) and row.finding_id in roots:
            row = replace(row, severity=CRITICAL)  # noqa: PLW2901
        yield row
    yield from losses


def committed_entries(count: int) -> str:
    """Return ``1 committed entry is`` or ``7 committed entries are``, for a sentence."""
    return f"{count} committed entr{'y is' if count == 1 else 'ies are'}"


def indexes_began_anew(group: Group) -> bool:
    """Return True when the terms of a majority went back: the whole group was emptied or restored from a copy. Where
    only a minority's terms went back, the others still have the entries, and the indexes go on."""
    members = {role.source_node for role in group.roles if role.role in (LEADER, FOLLOWER)}
    back = {fact.source_node for fact in group.of(TermWentBack)}
    return is_majority(len(back & members), len(members)) if back else False


def completeness_tallies(
    group: Group, leaders: Iterable[LogEnd], commits: Iterable[KnownCommit], lacking: Iterable[Lack]
) -> Iterator[RuleTally]:
    """Yield one verdict per led term: whether its leader had the entries that were committed before it."""
    lacked = {(lack.leader.node, lack.leader.term) for lack in lacking}
    ends = {(leader.node, leader.term) for leader in leaders}
    first = min((commit.term for commit in commits if commit.index > 0), default=None)
    anew = indexes_began_anew(group)
    for node, term in sorted({(tenure.node, tenure.term) for tenure in group.tenures} | ends):
        if (node, term) in lacked:
            yield RuleId.COMMITTED_ENTRY_LOST, VIOLATES, None, 1
        elif anew:
            yield RuleId.COMMITTED_ENTRY_LOST, UNDECIDABLE, BEGAN_ANEW, 1
        elif (node, term) in ends and first is not None and first < term:
            yield RuleId.COMMITTED_ENTRY_LOST, CONFORMS, None, 1
        else:
            yield RuleId.COMMITTED_ENTRY_LOST, UNDECIDABLE, NO_COMMIT, 1
