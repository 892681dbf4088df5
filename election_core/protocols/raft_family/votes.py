"""Rules about voters' answers, where the lines of several candidates are compared.

Voters print nothing; each candidate prints the answers that it got. A vote of a term is given once, written to file
before it is answered, and never taken back (``DLedgerLeaderElector#handleVote``, ``MemberState#persistTerm``).
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from election_replay.election_core.fold.checks import CONFORMS, UNDECIDABLE, VIOLATES
from election_replay.election_core.judge.coverage import RuleTally
from election_replay.election_core.judge.group import Group, since
from election_replay.election_core.model.catalogue import CRITICAL, DEFINITE, WARNING, RuleId
from election_replay.election_core.model.facts import TermRaised, VoteGranted
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.protocols.raft_family.facts import VoteRefused


def double_votes(group: Group, back: list[Finding]) -> Iterator[Finding]:
    """Yield ``DOUBLE_VOTE``: one voter granted one term to two candidates, as both of them heard it.

    A vote is written to file before it is answered (``MemberState#persistTerm``), so this needs lost state. ``back``:
    the findings about members that came back in a smaller term.
    """
    for (voter, term), by_candidate in sorted(granted_to(group).items()):
        if len(by_candidate) < 2:
            continue
        candidates = sorted(by_candidate)
        votes = [by_candidate[candidate] for candidate in candidates]
        yield group.finding(
            RuleId.DOUBLE_VOTE,
            (voter, term),
            severity=CRITICAL,
            nodes=(voter, *candidates),
            terms=(term,),
            when=(min(vote.since for vote in votes), max(vote.since for vote in votes)),
            summary=f"{voter} voted in term {term} for {' and for '.join(candidates)}.",
            evidence=[vote.since_event for vote in votes],
            implied_by=next((f.finding_id for f in back if f.nodes[0] == voter and _reaches(f, term)), None),
        )


def _reaches(back: Finding, term: int) -> bool:
    """Return True when a member whose term went back had reached the term before, and could reach it again."""
    before, after = back.terms
    return after <= term <= before


def _raised(group: Group) -> dict[str, list[TermRaised]]:
    raised: dict[str, list[TermRaised]] = {}
    for fact in group.of(TermRaised):
        if fact.node is not None:
            raised.setdefault(fact.node, []).append(fact)
    return raised


class _Reached:
    """The facts by which one node's log first shows each reached term; ``raised`` is in order of time."""

    def __init__(self, raised: list[TermRaised]) -> None:
        first: dict[int, int] = {}
        for number, fact in enumerate(raised):
            first.setdefault(fact.term, number)
        self._raised, self._first, self._terms = raised, first, sorted(first)
        self._from = list(accumulate((first[term] for term in reversed(self._terms)), min))[::-1]

    def just(self, term: int) -> TermRaised | None:
        """Return the first raise to this term; None without one."""
        return self._raised[self._first[term]] if term in self._first else None

    def beyond(self, term: int) -> TermRaised | None:
        """Return the first raise to a larger term; None without one."""
        number = bisect_right(self._terms, term)
        return self._raised[self._from[number]] if number < len(self._from) else None

    def asked_in_time(self, candidate: str, term: int) -> bool:
        """Return True when the node's own log shows that a candidate raised it to a term before it reached a larger
        one."""
        number = bisect_right(self._terms, term)
        asked = self.just(term)
        return asked is not None and asked.peer == candidate and self._first[term] < self._from[number]


def expired_grants(group: Group, back: list[Finding]) -> Iterator[Finding]:
    """Yield ``WRONG_VOTE_RESULT``: a vote for a candidate that reached its term after the voter had reached a larger
    one. The voter has to answer REJECT_EXPIRED_VOTE_TERM (``DLedgerLeaderElector#handleVote``)."""
    reached = {node: _Reached(raises) for node, raises in _raised(group).items()}
    for grant in group.of(VoteGranted):
        voter, candidate, term = grant.voter, grant.node, grant.term
        if candidate is None or voter == candidate or voter not in reached or candidate not in reached:
            continue
        first, begin = reached[voter].beyond(term), reached[candidate].just(term)
        if first is None or begin is None or reached[voter].asked_in_time(candidate, term):
            continue
        if group.clocks.elapsed(since(first), since(begin))[0] > 0:
            yield group.finding(
                RuleId.WRONG_VOTE_RESULT,
                ("expired", voter, candidate, term),
                severity=WARNING,
                certainty=DEFINITE,
                nodes=(voter, candidate),
                terms=(term, first.term),
                when=(first.since, grant.since),
                summary=f"{voter} voted for {candidate} in term {term} although it had reached term {first.term} "
                f"before {candidate} reached {term}.",
                evidence=[first.since_event, begin.since_event, grant.since_event],
                implied_by=next((f.finding_id for f in back if f.nodes[0] == voter), None),
            )


def granted_to(group: Group) -> dict[tuple[str, int], dict[str, VoteGranted]]:
    """Return ``(voter, term) -> candidate -> grant``."""
    granted: dict[tuple[str, int], dict[str, VoteGranted]] = {}
    for grant in group.of(VoteGranted):
        if grant.node is not None:
            granted.setdefault((grant.voter, grant.term), {}).setdefault(grant.node, grant)
    return granted


def denied_votes(group: Group, back: list[Finding]) -> Iterator[Finding]:
    """Yield ``WRONG_VOTE_RESULT``: a voter gave a candidate its vote, and refused it in that term as given to another.
    A vote of a term is never taken back (``MemberState#setCurrVoteFor``), whatever the order of both answers."""
    granted = granted_to(group)
    for fact in group.of(VoteRefused):
        voter, candidate, term = fact.voter, fact.node, fact.term
        grant = granted.get((voter, term), {}).get(candidate) if candidate is not None else None
        if candidate is not None and grant is not None:
            yield group.finding(
                RuleId.WRONG_VOTE_RESULT,
                ("denied", voter, candidate, term),
                severity=WARNING,
                nodes=(voter, candidate),
                terms=(term,),
                when=(min(grant.since, fact.since), max(grant.since, fact.since)),
                summary=f"{voter} voted for {candidate} in term {term} and answered it {fact.answer} in the same term.",
                evidence=[grant.since_event, fact.since_event],
                implied_by=next((f.finding_id for f in back if f.nodes[0] == voter), None),
            )


def compared(group: Group) -> Iterator[RuleTally]:
    """Yield the tallies of refusals because of a vote for another: right if another candidate printed that vote."""
    granted = granted_to(group)
    for fact in group.of(VoteRefused):
        candidates = granted.get((fact.voter, fact.term), {})
        if fact.node in candidates:
            yield RuleId.WRONG_VOTE_RESULT, VIOLATES, None, fact.count
        elif candidates:
            yield RuleId.WRONG_VOTE_RESULT, CONFORMS, None, fact.count
        else:
            yield RuleId.WRONG_VOTE_RESULT, UNDECIDABLE, "for whom the voter voted is not in the logs", fact.count
    for _ in expired_grants(group, []):
        yield RuleId.WRONG_VOTE_RESULT, VIOLATES, None, 1
