"""``LEADERLESS`` in logs of warnings alone, which show that a leader was lost and never that one was found.

    member 1   ... heard of it ......... lost its leader        an entry of epoch 3
    member 2   ... heard of it ......... lost its leader
    nobody led        |<-- at most --------------------------->|

Without a line of a leadership nobody can say who led, or when the next one began. Where most of the members lost their
leader, it had no quorum from then on, until one of them shows that it follows again.
"""

from collections.abc import Iterator

from election_replay.election_core.fold.roles import UNKNOWN
from election_replay.election_core.judge.group import Group, since
from election_replay.election_core.judge.outages import leaderless_outage
from election_replay.election_core.judge.wording import name_of, number_of, seconds
from election_replay.election_core.model.facts import LastHeard, Role
from election_replay.election_core.model.measures import Scope
from election_replay.election_core.model.quorum import is_majority
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import Timeout


def lost_by_most(group: Group, title: str, clock: str) -> Iterator[Finding]:
    """Yield a possible time without a leader each time that most members lost theirs, if no line shows a leadership.
    ``title`` and ``clock`` are the protocol's words for a leader and a term."""
    if group.tenures:
        return
    members = {role.who for role in group.roles}
    lost: dict[str, LastHeard] = {}
    unnamed = (fact for fact in group.of(LastHeard) if fact.node is None)
    follows = (role for role in group.roles if role.role == UNKNOWN and role.term is not None)
    signs: list[LastHeard | Role] = sorted(
        (*unnamed, *follows), key=lambda sign: (sign.since_by, sign.since_event or "")
    )
    speakers = {role.source_node: role.who for role in group.roles}
    for sign in signs:
        if isinstance(sign, LastHeard):
            lost[speakers.get(sign.source_node, sign.source_node)] = sign
            continue
        if is_majority(len(lost), len(members)):
            yield from _outage(group, lost, sign, len(members), title, clock)
        lost = {}


def _outage(
    group: Group, lost: dict[str, LastHeard], again: Role, members: int, title: str, clock: str
) -> Iterator[Finding]:
    """Yield the time from when the members that ``lost`` their leader heard of it until one follows ``again``."""
    first = min((since(fact) for fact in lost.values()), key=lambda moment: moment.at)
    _, most = group.clocks.elapsed(first, since(again))
    if most < Timeout.MIN_REPORTED.us:
        return
    follower = name_of(again.who, again.source_node)
    yield leaderless_outage(
        group,
        Scope.NO_LEADER,
        ("lost by most", first.at),
        (0, most),
        nodes=tuple(sorted(lost)),
        when=(first.at, again.since),
        summary=f"No {title} for at most {seconds(most)}: {len(lost)} of {number_of(members, 'member')} lost contact "
        f"with theirs, until {follower} followed one of {clock} {again.term}. The logs hold warnings only: no line "
        "says who led.",
        evidence=[*(fact.since_event for fact in lost.values()), again.since_event],
    )
