"""``MEMBER_CANNOT_JOIN``: a member joins its leader again and again, and never stays.

    leader    [== term 3 =================================>
    member    [=] [] [=] [] [=] [] ... each time it follows for seconds at most, and the leader leads on

A full disk, unreadable data or an untrusted certificate: the member joins, fails and tries again until somebody mends
it. Until then the group has one member less, and one more failure may be an outage.
"""

from collections.abc import Iterator, Sequence

from election_replay.election_core.fold.roles import FOLLOWER, LEADER, OBSERVER
from election_replay.election_core.judge.group import Group, Tenure, since, until
from election_replay.election_core.judge.wording import between, name_of
from election_replay.election_core.model.catalogue import DEFINITE, POSSIBLE, WARNING, RuleId
from election_replay.election_core.model.facts import Role
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import SECOND, Timeout

ROUNDS = 5
"""Fewer rounds in a row may be a normal start or change of leader."""


def rejoins(group: Group, without: Sequence[Finding]) -> Iterator[Finding]:
    """Yield a finding for each member and each time in which it could not stay with a leader that led on. A leader that
    was lost for all of them, by a finding of ``without``, led nobody on."""
    for source in sorted({role.source_node for role in group.roles}):
        rounds: list[Role] = []
        joined: Tenure | None = None
        for role in (role for role in group.roles if role.source_node == source):
            if role.role not in (FOLLOWER, OBSERVER, LEADER) or (role.role != LEADER and role.leader is None):
                continue
            left = _left_soon(group, role)
            if left is not None and any(_was_lost(left, role, outage) for outage in without):
                continue
            if left is None or left != joined:
                yield from _failed(group, joined, rounds)
                rounds, joined = [], left
            if left is not None:
                rounds.append(role)
        yield from _failed(group, joined, rounds)


def _left_soon(group: Group, role: Role) -> Tenure | None:
    """Return the tenure that a member joined and soon left, though it surely went on for a while; else ``None``."""
    end = until(role)
    if end is None or role.role == LEADER or end.at - role.since >= Timeout.JOIN_ROUND.us:
        return None
    elapsed = group.clocks.elapsed
    return next(
        (
            tenure
            for tenure in group.tenures
            if tenure.node == role.leader
            and tenure.source != role.source_node
            and elapsed(tenure.begin, since(role))[1] > 0
            and elapsed(end, tenure.end)[0] > Timeout.MIN_REPORTED.us
        ),
        None,
    )


def _was_lost(joined: Tenure, role: Role, outage: Finding) -> bool:
    """Return True when a member joined a leader in a time in which that leader surely could do nothing."""
    sure = outage.certainty != POSSIBLE and outage.former_leader == joined.node
    return sure and outage.start_time <= role.since and (outage.end_time is None or role.since < outage.end_time)


def _failed(group: Group, joined: Tenure | None, rounds: Sequence[Role]) -> Iterator[Finding]:
    if joined is None or len(rounds) < ROUNDS:
        return
    first, last = rounds[0], rounds[-1]
    begin, end = since(first), until(last) or since(last)
    least, most = group.clocks.elapsed(begin, end)
    yield group.finding(
        RuleId.MEMBER_CANNOT_JOIN,
        (first.source_node, begin.at // SECOND),
        severity=WARNING,
        certainty=DEFINITE,
        nodes=(first.who,),
        terms=(joined.term,),
        when=(begin.at, end.at),
        summary=f"{name_of(first.node, first.source_node)} joined {joined.name} {len(rounds)} times within "
        f"{between(max(least, 0), most)} and never stayed, though the leader led on.",
        evidence=[first.since_event, first.until_event, last.since_event, last.until_event],
        lasted=(least, most),
        rounds=len(rounds),
    )
