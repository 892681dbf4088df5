"""The differences of two published runs: findings that appeared, vanished or changed, and counts of other rows."""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import duckdb

from election_replay.election_core.model.rows import TABLE_OF
from election_replay.jobs.reading.published import readable, register_table, run_named
from election_replay.jobs.reading.words import Row
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.findings import OF_RUNS
from election_replay.schemas.views import FINDINGS_CHANGED

FINDINGS = TABLES["findings"]


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences of the runs ``before`` and ``after``, two rows of ``gold.runs``.

    ``findings`` are those that differ, with ``change`` and the changed columns. ``rows`` are, for every other gold
    table, the numbers of rows that only ``before`` has and that only ``after`` has.
    """

    before: Row
    after: Row
    findings: list[Row]
    rows: dict[str, tuple[int, int]]

    @property
    def by_rules(self) -> bool:
        """Return True if the runs judged by different rules, so that verdicts may differ for the same logs."""
        return bool(self.before["rules_version"] != self.after["rules_version"])

    def count(self, change: str) -> int:
        """Return the number of findings with this ``change``: appeared, vanished or changed."""
        return sum(row["change"] == change for row in self.findings)


def changes(warehouse: Warehouse, before: str, after: str) -> Changes:
    """Return the differences of two published runs, each named by an id, the beginning of one, ``last`` or ``before``.

    Raises :class:`~jobs.JobError` if a run does not exist or is kept no longer.
    """
    former, latter = run_named(warehouse, before), run_named(warehouse, after)
    newest = warehouse.last_run()["run_id"]
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    database.execute("SET python_enable_replacements = false")
    for side, run in (("before", former), ("after", latter)):
        with nullcontext() if run["run_id"] == newest else readable(run):
            for name in TABLE_OF.values():
                register_table(database, warehouse, run, name, f"{name}_{side}", f"published_{side}")
    register_table(database, warehouse, latter, FINDINGS.name, FINDINGS.name, "published_after")
    found = [as_list(row) for row in database.sql(FINDINGS_CHANGED.sql).to_arrow_table().to_pylist()]
    rows = {name: only_in_one(database, name) for name in TABLE_OF.values() if name != FINDINGS.name}
    return Changes(former, latter, found, rows)


def only_in_one(database: duckdb.DuckDBPyConnection, table: str) -> tuple[int, int]:
    """Return the numbers of rows of a table that only the former run has, and that only the latter has."""
    names = ", ".join(name for name in TABLES[table].names if name not in OF_RUNS)

    def more(run: str, other: str) -> int:
        sql = f"SELECT count(*) FROM (SELECT {names} FROM {table}_{run} EXCEPT ALL SELECT {names} FROM {table}_{other})"
        [row] = database.sql(sql).fetchall()
        return int(row[0])

    return more("before", "after"), more("after", "before")


def as_list(row: Row) -> Row:
    """Return a row of ``findings_changed`` with the changed columns as a list."""
    changed = row.pop("columns_changed")
    return row | {"columns": changed and changed.split(", ")}


def as_json(found: Changes) -> dict[str, Any]:
    """Return the differences as plain data."""
    of_run = ("run_id", "published_at", "code_version", "rules_version")
    return {
        "before": {name: found.before[name] for name in of_run},
        "after": {name: found.after[name] for name in of_run},
        "findings": found.findings,
        "rows": {name: {"only_before": before, "only_after": after} for name, (before, after) in found.rows.items()},
    }
