"""The plan of a run for ``--dry-run``, made without Spark."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from election_replay.election_core.model.inventory import Inventory
from election_replay.jobs.engines.engine import Rows, UpTo
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.landing.blocks import head
from election_replay.jobs.landing.enveloped import chain_of
from election_replay.jobs.landing.evidence import HEAD_BYTES
from election_replay.jobs.landing.landing_zone import Skipped, open_landing
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.masking import masked
from election_replay.jobs.landing.pseudonyms import pseudonyms_of
from election_replay.jobs.landing.recognising import dialect_of, looked_at, texts_of
from election_replay.jobs.landing.understanding import Understanding
from election_replay.jobs.replaying.nothing_new import EVERYTHING, Selection, batch_published, held_by
from election_replay.jobs.replaying.plan import selected_clusters
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.table_sets import clusters_of
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas.landed_files import NOT_UNDERSTOOD


def landing_plan(
    files: Sequence[LogFile], passed_over: Iterable[Skipped], landing: str, config: Config
) -> Iterator[str]:
    """Yield lines about the files that would be landed, by cluster, tried again, passed over, or not understood."""
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    for file in files:
        if file.unread is None:
            sizes[file.cluster].append(file.size)
    for cluster, found in sorted(sizes.items()):
        yield f"would land {cluster}: {len(found):,} new or grown files, {sum(found) / 1e6:,.1f} MB"
    for file in files:
        if file.unread is not None:
            yield f"would try again {file.path}: {file.unread}"
    for entry in passed_over:
        yield f"would pass over {entry.path}: {entry.reason}"
    if not files:
        yield "would land nothing: no new log file, and none has grown"
    yield from misunderstandings(files, landing, config)


def misunderstandings(files: Iterable[LogFile], landing: str, config: Config) -> Iterator[str]:
    """Yield lines about the files that would not be understood, judged by their beginnings."""
    zone = open_landing(landing)
    pseudonyms = pseudonyms_of(config.privacy)

    def kept(text: str) -> str:
        return pseudonyms.in_text(masked(text)) if pseudonyms else masked(text)

    for file in files:
        if file.below:
            continue
        data, problem, _ = head(zone, file.path, file.size, looked_at(file.stream))
        if problem:
            if file.unread is None:  # otherwise the landing plan has listed it
                yield f"would not read {file.path}: {problem}"
            continue
        setting = config.dialect_of(file.cluster, file.source_node, (file.name, file.stream))
        if chain_of(file.stream, data[:HEAD_BYTES], setting):
            continue
        found = Understanding(file.stream, dialect_of(file.stream, data, setting))
        found.begin(data)
        found.take_all(texts_of(data[:HEAD_BYTES]) if data else [])
        if problem := found.problem(kept):
            yield f"would not understand {file.path}: {problem.removeprefix(NOT_UNDERSTOOD)}"


def judging_plan(
    warehouse: Warehouse,
    inventory: Inventory,
    selection: Selection = EVERYTHING,
    landing: Iterable[LogFile] = (),
) -> Iterator[str]:
    """Yield lines about the clusters that would be judged: of landed events, and of the files ``landing``."""
    clusters = {file.cluster for file in landing}
    if warehouse.last_batch():
        landed = Rows("events").where(UpTo("batch", warehouse.last_batch()))
        new = selection == EVERYTHING
        clusters |= (
            pending(warehouse, inventory) if new else {*selected_clusters(LocalEngine(1), warehouse, landed, selection)}
        )
    for cluster in sorted(clusters):
        yield f"would judge {cluster}"
    if not clusters:
        yield "would judge nothing: all that is landed is published"


def pending(warehouse: Warehouse, inventory: Inventory) -> set[str]:
    """Return the clusters with landed events that no published run has judged, and those held back."""
    published = warehouse.published()
    since = batch_published(warehouse, published, inventory)
    if not since:
        return set(clusters_of(warehouse))
    rows = warehouse.rows("landed_files", ["batch", "cluster", "lines_event"])
    return {row["cluster"] for row in rows if row["batch"] > since and row["lines_event"]} | {*held_by(published)}
