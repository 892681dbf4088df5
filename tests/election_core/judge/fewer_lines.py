"""The law of fewer lines: what a part of the logs proves, the whole implies.

Take away a member, a file, the head, the tail, all INFO lines, all but one member, all but some lines. A finding may
weaken or vanish. None that is definite or proven may appear, no least may grow, no certainty may rise, and nobody is
named as leader of a term of whom the whole says that another one was; nor does anybody die who by the whole lived on.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from election_replay.election_core.fold.process_runs import SETTING, START_KINDS
from election_replay.election_core.fold.roles import DIED, DOWN, LEADER, STOPPED, UNKNOWN
from election_replay.election_core.judge.leaderless import MAX_INFO_GAP
from election_replay.election_core.model.catalogue import POSSIBLE
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Finding, RoleInterval, Row, Term
from election_replay.election_core.model.timing import SECOND, Timeout
from tests.election_core import story

Lines = Mapping[str, Sequence[story.Seen]]
"""The lines of each member's folder, stream by stream in the order in which they were written."""
Fold = Callable[[str, Sequence[story.Seen]], Iterable[Fact]]
"""What a folder's lines prove."""

ABOUT_THE_LOGS = frozenset({"LOG_GAP", "UNKNOWN_VERSION", "CLOCK_SKEW"})
"""What these say is true of the lines that are there, however few: a log with a hole in it has one."""
SLACK_US = MAX_INFO_GAP
"""A time is known as well as the lines around it. One follower's end of a connection and another one's time-out tell of
one death, and are so far apart: what lasted for less is worth knowing, not an alarm."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of the logs, and how it was made."""

    how: str
    lines: Lines


def cuts(lines: Lines, seed: int, count: int) -> Iterator[Cut]:
    """So many parts of the logs, of all kinds in turn; another seed goes on where the one before it ended."""
    for number in range(seed * count, (seed + 1) * count):
        yield cut(lines, number)


def first_cuts(lines: Lines, seed: int, count: int) -> Iterator[Cut]:
    """Parts of the first nine kinds, from one source of chance: those that once proved too much."""
    source = random.Random(seed)
    for number in range(count):
        yield _MAKERS[number % 9](lines, source)


def cut(lines: Lines, number: int) -> Cut:
    """One part of the logs."""
    made = _MAKERS[number % len(_MAKERS)](lines, random.Random(number))
    return replace(made, how=f"cut {number}: {made.how}")


def _some_of(lines: Lines, how: str, keep: Callable[[story.Seen], bool], only: str | None = None) -> Cut:
    return Cut(how, {node: [line for line in of if node != (only or node) or keep(line)] for node, of in lines.items()})


def _without_a_member(lines: Lines, source: random.Random) -> Cut:
    gone = source.choice(sorted(lines))
    return Cut(f"without {gone}", {node: of for node, of in lines.items() if node != gone})


def _one_member(lines: Lines, source: random.Random) -> Cut:
    alone = source.choice(sorted(lines))
    return Cut(f"{alone} alone", {alone: lines[alone]})


def _moment(lines: Lines, source: random.Random) -> int:
    times = sorted(each.time for of in lines.values() for each in of)
    return source.choice(times) if times else 0


def _of_all_or_one(lines: Lines, source: random.Random) -> str | None:
    return source.choice([None, *sorted(lines)])


def _no_head(lines: Lines, source: random.Random) -> Cut:
    cut, only = _moment(lines, source), _of_all_or_one(lines, source)
    return _some_of(lines, f"{only or 'all'} from {cut} on", lambda line: line.time >= cut, only)


def _no_tail(lines: Lines, source: random.Random) -> Cut:
    cut, only = _moment(lines, source), _of_all_or_one(lines, source)
    return _some_of(lines, f"{only or 'all'} until {cut}", lambda line: line.time < cut, only)


def _no_info(lines: Lines, source: random.Random) -> Cut:
    only = _of_all_or_one(lines, source)
    return _some_of(lines, f"{only or 'all'} without INFO", lambda line: line.level != "INFO", only)


def _some_lines(lines: Lines, source: random.Random) -> Cut:
    """Fifty lines of one member that stand together, beside what another one has."""
    node = source.choice(sorted(lines))
    begin = source.randrange(max(len(lines[node]) - 50, 1))
    kept = {node: lines[node][begin : begin + 50]}
    if source.random() < 0.5:
        other = source.choice(sorted(lines))
        kept.setdefault(other, lines[other])
    return Cut(f"{sorted(kept)}, of {node} the lines {begin} to {begin + 50}", kept)


def _no_stream(lines: Lines, source: random.Random) -> Cut:
    node = source.choice(sorted(lines))
    gone = source.choice(sorted({each.stream for each in lines[node]}) or [""])
    return _some_of(lines, f"{node} without {gone}", lambda line: line.stream != gone, node)


def _pieces(lines: Lines, source: random.Random) -> Cut:
    """Each file of each member cut at places of its own, as where files were rotated and copied one by one."""
    kept: dict[str, list[story.Seen]] = {}
    for node, of in sorted(lines.items()):
        bounds = {}
        for stream in sorted({each.stream for each in of}):
            count = sum(each.stream == stream for each in of)
            first, last = sorted(source.randrange(count + 1) for _ in "fl")
            bounds[stream] = (first, last)
        kept[node] = _between(of, bounds)
    return Cut("each file cut by itself", kept)


def _between(lines: Sequence[story.Seen], bounds: Mapping[str, tuple[int, int]]) -> list[story.Seen]:
    """Of each stream the lines between two places."""
    places: dict[str, int] = {}
    kept = []
    for line in lines:
        place = places[line.stream] = places.get(line.stream, -1) + 1
        if bounds[line.stream][0] <= place < bounds[line.stream][1]:
            kept.append(line)
    return kept


def _one_file(lines: Lines, source: random.Random) -> Cut:
    """One file of one member without its head or its tail, while its others are whole."""
    node = source.choice(sorted(lines))
    stream = source.choice(sorted({each.stream for each in lines[node]}) or [""])
    times = sorted(each.time for each in lines[node] if each.stream == stream) or [0]
    cut, head = source.choice(times), source.random() < 0.5

    def keep(line: story.Seen) -> bool:
        return line.stream != stream or (line.time >= cut if head else line.time < cut)

    return _some_of(lines, f"{node}'s {stream} {'from' if head else 'until'} {cut}", keep, node)


def _last_lines(lines: Lines, source: random.Random) -> Cut:
    """What a person copies from the end of one member's log."""
    node, count = source.choice(sorted(lines)), source.choice([50, 300, 1000])
    return Cut(f"the last {count} lines of {node}", {node: lines[node][-count:]})


def _two_spans(lines: Lines, source: random.Random) -> Cut:
    """Two members, each of a time of its own."""
    kept = {}
    for node in source.sample(sorted(lines), min(len(lines), 2)):
        first, last = sorted(_moment(lines, source) for _ in "fl")
        kept[node] = [line for line in lines[node] if first <= line.time <= last]
    return Cut(f"a span each of {' and '.join(kept)}", kept)


def _one_file_a_member(lines: Lines, source: random.Random) -> Cut:
    """All that one member printed, as its container's output: the lines of its logs in order of time, in one file; of
    one log in the order in which they were written, also where its clock was set back a little. Beyond that nobody
    knows in which order several logs were written. Snapshots of its metadata, which others take, stay files."""
    node = source.choice(sorted(lines))
    latest: dict[str, int] = {}
    timed, set_back = [], 0
    snapshots = [line for line in lines[node] if _is_of_a_snapshot(line)]
    printed = [line for line in lines[node] if not _is_of_a_snapshot(line)]
    for line in printed:
        set_back = max(set_back, latest.get(line.stream, line.time) - line.time)
        latest[line.stream] = max(line.time, latest.get(line.stream, line.time))
        timed.append((latest[line.stream], line))
    merged = [_in_file("container.log", line) for _, line in sorted(timed, key=lambda at: at[0])]
    if set_back > Timeout.REORDERED.us and len(latest) > 1:
        merged = printed
    others = {} if source.random() < 0.5 else lines
    return Cut(f"{node} in one file, {'others too' if others else 'alone'}", {**others, node: [*merged, *snapshots]})


def _is_of_a_snapshot(line: story.Seen) -> bool:
    return line.event is not None and line.event.kind.startswith("META_SNAPSHOT")


def _in_file(stream: str, line: story.Seen) -> story.Seen:
    return replace(line, stream=stream, event=replace(line.event, stream=stream) if line.event else None)


_MAKERS: tuple[Callable[[Lines, random.Random], Cut], ...] = (  # a new one comes last: numbers stand in tests
    *(_without_a_member, _one_member, _no_head, _no_tail, _no_info, _some_lines, _no_stream, _pieces, _one_file),
    *(_last_lines, _two_spans, _one_file_a_member),
)


def _around_a_start(lines: Lines, source: random.Random) -> Cut:
    """The head or the tail is missing from some seconds before or after a start on, of all members or of one."""
    starts = sorted({line.time for of in lines.values() for line in of if line.event and line.event.kind in _STARTS})
    at = source.choice(starts) if starts else _moment(lines, source)
    at += source.choice([-15, -5, -1, 0, 1, 5, 15, 40]) * SECOND
    only, head = _of_all_or_one(lines, source), source.random() < 0.5
    how = f"{only or 'all'} {'from' if head else 'until'} {at}, around a start"
    return _some_of(lines, how, lambda line: line.time >= at if head else line.time < at, only)


_STARTS = START_KINDS - {SETTING}
_TOGETHER: tuple[tuple[Callable[[Lines, random.Random], Cut], ...], ...] = (
    (_without_a_member, _no_head, _no_info),
    (_around_a_start,),
    (_without_a_member, _around_a_start),
    (_one_file, _without_a_member),
    (_around_a_start, _no_stream),
    (_no_head, _no_tail),
    (_pieces, _without_a_member),
    (_no_head, _no_info),
    (_around_a_start, _pieces),
    (_without_a_member, _no_stream, _no_tail),
)


def combined_cut(lines: Lines, number: int) -> Cut:
    """Several parts taken away one after the other, or what is around a start, as in tickets."""
    source, how = random.Random(number * 7919), list[str]()
    for maker in _TOGETHER[number % len(_TOGETHER)]:
        made = maker(lines, source) if any(lines.values()) else Cut("nothing is left", lines)
        lines = made.lines
        how.append(made.how)
    return Cut(f"combined cut {number}: {', '.join(how)}", lines)


def breaches(whole: Sequence[Row], part: Sequence[Row]) -> Iterator[str]:
    """What a part of the logs says that the whole does not imply."""
    implied = _Whole(whole)
    for row in part:
        if isinstance(row, Finding):
            yield from implied.finding(row)
        elif isinstance(row, Term):
            yield from implied.term(row)
        elif isinstance(row, RoleInterval) and row.end_cause in _ENDS:
            yield from implied.end(row)


class _Whole:
    """What all of the logs say."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._findings: dict[str, list[Finding]] = {}
        self._led: dict[tuple[str, int], list[Term]] = {}
        self._of_folder: dict[str, set[str]] = {}
        self._by_roles: dict[tuple[str, int], set[str | None]] = {}
        self._lived: dict[str, list[RoleInterval]] = {}
        for row in rows:
            if isinstance(row, RoleInterval) and row.source_node is not None and row.node is not None:
                self._of_folder.setdefault(row.source_node, set()).add(row.node)
            if isinstance(row, RoleInterval) and row.role not in (DOWN, UNKNOWN):
                for name in {row.node, row.source_node} - {None}:
                    self._lived.setdefault(name or "", []).append(row)
            if isinstance(row, Finding):
                self._findings.setdefault(row.rule, []).append(row)
            elif isinstance(row, Term):
                self._led.setdefault((row.replica_group, row.term), []).append(row)
            elif isinstance(row, RoleInterval) and row.role == LEADER and row.term is not None:
                self._by_roles.setdefault((row.replica_group, row.term), set()).add(row.node)

    def finding(self, found: Finding) -> Iterator[str]:
        if found.certainty == POSSIBLE or found.rule in ABOUT_THE_LOGS:
            return
        rules = (found.rule, *IMPLIED_BY.get(found.rule, ()))
        nodes = self._names(found)
        of_rules = (each for rule in rules for each in self._findings.get(rule, ()))
        alike = [each for each in of_rules if _about_one_thing(each, found, self._names(each), nodes)]
        sure = [each for each in alike if each.certainty != POSSIBLE]
        if alike and found.duration_min_ms is not None and found.duration_min_ms * 1000 < SLACK_US:
            return
        if not sure:
            yield f"{'risen' if alike else 'new'}: {found.severity} {found.certainty} {found.rule}: {found.summary}"
            return
        for measure in ("duration_min_ms", "overlap_min_ms"):
            least = max(getattr(each, measure) or 0 for each in sure)
            if (getattr(found, measure) or 0) * 1000 > least * 1000 + SLACK_US:
                yield f"least grew from {least} ms: {found.summary}"

    def _names(self, found: Finding) -> set[str]:
        """Whom it is about, by all names: of one whose id is in lines that are not there a part knows the folder, or
        the id that it had before."""
        nodes = {*found.nodes}
        return nodes.union(*(ids for folder, ids in self._of_folder.items() if folder in nodes or ids & nodes))

    def end(self, ended: RoleInterval) -> Iterator[str]:
        """A death or a stop, where by the whole the same role went on: long before it and long after it, and to another
        end. When somebody died is known as well as the lines around it: by the whole it may be later; and the end of
        a role in its term is the same, or one that the same line shows, wherever clocks place it of which a part knows
        less."""
        at, by = ended.end_time or 0, (ended.end_time or 0) + 1000 * (ended.end_uncertainty_ms or 0)
        roles = self._lived.get(ended.source_node or ended.node or "", [])
        over = [role for role in roles if role.end_cause in _ENDS]
        told = any(
            role.end_event_id == ended.end_event_id is not None or (role.role, role.term) == (ended.role, ended.term)
            for role in over
            if role.term is not None
        )
        for role in () if told else roles:
            same = (role.replica_group, role.role) == (ended.replica_group, ended.role)
            goes_on = role.end_cause not in _ENDS and (role.end_time is None or role.end_time > by + 2 * SLACK_US)
            if same and goes_on and role.start_time < at - SLACK_US and role.source_node is not None:
                who = ended.node or ended.source_node
                yield f"{who} {ended.end_cause} as {ended.role} at {at}, by the whole {role.end_cause} at {role.end_time}"

    def term(self, term: Term) -> Iterator[str]:
        led = [each for each in self._led.get((term.replica_group, term.term), []) if each.leader is not None]
        if term.leader is None or not led:
            return
        names = {each.leader for each in led} | self._by_roles.get((term.replica_group, term.term), set())
        by_address = _is_address(term.leader) and not any(map(_is_address, names))
        if term.leader not in names and not by_address and not self._of_folder.get(term.leader, set()) & names:
            yield f"{term.leader} led {term.term}, of which the whole says that {sorted(map(str, names))} did"
        causes = {each.cause for each in led if each.leader == term.leader}
        if term.cause in _NO_REASON or causes & _NO_REASON:
            return
        if term.leader in names and not causes & {term.cause, "first_leader", *_MORE_EXACT.get(term.cause or "", ())}:
            yield f"{term.leader} led {term.term} because of {term.cause}, by the whole {sorted(map(str, causes))}"


_ENDS = frozenset({DIED, STOPPED})
"""Ends of roles that the end of a process brought."""
IMPLIED_BY = {"POSSIBLE_DATA_LOSS": ("SPLIT_BRAIN_OVERLAP",)}
"""Rules whose findings tell more of one thing: of two masters at once, what one of them lost."""


def _is_address(name: str | None) -> bool:
    """Whether a member is named by its address: its id may be in lines that are not there."""
    return name is not None and ":" in name


_NO_REASON = {None, "unknown", "term_raised"}
"""Causes that say how a term came, and not why."""
_MORE_EXACT = {
    "leadership_transfer": {"preferred_leader"},
    "leader_lost": {"leadership_transfer"},
    "master_inactive": {"master_lost", "master_stopped", "master_silent"},
    "master_lost": {"elected_again"},
    "moved": {"leader_stopped"},
    "election_timeout": {"larger_term"},
    "leader_died": {"unclean"},
}
"""Causes of which the whole may know more: one that hands over by itself hands over, followers lose whoever hands over,
controllers lose the heartbeats of whoever stops or dies and may elect again whom they lost, whoever a larger term
topples is waited for in vain, and of a dead leader's followers one may be elected that was not in sync."""


def _about_one_thing(whole: Finding, part: Finding, nodes: set[str], others: set[str]) -> bool:
    """Whether two findings of a rule may be about one thing: of one group where both are known, and at one time; or by
    one line, wherever clocks place it of which a part knows less; or about entries that the whole says were lost, of
    which a part may see later that they are."""
    if not any(map(_is_address, nodes)):
        others = {name for name in others if not _is_address(name)}
    if part.rule != "LEADERLESS" and nodes and others and not nodes & others:
        return False
    if others and nodes >= others and whole.terms == part.terms and {*whole.evidence} & {*part.evidence}:
        return True
    if part.rule == "QUEUES_CUT_AT_START" and (whole.start_time or 0) > (part.start_time or 0):
        return True  # of the starts of one broker that cut its queues the whole tells the last
    if part.cut_to is not None and (whole.cut_epoch, whole.cut_to) == (part.cut_epoch, part.cut_to):
        return (whole.cut_from or 0) <= (part.cut_from or 0)
    begin, end = part.start_time, part.end_time
    after = whole.end_time is not None and begin is not None and whole.end_time < begin - SLACK_US
    before = end is not None and whole.start_time is not None and whole.start_time > end + SLACK_US
    return not (after or before)
