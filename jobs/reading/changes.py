"""What changed between two published runs: findings that appeared, vanished or say something else, and other rows."""

from dataclasses import dataclass
from typing import Any

import duckdb

from election_replay.election_core.model.rows import TABLE_OF
from election_replay.jobs.reading.published import readable, run_named
from election_replay.jobs.reading.words import Row
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.findings import ADVICE, OF_RUNS

FINDINGS = TABLES["findings"]
APPEARED, VANISHED, CHANGED = "appeared", "vanished", "changed"
NOT_COMPARED = {"finding_id", *OF_RUNS, *(column.name for column in ADVICE)}
COMPARED = tuple(name for name in FINDINGS.names if name not in NOT_COMPARED)
"""What a finding says, but for its id, for what the runs say of it, and for what to do about it."""


@dataclass(frozen=True, slots=True)
class Changes:
    """``findings`` that differ, each with ``change`` and the columns that changed; of all other gold tables how many
    ``rows`` only one of the runs has: name -> those of the former and those of the latter."""

    before: Row
    after: Row
    findings: list[Row]
    rows: dict[str, tuple[int, int]]

    @property
    def by_rules(self) -> bool:
        """Whether the two judged by different rules, so that verdicts may differ though the logs do not."""
        return bool(self.before["rules_version"] != self.after["rules_version"])

    def count(self, change: str) -> int:
        """So many findings appeared, vanished or changed."""
        return sum(row["change"] == change for row in self.findings)


def changes(warehouse: Warehouse, before: str, after: str) -> Changes:
    """What the run ``after`` says otherwise than ``before``; each is an id, the beginning of one, ``last`` or
    ``before``.

    Raises :class:`~jobs.JobError` for a run that is not there, or kept no longer.
    """
    former, latter = run_named(warehouse, before), run_named(warehouse, after)
    newest = warehouse.last_run()["run_id"]
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    database.execute("SET python_enable_replacements = false")
    for side, run in (("before", former), ("after", latter)):
        with readable(run, last=run["run_id"] == newest):
            for name in TABLE_OF.values():
                database.register(f"{name}_{side}", warehouse.dataset(name, run["versions"][name]))
    found = database.sql(FINDINGS_THAT_DIFFER).to_arrow_table().to_pylist()
    rows = {name: only_in_one(database, name) for name in TABLE_OF.values() if name != FINDINGS.name}
    return Changes(former, latter, found, rows)


def only_in_one(database: duckdb.DuckDBPyConnection, table: str) -> tuple[int, int]:
    """How many rows of a table only the former run has, and how many only the latter."""
    names = ", ".join(TABLES[table].names)

    def more(run: str, other: str) -> int:
        sql = f"SELECT count(*) FROM (SELECT {names} FROM {table}_{run} EXCEPT ALL SELECT {names} FROM {table}_{other})"
        [row] = database.sql(sql).fetchall()
        return int(row[0])

    return more("before", "after"), more("after", "before")


def _differs() -> str:
    """The names of the columns that say something else, as a list in SQL."""
    parts = ", ".join(f"CASE WHEN later.{name} IS DISTINCT FROM sooner.{name} THEN '{name}' END" for name in COMPARED)
    return f"list_filter([{parts}], lambda one: one IS NOT NULL)"


def _shown(name: str) -> str:
    return f"coalesce(later.{name}, sooner.{name}) AS {name}"


FINDINGS_THAT_DIFFER = f"""
    SELECT CASE WHEN sooner.finding_id IS NULL THEN '{APPEARED}' WHEN later.finding_id IS NULL THEN '{VANISHED}'
                ELSE '{CHANGED}' END AS change,
           {", ".join(map(_shown, ("finding_id", "cluster", "replica_group", "rule", "severity", "certainty")))},
           {", ".join(map(_shown, ("start_time", "end_time", "summary")))},
           CASE WHEN sooner.finding_id IS NOT NULL AND later.finding_id IS NOT NULL THEN {_differs()} END AS columns,
           CASE WHEN later.summary <> sooner.summary THEN sooner.summary END AS summary_before,
           CASE WHEN later.severity <> sooner.severity THEN sooner.severity END AS severity_before
    FROM findings_before AS sooner FULL JOIN findings_after AS later ON later.finding_id = sooner.finding_id
    WHERE sooner.finding_id IS NULL OR later.finding_id IS NULL OR len({_differs()}) > 0
    ORDER BY change, cluster, replica_group, start_time, finding_id
"""


def as_json(found: Changes) -> dict[str, Any]:
    """The same as plain data."""
    of_run = ("run_id", "published_at", "code_version", "rules_version")
    return {
        "before": {name: found.before[name] for name in of_run},
        "after": {name: found.after[name] for name in of_run},
        "findings": found.findings,
        "rows": {name: {"only_before": before, "only_after": after} for name, (before, after) in found.rows.items()},
    }
