"""Validation: checks the expectations of the newest tables, records the results and writes them as pages."""

import sys
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow.compute as pc

from election_replay.jobs.gates.checks import Check, check, chosen_tables, record
from election_replay.jobs.publishing.runs import newest_run
from election_replay.jobs.warehouse.table_sets import JUDGED, LANDED
from election_replay.jobs.warehouse.warehouse import Warehouse

JUDGED_BY = ("rules_version", "facts_version", "inventory_version")
"""The columns of a run that identify the rules, facts and inventory with which it judged."""


@dataclass(frozen=True, slots=True)
class Validation:
    """The result of one validation: its id in ``gold.validations``, tables, checks, and the first page of data docs.

    ``failed`` are the names of the user's own validation definitions of Great Expectations that failed.
    """

    validation_id: str
    tables: tuple[str, ...]
    checks: tuple[Check, ...]
    page: Path | None = None
    failed: tuple[str, ...] = ()


def validate(
    warehouse: Warehouse,
    layers: Collection[str] = (),
    clusters: Collection[str] | None = None,
    as_of: datetime | None = None,
    *,
    new: bool = False,
    docs: bool = True,
) -> Validation:
    """Check the tables of ``layers``, by default all; only rows of ``clusters`` unless that is ``None``.

    ``new``: of landed tables check only rows since the published run, of judged tables only clusters that have such
    events or were held back; the rest has passed the gates. ``as_of`` is the time by which the freshness of sources is
    measured. ``docs``: write the data docs too. Raises :class:`~jobs.JobError` if nothing was ever landed, or if an
    expectation cannot be checked.
    """
    tables = chosen_tables(warehouse, layers)
    since, pending = since_published(warehouse) if new else (0, None)
    if pending is not None:
        pending = pending if clusters is None else pending & {*clusters}
    landed, judged = ([name for name in tables if name in of] for of in (LANDED, JUDGED))
    checks = (
        [
            *check(warehouse, landed, clusters, as_of, since),
            *(check(warehouse, judged, clusters if pending is None else pending, as_of) if judged else ()),
        ]
        if new
        else check(warehouse, tables, clusters, as_of)
    )
    validation_id = record(warehouse, checks)
    if not docs:
        return Validation(validation_id, tuple(tables), tuple(checks))
    from election_replay.jobs.gates.data_docs import data_docs  # takes seconds to import

    if (pages := data_docs(warehouse, checks, as_of)) is None:
        return Validation(validation_id, tuple(tables), tuple(checks))
    return Validation(validation_id, tuple(tables), tuple(checks), pages.first, pages.failed)


def since_published(warehouse: Warehouse) -> tuple[int, set[str] | None]:
    """Return the last published landing, and the clusters with later events or held back; (0, ``None``) means all.

    Everything is judged anew if the newest run has other rules or another inventory than the published one.
    """
    published, last = warehouse.published(), newest_run(warehouse)
    if published is None or last is None or any(last[name] != published[name] for name in JUDGED_BY):
        return 0, None
    since = int(published["batch"])
    rows = warehouse.dataset("landed_files").to_table(["cluster", "lines_event"], filter=pc.field("batch") > since)
    updated = rows.filter(pc.greater(rows["lines_event"], 0))["cluster"].unique().to_pylist()
    return since, {*updated, *(published["held"] or ())}


if __name__ == "__main__":
    from election_replay.jobs.cli.app import main

    sys.exit(main(["validate", *sys.argv[1:]]))
