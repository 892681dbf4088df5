"""``LEADERLESS`` for the controllers only: they recorded no master while a broker went on as master."""

from collections.abc import Iterator

from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.group import Group, since
from election_replay.election_core.judge.wording import between
from election_replay.election_core.model.catalogue import INFO, PROVEN, RuleId
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.controller.checks import NOBODY_ELECTED
from election_replay.election_core.protocols.controller.facts import Decision
from election_replay.election_core.protocols.controller.record import elections_of


def no_master_recorded(group: Group, decided: list[Decision]) -> Iterator[Finding]:
    """``LEADERLESS`` for the controllers only: they recorded no master while a broker went on as master."""
    elected = elections_of(decided)
    nobody: Decision | None = None
    for fact in elected:
        if fact.decision == NOBODY_ELECTED:
            nobody = nobody or fact
            continue
        if nobody is not None and _serving(group, since(nobody), since(fact)):
            yield _unrecorded(group, nobody, fact)
        nobody = None
    if nobody is not None and _goes_on(group, since(nobody)):
        yield _unrecorded(group, nobody, None)


def _goes_on(group: Group, begin: Moment) -> bool:
    """Whether a broker is master to the end of the logs, for longer than it needs to hear of an election, and no other
    one begins: the line that elects it may be lost."""
    least, _ = group.clocks.elapsed(begin, group.end)
    later = any(group.clocks.elapsed(begin, tenure.begin)[1] > 0 for tenure in group.tenures)
    return least > group.timing.us(Timeout.CONTROLLER_POLL) and not later and _serving(group, begin, group.end)


def _serving(group: Group, begin: Moment, end: Moment) -> bool:
    """Whether a broker was master all the time; one that died in it, nobody knows when, may not have been."""
    about_then = group.timing.us(Timeout.CONTROLLER_SAME_MOMENT)
    return any(
        group.clocks.elapsed(tenure.begin, begin)[0] > 0
        and (tenure.open or (_known(tenure.end) and group.clocks.elapsed(end, tenure.end)[1] > -about_then))
        for tenure in group.tenures
    )


def _known(end: Moment) -> bool:
    """Whether a line says when a role ended: a death is only known to lie between two lines."""
    return end.by - end.at <= Timeout.BLURRED_END.us


def _unrecorded(group: Group, nobody: Decision, elected: Decision | None) -> Finding:
    least, most = group.clocks.elapsed(since(nobody), group.end if elected is None else since(elected))
    until = ", to the end of the logs" if elected is None else ""
    decided = [nobody] if elected is None else [nobody, elected]
    return group.finding(
        RuleId.LEADERLESS,
        (
            "unrecorded",
            nobody.term,
        ),
        severity=INFO,
        certainty=PROVEN,
        nodes=tuple(fact.node for fact in decided[1:] if fact.node),
        terms=tuple(fact.term for fact in decided if fact.term is not None),
        start_time=nobody.since,
        end_time=None if elected is None else elected.since,
        summary=f"The controllers recorded no master for {between(least, most)}{until} (an election found nobody); "
        "a broker went on as master by its own word.",
        evidence=tuple(fact.since_event for fact in decided if fact.since_event),
        duration_min_ms=max(least, 0) // 1000,
        duration_max_ms=most // 1000,
    )
