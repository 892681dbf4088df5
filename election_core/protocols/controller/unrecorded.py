"""``LEADERLESS`` for the controllers only: they recorded no master while a broker went on as master."""

from collections.abc import Iterator

from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.fates import Fates
from election_replay.election_core.judge.group import SILENT_END, Group, Tenure, since
from election_replay.election_core.judge.led_between import not_shown
from election_replay.election_core.judge.outages import leaderless_outage, severity_of
from election_replay.election_core.judge.wording import between
from election_replay.election_core.model.catalogue import DEFINITE, INFO, PROVEN
from election_replay.election_core.model.measures import Fate, Scope
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.controller.causes import heard_before
from election_replay.election_core.protocols.controller.checks import NOBODY_ELECTED
from election_replay.election_core.protocols.controller.facts import Decision
from election_replay.election_core.protocols.controller.record import elections_of


def no_master_recorded(group: Group, decided: list[Decision]) -> Iterator[Finding]:
    """Yield ``LEADERLESS`` where the controllers recorded no master while a broker went on as master."""
    elected = elections_of(decided)
    nobody: Decision | None = None
    for fact in elected:
        if fact.decision == NOBODY_ELECTED:
            nobody = nobody or fact
            continue
        if nobody is not None and (serving := _serving(group, since(nobody), since(fact), fact.term)) is not None:
            yield _unrecorded(group, serving, nobody, fact)
        nobody = None
    if nobody is not None and (serving := _goes_on(group, since(nobody))) is not None:
        yield _unrecorded(group, serving, nobody, None)


def _goes_on(group: Group, begin: Moment) -> Tenure | None:
    """Return the master that leads on to the end of the logs after an election without winner; None if any other may.
    It must lead on for longer than it needs to hear of an election, whose line may be lost."""
    least, _ = group.clocks.elapsed(begin, group.end)
    later = any(group.clocks.elapsed(begin, tenure.begin)[1] > 0 for tenure in group.tenures)
    long = least > group.timing.us(Timeout.CONTROLLER_POLL)
    return _serving(group, begin, group.end) if long and not later else None


def _serving(group: Group, begin: Moment, end: Moment, elected: int | None = None) -> Tenure | None:
    """Return the master throughout the time, until one of term ``elected``; None if there is none, or if it died at an
    unknown moment. One of the same moment as ``begin`` was elected before: elections follow each other."""
    about_then = group.timing.us(Timeout.CONTROLLER_SAME_MOMENT)
    return next(
        (
            tenure
            for tenure in reversed(group.tenures)
            if group.clocks.elapsed(tenure.begin, begin)[elected is not None and tenure.term < elected] > 0
            and (tenure.open or (_known(tenure.end) and group.clocks.elapsed(end, tenure.end)[1] > -about_then))
        ),
        None,
    )


def _known(end: Moment) -> bool:
    """Return True when the moment of the end is logged; a death is only known to lie between two lines."""
    return end.by - end.at <= Timeout.BLURRED_END.us


def _unrecorded(group: Group, serving: Tenure, nobody: Decision, elected: Decision | None) -> Finding:
    end = group.end if elected is None else since(elected)
    least, most = group.clocks.elapsed(since(nobody), end)
    unseen = not_shown(group, nobody.source_node, since(nobody), end) if elected is None else 0
    if unseen >= SILENT_END:  # one may have been elected behind the log of the controller that found nobody
        least = max(least - unseen, 0)
    recorded = between(least, most)
    until = ", to the end of the logs" if elected is None else ""
    heard = heard_before(group, serving.node, since(nobody))
    before = "" if heard is None else f" They had lost {serving.name} {_before(group, heard, nobody)} before."
    decided = [nobody] if elected is None else [nobody, elected]
    went_on = "a broker went on as master by its own word"
    asleep = group.once(Fates).asleep(serving, since(nobody))
    if asleep is not None:
        frozen = group.clocks.elapsed(asleep.begin, asleep.end)
        shown = max(frozen[0] - Timeout.SILENCE.us, 0)  # it may have served until its next periodic line was due
        least, most = min(least, shown), min(most, frozen[1])
        went_on = f"{serving.name} called itself master, and was frozen: its log is silent for {between(*frozen)}"
    return leaderless_outage(
        group,
        Scope.UNRECORDED if asleep is None else Scope.NO_LEADER,
        ("unrecorded", nobody.term),
        (least, most if heard is None else group.clocks.elapsed(heard, end)[1]),
        severity=INFO if asleep is None else severity_of(least),
        certainty=PROVEN if heard is None or heard.source == nobody.source_node else DEFINITE,
        nodes=[fact.node for fact in decided[1:]],
        terms=[fact.term for fact in decided],
        when=(nobody.since if heard is None else heard.at, None if elected is None else elected.since),
        summary=f"The controllers recorded no master for {recorded}{until} (an election found nobody); "
        f"{went_on}.{before}",
        evidence=(heard.event_id if heard else None, *(fact.since_event for fact in decided)),
        former_leader_fate=None if asleep is None else Fate.FROZEN,
    )


def _before(group: Group, heard: Moment, nobody: Decision) -> str:
    least, most = group.clocks.elapsed(heard, since(nobody))
    return between(max(least, 0), most)
