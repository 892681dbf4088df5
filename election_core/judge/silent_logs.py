"""Logs that say nothing as long as nothing happens: etcd, ZooKeeper, canonical events.

In a log with periodic lines the last line is the last sign of life, and a hole in it is news. In a quiet one neither
is: a healthy leader may print nothing for days. What happened to its process is then known from the others, who say
when they lost contact with it. :func:`completed` puts that into the facts of a group, so that the rules need not know
which logs are quiet:

- a process that died (a later start proves it) was alive until the others lost contact with it;
- a log that simply ends goes on to the end of its group's logs, unless somebody lost contact and never had it again,
  the leader that wrote it was replaced, or the others list their voters without its member;
- a hole in a log counts only where another leader was elected during it, or where a majority had left the leader that
  wrote it for longer than it could have led on without a word, or where the process itself noticed that it had not run;
  a short one that it noticed counts where another leader was elected in it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from operator import attrgetter
from typing import NamedTuple

from election_replay.election_core.fold.process_runs import SILENCE
from election_replay.election_core.fold.roles import DIED, DOWN, FOLLOWER, LEADER
from election_replay.election_core.judge.by_time import ByTime
from election_replay.election_core.judge.clock import UNBOUNDED, Clocks, Moment
from election_replay.election_core.judge.electorate import Electorates
from election_replay.election_core.judge.timing import timing_of
from election_replay.election_core.model.facts import (
    Alive,
    ContactLost,
    Fact,
    LastHeard,
    QuietLog,
    QuorumLost,
    Role,
    SettingPrinted,
    Silence,
    VotersStated,
)
from election_replay.election_core.model.timing import Timeout, Timing

_MAX_TIME_WITHOUT_QUORUM: Mapping[str, Mapping[Timeout, int]] = {
    "raft": {Timeout.ETCD_ELECTION: 2, Timeout.ON_ITS_WAY: 1},
    "kraft": {Timeout.KRAFT_FETCH: 2, Timeout.ON_ITS_WAY: 1},
    "partition": {Timeout.KAFKA_SESSION: 1, Timeout.ON_ITS_WAY: 1},
    "zab": {Timeout.ZK_SYNC_LIMIT: 1, Timeout.ZK_TICK: 2, Timeout.ON_ITS_WAY: 1},
}
"""For how long a leader that runs leads on without a majority before it says that it gives up: CheckQuorum looks once
an election time-out, and ZooKeeper's leader at every tick for who was silent for syncLimit ticks."""
_CHECK_QUORUM_OPTIONAL = frozenset({"raft"})
"""Protocols in which only some leaders give up without a majority: those of a group of which one has done so, since
``CheckQuorum`` is the same for all members; and etcd's from 3.0 on (``raftConfig`` in ``etcdserver/bootstrap.go``)."""
_SAYS_ETCD = Timeout.ETCD_ELECTION.value.settings[0]
"""A setting that etcd prints as it starts, and no other program on its library does."""


Loss = ContactLost | LastHeard


@dataclass(frozen=True, slots=True)
class LastSign:
    """The last sign of life of a process, on its own clock: alive at ``at``, and dead at ``by`` where that is known.

    One that goes on to the end of all logs lived to ``latest`` at the latest, by all that is known of the clocks.
    """

    at: int
    by: int | None = None
    latest: int = 0


@dataclass(frozen=True, slots=True, order=True)
class ProcessRun:
    """One life of a process whose end nobody printed: its first line, and its last one in ``[last, last_by]``."""

    first: int
    last: int
    last_by: int


def extend_liveness(facts: Iterable[Fact], clocks: Clocks, electorates: Electorates) -> list[Fact]:
    """The facts of a group, with what is known of the processes whose logs are quiet."""
    every = list(facts)
    quiet_sources = sorted({fact.source_node for fact in every if isinstance(fact, QuietLog)})
    if not quiet_sources:
        return every
    moved = {source: _LastSigns.of(_last_signs(every, source, clocks)) for source in quiet_sources}
    holes = _Holes(every, clocks, electorates)
    known = (holes.frozen(fact) if isinstance(fact, Silence) and fact.source_node in moved else fact for fact in every)
    return [_moved(fact, moved[fact.source_node]) if fact.source_node in moved else fact for fact in known if fact]


def _leaderships(every: Iterable[Fact]) -> list[tuple[Role, int]]:
    """The roles of leaders, each with its term."""
    return [
        (fact, fact.term) for fact in every if isinstance(fact, Role) and fact.role == LEADER and fact.term is not None
    ]


def _last_signs(every: Sequence[Fact], source: str, clocks: Clocks) -> Iterator[tuple[ProcessRun, LastSign]]:
    """For each life of a process whose end nobody printed: its last line, and the later last sign of life."""
    led, heard = _leaderships(every), _Heard.of(every, source)
    names = {fact.node for fact in every if fact.source_node == source and isinstance(fact, Role)}
    losses = _losses_of(every, names, source)
    distinct = {(_life(fact), fact.stopped) for fact in _alive(every) if fact.source_node == source}
    in_order = sorted(distinct)
    starts = _Starts.of(every, source, names)
    for number, (life, stopped) in enumerate(in_order):
        last_line = life.last
        again = starts.again(life)
        following = in_order[number + 1][0].first if number + 1 < len(in_order) else again
        if stopped:
            continue
        sign = _last_sign(losses, source, last_line, following, clocks)
        if sign is None and following is None:
            sign = _end_of(every, source, clocks)
            removed = _removed(every, names, source, last_line, clocks)
            if sign is not None and removed is not None and removed < sign.at:
                sign = LastSign(removed)
        replaced = _replaced(led, heard, life, clocks)
        if sign is not None and replaced is not None:
            sign = replace(sign, at=min(sign.at, replaced))
        followed = [at for at in heard.followed(life, clocks) if at > last_line]
        if sign is not None and followed:
            sign = replace(sign, at=min(max(sign.at, *followed), sign.by or UNBOUNDED, following or UNBOUNDED))
        if sign is not None and (sign.at > last_line or sign.by is not None or sign.latest > life.last_by):
            yield life, replace(sign, at=max(sign.at, last_line))


class _Starts(NamedTuple):
    """When processes of a source, and of its members in other places, started; microseconds, in order.

    ``downs`` are the times between two processes of the source.
    """

    downs: list[tuple[int, int]]
    elsewhere: list[int]

    @classmethod
    def of(cls, every: Iterable[Fact], source: str, names: Set[str | None]) -> "_Starts":
        """What the roles of all members say of it."""
        roles = [fact for fact in every if isinstance(fact, Role)]
        mine = (role for role in roles if role.role == DOWN and role.source_node == source)
        others = (role for role in roles if role.source_node != source and role.node in names)
        return cls(
            sorted((role.since, role.until) for role in mine if role.until is not None),
            sorted(role.since for role in others if role.cause == "start"),
        )

    def again(self, life: ProcessRun) -> int | None:
        """When the process of a life started again as a member of another group: restored, or given to another cluster;
        or when the log of the same member goes on in another place with a start."""
        begin = bisect_left(self.downs, (life.last,))
        end = bisect_left(self.downs, (max(life.last_by, life.last + 1),))
        later = bisect_right(self.elsewhere, life.last_by)
        return min((*(until for _, until in self.downs[begin:end]), *self.elsewhere[later : later + 1]), default=None)


class _Losses(NamedTuple):
    """What one log says of losing a process, in order, and how wide the widest of these moments is, in microseconds."""

    every: Sequence[Loss]
    widest: int


def _losses_of(every: Iterable[Fact], names: Set[str | None], source: str) -> list[_Losses]:
    """What others say of losing a process, by their logs."""
    found: dict[str, list[Loss]] = {}
    for fact in every:
        if isinstance(fact, Loss) and fact.node in names and fact.source_node != source:
            found.setdefault(fact.source_node, []).append(fact)
    return [
        _Losses(sorted(of_log, key=attrgetter("since", "since_by")), max(loss.since_by - loss.since for loss in of_log))
        for of_log in found.values()
    ]


def _life(alive: Alive) -> ProcessRun:
    if alive.until is None or alive.until_by is None:
        return ProcessRun(alive.since, alive.since, alive.since_by)
    return ProcessRun(alive.since, alive.until, alive.until_by)


def _last_sign(
    losses: Iterable[_Losses], source: str, last_line: int, following: int | None, clocks: Clocks
) -> LastSign | None:
    """When the others lost contact with a process after its last line, or the last time if it came back.

    Contact that was lost and found again before the next start was no death; what is lost after it was found again
    later is the next life. A connection that the other side closed (``closed``), and that never came back, was closed
    by its death: whoever seems to have heard of it later did not run meanwhile, since it counts the time without a
    leader by its own ticks.
    """
    last_of: dict[str, tuple[int, int]] = {}
    closed: list[int] = []
    near = chain.from_iterable(_near(of_log, source, last_line, following, clocks) for of_log in losses)
    for fact in _of_this_life(near, following):
        earliest, latest = _on_clock_of(source, fact, clocks)
        if (
            earliest is None
            or latest is None
            or latest <= last_line
            or (following is not None and _perhaps_of_the_next_life(source, fact, following, clocks))
        ):
            continue
        last_of[fact.source_node] = max(last_of.get(fact.source_node, (earliest, latest)), (earliest, latest))
        if isinstance(fact, ContactLost) and fact.closed:
            closed.append(latest)
    if not last_of:
        return None
    begins = [earliest for earliest, _ in last_of.values()]
    if following is None:
        return LastSign(max(begins))  # who lost it before was only cut off
    by = min(*closed, following) if closed else following
    return LastSign(max((earliest for earliest in begins if earliest <= by), default=by), by)


def _perhaps_of_the_next_life(source: str, loss: Loss, following: int, clocks: Clocks) -> bool:
    """Whether what others heard of a process last, before they lost it, may have come after its next start, or a
    connection that the other side closed was surely closed after it."""
    _, heard_by = clocks.shown_by(source, Moment(loss.since, loss.since, loss.source_node))
    closed_at, _ = clocks.shown_by(source, Moment(loss.since_by, loss.since_by, loss.source_node))
    closed = isinstance(loss, ContactLost) and loss.closed and closed_at is not None
    return heard_by is None or heard_by >= following or (closed and (closed_at or 0) >= following)


def _near(of_log: _Losses, source: str, last_line: int, following: int | None, clocks: Clocks) -> Sequence[Loss]:
    """The losses of one log that may lie between the last line of a process and its next start: all of them where a
    clock was set."""
    losses = of_log.every
    if not (clocks.never_set(source) and clocks.never_set(losses[0].source_node)):
        return losses

    def shown(loss: Loss) -> int:
        at, _ = _on_clock_of(source, loss, clocks)
        return -UNBOUNDED if at is None else at

    # In the order in which they begin; a wide one may end behind those after it.
    first = bisect_right(losses, last_line - of_log.widest - 2 * clocks.widest, key=shown)
    if following is None:
        return losses[first:]
    return losses[first : bisect_left(losses, following, key=shown)]


def _of_this_life(losses: Iterable[Loss], following: int | None) -> Iterator[Loss]:
    """The losses after which a process was not heard of again before its next start, and that are not of that one;
    ``losses`` are in the order of each log."""
    found_again: dict[str, int] = {}
    for fact in losses:
        lasting = fact.until is None or (following is not None and fact.until >= following)
        if lasting and fact.since < found_again.get(fact.source_node, UNBOUNDED):
            if fact.until is not None:
                found_again[fact.source_node] = fact.until
            yield fact


def _replaced(led: Sequence[tuple[Role, int]], heard: "_Heard", life: ProcessRun, clocks: Clocks) -> int | None:
    """When, at the earliest on its own clock, a leader was replaced after its last line: it need not have led on."""
    source = heard.source
    open_ended = [
        (role, term)
        for role, term in led
        if role.source_node == source and role.end_cause in (None, DIED) and role.since <= life.last_by
    ]
    if not open_ended:
        return None
    last = max(term for _, term in open_ended)
    since = min(role.since for role, term in open_ended if term == last)
    begins = [_on_clock_of(source, role, clocks) for role, term in led if role.source_node != source and term > last]
    replaced = min((at for at, by in begins if at is not None and by is not None and by > life.last), default=None)
    if replaced is None:
        return None
    followed_after = any(at > replaced for at in heard.followed(replace(life, first=since), clocks))
    return None if followed_after else replaced


@dataclass(frozen=True, slots=True)
class _Heard:
    """What one log's process led, and who followed it: its followers had just heard of it when they began."""

    source: str
    leading: Sequence[Role]
    followers: Mapping[tuple[str | None, int | None], Sequence[Role]]

    @classmethod
    def of(cls, every: Iterable[Fact], source: str) -> "_Heard":
        """What the facts of a group say of the process that wrote the log ``source``."""
        roles = [fact for fact in every if isinstance(fact, Role) and fact.term is not None]
        followers: dict[tuple[str | None, int | None], list[Role]] = {}
        for role in roles:
            if role.role == FOLLOWER and role.source_node != source:
                followers.setdefault((role.leader, role.term), []).append(role)
        return cls(source, [f for f in roles if f.role == LEADER and f.source_node == source], followers)

    def followed(self, life: ProcessRun, clocks: Clocks) -> list[int]:
        """When others began to follow what the process led in a time; on its clock, at the earliest."""
        led = {(role.node, role.term) for role in self.leading if life.first <= role.since <= life.last_by}
        of_led = (role for term in led for role in self.followers.get(term, ()))
        return [at for at, _ in (_on_clock_of(self.source, role, clocks) for role in of_led) if at is not None]


def _on_clock_of(source: str, fact: Fact, clocks: Clocks) -> tuple[int | None, int | None]:
    """The earliest and latest reading of a process's clock when something was noticed on another machine."""
    return clocks.shown_by(source, Moment(fact.since, fact.since_by, fact.source_node))


def _alive(every: Iterable[Fact]) -> Iterator[Alive]:
    return (fact for fact in every if isinstance(fact, Alive))


def _end_of(every: Iterable[Fact], source: str, clocks: Clocks) -> LastSign | None:
    """The end of the group's logs, on one machine's clock."""
    seen = (Moment(fact.until, fact.until, fact.source_node) for fact in _alive(every) if fact.until is not None)
    shown = (clocks.shown_by(source, sign) for sign in seen)
    ends = [(at, by) for at, by in shown if at is not None]
    if not ends:
        return None
    return LastSign(max(at for at, _ in ends), latest=max((by for _, by in ends if by is not None), default=0))


class _LastSigns(NamedTuple):
    """The lives of a process of which others heard later, in their order, each with its last sign."""

    runs: Sequence[ProcessRun]
    signs: Mapping[ProcessRun, LastSign]

    @classmethod
    def of(cls, signs: Iterable[tuple[ProcessRun, LastSign]]) -> "_LastSigns":
        """Put the lives in order."""
        by_life = dict(signs)
        return cls(sorted(by_life, key=attrgetter("last")), by_life)

    def after(self, end: int) -> LastSign:
        """The last sign of a life whose last role ended at ``end``: at its last line, as wide as that is."""
        number = bisect_right(self.runs, end, key=attrgetter("last"))
        life = self.runs[number - 1] if number else None
        return self.signs[life] if life is not None and end < max(life.last_by, life.last + 1) else LastSign(end)


def _removed(every: Iterable[Fact], names: Set[str | None], source: str, last_line: int, clocks: Clocks) -> int | None:
    """When, at the earliest on its own clock, voters were listed without a member whose log has ended; ``None``: never,
    or not by all who list them last."""
    lists: dict[str, list[VotersStated]] = {}
    for fact in every:
        if isinstance(fact, VotersStated) and fact.voters and fact.source_node != source:
            lists.setdefault(fact.source_node, []).append(fact)
    begins = list[int]()
    for of_log in lists.values():
        in_order = sorted(of_log, key=lambda stated: (stated.since, stated.ordinal), reverse=True)
        without = [*takewhile(lambda stated: not names & _listed_in(stated), in_order)]
        begin = _on_clock_of(source, without[-1], clocks)[0] if without else None
        if begin is None:
            return None
        begins.append(begin)
    return min((begin for begin in begins if begin > last_line), default=None)


def _listed_in(stated: VotersStated) -> frozenset[str]:
    return frozenset((*(stated.voters or ()), *(stated.voters_before or ()), *(stated.learners or ())))


def _moved(fact: Fact, last_signs: _LastSigns) -> Fact:
    """A fact that ended, or began, with the last line of a process whose last sign of life came later."""
    if isinstance(fact, Alive):
        life = _life(fact)
        sign = None if fact.stopped else last_signs.signs.get(life)
        if sign is None:
            return fact
        return replace(fact, until=sign.at, until_by=max(sign.at + life.last_by - life.last, sign.latest))
    if not isinstance(fact, Role) or DIED not in (fact.end_cause, fact.cause):
        return fact
    if fact.role == DOWN:
        sign = last_signs.after(fact.since)
        since = max(sign.at, fact.since)
        return replace(fact, since=since, since_by=max(since, sign.by or fact.since_by))
    if fact.end_cause != DIED or fact.until is None:
        return fact
    sign = last_signs.after(fact.until)
    until = max(sign.at, fact.until)
    return replace(fact, until=until, until_by=max(until, sign.by or fact.until_by or until))


class _Leadership(NamedTuple):
    """A leadership, before there are tenures."""

    node: str
    source: str
    term: int
    begin: Moment
    end: Moment


class _Holes:
    """The holes in the quiet logs of a group."""

    def __init__(self, every: Sequence[Fact], clocks: Clocks, electorates: Electorates) -> None:
        self._clocks, self._electorates = clocks, electorates
        self._timing = timing_of(every)
        led = _leaderships(every)
        self._led_of = ByTime((role.source_node, _lasts(role), (role, term)) for role, term in led)
        self._led = ByTime(("", _begin(role), (role, term)) for role, term in led)
        self._give_up = any(
            isinstance(fact, QuorumLost) or (isinstance(fact, SettingPrinted) and fact.name == _SAYS_ETCD)
            for fact in every
        )
        noticed = (fact for fact in every if isinstance(fact, Silence) and fact.noticed)
        self._noticed = ByTime((fact.source_node, _begin(fact), fact) for fact in noticed)
        following = (fact for fact in every if isinstance(fact, Role) and fact.role == FOLLOWER)
        self._following: dict[tuple[str | None, int | None], list[Role]] = {}
        for role in sorted(following, key=lambda role: (role.since, role.ordinal)):
            self._following.setdefault((role.leader, role.term), []).append(role)

    def frozen(self, hole: Silence) -> Silence | None:
        """The part of a hole in which its process did not run, as far as that shows; what it noticed itself tells it
        better."""
        others = self._noticed.between(hole.source_node, hole.since - 1, hole.until or UNBOUNDED)
        if not hole.noticed and any(_begins_in(other, hole) for other in others):
            return None
        if hole.noticed and hole.until is not None and hole.until - hole.since >= SILENCE:
            return hole
        if not hole.noticed and hole.protocol in _CHECK_QUORUM_OPTIONAL and not self._give_up:
            return None
        over = hole.until is not None and hole.until_by is not None
        end, widest = _after(hole), self._clocks.widest
        lasting = end.at - end.width - 1 if over else -UNBOUNDED
        leaderships = self._led_of.between(hole.source_node, lasting, hole.since_by)
        led = [(role, term) for role, term in leaderships if _within(hole, role)]
        if not led:
            return None
        role, term = max(led, key=lambda pair: pair[1])
        near = self._led.between("", hole.since - widest, end.by + widest)
        later = [other for other, number in near if other.source_node != hole.source_node and number > term]
        if hole.noticed:
            return hole if any(_may_begin_in(other, hole, self._clocks) for other in later) else None
        ends = [_begin(other) for other in later if _during(other, hole, self._clocks)]
        left = self._left_long_before_its_end(hole, role)
        return self._since(hole, [*ends, *([left] if left is not None else [])])

    def _since(self, hole: Silence, ends: Sequence[Moment]) -> Silence | None:
        """The hole from the first of these moments on, by which a process had not run for as long as others wait."""
        shown = [self._clocks.shown_by(hole.source_node, moment) for moment in ends]
        known = [(at, by) for at, by in shown if at is not None and by is not None]
        limit = leads_on(hole.protocol, self._timing)
        if not ends or limit is None or not known:
            return hole if ends else None
        since = max(hole.since, min(known)[0] - limit)
        return replace(
            hole, since=since, since_by=max(hole.since_by, min(since + hole.since_by - hole.since, min(known)[1]))
        )

    def _left_long_before_its_end(self, hole: Silence, led: Role) -> Moment | None:
        """When a majority had left a leader, if that was surely so long before its log went on that it would have said
        so."""
        limit = leads_on(hole.protocol, self._timing)
        if limit is None or hole.until is None or hole.until_by is None:
            return None
        end = Moment(hole.until, hole.until_by, hole.source_node)
        others = self._following.get((led.node, led.term), [])
        last = {role.source_node: role for role in others if role.source_node != hole.source_node}
        ends = [
            (Moment(role.until, role.until_by, role.source_node), role.who)
            for role in last.values()
            if role.until is not None and role.until_by is not None
        ]
        gone = [left for left in ends if self._clocks.elapsed(left[0], end)[0] > limit]
        gone.sort(key=lambda left: -self._clocks.elapsed(left[0], end)[0])
        leadership = _Leadership(led.who, led.source_node, led.term or 0, _begin(led), end)
        names = set[str]()
        for moment, name in gone:
            names.add(name)
            if self._electorates.lost(leadership, moment, names):
                return moment
        return None


def leads_on(protocol: str, timing: Timing) -> int | None:
    """For how long, in microseconds, a leader that runs leads on without a majority; ``None``: nobody knows."""
    limits = _MAX_TIME_WITHOUT_QUORUM.get(protocol)
    return None if limits is None else sum(times * timing.us(each) for each, times in limits.items())


def _begin(fact: Fact) -> Moment:
    return Moment(fact.since, fact.since_by, fact.source_node)


def _after(hole: Silence) -> Moment:
    return Moment(hole.until or hole.since, hole.until_by or hole.since_by, hole.source_node)


def _lasts(role: Role) -> Moment:
    """From the beginning of a role to the first line behind it."""
    return Moment(role.since, UNBOUNDED if role.until_by is None else role.until or UNBOUNDED, role.source_node)


def _may_begin_in(role: Role, hole: Silence, clocks: Clocks) -> bool:
    """Whether a role may have begun while a process did not run."""
    begin, before, after = _begin(role), _begin(hole), _after(hole)
    return clocks.elapsed(before, begin)[1] > 0 and clocks.elapsed(begin, after)[1] > 0


def _begins_in(inner: Fact, outer: Fact) -> bool:
    """Whether one span of one log begins inside of another."""
    return outer.since <= inner.since_by and (outer.until is None or inner.since < outer.until)


def _within(inner: Fact, outer: Fact) -> bool:
    """Whether one span of one log lies inside of another, give or take the width of a stamp."""
    begins = outer.since <= inner.since_by
    if inner.until is None or inner.until_by is None or outer.until is None:
        return begins
    return begins and inner.until - (inner.until_by - inner.until) <= outer.until


def _during(role: Role, hole: Silence, clocks: Clocks) -> bool:
    """Whether a role surely began while another log was silent, and that log stayed so."""
    begin, before, after = _begin(role), _begin(hole), _after(hole)
    return clocks.elapsed(before, begin)[0] > 0 and clocks.elapsed(begin, after)[0] > Timeout.FROZEN.us
