"""The rules of a ZooKeeper ensemble, judged on its facts.

A leader that lost its quorum shuts down within syncLimit ticks and commits nothing meanwhile, since every commit needs
a quorum of its own epoch: two leaders of different epochs at once are reported without alarm. Two leaders of one epoch
are an alarm, and so is a leader whose log is behind the logs that it needed for its quorum: what those had committed is
cut off.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from election_replay.election_core.fold.checks import CONFORMS, UNDECIDABLE, VIOLATES
from election_replay.election_core.fold.roles import DIED, DOWN, FOLLOWER, LEADER, OBSERVER, STOPPED, TRANSFER
from election_replay.election_core.judge.at_once import OfOneLog
from election_replay.election_core.judge.availability import availability
from election_replay.election_core.judge.clock import Clocks, Moment
from election_replay.election_core.judge.coverage import (
    RuleTally,
    counted,
    regression_coverage,
    same_term_coverage,
    summed,
    tallies_of,
)
from election_replay.election_core.judge.group import SILENT, Group, Tenure, group_of, since, until
from election_replay.election_core.judge.leaderless import GROUP_SHUTDOWN
from election_replay.election_core.judge.overlap import overlap_coverage
from election_replay.election_core.judge.quorum_contact import QuorumTracker
from election_replay.election_core.judge.role_rows import role_intervals
from election_replay.election_core.judge.same_term import same_term
from election_replay.election_core.judge.term_rows import elections, terms
from election_replay.election_core.model.catalogue import CRITICAL, POSSIBLE, PROVEN, WARNING, RuleId
from election_replay.election_core.model.facts import Candidacy, Fact, Role, RuleBroken, TermWentBack, VotersStated
from election_replay.election_core.model.quorum import is_majority
from election_replay.election_core.model.rows import Finding, Row, RuleCoverage
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.raft_family.rules import broke_rule, last_heard, went_back
from election_replay.election_core.protocols.raft_family.stalls import stalled_leaders
from election_replay.election_core.protocols.raft_family.two_leaders import overlap_findings
from election_replay.election_core.protocols.zab.ballots import ballot_of, log_of, words_of
from election_replay.election_core.protocols.zab.facts import Ballot
from election_replay.election_core.protocols.zab.log import PROTOCOL
from election_replay.election_core.protocols.zab.losses import loss_tallies, losses, skipped_entries

__all__ = ["PROTOCOL", "judge"]


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one ensemble."""
    group = group_of(_with_epochs(facts, clocks), clocks)
    yield from role_intervals(group)
    yield from terms(group)
    yield from elections(group)
    found = [*same_term(group, "epoch"), *overlap_findings(group, "epoch")]
    yield from found
    yield from _epochs_that_went_back(group)
    wrong = [*_votes_that_went_down(group), *_without_quorum(group)]
    yield from wrong
    yield from losses(group, wrong)
    apart = list(skipped_entries(group))
    yield from apart
    if apart:
        yield counted(group, RuleId.STORES_DIFFER, apart, len(apart))
    planned = {(tenure.node, tenure.term) for tenure in group.tenures if _planned(group, tenure)}
    yield from availability(
        group,
        last_heard(group),
        _unplanned(group, planned),
        "leader",
        "epoch",
        QuorumTracker(group),
        unseen=_led_without_log,
        no_incident=lambda gap: (gap.before.node, gap.before.term) in planned,
        died="was killed or stopped",
        regained=True,
    )
    stalls = list(stalled_leaders(group, "epoch"))
    yield from stalls
    if stalls:
        yield counted(group, RuleId.WRITES_REFUSED, stalls, len(stalls))
    yield from _coverage(group, found)


def _with_epochs(facts: list[Fact], clocks: Clocks) -> list[Fact]:
    """Fill in the epochs in which servers followed: followers print their leader, rarely its epoch.

    It is the epoch that the leader led at the time. Where clock bounds leave several, the server's own order decides:
    its epoch is on its disk and never falls, unless the disk lost it.
    """
    by_log: dict[tuple[str, str], list[Role]] = {}
    for fact in facts:
        if isinstance(fact, Role) and fact.role == LEADER and fact.term is not None and fact.node is not None:
            by_log.setdefault((fact.node, fact.source_node), []).append(fact)
    led: dict[str, list[OfOneLog]] = {}
    for (node, _), roles in by_log.items():
        led.setdefault(node, []).append(OfOneLog.of(roles))
    went_back = {fact.source_node for fact in facts if isinstance(fact, TermWentBack)}
    by_source: dict[str, list[Role]] = {}
    for fact in facts:
        if isinstance(fact, Role):
            by_source.setdefault(fact.source_node, []).append(fact)
    epochs: dict[Role, int] = {}
    for source, roles in by_source.items():
        ordered = sorted(roles, key=lambda role: (role.since, role.since_by, role.ordinal))
        epochs.update(_epochs_of(ordered, led, clocks, in_order=source not in went_back))
    return [replace(fact, term=epochs[fact]) if isinstance(fact, Role) and fact in epochs else fact for fact in facts]


def _epochs_of(
    roles: Sequence[Role], led: dict[str, list[OfOneLog]], clocks: Clocks, *, in_order: bool
) -> dict[Role, int]:
    """Return the epochs of a server's roles where exactly one is possible; ``roles`` are all of its own, in order."""
    possible = [_possible_epochs(role, led, clocks) for role in roles]
    if in_order:
        least, most = 0, None
        for epochs in possible:
            epochs -= {epoch for epoch in epochs if epoch < least}
            least = max(least, min(epochs, default=least))
        for epochs in reversed(possible):
            epochs -= {epoch for epoch in epochs if most is not None and epoch > most}
            most = max(epochs, default=most) if most is None else min(most, max(epochs, default=most))
    return {
        role: epochs.pop()
        for role, epochs in zip(roles, possible, strict=True)
        if role.term is None and len(epochs) == 1
    }


def _possible_epochs(role: Role, led: dict[str, list[OfOneLog]], clocks: Clocks) -> set[int]:
    """Return the epochs in which a server may have held the role; exactly one if the role prints it."""
    if role.term is not None:
        return {role.term}
    if role.role not in (FOLLOWER, OBSERVER) or role.leader is None:
        return set()
    return {
        tenure.term
        for log in led.get(role.leader, ())
        for tenure in log.near(role, clocks)
        if tenure.term is not None and _may_overlap(role, tenure, clocks)
    }


def _may_overlap(role: Role, other: Role, clocks: Clocks) -> bool:
    ends = [(until(a), since(b)) for a, b in ((role, other), (other, role))]
    return all(end is None or clocks.elapsed(end, begin)[0] <= 0 for end, begin in ends)


def _planned(group: Group, tenure: Tenure) -> bool:
    """Return True when a leadership seems to have ended as planned; ZooKeeper does not print an orderly stop. That is a
    restart of all servers one after the other, or an end of all logs within a minute of the leader's end."""
    last = tenure is group.tenures[-1] and tenure.end_cause in (DIED, SILENT, "quorum_lost")
    everybody = last and group.clocks.elapsed(tenure.end, group.end)[1] < GROUP_SHUTDOWN
    rolling = tenure.end_cause == DIED and _restarted_in_turn(group, tenure)
    return tenure.end_cause == STOPPED or everybody or rolling


def _restarted_in_turn(group: Group, tenure: Tenure) -> bool:
    """Return True when every server was down once around then, and no two of them certainly at once. A log without a
    role before that end, for lack of INFO lines or as it begins later, cannot show its server down; nor can one that
    has ended by then; most logs go on."""
    near = [down for down in group.roles if down.role == DOWN and _about(group, since(down), tenure.end)]
    earlier = (role for role in group.roles if group.clocks.elapsed(since(role), tenure.end)[1] >= 0)
    goes_on = {source for source, last in group.written.items() if group.clocks.elapsed(tenure.end, last)[0] > 0}
    members = {role.source_node for role in earlier if role.role in (LEADER, FOLLOWER)}
    shown = members & goes_on
    return (
        {down.source_node for down in near} >= shown
        and 2 * len(shown) > len(members)
        and not any(_surely_at_once(group, first, second) for first, second in combinations(near, 2))
    )


def _about(group: Group, moment: Moment, other: Moment) -> bool:
    """Return True when two moments may be close enough for one rolling restart to include both."""
    least, most = group.clocks.elapsed(moment, other)
    return least < Timeout.ROLLING_RESTART.us and -most < Timeout.ROLLING_RESTART.us


def _surely_at_once(group: Group, role: Role, other: Role) -> bool:
    back, back_too = until(role), until(other)
    return (back is None or group.clocks.elapsed(since(other), back)[0] > 0) and (
        back_too is None or group.clocks.elapsed(since(role), back_too)[0] > 0
    )


def _led_without_log(group: Group, begin: Moment, end: Moment) -> bool:
    """Return True when a leader of an unknown epoch shows up in between: by its state, or by a lasting follower.

    A server may follow a winner that is never established, but not for longer than initLimit. A server followed while
    it led by its own log is no unseen leader, in whichever epoch; nor is a leader that no line names, as it may be that
    one.
    """
    return any(_meanwhile(group, role, begin, end) for role in group.once(_leaders_unseen))


def _leaders_unseen(group: Group) -> list[Role]:
    """Return the roles that show a leader of an unknown epoch."""
    tenures = group.once(_tenures_of)
    return [
        role
        for role in group.roles
        if role.term is None
        and _shows_a_leader(group, role)
        and not _followed_a_seen_leader(group, role, tenures.get(role.leader, []) if role.leader else group.tenures)
    ]


def _tenures_of(group: Group) -> dict[str | None, list[Tenure]]:
    found: dict[str | None, list[Tenure]] = {}
    for tenure in group.tenures:
        found.setdefault(tenure.node, []).append(tenure)
    return found


def _followed_a_seen_leader(group: Group, role: Role, tenures: Sequence[Tenure]) -> bool:
    return role.role != LEADER and any(_may_meet(group, role, tenure) for tenure in tenures)


def _may_meet(group: Group, role: Role, tenure: Tenure) -> bool:
    last = until(role)
    ends_before = last is not None and group.clocks.surely_before(last, tenure.begin)
    return not ends_before and not group.clocks.surely_before(tenure.end, since(role))


def _shows_a_leader(group: Group, role: Role) -> bool:
    if role.role == LEADER:
        return True
    enough = group.timing.us(Timeout.ZK_INIT_LIMIT) + Timeout.ZK_FOLLOWS.us
    lasted = None if role.until is None else role.until - role.since
    return role.role in (FOLLOWER, OBSERVER) and (lasted is None or lasted >= enough)


def _meanwhile(group: Group, role: Role, begin: Moment, end: Moment) -> bool:
    last = until(role)
    ends_after = last is None or group.clocks.elapsed(begin, last)[0] > 0
    return ends_after and group.clocks.elapsed(since(role), end)[1] > 0


def _unplanned(group: Group, planned: set[tuple[str, int]]) -> list[Moment]:
    """Return the begins of tenures after the first that no planned stop and no hand-over caused."""
    ordered = sorted(group.tenures, key=lambda tenure: tenure.begin)
    return [
        tenure.begin
        for before, tenure in pairwise(ordered)
        if (before.node, before.term) not in planned and before.end_cause != TRANSFER
    ]


# -- findings ---------------------------------------------------------------------------------------------------


def _epochs_that_went_back(group: Group) -> Iterator[Finding]:
    """Yield ``TERM_REGRESSION``: a server came back with a smaller epoch than it had reached, so its data was lost."""
    for fact in group.of(TermWentBack):
        yield went_back(
            group,
            fact,
            "epoch",
            "its data was lost or replaced, and the writes that it had acknowledged no longer count in elections",
        )


def _votes_that_went_down(group: Group) -> Iterator[Finding]:
    """Yield ``ZAB_WRONG_WINNER``, by a voter's own lines and by the logs of a leader and its supporters."""
    for fact in group.of(RuleBroken):
        if fact.rule == RuleId.ZAB_WRONG_WINNER:
            yield broke_rule(group, fact, terms=())
    for win in _wins(group):
        yield from _behind_its_supporters(group, win)


def _wins(group: Group) -> Iterator[Candidacy]:
    return (win for win in group.of(Candidacy) if win.outcome == "won")


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The log of a leader and those of its supporters, as they entered its election.

    A server ahead of the leader may join it, and is cut; but the servers not ahead must form a quorum. ``sure``: the
    others were ahead in this very election.
    """

    of_leader: Ballot | None
    ahead: dict[str, Ballot]
    unknown: int
    behind: bool
    sure: bool


def _compared(group: Group, win: Candidacy) -> _Comparison:
    of_leader = ballot_of(group, win, win.node)
    ballots = {name: ballot_of(group, win, name) for name in win.voters if name != win.node}
    known = {name: ballot for name, ballot in ballots.items() if ballot is not None}
    ahead = {
        name: ballot for name, ballot in known.items() if of_leader is not None and log_of(ballot) > log_of(of_leader)
    }
    behind = bool(ahead) and not is_majority(len(ballots) + 1 - len(ahead), len(win.electorate or ()))
    unknown = len(ballots) - len(known) if of_leader is not None and ballots else 1
    return _Comparison(of_leader, ahead, unknown, behind, all(ballot.term == win.term for ballot in ahead.values()))


def _behind_its_supporters(group: Group, win: Candidacy) -> Iterator[Finding]:
    compared = _compared(group, win)
    of_leader, ahead = compared.of_leader, compared.ahead
    if of_leader is None or not compared.behind:
        return
    sure = compared.sure
    known = "; ".join(f"{name} with {words_of(ballot)}" for name, ballot in sorted(ahead.items()))
    yield group.finding(
        RuleId.ZAB_WRONG_WINNER,
        (win.node, win.term),
        severity=CRITICAL if sure else WARNING,
        certainty=PROVEN if sure else POSSIBLE,
        nodes=(win.who, *sorted(ahead)),
        terms=(win.term,),
        when=(win.since, win.until),
        summary=f"{win.node} was established in epoch {win.term} with {words_of(of_leader)}, although its quorum had "
        f"more: {known}. What they alone had is cut off.",
        evidence=(of_leader.since_event, win.until_event, *(ballot.since_event for ballot in ahead.values())),
    )


def _without_quorum(group: Group) -> Iterator[Finding]:
    """Yield ``LEADER_WITHOUT_QUORUM``: fewer supporters than a majority of the voters; possible only, due to weights.
    With groups (hierarchical quorums) majorities do not count, so nothing is judged."""
    if any(fact.groups for fact in group.of(VotersStated)):
        return
    for fact in group.of(RuleBroken):
        if fact.rule == RuleId.LEADER_WITHOUT_QUORUM:
            yield broke_rule(group, fact, fact.term, severity=WARNING, certainty=POSSIBLE)


# -- coverage --------------------------------------------------------------------------------------------------


def _coverage(group: Group, found: Sequence[Finding]) -> Iterator[RuleCoverage]:
    yield same_term_coverage(group, found)
    yield from summed(
        group,
        [
            *map(_with_weights, tallies_of(group)),
            *(_winner_tally(_compared(group, win)) for win in _wins(group)),
            *loss_tallies(group),
        ],
    )
    yield regression_coverage(group, RuleId.TERM_REGRESSION)
    yield overlap_coverage(group, found)


_NO_LOG = "the last zxid of the leader or of a supporter is not printed, or its election is not certain"


def _with_weights(tally: RuleTally) -> RuleTally:
    """Turn a violation into undecidable: too few supporters may be a quorum by weights, which no log prints."""
    rule, says, _, count = tally
    if rule == RuleId.LEADER_WITHOUT_QUORUM and says == VIOLATES:
        return rule, UNDECIDABLE, "servers may have weights, which are not printed", count
    return tally


def _winner_tally(compared: _Comparison) -> RuleTally:
    if compared.behind and compared.sure:
        return RuleId.ZAB_WRONG_WINNER, VIOLATES, None, 1
    if compared.behind or compared.unknown:
        return RuleId.ZAB_WRONG_WINNER, UNDECIDABLE, _NO_LOG, 1
    return RuleId.ZAB_WRONG_WINNER, CONFORMS, None, 1
