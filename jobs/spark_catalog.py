"""The tables in a catalogue of Spark's: Hive's metastore, Glue, Unity, or whatever ``spark.sql.catalog`` names.

Each table is registered where it stands; its columns and comments come from Delta's log. A judged table is known as
``NAME_of_all_runs``, and ``NAME`` is a view of the rows that ``gold.published`` names: so whoever knows the catalogue
alone reads what is published. All views of ours follow. Table functions do not: Spark lets no other session resolve
them; :mod:`jobs.spark_views` makes them known to a session. Grants are the catalogue's own business.
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
"""What the name of a judged table ends with: a view has the name itself."""

KEYS = "keys"
"""What is refused where a catalogue takes no informational constraints."""


@dataclass(slots=True)
class Registered:
    """What a catalogue knows now, and what it does not take, each with its reason."""

    tables: list[str] = field(default_factory=list)
    views: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def register_in(spark: SparkSession, warehouse: str, catalog: str, schema: str) -> Registered:
    """Make the tables, the views of what is published, and our views known to a schema, which is made if missing.

    To do so once is enough for all but ``findings_before``, which goes on with each run. The session works in the
    schema afterwards. Raises :class:`~jobs.JobError` when nothing is published, when a table of the schema stands
    elsewhere, and when the catalogue refuses a table or a view.
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
    """The name of a table itself in a catalogue."""
    return table.name + OF_ALL_RUNS if table.by_run else table.name


def register_table(spark: SparkSession, location: str, table: Table, done: Registered, *, known: bool) -> None:
    """Make a table known where it stands, with its key, if the catalogue takes keys."""
    name = name_of(table)
    if not known:
        spark.sql(f"CREATE TABLE {quoted(name)} USING delta LOCATION {spark_text(location)}")
    [(place,)] = spark.sql(f"DESCRIBE DETAIL {quoted(name)}").select("location").collect()
    if place.removeprefix("file:").rstrip("/") != location:
        raise JobError(f"the table {name} of the schema stands at {place}, not at {location}: take another schema")
    done.tables.append(name)
    if table.key and not known and KEYS not in done.refused:
        key = ", ".join(map(quoted, (*table.key, "run_id") if table.by_run else table.key))
        constraint = f"CONSTRAINT {quoted(f'{name}_key')} PRIMARY KEY ({key}) NOT ENFORCED"
        attempt(spark, f"ALTER TABLE {quoted(name)} ADD {constraint}", KEYS, done)


def register_view(spark: SparkSession, view: View, done: Registered) -> None:
    """Make a view of ours known. One whose rows stand in its text is longer than some metastores take."""
    statement = in_spark(view, temporary=False)
    if not view.given:
        spark.sql(statement)
    elif not attempt(spark, statement, f"the view {view.name}", done):
        return
    done.views.append(view.name)


def views_of_tables(tables: Warehouse, run: dict[str, Any]) -> Iterator[View]:
    """Views of what is published of judged tables, by a run and by the one before it."""
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
    """Do what not every catalogue takes; what it does not take is noted."""
    try:
        spark.sql(sql)
    except PySparkException as error:
        done.refused[name] = first_line(error)
        return False
    return True


def first_line(error: PySparkException) -> str:
    """What Spark says first."""
    return str(error).strip().partition("\n")[0]


def quoted(name: str) -> str:
    """A name as an identifier of Spark's SQL."""
    return "`" + name.replace("`", "``") + "`"
