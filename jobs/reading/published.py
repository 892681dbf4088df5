"""What is published, read without Spark: every table at the version that the last run names.

The tables become views of an in-memory database that can read nothing else: no files, no network, no settings.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from jobs import JobError
from jobs.faults import Damaged, meaning
from jobs.reading.duckdb_views import create_in_duckdb
from jobs.warehouse.warehouse import Warehouse
from schemas import TABLES
from schemas.views import VIEWS

THERE_IS = ", ".join([*sorted(TABLES), *sorted(view.call for view in VIEWS.values())])
UNREAD = re.compile(rf"stream registered as '({'|'.join(TABLES)})' failed: (.*)")
"""What DuckDB says when Arrow cannot read a table's files."""
READING = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


class Published:
    """The published tables of a warehouse. Raises :class:`JobError` when there are none."""

    def __init__(self, warehouse: Warehouse) -> None:
        self.run: dict[str, Any] = warehouse.last_run()
        self._warehouse = warehouse
        self._database = duckdb.connect()
        self._database.execute("SET TimeZone = 'UTC'")
        self._database.execute("SET python_enable_replacements = false")
        for name, version in warehouse.published_versions(self.run).items():
            self._database.register(name, warehouse.dataset(name, version))
        create_in_duckdb(self._database)
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
            self._tell_damage(error)
            raise JobError(*str(error).rstrip().splitlines(), f"The tables and views are: {THERE_IS}") from error

    def rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[dict[str, Any]]:
        """The answer to one of our own queries, with ``?``, or ``$`` and its name, for each value."""
        try:
            found: list[dict[str, Any]] = self._database.sql(sql, params=values).to_arrow_table().to_pylist()
        except duckdb.Error as error:
            self._tell_damage(error)
            raise
        return found

    def _tell_damage(self, error: duckdb.Error) -> None:
        """Raise :class:`JobError` where a table could not be read, not the query."""
        if (found := UNREAD.search(str(error))) and not meaning(error):
            raise Damaged(found[1], self._warehouse.location(found[1]), ValueError(found[2])) from error
