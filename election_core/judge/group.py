"""One replica group, indexed from its facts: tenures of leaders, process runs of members, clocks. Everything here is
derived from a set of facts; the order in which they arrived does not matter."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Any, TypedDict, TypeVar, cast

from election_replay.election_core.fold.roles import DIED, DOWN, FOLLOWER, LEADER, SEEN, STOPPED
from election_replay.election_core.judge import silent_logs
from election_replay.election_core.judge.clock import Clocks, Moment
from election_replay.election_core.judge.electorate import Electorates
from election_replay.election_core.judge.timing import timing_of
from election_replay.election_core.judge.wording import NO_BOUND, name_of
from election_replay.election_core.model.catalogue import PROVEN, RuleId, finding_id
from election_replay.election_core.model.facts import Alive, F, Fact, MemberAddress, Role, Silence, Written
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import DEFAULTS, US_PER_MS, USED_BY, Timeout, Timing

SILENT_END = Timeout.SILENT_END.us
"""A role is cut at its log's last line when the group's logs go on for at least this many us. The process died, was cut
off from its disk, or its log was not collected: nothing is known of the role after that."""

M = TypeVar("M")

SILENT = "silent"
"""The end cause of a role whose log just stops while the group's logs go on."""


@dataclass(frozen=True, slots=True, order=True)
class LogGap:
    """A gap in a log, from the last line before it to the first line after it. ``noticed``: the process logged that it
    did not run for all of that time."""

    begin: Moment
    end: Moment
    noticed: bool = False

    @property
    def length(self) -> int:
        """Return the longest possible length of the gap by the log's own clock, in us."""
        return self.end.by - self.begin.at


@dataclass(frozen=True, slots=True)
class Tenure:
    """One node as leader of one term without interruption, by its own log. ``end`` is where the tenure is known to have
    ended, or, with ``end_cause`` ``None``, the leader's last sign in a log that ends with its group's logs.
    ``silences`` are the gaps in the leader's log meanwhile."""

    node: str
    source: str
    term: int
    begin: Moment
    end: Moment
    end_cause: str | None
    silences: tuple[LogGap, ...]

    @property
    def name(self) -> str:
        """Return the node's name in the group, with the folder of its logs where that differs."""
        return name_of(self.node, self.source)

    def with_detail(self, detail: str) -> str:
        """Return the name with a detail in the brackets: ``1 (broker-a, epoch 3)``."""
        return f"{self.node} ({detail})" if self.node == self.source else f"{self.node} ({self.source}, {detail})"

    @property
    def open(self) -> bool:
        """Return True when the node still led at the end of the logs."""
        return self.end_cause is None

    @property
    def ends_with_its_process(self) -> bool:
        """Return True when no line about roles ends the tenure."""
        return self.end_cause in (None, SILENT, DIED, STOPPED)

    @property
    def evidence(self) -> tuple[str, ...]:
        """Return the ids of the events that begin and end the tenure."""
        return tuple(e for e in (self.begin.event_id, self.end.event_id) if e)


class GroupNames(TypedDict):
    """The key columns of a group's rows."""

    cluster: str
    replica_group: str
    protocol: str


@dataclass(frozen=True, slots=True)
class Group:
    """The facts of one group and protocol, indexed; build it with :func:`group_of`, and treat it as immutable.

    ``begun`` and ``written`` are the first and the last line in which each source could have logged a role, and
    ``file_gaps`` the times between two files with such lines. Outside of its lines and in these gaps a source's silence
    shows nothing, although its process may have written other files. ``ran`` is the last sign of life of its process.
    """

    cluster: str
    replica_group: str
    protocol: str
    facts: list[Fact]
    clocks: Clocks
    end: Moment
    electorates: Electorates
    begun: Mapping[str, Moment] = field(default_factory=dict)
    written: Mapping[str, Moment] = field(default_factory=dict)
    ran: Mapping[str, Moment] = field(default_factory=dict)
    file_gaps: Mapping[str, Sequence[tuple[Moment, Moment]]] = field(default_factory=dict)
    timing: Timing = DEFAULTS
    roles: Sequence[Role] = ()
    tenures: Sequence[Tenure] = ()
    _of_kind: dict[type[Fact], list[Fact]] = field(default_factory=dict, init=False)
    _roles_of: dict[str, list[Role]] = field(default_factory=dict, init=False)
    _origins: Counter[str] = field(default_factory=Counter, init=False)
    _made: dict[Callable[["Group"], Any], Any] = field(default_factory=dict, init=False)

    @property
    def names(self) -> GroupNames:
        """Return the key columns of the group's rows."""
        return {"cluster": self.cluster, "replica_group": self.replica_group, "protocol": self.protocol}

    def with_tenures(self, tenures: Iterable[Tenure]) -> "Group":
        """Return the same group with these tenures, in this order."""
        return replace(self, tenures=tuple(tenures))

    def of(self, kind: type[F]) -> Iterator[F]:
        """Return an iterator over the facts of one kind, in the order of :func:`in_order`."""
        if not self._of_kind:
            for fact in self.facts:
                self._of_kind.setdefault(type(fact), []).append(fact)
        return iter(cast("list[F]", self._of_kind.get(kind, [])))

    def once(self, make: Callable[["Group"], M]) -> M:
        """Return ``make(group)``, computed once per group: for indexes over facts that rules use again and again."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast("M", self._made[make])

    def roles_of(self, source: str, until_us: int) -> list[Role]:
        """Return a source's own roles that began no later than ``until_us``, in order of time."""
        if not self._roles_of:
            for role in self.roles:
                self._roles_of.setdefault(role.source_node, []).append(role)
        roles = self._roles_of.get(source, [])
        return roles[: bisect_right(roles, until_us, key=attrgetter("since"))]

    def led_before(self, term: int) -> Tenure | None:
        """Return the last tenure of an earlier term; ``None`` if there is none."""
        earlier = (tenure for tenure in self.tenures if tenure.term < term)
        return max(earlier, key=attrgetter("term", "begin"), default=None)

    def origins(self) -> Counter[str]:
        """Return how many of the protocol's time-outs are printed, configured, or assumed."""
        if not self._origins:
            self._origins.update(map(self.timing.origin, USED_BY.get(self.protocol, ())))
        return self._origins

    def finding(
        self,
        rule: RuleId,
        key: tuple[object, ...],
        *,
        when: int | tuple[int, int | None],
        led: Iterable[Tenure | None] = (),
        nodes: Iterable[str | None] = (),
        terms: Iterable[int | None] = (),
        evidence: Iterable[str | None] = (),
        certainty: str = PROVEN,
        lasted: tuple[int, int | None] | None = None,
        together: tuple[int, int] | None = None,
        **columns: Any,
    ) -> Finding:
        """Return a finding about this group; ``key`` distinguishes it within its rule, and is stable across runs.

        - ``when``: its time in us, or begin and end; no end where the logs do not show it
        - ``lasted``, ``together``: (least, most) duration, or overlap of two leaders, in us; an unbounded most is left
          out
        - ``led``: tenures, whose nodes and terms precede ``nodes`` and ``terms``
        - ``nodes``, ``terms``, ``evidence``: made unique in the given order, without ``None``
        """
        leaders = [tenure for tenure in led if tenure is not None]
        named = (*(tenure.node for tenure in leaders), *nodes)
        numbered = (*(tenure.term for tenure in leaders), *terms)
        start, end = when if isinstance(when, tuple) else (when, when)
        duration_min_ms, duration_max_ms = _in_ms(lasted)
        overlap_min_ms, overlap_max_ms = _in_ms(together)
        return Finding(
            finding_id=finding_id(self.cluster, self.replica_group, rule, *key),
            **self.names,
            rule=rule.value,
            certainty=certainty,
            nodes=tuple(dict.fromkeys(node for node in named if node)),
            terms=tuple(dict.fromkeys(term for term in numbered if term is not None)),
            start_time=start,
            end_time=end,
            evidence=tuple(dict.fromkeys(event for event in evidence if event)),
            overlap_min_ms=overlap_min_ms,
            overlap_max_ms=overlap_max_ms,
            duration_min_ms=duration_min_ms,
            duration_max_ms=duration_max_ms,
            **columns,
        )


def _in_ms(measure: tuple[int, int | None] | None) -> tuple[int | None, int | None]:
    """Return a (least, most) duration in ms; ``None`` for a most without bound."""
    if measure is None:
        return None, None
    least, most = measure
    return max(least, 0) // US_PER_MS, None if most is None or most >= NO_BOUND else most // US_PER_MS


def since(fact: Fact) -> Moment:
    """Return the beginning of a fact."""
    return Moment(fact.since, fact.since_by, fact.source_node, fact.since_event)


def until(fact: Fact) -> Moment | None:
    """Return the end of a fact, or ``None``."""
    if fact.until is None or fact.until_by is None:
        return None
    return Moment(fact.until, fact.until_by, fact.source_node, fact.until_event)


def by_address(facts: Iterable[Fact]) -> dict[str, str]:
    """Map addresses to the members that have them, where all logs agree on one."""
    members: dict[str, set[str]] = {}
    for fact in facts:
        if isinstance(fact, MemberAddress) and fact.node is not None:
            members.setdefault(fact.address, set()).add(fact.node)
    return {address: next(iter(nodes)) for address, nodes in members.items() if len(nodes) == 1}


def least_together(clocks: Clocks, fact: Fact, other: Fact) -> int:
    """Return the least true time in us for which two facts overlap; zero where one has no end."""
    ends = [end for end in (until(fact), until(other)) if end is not None]
    if len(ends) < 2:
        return 0
    return min(clocks.elapsed(since(begun), end)[0] for begun in (fact, other) for end in ends)


def in_order(some: Iterable[Fact]) -> Iterator[Fact]:
    """Yield facts by time, then in the order of one log, then by all fields: the same for any order of arrival."""
    facts = list(some)
    times = list(map(_time_key, facts))
    for _, alike in groupby(sorted(range(len(facts)), key=times.__getitem__), key=times.__getitem__):
        at_once = [facts[number] for number in alike]
        yield from at_once if len(at_once) == 1 else sorted(at_once, key=_all_fields)


_time_key = attrgetter("since", "source_node", "ordinal", "kind")


def _all_fields(fact: Fact) -> list[tuple[bool, object]]:
    return [(value is not None, value) for value in _values(fact.__match_args__)(fact)]


@cache
def _values(names: tuple[str, ...]) -> Callable[[Fact], tuple[object, ...]]:
    return attrgetter(*names)


def group_of(all_facts: Iterable[Fact], clocks: Clocks) -> Group:
    """Index the facts of one group and protocol; ``clocks`` are those of all machines that mention the group."""
    every = list(all_facts)
    electorates = Electorates(every, clocks)
    ordered = list(in_order(set(silent_logs.extend_liveness(every, clocks, electorates))))
    first = ordered[0]
    group = Group(
        cluster=first.cluster,
        replica_group=first.replica_group,
        protocol=first.protocol,
        facts=ordered,
        clocks=clocks,
        end=_end_of(ordered),
        electorates=electorates,
        begun=_first_lines(every),
        written=_last_lines(every),
        ran=_by_source(ordered, Alive, until, max),
        file_gaps=_file_gaps(every),
        timing=timing_of(ordered),
    )
    group = replace(group, roles=tuple(_as_shown(_closed_if_silent(role, group), group) for role in group.of(Role)))
    return group.with_tenures(sorted(_tenures(group), key=lambda tenure: (tenure.term, tenure.begin, tenure.source)))


def _first_lines(facts: Sequence[Fact]) -> dict[str, Moment]:
    """Return each source's first line that could show a role: after its process and its role file begin."""
    ran, shown = (_by_source(facts, kind, since, min) for kind in (Alive, Written))
    return ran | {source: max(first, ran.get(source, first), key=_time) for source, first in shown.items()}


def _last_lines(facts: Sequence[Fact]) -> dict[str, Moment]:
    """Return each source's last line that could show a role; peers may have heard of its process later."""
    ran, shown = (_by_source(facts, kind, until, max) for kind in (Alive, Written))
    return ran | {source: min(last, ran.get(source, last), key=_time) for source, last in shown.items()}


def _file_gaps(facts: Iterable[Fact]) -> dict[str, Sequence[tuple[Moment, Moment]]]:
    """Return the times (end of one file, begin of the next) in which no file of a source could show a role."""
    files: dict[str, list[tuple[Moment, Moment]]] = {}
    for fact in facts:
        if isinstance(fact, Written) and (end := until(fact)) is not None:
            files.setdefault(fact.source_node, []).append((since(fact), end))
    return {source: gaps for source, spans in files.items() if (gaps := list(times_between(sorted(spans))))}


def times_between(spans: Sequence[tuple[Moment, Moment]]) -> Iterator[tuple[Moment, Moment]]:
    """Yield the times of one clock between spans, in order of their begin, in which none of them lasted."""
    last = spans[0][1]
    for begin, end in spans[1:]:
        if begin.at > last.by:
            yield last, begin
        last = max(last, end)


def _by_source(
    facts: Iterable[Fact], kind: type[Fact], of: Callable[[Fact], Moment | None], choose: Callable[..., Moment]
) -> dict[str, Moment]:
    """Return the first or last moment of each source, among the facts of a kind."""
    found: dict[str, Moment] = {}
    for fact in facts:
        moment = of(fact) if isinstance(fact, kind) else None
        if moment is not None:
            found[fact.source_node] = choose(found.get(fact.source_node, moment), moment, key=_time)
    return found


_time = attrgetter("at", "by")


def _end_of(ordered: list[Fact]) -> Moment:
    """Return the last sign of life of any member, or the last decision about the group."""
    at, source, by = max(map(_last_word, ordered))
    return Moment(at, by, source)


def _last_word(fact: Fact) -> tuple[int, str, int]:
    """Return (earliest time, source, latest time) of a fact's last sign of life, or of its beginning."""
    if isinstance(fact, Alive | Written) and fact.until is not None and fact.until_by is not None:
        return fact.until, fact.source_node, fact.until_by
    return fact.since, fact.source_node, fact.since_by


def _closed_if_silent(role: Role, group: Group) -> Role:
    """Return the role, ended at its last sign if its log stops well before its group's logs do."""
    if role.until is not None or role.role == DOWN:
        return role
    seen = group.ran.get(role.source_node)
    if seen is None or group.clocks.elapsed(seen, group.end)[0] < SILENT_END:
        return role
    return replace(role, until=max(seen.at, role.since), until_by=group.end.by, end_cause=SILENT)


def _as_shown(role: Role, group: Group) -> Role:
    """Return a role, ended as one whose log stops at the first gap between files in it: other roles may have come and
    gone in the gap, and what ended may be the last of them. Files that all rest for less than a silence miss nothing.
    """
    if role.until is None:
        return role
    gaps = group.file_gaps.get(role.source_node, ())
    by = max(role.until, role.until_by or 0) if role.end_cause == DIED else role.until
    for gap, over in gaps:
        if over.at - gap.by >= Timeout.SILENCE.us and role.since <= gap.at < role.until and over.at <= by:
            return replace(role, until=gap.at, end_cause=SILENT, until_event=None)
    return role


def known_end(group: Group, role: Role) -> Moment:
    """Return where a role is known to have ended, or its source's last sign."""
    end = until(role) or group.ran.get(role.source_node) or since(role)
    return end if end.at >= role.since else since(role)


def _tenures(group: Group) -> Iterator[Tenure]:
    """Yield the leaders' roles as tenures, each with the gaps in its log."""
    gaps: dict[str, list[LogGap]] = {}
    for fact in group.of(Silence):
        end = until(fact)
        if end is not None:
            gaps.setdefault(fact.source_node, []).append(LogGap(since(fact), end, fact.noticed))
    for of_source in gaps.values():
        of_source.sort()
    followed: dict[tuple[str | None, int | None], list[Role]] = {}
    for role in group.roles:
        if role.role == FOLLOWER:
            followed.setdefault((role.leader, role.term), []).append(role)
    for role in group.roles:
        if role.role != LEADER or role.term is None:
            continue
        # A broker that nobody names is known by its address (RocketMQ 5.0 and 5.1.0 know no other name), or its folder.
        node = role.node or role.address or role.source_node
        end = known_end(group, role)
        of_source = gaps.get(role.source_node, [])
        inside = slice(
            bisect_left(of_source, role.since, key=attrgetter("begin.by")),
            bisect_left(of_source, end.by, key=attrgetter("begin.at")),
        )
        file_gaps = group.file_gaps.get(role.source_node, ())  # what is missing there may have been written
        silences = (
            silence
            for silence in of_source[inside]
            if not any(gap.at < silence.end.at and silence.begin.at < over.at for gap, over in file_gaps)
        )
        begin = _begin(group, role, followed)
        yield Tenure(node, role.source_node, role.term, begin, end, role.end_cause, tuple(silences))


def _begin(group: Group, led: Role, followed: Mapping[tuple[str | None, int | None], Sequence[Role]]) -> Moment:
    """Return the beginning of a leader's role. Where its log begins amid that role, it led by the time at which others,
    by their logs, began to follow it."""
    begin = since(led)
    if led.cause != SEEN or led is not group.roles_of(led.source_node, led.since)[0]:
        return begin
    return replace(begin, at=min([led.since, *(role.since for role in followed.get((led.node, led.term), ()))]))
