"""From the facts of one replica group to its rows, for all its protocols."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from election_replay.election_core.judge.clock import Clocks, Message, Moment
from election_replay.election_core.judge.clock_skew import tells_of_wrong_clock, wrong_clocks
from election_replay.election_core.judge.common_time import CommonTime, as_logged, stepped_over
from election_replay.election_core.judge.consistency import consistent, in_lost_order
from election_replay.election_core.judge.difference_constraints import UNBOUNDED
from election_replay.election_core.judge.group import since, times_between, until
from election_replay.election_core.judge.printed_times import stepped
from election_replay.election_core.judge.quiescent import (
    FIRST_END,
    SECOND_END,
    Quiescent,
    ended,
    may_be_quiescent,
    quiescent_since,
)
from election_replay.election_core.model.facts import Alive, Fact, Silence
from election_replay.election_core.model.rows import Election, Finding, RoleInterval, Row, Term, deduplicated
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.log_quality import duplicate_logs, mixed_clusters, mixed_logs
from election_replay.election_core.protocols.log_quality import rules as log_quality
from election_replay.election_core.protocols.log_quality.facts import PassedOver
from election_replay.election_core.protocols.log_quality.log import OF_MANY_GROUPS
from election_replay.election_core.protocols.writes.rules import downgrade_refusals_of_followers
from election_replay.election_core.replay.failures import FAULT, error_text, failed, not_judged
from election_replay.election_core.replay.proofs import ends_of, events_of
from election_replay.election_core.replay.registry import PROTOCOLS, Judge

JUDGES: dict[str, Judge] = {**{protocol.name: protocol.judge for protocol in PROTOCOLS}, FAULT: not_judged}
"""The rules of each protocol."""


@dataclass(frozen=True, slots=True)
class Judged:
    """All rows of one group, the facts as they were judged, and its quiescent state or ``None``. ``times`` maps events
    of wrong clocks to their common time in us, as far as facts show it."""

    facts: list[Fact]
    rows: list[Row]
    quiescent: Quiescent | None = None
    times: Mapping[str, int] = field(default_factory=dict)


def rows_of_group(facts: Iterable[Fact]) -> Iterator[Row]:
    """Yield all rows of one group; the same facts give the same rows in the same order, however they arrive."""
    yield from judged(facts).rows


def judged(facts: Iterable[Fact]) -> Judged:
    """Return the judgement of one group."""
    of_group = list(facts)
    since = quiescent_since(of_group) if may_be_quiescent(of_group) else None
    if since is not None:
        soon, later = (ended(of_group, since + end) for end in (FIRST_END, SECOND_END))
        rows, _ = as_ended(soon)
        if rows == as_ended(later)[0] and not any(map(_depends_on_ends, rows)):
            return Judged(soon, rows, Quiescent.of(since, [fact for fact in of_group if fact.is_open]))
    rows, times = as_ended(of_group)
    return Judged(of_group, rows, None, times)


def _depends_on_ends(row: Row) -> bool:
    """Return True when a row may change with every night that a log goes on, even without events."""
    return tells_of_wrong_clock(row) or log_quality.tells_of_two_sources(row)


def as_ended(facts: Iterable[Fact]) -> tuple[list[Row], dict[str, int]]:
    """Return all rows of one group, with its logs as they end, and the common times of events of wrong clocks. Clocks
    belong to machines, not to protocols: bounds from one protocol's messages hold for all."""
    of_group = [*facts]
    by_protocol = sorted(
        duplicate_logs.deduplicate_logs(mixed_logs.split_members(of_group)), key=lambda fact: fact.protocol
    )
    in_order = _InCommonTime.of(by_protocol)
    rows: Iterable[Row] = with_roots(downgrade_refusals_of_followers(in_order.rows()))
    if mixed := mixed_clusters.mixed_clusters(in_order.facts, in_order.clocks):
        rows = mixed_clusters.in_mixed_clusters(rows, mixed)
    else:
        rows = consistent(rows, in_order.facts, in_order.clocks)
    rows = in_lost_order(rows, of_group)
    return [*mixed_logs.join_members(rows, by_protocol)], in_order.times


def _causal_pairs(facts: list[Fact]) -> Iterator[Message]:
    """Yield the causal pairs of all protocols that the facts may concern."""
    names, kinds = {fact.protocol for fact in facts}, {type(fact) for fact in facts}
    for protocol in PROTOCOLS:
        spoken = protocol.name in names or not kinds.isdisjoint(protocol.facts)
        if protocol.causal_pairs and (spoken or protocol.ties_others):
            yield from protocol.causal_pairs(facts)


def _gaps(facts: Iterable[Fact]) -> dict[str, list[tuple[int, int]]]:
    """Return the gaps (begin, end) in each source's log, in us: silences of a process, and times when none ran."""
    gaps: dict[str, set[tuple[int, int]]] = {}
    runs: dict[str, set[tuple[Moment, Moment]]] = {}
    for fact in facts:
        if isinstance(fact, Silence | PassedOver) and fact.until is not None:
            gaps.setdefault(fact.source_node, set()).add((fact.since_by, fact.until))
        elif isinstance(fact, Alive):
            end = until(fact) or Moment(UNBOUNDED, UNBOUNDED, fact.source_node)
            runs.setdefault(fact.source_node, set()).add((since(fact), end))
    for source, of_source in runs.items():
        between = times_between(sorted(of_source))
        gaps.setdefault(source, set()).update((ended.by, begun.at) for ended, begun in between)
    return {source: sorted(of_source) for source, of_source in gaps.items()}


def _quiet(facts: Iterable[Fact]) -> dict[str, list[tuple[int, int]]]:
    """Return the times (begin, end) between two facts of each source in which a clock may have been set forward, us."""
    times: dict[str, set[int]] = {}
    for fact in facts:
        times.setdefault(fact.source_node, set()).update((fact.since, fact.until or fact.since))
    return {
        source: [pair for pair in pairwise(sorted(of_source)) if pair[1] - pair[0] > Timeout.CLOCKS_AGREE.us]
        for source, of_source in times.items()
    }


@dataclass(frozen=True, slots=True)
class _InCommonTime:
    """The facts of a group in common time, the bounds on its clocks, and the corrections that were made."""

    facts: list[Fact]
    clocks: Clocks
    common: CommonTime | None = None

    @classmethod
    def of(cls, facts: list[Fact]) -> "_InCommonTime":
        """Return facts as they were logged, in common time."""
        bounds = {fact.source_node: fact.bound_ms * 1000 for fact in facts}
        clocks = Clocks(bounds, [*_causal_pairs(facts)], stepped(facts), _gaps(facts), _quiet(facts))
        if not clocks.wrong:
            return cls(facts, clocks)
        clocks, common = clocks.in_common_time()
        return cls([fact for fact in map(common.fact, facts) if not stepped_over(fact)], clocks, common)

    @property
    def times(self) -> dict[str, int]:
        """Return the common time in us of events of wrong clocks, as far as facts show it. A fact that names an event
        as evidence may begin before that line, so facts that begin or end with it take precedence."""
        moved = self.common.rows if self.common else {}
        facts = [fact for fact in self.facts if fact.source_node in moved]
        times = dict(sorted((event, fact.since) for fact in facts for event in events_of(fact)))
        return times | dict(sorted(end for fact in facts for end in ends_of(fact)))

    def rows(self) -> Iterator[Row]:
        """Yield all rows; those by a wrong clock with its reading."""
        moved = self.common.rows if self.common else {}
        sources = {
            event: fact.source_node for fact in self.facts if fact.source_node in moved for event, _ in ends_of(fact)
        }
        for row in self._rows():
            if isinstance(row, RoleInterval | Term | Election):
                source = row.source_node if isinstance(row, RoleInterval) else sources.get(row.start_event_id or "")
                yield as_logged(row, source, self.clocks) if source in moved else row
            else:
                yield row

    def _rows(self) -> Iterator[Row]:
        by_protocol = mixed_logs.drop_unattributable(self.facts)
        at_home = not any(fact.protocol in OF_MANY_GROUPS for fact in self.facts)
        for protocol, of_protocol in groupby(by_protocol, key=lambda fact: fact.protocol):
            if at_home or protocol != log_quality.PROTOCOL:
                yield from _rows_of(protocol, list(of_protocol), self.clocks)
        speaking = [fact for fact in self.facts if fact.protocol != FAULT]
        if speaking and at_home:  # clocks and log quality are reported once, in the process's own group
            yield from deduplicated(wrong_clocks(speaking, self.clocks, log_quality.PROTOCOL))


def _rows_of(protocol: str, facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield the rows of one protocol, or the finding that its rules failed."""
    try:
        yield from [*deduplicated(JUDGES[protocol](facts, clocks))]
    except Exception as error:  # noqa: BLE001 - a fault in one protocol must not silence the others
        first, since = facts[0], min(fact.since for fact in facts)
        bound_ms = max(fact.bound_ms for fact in facts)
        names = first.cluster, first.replica_group, ""
        fault = failed(*names, error_text(error), protocol=protocol, since=since, bound_ms=bound_ms)
        yield from not_judged([fault], clocks)


def with_roots(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows of a group, each finding with the root of its chain of ``implied_by``."""
    every = list(rows)
    before = {row.finding_id: row.implied_by for row in every if isinstance(row, Finding)}
    for row in every:
        if isinstance(row, Finding) and row.implied_by is not None:
            seen, root = {row.finding_id}, row.implied_by
            while (further := before.get(root)) is not None and root not in seen:
                seen.add(root)
                root = further
            row = replace(row, root_finding_id=root)  # noqa: PLW2901
        yield row
