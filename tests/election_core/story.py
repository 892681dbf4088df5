"""Stories: a few log lines of a few nodes, judged by the core and shown as text.

A scenario file opens with a paragraph of intent, then names a log (``[n1 broker_default.log]``) and gives its lines
without the date; the expected verdict stands below a line of ``----``. Everything happens on 2026-03-01, GMT+8.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from election_core.dialects import Record, dialect_for
from election_core.facts import Fact
from election_core.judge import rows_of_group
from election_core.logged import Logged
from election_core.rows import Election, Finding, RoleInterval, Row, RuleCoverage, SyncStateSet, Term
from election_core.source import INTERESTING, SourceLog

RULE = "----"
DAY = "2026-03-01"
CLUSTER = "story"
BOUND_MS = 500

_COPIED = [f.name for f in fields(Logged) if f.name not in {"event_id", "stream", "kind", "at", "by"}]


def parse(text: str) -> dict[tuple[str, str], list[str]]:
    """``(node, stream) -> lines`` of the upper part of a scenario file."""
    logs: dict[tuple[str, str], list[str]] = {}
    current: list[str] | None = None
    for line in text.split(RULE)[0].splitlines():
        if line.startswith("[") and line.endswith("]") and line.count(" ") == 1:
            node, stream = line[1:-1].split()
            current = logs.setdefault((node, stream), [])
        elif current is not None and line.strip():
            current.append(f"{DAY} {line}" if line[:2].isdigit() else line)
    return logs


def facts_of(logs: dict[tuple[str, str], list[str]], shift_ms: dict[str, int] | None = None) -> list[Fact]:
    """Fold each node's logs; ``shift_ms`` moves a node's clock."""
    facts: list[Fact] = []
    for node, streams in groupby(sorted(logs.items()), key=lambda item: item[0][0]):
        source = SourceLog(CLUSTER, node, BOUND_MS)
        for (_, stream), lines in streams:
            _feed(source, stream, lines, (shift_ms or {}).get(node, 0) * 1000)
        facts += source.facts()
    return facts


def _feed(source: SourceLog, stream: str, lines: list[str], shift_us: int) -> None:
    dialect = dialect_for(stream)
    assert dialect is not None, stream
    for number, line in enumerate(lines, 1):
        time = dialect.time_of(line, dialect.utc_offset_minutes)
        if time is None:
            continue
        source.seen(stream, time[0] + shift_us)
        event = dialect.parse(Record(line, _continuation(lines, number, dialect), stream, dialect.utc_offset_minutes))
        if event is None or event.kind not in INTERESTING:
            continue
        columns: dict[str, Any] = {name: getattr(event, name) for name in _COPIED}
        if columns["epoch_entries"] is not None:
            columns["epoch_entries"] = tuple((e.epoch, e.start_offset, e.end_offset) for e in columns["epoch_entries"])
        at = event.event_time + shift_us
        by = at + event.time_resolution_ms * 1000
        source.on(Logged(f"{source.source_node}/{stream}:{number}", stream, event.kind, at, by, **columns))


def _continuation(lines: list[str], number: int, dialect: Any) -> tuple[str, ...]:
    after = []
    for line in lines[number:]:
        if dialect.time_of(line, dialect.utc_offset_minutes) is not None:
            break
        after.append(line)
    return tuple(after)


def judge(facts: Iterable[Fact]) -> list[Row]:
    """The rows of all groups of a story."""
    ordered = sorted(facts, key=lambda fact: fact.replica_group)
    return [row for _, own in groupby(ordered, key=lambda fact: fact.replica_group) for row in rows_of_group(list(own))]


def tell(rows: Iterable[Row]) -> str:
    """A verdict as text: terms, roles, elections, sets, findings."""
    rows = list(rows)
    parts = []
    for title, kind, line in (
        ("terms", Term, _term),
        ("roles", RoleInterval, _role),
        ("elections", Election, _election),
        ("sync state sets", SyncStateSet, _set),
        ("findings", Finding, _finding),
        ("coverage", RuleCoverage, _coverage),
    ):
        own = [line(row) for row in rows if isinstance(row, kind)]  # type: ignore[operator]
        if own:
            parts.append("\n".join([f"{title}:", *(f"  {text}" for text in own)]))
    return "\n".join(parts) + "\n"


def _clock(us: int | None) -> str:
    return "..." if us is None else datetime.fromtimestamp(us / 1_000_000 + 8 * 3600, UTC).strftime("%H:%M:%S")


def _term(row: Term) -> str:
    leader = row.leader or "nobody"
    return f"{row.replica_group} {row.term}: {leader} {_clock(row.start_time)} to {_clock(row.end_time)}, {row.cause}"


def _role(row: RoleInterval) -> str:
    led = f" of {row.leader}" if row.role == "follower" else ""
    term = "" if row.term is None else f" term {row.term}"
    return (
        f"{row.replica_group} {row.node}: {row.role}{led}{term} {_clock(row.start_time)} to {_clock(row.end_time)}"
        f" ({row.start_cause} -> {row.end_cause})"
    )


def _election(row: Election) -> str:
    votes = "" if row.votes_needed is None else f", {row.votes_granted} of {row.votes_needed} votes"
    return (
        f"{row.replica_group} {row.term}: {row.candidate or 'nobody'} {row.outcome} after {row.rounds} rounds{votes},"
        f" voters {{{', '.join(row.voters)}}}"
    )


def _set(row: SyncStateSet) -> str:
    return (
        f"{row.replica_group} {row.sync_state_set_epoch}: {{{', '.join(row.members)}}} of master {row.master}"
        f" epoch {row.master_epoch} from {_clock(row.start_time)}"
    )


def _finding(row: Finding) -> str:
    return f"{row.severity} {row.certainty} {row.rule}: {row.summary}"


def _coverage(row: RuleCoverage) -> str:
    why = f" ({row.why_undecidable})" if row.why_undecidable else ""
    return (
        f"{row.replica_group} {row.rule}: {row.conforms} conform, {row.violates} violate,"
        f" {row.undecidable} undecidable{why}"
    )


def nodes_of(logs: dict[tuple[str, str], list[str]]) -> Iterator[str]:
    """The nodes of a story."""
    yield from sorted({node for node, _ in logs})
