"""An event as the fold sees it: the columns that rules need, on the timeline of the machine that wrote it."""

from dataclasses import dataclass, fields


@dataclass(slots=True)
class FoldEvent:
    """One row of ``silver.events``, reduced to the columns that the fold reads.

    Treat it as immutable; it is not frozen because a frozen one takes eight times as long to make, and very many are
    made.

    The line was written in ``[at, by]``, in us UTC on the source's own timeline. That is ``ahead`` us ahead of the
    clock's reading, by which times inside the line are.
    """

    event_id: str
    stream: str
    kind: str
    at: int
    by: int
    replica_group: str | None = None
    node: str | None = None
    peer: str | None = None
    role: str | None = None
    term: int | None = None
    from_term: int | None = None
    max_term: int | None = None
    raft_index: int | None = None
    last_heartbeat_local: str | None = None
    result: str | None = None
    member_count: int | None = None
    answered: int | None = None
    accepted: int | None = None
    not_ready: int | None = None
    bigger_ledger: int | None = None
    has_leader: bool | None = None
    committed: int | None = None
    ledger_end: int | None = None
    ledger_end_term: int | None = None
    peer_ledger_end: int | None = None
    peer_ledger_end_term: int | None = None
    start_offset: int | None = None
    max_offset: int | None = None
    confirm_offset: int | None = None
    epoch_entries: tuple[tuple[int, int, int | None], ...] | None = None
    sync_state_set_epoch: int | None = None
    members: tuple[str, ...] | None = None
    members_before: tuple[str, ...] | None = None
    request: str | None = None
    decision: str | None = None
    cluster_name: str | None = None
    broker_id: str | None = None
    address: str | None = None
    peer_address: str | None = None
    register_code: str | None = None
    consumer_group: str | None = None
    topic: str | None = None
    queue_id: int | None = None
    client_id: str | None = None
    peer_client_id: str | None = None
    setting: str | None = None
    value: str | None = None
    value_before: str | None = None
    flag: bool | None = None
    code: int | None = None
    duration_ms: int | None = None
    count: int | None = None
    thread: str | None = None
    queue_offset: int | None = None
    state_version: int | None = None
    version_timestamp: int | None = None
    counter: int | None = None
    ahead: int = 0


LINE_FIELDS: tuple[str, ...] = tuple(
    field.name for field in fields(FoldEvent) if field.name not in {"event_id", "stream", "kind", "at", "by", "ahead"}
)
"""The fields with the content of the line."""
