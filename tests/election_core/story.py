"""Stories: a few log lines of a few nodes, judged by the core and shown as text.

A scenario file opens with a paragraph of intent, then names a log (``[n1 broker_default.log]``) and gives its lines
without the date; the expected verdict stands below a line of ``----``. Everything happens on 2026-03-01, GMT+8.
A line that a process writes again and again stands once: ``10:00:00 to 10:02:00 every 8 s INFO ...``.
``[the inventory]`` may list folders, each as ``broker-a-1: 1 of b``. What the logs themselves are worth is told in the
stories about that alone.
"""

import gzip
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from election_replay.election_core.dialects import SYSTEMS, Record, dialect_for
from election_replay.election_core.dialects.rocketmq import metadata as rocketmq_metadata
from election_replay.election_core.fold.roles import ACTING, LEADER
from election_replay.election_core.model.events import Unparsable
from election_replay.election_core.model.facts import Fact, Role
from election_replay.election_core.model.fold_event import LINE_FIELDS, FoldEvent
from election_replay.election_core.model.introductions import Introduced, Introduction
from election_replay.election_core.model.inventory import NO_ENTRY, InventoryRow
from election_replay.election_core.model.rows import (
    Election,
    Finding,
    RoleInterval,
    Row,
    RuleCoverage,
    SyncStateSet,
    Term,
)
from election_replay.election_core.protocols.log_quality.rules import PROTOCOL as SOURCES
from election_replay.election_core.protocols.metadata.facts import VersionSeen
from election_replay.election_core.replay.group_judge import rows_of_group
from election_replay.election_core.replay.registry import PROTOCOLS
from election_replay.election_core.replay.source_fold import INTERESTING, SourceLog

INTRODUCING = frozenset[str]().union(*(protocol.introducing for protocol in PROTOCOLS))
RULE = "----"
DAY = "2026-03-01"
CLUSTER = "story"
BOUND_MS = 500
INVENTORY = ("the", "inventory")


def parse(text: str) -> dict[tuple[str, str], list[str]]:
    """``(node, stream) -> lines`` of the upper part of a scenario file."""
    logs: dict[tuple[str, str], list[str]] = {}
    current: list[str] | None = None
    for line in text.split(RULE)[0].splitlines():
        if line.startswith("[") and line.endswith("]") and line.count(" ") == 1:
            node, stream = line[1:-1].split()
            current = logs.setdefault((node, stream), [])
        elif current is not None and line.strip():
            current.append(line)
    return {place: [*map(_dated, _told(log))] for place, log in logs.items()}


_OF_REDIS = re.compile(r"(\d+:[MSXC] )(\d\d:\d\d:\d\d\.\d{3} .*)")


def _dated(line: str) -> str:
    """A line with the day, where its system writes it."""
    if found := _OF_REDIS.fullmatch(line):
        return f"{found[1]}01 Mar 2026 {found[2]}"
    if line[:1] == "[" and line[1:3].isdigit():
        return f"[{DAY} {line[1:]}"
    return f"{DAY} {line}" if line[:2].isdigit() else line


def _told(log: list[str]) -> list[str]:
    """The lines of a log; each that one line stands for comes before the next later one."""
    told = [line for line in log if not _EVERY.fullmatch(line)]
    repeated = sorted(
        (one for line in log if _EVERY.fullmatch(line) for one in _repeated(line)), key=lambda one: one[:8]
    )
    place = 0
    for one in repeated:
        while place < len(told) and not (told[place][:2].isdigit() and told[place][:8] > one[:8]):
            place += 1
        told.insert(place, one)
        place += 1
    return told


_EVERY = re.compile(r"(\d\d:\d\d:\d\d) to (\d\d:\d\d:\d\d) every (\d+) s (.*)")


def _repeated(line: str) -> Iterator[str]:
    """The lines that one line of a scenario file stands for."""
    found = _EVERY.fullmatch(line)
    if found is None:
        yield line
        return
    time, end = (datetime.strptime(clock, "%H:%M:%S").replace(tzinfo=UTC) for clock in found.group(1, 2))
    while time <= end:
        yield f"{time:%H:%M:%S} {found[4]}"
        time += timedelta(seconds=int(found[3]))


@cache
def scenario_facts(path: Path) -> tuple[Fact, ...]:
    """The facts of a scenario file."""
    return tuple(facts_of(parse(path.read_text())))


@cache
def scenario_rows(path: Path) -> tuple[Row, ...]:
    """The verdict on a scenario file: many tests look at it."""
    return tuple(judge(scenario_facts(path)))


def facts_of(logs: dict[tuple[str, str], list[str]], shift_ms: dict[str, int] | None = None) -> list[Fact]:
    """Fold each node's logs; ``shift_ms`` moves a node's clock."""
    facts: list[Fact] = []
    logs = dict(logs)
    listed = dict(map(_listed, logs.pop(INVENTORY, [])))
    introduced = _introduced(logs)
    for node, streams in groupby(sorted(logs.items()), key=lambda item: item[0][0]):
        own = tuple((stream, tuple(lines)) for (_, stream), lines in streams)
        place = listed.get(node, NO_ENTRY)
        facts += facts_of_node(node, own, place, (shift_ms or {}).get(node, 0) * 1000, introduced.get(node, ()))
    return facts


Pairs = tuple[tuple[str, str], ...]
Meeting = tuple[str, str, str | None, Pairs, Pairs, tuple[tuple[str, tuple[tuple[int, str], ...]], ...]]
"""A stream and whom it speaks for: group, member, names by addresses, groups of members, and when they moved."""


_INTRODUCING = frozenset(kind for protocol in PROTOCOLS for kind in protocol.introducing)


@cache
def _introduction(node: str, stream: str, text: str) -> Introduction | None:
    """What a line of a log tells of whom logs speak for; a story is folded many times, with other clocks."""
    dialect = dialect_for(stream)
    if dialect is None or "/" in stream or not any(system.dialect is dialect for system in SYSTEMS):
        return None
    event = dialect.parse(Record(text, (), stream, dialect.utc_offset_minutes))
    if event is None or event.kind not in _INTRODUCING:
        return None
    named = {field.name: getattr(event, field.name) for field in fields(Introduction)[4:]}
    return Introduction(node, stream, event.kind, event.event_time, **named)


def _introduced(logs: dict[tuple[str, str], list[str]]) -> dict[str, tuple[Meeting, ...]]:
    """Whom logs speak for, as all of them tell together."""
    told = (_introduction(node, stream, text) for (node, stream), log in logs.items() for text in log)
    lines = [line for line in told if line is not None]
    found: dict[str, tuple[Meeting, ...]] = {}
    for protocol in PROTOCOLS:
        if protocol.introduce is not None:
            own = [line for line in lines if line.kind in protocol.introducing]
            for (node, stream), whom in protocol.introduce(own).items():
                maps = (*whom.names.items(),), (*whom.groups.items(),)
                moves = tuple((member, tuple(moved)) for member, moved in whom.moves.items())
                found[node] = (*found.get(node, ()), (stream, whom.replica_group, whom.member, *maps, moves))
    return found


@cache
def facts_of_node(
    node: str,
    streams: tuple[tuple[str, tuple[str, ...]], ...],
    listed: InventoryRow,
    shift_us: int,
    introduced: tuple[Meeting, ...] = (),
) -> tuple[Fact, ...]:
    """Fold one node's logs."""
    met = {stream: Introduced(group, member, *map(dict, maps)) for stream, group, member, *maps in introduced}
    source = SourceLog(CLUSTER, node, BOUND_MS, listed, introduced=met)
    for stream, lines in sorted(streams, key=lambda one: "/" in one[0]):  # logs come before snapshots
        _feed(source, stream, lines, shift_us)
    return tuple(source.facts())


def _listed(line: str) -> tuple[str, InventoryRow]:
    node, _, place = line.partition(": ")
    member, _, group = place.rpartition("of ")
    return node, InventoryRow(group, member.strip() or None)


def _feed(source: SourceLog, stream: str, lines: Sequence[str], shift_us: int) -> None:
    if "/" in stream:
        for event in _snapshot(source.source_node, stream, "\n".join(lines).encode(), shift_us):
            source.seen(stream, event.at, event.by)
            source.on(event)
        return
    dialect = dialect_for(stream)
    assert dialect is not None, stream
    for number, line in enumerate(lines, 1):
        time = dialect.time_of(line, dialect.utc_offset_minutes)
        if time is None:
            continue
        at = time[0] + shift_us
        source.seen(stream, at, at + time[1] * 1000, f"{source.source_node}/{stream}:{number}")
        event = dialect.parse(Record(line, _continuation(lines, number, dialect), stream, dialect.utc_offset_minutes))
        if event is None or event.kind not in INTERESTING:
            continue
        columns: dict[str, Any] = {name: getattr(event, name) for name in LINE_FIELDS}
        if columns["epoch_entries"] is not None:
            columns["epoch_entries"] = tuple((e.epoch, e.start_offset, e.end_offset) for e in columns["epoch_entries"])
        at = event.event_time + shift_us
        by = at + event.time_resolution_ms * 1000
        source.on(FoldEvent(f"{source.source_node}/{stream}:{number}", stream, event.kind, at, by, **columns))


def _snapshot(node: str, stream: str, data: bytes, shift_us: int = 0) -> Iterator[FoldEvent]:
    """The events of a metadata file that the fold reads; a file of no interest or a broken one has none."""
    try:
        found = list(rocketmq_metadata.entries(stream, data)) if rocketmq_metadata.is_known(stream) else []
    except Unparsable:
        return
    for number, entry in enumerate(found, 1):
        if entry.event.kind in INTERESTING:
            columns: dict[str, Any] = {name: getattr(entry.event, name) for name in LINE_FIELDS}
            at = entry.event.event_time + shift_us
            yield FoldEvent(f"{node}/{stream}:{number}", stream, entry.event.kind, at, at + 1_000_000, **columns)


def _continuation(lines: Sequence[str], number: int, dialect: Any) -> tuple[str, ...]:
    after = []
    for line in lines[number:]:
        if dialect.time_of(line, dialect.utc_offset_minutes) is not None:
            break
        after.append(line)
    return tuple(after)


@dataclass(frozen=True, slots=True)
class Seen:
    """A line of a real run, written in ``[time, by]``: how loud, and the event in it, if the fold reads it."""

    stream: str
    time: int
    by: int
    level: str
    event: FoldEvent | None


Keep = Callable[[Seen], bool]


def run_facts(run: Path, keep: Keep | None = None, only: str | None = None) -> list[Fact]:
    """Fold the logs of all nodes of a real run; ``keep`` may drop lines, of all nodes or of the one named."""
    return list(_all_facts(run)) if keep is None else _some_facts(run, keep, only)


@cache
def _all_facts(run: Path) -> tuple[Fact, ...]:
    return tuple(_some_facts(run, None, None))


@cache
def run_rows(run: Path) -> tuple[Row, ...]:
    """The verdict on all logs of a real run."""
    return tuple(judge(_all_facts(run)))


def _some_facts(run: Path, keep: Keep | None, only: str | None) -> list[Fact]:
    facts: list[Fact] = []
    for node, lines in run_lines(run).items():
        facts += folder_facts(run.name, node, lines if only not in (None, node) else filter(keep, lines))
    return facts


def introduced_by(lines: Mapping[str, Sequence[Seen]]) -> dict[str, dict[str, Introduced]]:
    """Whom the logs of each folder speak for, by stream, as all of them tell together."""
    named = [field.name for field in fields(Introduction)[4:]]
    found: dict[str, dict[str, Introduced]] = {}
    for protocol in PROTOCOLS:
        if protocol.introduce is None:
            continue
        said = [
            Introduction(
                folder, line.stream, line.event.kind, line.event.at, **{n: getattr(line.event, n) for n in named}
            )
            for folder, of_folder in lines.items()
            for line in of_folder
            if line.event is not None and line.event.kind in protocol.introducing
        ]
        for (folder, stream), whom in protocol.introduce(said).items():
            found.setdefault(folder, {})[stream] = whom
    return found


def folder_facts(
    cluster: str, folder: str, lines: Iterable[Seen], introduced: Mapping[str, Introduced] | None = None
) -> list[Fact]:
    """Fold the lines of one folder."""
    source = SourceLog(cluster, folder, BOUND_MS, introduced=introduced or {})
    for line in lines:
        source.seen(line.stream, line.time, line.by)
        if line.event is not None and line.event.kind in INTERESTING:
            source.on(line.event)
    return list(source.facts())


def versions_made(facts: Iterable[Fact], source: str) -> set[tuple[int | None, int | None]]:
    """The versions of metadata that a broker made, by time and number: its own files show them, and it led then."""
    facts = list(facts)
    led = [
        (fact.since, 1 << 62 if fact.until is None else fact.until)
        for fact in facts
        if isinstance(fact, Role) and fact.role in (LEADER, ACTING) and fact.source_node == source
    ]
    shown = [fact for fact in facts if isinstance(fact, VersionSeen) and fact.source_node == source and fact.counter]
    return {
        (fact.version_timestamp, fact.counter)
        for fact in shown
        if any(since <= (fact.version_timestamp or 0) * 1000 <= until for since, until in led)
    }


@cache
def run_lines(run: Path) -> dict[str, list[Seen]]:
    """``node -> lines`` of a real run, stream by stream in the order in which they were written."""
    nodes = {}
    for node in sorted((run / "nodes").iterdir()):
        files = [file for file in sorted((node / "logs").rglob("*")) if file.is_file()]
        nodes[node.name] = [line for _, lines in sorted(_logs(files), key=lambda log: log[0]) for line in lines]
        for file in sorted((node / "metadata").rglob("*")):
            stream = file.relative_to(node / "metadata").as_posix()
            if file.is_file():
                events = _snapshot(node.name, stream, file.read_bytes())
                nodes[node.name] += [Seen(stream, event.at, event.by, "louder", event) for event in events]
    return nodes


_INFO = (" INFO ", " INFO: ", " I | ", '"level":"info"')
"""How the systems print the level of a line that may be dropped."""


def _logs(files: Iterable[Path]) -> Iterator[tuple[tuple[str, int, str], list[Seen]]]:
    """Each file's lines, with a key that puts rolled files of a stream in order of time."""
    for file in files:
        stem = re.sub(r"(\.\d+)?(\.log)?(\.\d+)?(\.gz)?$", "", file.name)
        stream = f"{stem}.log" if ".log" in file.name else file.name
        lines = list(_seen(file, stream))
        if lines:
            yield (stream, lines[0].time, str(file)), lines


def _seen(file: Path, stream: str) -> Iterator[Seen]:
    raw = file.read_bytes()
    text = gzip.decompress(raw) if file.suffix == ".gz" else raw
    yield from seen_in(text.decode("utf-8", "replace").splitlines(), file.parent.name, stream)


def seen_in(lines: list[str], folder: str, stream: str) -> Iterator[Seen]:
    """What the landing would read of these lines."""
    dialect = dialect_for(stream)
    if dialect is None:
        return
    begins = re.compile(dialect.record_start)
    last = -1
    for number, line in enumerate(lines, 1):
        time = dialect.time_of(line, dialect.utc_offset_minutes) if begins.search(line) else None
        if time is None:
            continue
        event = _logged(folder, stream, lines, number, dialect)
        if event is not None and not any(needle in line for needle in dialect.needles):
            event = None  # the landing would not have read it
        if event is not None or time[0] != last:
            level = "INFO" if any(mark in line[:60] for mark in _INFO) else "louder"
            yield Seen(stream, time[0], time[0] + time[1] * 1000, level, event)
        last = time[0]


def _logged(folder: str, stream: str, lines: list[str], number: int, dialect: Any) -> FoldEvent | None:
    after = []
    for line in lines[number : number + 20]:
        if dialect.time_of(line, dialect.utc_offset_minutes) is not None:
            break
        after.append(line)
    record = Record(lines[number - 1].rstrip("\r"), tuple(after), stream, dialect.utc_offset_minutes)
    event = dialect.parse(record)
    if event is None or event.kind not in INTERESTING | INTRODUCING:
        return None
    columns: dict[str, Any] = {name: getattr(event, name) for name in LINE_FIELDS}
    if columns["epoch_entries"] is not None:
        columns["epoch_entries"] = tuple((e.epoch, e.start_offset, e.end_offset) for e in columns["epoch_entries"])
    by = event.event_time + event.time_resolution_ms * 1000
    return FoldEvent(f"{folder}/{stream}:{number}", stream, event.kind, event.event_time, by, **columns)


def judge(facts: Iterable[Fact]) -> list[Row]:
    """The rows of all groups of a story."""
    ordered = sorted(facts, key=lambda fact: fact.replica_group)
    return [row for _, own in groupby(ordered, key=lambda fact: fact.replica_group) for row in rows_of_group(list(own))]


def tell(rows: Iterable[Row], *, of_sources: bool = False) -> str:
    """A verdict as text: terms, roles, elections, sets, findings, and coverage; of the sources only if asked."""
    rows = [row for row in rows if of_sources or not isinstance(row, RuleCoverage) or row.protocol != SOURCES]
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
    term = "unknown" if row.term is None else row.term
    return (
        f"{row.replica_group} {term}: {row.candidate or 'nobody'} {row.outcome} after {row.rounds} rounds{votes},"
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
    yield from sorted({node for node, stream in logs if (node, stream) != INVENTORY})
