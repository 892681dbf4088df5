"""Which clusters a replay is asked to judge."""

from dataclasses import dataclass
from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs import JobError


@dataclass(frozen=True, slots=True)
class Selection:
    """Which clusters to judge: those named, and of them those with events of the nights (days UTC, both included).

    ``None`` is no limit. A cluster is always judged whole. What is selected is judged anew, whether it is new or not;
    with ``from_events`` from its first event on, not from the states of former nights.
    """

    clusters: tuple[str, ...] | None = None
    since: date | None = None
    until: date | None = None
    from_events: bool = False


EVERYTHING = Selection()


NOTHING_SELECTED = "no event is landed of the clusters and nights that were asked for"


def clusters_in(events: DataFrame) -> list[str]:
    """The clusters that events are of."""
    return sorted(row["cluster"] for row in events.select("cluster").distinct().collect())


def selected(events: DataFrame, selection: Selection) -> list[str]:
    """The clusters that a selection names, of those that have events. Raises :class:`JobError` if there are none."""
    if selection.clusters is not None:
        events = events.where(F.col("cluster").isin(list(selection.clusters)))
    if selection.since is not None:
        events = events.where(F.to_date("event_time") >= F.lit(selection.since))
    if selection.until is not None:
        events = events.where(F.to_date("event_time") <= F.lit(selection.until))
    found = clusters_in(events)
    if not found:
        raise JobError(NOTHING_SELECTED)
    return found
