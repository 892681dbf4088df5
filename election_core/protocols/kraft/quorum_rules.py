"""The rules of a metadata quorum: those of the Raft family, and needless elections.

A leader that is cut off, or frozen, calls itself leader until it has heard no majority for 1.5 fetch time-outs, or
hears of a larger epoch; it can commit nothing meanwhile. Brokers lead their partitions on without a controller: only
its decisions wait.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from election_replay.election_core.fold.roles import DOWN, LEADER, OBSERVER
from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.judge.coverage import counted
from election_replay.election_core.judge.group import Group, Tenure, group_of, since, until
from election_replay.election_core.judge.outages import outage
from election_replay.election_core.judge.role_rows import role_intervals
from election_replay.election_core.judge.timing import timing_of
from election_replay.election_core.judge.wording import seconds
from election_replay.election_core.model.catalogue import INFO, RuleId
from election_replay.election_core.model.facts import (
    Alive,
    Candidacy,
    ContactLost,
    Fact,
    LastHeard,
    Role,
    RuleBroken,
    TermRaised,
    VoteGranted,
)
from election_replay.election_core.model.rows import Finding, Row, Term
from election_replay.election_core.model.timing import SECOND, US_PER_MS, Timeout
from election_replay.election_core.protocols.kraft.facts import HeartbeatsCeased
from election_replay.election_core.protocols.kraft.quorum_log import PROTOCOL
from election_replay.election_core.protocols.raft_family import rules as raft_family
from election_replay.election_core.protocols.raft_family.losses import losses, tallies

__all__ = ["PROTOCOL", "judge"]

TOPPLED = "larger_term"
"""The end cause of a leader that hears of a larger epoch, and so the cause of the next election."""

_SAID_SO = frozenset({"stopped", "stepped_down"})
"""End causes of leaderships that the leader announces to the voters at once (``EndQuorumEpoch``)."""

_IN_SYNC = "the quorum's logs do not tell of which partitions a broker was in sync"


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one metadata quorum; for observers only the roles."""
    group = group_of(_completed(facts), clocks)
    if all(role.role in (OBSERVER, DOWN) for role in group.roles):
        yield from role_intervals(group)
        return
    rows = list(raft_family.rows_of(group, raft_family.end_of_all_logs, tallies(group), clock="epoch"))
    toppled = list(_toppled(group))
    yield from (_with_cause(row, group) if isinstance(row, Term) else row for row in rows)
    yield from toppled
    yield counted(group, RuleId.NEEDLESS_ELECTION, toppled, max(len(group.tenures) - 1, len(toppled)))
    if waited := list(_waited(group)):
        yield from waited
        yield counted(group, RuleId.WRITES_REFUSED, waited, len(waited), _IN_SYNC)
    rules = {fact.rule for fact in group.of(RuleBroken)}
    yield from losses(group, (row for row in rows if isinstance(row, Finding) and row.rule in rules))


def _completed(facts: Sequence[Fact]) -> Iterator[Fact]:
    """Yield the facts of a quorum, completed across logs.

    A candidate up to 3.9 does not print its voters: the voters do. A follower's fetch time-out ends at once if its
    leader resigned, so it does not tell when the leader was heard last. The same is possible if the leader's log ends
    earlier and no connection was closed.
    """
    votes: dict[tuple[str | None, int], set[str]] = {}
    voted: dict[int, set[str]] = {}
    for fact in facts:
        if isinstance(fact, VoteGranted):
            votes.setdefault((fact.node, fact.term), set()).add(fact.voter)
            voted.setdefault(fact.term, set()).add(fact.voter)
    resigned = [fact for fact in facts if isinstance(fact, Role) and fact.role == LEADER and fact.end_cause in _SAID_SO]
    last_signs = _last_signs(facts)
    closed = {(fact.source_node, fact.node, fact.since) for fact in facts if isinstance(fact, ContactLost)}
    timeout = timing_of(facts).us(Timeout.KRAFT_FETCH)
    for fact in facts:
        missed = isinstance(fact, LastHeard) and (fact.source_node, fact.node, fact.since) not in closed
        if isinstance(fact, LastHeard) and any(_ended_the_wait(role, fact, timeout) for role in resigned):
            continue
        if missed and last_signs.get(fact.node, 0) < fact.since:
            yield replace(fact, since_by=fact.since_by + timeout)
        elif isinstance(fact, Candidacy):
            yield _with_votes(fact, votes.get((fact.node, fact.term or 0), set()), voted.get(fact.term or 0, set()))
        else:
            yield fact


def _ended_the_wait(resigned: Role, missed: LastHeard, timeout_us: int) -> bool:
    """Whether a leader resigned in the time in which a follower waited for it, on clocks within their bounds."""
    bound_us = (resigned.bound_ms + missed.bound_ms) * US_PER_MS
    end = resigned.until
    in_time = end is not None and missed.since - bound_us <= end <= missed.since_by + timeout_us + bound_us
    return resigned.node == missed.node and in_time


def _last_signs(facts: Iterable[Fact]) -> dict[str | None, int]:
    """Return the last line of each member's own log, in us."""
    last: dict[str | None, int] = {}
    for fact in facts:
        if isinstance(fact, Alive) and fact.until is not None:
            last[fact.node] = max(last.get(fact.node, 0), fact.until)
    return last


def _with_votes(candidacy: Candidacy, votes: set[str], voted: set[str]) -> Candidacy:
    voters = tuple(sorted({*candidacy.voters, *votes}))
    granted = max(candidacy.granted or 0, len(voters))
    unseen = candidacy.outcome == "won" and candidacy.needed is not None and granted < candidacy.needed
    answered = candidacy.majority_answered or (candidacy.needed is not None and len(voted) >= candidacy.needed)
    return replace(candidacy, voters=voters, granted=None if unseen else granted, majority_answered=answered)


def _with_cause(row: Term, group: Group) -> Term:
    """Return the term of a leader, caused by a larger epoch where that ended the leader before it. That one's log may
    be missing: then members followed it in an epoch between the two."""
    before = group.led_before(row.term) if row.leader is not None else None
    if before is None or before.end_cause != TOPPLED:
        return row
    led = (role.term for role in group.roles if role.leader is not None and role.term is not None)
    return row if any(before.term < term < row.term for term in led) else replace(row, cause=TOPPLED)


def _toppled(group: Group) -> Iterator[Finding]:
    """Yield ``NEEDLESS_ELECTION``: a member that raised its epoch alone made a leader with a majority give up."""
    for tenure in group.tenures:
        if tenure.end_cause != TOPPLED:
            continue
        after = next((role for role in group.roles if role.since_event == tenure.end.event_id), None)
        reached = after.term if after is not None else None
        rises = [
            rise
            for rise in group.of(Candidacy)
            if rise.node != tenure.node
            and rise.term is not None
            and reached is not None
            and tenure.term < rise.term <= reached
            and set(rise.voters) <= {rise.node}
        ]
        members = sorted({rise.node for rise in rises if rise.node is not None and rise.term == reached})
        if len(members) != 1 or not _asked(group, tenure, reached, members[0]):
            continue
        yield _needless(group, tenure, members[0], [rise for rise in rises if rise.node == members[0]])


def _waited(group: Group) -> Iterator[Finding]:
    """Yield ``WRITES_REFUSED`` with acks=all on the partitions of a broker that was lost and not yet fenced.

    Source: apache/kafka ``Partition#maybeIncrementLeaderHW`` (all in sync), ``ReplicationControlManager``
    (``handleBrokerFenced``).
    """
    for ceased in group.of(HeartbeatsCeased):
        begin, fenced = since(ceased), until(ceased) or since(ceased)
        most = group.clocks.elapsed(begin, fenced)[1]
        yield outage(
            group,
            RuleId.WRITES_REFUSED,
            ("in sync", ceased.node, begin.at // SECOND),
            (0, most),
            nodes=(ceased.node,),
            when=(begin.at, fenced.by),
            summary=f"The controllers lost contact with broker {ceased.node} and fenced it at most {seconds(most)} "
            f"later. {ceased.count} partitions have a replica on it: until then those in which it was in sync could "
            "acknowledge no write with acks=all.",
            evidence=[ceased.until_event],
        )


def _asked(group: Group, tenure: Tenure, reached: int | None, member: str) -> bool:
    """Return True when the leader heard of the larger epoch from that member, as far as its log names a peer."""
    peers = {f.peer for f in group.of(TermRaised) if (f.source_node, f.term) == (tenure.source, reached)}
    return peers <= {member, None}


def _needless(group: Group, tenure: Tenure, member: str, rises: Sequence[Candidacy]) -> Finding:
    terms = sorted({rise.term for rise in rises if rise.term is not None})
    following = next((t for t in group.tenures if t.term > tenure.term), None)
    then = f"; {following.name} led epoch {following.term} then" if following is not None else ""
    alone = f"{len(terms)} elections" if len(terms) > 1 else "an election"
    return group.finding(
        RuleId.NEEDLESS_ELECTION,
        (tenure.node, tenure.term, terms[-1]),
        severity=INFO,
        nodes=(member, tenure.node),
        terms=(tenure.term, terms[-1], *([following.term] if following else [])),
        when=(tenure.end.at, following.begin.at if following is not None else None),
        summary=f"{member} had raised its epoch to {terms[-1]} alone, in {alone} that nobody else took part in, and "
        f"made {tenure.with_detail(f'epoch {tenure.term}')} give up when it was heard again{then}: that election was "
        "not needed.",
        evidence=[*(rise.since_event for rise in rises), tenure.end.event_id],
        rounds=len(terms),
    )
