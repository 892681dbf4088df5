"""What is published, read without Spark: every table at the version that the last run names.

The tables become views of an in-memory database that can read nothing else: no files, no network, no settings.
"""

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa
from deltalake import DeltaTable

from jobs import JobError
from jobs.warehouse import Warehouse
from schemas import TABLES

READING = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


class Published:
    """The published tables of a warehouse. Raises :class:`JobError` when there are none."""

    def __init__(self, warehouse: Warehouse) -> None:
        run = warehouse.published()
        if run is None:
            raise JobError(
                f"nothing is published in {warehouse.root}: "
                "run `election-replay run --landing DIR --warehouse DIR` first"
            )
        self.run: dict[str, Any] = run
        self._database = duckdb.connect()
        self._database.execute("SET TimeZone = 'UTC'")
        self._database.execute("SET python_enable_replacements = false")
        newest = {name: warehouse.version(name) for name in ("runs", "validations")}
        for name, version in {**run["versions"], **newest}.items():
            if name in TABLES and version is not None:
                dataset = DeltaTable(warehouse.location(name), version=version).to_pyarrow_dataset()
                self._database.register(name, dataset)
        self._database.execute("SET enable_external_access = false")
        self._database.execute("SET lock_configuration = true")

    def query(self, sql: str) -> pa.Table:
        """The answer to one SELECT. Raises :class:`JobError` for anything else, and for what SQL refuses."""
        try:
            statements = duckdb.extract_statements(sql)
            if len(statements) != 1 or statements[0].type not in READING:
                raise JobError("give one SELECT: what is published can be read, not changed")
            return self._database.sql(sql).to_arrow_table()
        except duckdb.Error as error:
            raise JobError(f"{str(error).rstrip()}\nThe tables are: {', '.join(sorted(TABLES))}") from error

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """The answer to one of our own queries, with ``?`` for each value."""
        found: list[dict[str, Any]] = self._database.sql(sql, params=list(values)).to_arrow_table().to_pylist()
        return found
