"""Judging a world by its logs alone, and comparing the verdict with the truth."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from election_replay.election_core.dialects import Record, dialect_for
from election_replay.election_core.dialects.rocketmq import metadata as rocketmq_metadata
from election_replay.election_core.model.catalogue import INFO
from election_replay.election_core.model.events import Event
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.fold_event import LINE_FIELDS, FoldEvent
from election_replay.election_core.model.rows import Finding, Row
from election_replay.election_core.replay.group_judge import rows_of_group
from election_replay.election_core.replay.source_fold import INTERESTING, SourceLog
from election_replay.election_core.simulate.truth import Truth
from election_replay.election_core.simulate.world import World

BOUND_MS = 500


def logs_of(world: World) -> dict[tuple[str, str], list[str]]:
    """Return ``(node, stream) -> lines``, as in the files."""
    logs: dict[tuple[str, str], list[str]] = {}
    for line in world.lines:
        if line.kept:
            logs.setdefault((line.node, line.stream), []).append(line.text)
    for folder, node in world.shipped.items():
        logs |= {(folder, stream): list(lines) for (owner, stream), lines in logs.items() if owner == node}
    return logs


def findings_of(world: World, cluster: str) -> list[Finding]:
    """Return the findings from a world's logs."""
    return [row for row in rows_of(world, cluster) if isinstance(row, Finding)]


def rows_of(world: World, cluster: str) -> list[Row]:
    """Return the core's rows from a world's logs."""
    return [row for of_group in facts_of(world, cluster) for row in rows_of_group(of_group)]


def facts_of(world: World, cluster: str) -> list[list[Fact]]:
    """Return the facts that the fold proves from a world's logs, group by group."""
    facts: list[Fact] = []
    for node, streams in groupby(sorted(logs_of(world).items()), key=lambda item: item[0][0]):
        source = SourceLog(cluster, node, BOUND_MS)
        for (_, stream), lines in streams:
            _read(source, stream, lines)
        for _, path, content in sorted(copy for copy in world.copies if copy[0] == node):
            _read_copy(source, path.removeprefix("metadata/"), content)
        facts += source.facts()
    ordered = sorted(facts, key=lambda fact: fact.replica_group)
    return [list(of_group) for _, of_group in groupby(ordered, key=lambda fact: fact.replica_group)]


def _read(source: SourceLog, stream: str, lines: Iterable[str]) -> None:
    dialect = dialect_for(stream)
    if dialect is None:
        raise ValueError(f"nobody reads {stream}")
    for number, line in enumerate(lines, 1):
        zone = dialect.utc_offset_minutes
        time = dialect.time_of(line, zone)
        if time is None:
            continue
        event_id = f"{source.source_node}/{stream}:{number}"
        source.seen(stream, time[0], time[0] + time[1] * 1000, event_id)
        first, *trace = line.split("\n")
        event = dialect.parse(Record(first, tuple(trace), stream, zone))
        if event is not None:
            _take(source, event_id, stream, event)


def _read_copy(source: SourceLog, stream: str, content: bytes) -> None:
    """Read a copy of a metadata file; copies come after the logs."""
    for number, entry in enumerate(rocketmq_metadata.entries(stream, content), 1):
        _take(source, f"{source.source_node}/{stream}:{number}", stream, entry.event)


def _take(source: SourceLog, event_id: str, stream: str, event: Event) -> None:
    if event.kind in INTERESTING:
        columns: dict[str, Any] = {name: getattr(event, name) for name in LINE_FIELDS}
        if event.epoch_entries is not None:
            columns["epoch_entries"] = tuple(
                (entry.epoch, entry.start_offset, entry.end_offset) for entry in event.epoch_entries
            )
        by = event.event_time + event.time_resolution_ms * 1000
        source.on(FoldEvent(event_id, stream, event.kind, event.event_time, by, **columns))


@dataclass(frozen=True, slots=True)
class Score:
    """The comparison of a verdict with the truth: false claims, missed truths, and the number of each rule."""

    claimed: tuple[Finding, ...]
    false: tuple[Finding, ...]
    missed: tuple[Truth, ...]
    provable: tuple[Truth, ...]

    @property
    def perfect(self) -> bool:
        """True when no finding is false and no provable truth is missing."""
        return not self.false and not self.missed

    @property
    def alarms(self) -> tuple[Finding, ...]:
        """The findings above info."""
        return tuple(finding for finding in self.claimed if finding.severity != INFO)


def score(truths: Iterable[Truth], findings: Iterable[Finding]) -> Score:
    """Compare findings and truths: each finding must be covered by a truth, each provable truth by a finding."""
    truths, findings = list(truths), list(findings)
    false = [item for item in findings if not any(t.rule == item.rule and t.covers(item) for t in truths)]
    provable = [item for item in truths if item.provable]
    missed = [item for item in provable if not any(f.rule == item.rule and item.covers(f) for f in findings)]
    return Score(tuple(findings), tuple(false), tuple(missed), tuple(provable))
