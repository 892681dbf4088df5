"""Logs that say nothing as long as nothing happens: etcd, ZooKeeper, canonical events.

In a log with periodic lines the last line is the last sign of life, and a hole in it is news. In a quiet one neither
is: a healthy leader may print nothing for days. What happened to its process is then known from the others, who say
when they lost contact with it. :func:`completed` puts that into the facts of a group, so that the rules need not know
which logs are quiet:

- a process that died (a later start proves it) was alive until the others lost contact with it;
- a log that simply ends goes on to the end of its group's logs, unless somebody lost contact and never had it again,
  or the leader that wrote it was replaced;
- a hole in a log counts only where another leader was elected during it, or where the process itself noticed that it
  had not run.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from election_core.fold.process_runs import SECOND
from election_core.fold.roles import DIED, DOWN, FOLLOWER, LEADER
from election_core.judge.clock import UNBOUNDED, Clocks, Moment
from election_core.model.facts import Alive, ContactLost, Fact, LastHeard, QuietLog, Role, Silence
from election_core.model.timing import Timeout

FROZEN = Timeout.FROZEN.us


Loss = ContactLost | LastHeard


@dataclass(frozen=True, slots=True)
class LastSign:
    """The last sign of life of a process, on its own clock: alive at ``at``, and dead at ``by`` where that is known."""

    at: int
    by: int | None = None


def completed(facts: Iterable[Fact], clocks: Clocks) -> list[Fact]:
    """The facts of a group, with what is known of the processes whose logs are quiet."""
    every = list(facts)
    quiet_sources = sorted({fact.source_node for fact in every if isinstance(fact, QuietLog)})
    if not quiet_sources:
        return every
    moved = {source: dict(_last_signs(every, source, clocks)) for source in quiet_sources}
    noticed = [fact for fact in every if isinstance(fact, Silence) and fact.noticed]
    led = _leaderships(every)
    return [
        _moved(fact, moved.get(fact.source_node, {}))
        for fact in every
        if not isinstance(fact, Silence) or fact.source_node not in moved or _counts(fact, led, noticed, clocks)
    ]


def _leaderships(every: Iterable[Fact]) -> list[tuple[Role, int]]:
    """The roles of leaders, each with its term."""
    return [
        (fact, fact.term) for fact in every if isinstance(fact, Role) and fact.role == LEADER and fact.term is not None
    ]


def _last_signs(every: Sequence[Fact], source: str, clocks: Clocks) -> Iterator[tuple[int, LastSign]]:
    """For each life of a process whose end nobody printed: its last line, and the later last sign of life."""
    names = {fact.node for fact in every if fact.source_node == source and isinstance(fact, Role)}
    losses = [f for f in every if isinstance(f, Loss) and f.node in names and f.source_node != source]
    distinct = {
        (f.since, f.since if f.until is None else f.until, f.stopped) for f in _alive(every) if f.source_node == source
    }
    in_order = sorted(distinct)
    for number, (first_line, last_line, stopped) in enumerate(in_order):
        following = in_order[number + 1][0] if number + 1 < len(in_order) else None
        if stopped:
            continue
        sign = _last_sign(losses, source, last_line, following, clocks)
        if sign is None and following is None:
            sign = _end_of(every, source, clocks)
        replaced = _replaced(every, source, last_line, clocks)
        if sign is not None and replaced is not None:
            sign = replace(sign, at=min(sign.at, replaced))
        followed = [at for at in _followed(every, source, (first_line, last_line), clocks) if at > last_line]
        if sign is not None and followed:
            sign = replace(sign, at=min(max(sign.at, *followed), sign.by or UNBOUNDED, following or UNBOUNDED))
        if sign is not None and sign.at > last_line:
            yield last_line, sign


def _last_sign(
    losses: Sequence[Loss], source: str, last_line: int, following: int | None, clocks: Clocks
) -> LastSign | None:
    """When the others lost contact with a process after its last line, or the last time if it came back.

    Contact that was lost and found again before the next start was no death; what is lost after it was found again
    later is the next life. A connection that the other side closed (``closed``), and that never came back, was closed
    by its death: whoever seems to have heard of it later did not run meanwhile, since it counts the time without a
    leader by its own ticks.
    """
    last_of: dict[str, tuple[int, int]] = {}
    closed: list[int] = []
    for fact in _of_this_life(losses, following):
        earliest, latest = _on_clock_of(source, fact, clocks)
        if (
            earliest is None
            or latest is None
            or latest <= last_line
            or (following is not None and earliest >= following)
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


def _of_this_life(losses: Sequence[Loss], following: int | None) -> Iterator[Loss]:
    """The losses after which a process was not heard of again before its next start, and that are not of that one."""
    found_again: dict[str, int] = {}
    for fact in sorted(losses, key=lambda loss: (loss.source_node, loss.since, loss.since_by)):
        lasting = fact.until is None or (following is not None and fact.until >= following)
        if lasting and fact.since < found_again.get(fact.source_node, UNBOUNDED):
            if fact.until is not None:
                found_again[fact.source_node] = fact.until
            yield fact


def _replaced(every: Sequence[Fact], source: str, last_line: int, clocks: Clocks) -> int | None:
    """When, at the earliest on its own clock, a leader was replaced after its last line: it need not have led on."""
    led = _leaderships(every)
    open_ended = [
        (role, term)
        for role, term in led
        if role.source_node == source and role.end_cause in (None, DIED) and role.since <= last_line + SECOND
    ]
    if not open_ended:
        return None
    last = max(term for _, term in open_ended)
    since = min(role.since for role, term in open_ended if term == last)
    begins = [_on_clock_of(source, role, clocks) for role, term in led if role.source_node != source and term > last]
    replaced = min((at for at, by in begins if at is not None and by is not None and by > last_line), default=None)
    if replaced is None:
        return None
    followed_after = any(at > replaced for at in _followed(every, source, (since, last_line), clocks))
    return None if followed_after else replaced


def _followed(every: Sequence[Fact], source: str, between: tuple[int, int], clocks: Clocks) -> list[int]:
    """When others began to follow what one log's process led in a time: they had just heard of it.

    On its clock, at the earliest.
    """
    roles = [fact for fact in every if isinstance(fact, Role) and fact.term is not None]
    leading = [f for f in roles if f.role == LEADER and f.source_node == source]
    led = {(f.node, f.term) for f in leading if between[0] <= f.since <= between[1] + SECOND}
    followers = [f for f in roles if f.role == FOLLOWER and f.source_node != source and (f.leader, f.term) in led]
    return [at for at, _ in (_on_clock_of(source, fact, clocks) for fact in followers) if at is not None]


def _on_clock_of(source: str, fact: Fact, clocks: Clocks) -> tuple[int | None, int | None]:
    """The earliest and latest reading of a process's clock when something was noticed on another machine."""
    return clocks.shown_by(source, Moment(fact.since, fact.since_by, fact.source_node))


def _alive(every: Iterable[Fact]) -> Iterator[Alive]:
    return (fact for fact in every if isinstance(fact, Alive))


def _end_of(every: Iterable[Fact], source: str, clocks: Clocks) -> LastSign | None:
    """The end of the group's logs, on one machine's clock."""
    seen = (Moment(fact.until, fact.until, fact.source_node) for fact in _alive(every) if fact.until is not None)
    ends = [at for at, _ in (clocks.shown_by(source, sign) for sign in seen) if at is not None]
    return LastSign(max(ends)) if ends else None


def _moved(fact: Fact, last_signs: dict[int, LastSign]) -> Fact:
    """A fact that ended, or began, with the last line of a process whose last sign of life came later."""
    if isinstance(fact, Alive) and fact.until in last_signs and not fact.stopped:
        seen = last_signs[fact.until].at
        return replace(fact, until=seen, until_by=seen + SECOND)
    if not isinstance(fact, Role) or DIED not in (fact.end_cause, fact.cause):
        return fact
    if fact.role == DOWN:
        sign = _sign_after(fact.since, last_signs)
        since = max(sign.at, fact.since)
        return replace(fact, since=since, since_by=max(since, sign.by or fact.since_by))
    if fact.end_cause != DIED or fact.until is None:
        return fact
    sign = _sign_after(fact.until, last_signs)
    until = max(sign.at, fact.until)
    return replace(fact, until=until, until_by=max(until, sign.by or fact.until_by or until))


def _sign_after(end: int, last_signs: dict[int, LastSign]) -> LastSign:
    """The last sign of a life whose last role ended at ``end``: at its last line, or within the second of that."""
    return next((sign for line, sign in last_signs.items() if line <= end < line + SECOND), LastSign(end))


def _counts(hole: Silence, led: Sequence[tuple[Role, int]], noticed: Sequence[Silence], clocks: Clocks) -> bool:
    """Whether a hole in a quiet log tells anything; one that the process noticed itself tells it better."""
    if hole.noticed:
        return True
    if any(other.source_node == hole.source_node and _within(other, hole) for other in noticed):
        return False
    led_term = max(
        (term for role, term in led if role.source_node == hole.source_node and _within(hole, role)), default=None
    )
    return led_term is not None and any(
        role.source_node != hole.source_node and term > led_term and _during(role, hole, clocks) for role, term in led
    )


def _within(inner: Fact, outer: Fact) -> bool:
    """Whether one span of one log lies inside of another, give or take the second of a line."""
    ends = inner.until is None or outer.until is None or inner.until <= outer.until + SECOND
    return outer.since <= inner.since + SECOND and ends


def _during(role: Role, hole: Silence, clocks: Clocks) -> bool:
    """Whether a role surely began while another log was silent, and that log stayed so."""
    begin = Moment(role.since, role.since_by, role.source_node)
    before = Moment(hole.since, hole.since_by, hole.source_node)
    after = Moment(hole.until or hole.since, hole.until_by or hole.since_by, hole.source_node)
    return clocks.elapsed(before, begin)[0] > 0 and clocks.elapsed(begin, after)[0] > FROZEN
