"""Why a master was replaced: what the controllers last heard of it, and how its role ended."""

from collections.abc import Iterator

from election_replay.election_core.fold.roles import DIED, STOPPED
from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.group import SILENT, Group, Tenure, since
from election_replay.election_core.model.facts import ContactLost, LastHeard
from election_replay.election_core.model.terms import is_larger
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.controller.facts import ControllerLed, Decision
from election_replay.election_core.protocols.controller.record import elections_of

_LOSS_IS_CAUSE = (Timeout.CONTROLLER_BROKER_SILENT, Timeout.CONTROLLER_SCAN, Timeout.CONTROLLER_LOSS_IS_CAUSE)


def last_heard(group: Group) -> Iterator[tuple[str, Moment]]:
    """When controllers heard of a broker for the last time."""
    for fact in (*group.of(LastHeard), *group.of(ContactLost)):
        if fact.node is not None:
            yield fact.node, since(fact)


def cause(group: Group, epoch: int, decision: Decision | None) -> str:
    """Why an election began, from how the master before it ended."""
    earlier = (tenure for tenure in reversed(group.tenures) if tenure.term < epoch)
    before = next((tenure for tenure in earlier if not _later(group, tenure, epoch)), None)
    if before is None:
        return "unknown" if _heard_of_earlier(group, epoch) else "first_master"
    if decision is not None and before.node == decision.node:
        return "elected_again"
    ended_first = decision is None or group.clocks.elapsed(since(decision), before.end)[0] <= 0
    if ended_first and before.end_cause == STOPPED:
        return "master_stopped"
    if ended_first and before.end_cause in (DIED, SILENT):
        return "master_lost"
    if decision is not None and _silent_at(group, before, since(decision)):
        return "master_silent"
    if decision is not None and _given_up(group, before, since(decision)):
        return "master_inactive"
    return "requested" if decision is not None and _seen_whole(group, decision) else "unknown"


def _heard_of_earlier(group: Group, epoch: int) -> bool:
    """Whether a broker may have followed a master of a smaller epoch before, whose own log is not there."""
    begins = group.once(_begins_of).get(epoch, [])
    return any(
        role.leader is not None
        and is_larger(epoch, role.term)
        and not any(group.clocks.elapsed(begin, since(role))[0] > 0 for begin in begins)
        for role in group.roles
    )


def _seen_whole(group: Group, decision: Decision) -> bool:
    """Whether the controller that decided had led for so long that its log would tell of a master that it had lost.

    Controllers print no request for an election. They elect where they lost a master, or where somebody asks.
    """
    loss_is_cause = sum(map(group.timing.us, _LOSS_IS_CAUSE))
    return any(
        led.source_node == decision.source_node
        and led.since_by <= decision.since - loss_is_cause
        and (led.until is None or led.until >= decision.since)
        for led in group.of(ControllerLed)
    )


def _later(group: Group, tenure: Tenure, epoch: int) -> bool:
    """Whether a master of a smaller epoch surely came after those of this one: epochs had gone back meanwhile."""
    of_epoch = group.once(_begins_of).get(epoch, [])
    return bool(of_epoch) and all(group.clocks.elapsed(begin, tenure.begin)[0] > 0 for begin in of_epoch)


def _begins_of(group: Group) -> dict[int, list[Moment]]:
    """When the masters of each epoch began."""
    found: dict[int, list[Moment]] = {}
    for tenure in group.tenures:
        found.setdefault(tenure.term, []).append(tenure.begin)
    return found


def _given_up(group: Group, tenure: Tenure, decision: Moment) -> bool:
    """Whether the controllers lost the master shortly before they decided."""
    cause_for = sum(map(group.timing.us, _LOSS_IS_CAUSE))
    return any(
        node == tenure.node
        and group.clocks.elapsed(moment, decision)[1] > 0
        and group.clocks.elapsed(moment, decision)[0] <= cause_for
        for node, moment in last_heard(group)
    )


def _silent_at(group: Group, tenure: Tenure, moment: Moment) -> bool:
    return any(
        group.clocks.elapsed(hole.begin, moment)[1] > 0 and group.clocks.elapsed(moment, hole.end)[1] > 0
        for hole in tenure.silences
    )


_NO_ACCIDENT = frozenset({"first_master", "master_stopped", "requested"})


def unplanned(group: Group, decided: list[Decision]) -> list[Moment]:
    """Elections after the first that nobody asked for, and that did not follow a clean stop of the master."""
    return [
        since(fact)
        for fact in elections_of(decided)[1:]
        if fact.term is not None and cause(group, fact.term, fact) not in _NO_ACCIDENT
    ]
