"""The rows that the core returns, which become the gold tables. Field names are column names; ``schemas/`` holds their
types, units and comments. Times are us since 1970-01-01 UTC, in common time. Treat rows as immutable; they are not
frozen because a frozen one takes eight times as long to make."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter

from election_replay.election_core.model.measures import Fate, LostFrom, Scope, Standing, Unit


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class RoleInterval:
    """One node in one role of one term. ``end_time`` is ``None`` while the role goes on at the end of the log. The true
    start lies in ``[start_time, start_time + start_uncertainty_ms]``, the true end likewise. Where the node's own clock
    showed another time than common time, ``..._logged`` is that reading."""

    cluster: str
    replica_group: str
    protocol: str
    node: str
    source_node: str | None
    role: str
    term: int | None
    leader: str | None
    start_time: int
    end_time: int | None
    start_uncertainty_ms: int
    end_uncertainty_ms: int | None
    start_cause: str | None
    end_cause: str | None
    start_event_id: str | None
    end_event_id: str | None
    start_time_logged: int | None = None
    end_time_logged: int | None = None


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Term:
    """One term or epoch of a replica group and its leader; ``leader`` is ``None`` where nobody won. ``former_leader``
    led before it, and was in ``former_leader_state`` when it began."""

    cluster: str
    replica_group: str
    protocol: str
    term: int
    leader: str | None
    start_time: int
    end_time: int | None
    cause: str | None
    certainty: str
    start_event_id: str | None
    end_event_id: str | None
    former_leader: str | None = None
    former_leader_state: Standing | None = None
    start_time_logged: int | None = None
    end_time_logged: int | None = None


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Election:
    """The rounds of one candidate in one term (``None``: not logged), or one decision of a controller."""

    cluster: str
    replica_group: str
    protocol: str
    term: int | None
    candidate: str | None
    start_time: int
    end_time: int
    outcome: str
    rounds: int
    votes_granted: int | None = None
    votes_needed: int | None = None
    voters: tuple[str, ...]
    decided_by: str | None = None
    start_event_id: str | None
    end_event_id: str | None
    start_time_logged: int | None = None
    end_time_logged: int | None = None


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class SyncStateSet:
    """One value of a broker set's SyncStateSet, from the decision that made it to the next."""

    cluster: str
    replica_group: str
    protocol: str
    master_epoch: int
    sync_state_set_epoch: int
    master: str | None
    members: tuple[str, ...]
    start_time: int
    end_time: int | None
    start_event_id: str | None


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class LockHold:
    """One entry of a broker's lock table: a client that held the lock of one queue for its consumer group.

    ``end_time`` is ``None`` if the entry was in the table at the end of the log. Renewals print nothing: between
    ``certain_until`` (a minute after the grant, or the last refusal of another client because of it) and the end the
    lock may have expired unseen. In strict mode ``granted`` brokers of the set had the entry, and the client holds the
    lock with ``needed``.
    """

    cluster: str
    replica_group: str
    protocol: str
    broker_node: str
    source_node: str
    consumer_group: str
    topic: str
    queue_id: int
    client_id: str
    lock_mode: str | None
    granted: int
    needed: int | None
    start_time: int
    end_time: int | None
    certain_until: int
    start_uncertainty_ms: int
    end_uncertainty_ms: int | None
    start_cause: str
    end_cause: str | None
    start_event_id: str | None
    end_event_id: str | None


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class MetadataVersion:
    """The DataVersion of one metadata file of one broker when it was copied. ``timestamp`` is the version's own, in us;
    its counter moves only every so many changes of the table, so equal versions may stand for different tables."""

    cluster: str
    replica_group: str
    protocol: str
    node: str
    source_node: str
    kind: str
    observed_time: int
    state_version: int | None
    timestamp: int | None
    counter: int | None
    event_id: str


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Finding:
    """One result for a reviewer, with the ids of the events that prove it. ``implied_by`` is the finding that it
    follows from directly, ``root_finding_id`` the root of that chain (``None``: it is a root itself). ``cut_from`` and
    ``cut_to`` are the ends of what a log lost."""

    finding_id: str
    cluster: str
    replica_group: str
    protocol: str
    rule: str
    severity: str
    certainty: str
    nodes: tuple[str, ...]
    terms: tuple[int, ...]
    start_time: int
    end_time: int | None
    summary: str
    evidence: tuple[str, ...]
    implied_by: str | None = None
    root_finding_id: str | None = None
    scope: Scope | None = None
    former_leader: str | None = None
    former_leader_fate: Fate | None = None
    next_leader: str | None = None
    served_time: int | None = None
    cut_node: str | None = None
    cut_epoch: int | None = None
    cut_from: int | None = None
    cut_to: int | None = None
    unit: Unit | None = None
    lost_from: LostFrom | None = None
    overlap_min_ms: int | None = None
    overlap_max_ms: int | None = None
    duration_min_ms: int | None = None
    duration_max_ms: int | None = None
    messages_lost: int | None = None
    messages_repeated: int | None = None
    bytes_lost: int | None = None
    entries_lost: int | None = None
    offset_before: int | None = None
    offset_after: int | None = None
    rounds: int | None = None
    clock_least_ms: int | None = None
    clock_most_ms: int | None = None
    clock_set_by_ms: int | None = None


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class ClockOffset:
    """How far a wrong clock was ahead of true time between two steps; negative: behind. ``source_node`` is the machine,
    or the clock that copied its files. Its times are ``moved_ms`` later than its readings. ``set_by_...`` is by how
    much it was set at the beginning. ``None``: unknown."""

    cluster: str
    replica_group: str
    protocol: str
    source_node: str
    node: str | None
    position: int
    start_time: int
    end_time: int
    start_time_logged: int
    end_time_logged: int
    clock_least_ms: int | None
    clock_most_ms: int | None
    moved_ms: int
    set_by_least_ms: int | None
    set_by_most_ms: int | None
    finding_id: str


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class RuleCoverage:
    """How often a rule could be judged in one group, and why it could not otherwise. ``times_*`` count the protocol's
    configurable time-outs: those printed in logs, those given by the pipeline's settings, and those assumed."""

    cluster: str
    replica_group: str
    protocol: str
    rule: str
    conforms: int
    violates: int
    undecidable: int
    why_undecidable: str | None
    times_printed: int | None = None
    times_configured: int | None = None
    times_assumed: int | None = None


Row = RoleInterval | Term | Election | SyncStateSet | LockHold | MetadataVersion | Finding | ClockOffset | RuleCoverage

TABLE_OF: dict[type[Row], str] = {
    RoleInterval: "role_intervals",
    Term: "terms",
    Election: "elections",
    SyncStateSet: "sync_state_sets",
    LockHold: "lock_holds",
    MetadataVersion: "metadata_versions",
    Finding: "findings",
    ClockOffset: "clock_offsets",
    RuleCoverage: "rule_coverage",
}
"""The gold table of each kind of row."""

_GROUP = ("cluster", "replica_group", "protocol")
KEYS: dict[type[Row], tuple[str, ...]] = {
    RoleInterval: (*_GROUP, "node", "source_node", "role", "term", "start_time", "start_event_id"),
    Term: (*_GROUP, "term", "leader", "start_time"),
    Election: (*_GROUP, "term", "candidate", "start_time", "start_event_id"),
    SyncStateSet: (*_GROUP, "master_epoch", "sync_state_set_epoch", "members", "start_time"),
    LockHold: (*_GROUP, "broker_node", "source_node", "consumer_group", "topic", "queue_id", "client_id", "start_time"),
    MetadataVersion: ("cluster", "replica_group", "source_node", "kind", "observed_time", "event_id"),
    Finding: ("finding_id",),
    ClockOffset: (*_GROUP, "source_node", "position"),
    RuleCoverage: (*_GROUP, "rule"),
}
"""The columns that identify a row of each table."""


def deduplicated(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows as tables can hold them: one per key, and none that ends before it begins. Lost lines, clocks that
    were put back, and mixed logs of two members can produce such rows; findings report those causes. Of rows with one
    key the longest is kept."""
    kept: dict[tuple[object, ...], Row] = {}
    for row in map(_in_order, rows):
        key = (type(row), _KEY_OF[type(row)](row))
        other = kept.get(key)
        if other is None or _end(row) > _end(other):
            kept[key] = row
    yield from kept.values()


_KEY_OF = {kind: attrgetter(*names) for kind, names in KEYS.items()}


def _end(row: Row) -> float:
    end = getattr(row, "end_time", None)
    return float("inf") if end is None else float(end)


def _in_order(row: Row) -> Row:
    """Return a row whose times are in order: an end before the start is moved to it."""
    if isinstance(row, MetadataVersion | RuleCoverage):
        return row
    if row.end_time is not None and row.end_time < row.start_time:
        row = replace(row, end_time=row.start_time)
    if isinstance(row, RoleInterval | LockHold) and row.end_uncertainty_ms is not None and row.end_uncertainty_ms < 0:
        row = replace(row, end_uncertainty_ms=0)
    if isinstance(row, LockHold) and row.certain_until is not None and row.certain_until < row.start_time:
        row = replace(row, certain_until=row.start_time)
    return row
