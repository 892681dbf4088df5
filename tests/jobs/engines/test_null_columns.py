"""Which columns of wide tables are not read, by what the logs of the tables say of their files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from election_replay.jobs.engines.duckdb_rows import without_null_columns
from election_replay.jobs.engines.engine import NULL, After, Rows, null_of
from election_replay.jobs.warehouse.data_files import DataFile, record_batch, write_data_files
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from tests.jobs.tables import NOON, blank

EVENTS = TABLES["events"]
LINE = {"cluster": "c", "source_node": "n", "stream": "s", "fingerprint": "f", "source_file": "p", "kind": "TICK"}
WANTED = Rows("events").select(("kind", "role", "term", "peer"), {"old": "false", "until": null_of("TIMESTAMP")})


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return blank(tmp_path / "warehouse")


def written(warehouse: Warehouse, batch: int, *said: dict[str, Any]) -> list[DataFile]:
    """A file of a landing with these events."""
    rows = [
        {"event_id": f"{batch}-{n}", "line_no": n, "event_time": NOON, "time_resolution_ms": 1, "clock_bound_ms": 1}
        | {"batch": batch}
        | LINE
        | event
        for n, event in enumerate(said)
    ]
    values = [tuple(row.get(name) for name in EVENTS.names) for row in rows]
    return write_data_files([("events", record_batch(EVENTS, values))], warehouse.root)


def landed(warehouse: Warehouse, batch: int, *said: dict[str, Any]) -> None:
    warehouse.replace(written(warehouse, batch, *said), "events", (), "test")


def columns(warehouse: Warehouse, *parts: Rows, needed: tuple[str, ...] = ()) -> list[list[str]]:
    return [[*rows.columns, *rows.also] for rows in without_null_columns(warehouse, parts, needed)]


def test_a_column_of_which_no_row_has_a_value_is_not_read_unless_it_is_needed(warehouse: Warehouse) -> None:
    landed(warehouse, 1, {"role": "LEADER"}, {"role": None})
    assert columns(warehouse, WANTED) == [["kind", "role", "old"]]
    assert columns(warehouse, WANTED, needed=("term", "until")) == [["kind", "role", "term", "old", "until"]]


def test_a_column_that_one_file_has_is_read_of_all_parts(warehouse: Warehouse) -> None:
    landed(warehouse, 1, {"role": "LEADER"})
    landed(warehouse, 2, {"term": 7})
    first, second = WANTED, WANTED.where(After("batch", 1))
    assert columns(warehouse, second) == [["kind", "term", "old"]]
    assert columns(warehouse, first, second) == [["kind", "role", "term", "old"]] * 2


def test_a_null_column_is_read_where_another_part_has_values(warehouse: Warehouse) -> None:
    landed(warehouse, 1, {"role": "LEADER"})
    others = Rows("events").select(("kind",), {"role": NULL, "until": "event_time"})
    assert columns(warehouse, WANTED, others) == [["kind", "role", "old", "until"], ["kind", "role", "until"]]


def test_all_columns_are_read_of_a_file_of_which_the_log_says_nothing(warehouse: Warehouse) -> None:
    files = written(warehouse, 1, {"role": "LEADER"})
    warehouse.replace([replace(file, stats="{}") for file in files], "events", (), "test")
    landed(warehouse, 2, {"role": "LEADER"})
    assert columns(warehouse, WANTED) == [["kind", "role", "term", "peer", "old"]]


def test_no_column_is_read_where_no_file_is(warehouse: Warehouse) -> None:
    assert columns(warehouse, WANTED, needed=("kind",)) == [["kind", "old"]]
