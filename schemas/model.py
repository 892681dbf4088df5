"""The model of a table: typed, commented columns, from which DDL, Arrow schema and documentation are derived.

Spark and Delta read the DDL, rows go between Spark and Python by the Arrow schema, and people read the documentation.
"""

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Type:
    """A column type, in Spark SQL and in Arrow."""

    sql: str
    arrow: pa.DataType


STRING = Type("STRING", pa.string())
BIGINT = Type("BIGINT", pa.int64())
BOOLEAN = Type("BOOLEAN", pa.bool_())
DATES = Type("ARRAY<DATE>", pa.list_(pa.date32()))
TIMESTAMP = Type("TIMESTAMP", pa.timestamp("us", tz="UTC"))
STRINGS = Type("ARRAY<STRING>", pa.list_(pa.string()))
BIGINTS = Type("ARRAY<BIGINT>", pa.list_(pa.int64()))
COUNTS = Type("MAP<STRING, BIGINT>", pa.map_(pa.string(), pa.int64()))
EPOCH_ENTRIES = Type(
    "ARRAY<STRUCT<epoch: BIGINT, start_offset: BIGINT, end_offset: BIGINT>>",
    pa.list_(pa.struct([("epoch", pa.int64()), ("start_offset", pa.int64()), ("end_offset", pa.int64())])),
)
STEPS = Type(
    "ARRAY<STRUCT<kind: STRING, text: STRING, command: STRING, source: STRING>>",
    pa.list_(pa.struct([(name, pa.string()) for name in ("kind", "text", "command", "source")])),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column. ``key`` columns together identify a row; ``unit`` is set if a number or text has one.

    ``one_of`` are all allowed values, if they are a closed set; ``at_least`` is the least allowed number.
    """

    name: str
    type: Type
    comment: str
    nullable: bool = True
    key: bool = False
    unit: str | None = None
    one_of: tuple[str, ...] = ()
    at_least: int | None = None

    @property
    def ddl(self) -> str:
        """Return ``name TYPE [NOT NULL] COMMENT '...'``, for a table definition."""
        null = "" if self.nullable else " NOT NULL"
        return f"`{self.name}` {self.type.sql}{null} COMMENT {spark_text(self.remark)}"

    @property
    def remark(self) -> str:
        """Return the comment with the unit, as ``DESCRIBE`` shows it."""
        return f"{self.comment} [{self.unit}]" if self.unit else self.comment


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """A condition that a table must meet before it is published.

    ``says`` is the condition in words. ``failing`` is a SELECT of the rows that break it, with a column ``cluster``, in
    the SQL of ``election-replay sql``. ``severity`` is ``critical`` (failing clusters are not published) or ``warning``
    (failures are only reported). ``proofs``, if the condition is about events, is a SELECT of the ``cluster`` and the
    event id (``proof``) of the events that must exist.
    """

    name: str
    says: str
    failing: str
    severity: str = "critical"
    proofs: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A Delta table at ``<warehouse>/<layer>/<name>``.

    ``expectations`` are those that do not follow from columns; :func:`schemas.expectations.suite` adds the others.
    ``replaced_by`` are the two columns by whose values a night replaces rows: the cluster, and a source or group in it.
    With ``by_run`` rows are only added, and ``gold.published`` names the ``run_id`` of the current rows of each group.
    """

    name: str
    layer: str
    comment: str
    columns: tuple[Column, ...]
    partitioned_by: tuple[str, ...] = ()
    replaced_by: tuple[str, ...] = ()
    by_run: bool = False
    expectations: tuple[Expectation, ...] = ()

    @property
    def path(self) -> str:
        """Return the table's path below the warehouse."""
        return f"{self.layer}/{self.name}"

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def key(self) -> tuple[str, ...]:
        """Return the names of the columns that together identify a row."""
        return tuple(column.name for column in self.columns if column.key)

    def ddl(self) -> str:
        """Return the columns as DDL for Spark's ``StructType.fromDDL`` and ``CREATE TABLE``."""
        return ", ".join(column.ddl for column in self.columns)

    def arrow_schema(self) -> pa.Schema:
        """Return the Arrow schema."""
        return pa.schema([pa.field(c.name, c.type.arrow, nullable=c.nullable) for c in self.columns])


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A query over tables and other views that answers a question of readers.

    ``sql`` must be valid in both Spark and DuckDB. ``parameters`` make the view a table function, whose query uses them
    by name; a parameter with a ``default`` is optional. ``given``: the rows come from the software itself, not from
    tables; ``sql`` is empty, and :mod:`jobs.reading.given_rows` fills it. The views in :data:`schemas.views.BEFORE`
    have the rows of a table as the run before left it, and are registered together with the tables.
    """

    name: str
    comment: str
    columns: tuple[Column, ...]
    sql: str
    parameters: tuple["Parameter", ...] = ()
    given: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def call(self) -> str:
        """Return the form in a query: ``name``, or ``name(parameter, ...)``."""
        given = ", ".join(parameter.name for parameter in self.parameters)
        return f"{self.name}({given})" if self.parameters else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a table function; ``default`` is a SQL literal, ``None`` if a value must be given."""

    name: str
    type: Type
    comment: str
    default: str | None = None


def sql_text(text: str) -> str:
    """Return ``text`` as a literal of standard SQL, for DuckDB and DataFusion."""
    return "'" + text.replace("'", "''") + "'"


def spark_text(text: str) -> str:
    """Return ``text`` as a literal of Spark SQL, in which a backslash escapes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
