"""From the facts of one replica group to its rows, whichever protocols it speaks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from election_replay.election_core.judge.calm import FIRST_END, SECOND_END, Calm, calm_since, ended, may_be_calm
from election_replay.election_core.judge.clock import Clocks, Message
from election_replay.election_core.judge.limits import tells_of_wrong_clock, wrong_clocks
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Finding, Row, settled
from election_replay.election_core.protocols.log_quality import duplicate_logs, mixed_logs
from election_replay.election_core.protocols.log_quality import rules as log_quality
from election_replay.election_core.protocols.log_quality.log import OF_MANY_GROUPS
from election_replay.election_core.replay.failures import FAULT, error_text, failed, not_judged
from election_replay.election_core.replay.registry import PROTOCOLS, Judge

JUDGES: dict[str, Judge] = {**{protocol.name: protocol.judge for protocol in PROTOCOLS}, FAULT: not_judged}
"""The rules of each protocol."""


@dataclass(frozen=True, slots=True)
class Judged:
    """All rows of one group, the facts as they were judged, and since when the group is calm, if it is."""

    facts: list[Fact]
    rows: list[Row]
    calm: Calm | None = None


def rows_of_group(facts: Iterable[Fact]) -> Iterator[Row]:
    """All rows of one group. The same facts give the same rows, in the same order, however they came."""
    yield from judged(facts).rows


def judged(facts: Iterable[Fact]) -> Judged:
    """The judgement of one group."""
    of_group = list(facts)
    since = calm_since(of_group) if may_be_calm(of_group) else None
    if since is not None:
        soon, later = (ended(of_group, since + end) for end in (FIRST_END, SECOND_END))
        rows = [*rows_as_ended(soon)]
        if rows == [*rows_as_ended(later)] and not any(map(_depends_on_ends, rows)):
            return Judged(soon, rows, Calm.of(since, [fact for fact in of_group if fact.is_open]))
    return Judged(of_group, [*rows_as_ended(of_group)])


def _depends_on_ends(row: Row) -> bool:
    """Whether what a row says may change with each night that a log goes on, silent as it may be."""
    return tells_of_wrong_clock(row) or log_quality.tells_of_two_sources(row)


def rows_as_ended(facts: Iterable[Fact]) -> Iterator[Row]:
    """All rows of one group, by its logs as they end.

    Clocks belong to machines, not to protocols: what the messages of one protocol prove about them holds for all.
    """
    by_protocol = sorted(duplicate_logs.judged_once(mixed_logs.sources_apart(facts)), key=lambda fact: fact.protocol)
    yield from with_roots(mixed_logs.sources_again(_rows(by_protocol), by_protocol))


def _causal_pairs(facts: list[Fact]) -> Iterator[Message]:
    """What was logged because of what another machine had logged, by all protocols that the facts may speak of."""
    names, kinds = {fact.protocol for fact in facts}, {type(fact) for fact in facts}
    for protocol in PROTOCOLS:
        spoken = protocol.name in names or not kinds.isdisjoint(protocol.facts)
        if protocol.causal_pairs and (spoken or protocol.ties_others):
            yield from protocol.causal_pairs(facts)


def _rows(by_protocol: list[Fact]) -> Iterator[Row]:
    bounds = {fact.source_node: fact.bound_ms * 1000 for fact in by_protocol}
    clocks = Clocks(bounds, [*_causal_pairs(by_protocol)], log_quality.stepped(by_protocol))
    at_home = not any(fact.protocol in OF_MANY_GROUPS for fact in by_protocol)
    for protocol, of_protocol in groupby(mixed_logs.undoubted(by_protocol), key=lambda fact: fact.protocol):
        if at_home or protocol != log_quality.PROTOCOL:
            yield from _rows_of(protocol, list(of_protocol), clocks)
    speaking = [fact for fact in by_protocol if fact.protocol != FAULT]
    if speaking and at_home:  # what a log and a clock are worth is told once, in the group that a process is at home in
        yield from settled(wrong_clocks(speaking, clocks, log_quality.PROTOCOL))


def _rows_of(protocol: str, facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """The rows of one protocol, or why there are none: a fault in its rules takes no other protocol along."""
    try:
        yield from [*settled(JUDGES[protocol](facts, clocks))]
    except Exception as error:  # noqa: BLE001 - a fault in one protocol must not silence the others
        first, since = facts[0], min(fact.since for fact in facts)
        bound_ms = max(fact.bound_ms for fact in facts)
        names = first.cluster, first.replica_group, ""
        fault = failed(*names, error_text(error), protocol=protocol, since=since, bound_ms=bound_ms)
        yield from not_judged([fault], clocks)


def with_roots(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows of a group, each finding with the first of all that it follows from."""
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
