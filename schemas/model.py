"""What a table is: typed, commented columns, from which every other form of the schema is derived.

The DDL is what Spark and Delta read, the Arrow schema is what crosses between Spark and Python, the documentation
is what people read. None of them is written by hand.
"""

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Type:
    """A column type by its two names: as Spark SQL writes it and as Arrow holds it."""

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
    """One column. ``key`` columns together name a row; ``unit`` is set where a number or text has one.

    ``one_of`` are all values that a closed column may have; ``at_least`` is the smallest that a number may be.
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
        """``name TYPE [NOT NULL] COMMENT '...'``, as a table definition has it."""
        null = "" if self.nullable else " NOT NULL"
        return f"`{self.name}` {self.type.sql}{null} COMMENT {spark_text(self.remark)}"

    @property
    def remark(self) -> str:
        """The comment with its unit, as ``DESCRIBE`` shows it."""
        return f"{self.comment} [{self.unit}]" if self.unit else self.comment


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """Something that must hold for a table before it is published.

    ``says`` is the sentence that must be true. ``failing`` is a SELECT of the rows that make it false, in the SQL of
    ``election-replay sql``, over the tables by their names; it has a column ``cluster``. ``severity`` is ``critical``
    (the cluster is not published) or ``warning`` (it is said). ``proofs``, where the expectation asks for events, is a
    SELECT of ``cluster`` and ``proof``, the events it asks for.
    """

    name: str
    says: str
    failing: str
    severity: str = "critical"
    proofs: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One Delta table at ``<warehouse>/<layer>/<name>``.

    ``expectations`` are what its columns do not say; :func:`schemas.expectations.suite` adds what they do.
    ``replaced_by`` are the two columns by whose values a night replaces rows: the cluster, and what it holds. With
    ``by_run`` rows are only added, and those of a group count that ``gold.published`` names by their ``run_id``.
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
        """Where the table stands below the warehouse."""
        return f"{self.layer}/{self.name}"

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def key(self) -> tuple[str, ...]:
        """The names of the columns that together name a row."""
        return tuple(column.name for column in self.columns if column.key)

    def ddl(self) -> str:
        """The columns as Spark's ``StructType.fromDDL`` and ``CREATE TABLE`` read them."""
        return ", ".join(column.ddl for column in self.columns)

    def row_type(self) -> str:
        """The whole row as one SQL struct type, every field nullable."""
        return "STRUCT<" + ", ".join(f"`{c.name}`: {c.type.sql}" for c in self.columns) + ">"

    def arrow_schema(self) -> pa.Schema:
        """The same columns for Arrow."""
        return pa.schema([pa.field(c.name, c.type.arrow, nullable=c.nullable) for c in self.columns])


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A question that readers ask, as a query over tables and other views.

    ``sql`` keeps to what Spark and duckdb both understand; ``parameters`` make it a table function, whose query knows
    them by name. A parameter with a ``default`` need not be given. ``given``: its rows come from the software itself,
    not from tables; ``sql`` is empty, and :mod:`jobs.reading.given_rows` makes it. One of
    :data:`schemas.views.BEFORE` has the rows of a table as the run before left it, and whoever registers the tables
    registers it with them.
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
        """How it is written in a query: ``name``, or ``name(parameter, ...)``."""
        given = ", ".join(parameter.name for parameter in self.parameters)
        return f"{self.name}({given})" if self.parameters else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a table function; ``default`` is an SQL literal, ``None`` where a value must be given."""

    name: str
    type: Type
    comment: str
    default: str | None = None


def sql_text(text: str) -> str:
    """``text`` as a literal of standard SQL, for DuckDB and DataFusion."""
    return "'" + text.replace("'", "''") + "'"


def spark_text(text: str) -> str:
    """``text`` as a literal of Spark SQL, where a backslash escapes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
