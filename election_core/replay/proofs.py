"""Proofs: for each event that a finding names, the log that holds it and that log's member."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Finding, RoleInterval, Row


@dataclass(frozen=True, slots=True)
class Proof:
    """An event that proves a finding; ``position`` is its place in the evidence, from 1.

    ``source_node`` is the folder of its log; ``node`` is the member with that log, ``None`` if it is no member's.
    ``about`` is when its line was written (us UTC, own clock), by a fact that begins or ends with it; such a fact may
    begin a bit earlier; ``None``: no fact tells. ``common`` is the same in common time, where that differs.
    """

    finding: Finding
    position: int
    event_id: str
    node: str | None
    source_node: str | None
    about: int | None
    common: int | None = None


def proofs(facts: Sequence[Fact], rows: Iterable[Row], common: Mapping[str, int] | None = None) -> Iterator[Proof]:
    """Yield the proofs of all findings of a group; ``common`` maps events to their common times."""
    rows = list(rows)
    findings = [row for row in rows if isinstance(row, Finding)]
    named = {event_id for finding in findings for event_id in finding.evidence}
    if not named:
        return
    sources = {event_id: fact.source_node for fact in facts for event_id in events_of(fact) if event_id in named}
    # The latest time wins, since facts may begin before their line.
    times = dict(sorted(end for fact in facts for end in ends_of(fact) if end[0] in named))
    roles = sorted(
        (row for row in rows if isinstance(row, RoleInterval) and row.source_node is not None),
        key=lambda row: (row.start_time, row.node),
        reverse=True,
    )
    members = {row.source_node: row.node for row in roles}
    members_of = {(row.protocol, row.source_node): row.node for row in roles}
    for finding in findings:
        for position, event_id in enumerate(dict.fromkeys(finding.evidence), 1):
            source = sources.get(event_id)
            member = members_of.get((finding.protocol, source), members.get(source))
            yield Proof(finding, position, event_id, member, source, times.get(event_id), (common or {}).get(event_id))


def events_of(fact: Fact) -> Iterator[str]:
    """Yield the events that a fact names."""
    for event_id in (fact.since_event, fact.until_event, *getattr(fact, "evidence", ())):
        if event_id is not None:
            yield event_id


def ends_of(fact: Fact) -> Iterator[tuple[str, int]]:
    """Yield the events at which a fact begins and ends, with their times."""
    if fact.since_event is not None:
        yield fact.since_event, fact.since
    if fact.until_event is not None and fact.until is not None:
        yield fact.until_event, fact.until
