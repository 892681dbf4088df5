"""The tables in Delta are the tables in ``schemas``."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from election_replay.jobs import JobError
from election_replay.jobs.engines.duckdb_rows import database_in
from election_replay.jobs.engines.spark_engine import SparkEngine, read
from election_replay.jobs.gates.checks import Newest
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES, Table
from tests.jobs.zone import EPOCH

EVERY = pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)


@EVERY
def test_ddl_and_arrow_say_the_same(spark: SparkEngine, table: Table) -> None:
    assert spark
    arrow = to_arrow_schema(StructType.fromDDL(table.ddl()))
    assert [field.name for field in arrow] == list(table.names)
    for ours, theirs in zip(table.arrow_schema(), arrow, strict=True):
        assert ours.nullable == theirs.nullable, ours.name
        assert plain(ours.type) == plain(theirs.type), ours.name


def plain(kind: pa.DataType) -> str:
    """A type without the names that Arrow gives to the parts of lists and maps."""
    return str(kind).replace("element", "item").replace(" not null", "").replace(", tz=UTC", "")


@EVERY
def test_ddl_keeps_comments_and_nullability(spark: SparkEngine, table: Table) -> None:
    assert spark
    for ours, theirs in zip(table.columns, StructType.fromDDL(table.ddl()), strict=True):
        assert theirs.metadata["comment"] == ours.remark
        assert theirs.nullable == ours.nullable


def test_created_tables_have_columns_comments_and_partitions(spark: SparkEngine, tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path / "w"))
    warehouse.create()
    for table in TABLES.values():
        found = read(spark.session, warehouse, table.name).schema
        wanted = StructType.fromDDL(table.ddl())
        assert found.names == wanted.names
        assert [field.dataType for field in found] == [field.dataType for field in wanted]
        assert [field.metadata["comment"] for field in found] == [column.remark for column in table.columns]
        assert [field.nullable for field in found] == [column.nullable for column in table.columns]
    detail = spark.session.sql(f"DESCRIBE DETAIL delta.`{warehouse.location('events')}`").first()
    assert detail is not None
    assert detail["partitionColumns"] == ["batch"]
    assert detail["description"] == TABLES["events"].comment


def test_a_folder_of_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(JobError, match="no warehouse"):
        Warehouse(str(tmp_path)).create()


def test_a_table_of_an_older_release_gets_its_new_columns(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path / "w"))
    runs = TABLES["runs"].arrow_schema()
    older = pa.schema([field for field in runs if field.name != "held"])
    row = {"run_id": "r1", "status": "published", "published_at": EPOCH, "started_at": EPOCH, "batch": 1, "nights": []}
    rest = {"clusters": 1, "versions": [], "counts": [], "code_version": "1", "rules_version": "1"}
    rest |= {"inventory_version": "none"}
    write_deltalake(warehouse.location("runs"), pa.Table.from_pylist([row | rest], older))
    published = warehouse.published()
    assert published is not None
    assert published["held"] is None
    with database_in("100MB", 1) as (database, _):
        found = Newest(database, warehouse).query("SELECT run_id FROM runs WHERE held IS NULL").to_pylist()
    assert found == [{"run_id": "r1"}]
    warehouse.append([published | {"run_id": "r2", "held": ["c1"], "versions": [], "counts": []}], "runs")
    assert {run["run_id"]: run["held"] for run in warehouse.runs()} == {"r1": None, "r2": ["c1"]}


def test_nothing_of_python_reads_for_the_threads_of_arrow(tmp_path: Path) -> None:
    """What they still hold of it when Python ends would bring the process down."""
    warehouse = Warehouse(str(tmp_path / "50% of ä"))
    warehouse.create()
    system = warehouse.dataset("events").filesystem
    assert system.type_name == "subtree"
    assert system.base_fs.type_name == "local"
    assert warehouse.dataset("events", 0).to_table().num_rows == 0
