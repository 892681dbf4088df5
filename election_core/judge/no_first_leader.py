"""``LEADERLESS`` of a group that never had a leader: its members looked for one to the end of their logs.

    member 1   start [= candidate ============================== end
    member 2      start [= candidate =========================== end
    member 3         start [= candidate ======================== end
    nobody ever led        |<-- least ------------------------>|  since so many of them looked
    member 4                             start [= candidate ==== end

Elections while a group boots are no incident. A group that finds no leader for more than a minute is out of service: a
wrong address, an untrusted certificate, or a majority that was never started.
"""

from collections.abc import Iterator, Mapping

from election_replay.election_core.fold.roles import CANDIDATE
from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.group import Group, since
from election_replay.election_core.judge.outages import leaderless_outage
from election_replay.election_core.judge.wording import between, listed
from election_replay.election_core.model.catalogue import DEFINITE, INFO, POSSIBLE, WARNING
from election_replay.election_core.model.facts import LastHeard, Role, Written
from election_replay.election_core.model.measures import Scope
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import Timeout

FOLLOWS = frozenset({"following", "heartbeat", "status"})
"""Begin causes of roles that show a leader, named or not."""

_ENOUGH = 3
"""Members that must look for a leader at once: three are a majority of five. In smaller groups all must look."""


def no_first_leader(group: Group, title: str) -> Iterator[Finding]:
    """Yield a finding if no line of any member shows a leader; ``title`` is the protocol's word for leader. A single
    member may be cut off from a healthy group: that is information, not an alarm."""
    if group.tenures or any(map(_tells_of_a_leader, group.roles)) or any(group.of(LastHeard)):
        return
    searches = _searches(group)
    if not searches:
        return
    elapsed = group.clocks.elapsed
    spans = [(elapsed(first, last), member, first, last) for member, (first, last) in searches.items()]
    lengths = [length for length, *_ in spans]
    enough = max(_ENOUGH, len(lengths) // 2 + 1)
    least = sorted((least for least, _ in lengths), reverse=True)[:enough][-1]
    most = max(most for _, most in lengths)
    if least < Timeout.FIRST_ELECTION.us:
        return
    members = tuple(searches)
    alone = len(members) == 1
    yield leaderless_outage(
        group,
        Scope.NO_LEADER,
        ("never",),
        (least, most),
        severity=INFO if alone else WARNING,
        certainty=POSSIBLE if alone else DEFINITE,
        nodes=members,
        when=(min(first.at for _, _, first, _ in spans), None),
        summary=f"No {title} for {between(least, most)}: {listed(members)} looked for one and found none, to the "
        + ("end of its log. No other member's log is here." if alone else "end of the logs."),
        evidence=[moment.event_id for _, _, first, last in spans for moment in (first, last)],
    )


def _tells_of_a_leader(role: Role) -> bool:
    return role.leader is not None or role.cause in FOLLOWS


def _searches(group: Group) -> Mapping[str, tuple[Moment, Moment]]:
    """Return {member: (begin of its first search for a leader, its last line)}, as far as its log could show one."""
    of_several_files = {fact.source_node for fact in group.of(Written)}
    found = dict[str, tuple[Moment, Moment]]()
    for role in group.roles:
        first, ran = (moments.get(role.source_node) for moments in (group.begun, group.ran))
        last = group.written.get(role.source_node) if role.source_node in of_several_files else ran
        if role.role == CANDIDATE and first is not None and last is not None:
            searched = since(role) if group.clocks.elapsed(first, since(role))[1] >= 0 else first
            found.setdefault(role.who, (searched, last))
    return dict(sorted(found.items()))
