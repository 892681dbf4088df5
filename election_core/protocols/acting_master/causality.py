"""Causal pairs of a broker set: what its brokers logged before name servers and slaves saw it.

A registration, a poll and a notice carry no id, a line may be lost, and a connection may break while both sides live.
So no single line can be matched to its effect. A whole row of them can: where both sides logged equally many, in one
rhythm, what a process logged in each run comes before what others saw of that run. A broker whose clock was set keeps
no rhythm with the name servers. Then its row is matched if name servers keep one with each other, and the broker logged
that each of its runs was registered.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from election_replay.election_core.judge.clock import Message, Moment
from election_replay.election_core.judge.group import since, until
from election_replay.election_core.judge.timing import timing_of
from election_replay.election_core.model.facts import Alive, Fact, MemberAddress, Role
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.acting_master.facts import BrokerRegistered, SmallestId
from election_replay.election_core.protocols.acting_master.log import DROPPED, PROTOCOL

_ENOUGH = 2
"""At least so many name servers, or runs of a broker, must agree: a single one may have had a fault, or lost lines."""

Rhythm = Callable[[Sequence[Moment], Sequence[Moment]], bool]


@dataclass(frozen=True, slots=True)
class _Incarnation:
    """One run of a broker's process: when it began to serve, and its last line.

    ``answered``: its first line that says it is registered; None without one. ``died``: False for a run that was
    stopped, which unregisters and writes on, and for the last run.
    """

    served: Moment
    answered: Moment | None
    last: Moment
    died: bool


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """Yield the pairs: a broker is registered after it began to serve, lost after it died, and slaves hear of both
    later."""
    of_set = [fact for fact in facts if fact.protocol == PROTOCOL]
    timing = timing_of(of_set)
    in_rhythm = partial(_in_rhythm, within=timing.shortest_us(Timeout.NAME_SERVER_BROKER_SILENT))
    for source, node, addresses in _brokers(of_set):
        runs = _runs(of_set, source)
        incarnations = _incarnations(of_set, source, runs)
        seen = list(_registered(of_set, addresses))
        if len(incarnations) < min(len(runs), _ENOUGH):  # a line of the others may be lost, and one has no rhythm
            continue
        if not seen or any(len(registered) != len(incarnations) for registered in seen):
            continue
        agreed = len(seen) >= _ENOUGH and all(in_rhythm(_entered(seen[0]), _entered(other)) for other in seen)
        constant = all(in_rhythm(*_rows(incarnations, registered)) for registered in seen)
        answered = sum(incarnation.answered is not None for incarnation in incarnations)
        if not constant and not (agreed and answered == len(runs)):
            continue
        for registered in seen:
            for cause, effect in zip(*_rows(incarnations, registered), strict=True):
                yield Message(cause, effect)
        if agreed and len(incarnations) >= _ENOUGH:
            yield from _answered(incarnations, seen, timing.us(Timeout.NAME_SERVER_REGISTERS))
        if agreed and constant and all(_lost_at_once(incarnations, registered) for registered in seen):
            yield from _noticed(of_set, node, incarnations, in_rhythm)


def _brokers(facts: Sequence[Fact]) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield (source, id, addresses) of each broker whose id no other source has."""
    sources: dict[str, set[str]] = {}
    addresses: dict[str, set[str]] = {}
    for fact in facts:
        if isinstance(fact, Role) and fact.node is not None:
            sources.setdefault(fact.node, set()).add(fact.source_node)
        elif isinstance(fact, MemberAddress) and fact.node is not None:
            addresses.setdefault(fact.node, set()).add(fact.address)
    for node, of_node in sorted(sources.items()):
        if len(of_node) == 1:
            yield next(iter(of_node)), node, frozenset(addresses.get(node, ()))


def _runs(facts: Sequence[Fact], source: str) -> list[Alive]:
    """Return the runs of a broker's process, in order."""
    return sorted({fact for fact in facts if isinstance(fact, Alive) and fact.source_node == source}, key=since)


def _incarnations(facts: Sequence[Fact], source: str, runs: Sequence[Alive]) -> list[_Incarnation]:
    """Return those ``runs`` of a broker that began to serve. ``BrokerController#startService`` prints this line, then
    registers: a run without it never did."""
    served = {
        since(fact)
        for fact in facts
        if isinstance(fact, Role) and fact.source_node == source and fact.cause == "service_on"
    }
    answers = sorted(
        since(fact)
        for fact in facts
        if isinstance(fact, BrokerRegistered) and fact.source_node == source and fact.address is None
    )
    incarnations = []
    for run in runs:
        of_run = [began for began in served if _within(run, began)]
        if len(of_run) > 1:
            return []
        for began in of_run:
            answer = next((answer for answer in answers if _within(run, answer) and began.at <= answer.by), None)
            died = run is not runs[-1] and not run.stopped
            incarnations.append(_Incarnation(began, answer, until(run) or since(run), died))
    return incarnations


def _within(run: Alive, moment: Moment) -> bool:
    return run.since <= moment.by and (run.until_by is None or moment.at <= run.until_by)


def _registered(facts: Sequence[Fact], addresses: frozenset[str]) -> Iterator[list[BrokerRegistered]]:
    """Yield, for each name server that ever had the broker, its registrations in order."""
    by_server: dict[str, set[BrokerRegistered]] = {}
    for fact in facts:
        if isinstance(fact, BrokerRegistered) and fact.address in addresses:
            by_server.setdefault(fact.source_node, set()).add(fact)
    for _, registered in sorted(by_server.items()):
        yield sorted(registered, key=since)


def _rows(
    incarnations: Sequence[_Incarnation], registered: Sequence[BrokerRegistered]
) -> tuple[list[Moment], list[Moment]]:
    """Return equally ordered rows: what the broker logged, what a name server logged of it; begins, then deaths."""
    by_broker, seen = [incarnation.served for incarnation in incarnations], _entered(registered)
    for incarnation, registration in zip(incarnations, registered, strict=False):
        lost = until(registration)
        if incarnation.died and lost is not None and registration.end_cause == DROPPED:
            by_broker.append(incarnation.last)
            seen.append(lost)
    return by_broker, seen


def _in_rhythm(by_broker: Sequence[Moment], seen: Sequence[Moment], within: int) -> bool:
    """Return True when both rows may show the same events: all apart by one clock difference plus the delay.

    A process that died wrote until shortly before. A delay above ``within`` (us), the shortest silence after which a
    name server drops a broker, has another cause.
    """
    if not by_broker or len(by_broker) != len(seen):
        return False
    least = max(after.at - before.by for before, after in zip(by_broker, seen, strict=True))
    most = min(after.by - before.at for before, after in zip(by_broker, seen, strict=True))
    return least - most <= within


def _entered(registered: Sequence[BrokerRegistered]) -> list[Moment]:
    """Return the times at which a name server registered the broker."""
    return [since(registration) for registration in registered]


def _answered(
    incarnations: Sequence[_Incarnation], seen: Sequence[Sequence[BrokerRegistered]], period: int
) -> Iterator[Message]:
    """Yield pairs from each name server's registration to the broker's line that it is registered.

    The broker prints it when the first name server has answered; the others answer in that round. All of them kept one
    rhythm, so all took part in that round, and the next one comes after ``period`` (us).
    """
    for registered in seen:
        for incarnation, registration in zip(incarnations, registered, strict=True):
            if (answered := incarnation.answered) is not None:
                yield Message(since(registration), replace(answered, at=answered.at + period, by=answered.by + period))


def _lost_at_once(incarnations: Sequence[_Incarnation], registered: Sequence[BrokerRegistered]) -> bool:
    """Return True when the name server dropped the broker at each death because its connection closed."""
    return all(
        registration.end_cause == DROPPED
        for incarnation, registration in zip(incarnations, registered, strict=True)
        if incarnation.died
    )


def _noticed(
    facts: Sequence[Fact], node: str, incarnations: Sequence[_Incarnation], in_rhythm: Rhythm
) -> Iterator[Message]:
    """Yield pairs to a slave: it learns that a master is gone after its death, that it is back after it serves
    again."""
    by_broker = [moment for incarnation in incarnations for moment in (incarnation.served, incarnation.last)][1:]
    surely = [sure for incarnation in incarnations for sure in (True, incarnation.died)][1:]
    for changes in _changes(facts, node):
        if len(by_broker) - len(changes) in (0, 1) and in_rhythm(by_broker[: len(changes)], changes):
            for cause, sure, effect in zip(by_broker, surely, changes, strict=False):
                if sure:
                    yield Message(cause, effect)


def _changes(facts: Sequence[Fact], node: str) -> Iterator[list[Moment]]:
    """Yield, for each other source, the times at which ``node`` ceased to be the smallest id or became it again."""
    by_source: dict[str, set[SmallestId]] = {}
    for fact in facts:
        if isinstance(fact, SmallestId) and fact.node != node:
            by_source.setdefault(fact.source_node, set()).add(fact)
    for _, views in sorted(by_source.items()):
        changes, smallest = [], True
        for view in sorted(views, key=since):
            if (view.peer == node) != smallest:
                changes.append(since(view))
                smallest = not smallest
        yield changes
