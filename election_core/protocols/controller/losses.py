"""Messages that one master has and another never had: overlaps, unclean elections, cut logs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from election_replay.election_core.fold.roles import DIED
from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.completeness import store_went_back
from election_replay.election_core.judge.coverage import counted
from election_replay.election_core.judge.group import SILENT, Group, Tenure, since
from election_replay.election_core.judge.outages import change_of
from election_replay.election_core.judge.overlap import Overlap, overlap_coverage, overlap_finding, overlaps
from election_replay.election_core.judge.wording import between, seconds
from election_replay.election_core.model.catalogue import CRITICAL, INFO, POSSIBLE, WARNING, RuleId
from election_replay.election_core.model.facts import LogCut, LogEndedEarlier, RuleBroken
from election_replay.election_core.model.measures import LostFrom, Unit
from election_replay.election_core.model.rows import Finding, RuleCoverage
from election_replay.election_core.model.terms import is_larger
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.controller import decision_rules
from election_replay.election_core.protocols.controller.acknowledgements import (
    after_time_outs,
    settings_of,
    unreplicated_tail,
    whether_acknowledged,
)
from election_replay.election_core.protocols.controller.checks import ELECTED
from election_replay.election_core.protocols.controller.decision_rules import SetVersion
from election_replay.election_core.protocols.controller.epochs import controllers_back
from election_replay.election_core.protocols.controller.facts import AllAck, Decision
from election_replay.election_core.protocols.controller.record import elections_of

GRAVITY = (INFO, WARNING, CRITICAL)
"""Severities, the gravest last."""


def cuts_of(group: Group, source: str, after: Moment, epoch: int | None) -> list[LogCut]:
    """Return the non-empty cuts, done or failed, of a broker's log that concern an ``epoch``. A comparison that does
    not print the epoch counts if it came after the moment ``after``."""
    return [
        cut
        for cut in group.of(LogCut)
        if cut.source_node == source
        and _cut_off(cut) > 0
        and not _parted_wrongly(group, cut)
        and (cut.term == epoch if cut.term is not None else group.clocks.elapsed(after, since(cut))[1] > 0)
    ]


def roots_of_cuts(
    group: Group, unclean: Sequence[tuple[Decision, SetVersion]]
) -> tuple[dict[Overlap, list[LogCut]], dict[Decision, list[LogCut]]]:
    """Map each overlap and each unclean election to the cuts that follow from it: each cut has one root.

    A cut follows from the first overlap of the tenure whose epoch it cuts if that master was awake, else from the first
    unclean election after it: a master that froze took the messages before the freeze, and the elected one never had
    them.
    """
    known = set[str | None]()

    def new(cuts: Iterable[LogCut]) -> list[LogCut]:
        found = [cut for cut in cuts if cut.since_event not in known]
        known.update(cut.since_event for cut in found)
        return found

    seen = (overlap for overlap in overlaps(group) if overlap.least > 0 or overlap.unseen)
    at_once = [overlap for overlap in seen if overlap.stale.term != overlap.newer.term]
    at_once.sort(key=lambda overlap: (overlap.stale.term, overlap.newer.term))

    def of_overlaps(*, frozen: bool) -> dict[Overlap, list[LogCut]]:
        return {
            overlap: new(cuts_of(group, overlap.stale.source, overlap.newer.begin, overlap.stale.term))
            for overlap in at_once
            if bool(overlap.frozen) == frozen
        }

    awake = of_overlaps(frozen=False)
    by_election = {fact: new(_cuts_after(group, (fact, before))) for fact, before in unclean}
    return awake | of_overlaps(frozen=True), by_election


def _parted_wrongly(group: Group, cut: LogCut) -> bool:
    """Return True when a log was cut where an epoch record was wrong: the master may have what was cut off.

    Logs are compared by their epoch records. A record that left an epoch out assigns what it copied of it to an older
    epoch, from that one's start on, and so diverges there from a log with the same content.
    """
    return any(fact.start_offset == cut.cut_to for fact in _wrong_records(group, cut))


def _wrong_records(group: Group, cut: LogCut) -> Iterator[RuleBroken]:
    """Yield the epochs that members had wrongly left out of their records before two logs were compared."""
    for fact in group.of(RuleBroken):
        if fact.line == "EPOCH_APPEND_ERR" and group.clocks.elapsed(since(fact), since(cut))[1] > 0:
            yield fact


def _cut_off(cut: LogCut) -> int:
    """Return how many bytes a cut removed; 0 if one end is unknown."""
    return 0 if cut.log_end is None or cut.cut_to is None else cut.log_end - cut.cut_to


def _most_lost(cuts: list[LogCut]) -> int:
    """Return the bytes of the largest cut; 0 without cuts."""
    return max((_cut_off(cut) for cut in cuts), default=0)


def without_alone(group: Group, decided: list[Decision], sets: list[SetVersion]) -> frozenset[str]:
    """Return the sources that cannot acknowledge alone what the next master lacks: allAckInSyncStateSet=true.

    This requires that every master came from the set of the one before, and so holds what that one acknowledged. It is
    empty after an unclean election, when the controllers lost part of their record, or where replication broke a rule.
    """
    broken = any(fact.rule in (RuleId.REPLICATION_RULE, RuleId.ACK_RULE) for fact in group.of(RuleBroken))
    lost = any(controllers_back(group, decided)) or decision_rules.sets_twice(group, decided)
    if broken or lost or unclean_elections(decided, sets):
        return frozenset()
    return frozenset(fact.source_node for fact in group.of(AllAck) if fact.configured)


def overlap_with_cuts(group: Group, overlap: Overlap, cuts: list[LogCut], bound: frozenset[str]) -> Finding:
    """Make ``SPLIT_BRAIN_OVERLAP`` of two masters of different epochs, with what was cut because of it."""
    stale, newer = overlap.stale, overlap.newer
    severity, why = _consequence(group, overlap, cuts, bound)
    old = stale.with_detail(f"epoch {stale.term}, stale")
    new = newer.with_detail(f"epoch {newer.term}")
    cut_evidence = tuple(e for cut in cuts or _compared(group, overlap)[:1] for e in cut.evidence)
    return overlap_finding(
        group,
        overlap,
        severity,
        f"{old} and {new} {_together(overlap)}; {why}.",
        cut_evidence,
        key=(stale.node, stale.term, newer.term, stale.source),
        **change_of(group, stale, newer, newer.begin),
        **_measures(cuts),
    )


def _together(overlap: Overlap) -> str:
    if not overlap.unseen:
        return f"were both master for {between(overlap.least, overlap.most)}"
    longest = seconds(overlap.most)
    return f"may both have been master for up to {longest}: the log that shows the role of the stale one ends before"


def _measures(cuts: Sequence[LogCut]) -> dict[str, Any]:
    """Return the columns that measure a loss, those of the largest cut."""
    cut = max(cuts, key=_cut_off, default=None)
    if cut is None:
        return {}
    return {
        "bytes_lost": _cut_off(cut) or None,
        "offset_before": cut.log_end,
        "offset_after": cut.cut_to,
        "cut_node": cut.who,
        "cut_epoch": cut.term,
        "cut_from": cut.cut_to,
        "cut_to": cut.log_end,
        "unit": Unit.BYTES,
        "lost_from": LostFrom.LOG if cut.done else LostFrom.ONE_SIDE,
    }


def _consequence(group: Group, overlap: Overlap, cuts: list[LogCut], bound: frozenset[str]) -> tuple[str, str]:
    """Return severity and clause for an overlap: what the stale master did meanwhile. ``bound``: the sources that
    cannot acknowledge alone."""
    name, poll = overlap.stale.name, group.timing.us(Timeout.CONTROLLER_POLL, overlap.stale.source)
    failed = [cut for cut in cuts if not cut.done]
    alone = overlap.stale.source not in bound or any(after_time_outs(group, cut) for cut in cuts)
    gravity = whether_acknowledged(group, overlap.stale.source, alone=alone)[0] if cuts else INFO
    if failed and not overlap.frozen:
        return CRITICAL, (
            f"{name} took writes that the other never had, and could not cut them off its log, which ended at "
            f"{failed[0].log_end}: the logs of both differ"
        )
    wrote = f"{name} took {_most_lost(cuts):,} bytes of messages that were cut off when it rejoined"
    if not alone and not failed:
        if cuts:
            return INFO, f"{wrote}; with allAckInSyncStateSet it could not acknowledge them"
        return INFO, "with allAckInSyncStateSet the stale one could not acknowledge writes alone"
    if cuts and not overlap.frozen:
        if overlap.least <= poll:
            return gravity, f"{wrote}; the overlap is no longer than the notice of a change may take"
        return CRITICAL, wrote
    if overlap.frozen and overlap.awake_least <= 0:
        after = f"; {wrote}, the logs do not say whether before it froze or after it woke up" if cuts else ""
        return gravity, f"its log is silent for {seconds(overlap.asleep)} of it, so it was frozen{after}"
    if overlap.frozen:
        there = unreplicated_tail(group, overlap.stale, overlap.newer.begin)
        more = f"; {wrote}, whether acknowledged the logs do not say" if cuts else f"; {there}" if there else ""
        return max(
            WARNING, gravity, key=GRAVITY.index
        ), f"it was frozen for {seconds(overlap.asleep)} of it and awake for the rest{more}"
    if overlap.most <= poll + group.timing.us(Timeout.CONTROLLER_LEARNS):
        return INFO, "no longer than the notice of the change may take"
    return _without_cuts(group, overlap)


def _without_cuts(group: Group, overlap: Overlap) -> tuple[str, str]:
    """Return severity and clause for a stale master that cut nothing off, as far as the logs show."""
    name, compared = overlap.stale.name, _compared(group, overlap)
    if compared and _had_nothing(overlap, compared[0]) and not any(_wrong_records(group, compared[0])):
        return INFO, f"{name} took no writes meanwhile: when it rejoined, its log held nothing that the other's lacked"
    if compared and compared[0].log_end is None:
        return WARNING, (
            f"{name} cut its log back to {compared[0].cut_to} when it rejoined: how much it had behind that is not in "
            f"the logs{_settings_at(group, overlap.stale.source)}"
        )
    alone = unreplicated_tail(group, overlap.stale, overlap.newer.begin)
    return WARNING, alone or "whether the stale one took writes meanwhile the logs do not say"


def _compared(group: Group, overlap: Overlap) -> list[LogCut]:
    """Return the comparisons of the stale master's log after the change, in order of time."""
    of_stale = (
        cut
        for cut in group.of(LogCut)
        if cut.source_node == overlap.stale.source and group.clocks.elapsed(overlap.newer.begin, since(cut))[1] > 0
    )
    return sorted(of_stale, key=lambda cut: (cut.since, cut.since_by))


def _had_nothing(overlap: Overlap, first: LogCut) -> bool:
    """Return True when a stale master had nothing to cut when it rejoined; one that died may have lost what it took."""
    alive = overlap.stale.end_cause not in (DIED, SILENT)
    return alive and first.done and first.log_end is not None and first.log_end == first.cut_to


def unclean_elections(decided: list[Decision], sets: list[SetVersion]) -> list[tuple[Decision, SetVersion]]:
    """Return elections whose winner was not in the SyncStateSet before, each with that set. The set's epoch proves the
    order."""
    before = decision_rules.sets_before(decided, sets)
    return [
        (fact, before[fact])
        for fact in elections_of(decided)
        if fact.decision == ELECTED and fact in before and fact.node not in before[fact].members
    ]


def _cuts_after(group: Group, unclean: tuple[Decision, SetVersion]) -> list[LogCut]:
    """Return what members of the former set cut off their logs, of the former epoch, after an unclean election."""
    fact, before = unclean
    sources = {tenure.source for tenure in group.tenures if tenure.node in before.members}
    return [
        cut
        for source in sorted(sources)
        for cut in cuts_of(group, source, since(fact), before.master_epoch)
        if group.clocks.elapsed(since(fact), since(cut))[1] > 0
    ]


def unclean_finding(group: Group, unclean: tuple[Decision, SetVersion], cuts: list[LogCut]) -> Finding:
    """Make ``UNCLEAN_ELECTION``, with what the members of the former set lost by it."""
    fact, before = unclean
    lost = _most_lost(cuts)
    if lost:
        severity = CRITICAL
        why = (
            f"the log of the former master ended at {cuts[0].log_end} and was cut back to "
            f"{cuts[0].cut_to}: {lost:,} bytes of messages are gone{_settings_at(group, cuts[0].source_node)}"
        )
    elif _nothing_to_lose(group, fact, before):
        severity, why = WARNING, "nothing was lost: the former master's log held nothing more"
    else:
        severity, why = WARNING, "the logs do not show whether anything was lost"
    return group.finding(
        RuleId.UNCLEAN_ELECTION,
        (fact.term, fact.node),
        severity=severity,
        nodes=(fact.node or "?",),
        terms=(fact.term,),
        when=fact.since,
        summary=f"{_name_of(group, fact.node)} was elected master of epoch {fact.term} although the SyncStateSet was "
        f"{{{', '.join(before.members)}}}; {why}.",
        evidence=(
            before.decision.since_event,
            fact.since_event,
            *(x for c in cuts for x in c.evidence),
        ),
        **_measures(cuts),
    )


def _settings_at(group: Group, source: str) -> str:
    settings = settings_of(group, source)
    return f" (it acknowledged with {settings})" if settings else ""


def _name_of(group: Group, node: str | None) -> str:
    """Return a broker's id with the folder of its logs; ``?`` for None."""
    found = next((tenure.name for tenure in group.tenures if tenure.node == node), None)
    return found or node or "?"


def _nothing_to_lose(group: Group, fact: Decision, before: SetVersion) -> bool:
    """Return True when all comparisons of former members with the new master's log found nothing to cut."""
    sources = {tenure.source for tenure in group.tenures if tenure.node in before.members}
    compared = [
        cut
        for cut in group.of(LogCut)
        if cut.source_node in sources and cut.done and group.clocks.elapsed(since(fact), since(cut))[1] > 0
    ]
    return bool(compared) and all(cut.log_end == cut.cut_to and not any(_wrong_records(group, cut)) for cut in compared)


def data_loss(group: Group, causes: dict[tuple[str | None, str], Finding], bound: frozenset[str]) -> Iterator[Finding]:
    """Yield ``POSSIBLE_DATA_LOSS`` for each former master that cut messages off its log. What two of them cut of one
    epoch is one loss: the smaller cut follows from the larger one."""
    found: list[tuple[LogCut, Finding]] = []
    for cut in sorted(group.of(LogCut), key=lambda cut: (not _by_its_writer(group, cut), -_cut_off(cut))):
        lost = _cut_off(cut)
        led = [tenure for tenure in group.tenures if _held(tenure, cut)]
        if lost <= 0 or not led:
            continue
        same = next((finding for other, finding in found if _overlap(cut, other)), None)
        finding = _loss_finding(group, cut, led, causes.get((cut.since_event, cut.source_node)) or same, bound)
        found.append((cut, finding))
        yield finding


def _by_its_writer(group: Group, cut: LogCut) -> bool:
    """Return True when a master cut what it had written itself."""
    return any(tenure.source == cut.source_node and tenure.term == cut.term for tenure in group.tenures)


def _held(tenure: Tenure, cut: LogCut) -> bool:
    """Return True when a broker was master before its log was cut: of the cut epoch, or by its clock of any."""
    if tenure.source != cut.source_node:
        return False
    return tenure.term == cut.term or tenure.begin.at <= cut.since


def _overlap(cut: LogCut, other: LogCut) -> bool:
    """Return True when two cuts share some bytes of one epoch."""
    if cut.term is None or cut.term != other.term:
        return False
    return is_larger(cut.log_end, other.cut_to) and is_larger(other.log_end, cut.cut_to)


def _loss_finding(
    group: Group, cut: LogCut, led: Sequence[Tenure], implied: Finding | None, bound: frozenset[str]
) -> Finding:
    """Make the finding of one cut by a broker that had ``led``; ``implied``: the finding it may follow from."""
    held, epoch, (severity, whether) = _held_of(group, cut, led, bound)
    done = "cut them off" if cut.done else "could not cut them off"
    whose = " that the new master never had"
    if unclear := _parted_wrongly(group, cut):
        severity, whose = WARNING, ""
        whether = (
            "How many of them the new master never had is not in the logs: the record of epochs by which both "
            "were compared was wrong from there on."
        )
    if implied is not None and GRAVITY.index(implied.severity) < GRAVITY.index(severity):
        implied = None  # a graver finding is not shown as the echo of a lesser one
    return group.finding(
        RuleId.POSSIBLE_DATA_LOSS,
        (cut.source_node, cut.since_event),
        severity=severity,
        certainty=POSSIBLE,
        nodes=(cut.who,),
        terms=(epoch,),
        when=cut.since,
        summary=f"{held} ({cut.cut_to} to {cut.log_end}){whose}, and {done}. {whether}",
        evidence=cut.evidence,
        implied_by=implied.finding_id if implied else None,
        **(_measures([cut]) | ({"bytes_lost": None} if unclear else {})),
    )


def _held_of(
    group: Group, cut: LogCut, led: Sequence[Tenure], bound: frozenset[str]
) -> tuple[str, int | None, tuple[str, str]]:
    """Return who held what was cut, as a clause, the epoch it is of, and severity and sentence on whether it had been
    acknowledged. What a broker cuts of an epoch that it did not lead, it had copied from the master of that epoch. An
    epoch that it led later may be missing in its file, which takes no epoch that begins where the last one did
    (``EpochFileCache#appendEntry``)."""
    as_master = [tenure for tenure in led if not is_larger(cut.term, tenure.term)]
    messages = f"held {_cut_off(cut):,} bytes of messages"
    if as_master:
        later = after_time_outs(group, cut)
        alone = cut.source_node not in bound or later is not None
        held = f"{as_master[-1].name}, master of epoch {as_master[-1].term} before, {messages}"
        return held, as_master[-1].term, whether_acknowledged(group, cut.source_node, alone=alone, later=later)
    master = next((tenure for tenure in group.tenures if tenure.term == cut.term), None)
    source, of_whom = (master.source, f" of {master.name}") if master else ("", "")
    held = f"{led[-1].name}, a slave{of_whom} in epoch {cut.term}, {messages}"
    return held, cut.term, whether_acknowledged(group, source, alone=source not in bound, who="the master")


def stores_that_went_back(group: Group) -> Iterator[Finding]:
    """Yield ``STORE_WENT_BACK``; critical where that broker is the next master, so that nobody has what it had."""
    for back in group.of(LogEndedEarlier):
        after = (tenure for tenure in group.tenures if group.clocks.surely_before(since(back), tenure.begin))
        following = min(after, key=lambda tenure: tenure.begin, default=None)
        found = store_went_back(group, back, f"byte {back.before}", f"byte {back.after}", None)
        leads = following is not None and following.source == back.source_node
        yield replace(found, severity=CRITICAL) if leads else found


def losses_coverage(
    group: Group, decided: list[Decision], sets: list[SetVersion], found: Sequence[Finding]
) -> Iterator[RuleCoverage]:
    """Yield the coverage of overlaps, unclean elections and data loss."""
    yield overlap_coverage(group, found)
    later = [fact for fact in elections_of(decided) if fact.decision == ELECTED and is_larger(fact.set_epoch, 1)]
    before = decision_rules.sets_before(decided, sets)
    undecided = sum(1 for fact in later if fact not in before)
    why = "the SyncStateSet before the election is not in the logs"
    yield counted(group, RuleId.UNCLEAN_ELECTION, found, len(later), why, untold=undecided)
    ends = [cut.log_end for cut in group.of(LogCut)]
    untold = ends.count(None)
    why = "how much was cut off" if untold else "whether what was cut off had been acknowledged"
    yield counted(group, RuleId.POSSIBLE_DATA_LOSS, found, len(ends), f"{why} is not in the logs", untold=untold)
