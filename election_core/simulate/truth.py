"""The true events of a world, and which of them its logs prove.

The truth does not depend on the judge: it is computed from the members' states and the kept lines. An event that is
true and proven by the kept lines *must* be found; one that is true but not proven *may* be found; nothing else may be
claimed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations

from election_replay.election_core.model.rows import Finding
from election_replay.election_core.simulate.clocks import WallClock
from election_replay.election_core.simulate.world import DOWN, FROZEN, SECOND, STOPPING_US, UP, Line, Tenure, World

Claim = Callable[[Finding], bool]

BOUND_US = SECOND // 2
"""The clock bound with which worlds are judged."""

LEADS_AGAIN_US = SECOND // 10
"""A frozen leader that gives up within this time after it wakes no longer led: it only had to learn of that."""


@dataclass(frozen=True, slots=True)
class Truth:
    """One true event: rule, nodes, time and words; ``claim`` returns True for a finding that claims exactly this."""

    rule: str
    nodes: tuple[str, ...]
    terms: tuple[int, ...]
    begin_us: int
    end_us: int | None
    provable: bool
    words: str
    claim: Claim | None = None

    def covers(self, finding: Finding) -> bool:
        """Return True when a finding claims exactly this: by ``claim``, else by its nodes and terms."""
        if self.claim is not None:
            return self.claim(finding)
        return (set(finding.nodes), set(finding.terms)) == (set(self.nodes), set(self.terms))


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which no awake process led."""

    before: Tenure
    after: Tenure | None
    begin_us: int
    end_us: int

    @property
    def lasted_us(self) -> int:
        """Its length in us."""
        return self.end_us - self.begin_us


def ends_at(world: World, tenure: Tenure) -> int:
    """Return the end of a leadership, or of the world."""
    return world.now_us if tenure.end_us is None else tenure.end_us


def spans(world: World, condition: str, node: str | None = None) -> list[tuple[str, int, int]]:
    """Return ``(node, begin, end)`` of all times in which processes were in a condition."""
    return [
        (phase.node, phase.begin_us, world.now_us if phase.end_us is None else phase.end_us)
        for phase in world.phases
        if phase.condition == condition and node in (None, phase.node)
    ]


def overlap_us(times: tuple[int, int], other: tuple[int, int]) -> int:
    """Return the overlap of two times in us; 0 if they do not meet."""
    return max(min(times[1], other[1]) - max(times[0], other[0]), 0)


def pairs_of_tenures(world: World) -> Iterable[tuple[Tenure, Tenure]]:
    """Yield all pairs of leaderships of different nodes, the smaller term first."""
    for number, tenure in enumerate(world.tenures):
        for other in world.tenures[number + 1 :]:
            if tenure.node != other.node:
                yield (tenure, other) if tenure.term <= other.term else (other, tenure)


def gaps(world: World) -> list[Gap]:
    """Return the times without a leader after the first one; frozen leaders do not count."""
    frozen = spans(world, FROZEN)
    awake: list[tuple[int, int, Tenure]] = []
    for tenure in world.tenures:
        begin, end = tenure.begin_us, ends_at(world, tenure)
        for _, stopped, resumed in (span for span in frozen if span[0] == tenure.node):
            if begin <= stopped < end:
                awake.append((begin, stopped, tenure))
                begin = min(resumed, end)
        if begin == tenure.begin_us or end - begin >= LEADS_AGAIN_US:
            awake.append((begin, end, tenure))
    found: list[Gap] = []
    last: tuple[int, Tenure] | None = None
    for begin, end, tenure in sorted(awake, key=lambda span: span[:2]):
        if last is not None and begin > last[0]:
            found.append(Gap(last[1], tenure, last[0], begin))
        if last is None or end > last[0]:
            last = (end, tenure)
    if last is not None and last[0] < world.now_us:
        found.append(Gap(last[1], None, last[0], world.now_us))
    return found


def up_during(world: World, begin_us: int, end_us: int) -> int:
    """Return the longest time in us for which one process was up inside an interval."""
    return max((overlap_us((begin_us, end_us), (begin, end)) for _, begin, end in spans(world, UP)), default=0)


def kept(world: World, node: str, *kinds: str) -> list[Line]:
    """Return the lines of a node, of these kinds, that the appender did not drop."""
    return [line for line in world.lines if line.kept and line.node == node and line.kind in kinds]


def lossless(world: World, *nodes: str) -> bool:
    """Return True when no line of these nodes was lost; without nodes, of any node."""
    return all(line.kept for line in world.lines if not nodes or line.node in nodes)


def of_node(node: str) -> Claim:
    """Return a claim that the finding is about exactly this node."""
    return lambda finding: finding.nodes == (node,)


def lines_of(world: World, *kinds: str) -> Iterator[Line]:
    """Yield the lines of these kinds, kept or not."""
    return (line for line in world.lines if line.kind in kinds)


def clocks_agree(world: World) -> bool:
    """Return True when every clock is within its bound."""
    return all(abs(process.clock.ahead(world.now_us)) <= BOUND_US for process in world.processes.values())


def all_is_shown(world: World, *nodes: str) -> bool:
    """Return True when all lines of these nodes (or of all) were kept, and every clock is within its bound."""
    return lossless(world, *nodes) and clocks_agree(world)


def in_names(truths: Iterable[Truth], names: Mapping[str, str]) -> list[Truth]:
    """Return truths that cover findings about the names in the logs; ``names`` maps those to the world's names."""

    def named(covers: Claim) -> Claim:
        return lambda finding: covers(replace(finding, nodes=tuple(names.get(node, node) for node in finding.nodes)))

    return [replace(truth, claim=named(truth.covers)) for truth in truths]


# -- what is true of every protocol with leaders -----------------------------------------------------------------------


def log_gaps(world: World, shows: Callable[[str, int, int], bool]) -> Iterable[Truth]:
    """Yield ``LOG_GAP``: a frozen process, a clock set forward, or lost lines, which look alike. ``shows`` returns True
    if the logs of a protocol prove that a process was frozen between two moments and went on."""
    for node, begin, end in spans(world, FROZEN):
        resumed = any(condition == UP for condition in _after(world, node, end))
        provable = resumed and not _stepped(world, node) and shows(node, begin, end)
        words = f"{node} was frozen for {_seconds(end - begin)}."
        yield Truth("LOG_GAP", (node,), (), begin, end, provable, words, of_node(node))
    for fault in world.faults:
        if fault.action == "clock set" and fault.node is not None:
            words = f"The clock of {fault.node} was set {fault.detail}."
            yield Truth("LOG_GAP", (fault.node,), (), fault.true_us, None, False, words, of_node(fault.node))
    for node in world.names():
        if not lossless(world, node):
            words = f"Lines of {node} were lost."
            yield Truth("LOG_GAP", (node,), (), world.began_us, None, False, words, of_node(node))


def _after(world: World, node: str, time_us: int) -> list[str]:
    return [phase.condition for phase in world.phases if phase.node == node and phase.begin_us == time_us]


def _stepped(world: World, node: str) -> bool:
    return any(fault.action == "clock set" and fault.node == node for fault in world.faults)


def leaderless(world: World, provable: Callable[[Gap], bool], *, by_majority: bool = False) -> Iterable[Truth]:
    """Yield ``LEADERLESS``: gaps in which somebody was up; a claim must be as long as its gap.

    Where a majority commits (``by_majority``), nobody could write since the last commit, whoever called itself leader:
    a claim may be that long.
    """
    if by_majority:
        yield from _unwritten(world)
    for gap in gaps(world):
        up_us = up_during(world, gap.begin_us, gap.end_us)
        if up_us == 0:
            continue
        terms = (gap.before.term, *((gap.after.term,) if gap.after else ()))
        nodes = (gap.before.node, *((gap.after.node,) if gap.after else ()))
        words = f"Nobody led for {_seconds(gap.lasted_us)} after {gap.before.node} (term {gap.before.term})."
        # A gap before the same leadership is a freeze, which is a LOG_GAP.
        shown = gap.after is not gap.before and up_us >= 5 * SECOND and provable(gap)
        unwritten = unwritten_us(world, gap.end_us) if by_majority else 0
        claim = _as_long_as(gap, clocks_agree(world), unwritten)
        yield Truth("LEADERLESS", nodes, terms, gap.begin_us, gap.end_us, shown, words, claim)


def unwritten_us(world: World, time_us: int) -> int:
    """Return the time in us since the last commit before a moment."""
    commits = (time for tenure in world.tenures for time in (tenure.begin_us, *tenure.grew) if time < time_us)
    return time_us - max(commits, default=world.began_us)


def _unwritten(world: World) -> Iterator[Truth]:
    """Yield the times from the last commit to the next leader, even if a leader without majority outlasted them."""
    for before in world.tenures:
        for after in (*(tenure for tenure in world.tenures if tenure.begin_us > before.begin_us), None):
            end_us = after.begin_us if after else world.now_us
            terms = (before.term, *((after.term,) if after else ()))
            lasted_us = unwritten_us(world, end_us)
            words = f"Nobody committed anything for {_seconds(lasted_us)} before {_at(after)}."
            covers = _no_longer_than(set(terms), lasted_us, clocks_agree(world))
            nodes = (before.node, *((after.node,) if after else ()))
            yield Truth("LEADERLESS", nodes, terms, end_us - lasted_us, end_us, False, words, covers)
    yield from _interrupted(world)


def _interrupted(world: World) -> Iterator[Truth]:
    """Yield the times in which a leader committed nothing and led on."""
    for tenure in world.tenures:
        commits = sorted([tenure.begin_us, *tenure.grew, tenure.end_us or world.now_us])
        for begin_us, end_us in pairwise(commits):
            if end_us - begin_us >= SECOND:
                words = f"{tenure.node} committed nothing for {_seconds(end_us - begin_us)} in term {tenure.term}."
                covers = _no_longer_than({tenure.term}, end_us - begin_us, clocks_agree(world))
                yield Truth("LEADERLESS", (tenure.node,), (tenure.term,), begin_us, end_us, False, words, covers)


def _at(after: Tenure | None) -> str:
    return f"{after.node} led term {after.term}" if after else "the end"


def _no_longer_than(terms: set[int], most_us: int, clocks_agree: bool) -> Claim:
    def covers(finding: Finding) -> bool:
        return set(finding.terms) == terms and (
            not clocks_agree or (finding.duration_min_ms or 0) * 1000 <= most_us + SECOND
        )

    return covers


def _as_long_as(gap: Gap, clocks_agree: bool, unwritten_us: int = 0) -> Claim:
    def covers(finding: Finding) -> bool:
        after = gap.after.term if gap.after else gap.before.term
        if not (gap.before.term in finding.terms and after in finding.terms):
            return False
        least, most = (finding.duration_min_ms or 0) * 1000, (finding.duration_max_ms or 0) * 1000
        # Logs end before their world does, so a gap to the end may be longer than they show. And a leader that is
        # told to stop leads, or does not, for as long as its process takes to end.
        ending_us = STOPPING_US if gap.before.how_ended == "stopped" else 0
        bounded = gap.after is None or gap.lasted_us <= most
        longest_us = max(gap.lasted_us, unwritten_us)
        return not clocks_agree or (least <= longest_us + ending_us and bounded)

    return covers


def storms(world: World) -> Iterable[Truth]:
    """Yield ``ELECTION_STORM``: unplanned leaderships in quick succession, and terms between them that nobody led. A
    term that was tried without success is not required to be proven: an isolated member tries alone."""
    in_turn = list(pairwise(sorted(world.tenures, key=lambda tenure: tenure.begin_us)))
    begins = unplanned(world, [after.begin_us for before, after in in_turn if before.how_ended != "stopped"])
    in_vain = sum(max(after.term - before.term - 1, 0) for before, after in in_turn)
    if begins and len(begins) + in_vain >= 3:
        words = f"{len(begins)} elections that nobody planned, and {in_vain} terms without a leader."
        yield storm_of(world, begins, begins, words)


def unplanned(world: World, times_us: Iterable[int]) -> list[int]:
    """Return those of the times that do not follow an operator's act that may change a leader."""
    planned = [fault.true_us for fault in world.faults if fault.action in ("stop", "operator asks")]
    return [time for time in times_us if not any(0 <= time - at < 10 * SECOND for at in planned)]


def storm_of(world: World, elections_us: Sequence[int], shown_us: Iterable[int], words: str) -> Truth:
    """Return a storm of elections, some of which the logs show; elections within seconds are one disturbance."""
    apart: list[int] = []
    for time in sorted(shown_us):
        if not apart or time - apart[-1] >= 13 * SECOND:
            apart.append(time)
    near = all(later - earlier <= 280 * SECOND for earlier, later in pairwise(apart))
    provable = len(apart) >= 3 and near and lossless(world)
    return Truth("ELECTION_STORM", (), (), elections_us[0], elections_us[-1], provable, words, lambda _: True)


def skews(world: World, pairs: Iterable[tuple[Line, Line]]) -> Iterable[Truth]:
    """Yield ``CLOCK_SKEW``: clocks that differ by more than their bounds, or were set. One message from a clock ahead
    to a clock behind proves a difference; a step is not required to be proven."""
    proven = {
        (cause.node, effect.node)
        for cause, effect in pairs
        if effect.wall_us // SECOND * SECOND + SECOND - cause.wall_us // SECOND * SECOND < -2 * BOUND_US
    }
    clocks = {name: process.clock for name, process in world.processes.items()}
    ranges = {name: clock.range_ahead(world.now_us) for name, clock in clocks.items()}
    for ahead, behind in permutations(ranges, 2):
        most_us = ranges[ahead][1] - ranges[behind][0]
        if most_us > BOUND_US:
            provable = (ahead, behind) in proven and not _stepped(world, ahead) and not _stepped(world, behind)
            words = f"The clock of {ahead} was up to {_seconds(most_us)} ahead of the clock of {behind}."
            claim = wrong_clock({name: clocks[name] for name in (ahead, behind)}, world.now_us)
            yield Truth("CLOCK_SKEW", (ahead, behind), (), world.began_us, None, provable, words, claim)
    for name, clock in clocks.items():
        for by_us in clock.steps:
            words = f"The clock of {name} was set by {_seconds(by_us)}."
            claim = wrong_clock({name: clock}, world.now_us)
            yield Truth("CLOCK_SKEW", (name,), (), world.began_us, None, False, words, claim)


def wrong_clock(clocks: Mapping[str, WallClock], now_us: int) -> Claim:
    """Return a claim that one of these clocks was off or set, by no other amount than the finding states. A clock that
    is named alone must have been set, or out of its bound at some time."""

    def covers(finding: Finding) -> bool:
        named = [clocks[name] for name in finding.nodes if name in clocks]
        alone = len(finding.nodes) == 1
        return any(_said_rightly(finding, clock, now_us) for clock in named) and (
            not alone or any(clock.steps or max(map(abs, clock.range_ahead(now_us))) > BOUND_US for clock in named)
        )

    return covers


def _said_rightly(finding: Finding, clock: WallClock, now_us: int) -> bool:
    """Return True when a clock was at some time as far ahead, and was set back as far, as the finding states. Whole
    seconds and drift blur both by less than a second."""
    least, most = clock.range_ahead(now_us)
    said_least, said_most = finding.clock_least_ms, finding.clock_most_ms
    return (
        (said_least is None or said_least * 1000 <= most + SECOND)
        and (said_most is None or said_most * 1000 >= least - SECOND)
        and -(finding.clock_set_by_ms or 0) * 1000 <= most - least + SECOND
    )


def _seconds(us: int) -> str:
    return f"{us / SECOND:.1f} s"


def downtime(world: World, node: str) -> list[tuple[int, int]]:
    """Return the times in which a process did not exist."""
    return [(begin, end) for _, begin, end in spans(world, DOWN, node)]
