"""What really happened in a world, and what its logs prove of it.

The truth knows nothing of the judge: it is made from the states of the members and the lines that were kept. A thing
that is true and that the kept lines prove *must* be found; a thing that is true but not proven *may* be found; nothing
else may be claimed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations

from election_replay.election_core.model.rows import Finding
from election_replay.election_core.simulate.clocks import WallClock
from election_replay.election_core.simulate.world import DOWN, FROZEN, SECOND, STOPPING_US, UP, Leadership, Line, World

Claim = Callable[[Finding], bool]

BOUND_US = SECOND // 2
"""The clock bound with which worlds are judged."""

LEADS_AGAIN_US = SECOND // 10
"""A leader that gives up within so long after it was frozen led no more: it only had to hear of it."""


@dataclass(frozen=True, slots=True)
class Truth:
    """One true thing: the rule it breaks, who, when, in words; ``claim`` tells whether a finding claims just this."""

    rule: str
    nodes: tuple[str, ...]
    terms: tuple[int, ...]
    begin_us: int
    end_us: int | None
    provable: bool
    words: str
    claim: Claim | None = None

    def covers(self, finding: Finding) -> bool:
        """Whether a finding claims just this: by ``claim``, else by the nodes and terms that it names."""
        if self.claim is not None:
            return self.claim(finding)
        return (set(finding.nodes), set(finding.terms)) == (set(self.nodes), set(self.terms))


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which no process that is awake led."""

    before: Leadership
    after: Leadership | None
    begin_us: int
    end_us: int

    @property
    def lasted_us(self) -> int:
        """How long."""
        return self.end_us - self.begin_us


def ends_at(world: World, reign: Leadership) -> int:
    """The end of a reign, or of the world."""
    return world.now_us if reign.end_us is None else reign.end_us


def spans(world: World, condition: str, node: str | None = None) -> list[tuple[str, int, int]]:
    """``(node, begin, end)`` of all times in which processes were in a condition."""
    return [
        (spell.node, spell.begin_us, world.now_us if spell.end_us is None else spell.end_us)
        for spell in world.spells
        if spell.condition == condition and node in (None, spell.node)
    ]


def overlap_us(times: tuple[int, int], other: tuple[int, int]) -> int:
    """How long two times overlap; zero for not at all."""
    return max(min(times[1], other[1]) - max(times[0], other[0]), 0)


def pairs_of_reigns(world: World) -> Iterable[tuple[Leadership, Leadership]]:
    """Every two reigns of different nodes, each pair once, the smaller term first."""
    for number, reign in enumerate(world.reigns):
        for other in world.reigns[number + 1 :]:
            if reign.node != other.node:
                yield (reign, other) if reign.term <= other.term else (other, reign)


def gaps(world: World) -> list[Gap]:
    """The times without a leader after the first one, frozen leaders not counted."""
    frozen = spans(world, FROZEN)
    awake: list[tuple[int, int, Leadership]] = []
    for reign in world.reigns:
        begin, end = reign.begin_us, ends_at(world, reign)
        for _, stopped, resumed in (span for span in frozen if span[0] == reign.node):
            if begin <= stopped < end:
                awake.append((begin, stopped, reign))
                begin = min(resumed, end)
        if begin == reign.begin_us or end - begin >= LEADS_AGAIN_US:
            awake.append((begin, end, reign))
    found: list[Gap] = []
    last: tuple[int, Leadership] | None = None
    for begin, end, reign in sorted(awake, key=lambda span: span[:2]):
        if last is not None and begin > last[0]:
            found.append(Gap(last[1], reign, last[0], begin))
        if last is None or end > last[0]:
            last = (end, reign)
    if last is not None and last[0] < world.now_us:
        found.append(Gap(last[1], None, last[0], world.now_us))
    return found


def up_during(world: World, begin_us: int, end_us: int) -> int:
    """The longest time that one process was up inside an interval."""
    return max((overlap_us((begin_us, end_us), (begin, end)) for _, begin, end in spans(world, UP)), default=0)


def kept(world: World, node: str, *kinds: str) -> list[Line]:
    """The lines of a node and of these kinds that the appender did not drop."""
    return [line for line in world.lines if line.kept and line.node == node and line.kind in kinds]


def lossless(world: World, *nodes: str) -> bool:
    """Whether no line of these nodes was lost; of all, where none is named."""
    return all(line.kept for line in world.lines if not nodes or line.node in nodes)


def of_node(node: str) -> Claim:
    """A finding is about just this node."""
    return lambda finding: finding.nodes == (node,)


def lines_of(world: World, *kinds: str) -> Iterator[Line]:
    """The lines that say something of these kinds, kept or not."""
    return (line for line in world.lines if line.kind in kinds)


def clocks_agree(world: World) -> bool:
    """Whether every clock stayed within its bound."""
    return all(abs(process.clock.ahead(world.now_us)) <= BOUND_US for process in world.processes.values())


def all_is_shown(world: World, *nodes: str) -> bool:
    """Whether all lines of these nodes, or of all, are there, and every clock is right."""
    return lossless(world, *nodes) and clocks_agree(world)


def in_names(truths: Iterable[Truth], names: Mapping[str, str]) -> list[Truth]:
    """Truths that cover findings about ``names``' keys, which the logs print for the members that a world names."""

    def named(covers: Claim) -> Claim:
        return lambda finding: covers(replace(finding, nodes=tuple(names.get(node, node) for node in finding.nodes)))

    return [replace(truth, claim=named(truth.covers)) for truth in truths]


# -- what is true of every protocol with leaders -----------------------------------------------------------------------


def log_gaps(world: World, shows: Callable[[str, int, int], bool]) -> Iterable[Truth]:
    """``LOG_GAP``: a frozen process says nothing; a clock that is set forward, or lost lines, look alike.

    ``shows`` says whether the logs of a protocol prove that a process was frozen between two moments and went on.
    """
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
    return [spell.condition for spell in world.spells if spell.node == node and spell.begin_us == time_us]


def _stepped(world: World, node: str) -> bool:
    return any(fault.action == "clock set" and fault.node == node for fault in world.faults)


def leaderless(world: World, provable: Callable[[Gap], bool], *, by_majority: bool = False) -> Iterable[Truth]:
    """``LEADERLESS``: gaps in which somebody was up; a claim must be as long as its gap.

    Where a majority commits (``by_majority``), nobody could write from the last commit on, whoever called itself
    leader: a claim may be as long as that.
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
        shown = gap.after is not gap.before and up_us >= 5 * SECOND and provable(gap)  # else LOG_GAP tells of a freeze
        unwritten = unwritten_us(world, gap.end_us) if by_majority else 0
        claim = _as_long_as(gap, clocks_agree(world), unwritten)
        yield Truth("LEADERLESS", nodes, terms, gap.begin_us, gap.end_us, shown, words, claim)


def unwritten_us(world: World, time_us: int) -> int:
    """For how long nobody had committed anything, before a moment."""
    commits = (time for reign in world.reigns for time in (reign.begin_us, *reign.grew) if time < time_us)
    return time_us - max(commits, default=world.began_us)


def _unwritten(world: World) -> Iterator[Truth]:
    """The times from the last commit to the next leader, also where a leader without majority outlasted them."""
    for before in world.reigns:
        for after in (*(reign for reign in world.reigns if reign.begin_us > before.begin_us), None):
            end_us = after.begin_us if after else world.now_us
            terms = (before.term, *((after.term,) if after else ()))
            lasted_us = unwritten_us(world, end_us)
            words = f"Nobody committed anything for {_seconds(lasted_us)} before {_at(after)}."
            covers = _no_longer_than(set(terms), lasted_us, clocks_agree(world))
            nodes = (before.node, *((after.node,) if after else ()))
            yield Truth("LEADERLESS", nodes, terms, end_us - lasted_us, end_us, False, words, covers)
    yield from _interrupted(world)


def _interrupted(world: World) -> Iterator[Truth]:
    """The times in which a leader committed nothing and led on."""
    for reign in world.reigns:
        commits = sorted([reign.begin_us, *reign.grew, reign.end_us or world.now_us])
        for begin_us, end_us in pairwise(commits):
            if end_us - begin_us >= SECOND:
                words = f"{reign.node} committed nothing for {_seconds(end_us - begin_us)} in term {reign.term}."
                covers = _no_longer_than({reign.term}, end_us - begin_us, clocks_agree(world))
                yield Truth("LEADERLESS", (reign.node,), (reign.term,), begin_us, end_us, False, words, covers)


def _at(after: Leadership | None) -> str:
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
        # Logs end before their world does: a gap to the end may have lasted longer than they tell. And a leader that is
        # told to stop leads, or does not, for as long as its process takes to end.
        ending_us = STOPPING_US if gap.before.how_ended == "stopped" else 0
        bounded = gap.after is None or gap.lasted_us <= most
        longest_us = max(gap.lasted_us, unwritten_us)
        return not clocks_agree or (least <= longest_us + ending_us and bounded)

    return covers


def storms(world: World) -> Iterable[Truth]:
    """``ELECTION_STORM``: reigns that nobody planned, one after the other, and terms that nobody led between them.

    What proves that a term was tried in vain is left open: an isolated member tries alone.
    """
    in_turn = list(pairwise(sorted(world.reigns, key=lambda reign: reign.begin_us)))
    begins = unplanned(world, [after.begin_us for before, after in in_turn if before.how_ended != "stopped"])
    in_vain = sum(max(after.term - before.term - 1, 0) for before, after in in_turn)
    if begins and len(begins) + in_vain >= 3:
        words = f"{len(begins)} elections that nobody planned, and {in_vain} terms without a leader."
        yield storm_of(world, begins, begins, words)


def unplanned(world: World, times_us: Iterable[int]) -> list[int]:
    """Those of these times before which no operator did anything that may change a leader."""
    planned = [fault.true_us for fault in world.faults if fault.action in ("stop", "operator asks")]
    return [time for time in times_us if not any(0 <= time - at < 10 * SECOND for at in planned)]


def storm_of(world: World, elections_us: Sequence[int], shown_us: Iterable[int], words: str) -> Truth:
    """A storm of elections, of which the logs show some; what comes within seconds of one is one disturbance."""
    apart: list[int] = []
    for time in sorted(shown_us):
        if not apart or time - apart[-1] >= 13 * SECOND:
            apart.append(time)
    near = all(later - earlier <= 280 * SECOND for earlier, later in pairwise(apart))
    provable = len(apart) >= 3 and near and lossless(world)
    return Truth("ELECTION_STORM", (), (), elections_us[0], elections_us[-1], provable, words, lambda _: True)


def skews(world: World, pairs: Iterable[tuple[Line, Line]]) -> Iterable[Truth]:
    """``CLOCK_SKEW``: clocks that differ by more than their bounds, or were set.

    One message from a clock that is ahead to one that is behind proves the first; what proves a step is left open.
    """
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
    """One of these clocks was off or was set, by no other amount than is said; perhaps it or another one.

    A clock that is named alone is one that was set, or was out of its bound at some time.
    """

    def covers(finding: Finding) -> bool:
        named = [clocks[name] for name in finding.nodes if name in clocks]
        alone = len(finding.nodes) == 1
        return any(_said_rightly(finding, clock, now_us) for clock in named) and (
            not alone or any(clock.steps or max(map(abs, clock.range_ahead(now_us))) > BOUND_US for clock in named)
        )

    return covers


def _said_rightly(finding: Finding, clock: WallClock, now_us: int) -> bool:
    """Whether a clock was at some time as far ahead as a finding says, and was put back as far as it says.

    Whole seconds and drift blur both by less than a second.
    """
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
    """The times in which a process did not exist."""
    return [(begin, end) for _, begin, end in spans(world, DOWN, node)]
