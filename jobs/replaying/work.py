"""What one replay is to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from election_replay.election_core.model.inventory import Inventory
from election_replay.jobs.engines.engine import Among, Engine, NamedBy, OneOf, Rows
from election_replay.jobs.replaying.idle_sources import IdleSources
from election_replay.jobs.replaying.source_delta import SOURCE, Extent
from election_replay.jobs.warehouse.pointer import OF_GROUP
from election_replay.jobs.warehouse.replacing import DeletedKeys
from election_replay.jobs.warehouse.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Work:
    """What one replay is to do.

    ``landed`` are all events up to the landing ``last_batch``, ``since`` is the last landing whose verdicts stand (0:
    none). ``idle`` is what goes on as it was. ``everything``: no cluster is left out, so that the tables are written
    whole. ``before`` are the versions of the tables when the work began. ``splits_by_cluster``: over how many tasks a
    cluster is dealt; one that is not named stays together. ``pointer`` says whose rows are published of each group;
    ``None``: nothing is.
    """

    engine: Engine
    warehouse: Warehouse
    run_id: str
    inventory: Inventory
    landed: Rows
    last_batch: int
    since: int
    extent: Extent
    idle: IdleSources
    everything: bool
    before: Mapping[str, int]
    splits_by_cluster: Mapping[str, int]
    started_at: datetime
    pointer: Rows | None

    @property
    def clusters(self) -> tuple[str, ...]:
        """All clusters that are judged."""
        return tuple(sorted({*self.extent.whole, *self.extent.partly}))

    @property
    def folded(self) -> DeletedKeys:
        """What of the facts and checkpoints is told anew."""
        return DeletedKeys(frozenset(self.extent.whole), frozenset(self.extent.touched))

    @property
    def moved(self) -> DeletedKeys:
        """What of the ends of logs is told anew."""
        return DeletedKeys(self.folded.clusters, self.folded.keys | {*self.idle.sources})

    def of_sources(self, *, wanted: bool = True) -> Among:
        """The rows of the sources touched, or those of all others."""
        return Among(SOURCE, frozenset(self.extent.touched), wanted)

    def published_rows(self, table: str) -> Rows | None:
        """The rows of a judged table that are published; ``None``: none are."""
        if self.pointer is None:
            return None
        return Rows(table, self.before[table]).where(NamedBy(OF_GROUP, self.pointer))

    def newest(self, table: str, clusters: tuple[str, ...]) -> Rows:
        """The rows of clusters as they are now."""
        return Rows(table, self.warehouse.version(table)).where(OneOf("cluster", clusters))

    def old(self, table: str) -> Rows:
        """The rows of the clusters ``partly``, as they were when the work began."""
        return Rows(table, self.before[table]).where(OneOf("cluster", self.extent.partly))
