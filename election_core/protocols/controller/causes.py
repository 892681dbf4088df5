"""Why a master was replaced: when the controllers last heard from it, and how its role ended."""

from bisect import bisect_left
from collections.abc import Iterator
from operator import attrgetter

from election_replay.election_core.fold.roles import DIED, STOPPED
from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.group import SILENT, Group, Tenure, since
from election_replay.election_core.model.facts import ContactLost, LastHeard
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.controller.checks import NOBODY_ELECTED
from election_replay.election_core.protocols.controller.facts import ControllerLed, Decision
from election_replay.election_core.protocols.controller.record import elections_of

_LOSS_IS_CAUSE = (Timeout.CONTROLLER_BROKER_SILENT, Timeout.CONTROLLER_SCAN, Timeout.CONTROLLER_LOSS_IS_CAUSE)


def last_heard(group: Group) -> Iterator[tuple[str, Moment]]:
    """Yield (broker, time) of each last contact that a controller had with a broker."""
    for fact in (*group.of(LastHeard), *group.of(ContactLost)):
        if fact.node is not None:
            yield fact.node, since(fact)


def heard_before(group: Group, master: str | None, moment: Moment) -> Moment | None:
    """Return when a controller last heard from a master that it lost shortly before the moment; None if none did."""
    cause_for = sum(map(group.timing.us, _LOSS_IS_CAUSE))
    lost = (
        heard
        for node, heard in last_heard(group)
        if node == master
        and group.clocks.elapsed(heard, moment)[1] > 0
        and group.clocks.elapsed(heard, moment)[0] <= cause_for
    )
    return max(lost, key=lambda heard: (heard.at, heard.source), default=None)


def cause(group: Group, epoch: int, decision: Decision | None) -> str:
    """Return why an election began, by how the tenure of the epoch before ended: a value of ``terms.cause``. Each
    election makes the next epoch, even one without winner; the first one makes epoch 1."""
    tenures = group.once(_by_epoch)
    earlier = range(bisect_left(tenures, epoch, key=attrgetter("term")) - 1, -1, -1)
    decided = [since(decision)] if decision is not None else []
    before = next((tenures[at] for at in earlier if not _later(group, tenures[at], epoch, decided)), None)
    if before is None and epoch <= 1:
        return "first_master"
    if before is None or not unled(group).issuperset(range(before.term + 1, epoch)):
        return "unknown"
    if before.node in _masters_of(group, epoch, decision):
        return "elected_again"
    ended_first = decision is None or group.clocks.elapsed(since(decision), before.end)[0] <= 0
    if ended_first and before.end_cause == STOPPED:
        return "master_stopped"
    if ended_first and before.end_cause == DIED:
        return "master_lost"
    return "unknown" if decision is None else _told_by_controllers(group, before, decision)


def _by_epoch(group: Group) -> list[Tenure]:
    return sorted(group.tenures, key=attrgetter("term"))


def unled(group: Group) -> frozenset[int]:
    """Return the epochs for which nobody was elected."""
    return group.once(_unled_epochs)


def _unled_epochs(group: Group) -> frozenset[int]:
    decided = (fact for fact in group.of(Decision) if fact.decision == NOBODY_ELECTED)
    return frozenset(fact.term for fact in decided if fact.term is not None)


def _masters_of(group: Group, epoch: int, decision: Decision | None) -> set[str | None]:
    """Return who was elected for an epoch: by the decision, or without one by the brokers' own logs."""
    if decision is not None:
        return {decision.node}
    return {tenure.node for tenure in group.tenures if tenure.term == epoch}


def _told_by_controllers(group: Group, before: Tenure, decision: Decision) -> str:
    """Return why the controllers replaced a master that led on or fell silent."""
    if heard_before(group, before.node, since(decision)) is not None:
        return "master_silent" if _silent_at(group, before, since(decision)) else "master_inactive"
    led_on = before.end_cause not in (SILENT, STOPPED, DIED)
    surely_before = group.clocks.elapsed(before.begin, since(decision))[0] > 0
    return "requested" if led_on and surely_before and _seen_whole(group, decision) else "unknown"


def _seen_whole(group: Group, decision: Decision) -> bool:
    """Return True when the deciding controller had led for so long that its log would show a lost master. Controllers
    print no request for an election. They elect where they lost a master, or where somebody asks."""
    loss_is_cause = sum(map(group.timing.us, _LOSS_IS_CAUSE))
    return any(
        led.source_node == decision.source_node
        and led.since_by <= decision.since - loss_is_cause
        and (led.until is None or led.until >= decision.since)
        for led in group.of(ControllerLed)
    )


def _later(group: Group, tenure: Tenure, epoch: int, decided: list[Moment]) -> bool:
    """Return True when a tenure of a smaller epoch surely began after this epoch: epochs had gone back meanwhile."""
    of_epoch = decided or group.once(_begins_of).get(epoch, [])
    return bool(of_epoch) and all(group.clocks.elapsed(begin, tenure.begin)[0] > 0 for begin in of_epoch)


def _begins_of(group: Group) -> dict[int, list[Moment]]:
    """Map each epoch to the begins of its masters."""
    found: dict[int, list[Moment]] = {}
    for tenure in group.tenures:
        found.setdefault(tenure.term, []).append(tenure.begin)
    return found


def _silent_at(group: Group, tenure: Tenure, moment: Moment) -> bool:
    """Return True when a master's log may be silent at the moment and its role outlives that: the process is the
    same."""
    return not tenure.ends_with_its_process and any(
        group.clocks.elapsed(hole.begin, moment)[1] > 0 and group.clocks.elapsed(moment, hole.end)[1] > 0
        for hole in tenure.silences
    )


_NO_ACCIDENT = frozenset({"first_master", "master_stopped", "requested"})


def unplanned(group: Group, decided: list[Decision]) -> dict[int, Moment]:
    """Map epoch to time for elections after the first that nobody requested and no clean stop of the master caused. An
    election after one without winner is left out: it ends what that one began."""
    return {
        fact.term: since(fact)
        for fact in elections_of(decided)[1:]
        if fact.term is not None
        and fact.term - 1 not in unled(group)
        and cause(group, fact.term, fact) not in _NO_ACCIDENT
    }
