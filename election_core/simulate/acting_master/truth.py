"""The findings that the logs of a world with acting masters prove."""

from collections.abc import Iterator

from election_replay.election_core.model.rows import Finding
from election_replay.election_core.protocols.acting_master.tables import MASTER_ID, is_smaller
from election_replay.election_core.simulate.acting_master.machine import WRITE, NameServer
from election_replay.election_core.simulate.acting_master.voice import is_broker
from election_replay.election_core.simulate.truth import (
    Claim,
    Gap,
    Truth,
    all_is_shown,
    clocks_agree,
    ends_at,
    gaps,
    lines_of,
    lossless,
    overlap_us,
    pairs_of_tenures,
    spans,
    up_during,
    wrong_clock,
)
from election_replay.election_core.simulate.world import FROZEN, MILLISECOND, SECOND, UP, Line, Tenure, World

NOTICE_US = 5 * SECOND
"""The most time in us until a broker learns of another smallest id."""
_BLUR_US = 4 * SECOND
"""An upper bound in us of the blur by whole seconds at both ends of two times and by two clocks."""


def truths(world: World) -> list[Truth]:
    """Return everything that a reviewer should be told about a world."""
    parts = (
        *(_overlaps, _against_minimum, _others_knew, _writable, _gaps, _read_only, _stuck, _skipped, _log_gaps, _skews),
    )
    found = [truth for part in parts for truth in part(world)]
    return sorted(found, key=lambda truth: (truth.begin_us, truth.rule, truth.nodes, truth.words))


def number_of(node: str) -> str:
    """Return the name of a node in findings: a broker's id."""
    return node.rpartition("-")[2] if is_broker(node) else node


def _numbers(*nodes: str) -> tuple[str, ...]:
    return tuple(number_of(node) for node in nodes)


def _about(*nodes: str) -> Claim:
    wanted = {*_numbers(*nodes)}
    return lambda finding: set(finding.nodes) == wanted


# -- who serves -----------------------------------------------------------------------------------------------------


def _awake_us(world: World, node: str, begin_us: int, end_us: int) -> int:
    """Return for how much of an interval, in us, a process was awake."""
    return sum(overlap_us((begin_us, end_us), span[1:]) for span in spans(world, UP, node))


def _overlaps(world: World) -> Iterator[Truth]:
    for left, right in pairs_of_tenures(world):
        first, second = sorted((left, right), key=lambda tenure: tenure.begin_us)
        begin, end = second.begin_us, min(ends_at(world, first), ends_at(world, second))
        if end <= begin:
            continue
        awake = min(_awake_us(world, tenure.node, begin, end) for tenure in (first, second))
        provable = awake > NOTICE_US + _BLUR_US and _overlap_shows(world, first, second)
        words = f"{first.node} and {second.node} both ran the special services for {(end - begin) / SECOND:.1f} s."
        nodes, claim = _numbers(first.node, second.node), _overlap_of(world, first, second, end - begin, awake)
        yield Truth("ACTING_MASTER_OVERLAP", nodes, (), begin, end, provable, words, claim)


def _overlap_shows(world: World, first: Tenure, second: Tenure) -> bool:
    ends = all(tenure.how_ended in ("stepped down", "end") for tenure in (first, second))
    return ends and all_is_shown(world, first.node, second.node)


def _overlap_of(world: World, first: Tenure, second: Tenure, lasted_us: int, awake_us: int) -> Claim:
    about = _about(first.node, second.node)

    def covers(finding: Finding) -> bool:
        least, most = (finding.overlap_min_ms or 0) * 1000, (finding.overlap_max_ms or 0) * 1000
        fits = not clocks_agree(world) or least <= lasted_us <= most
        return about(finding) and fits and (finding.severity == "info" or awake_us > NOTICE_US)

    return covers


# -- who should -----------------------------------------------------------------------------------------------------


def _against_minimum(world: World) -> Iterator[Truth]:
    """Yield slaves that start to act at the moment at which they hear of a smaller id."""
    last: dict[str, Line] = {}
    for line in lines_of(world, "BRK_MIN_CHANGED", "BRK_SCHEDULE"):
        if line.kind == "BRK_MIN_CHANGED":
            last[line.node] = line
        elif line.value("flag") and line.node in last:
            heard = last[line.node]
            if heard.true_us == line.true_us and is_smaller(_after(heard), number_of(line.node)):
                words = f"{line.node} began to act although it knew that {_after(heard)} lives."
                yield _not_minimum(line.node, line.true_us, line.true_us, lossless(world, line.node), words)


def _after(line: Line) -> str:
    """Return the id that a slave hears to be the smallest."""
    return str(line.value("after")[0])


def _others_knew(world: World) -> Iterator[Truth]:
    """Yield slaves that acted on while another member knew of a smaller live id."""
    for tenure in world.tenures:
        number = number_of(tenure.node)
        if number == MASTER_ID:
            continue
        for line in lines_of(world, "BRK_MIN_CHANGED"):
            smaller = line.node != tenure.node and is_smaller(_after(line), number)
            if not smaller or not tenure.begin_us <= line.true_us < ends_at(world, tenure):
                continue
            until = min(ends_at(world, tenure), _next_change(world, line))
            if until - line.true_us > NOTICE_US:
                sure = until - line.true_us > NOTICE_US + _BLUR_US and line.true_us - tenure.begin_us > _BLUR_US
                provable = sure and tenure.how_ended == "stepped down" and all_is_shown(world, tenure.node, line.node)
                words = f"{tenure.node} acted on although {line.node} knew that {_after(line)} lives."
                yield _not_minimum(tenure.node, line.true_us, until, provable, words)


def _next_change(world: World, line: Line) -> int:
    """Return when a member next heard of another smallest id, or the end of the world."""
    changes = (change.true_us for change in lines_of(world, "BRK_MIN_CHANGED") if change.node == line.node)
    return next((change for change in changes if change > line.true_us), world.now_us)


def _not_minimum(node: str, begin_us: int, end_us: int, provable: bool, words: str) -> Truth:
    def covers(finding: Finding) -> bool:
        least = (finding.duration_min_ms or 0) * 1000
        near = abs(finding.start_time - begin_us) <= NOTICE_US
        return finding.nodes == (number_of(node),) and near and least <= max(end_us - begin_us, 0)

    return Truth("ACTING_MASTER_NOT_MIN_ID", (number_of(node),), (), begin_us, end_us, provable, words, covers)


def _writable(world: World) -> Iterator[Truth]:
    """Yield name servers without a master that show a slave's topic as writable."""
    for line in lines_of(world, "NS_TOPIC_NEW", "NS_TOPIC_CHANGED"):
        if line.value("number") == MASTER_ID or not line.value("permission") & WRITE:
            continue
        for tenure in world.tenures:
            apart = min(line.true_us - tenure.begin_us, ends_at(world, tenure) - line.true_us)
            if number_of(tenure.node) != MASTER_ID and apart > 0:
                provable = all_is_shown(world) and apart > NOTICE_US + _BLUR_US and tenure.how_ended == "stepped down"
                words = f"{line.node} showed {line.value('topic')} as writable while {tenure.node} acted."
                nodes, at, claim = _numbers(tenure.node), line.true_us, _shown_at(world, tenure.node, line.true_us)
                yield Truth("ACTING_MASTER_WRITABLE", nodes, (), at, at, provable, words, claim)


def _shown_at(world: World, node: str, time_us: int) -> Claim:
    about = _about(node)
    blur_us = NOTICE_US if clocks_agree(world) else world.now_us
    return lambda finding: about(finding) and abs(finding.start_time - time_us) <= blur_us


# -- nobody serves --------------------------------------------------------------------------------------------------


def _change_us(world: World) -> int:
    """Return the most time in us of a change: the name server's time-out, its scan, and the propagation."""
    patience = (process.member.rules for process in world.processes.values() if isinstance(process.member, NameServer))
    return max(rules.silent_ms + rules.scan_ms for rules in patience) * MILLISECOND + NOTICE_US


def _gaps(world: World) -> Iterator[Truth]:
    for gap in gaps(world):
        up_us = up_during(world, gap.begin_us, gap.end_us)
        nodes = _numbers(gap.before.node, *((gap.after.node,) if gap.after else ()))
        words = f"Nobody served for {gap.lasted_us / SECOND:.1f} s after {gap.before.node}."
        for rule, long_us in (("SPECIAL_SERVICE_GAP", 0), ("LEADERLESS", _change_us(world))):
            if gap.lasted_us > long_us:
                provable = gap.lasted_us > long_us + 15 * SECOND and up_us > 5 * SECOND and _gap_shows(world, gap)
                yield Truth(rule, nodes, (), gap.begin_us, gap.end_us, provable, words, _gap_of(world, gap))


def _gap_shows(world: World, gap: Gap) -> bool:
    """Return True when lines prove a gap: the next one's begin is logged, and no running member followed anybody. A
    master that is frozen, and wakes before anybody acts for it, shows only a gap in its log."""
    if gap.begin_us != ends_at(world, gap.before):
        return False
    return gap.after is not None and gap.before.how_ended in ("stopped", "killed") and all_is_shown(world)


def _gap_of(world: World, gap: Gap) -> Claim:
    """Return a claim as long as its gap; a gap no longer than a normal change is no alarm. Of several that begin to
    serve in one second, logs do not show which was first."""
    after = {number_of(tenure.node) for tenure in world.tenures if abs(tenure.begin_us - gap.end_us) <= 2 * SECOND}

    def covers(finding: Finding) -> bool:
        least, most = (finding.duration_min_ms or 0) * 1000, (finding.duration_max_ms or 0) * 1000
        fits = not clocks_agree(world) or least <= gap.lasted_us <= most
        named = finding.nodes[0] == number_of(gap.before.node) and set(finding.nodes[1:]) <= after
        return named and fits and (finding.severity == "info" or gap.lasted_us > _change_us(world))

    return covers


def _read_only(world: World) -> Iterator[Truth]:
    """``LEADERLESS``: slaves act for a master that is gone, or that the name servers lost, and take no writes."""
    masters = [tenure for tenure in world.tenures if number_of(tenure.node) == MASTER_ID]
    slaves = [tenure for tenure in world.tenures if number_of(tenure.node) != MASTER_ID]
    for master in masters:
        after = min((later.begin_us for later in masters if later.begin_us > master.begin_us), default=world.now_us)
        acting = [tenure for tenure in slaves if master.begin_us < tenure.begin_us <= after]
        ended = ends_at(world, master)
        gone = [tenure for tenure in acting if ended < ends_at(world, tenure)]
        if gone:
            shown = any(tenure.begin_us > ended - _BLUR_US for tenure in gone)
            yield _without_writes(world, master, gone, ended, after, shown)
        for tenure in acting:
            begin, end = tenure.begin_us - _change_us(world), ends_at(world, tenure)
            yield _without_writes(world, master, [tenure], begin, end, False)


_BRIEF_US, _LONG_US = 2 * SECOND, 30 * SECOND
"""A time without writes is an alarm from these lengths on: unplanned, and even if planned."""


def _without_writes(
    world: World, master: Tenure, acting: list[Tenure], begin_us: int, end_us: int, shown: bool
) -> Truth:
    acted = max(overlap_us((begin_us, end_us), (tenure.begin_us, ends_at(world, tenure))) for tenure in acting)
    long = acted > 15 * SECOND and acting[0].begin_us - master.begin_us > _BLUR_US
    provable = shown and long and master.how_ended in ("stopped", "killed") and all_is_shown(world)
    nodes = {*_numbers(master.node, *(tenure.node for tenure in acting))}

    def covers(finding: Finding) -> bool:
        least = (finding.duration_min_ms or 0) * 1000
        fits = not clocks_agree(world) or least <= end_us - begin_us
        planned = master.how_ended == "stopped" and least < _LONG_US
        grave = finding.severity == ("info" if least < _BRIEF_US else "warning")
        return (grave or (planned and finding.severity == "info")) and set(finding.nodes) <= nodes and fits

    words = f"The set of {master.node} took no writes for {(end_us - begin_us) / SECOND:.1f} s."
    return Truth("LEADERLESS", tuple(sorted(nodes)), (), begin_us, end_us, provable, words, covers)


# -- pre-online -----------------------------------------------------------------------------------------------------

_FAILED = ("PRE_HA_INFO_ERR", "PRE_NS_ERR", "PRE_REVERSE_ERR", "PRE_SEND_ERR", "PRE_WAIT_LOST")
_SERVED = ("BRK_SERVICE_ON", "BRK_SERVICE_ON_MIN")


def _stuck(world: World) -> Iterator[Truth]:
    """``PRE_ONLINE_STUCK``: three failures or more, over half a minute; a start line or a kill ends the attempt."""
    for node in world.names():
        failures: list[Line] = []
        for line in (of_node for of_node in world.lines if of_node.node == node):
            if line.kind in _FAILED:
                failures.append(line)
            elif line.kind in ("PRE_BEGIN", *_SERVED):
                yield from _stuck_until(world, failures, line if line.kind in _SERVED else None)
                failures = []
        yield from _stuck_until(world, failures, None)


def _stuck_until(world: World, failures: list[Line], served: Line | None) -> Iterator[Truth]:
    if len(failures) < 3:
        return
    node, begin = failures[0].node, failures[0].true_us
    end = served.true_us if served is not None else failures[-1].true_us
    shown = failures[-1].true_us - begin
    if end - begin > 29 * SECOND:
        provable = shown > 31 * SECOND and all_is_shown(world, node)
        words = f"{node} could not come online for {(end - begin) / SECOND:.1f} s."
        yield Truth("PRE_ONLINE_STUCK", (number_of(node),), (), begin, end, provable, words, _either_name(node))


def _skipped(world: World) -> Iterator[Truth]:
    """Yield ``PRE_ONLINE_SKIPPED``: a broker serves without having asked the members, while another one acts."""
    last: dict[str, str] = {}
    for line in world.lines:
        kind = line.kind
        if kind.startswith("PRE_"):
            last[line.node] = kind
        if kind not in _SERVED or (kind == "BRK_SERVICE_ON_MIN" and last.get(line.node) != "PRE_ALONE"):
            continue
        for tenure in world.tenures:
            near, both = (
                tenure.begin_us - 2 * SECOND <= line.true_us <= ends_at(world, tenure),
                (line.node, tenure.node),
            )
            if near and is_smaller(*_numbers(*both)):
                words = f"{line.node} came back without asking {tenure.node}, which acted."
                sure = line.true_us - tenure.begin_us > _BLUR_US and tenure.how_ended == "stepped down"
                provable, claim = sure and all_is_shown(world, *both), _about(*both)
                yield Truth("PRE_ONLINE_SKIPPED", _numbers(*both), (), line.true_us, None, provable, words, claim)


# -- what limits the verdict ----------------------------------------------------------------------------------------


def _log_gaps(world: World) -> Iterator[Truth]:
    """Yield ``LOG_GAP``: a frozen broker, a clock set forward, or lost lines, which look alike."""
    for node in world.names():
        if not is_broker(node):
            continue
        for _, begin, end in spans(world, FROZEN, node):
            resumed = any(span[1] == end for span in spans(world, UP, node))
            steady = not world.processes[node].clock.steps
            provable = end - begin >= 16 * SECOND and resumed and steady and lossless(world, node)
            yield _hole(node, begin, end, provable, f"{node} was frozen for {(end - begin) / SECOND:.1f} s.")
        for fault in world.faults:
            if fault.action == "clock set" and fault.node == node:
                yield _hole(node, fault.true_us, None, False, f"The clock of {node} was set {fault.detail}.")
        if not lossless(world, node):
            yield _hole(node, world.began_us, None, False, f"Lines of {node} were lost.")


def _hole(node: str, begin_us: int, end_us: int | None, provable: bool, words: str) -> Truth:
    return Truth("LOG_GAP", (number_of(node),), (), begin_us, end_us, provable, words, _either_name(node))


def _either_name(node: str) -> Claim:
    """Return a claim about a broker by its id or, if its log no longer prints it, by its folder."""
    return lambda finding: finding.nodes in ((number_of(node),), (node,))


def _skews(world: World) -> Iterator[Truth]:
    """Yield ``CLOCK_SKEW`` of clocks that were set; a mere difference of two clocks cannot be proven here."""
    for name, process in world.processes.items():
        for by_us in process.clock.steps:
            words = f"The clock of {name} was set by {by_us / SECOND:.1f} s."
            # A step needs three lines of a file to show, and a monitor causes one every five seconds.
            provable = by_us < -22 * SECOND and len(process.clock.steps) == 1 and is_broker(name)
            claim = wrong_clock({number_of(name): process.clock}, world.now_us)
            yield Truth("CLOCK_SKEW", _numbers(name), (), world.began_us, None, provable, words, claim)
