"""Landed nights of any size, made of simulated DLedger groups: the tables that a landing would have left.

What one simulated group of three nodes said, an election and then signs of life, is copied under other names, night
after night, with later times and larger terms. In most nights most groups can do nothing but live. A hot group says all
of it again and again within one night.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache, partial, reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from election_replay.election_core.dialects import Record, dialect_for, tick
from election_replay.election_core.model.events import Event
from election_replay.election_core.simulate.catalogue import SCENARIOS
from election_replay.election_core.simulate.judged import logs_of
from election_replay.election_core.simulate.scenario import BEGAN_US, played
from election_replay.jobs.engines.engine import NOTHING
from election_replay.jobs.engines.spark_engine import written
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.events import MEANING

SCENARIO, SEED = "dledger-kill-leader", 1
STREAM = "broker_default.log"
GROUPS_A_CLUSTER = 500
TERMS_A_STORY = 20
NODES = 3
SIGN_US = 3_000_000
"""Between two signs of life, every second one of which is a status line: DLedger prints one every 3 s."""


@dataclass(frozen=True, slots=True)
class Load:
    """So many groups of three nodes with so many events a node and night, and so many of one hot group beside them.

    In the first night all groups elect; later one of ``electing`` does, another one each night.
    """

    groups: int
    events_a_node: int
    hot_events: int = 0
    electing: int = 1


@dataclass(frozen=True, slots=True)
class Story:
    """What one group says in a night, and in one in which it only lives; both are ``length_us`` long."""

    elects: DataFrame
    lives: DataFrame
    length_us: int


@dataclass(frozen=True, slots=True)
class Told:
    """What each member says in a night in which it elects, and in one in which it only lives."""

    elects: dict[str, list[Event]]
    lives: dict[str, list[Event]]
    length_us: int


@dataclass(frozen=True, slots=True)
class Calendar:
    """Nights, counted from 1, that follow each other without a pause: so many events has a node in each.

    In the nights ``short_but_in``, where they are given, it has ``events_a_node``, in all others ``short``.
    """

    events_a_node: int
    short: int = 0
    short_but_in: frozenset[int] = frozenset()

    def events(self, night: int) -> int:
        """So many has a node."""
        return self.events_a_node if not self.short_but_in or night in self.short_but_in else self.short

    def told(self, night: int) -> Told:
        """What is said in it."""
        return told_of(self.events(night))

    def began_us(self, night: int) -> int:
        """When it began."""
        before = Counter(map(self.events, range(night)))
        return BEGAN_US + sum(told_of(events).length_us * count for events, count in before.items())


@cache
def told_of(events_a_node: int) -> Told:
    """The events of both nights, as many of each member."""
    told: dict[str, list[Event]] = {}
    for (member, stream), lines in sorted(logs_of(played(SCENARIOS[SCENARIO], SEED)).items()):
        dialect = dialect_for(stream)
        if dialect is not None and stream == STREAM:
            parsed = (dialect.parse(Record(line, (), stream, dialect.utc_offset_minutes)) for line in lines)
            told[member] = [event for event in parsed if event is not None][:events_a_node]
    last = max(event.event_time for events in told.values() for event in events)
    most = max(events_a_node - len(events) for events in told.values())
    length = last + most * SIGN_US - BEGAN_US
    times = range(BEGAN_US + SIGN_US, BEGAN_US + length + 1, SIGN_US)
    elects = {
        member: [*events, *(tick(last + (number + 1) * SIGN_US, 1000) for number in range(events_a_node - len(events)))]
        for member, events in told.items()
    }
    lives = {
        member: [alive(events, number, time) for number, time in enumerate(times)] for member, events in told.items()
    }
    return Told(elects, lives, length)


def story_of(spark: SparkSession, events_a_node: int) -> Story:
    """The columns of events that hold the meaning, ``member`` and ``line_no``."""
    told = told_of(events_a_node)
    return Story(as_rows(spark, told.elects), as_rows(spark, told.lives), told.length_us)


def alive(events: list[Event], number: int, time: int) -> Event:
    """A sign of life: a status line as the member's last one, and a mere line, in turns."""
    status = [event for event in events if event.kind == "DL_STATUS"]
    return replace(status[-1], event_time=time) if number % 2 else tick(time, 1000)


def as_rows(spark: SparkSession, told: dict[str, list[Event]]) -> DataFrame:
    """The events of all members."""
    rows = [
        (member, line_no, *(asdict(event)[column.name] for column in MEANING))
        for member, events in told.items()
        for line_no, event in enumerate(events, 1)
    ]
    columns = ", ".join(
        f"`{column.name}` {'BIGINT' if column.type.sql == 'TIMESTAMP' else column.type.sql}" for column in MEANING
    )
    return spark.createDataFrame(rows, f"member STRING, line_no BIGINT, {columns}").localCheckpoint()


def events_of(spark: SparkSession, load: Load, night: int) -> DataFrame:
    """The events of one night, counted from 1, of all groups."""
    story = story_of(spark, load.events_a_node)
    since = F.greatest(F.lit(1), F.lit(night) - (F.col("id") + night) % load.electing).alias("since")
    groups = spark.range(load.groups).select(F.col("id").cast("string").alias("name"), F.lit(0).alias("turn"), since)
    if load.hot_events:
        turns = load.hot_events // (load.events_a_node * NODES)
        hot = spark.range(turns).select(F.lit("hot").alias("name"), F.col("id").cast("int").alias("turn"))
        groups = groups.unionByName(hot.withColumn("since", F.lit(night)))
    groups = groups.repartition(8, "name", "turn")
    electing = groups.where(F.col("since") == night).crossJoin(F.broadcast(story.elects))
    living = groups.where(F.col("since") < night).crossJoin(F.broadcast(story.lives))
    return in_place(electing.unionByName(living), story, load, night)


def in_place(rows: DataFrame, story: Story, load: Load, night: int) -> DataFrame:
    """Stories as rows of ``silver.events``: whose, when, in which term, in which line of which file."""
    stories = F.col("turn") + F.col("since") * 100_000
    night_began = BEGAN_US + night * story.length_us
    begins = F.lit(night_began) + F.col("turn").cast("bigint") * F.lit(story.length_us)
    of = {
        "cluster": F.when(F.col("name") == "hot", "hot").otherwise(
            F.concat(F.lit("c"), F.floor(F.col("name").cast("int") / GROUPS_A_CLUSTER))
        ),
        "source_node": F.concat(F.lit("g"), "name", F.lit("-"), "member"),
        "stream": F.lit(STREAM),
        "fingerprint": F.concat(F.lit(f"night-{night}-"), "name", F.lit("-"), "member"),
        "file_time": micros(F.lit(night_began)),
        "line_no": F.col("line_no") + F.col("turn") * load.events_a_node,
        "source_file": F.concat(F.lit(f"night-{night}/"), "name", F.lit("/"), "member", F.lit(f"/{STREAM}")),
        "clock_bound_ms": F.lit(500).cast("bigint"),
        "event_time": micros(F.col("event_time") - F.lit(BEGAN_US) + begins),
        "replica_group": F.when(F.col("replica_group").isNotNull(), F.concat(F.lit("G"), "name")),
        "batch": F.lit(night).cast("bigint"),
    }
    for term in ("term", "from_term", "max_term", "ledger_end_term", "peer_ledger_end_term"):
        of[term] = F.col(term) + stories * TERMS_A_STORY
    placed = rows.withColumns(of)
    key = F.concat_ws("/", "source_node", "fingerprint", F.col("line_no").cast("string"))
    return placed.withColumn("event_id", F.md5(key)).select(*TABLES["events"].names)


def micros(us: Column) -> Column:
    """Microseconds UTC as a time."""
    return F.timestamp_micros(us)


def land_night(spark: SparkSession, warehouse: Warehouse, load: Load, night: int) -> int:
    """Write one night as a landing would have; how many events it has."""
    warehouse.create()
    events = events_of(spark, load, night).persist()
    lines = events.select(
        "event_id", "cluster", "source_node", "stream", "fingerprint", "line_no", F.col("source_file").alias("path"),
        F.lit("a line").alias("text"), "batch",
    )  # fmt: skip
    files = events.groupBy("cluster", "source_node", "stream", "fingerprint", "source_file", "file_time", "batch")
    counted = files.agg(F.count("*").alias("lines_total")).withColumnRenamed("source_file", "path")
    landed = counted.withColumns(
        {
            "head": F.col("fingerprint"),
            "status": F.lit("landed"),
            "lines_event": F.col("lines_total"),
            "lines_landed": F.col("lines_total"),
            "protocol": F.lit("dledger"),
        }
    )
    for table, rows in (("events", events), ("log_lines", lines), ("landed_files", landed)):
        append(rows, warehouse, table)
    count = events.count()
    events.unpersist()
    return count


def append(rows: DataFrame, warehouse: Warehouse, table: str) -> None:
    """Add rows of which only some columns are given, as a landing does; counts that are not are 0."""

    def value(column: str, sql: str, nullable: bool) -> Column:
        if column in rows.columns:
            return F.col(column).cast(sql).alias(column)
        empty = F.lit(None) if nullable else F.lit(0)
        return empty.cast(sql).alias(column)

    shaped = [value(column.name, column.type.sql, column.nullable) for column in TABLES[table].columns]
    files = written(rows.select(*shaped), partial(as_they_are, table), warehouse, NOTHING)
    warehouse.replace(files, table, (), "benchmark")


def as_they_are(table: str, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Rows as rows of a table."""
    return ((table, batch) for batch in batches)


def nights(spark: SparkSession, warehouse: Warehouse, load: Load, count: int) -> int:
    """Land several nights."""
    return reduce(lambda total, night: total + land_night(spark, warehouse, load, night), range(1, count + 1), 0)
