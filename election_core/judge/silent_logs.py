"""Quiet logs, which say nothing as long as nothing happens: etcd, ZooKeeper, canonical events.

In a log with periodic lines the last line is the last sign of life, and a gap means that the process stood still. In a
quiet log neither holds: a healthy leader may print nothing for days. What happened to its process is then known from
other members, which log when they lost contact with it. :func:`extend_liveness` puts that into the facts of a group, so
that the rules need not know which logs are quiet:

- a process that died (a later start proves it) was alive until the others lost contact with it;
- a log that simply ends goes on to the end of its group's logs, unless a member lost contact for good, the leader that
  wrote it was replaced, or the others list their voters without its member;
- a gap counts only where another leader was elected during it, where a majority had left its leader for longer than a
  leader can lead on without a word, or where the process itself noticed that it had not run; a short gap that it
  noticed counts where another leader was elected in it.
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
"""How long a running leader leads without a majority before it logs that it gives up: multiples of time-outs. Raft's
CheckQuorum looks once an election time-out; ZooKeeper's leader looks at every tick for members that were silent for
syncLimit ticks."""
_CHECK_QUORUM_OPTIONAL = frozenset({"raft"})
"""Protocols in which not all leaders give up without a majority: only those of a group in which one has done so, since
``CheckQuorum`` is the same for all members, and etcd's from 3.0 on (``raftConfig`` in ``etcdserver/bootstrap.go``)."""
_ETCD_SETTING = Timeout.ETCD_ELECTION.value.settings[0]
"""A setting that etcd prints at its start; no other program on its library prints it."""


Loss = ContactLost | LastHeard


@dataclass(frozen=True, slots=True)
class LastSign:
    """The last sign of life of a process in us on its own clock: alive at ``at``, dead at ``by`` where that is known.
    ``latest`` is the latest end of all logs on that clock, for a process that goes on to it."""

    at: int
    by: int | None = None
    latest: int = 0


@dataclass(frozen=True, slots=True, order=True)
class ProcessRun:
    """One run of a process without a line about its end: its first line, its last one in ``[last, last_by]`` (us)."""

    first: int
    last: int
    last_by: int


def extend_liveness(facts: Iterable[Fact], clocks: Clocks, electorates: Electorates) -> list[Fact]:
    """Return the facts of a group with the ends and gaps of quiet logs replaced by what other members know of them."""
    every = list(facts)
    quiet_sources = sorted({fact.source_node for fact in every if isinstance(fact, QuietLog)})
    if not quiet_sources:
        return every
    last_signs = {source: _LastSigns.of(_last_signs(every, source, clocks)) for source in quiet_sources}
    gaps = _QuietGaps(every, clocks, electorates)
    known = (
        gaps.frozen(fact) if isinstance(fact, Silence) and fact.source_node in last_signs else fact for fact in every
    )
    return [
        _extended(fact, last_signs[fact.source_node]) if fact.source_node in last_signs else fact
        for fact in known
        if fact
    ]


def _leaderships(every: Iterable[Fact]) -> list[tuple[Role, int]]:
    """Return the roles of leaders with their terms."""
    return [
        (fact, fact.term) for fact in every if isinstance(fact, Role) and fact.role == LEADER and fact.term is not None
    ]


def _last_signs(every: Sequence[Fact], source: str, clocks: Clocks) -> Iterator[tuple[ProcessRun, LastSign]]:
    """Yield each run of a process that has no line about its end, with a last sign of life later than its last line."""
    led, heard = _leaderships(every), _Heard.of(every, source)
    names = {fact.node for fact in every if fact.source_node == source and isinstance(fact, Role)}
    losses = _losses_of(every, names, source)
    distinct = {(_run_of(fact), fact.stopped) for fact in _alive(every) if fact.source_node == source}
    in_order = sorted(distinct)
    starts = _Starts.of(every, source, names)
    for number, (run, stopped) in enumerate(in_order):
        last_line = run.last
        again = starts.again(run)
        following = in_order[number + 1][0].first if number + 1 < len(in_order) else again
        if stopped:
            continue
        sign = _last_sign(losses, source, last_line, following, clocks)
        if sign is None and following is None:
            sign = _end_of(every, source, clocks)
            removed = _removed_at(every, names, source, last_line, clocks)
            if sign is not None and removed is not None and removed < sign.at:
                sign = LastSign(removed)
        replaced = _replaced_at(led, heard, run, clocks)
        if sign is not None and replaced is not None:
            sign = replace(sign, at=min(sign.at, replaced))
        # Whoever begins to follow later than the next start follows the next run, perhaps in the same term.
        followed = [at for at in heard.followed(run, clocks) if last_line < at < (following or UNBOUNDED)]
        if sign is not None and followed:
            sign = replace(sign, at=min(max(sign.at, *followed), sign.by or UNBOUNDED))
        if sign is not None and (sign.at > last_line or sign.by is not None or sign.latest > run.last_by):
            yield run, replace(sign, at=max(sign.at, last_line))


class _Starts(NamedTuple):
    """Starts of processes in us: ``downs`` are the times (begin, end) between two processes of the source,
    ``elsewhere`` the starts of the same members in the logs of other sources."""

    downs: list[tuple[int, int]]
    elsewhere: list[int]

    @classmethod
    def of(cls, every: Iterable[Fact], source: str, names: Set[str | None]) -> "_Starts":
        """Return the starts that the roles of all members show."""
        roles = [fact for fact in every if isinstance(fact, Role)]
        mine = (role for role in roles if role.role == DOWN and role.source_node == source)
        others = (role for role in roles if role.source_node != source and role.node in names)
        return cls(
            sorted((role.since, role.until) for role in mine if role.until is not None),
            sorted(role.since for role in others if role.cause == "start"),
        )

    def again(self, run: ProcessRun) -> int | None:
        """Return when the run's process started again in another group, or in another source's log; or ``None``."""
        begin = bisect_left(self.downs, (run.last,))
        end = bisect_left(self.downs, (max(run.last_by, run.last + 1),))
        later = bisect_right(self.elsewhere, run.last_by)
        return min((*(until for _, until in self.downs[begin:end]), *self.elsewhere[later : later + 1]), default=None)


class _Losses(NamedTuple):
    """What one log says of losing a process, in order, and the widest of these moments in us."""

    every: Sequence[Loss]
    widest: int


def _losses_of(every: Iterable[Fact], names: Set[str | None], source: str) -> list[_Losses]:
    """Return what each other log says of losing a process."""
    found: dict[str, list[Loss]] = {}
    for fact in every:
        if isinstance(fact, Loss) and fact.node in names and fact.source_node != source:
            found.setdefault(fact.source_node, []).append(fact)
    return [
        _Losses(sorted(of_log, key=attrgetter("since", "since_by")), max(loss.since_by - loss.since for loss in of_log))
        for of_log in found.values()
    ]


def _run_of(alive: Alive) -> ProcessRun:
    """Return the run that an ``Alive`` fact describes."""
    if alive.until is None or alive.until_by is None:
        return ProcessRun(alive.since, alive.since, alive.since_by)
    return ProcessRun(alive.since, alive.until, alive.until_by)


def _last_sign(
    losses: Iterable[_Losses], source: str, last_line: int, following: int | None, clocks: Clocks
) -> LastSign | None:
    """Return the last sign of life of a process after its last line, by other members that lost contact; else ``None``.

    Contact that was found again before the next start was no death; contact lost after that belongs to the next run. A
    connection that the other side closed, and that never came back, was closed by the process's death. A peer that
    reports later contact was itself frozen: it counts ticks, not time.
    """
    last_of: dict[str, tuple[int, int]] = {}
    closed: list[int] = []
    near = chain.from_iterable(_possible_losses(of_log, source, last_line, following, clocks) for of_log in losses)
    for fact in _of_this_run(near, following):
        earliest, latest = _on_clock_of(source, fact, clocks)
        if (
            earliest is None
            or latest is None
            or latest <= last_line
            or (following is not None and _may_be_of_next_run(source, fact, following, clocks))
        ):
            continue
        last_of[fact.source_node] = max(last_of.get(fact.source_node, (earliest, latest)), (earliest, latest))
        if isinstance(fact, ContactLost) and fact.closed:
            closed.append(latest)
    if not last_of:
        return None
    begins = [earliest for earliest, _ in last_of.values()]
    if following is None:
        return LastSign(max(begins))  # a peer that lost it before was only cut off
    by = min(*closed, following) if closed else following
    return LastSign(max((earliest for earliest in begins if earliest <= by), default=by), by)


def _may_be_of_next_run(source: str, loss: Loss, following: int, clocks: Clocks) -> bool:
    """Return True when a peer's last contact may be later than the next start, or its closed connection surely is."""
    _, heard_by = clocks.shown_by(source, Moment(loss.since, loss.since, loss.source_node))
    closed_at, _ = clocks.shown_by(source, Moment(loss.since_by, loss.since_by, loss.source_node))
    closed = isinstance(loss, ContactLost) and loss.closed and closed_at is not None
    return heard_by is None or heard_by >= following or (closed and (closed_at or 0) >= following)


def _possible_losses(
    of_log: _Losses, source: str, last_line: int, following: int | None, clocks: Clocks
) -> Sequence[Loss]:
    """Return one log's losses between a process's last line and its next start; all if a clock was set."""
    losses = of_log.every
    if not (clocks.never_set(source) and clocks.never_set(losses[0].source_node)):
        return losses

    def shown(loss: Loss) -> int:
        at, _ = _on_clock_of(source, loss, clocks)
        return -UNBOUNDED if at is None else at

    # Losses are in the order in which they begin; a wide one may end behind those after it.
    first = bisect_right(losses, last_line - of_log.widest - 2 * clocks.widest, key=shown)
    if following is None:
        return losses[first:]
    return losses[first : bisect_left(losses, following, key=shown)]


def _of_this_run(losses: Iterable[Loss], following: int | None) -> Iterator[Loss]:
    """Yield the losses after which a process was not heard of again before its next start; ``losses`` in log order."""
    found_again: dict[str, int] = {}
    for fact in losses:
        lasting = fact.until is None or (following is not None and fact.until >= following)
        if lasting and fact.since < found_again.get(fact.source_node, UNBOUNDED):
            if fact.until is not None:
                found_again[fact.source_node] = fact.until
            yield fact


def _replaced_at(led: Sequence[tuple[Role, int]], heard: "_Heard", run: ProcessRun, clocks: Clocks) -> int | None:
    """Return the earliest time in us, on its own clock, at which a leader was replaced; ``None``: it was not."""
    source = heard.source
    open_ended = [
        (role, term)
        for role, term in led
        if role.source_node == source and role.end_cause in (None, DIED) and role.since <= run.last_by
    ]
    if not open_ended:
        return None
    last = max(term for _, term in open_ended)
    since = min(role.since for role, term in open_ended if term == last)
    begins = [_on_clock_of(source, role, clocks) for role, term in led if role.source_node != source and term > last]
    replaced = min((at for at, by in begins if at is not None and by is not None and by > run.last), default=None)
    if replaced is None:
        return None
    followed_after = any(at > replaced for at in heard.followed(replace(run, first=since), clocks))
    return None if followed_after else replaced


@dataclass(frozen=True, slots=True)
class _Heard:
    """The leaderships of one process, and the roles of their followers, who had just heard of it when they began."""

    source: str
    leading: Sequence[Role]
    followers: Mapping[tuple[str | None, int | None], Sequence[Role]]

    @classmethod
    def of(cls, every: Iterable[Fact], source: str) -> "_Heard":
        """Return what the facts of a group say of the process that wrote the log ``source``."""
        roles = [fact for fact in every if isinstance(fact, Role) and fact.term is not None]
        followers: dict[tuple[str | None, int | None], list[Role]] = {}
        for role in roles:
            if role.role == FOLLOWER and role.source_node != source:
                followers.setdefault((role.leader, role.term), []).append(role)
        return cls(source, [f for f in roles if f.role == LEADER and f.source_node == source], followers)

    def followed(self, run: ProcessRun, clocks: Clocks) -> list[int]:
        """Return the earliest times in us, on the process's clock, at which others began to follow it in a run."""
        led = {(role.node, role.term) for role in self.leading if run.first <= role.since <= run.last_by}
        of_led = (role for term in led for role in self.followers.get(term, ()))
        return [at for at, _ in (_on_clock_of(self.source, role, clocks) for role in of_led) if at is not None]


def _on_clock_of(source: str, fact: Fact, clocks: Clocks) -> tuple[int | None, int | None]:
    """Return the (earliest, latest) reading of the clock of ``source`` at the begin of another machine's fact."""
    return clocks.shown_by(source, Moment(fact.since, fact.since_by, fact.source_node))


def _alive(every: Iterable[Fact]) -> Iterator[Alive]:
    return (fact for fact in every if isinstance(fact, Alive))


def _end_of(every: Iterable[Fact], source: str, clocks: Clocks) -> LastSign | None:
    """Return the end of the group's logs on the clock of one source; ``None``: nothing bounds it."""
    seen = (Moment(fact.until, fact.until, fact.source_node) for fact in _alive(every) if fact.until is not None)
    shown = (clocks.shown_by(source, sign) for sign in seen)
    ends = [(at, by) for at, by in shown if at is not None]
    if not ends:
        return None
    return LastSign(max(at for at, _ in ends), latest=max((by for _, by in ends if by is not None), default=0))


class _LastSigns(NamedTuple):
    """Runs of a process, in order, with last signs of life that come later than its own lines."""

    runs: Sequence[ProcessRun]
    signs: Mapping[ProcessRun, LastSign]

    @classmethod
    def of(cls, signs: Iterable[tuple[ProcessRun, LastSign]]) -> "_LastSigns":
        """Return the runs in the order of their last lines."""
        by_run = dict(signs)
        return cls(sorted(by_run, key=attrgetter("last")), by_run)

    def after(self, end: int) -> LastSign:
        """Return the last sign of the run whose last role ended at ``end`` (us); ``end`` if no later one is known."""
        number = bisect_right(self.runs, end, key=attrgetter("last"))
        run = self.runs[number - 1] if number else None
        return self.signs[run] if run is not None and end < max(run.last_by, run.last + 1) else LastSign(end)


def _removed_at(
    every: Iterable[Fact], names: Set[str | None], source: str, last_line: int, clocks: Clocks
) -> int | None:
    """Return the earliest time in us, on its own clock, at which voters were listed without a member whose log has
    ended. ``None`` when that never happened, or when not all sources that list voters end with such a list."""
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


def _extended(fact: Fact, last_signs: _LastSigns) -> Fact:
    """Return a fact that ended, or began, with the last line of a process, moved to its last sign of life."""
    if isinstance(fact, Alive):
        run = _run_of(fact)
        sign = None if fact.stopped else last_signs.signs.get(run)
        if sign is None:
            return fact
        return replace(fact, until=sign.at, until_by=max(sign.at + run.last_by - run.last, sign.latest))
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
    """A leadership before tenures are built."""

    node: str
    source: str
    term: int
    begin: Moment
    end: Moment


class _QuietGaps:
    """The gaps in the quiet logs of a group."""

    def __init__(self, every: Sequence[Fact], clocks: Clocks, electorates: Electorates) -> None:
        self._clocks, self._electorates = clocks, electorates
        self._timing = timing_of(every)
        led = _leaderships(every)
        self._led_of = ByTime((role.source_node, _lasts(role), (role, term)) for role, term in led)
        self._led = ByTime(("", _begin(role), (role, term)) for role, term in led)
        self._checks_quorum = any(
            isinstance(fact, QuorumLost) or (isinstance(fact, SettingPrinted) and fact.name == _ETCD_SETTING)
            for fact in every
        )
        noticed = (fact for fact in every if isinstance(fact, Silence) and fact.noticed)
        self._noticed = ByTime((fact.source_node, _begin(fact), fact) for fact in noticed)
        following = (fact for fact in every if isinstance(fact, Role) and fact.role == FOLLOWER)
        self._following: dict[tuple[str | None, int | None], list[Role]] = {}
        for role in sorted(following, key=lambda role: (role.since, role.ordinal)):
            self._following.setdefault((role.leader, role.term), []).append(role)

    def frozen(self, gap: Silence) -> Silence | None:
        """Return the part of a gap in which its process did not run; ``None`` where nothing shows that it stood still.
        A gap is dropped where the process noticed a stall in it: the noticed one tells the time better."""
        others = self._noticed.between(gap.source_node, gap.since - 1, gap.until or UNBOUNDED)
        if not gap.noticed and any(_begins_in(other, gap) for other in others):
            return None
        if gap.noticed and gap.until is not None and gap.until - gap.since >= SILENCE:
            return gap
        if not gap.noticed and gap.protocol in _CHECK_QUORUM_OPTIONAL and not self._checks_quorum:
            return None
        over = gap.until is not None and gap.until_by is not None
        end, widest = _after(gap), self._clocks.widest
        lasting = end.at - end.width - 1 if over else -UNBOUNDED
        leaderships = self._led_of.between(gap.source_node, lasting, gap.since_by)
        led = [(role, term) for role, term in leaderships if _within(gap, role)]
        if not led:
            return None
        role, term = max(led, key=lambda pair: pair[1])
        near = self._led.between("", gap.since - widest, end.by + widest)
        later = [other for other, number in near if other.source_node != gap.source_node and number > term]
        if gap.noticed:
            return gap if any(_may_begin_in(other, gap, self._clocks) for other in later) else None
        ends = [_begin(other) for other in later if _during(other, gap, self._clocks)]
        left = self._majority_left_early(gap, role)
        return self._since(gap, [*ends, *([left] if left is not None else [])])

    def _since(self, gap: Silence, ends: Sequence[Moment]) -> Silence | None:
        """Return the gap from the first of ``ends`` on, less the time that a leader has without a majority."""
        shown = [self._clocks.shown_by(gap.source_node, moment) for moment in ends]
        known = [(at, by) for at, by in shown if at is not None and by is not None]
        limit = max_time_without_quorum(gap.protocol, self._timing)
        if not ends or limit is None or not known:
            return gap if ends else None
        since = max(gap.since, min(known)[0] - limit)
        return replace(
            gap, since=since, since_by=max(gap.since_by, min(since + gap.since_by - gap.since, min(known)[1]))
        )

    def _majority_left_early(self, gap: Silence, led: Role) -> Moment | None:
        """Return when a majority had left a leader, if so early that a running one would have logged it."""
        limit = max_time_without_quorum(gap.protocol, self._timing)
        if limit is None or gap.until is None or gap.until_by is None:
            return None
        end = Moment(gap.until, gap.until_by, gap.source_node)
        others = self._following.get((led.node, led.term), [])
        last = {role.source_node: role for role in others if role.source_node != gap.source_node}
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


def max_time_without_quorum(protocol: str, timing: Timing) -> int | None:
    """Return how long, in us, a running leader leads on without a majority; ``None``: unknown for this protocol."""
    limits = _MAX_TIME_WITHOUT_QUORUM.get(protocol)
    return None if limits is None else sum(times * timing.us(each) for each, times in limits.items())


def _begin(fact: Fact) -> Moment:
    return Moment(fact.since, fact.since_by, fact.source_node)


def _after(gap: Silence) -> Moment:
    return Moment(gap.until or gap.since, gap.until_by or gap.since_by, gap.source_node)


def _lasts(role: Role) -> Moment:
    """Return the interval from the beginning of a role to the first line behind it."""
    return Moment(role.since, UNBOUNDED if role.until_by is None else role.until or UNBOUNDED, role.source_node)


def _may_begin_in(role: Role, gap: Silence, clocks: Clocks) -> bool:
    """Return True when a role may have begun in a gap."""
    begin, before, after = _begin(role), _begin(gap), _after(gap)
    return clocks.elapsed(before, begin)[1] > 0 and clocks.elapsed(begin, after)[1] > 0


def _begins_in(inner: Fact, outer: Fact) -> bool:
    """Return True when a fact begins inside another fact of the same log."""
    return outer.since <= inner.since_by and (outer.until is None or inner.since < outer.until)


def _within(inner: Fact, outer: Fact) -> bool:
    """Return True when a fact lies inside another fact of the same log, but for the width of a stamp."""
    begins = outer.since <= inner.since_by
    if inner.until is None or inner.until_by is None or outer.until is None:
        return begins
    return begins and inner.until - (inner.until_by - inner.until) <= outer.until


def _during(role: Role, gap: Silence, clocks: Clocks) -> bool:
    """Return True when a role surely began in a gap, and the gap lasted on for longer than ``FROZEN``."""
    begin, before, after = _begin(role), _begin(gap), _after(gap)
    return clocks.elapsed(before, begin)[0] > 0 and clocks.elapsed(begin, after)[0] > Timeout.FROZEN.us
