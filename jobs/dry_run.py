"""What a run would do, said without doing it and without Spark."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import duckdb

from election_core.replay import Inventory
from jobs import JobError
from jobs.blocks import head
from jobs.config import Config
from jobs.enveloped import chain_of
from jobs.evidence import HEAD_BYTES
from jobs.listing import LogFile, open_landing
from jobs.pseudonyms import pseudonyms_of
from jobs.publish import clusters_of
from jobs.recognising import dialect_of, looked_at, texts_of
from jobs.replay import EVERYTHING, NOTHING_SELECTED, Selection, batch_published, held_by
from jobs.understanding import NOT_UNDERSTOOD, Understanding
from jobs.warehouse import Warehouse


def landing_plan(files: Iterable[LogFile]) -> Iterator[str]:
    """Which files would be looked into, cluster by cluster."""
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    for file in files:
        sizes[file.cluster].append(file.size)
    for cluster, found in sorted(sizes.items()):
        yield f"would land {cluster}: {len(found):,} new or grown files, {sum(found) / 1e6:,.1f} MB"
    if not sizes:
        yield "would land nothing: no new log file, and none has grown"


def misunderstandings(files: Iterable[LogFile], landing: str, config: Config) -> Iterator[str]:
    """Which of the files would not be understood, by what they begin with."""
    system, root = open_landing(landing)
    pseudonyms = pseudonyms_of(config.privacy)
    for file in files:
        if file.below:
            continue
        data = head(system, f"{root}/{file.path}", file.size, looked_at(file.stream))
        if chain_of(file.stream, data[:HEAD_BYTES]):
            continue
        setting = config.dialect_of(file.cluster, file.source_node, (file.name, file.stream))
        found = Understanding(file.stream, dialect_of(file.stream, data, setting))
        found.begin(data)
        found.take_all(texts_of(data[:HEAD_BYTES]) if data else [])
        if problem := found.problem(pseudonyms.in_text if pseudonyms else str):
            yield f"would not understand {file.path}: {problem.removeprefix(NOT_UNDERSTOOD)}"


def judging_plan(
    warehouse: Warehouse,
    inventory: Inventory,
    selection: Selection = EVERYTHING,
    landing: Iterable[LogFile] = (),
) -> Iterator[str]:
    """Which clusters would be judged, of what is landed and of ``landing``, which would be."""
    clusters = {file.cluster for file in landing}
    if warehouse.last_batch():
        clusters |= pending(warehouse, inventory) if selection == EVERYTHING else selected(warehouse, selection)
    for cluster in sorted(clusters):
        yield f"would judge {cluster}"
    if not clusters:
        yield "would judge nothing: all that is landed is published"


def pending(warehouse: Warehouse, inventory: Inventory) -> set[str]:
    """The clusters of which something is landed that no published run has judged."""
    published = warehouse.published()
    since = batch_published(warehouse, published, inventory)
    if not since:
        return set(clusters_of(warehouse))
    rows = warehouse.rows("landed_files", ["batch", "cluster", "lines_event"])
    return {row["cluster"] for row in rows if row["batch"] > since and row["lines_event"]} | {*held_by(published)}


def selected(warehouse: Warehouse, selection: Selection) -> set[str]:
    """The clusters that a selection names, of those that have events. Raises :class:`JobError` if there are none."""
    events = warehouse.dataset("events")
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        database.register("events", events)
        rows = database.execute(
            "SELECT DISTINCT cluster FROM events WHERE batch <= $batch AND CAST(event_time AS DATE) BETWEEN "
            "coalesce($since, DATE '0001-01-01') AND coalesce($until, DATE '9999-12-31')",
            {"batch": warehouse.last_batch(), "since": selection.since, "until": selection.until},
        ).fetchall()
    found = {cluster for (cluster,) in rows}
    chosen = found if selection.clusters is None else found & set(selection.clusters)
    if not chosen:
        raise JobError(NOTHING_SELECTED)
    return chosen
