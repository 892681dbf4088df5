"""What ties the clocks of a broker set together: the incarnations of its brokers, as name servers and slaves saw them.

A registration, a poll and a notice carry nothing that tells one from another of its kind, a line may be lost, and a
connection may break while both sides live. So no line is the effect of a certain other one by itself: a row of them is,
where one side tells as many as the other, and in one rhythm. What a process logged in one of its incarnations then
comes before what others saw of that incarnation.
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
"""So many name servers must have lost a broker alike. What one alone tells may be how it fared itself."""

Rhythm = Callable[[Sequence[Moment], Sequence[Moment]], bool]


@dataclass(frozen=True, slots=True)
class _Incarnation:
    """One incarnation of a broker's process: when it began to serve, and its last line.

    ``answered`` is when it says first that it is registered. ``died`` is false for one that was stopped, which
    unregisters and goes on writing, and for the last one.
    """

    served: Moment
    answered: Moment | None
    last: Moment
    died: bool


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """A broker is registered after it began to serve, and lost after it died; slaves hear of both later still."""
    of_set = [fact for fact in facts if fact.protocol == PROTOCOL]
    timing = timing_of(of_set)
    in_rhythm = partial(_in_rhythm, within=timing.shortest_us(Timeout.NAME_SERVER_BROKER_SILENT))
    for source, node, addresses in _brokers(of_set):
        incarnations = _incarnations(of_set, source)
        seen = list(_registered(of_set, addresses))
        if not incarnations or not seen or not all(in_rhythm(*_rows(incarnations, registered)) for registered in seen):
            continue
        for registered in seen:
            for cause, effect in zip(*_rows(incarnations, registered), strict=True):
                yield Message(cause, effect)
        if len(seen) >= _ENOUGH and all(in_rhythm(_entered(seen[0]), _entered(registered)) for registered in seen):
            if len(incarnations) >= _ENOUGH:  # one incarnation has no rhythm
                yield from _answered(incarnations, seen, timing.us(Timeout.NAME_SERVER_REGISTERS))
            if all(_lost_at_once(incarnations, registered) for registered in seen):
                yield from _noticed(of_set, node, incarnations, in_rhythm)


def _brokers(facts: Sequence[Fact]) -> Iterator[tuple[str, str, frozenset[str]]]:
    """The source, the id and the addresses of each broker that is the only one with its id."""
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


def _incarnations(facts: Sequence[Fact], source: str) -> list[_Incarnation]:
    """All incarnations of a broker, where the log says of each that it began to serve; else none.

    Source: ``BrokerController#startService`` prints that it does, and registers then.
    """
    runs = sorted({fact for fact in facts if isinstance(fact, Alive) and fact.source_node == source}, key=since)
    served = sorted(
        {
            since(fact)
            for fact in facts
            if isinstance(fact, Role) and fact.source_node == source and fact.cause == "service_on"
        }
    )
    if len(served) != len(runs) or not all(_within(run, began) for run, began in zip(runs, served, strict=True)):
        return []
    answers = sorted(
        since(fact)
        for fact in facts
        if isinstance(fact, BrokerRegistered) and fact.source_node == source and fact.address is None
    )
    return [
        _Incarnation(
            began,
            next((answer for answer in answers if _within(run, answer) and began.at <= answer.by), None),
            until(run) or since(run),
            died=run is not runs[-1] and not run.stopped,
        )
        for run, began in zip(runs, served, strict=True)
    ]


def _within(run: Alive, moment: Moment) -> bool:
    return run.since <= moment.by and (run.until_by is None or moment.at <= run.until_by)


def _registered(facts: Sequence[Fact], addresses: frozenset[str]) -> Iterator[list[BrokerRegistered]]:
    """When a broker was registered, by each name server that ever had it."""
    by_server: dict[str, set[BrokerRegistered]] = {}
    for fact in facts:
        if isinstance(fact, BrokerRegistered) and fact.address in addresses:
            by_server.setdefault(fact.source_node, set()).add(fact)
    for _, registered in sorted(by_server.items()):
        yield sorted(registered, key=since)


def _rows(
    incarnations: Sequence[_Incarnation], registered: Sequence[BrokerRegistered]
) -> tuple[list[Moment], list[Moment]]:
    """What the broker logged, and what a name server logged of it: beginnings, then deaths."""
    by_broker, seen = [incarnation.served for incarnation in incarnations], _entered(registered)
    for incarnation, registration in zip(incarnations, registered, strict=False):
        lost = until(registration)
        if incarnation.died and lost is not None and registration.end_cause == DROPPED:
            by_broker.append(incarnation.last)
            seen.append(lost)
    return by_broker, seen


def _in_rhythm(by_broker: Sequence[Moment], seen: Sequence[Moment], within: int) -> bool:
    """Whether both rows may be of the same events: apart by one difference of two clocks, and the way between them.

    A process that died had written until shortly before, and what takes longer than the silence after which a name
    server gives a broker up has another cause: ``within``, in microseconds, the shortest that a member has.
    """
    if not by_broker or len(by_broker) != len(seen):
        return False
    least = max(after.at - before.by for before, after in zip(by_broker, seen, strict=True))
    most = min(after.by - before.at for before, after in zip(by_broker, seen, strict=True))
    return least - most <= within


def _entered(registered: Sequence[BrokerRegistered]) -> list[Moment]:
    """When a name server entered a broker, time after time."""
    return [since(registration) for registration in registered]


def _answered(
    incarnations: Sequence[_Incarnation], seen: Sequence[Sequence[BrokerRegistered]], period: int
) -> Iterator[Message]:
    """A broker says that it is registered when the first name server has answered; the others answer in that round.

    Name servers that all entered it in one rhythm were all there for that round. The next one comes after a
    ``period`` (microseconds).
    """
    for registered in seen:
        for incarnation, registration in zip(incarnations, registered, strict=True):
            if (answered := incarnation.answered) is not None:
                yield Message(since(registration), replace(answered, at=answered.at + period, by=answered.by + period))


def _lost_at_once(incarnations: Sequence[_Incarnation], registered: Sequence[BrokerRegistered]) -> bool:
    """Whether a name server lost a broker for its deaths alone: each time because the other side had closed."""
    return all(
        registration.end_cause == DROPPED
        for incarnation, registration in zip(incarnations, registered, strict=True)
        if incarnation.died
    )


def _noticed(
    facts: Sequence[Fact], node: str, incarnations: Sequence[_Incarnation], in_rhythm: Rhythm
) -> Iterator[Message]:
    """A slave learns that a master is gone after it died, and that it is back after it began to serve again."""
    by_broker = [moment for incarnation in incarnations for moment in (incarnation.served, incarnation.last)][1:]
    surely = [sure for incarnation in incarnations for sure in (True, incarnation.died)][1:]
    for changes in _changes(facts, node):
        if len(by_broker) - len(changes) in (0, 1) and in_rhythm(by_broker[: len(changes)], changes):
            for cause, sure, effect in zip(by_broker, surely, changes, strict=False):
                if sure:
                    yield Message(cause, effect)


def _changes(facts: Sequence[Fact], node: str) -> Iterator[list[Moment]]:
    """When each slave learned that the smallest id is ``node`` no longer, or is it again, in turn."""
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
