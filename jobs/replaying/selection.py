"""Which clusters a replay is asked to judge."""

from dataclasses import dataclass
from datetime import date

from election_replay.jobs import JobError
from election_replay.jobs.engines.engine import Engine, OneOf, Rows
from election_replay.jobs.warehouse.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Selection:
    """Which clusters to judge: those named, and of them those with events of the nights (days UTC, both included).

    ``None`` is no limit. A cluster is always judged whole. What is selected is judged anew, whether it is new or not;
    with ``from_events`` from its first event on, not from the checkpoints of former nights.
    """

    clusters: tuple[str, ...] | None = None
    since: date | None = None
    until: date | None = None
    from_events: bool = False


EVERYTHING = Selection()


NOTHING_SELECTED = "no event is landed of the clusters and nights that were asked for"


def selected(engine: Engine, warehouse: Warehouse, events: Rows, selection: Selection) -> list[str]:
    """The clusters that a selection names, of those that have events. Raises :class:`JobError` if there are none."""
    if selection.clusters is not None:
        events = events.where(OneOf("cluster", selection.clusters))
    first, last = selection.since or date.min, selection.until or date.max
    sql = (
        f"SELECT DISTINCT cluster FROM {{rows}} WHERE CAST(event_time AS DATE) BETWEEN DATE '{first}' AND DATE '{last}'"
    )
    found = engine.answer(warehouse, sql, events.select(("cluster", "event_time"))).column("cluster").to_pylist()
    if not found:
        raise JobError(NOTHING_SELECTED)
    return sorted(found)
