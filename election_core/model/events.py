"""The canonical event: the content of one line of a log, in typed columns.

An event is a claim that one process makes about itself or others. It holds the content of the line and nothing else:
unknown is ``None``, never a guess. The fold over a node's whole log finds the replica group and member of lines that
name none.

The landing, not a dialect, adds where the line is (cluster, file, line number).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Unparsable(ValueError):
    """A known text with an impossible value in it; ``str(error)`` is the reason for the quarantine."""


@dataclass(frozen=True, slots=True)
class EpochEntry:
    """One entry of a broker's epoch file: messages of ``epoch`` begin at byte ``start_offset``. ``end_offset`` is
    ``None`` while the epoch is open."""

    epoch: int
    start_offset: int
    end_offset: int | None


@dataclass(kw_only=True, unsafe_hash=True)
class Event:
    """One line of a log in canonical form. Treat it as immutable; a frozen one would take eight times as long to make.

    :func:`saying` is faster than the constructor for few columns, since the constructor sets all.

    Times are us since 1970-01-01 UTC. ``event_time`` is the start of the logged unit of time: with
    ``time_resolution_ms`` 1000 the line was written somewhere in ``[event_time, event_time + 1 s)`` by the clock of its
    own machine.
    """

    kind: str
    event_time: int
    time_resolution_ms: int
    level: str | None = None
    thread: str | None = None

    # who, as far as the line says so itself
    protocol: str | None = None
    replica_group: str | None = None
    node: str | None = None
    peer: str | None = None
    role: str | None = None

    # logical clocks
    term: int | None = None
    from_term: int | None = None
    max_term: int | None = None
    raft_index: int | None = None

    # votes and heartbeats
    result: str | None = None
    code: int | None = None
    member_count: int | None = None
    answered: int | None = None
    accepted: int | None = None
    not_ready: int | None = None
    bigger_ledger: int | None = None
    has_leader: bool | None = None
    last_heartbeat_local: str | None = None

    # logs and replication: entry indexes (DLedger, Raft, counters of ZAB) or byte offsets (commit log)
    ledger_end: int | None = None
    ledger_end_term: int | None = None
    peer_ledger_end: int | None = None
    peer_ledger_end_term: int | None = None
    committed: int | None = None
    start_offset: int | None = None
    max_offset: int | None = None
    confirm_offset: int | None = None
    epoch_entries: tuple[EpochEntry, ...] | None = None

    # the SyncStateSet
    sync_state_set_epoch: int | None = None
    members: tuple[str, ...] | None = None
    members_before: tuple[str, ...] | None = None

    # controller decisions
    request: str | None = None
    decision: str | None = None
    committed_from: int | None = None
    committed_to: int | None = None

    # identity
    cluster_name: str | None = None
    broker_name: str | None = None
    broker_id: str | None = None
    address: str | None = None
    peer_address: str | None = None
    register_code: str | None = None

    # metadata versions
    state_version: int | None = None
    version_timestamp: int | None = None
    counter: int | None = None

    # order locks and queues
    consumer_group: str | None = None
    topic: str | None = None
    queue_id: int | None = None
    queue_offset: int | None = None
    client_id: str | None = None
    peer_client_id: str | None = None

    # settings, switches and sizes
    setting: str | None = None
    value: str | None = None
    value_before: str | None = None
    flag: bool | None = None
    duration_ms: int | None = None
    count: int | None = None


def saying(columns: Mapping[str, Any]) -> Event:
    """Return an event with these columns, which must include the required ones; all others are unknown."""
    event = Event.__new__(Event)
    vars(event).update(columns)
    return event
