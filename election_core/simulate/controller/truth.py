"""The findings that the logs of brokers under a controller prove."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise, zip_longest
from typing import Any

from election_replay.election_core.model.catalogue import CRITICAL, INFO, WARNING
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.simulate.broker_identity import truth as identity_truth
from election_replay.election_core.simulate.broker_identity.machine import IDENTITY_FILE, Identity
from election_replay.election_core.simulate.controller.messages import Periods
from election_replay.election_core.simulate.controller.record import (
    CHANGED,
    CLEANED,
    ELECTED,
    NOBODY,
    Decision,
    decisions,
    elections,
    sets,
)
from election_replay.election_core.simulate.leaders import Signs, line_breaks, near, two_leaders
from election_replay.election_core.simulate.truth import (
    BOUND_US,
    Claim,
    Gap,
    Truth,
    all_is_shown,
    clocks_agree,
    downtime,
    ends_at,
    in_names,
    kept,
    leaderless,
    lines_of,
    log_gaps,
    lossless,
    overlap_us,
    pairs_of_tenures,
    skews,
    spans,
    storm_of,
    unplanned,
)
from election_replay.election_core.simulate.world import FROZEN, MILLISECOND, SECOND, Line, World

SURE_US = 5 * SECOND
"""An upper bound in us of the blur by whole seconds at both ends and by two clocks."""
IN_A_ROW_US = 15 * SECOND
"""Refusals of one attempt to change a set are at most a poll and this time (us) apart."""
FEW_COPIES_US = 60 * SECOND
SILENCE_US = 18 * SECOND
"""A running broker logs every few seconds, so a freeze of this length (us) leaves a gap of ten seconds."""

_BEGINS = ("BRK_MASTER_BEGIN", "HA_MASTER", "HA_MASTER_AGAIN")
_ENDS = (*_BEGINS, "BRK_SLAVE_BEGIN", "HA_SLAVE", "HA_SLAVE_AGAIN")
_SIGNS = Signs(_BEGINS, _ENDS, "epoch", SURE_US, unwritten=(INFO, WARNING))
_SAME_SET = 2013


def truths(world: World) -> list[Truth]:
    """Return everything that a reviewer should be told about a world."""
    found = [truth for part in _PARTS for truth in part(world)]
    found += leaderless(world, lambda gap: _gap_shows(world, gap))
    found += skews(world, _causal_pairs(world))
    everything = [*_in_names(world, found), *identity_truth.truths(world)]
    return sorted(everything, key=lambda truth: (truth.begin_us, truth.rule, truth.nodes, truth.terms))


def _owners(world: World) -> dict[str, list[str]]:
    """Return ``broker id -> processes`` that ever had it; several if an identity was copied or given twice."""
    owners: dict[str, list[str]] = {}
    for name, process in world.processes.items():
        applied = (line.value("identity") for line in lines_of(world, "BRK_REG_APPLIED") if line.node == name)
        for identity in (*applied, process.files.get(IDENTITY_FILE)):
            if isinstance(identity, Identity) and name not in owners.setdefault(str(identity.broker_id), []):
                owners[str(identity.broker_id)].append(name)
    return owners


def names_of(world: World) -> dict[str, str]:
    """Return ``broker id -> process``, the last that had it; with the longer names by which findings tell two of one id
    apart."""
    owners = _owners(world)
    both = {f"{number} ({name})": name for number, names in owners.items() for name in names}
    return both | {number: names[-1] for number, names in owners.items()}


def _in_names(world: World, found: list[Truth]) -> list[Truth]:
    """Return the truths in the world's names; an id of two brokers may mean either."""
    names = names_of(world)
    twins = [(number, name) for number, owners in _owners(world).items() if len(owners) > 1 for name in owners]
    readings = [in_names(found, names), *(in_names(found, names | {number: name}) for number, name in twins)]
    return [
        replace(truth, claim=lambda finding, several=several: any(other.covers(finding) for other in several))
        for truth, *several in zip(found, *readings, strict=True)
    ]


def _named(world: World, ids: Iterable[str | None]) -> tuple[str, ...]:
    names = names_of(world)
    return tuple(names.get(broker_id, broker_id) for broker_id in ids if broker_id is not None)


# -- masters --------------------------------------------------------------------------------------------------------


def _unreachable(world: World) -> Iterator[Truth]:
    """Yield times without a master for clients that could not reach the running one, until the next one served."""
    for stale, newer in pairs_of_tenures(world):
        ended = ends_at(world, stale)
        if stale.term != newer.term and stale.begin_us < newer.begin_us < ended:
            nodes, epochs = (stale.node, newer.node), (stale.term, newer.term)
            words = f"Whoever could not reach {stale.node} had no master until {newer.node} served."
            truth = Truth("LEADERLESS", nodes, epochs, stale.begin_us, newer.begin_us, False, words)
            yield replace(truth, claim=_perhaps_none(truth))


def _perhaps_none(truth: Truth) -> Claim:
    return lambda finding: truth.covers(finding) and finding.severity == INFO and not finding.duration_min_ms


def _gap_shows(world: World, gap: Gap) -> bool:
    """Return True when lines prove a gap: the next master prints its begin, the last one's end is known from others."""
    if gap.after is None or not clocks_agree(world) or gap.lasted_us < SURE_US:
        return False
    if not lossless(world) or _followed_unseen(world):
        return False
    ended = (gap.before.how_ended == "killed" and _missed(world, gap)) or _fell_silent(world, gap)
    return ended and _others_up(world, gap)


def _fell_silent(world: World, gap: Gap) -> bool:
    """Return True when the last master was frozen long enough to show, and woke after the next one began."""
    return any(
        begin == gap.begin_us and end - begin >= SILENCE_US and end > gap.end_us
        for _, begin, end in spans(world, FROZEN, gap.before.node)
    )


def _followed_unseen(world: World) -> bool:
    """Return True when a broker followed a master that never led: a dead one, elected by a late heartbeat."""
    led = {tenure.term for tenure in world.tenures}
    return any(line.kept and line.value("term") not in led for line in lines_of(world, "BRK_SLAVE_BEGIN"))


def _missed(world: World, gap: Gap) -> bool:
    """Return True when the controller saw the last master's connection close as it was killed."""
    lines = (line for line in lines_of(world, "CTL_BROKER_CHANNEL_CLOSED") if line.kept)
    names = names_of(world)
    return any(
        names.get(str(line.value("broker_id"))) == gap.before.node and near(line, gap.begin_us) for line in lines
    )


def _others_up(world: World, gap: Gap) -> bool:
    """Return True when a broker was up in the gap for long enough."""
    brokers = [name for name in world.names() if IDENTITY_FILE in world.processes[name].files]
    phases = [phase for phase in world.phases if phase.node in brokers and phase.condition == "up"]
    times = [(phase.begin_us, world.now_us if phase.end_us is None else phase.end_us) for phase in phases]
    return any(overlap_us(time, (gap.begin_us, gap.end_us)) >= SURE_US for time in times)


# -- elections and sets ------------------------------------------------------------------------------------------------


def _unclean(world: World) -> Iterator[Truth]:
    """Yield winners that were not in the set before; critical if a former member cut messages off after it."""
    for before, after in pairwise(sets(world)):
        if after.outcome != ELECTED or after.winner in before.members or after.recorded.epoch == 1:
            continue
        if after.recorded.set_epoch != before.recorded.set_epoch + 1:
            continue
        (winner,) = _named(world, [after.winner])
        cut = any(lost > 0 and line.true_us > after.line.true_us for line, _, lost in _cuts(world))
        epoch, at, shown = after.recorded.epoch, after.line.true_us, before.shown and after.shown
        words = f"{winner} was elected for epoch {epoch} outside of {{{', '.join(before.members)}}}."
        truth = Truth("UNCLEAN_ELECTION", (winner,), (epoch,), at, at, shown, words)
        yield truth if cut else replace(truth, claim=_uncritical(truth))


def _uncritical(truth: Truth) -> Claim:
    return lambda finding: truth.covers(finding) and finding.severity != CRITICAL


def _cuts(world: World) -> Iterator[tuple[Line, bool, int]]:
    """Yield ``(line, shown, bytes)`` of every cut of a slave's log."""
    local: dict[str, Line] = {}
    for line in world.lines:
        if line.kind == "HA_CLIENT_EPOCHS_LOCAL":
            local[line.node] = line
        elif line.kind == "HA_CLIENT_CUT" and line.node in local:
            before = local.pop(line.node)
            yield line, line.kept and before.kept, before.value("entries")[-1][2] - line.value("start_offset")


def _losses(world: World) -> Iterator[Truth]:
    """Yield former masters that cut messages off; only the truth knows whether these were acknowledged."""
    for line, shown, lost in _cuts(world):
        led = [tenure for tenure in world.tenures if tenure.node == line.node and tenure.begin_us < line.true_us]
        if lost > 0 and led:
            acknowledged = max(tenure.committed for tenure in led) > line.value("start_offset")
            provable = shown and any(_SIGNS.shows_begin(world, tenure) for tenure in led)
            words = f"{line.node}, master of epoch {led[-1].term} before, cut {lost} bytes off its log."
            who, claim = ((line.node,), (led[-1].term,)), _loss_of(line, lost, acknowledged=acknowledged)
            yield Truth("POSSIBLE_DATA_LOSS", *who, line.true_us, line.true_us, provable, words, claim)


def _loss_of(line: Line, lost: int, *, acknowledged: bool) -> Claim:
    """Return a claim with the right bytes, which may be info only if none of them had been acknowledged."""

    def covers(finding: Finding) -> bool:
        right = finding.nodes == (line.node,) and finding.bytes_lost == lost and _at(finding, line)
        return right and not (acknowledged and finding.severity == INFO)

    return covers


def _at(finding: Finding, line: Line) -> bool:
    """Return True when a finding is of the line's second, by the clock that wrote it. Findings are in common time: a
    wrong clock is corrected as far as messages prove it wrong, which leaves two seconds."""
    shown_us = line.wall_us // SECOND * SECOND
    if abs(line.wall_us - line.true_us) <= BOUND_US:
        return finding.start_time == shown_us
    least, most = sorted((shown_us, line.true_us))
    return least - 2 * SECOND <= finding.start_time <= most + 2 * SECOND


def _without_master(world: World) -> Iterator[Truth]:
    since = -1
    for decision in sets(world):
        since = 0 if decision.outcome == ELECTED and decision.shown else since
        if decision.outcome == ELECTED or decision.recorded.master in decision.recorded.members:
            since = since if decision.shown else -1
            continue
        provable = since == 0 and decision.shown
        master = _named(world, [str(decision.recorded.master)])
        words = f"The set {{{', '.join(decision.members)}}} was recorded without its master {master[0]}."
        at, epochs = decision.line.true_us, (decision.recorded.epoch,)
        yield Truth("MASTER_NOT_IN_SYNC_STATE_SET", master, epochs, at, at, provable, words)


def _epochs_back(world: World) -> Iterator[Truth]:
    """Yield smaller epochs given by the controllers, unless an operator had the set removed."""
    largest, shown = 0, 0
    for decision in decisions(world):
        if decision.outcome == CLEANED and not decision.recorded.epoch:
            largest = shown = 0
        if decision.outcome not in (ELECTED, NOBODY):
            continue
        epoch = decision.recorded.epoch
        if epoch < largest:
            provable = decision.outcome == ELECTED and decision.line.kept and epoch < shown
            words = f"The controllers went back from epoch {largest} to {epoch}."
            yield Truth(
                *("EPOCH_REGRESSION", (), (largest, epoch), decision.line.true_us, None, provable, words),
                lambda finding, epoch=epoch: finding.nodes == () and epoch in finding.terms,  # type: ignore[misc]
            )
        largest = epoch
        if decision.outcome == ELECTED and decision.line.kept:
            shown = epoch


def _stores_ahead(world: World) -> Iterator[Truth]:
    """Yield stores that refused a role of an epoch below their own; these lines are warnings, which are never
    dropped."""
    seen: set[tuple[str, object]] = set()
    for line in lines_of(world, "HA_MASTER_STALE", "HA_SLAVE_STALE"):
        epoch, known = line.value("term"), line.value("max_term")
        if isinstance(epoch, int) and isinstance(known, int) and (line.node, epoch) not in seen:
            seen.add((line.node, epoch))
            words = f"The store of {line.node} knows epoch {known} and refused a role of {epoch}."
            yield line_breaks("EPOCH_REGRESSION", line, words)


def _roles_back(world: World) -> Iterator[Truth]:
    """Yield brokers that took a role of an epoch not larger than the last one of the same process."""
    last: dict[str, tuple[int, str, bool]] = {}
    for line in world.lines:
        if line.say is None:
            last.pop(line.node, None)
            continue
        if line.kind not in ("BRK_MASTER_BEGIN", "BRK_SLAVE_BEGIN"):
            continue
        epoch = line.value("term")
        before = last.get(line.node)
        if before is not None and (epoch < before[0] or (epoch == before[0] and line.kind != before[1])):
            words, provable = f"{line.node} went from epoch {before[0]} to {epoch}.", line.kept and before[2]
            yield Truth("EPOCH_REGRESSION", (line.node,), (before[0], epoch), line.true_us, None, provable, words)
        last[line.node] = (epoch, line.kind, line.kept)


def _wrong_elections(world: World) -> Iterator[Truth]:
    """Yield two winners of one epoch, and the recorded master elected again."""
    if any(decision.outcome == CLEANED and not decision.recorded.epoch for decision in decisions(world)):
        return
    winners: dict[int, dict[str, bool]] = {}
    for decision in elections(world):
        if decision.winner is None:
            continue
        epoch, line = decision.recorded.epoch, decision.line
        others = winners.setdefault(epoch, {})
        if others and decision.winner not in others:
            nodes = _named(world, [*others, decision.winner])
            words = f"Epoch {epoch} was given to {' and to '.join(nodes)}."
            provable = decision.shown and any(others.values())
            yield Truth("WRONG_ELECTION", nodes, (epoch,), line.true_us, None, provable, words)
        before = winners.get(epoch - 1, {})
        if decision.winner in before:
            nodes = _named(world, [decision.winner])
            words = f"{nodes[0]} was elected for epoch {epoch} although it was the master of {epoch - 1}."
            provable = decision.shown and before[decision.winner]
            yield Truth("WRONG_ELECTION", nodes, (epoch,), line.true_us, None, provable, words)
        others[decision.winner] = others.get(decision.winner, False) or decision.shown


def _wrong_sets(world: World) -> Iterator[Truth]:
    """Yield one epoch for two sets, and sets changed into themselves."""
    by_epoch: dict[int, dict[tuple[str, ...], bool]] = {}
    for decision in sets(world):
        values = by_epoch.setdefault(decision.recorded.set_epoch, {})
        if values and decision.members not in values:
            provable = decision.shown and any(values.values())
            words = f"SyncStateSet {decision.recorded.set_epoch} was recorded twice."
            yield _wrong_set(decision, provable, words)
        values[decision.members] = values.get(decision.members, False) or decision.shown
    for before, after in pairwise(sets(world)):
        if after.outcome == CHANGED and after.members == before.members:
            words = f"SyncStateSet {after.recorded.set_epoch} is the one before it."
            yield _wrong_set(after, before.shown and after.shown, words)


def _wrong_set(decision: Decision, provable: bool, words: str) -> Truth:
    at, named = decision.line.true_us, f"SyncStateSet {decision.recorded.set_epoch} "
    return Truth("WRONG_SET_CHANGE", (), (), at, at, provable, words, lambda finding: named in finding.summary)


# -- single lines --------------------------------------------------------------------------------------------------


def _line_truth(line: Line, rule: str, words: str, provable: bool) -> Truth:
    """Return the truth of a rule that one line breaks; the finding names the line's second and node."""
    return Truth(rule, (line.node,), (), line.true_us, line.true_us, provable, words, lambda f: _at(f, line))


def _broken_lines(world: World) -> Iterator[Truth]:
    for line in lines_of(world, *_BREAKS):
        rule, breaks = _BREAKS[line.kind]
        if breaks(line.values):
            yield _line_truth(line, rule, f"{line.node} broke {rule}.", line.kept)


def _refused_wrongly(values: dict[str, Any]) -> bool:
    return any(asked == refused for asked, refused in (
        (values.get("peer", 0), values.get("node", 1)),
        (values.get("term", 0), values.get("from_term", 1)),
        (values.get("sync_state_set_epoch", 0), values.get("value", 1)),
    ))  # fmt: skip


_REFUSALS = ("CTL_SSS_NOT_MASTER", "CTL_SSS_MASTER_EPOCH", "CTL_SSS_EPOCH")
_BREAKS: dict[str, tuple[str, Callable[[dict[str, Any]], bool]]] = {
    **dict.fromkeys(_REFUSALS, ("WRONG_SET_CHANGE", _refused_wrongly)),
    "HA_CAUGHT_UP": (
        "REPLICATION_RULE",
        lambda values: values["max_offset"] < max(values["confirm_offset"], values["start_offset"]),
    ),
}


def _wrong_cuts(world: World) -> Iterator[Truth]:
    """Yield logs that were cut elsewhere than where they diverge from the master's."""
    master: dict[str, Line] = {}
    local: dict[str, Line] = {}
    for line in world.lines:
        if line.kind == "HA_CLIENT_EPOCHS_MASTER":
            master[line.node] = line
        elif line.kind == "HA_CLIENT_EPOCHS_LOCAL":
            local[line.node] = line
        elif line.kind == "HA_CLIENT_CUT_AT" and line.node in master and line.node in local:
            theirs, mine = master[line.node], local[line.node]
            if line.value("start_offset") != _parting(theirs.value("entries"), mine.value("entries")):
                shown = line.kept and theirs.kept and mine.kept
                words = f"{line.node} cut its log at {line.value('start_offset')}."
                yield _line_truth(line, "REPLICATION_RULE", words, shown)


def _parting(theirs: Iterable[tuple[int, int, int]], mine: Iterable[tuple[int, int, int]]) -> int:
    """Return the last offset up to which two logs are the same."""
    ends = {(epoch, start): end for epoch, start, end in theirs}
    return max((min(end, ends[epoch, start]) for epoch, start, end in mine if (epoch, start) in ends), default=-1)


def _wrong_acks(world: World) -> Iterator[Truth]:
    """Yield waits for another number of acknowledgements than configured; these lines are warnings."""
    for line in lines_of(world, "HA_ACK_TIMEOUT"):
        if (line.value("count") == -1) != world.processes[line.node].member.rules.all_ack:
            dumped = any(
                before.kept and before.node == line.node and "allAckInSyncStateSet=" in before.text
                for before in world.lines
            )
            words = f"{line.node} waited for {line.value('count')} acknowledgements."
            yield _line_truth(line, "ACK_RULE", words, dumped)


def _poll_us(world: World, broker: str) -> int:
    """Return how often a broker asks for the master, in us."""
    periods: Periods = world.processes[broker].member.rules.periods
    return periods.poll * MILLISECOND


def _stale_sets(world: World) -> Iterator[Truth]:
    """Yield masters whose changes of the set failed for longer than a poll, by their error lines."""
    rows: dict[tuple[str, object], list[list[Line]]] = {}
    for line in lines_of(world, "BRK_SSS_ALTER_ERR"):
        if line.value("code") == _SAME_SET:
            continue
        in_a_row = rows.setdefault((line.node, line.value("term")), [])
        if in_a_row and line.true_us - in_a_row[-1][-1].true_us <= _poll_us(world, line.node) + IN_A_ROW_US:
            in_a_row[-1].append(line)
        else:
            in_a_row.append([line])
    for (node, epoch), several in rows.items():
        poll = _poll_us(world, node)
        for lines in several:
            lasted = lines[-1].wall_us - lines[0].wall_us
            if lasted > poll - SECOND:
                words = f"{node} could not change its SyncStateSet for {lasted / SECOND:.1f} s."
                sure = lasted > poll + 2 * SECOND and isinstance(epoch, int)
                gaps = [later.true_us - earlier.true_us for earlier, later in pairwise(lines)]
                steady = not world.processes[node].clock.steps
                provable = sure and steady and max(gaps, default=0) < poll + IN_A_ROW_US - 2 * SECOND
                who, when = ((node,), (epoch,) if isinstance(epoch, int) else ()), (lines[0].true_us, lines[-1].true_us)
                yield Truth("SYNC_STATE_SET_STALE", *who, *when, provable, words)


def _small_sets(world: World) -> Iterator[Truth]:
    """Yield sets that lacked a broker which lived for a minute and more."""
    recorded = sets(world)
    complete = all_is_shown(world)
    for decision, following in zip_longest(recorded, recorded[1:]):
        begin, end = decision.line.true_us, world.now_us if following is None else following.line.true_us
        inside = _named(world, decision.members)
        lived = {
            name: max((overlap_us((begin, end), life) for life in _existed(world, name)), default=0)
            for name in _owners_names(world).difference(inside)
        }
        longest = max(lived.values(), default=0)
        if longest > FEW_COPIES_US - 2 * SECOND:
            who, lasted = (tuple(sorted(lived)), (decision.recorded.epoch,)), f"{longest / SECOND:.1f} s"
            words = f"The set {{{', '.join(decision.members)}}} was without a living broker for {lasted}."
            provable = complete and longest > FEW_COPIES_US + SILENCE_US and following is not None
            yield Truth("SYNC_STATE_SET_SMALL", *who, begin, end, provable, words, _no_longer(who[1], longest))


def _owners_names(world: World) -> set[str]:
    return {name for names in _owners(world).values() for name in names}


def _existed(world: World, name: str) -> Iterator[tuple[int, int]]:
    """Yield when the process of a broker existed, frozen or not."""
    ends = [begin for begin, _ in downtime(world, name)]
    starts = [world.began_us, *(end for _, end in downtime(world, name))]
    return zip(starts, [*ends, world.now_us], strict=True)


def _no_longer(epochs: tuple[int, ...], longest_us: int) -> Claim:
    return lambda finding: finding.terms == epochs and (finding.duration_min_ms or 0) * 1000 <= longest_us + SECOND


# -- availability -----------------------------------------------------------------------------------------------------


def _unrecorded(world: World) -> Iterator[Truth]:
    """Yield times in which the controllers recorded no master while a broker went on as master."""
    nobody: Decision | None = None
    for decision in elections(world):
        if decision.outcome == NOBODY:
            nobody = nobody or decision
            continue
        if nobody is not None:
            yield from _without_record(world, nobody, decision)
        nobody = None
    if nobody is not None:
        yield from _without_record(world, nobody, None)


def _without_record(world: World, nobody: Decision, elected: Decision | None) -> Iterator[Truth]:
    begin, end = nobody.line.true_us, world.now_us if elected is None else elected.line.true_us
    if _went_on(world, begin, end):
        winners = [] if elected is None else [elected.winner]
        terms = tuple(decision.recorded.epoch for decision in (nobody, elected) if decision is not None)
        words = f"The controllers recorded no master for {(end - begin) / SECOND:.1f} s."
        yield Truth("LEADERLESS", _named(world, winners), terms, begin, end, False, words, _info_about(terms))


def _went_on(world: World, begin_us: int, end_us: int) -> bool:
    """Return True when a broker was master for all that time, up to a few seconds before its end."""
    return any(
        tenure.begin_us < begin_us and ends_at(world, tenure) > max(begin_us, end_us - 3 * SECOND)
        for tenure in world.tenures
    )


def _info_about(terms: tuple[int, ...]) -> Claim:
    return lambda finding: finding.severity == INFO and bool(set(finding.terms) & set(terms))


def _storms(world: World) -> Iterator[Truth]:
    """Yield storms of unplanned elections, with or without winner; elections within seconds are one disturbance. An
    election after one without winner ends what that one began."""
    begun = [after.line.true_us for before, after in pairwise(elections(world)) if before.outcome == ELECTED]
    times = unplanned(world, [election.line.true_us for election in elections(world)[1:]])
    if len(times) >= 3:
        yield storm_of(world, times, {*times} & {*begun}, f"{len(times)} elections that nobody planned.")


def _log_gaps(world: World) -> Iterable[Truth]:
    """Return log gaps: a running broker logs every few seconds; the controllers' silence is none of the broker set."""

    def shows(node: str, begin_us: int, end_us: int) -> bool:
        lines = kept(world, node, *_ENDS)
        return end_us - begin_us >= SILENCE_US and any(line.true_us < begin_us for line in lines)

    return log_gaps(world, shows)


def _silent_masters(world: World) -> Iterator[Truth]:
    """Yield masters that may have taken no writes, as they printed nothing: frozen, or with lost lines."""
    for gap in _log_gaps(world):
        yield replace(gap, rule="WRITES_REFUSED", provable=False)


def _causal_pairs(world: World) -> Iterator[tuple[Line, Line]]:
    """Yield kept lines of (cause, effect): an election, and a role taken because of it."""
    elected: dict[int, Line] = {}
    for line in lines_of(world, "CTL_EVENT", "BRK_MASTER_BEGIN", "BRK_SLAVE_BEGIN"):
        if not line.kept:
            continue
        if line.kind != "CTL_EVENT":
            if line.value("term") in elected:
                yield elected[line.value("term")], line
        elif any(event[0] == "ElectMasterEvent" for event in line.value("events")):
            elected.setdefault(line.value("recorded").epoch, line)


_PARTS: tuple[Callable[[World], Iterable[Truth]], ...] = (
    *(lambda world: two_leaders(world, _SIGNS), _unclean, _losses, _without_master),
    *(_epochs_back, _stores_ahead, _roles_back, _wrong_elections, _wrong_sets),
    *(_broken_lines, _wrong_cuts, _wrong_acks, _stale_sets, _small_sets),
    *(_unrecorded, _unreachable, _storms, _log_gaps, _silent_masters),
)
