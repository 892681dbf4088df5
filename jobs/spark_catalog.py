"""Registers the tables in a Spark catalogue: Hive's metastore, Glue, Unity, or any that ``spark.sql.catalog`` names.

Each table is registered at its location; columns and comments come from Delta's log. A judged table is called
``NAME_of_all_runs``, and ``NAME`` is a view of the rows that ``gold.published`` names, so users of the catalogue read
what is published. All our views follow, but not table functions: other sessions cannot resolve them in Spark, and
:mod:`jobs.spark_views` registers them in a session. Grants are left to the catalogue.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from election_replay.jobs import JobError
from election_replay.jobs.reading.given_rows import with_rows
from election_replay.jobs.spark_views import in_spark
from election_replay.jobs.warehouse.pointer import PUBLISHED, current_rows_sql
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES, Table
from election_replay.schemas.model import View, spark_text
from election_replay.schemas.views import BEFORE, VIEWS

OF_ALL_RUNS = "_of_all_runs"
"""The suffix of a judged table's name; the plain name is that of a view."""

KEYS = "keys"
"""The entry of ``refused`` for a catalogue without informational constraints."""


@dataclass(slots=True)
class Registered:
    """The tables and views that a catalogue has now, and what it refused, with the reasons."""

    tables: list[str] = field(default_factory=list)
    views: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def register_in(spark: SparkSession, warehouse: str, catalog: str, schema: str) -> Registered:
    """Register the tables, views of their published rows, and our views in a schema, which is created if missing.

    Once is enough for all but ``findings_before``, which names a version and changes with each run. The schema becomes
    the session's current one. Raises :class:`~jobs.JobError` if nothing is published, if a table of the schema has
    another location, or if the catalogue refuses a table or a view.
    """
    tables, done = Warehouse(warehouse), Registered()
    run = tables.last_run()
    try:
        spark.sql(f"CREATE SCHEMA IF NOT EXISTS {quoted(catalog)}.{quoted(schema)}")
        spark.sql(f"USE {quoted(catalog)}.{quoted(schema)}")
        here = {row["tableName"] for row in spark.sql("SHOW TABLES").collect()}
        for table in TABLES.values():
            if tables.version(table.name) is not None:
                register_table(spark, tables.location(table.name), table, done, known=name_of(table) in here)
        ours = (
            with_rows(view, spark_text) for view in VIEWS.values() if view.name not in BEFORE and not view.parameters
        )
        for view in (*views_of_tables(tables, run), *ours):
            register_view(spark, view, done)
    except PySparkException as error:
        raise JobError(f"the catalogue {catalog} refuses the schema {schema}: {first_line(error)}") from error
    return done


def name_of(table: Table) -> str:
    """Return the name under which a table itself is registered."""
    return table.name + OF_ALL_RUNS if table.by_run else table.name


def register_table(spark: SparkSession, location: str, table: Table, done: Registered, *, known: bool) -> None:
    """Register a table at its location, with its primary key if the catalogue accepts it."""
    name = name_of(table)
    if known:
        [(place,)] = spark.sql(f"DESCRIBE DETAIL {quoted(name)}").select("location").collect()
        if place.removeprefix("file:").rstrip("/") != location:
            raise JobError(f"the table {name} of the schema stands at {place}, not at {location}: take another schema")
    else:
        spark.sql(f"CREATE TABLE {quoted(name)} USING delta LOCATION {spark_text(location)}")
    done.tables.append(name)
    if table.key and not known and KEYS not in done.refused:
        key = ", ".join(map(quoted, (*table.key, "run_id") if table.by_run else table.key))
        constraint = f"CONSTRAINT {quoted(f'{name}_key')} PRIMARY KEY ({key}) NOT ENFORCED"
        attempt(spark, f"ALTER TABLE {quoted(name)} ADD {constraint}", KEYS, done)


def register_view(spark: SparkSession, view: View, done: Registered) -> None:
    """Register a view. A view with its rows in its text may be too long for a metastore, and may be refused."""
    statement = in_spark(view, temporary=False)
    if not view.given:
        spark.sql(statement)
    elif not attempt(spark, statement, f"the view {view.name}", done):
        return
    done.views.append(view.name)


def views_of_tables(tables: Warehouse, run: dict[str, Any]) -> Iterator[View]:
    """Yield views of the published rows of judged tables, and of those of the run before ``run``."""
    before = tables.run_before(run)
    former = before["versions"].get(PUBLISHED) if before else None
    pointer = f"{PUBLISHED} VERSION AS OF {former or 0}"  # the first version names nothing
    for table in TABLES.values():
        if table.by_run:
            sql = current_rows_sql(table, name_of(table), PUBLISHED)
            yield View(name=table.name, comment=table.comment, columns=table.columns, sql=sql)
    for name, source in BEFORE.items():
        yield replace(VIEWS[name], sql=current_rows_sql(TABLES[source], name_of(TABLES[source]), pointer))


def attempt(spark: SparkSession, sql: str, name: str, done: Registered) -> bool:
    """Run SQL that some catalogues refuse; return False and note the reason under ``name`` if it is refused."""
    try:
        spark.sql(sql)
    except PySparkException as error:
        done.refused[name] = first_line(error)
        return False
    return True


def first_line(error: PySparkException) -> str:
    """Return the first line of Spark's error."""
    return str(error).strip().partition("\n")[0]


def quoted(name: str) -> str:
    """Return a name quoted as an identifier of Spark SQL."""
    return "`" + name.replace("`", "``") + "`"
