"""Executors write data files; only a commit on top of what the landing began with makes them rows."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from election_replay.jobs import JobError
from election_replay.jobs.engines.spark_engine import SparkEngine, read
from election_replay.jobs.warehouse.data_files import DataFile, write_data_files
from election_replay.jobs.warehouse.file_stats import FileStats
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from tests.jobs.tables import blank

FACTS = TABLES["facts"]
COLUMNS = ("cluster", "source_node", "stream", "fingerprint", "path", "line_no", "reason", "text", "text_length")


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return blank(tmp_path / "warehouse")


def row(batch: int, line_no: int = 1, **other: Any) -> tuple[str, tuple[Any, ...]]:
    values = {"line_no": line_no, "text_length": 3, **dict.fromkeys(("reason", "text", "path"), "x"), **other}
    return "quarantine", (*(values.get(name, "c1") for name in COLUMNS), batch)


def files_of(warehouse: Warehouse, batch: int, lines: int) -> list[DataFile]:
    return write_data_files((row(batch, number) for number in range(lines)), warehouse.root)


def commit(warehouse: Warehouse, files: list[DataFile], batch: int) -> None:
    version = warehouse.version("quarantine")
    assert version is not None
    warehouse.replace(files, "quarantine", [str(batch)], "a landing", version)


def batches(warehouse: Warehouse) -> list[int]:
    return sorted(found["batch"] for found in warehouse.rows("quarantine"))


def test_files_are_no_rows_until_they_are_committed(warehouse: Warehouse) -> None:
    files = files_of(warehouse, 1, lines=2)
    assert batches(warehouse) == []
    commit(warehouse, files, 1)
    assert batches(warehouse) == [1, 1]


def test_a_batch_replaces_itself_alone_even_by_nothing(warehouse: Warehouse) -> None:
    commit(warehouse, files_of(warehouse, 1, lines=2), 1)
    commit(warehouse, files_of(warehouse, 2, lines=1), 2)
    commit(warehouse, files_of(warehouse, 1, lines=1), 1)
    assert batches(warehouse) == [1, 2]
    commit(warehouse, [], 2)
    assert batches(warehouse) == [1]


def test_of_two_landings_at_once_the_second_stops(warehouse: Warehouse) -> None:
    version = warehouse.version("quarantine")
    assert version is not None
    first, second = files_of(warehouse, 1, lines=2), files_of(warehouse, 1, lines=3)
    warehouse.replace(first, "quarantine", ["1"], "a landing", version)
    with pytest.raises(JobError, match="run it again"):
        warehouse.replace(second, "quarantine", ["1"], "a landing", version)
    assert batches(warehouse) == [1, 1]


def test_what_may_not_be_null_is_refused(warehouse: Warehouse) -> None:
    with pytest.raises(Exception, match="reason"):
        write_data_files([row(1, reason=None)], warehouse.root)


def test_the_log_says_how_many_rows_there_are_and_readers_find_them(warehouse: Warehouse) -> None:
    rows = [row(1, 1, cluster="a"), row(1, 2, cluster="b")]
    commit(warehouse, write_data_files(rows, warehouse.root), 1)
    assert warehouse.count("quarantine") == 2
    found = DeltaTable(warehouse.location("quarantine")).to_pyarrow_dataset()
    for column in ("cluster", "path", "reason"):
        value = found.to_table([column])[column][0]
        assert found.count_rows(pc.field(column) == value) > 0, column


def test_a_file_whose_bounds_the_log_does_not_say_is_read_beside_others(warehouse: Warehouse) -> None:
    commit(warehouse, [replace(file, stats='{"numRecords": 2}') for file in files_of(warehouse, 1, lines=2)], 1)
    commit(warehouse, files_of(warehouse, 2, lines=1), 2)
    commit(warehouse, write_data_files([row(3, cluster="d"), row(3, cluster="f")], warehouse.root), 3)
    found = warehouse.dataset("quarantine")
    assert found.count_rows(pc.field("cluster") == "c1") == 3
    assert found.count_rows((pc.field("line_no") == 1) & (pc.field("batch") == 1)) == 1
    skipping = {cluster: len([*found.get_fragments(pc.field("cluster") == cluster)]) for cluster in ("c1", "e", "g")}
    assert skipping == {"c1": 2, "e": 2, "g": 1}, "of those that say them, only what may hold it"
    assert len([*found.get_fragments(pc.field("batch") > 2)]) == 1


@pytest.mark.parametrize("year", [1, 1969, 9999])
def test_bounds_hold_whatever_the_values_are(year: int) -> None:
    at = datetime(year, 12, 31, 23, 59, 59, 999_999, UTC)
    stats = FileStats()
    for texts in (["b" * 40, None], ["a" * 40, "\U0010ffff"]):
        times = pa.array([at, None], pa.timestamp("us", "UTC"))
        stats.add(
            pa.table({"text": texts, "at": times, "flag": [True, None], "none": [None, None], "list": [["x"], []]})
        )
    said = json.loads(str(stats))
    assert said["minValues"]["text"] == "a" * 32 < "a" * 40
    assert said["maxValues"]["text"] == "\U0010ffff"
    assert {said[bound]["at"] for bound in ("minValues", "maxValues")} == {f"{year:04}-12-31T23:59:59.999Z"}
    assert {*said["minValues"]} == {"text", "at", "flag"}
    assert (said["numRecords"], said["nullCount"]["none"], stats.null_columns) == (4, 4, ["none"])
    stats.add(pa.table({"text": ["\U0010ffff" * 33]}))
    assert json.loads(str(stats))["maxValues"]["text"] == "\U0010ffff" * 33


@pytest.mark.slow
def test_spark_reads_the_same_rows(spark: SparkEngine, warehouse: Warehouse) -> None:
    commit(warehouse, files_of(warehouse, 1, lines=3), 1)
    found = read(spark.session, warehouse, "quarantine").where("cluster = 'c1' AND batch = 1").collect()
    assert sorted(one["line_no"] for one in found) == [0, 1, 2]
    assert read(spark.session, warehouse, "quarantine").where("cluster = 'c2'").count() == 0


def term(number: int, leader: str | None) -> tuple[str, tuple[Any, ...]]:
    """A row of a table whose rows are replaced by their key; of those that may be null it has a leader at most."""
    plain = {"STRING": "c1", "ARRAY<STRING>": ()}
    filled = {one.name: plain.get(one.type.sql, 0) for one in FACTS.columns if not one.nullable}
    values = filled | {"term": number, "leader": leader}
    return FACTS.name, tuple(map(values.get, FACTS.names))


@pytest.mark.slow
def test_columns_without_any_value_are_in_no_file_and_readers_take_them_as_null(
    spark: SparkEngine, warehouse: Warehouse
) -> None:
    for leaders in ((None, None), (None, "n1")):
        rows = [term(number, leader) for number, leader in enumerate(leaders)]
        warehouse.replace(write_data_files(rows, warehouse.root), FACTS.name, (), "a night")
    stored = DeltaTable(warehouse.location(FACTS.name))
    written = sorted("leader" in pq.read_schema(uri).names for uri in stored.file_uris())
    assert written == [False, True]
    assert all(len(pq.read_schema(uri).names) < len(FACTS.names) for uri in stored.file_uris())
    wanted = sorted([(0, ""), (1, ""), (0, ""), (1, "n1")])
    tables = [
        warehouse.dataset(FACTS.name).to_table(),
        stored.to_pyarrow_table(),
        read(spark.session, warehouse, FACTS.name).toArrow(),
    ]
    for table in tables:
        assert table.schema.names == list(FACTS.names)
        assert sorted((one["term"], one["leader"] or "") for one in table.to_pylist()) == wanted
    assert warehouse.dataset(FACTS.name).count_rows(pc.field("leader").is_null()) == 3
