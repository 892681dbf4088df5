"""Finds the member of sources whose own log does not name it, from lines of their cluster that introduce sources.

A new line of one source may name the member of another whose log has not changed, so a cluster with such lines is
always judged whole, from its first event.
"""

from collections.abc import Collection, Iterable
from dataclasses import fields, replace

import pyarrow as pa

from election_replay.election_core.model.introductions import Introduced, Introduction
from election_replay.election_core.model.inventory import NO_ENTRY, Inventory
from election_replay.election_core.replay.registry import PROTOCOLS
from election_replay.jobs.engines.engine import Engine, OneOf, Rows
from election_replay.jobs.replaying.source_delta import INTRODUCING, UpdatedSource
from election_replay.jobs.warehouse.warehouse import Warehouse

_PROTOCOLS = tuple(protocol.name for protocol in PROTOCOLS if protocol.introduce)
_FIELDS = tuple(
    field.name for field in fields(Introduction) if field.name not in {"source_node", "stream", "kind", "at"}
)
CHANGES = (
    "SELECT cluster, source_node, stream, kind, event_time, {named} FROM (SELECT *, lag(words) OVER (PARTITION BY "
    "cluster, source_node, stream, kind ORDER BY event_time, line_no) AS before FROM (SELECT *, concat_ws('|', "
    "{words}) AS words FROM {rows}) AS lines) AS in_order WHERE before IS NULL OR before <> words "
    "ORDER BY cluster, source_node, stream, event_time, line_no"
)
"""SELECT of the lines that differ from the previous line of the same source, stream and kind."""
_COLUMNS = ("cluster", "source_node", "stream", "kind", "event_time", "line_no", *_FIELDS)


def introduced_clusters(
    engine: Engine, warehouse: Warehouse, facts: Rows, updated: Iterable[UpdatedSource], clusters: Collection[str]
) -> set[str]:
    """Return those of ``clusters`` in which new lines, or facts of former nights, introduce sources."""
    found = {source.cluster for source in updated if source.introductions}
    if warehouse.count(facts.table):
        spoken = facts.where(OneOf("cluster", tuple(sorted(clusters))), OneOf("protocol", _PROTOCOLS))
        sql = "SELECT DISTINCT cluster FROM {rows}"
        found.update(engine.answer(warehouse, sql, spoken.select(("cluster", "protocol"))).column(0).to_pylist())
    return found & {*clusters}


def with_introductions(
    inventory: Inventory, engine: Engine, warehouse: Warehouse, events: Rows, clusters: Collection[str]
) -> Inventory:
    """Return the inventory with the members that the lines of ``clusters`` introduce, by source and stream."""
    if not clusters:
        return inventory
    named = ", ".join(_FIELDS)
    words = ", ".join(f"CAST({name} AS STRING)" for name in _FIELDS)
    sql = CHANGES.replace("{named}", named).replace("{words}", words)
    lines = events.where(OneOf("cluster", tuple(sorted(clusters))), OneOf("kind", tuple(sorted(INTRODUCING)))).select(
        _COLUMNS
    )
    return replace(inventory, introduced=introduced_members(engine.answer(warehouse, sql, lines)))


def with_lost_order(
    inventory: Inventory, engine: Engine, warehouse: Warehouse, files: Rows, clusters: Collection[str]
) -> Inventory:
    """Return the inventory with the sources whose lines stood in another order; ``files`` are rows of landed files."""
    lost = files.where(OneOf("cluster", tuple(sorted(clusters)))).select(("cluster", "source_node", "order_lost"))
    found = engine.answer(warehouse, "SELECT DISTINCT cluster, source_node FROM {rows} WHERE order_lost", lost)
    sources = [(row["cluster"], row["source_node"]) for row in found.to_pylist()]
    listed = {source: replace(inventory.listed.get(source, NO_ENTRY), order_lost=True) for source in sources}
    return replace(inventory, listed={**inventory.listed, **listed})


def introduced_members(lines: pa.Table) -> dict[tuple[str, str], dict[str, Introduced]]:
    """Return the member that each log speaks for, by its cluster and source and then by its stream.

    ``lines`` are the introducing events of whole clusters, in order of source, stream and time.
    """
    times = lines.column("event_time").cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_pylist()
    by_cluster: dict[str, list[Introduction]] = {}
    for row, at in zip(lines.to_pylist(), times, strict=True):
        place = (row["source_node"], row["stream"], row["kind"], at)
        by_cluster.setdefault(row["cluster"], []).append(Introduction(*place, *(row[name] for name in _FIELDS)))
    introduced: dict[tuple[str, str], dict[str, Introduced]] = {}
    for cluster, of_cluster in by_cluster.items():
        for protocol in PROTOCOLS:
            if protocol.introduce is None:
                continue
            lines_of_protocol = (line for line in of_cluster if line.kind in protocol.introducing)
            for (source, stream), whom in protocol.introduce(lines_of_protocol).items():
                introduced.setdefault((cluster, source), {})[stream] = whom
    return introduced
