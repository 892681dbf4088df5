"""Fates: the state of a leader when the next one began, or when nobody followed it.

    old leader    [======= lost ----- gives up or ends]        what was its state between these two?
    its own log   |||||||||                      |||||        frozen: its rhythm stops before it is lost
                  ||||||||||||||||||||||||||||||||||||        awake: it writes on while it is lost
    new leader                 [begin ========                the state is that at this moment

Frozen, dead, cut-off and overloaded leaders look alike to the others. The state is known from the leader's own log and
from what happened to the others; where these do not show it, it is UNKNOWN.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from election_replay.election_core.fold.roles import (
    DIED,
    DOWN,
    ENDED_ITSELF,
    FOLLOWER,
    LEADER,
    PREFERRED,
    REMOVED,
    STOPPED,
    TRANSFER,
)
from election_replay.election_core.judge.by_time import ByTime
from election_replay.election_core.judge.clock import UNBOUNDED, Moment
from election_replay.election_core.judge.group import SILENT, Group, LogGap, Tenure, since, until
from election_replay.election_core.judge.quorum_contact import BY_TIMER, QuorumLoss, QuorumTracker
from election_replay.election_core.judge.rhythm import Rhythms
from election_replay.election_core.judge.silent_logs import max_time_without_quorum
from election_replay.election_core.judge.wording import between, name_of
from election_replay.election_core.model.facts import (
    Candidacy,
    ContactLost,
    LastHeard,
    MessageReceived,
    QuietLog,
    QuorumLost,
    RefusedWrites,
    Role,
    TermRaised,
    Unreached,
)
from election_replay.election_core.model.measures import FATE_OF, Fate, Refusal, Standing
from election_replay.election_core.model.rows import Term
from election_replay.election_core.model.timing import Timeout

BY_MAJORITY = frozenset({"raft", "dledger", "zab", "kraft"})
"""Protocols in which a leader without a majority can commit nothing, and gives up."""
QUORUM_LOST, TOPPLED = "quorum_lost", "larger_term"
"""How a leader ends its role that no majority answers, or that hears of a larger term."""
AWAKE_ROUNDS = 3
"""A leader that asked this often in vain before it gave up ran meanwhile: one that wakes gives up sooner."""
_HANDED_OVER = frozenset({TRANSFER, PREFERRED})
AT_REQUEST = frozenset({"user_request", "takeover"})
"""Begin causes of a term whose leader an operator chose: nobody tells the former leader (Redis)."""
_ENDED = {
    DIED: Standing.DIED,
    STOPPED: Standing.STOPPED,
    REMOVED: Standing.REMOVED,
    ENDED_ITSELF: Standing.ENDED_ITSELF,
    SILENT: Standing.SILENT,
}
"""The state of a leader whose role ended with its process, by end cause."""


@dataclass(frozen=True, slots=True)
class Following:
    """The next leader and its beginning, whether or not its own log shows it."""

    leader: str
    term: int
    begin: Moment


def following_of(after: Tenure | None) -> Following | None:
    """Return a tenure as the one that follows another; ``None`` for ``None``."""
    return None if after is None else Following(after.node, after.term, after.begin)


class Fates:
    """The fates of a group's leaders. Make it by ``group.once(Fates)``."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._elapsed = group.clocks.elapsed
        self._majorities = group.once(QuorumTracker) if group.protocol in BY_MAJORITY else None
        self._rhythms = group.once(Rhythms)
        self._quiet = {fact.source_node for fact in group.of(QuietLog)}
        heard: list[LastHeard | ContactLost] = [*group.of(LastHeard), *group.of(ContactLost)]
        self._heard_last = ByTime((fact.node, since(fact), since(fact)) for fact in heard)
        follows = (role for role in group.roles if role.role == FOLLOWER and role.leader is not None)
        self._followed = ByTime((role.source_node, since(role), since(role)) for role in follows)
        from_others = (fact for fact in group.of(MessageReceived) if fact.peer != fact.node)
        self._reached = ByTime((fact.source_node, since(fact), since(fact)) for fact in from_others)
        lines = (fact for fact in group.facts if fact.source_node in self._quiet)
        self._lines = ByTime((fact.source_node, since(fact), since(fact)) for fact in lines)
        self._raised: dict[tuple[str, str | None], TermRaised] = {}
        for raised in group.of(TermRaised):
            self._raised.setdefault((raised.source_node, raised.since_event), raised)
        self._hung = [fact for fact in group.of(RefusedWrites) if fact.why == Refusal.DISK_HANGS]
        self._left = {fact.until_event for fact in group.of(QuorumLost) if fact.closed}

    def standing(self, before: Tenure, following: Following | None) -> Standing:
        """Return the state of a leader when the ``following`` one began; ``None``: when nobody led after it."""
        target = self._group.end if following is None else following.begin
        if before.end_cause in _ENDED and not self._surely_led_on(before, target):
            return _ENDED[before.end_cause]
        lost = self._lost(before, target)
        if not all(map(self._group.clocks.placed, (lost.latest, before.end))):
            return Standing.WITHOUT_QUORUM if before.end_cause == QUORUM_LOST else Standing.UNKNOWN
        return self._seen_by_others(before, following, lost)

    def _seen_by_others(self, before: Tenure, following: Following | None, lost: QuorumLoss) -> Standing:
        """Return the state of a leader when it was lost, by its own log beside those of the others."""
        if self._disk_hung(before, lost.latest):
            return Standing.OVERLOADED
        gap = self._gap(before, lost.latest) if (lost.rounds or 0) < AWAKE_ROUNDS else None
        if gap is not None and self._stands(gap, lost.latest):
            return Standing.FROZEN
        if self._woke(before, following, lost):
            return Standing.FROZEN
        if self._members_died(before, lost):
            return Standing.MEMBERS_DIED
        if before.end_cause == TOPPLED and self.toppled_by(before, following) is not None:
            return Standing.TOPPLED
        if following is not None and gap is None and self._cut_off(before, following, lost):
            return Standing.CUT_OFF
        if before.end_cause == QUORUM_LOST:
            return Standing.WITHOUT_QUORUM
        if following is None or before.end_cause is None:
            return Standing.UNKNOWN
        return Standing.REACHABLE if self._heard_at_once(before, following, gap) else Standing.UNKNOWN

    def fate(self, before: Tenure, following: Following | None) -> Fate:
        """Return the fate of a leader for findings; a leader that handed over counts as stopped."""
        if before.end_cause in _HANDED_OVER:
            return Fate.STOPPED
        return FATE_OF.get(self.standing(before, following), Fate.UNKNOWN)

    def while_leading(self, tenure: Tenure, moment: Moment) -> Fate:
        """Return the fate of a leader that lost its majority at ``moment`` and led on later: FROZEN or UNKNOWN."""
        return Fate.UNKNOWN if self.asleep(tenure, moment) is None else Fate.FROZEN

    def led_on(self, before: Tenure, moment: Moment) -> bool:
        """Return True when a leader gave up so long after a moment that it cannot have heard of the next one then."""
        return self._elapsed(moment, before.end)[0] > Timeout.ON_ITS_WAY.us

    def _surely_led_on(self, before: Tenure, moment: Moment) -> bool:
        """Return True when the last sign of a leader surely came after a moment."""
        last_sign = Moment(before.end.at, before.end.at, before.end.source, before.end.event_id)
        return self._elapsed(moment, last_sign)[0] > 0

    def _lost(self, before: Tenure, target: Moment) -> QuorumLoss:
        """Return when a leader lost its majority, or when others last heard of it before the next one began."""
        lost = None if self._majorities is None else self._majorities.lost(before, target)
        if lost is not None:
            return lost
        widest = self._group.clocks.widest
        heard = [
            moment
            for moment in self._heard_last.between(before.node, before.begin.by - widest, target.by + widest)
            if moment.source != before.source
            and self._elapsed(before.begin, moment)[0] > 0
            and self._elapsed(moment, target)[1] > 0
        ]
        last = max(heard, key=lambda moment: (moment.at, moment.by), default=None)
        if last is None and self._elapsed(before.end, target)[0] > 0:
            last = before.end
        last = last or target
        return QuorumLoss(last, last)

    def asleep(self, before: Tenure, moment: Moment) -> LogGap | None:
        """Return the gap in a leader's log around a moment in which its process did not run; else ``None``."""
        gap = self._gap(before, moment)
        return gap if gap is not None and self._stands(gap, moment) else None

    def _gap(self, before: Tenure, moment: Moment) -> LogGap | None:
        """Return the gap in a leader's log around a moment, if the log has a rhythm; else ``None``."""
        for gap in before.silences:
            over = self._elapsed(gap.begin, moment)[1] >= 0 and self._elapsed(moment, gap.end)[0] > 0
            if over and self._rhythms.stopped(before.source, gap):
                return gap
        return None

    def _disk_hung(self, before: Tenure, moment: Moment) -> bool:
        """Return True when a leader waited for its disk when it was lost, and until its role ended: its process ran."""
        return any(
            fact.source_node == before.source
            and self._elapsed(since(fact), moment)[1] >= 0
            and self._elapsed(since(fact), before.end)[0] > 0
            and self._elapsed(before.end, until(fact) or since(fact))[0] > 0
            for fact in self._hung
        )

    def _stands(self, gap: LogGap, moment: Moment) -> bool:
        """Return True when a gap surely lasted beyond a moment, even if the leader's clock was set forward in it."""
        clocks = self._group.clocks
        return not clocks.stepped or clocks.surely_before_though_set(moment, gap.end, gap.end)

    def _heard_at_once(self, before: Tenure, following: Following, gap: LogGap | None) -> bool:
        """Return True when a leader's role ended as the next one began, by another member's log, and it was awake.

        Its own log alone shows when it heard of the next one, which may be long after that began; where lines are
        missing, no line shows when the role ended. Even a gap without a rhythm, which proves no freeze, may hide that
        it slept. A leader that hands over runs.
        """
        own_word = following.begin.source == before.source and following.leader != before.node
        untold = before.end.by - before.end.at > Timeout.ON_ITS_WAY.us
        if (own_word or untold) and before.end_cause not in _HANDED_OVER:
            return False
        slept = gap is not None or any(
            self._elapsed(before.end, silence.end)[0] <= 0
            and self._elapsed(silence.begin, following.begin)[1] >= 0
            and self._elapsed(following.begin, silence.end)[1] >= 0
            for silence in before.silences
        )
        least, most = self._elapsed(following.begin, before.end)
        at_once = least <= Timeout.MIN_REPORTED.us and -most <= Timeout.ON_ITS_WAY.us
        return at_once and (before.end_cause in _HANDED_OVER or not slept)

    def _woke(self, before: Tenure, following: Following | None, lost: QuorumLoss) -> bool:
        """Return True when the role of a leader ended as its process went on after a freeze."""
        late = before.end_cause == QUORUM_LOST and self._gave_up_late(before, lost.latest)
        return late or (following is not None and self._woke_at_its_end(before, following))

    def _woke_at_its_end(self, before: Tenure, following: Following) -> bool:
        """Return True when a leader was frozen as the next one began, and its role ended as it went on. It also holds
        if the leader was elected again just then, by members that had taken it for dead."""
        again = self._majorities is None and following.leader == before.node
        return any(
            self._elapsed(gap.end, before.end)[0] < Timeout.ON_ITS_WAY.us
            and (not self._group.clocks.stepped if again else self._surely_in(following.begin, gap))
            and self._rhythms.stopped(before.source, gap)
            for gap in before.silences
        )

    def _surely_in(self, moment: Moment, gap: LogGap) -> bool:
        over = self._elapsed(gap.begin, moment)[0] > 0 and self._elapsed(moment, gap.end)[0] > 0
        return over and self._stands(gap, moment)

    def _gave_up_late(self, before: Tenure, lost: Moment) -> bool:
        """Return True when a leader gave up with the first line after a gap, later than one that runs without a
        majority does. A log without a rhythm shows no freeze otherwise."""
        limit = max_time_without_quorum(self._group.protocol, self._group.timing)
        if limit is None or self._elapsed(lost, before.end)[0] <= limit:
            return False
        gaps = (gap for gap in before.silences if self._elapsed(gap.end, before.end)[0] < Timeout.ON_ITS_WAY.us)
        return any(self._elapsed(lost, gap.begin)[0] <= limit for gap in gaps)

    def _members_died(self, before: Tenure, lost: QuorumLoss) -> bool:
        """Return True when members whose processes had ended took the majority away by themselves."""
        ended = {left.member for left in lost.left if left.ended}
        return bool(ended) and lost.sure and self._group.electorates.lost(before, lost.latest, ended)

    def toppled_by(self, before: Tenure, following: Following | None) -> TermRaised | None:
        """Return the larger term with which a leader gave up; ``None`` if it is the next election's, by its winner."""
        raised = self._raised.get((before.source, before.end.event_id))
        if raised is None or raised.peer is None:
            return None
        by_winner = following is not None and (raised.term, raised.peer) == (following.term, following.leader)
        return None if by_winner else raised

    # -- cut off ------------------------------------------------------------------------------------------------

    def _cut_off(self, before: Tenure, following: Following, lost: QuorumLoss) -> bool:
        """Return True when a leader ran and was not reached, while the others reached each other. Where members elect,
        the others elected another one without it. A broker under controllers logs that it reached none, while the
        others reached them."""
        unreached = [fact for fact in self._group.of(Unreached) if self._over(fact, lost, before, following)]
        if unreached:
            speaking = {fact.source_node for fact in unreached}
            others = {role.source_node for role in self._group.roles if role.role != DOWN} - {before.source}
            return before.source in speaking and bool(others - speaking)
        if self._group.protocol == "controller" or following.leader == before.node:
            return False
        led_on = self._elapsed(following.begin, before.end)
        if before.end_cause == QUORUM_LOST and self._majorities is not None:
            in_vain = lost.rounds is None or lost.rounds > 1  # a leader that wakes asks once, and gives up
            late = -Timeout.ON_ITS_WAY.us < led_on[1] < UNBOUNDED
            alone = self._group.protocol not in BY_TIMER or self._not_heard_again(before, following)
            return late and in_vain and alone and not (self._was_left(before) or self._heard_as_it_gave_up(before))
        ran = self._wrote_on(before, following.begin) and self._shown_awake(before, lost, following)
        return led_on[0] > Timeout.ON_ITS_WAY.us and ran

    def _wrote_on(self, before: Tenure, moment: Moment) -> bool:
        """Return True when no gap lasts from a moment to a leader's end: a process that wakes ends its role too."""
        return not any(
            self._elapsed(gap.begin, moment)[1] >= 0 and self._elapsed(gap.end, before.end)[0] < Timeout.ON_ITS_WAY.us
            for gap in before.silences
        )

    def _not_heard_again(self, before: Tenure, following: Following) -> bool:
        """Return True when a leader that gave up heard of the next one only later, although it ran by then. It asked
        for votes or followed nobody. A leader that wakes hears of the next one at once."""
        over = max(before.end, following.begin, key=lambda moment: moment.at)
        widest = self._group.clocks.widest
        near = self._followed.between(before.source, before.end.at - widest, over.by + Timeout.ON_ITS_WAY.us + widest)
        return not any(
            self._elapsed(before.end, moment)[1] > 0 and self._elapsed(over, moment)[0] <= Timeout.ON_ITS_WAY.us
            for moment in near
        )

    def _heard_as_it_gave_up(self, before: Tenure) -> bool:
        """Return True when messages reached a leader just as it gave up: it was frozen perhaps, but not cut off."""
        over = before.end.by + Timeout.ON_ITS_WAY.us
        return bool(self._reached.between(before.source, before.end.at, over))

    def _shown_awake(self, before: Tenure, lost: QuorumLoss, following: Following) -> bool:
        """Return True when a leader with a quiet log wrote a line while it was lost. A frozen leader leads on by its
        log for as long, and hears of the next one when it goes on: lines from then on prove nothing."""
        if before.source not in self._quiet:
            return True
        over, margin = (following.begin, 0) if self._majorities is None else (before.end, Timeout.ON_ITS_WAY.us)
        widest = self._group.clocks.widest
        near = self._lines.between(before.source, lost.latest.by - widest, over.at + widest)
        return any(self._elapsed(lost.latest, line)[0] > 0 and self._elapsed(line, over)[0] > margin for line in near)

    def _was_left(self, before: Tenure) -> bool:
        """Return True when a leader saw others close their connections: one that was frozen briefly sees that too."""
        return before.end.event_id in self._left

    def _over(self, fact: Unreached, lost: QuorumLoss, before: Tenure, following: Following) -> bool:
        """Return True when a broker reached no controller while its set's master was lost to them."""
        end = until(fact) or since(fact)
        begun = self._elapsed(since(fact), following.begin)[1] > 0
        return begun and self._elapsed(lost.earliest, end)[1] > 0 and self._elapsed(before.begin, end)[1] > 0


def who_toppled(group: Group, before: Tenure, raised: TermRaised, clock: str) -> str:
    """Return which member came with the larger term that ended a tenure, and since when it had no leader, as a
    sentence. The sender of the term may only pass it on: it comes from the member that asked for votes in it."""
    peer = raised.peer or ""
    rounds = [fact for fact in group.of(Candidacy) if fact.term is not None and before.term < fact.term <= raised.term]
    askers = {fact.node for fact in rounds if fact.term == raised.term and fact.node is not None} - {before.node}
    origin = askers.pop() if len(askers) == 1 else peer
    sources = {role.who: role.source_node for role in group.roles}
    sentence = f"{name_of(origin, sources.get(origin, origin))} came with {clock} {raised.term}"
    if origin != peer:
        sentence += f", by way of {name_of(peer, sources.get(peer, peer))}"
    at_work = [role for role in group.roles if role.who == origin and _with_leader(role)]
    ends = [(end, role) for role in at_work if (end := until(role)) is not None]
    last, role = max(
        ((end, role) for end, role in ends if group.clocks.surely_before(end, before.end)),
        key=lambda pair: pair[0],
        default=(None, None),
    )
    alone = last is not None and role is not None and role.role == FOLLOWER
    if last is not None and alone:
        sentence += f"; it had followed nobody for {between(*group.clocks.elapsed(last, before.end))}"
    asked = sorted({fact.term for fact in rounds if fact.node == origin and fact.term is not None})
    if asked:
        terms = f"{clock} {asked[0]}" if len(asked) == 1 else f"{clock}s {asked[0]} to {asked[-1]}"
        sentence += f"{' and' if alone else '; it'} had asked for votes in {terms}"
    return sentence


def _with_leader(role: Role) -> bool:
    """Return True when a member has a leader in a role, including itself."""
    return role.role == LEADER or (role.role == FOLLOWER and role.leader is not None)


def with_former(group: Group, rows: Iterator[Term]) -> Iterator[Term]:
    """Yield the rows of a group's terms, each with its former leader and the state of that leader."""
    every = list(rows)
    led = sorted((row for row in every if row.leader is not None), key=lambda row: (row.term, row.start_time))
    in_turn = sorted(group.tenures, key=lambda tenure: tenure.begin)
    last, first_of = {(t.node, t.term): t for t in in_turn}, {(t.node, t.term): t for t in reversed(in_turn)}
    fates, before = group.once(Fates), {id(row): row_before for row_before, row in pairwise(led)}
    for row in every:
        old = before.get(id(row))
        if old is None:
            yield row
            continue
        tenure, begun = last.get((old.leader or "", old.term)), first_of.get((row.leader or "", row.term))
        standing = Standing.UNKNOWN
        if tenure is not None:
            begin = Moment(row.start_time, row.start_time, tenure.source) if begun is None else begun.begin
            standing = fates.standing(tenure, Following(row.leader or "", row.term, begin))
            doubtful = standing in (Standing.CUT_OFF, Standing.UNKNOWN)
            if doubtful and row.cause in AT_REQUEST and fates.led_on(tenure, begin):
                standing = Standing.NOT_TOLD
        yield replace(row, former_leader=old.leader, former_leader_state=standing)
