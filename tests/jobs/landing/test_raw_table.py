"""Raw lines in a Delta table give what files give: each row once, late and reordered ones in their place."""

import gzip
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from election_replay.jobs import JobError
from election_replay.jobs.cli.app import main
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.land import Landing, land_table
from election_replay.jobs.replay import replay
from election_replay.jobs.settings.config import Config, RawTable
from election_replay.jobs.settings.raw_lines import PRESETS
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from tests.acceptance.published import replay_in
from tests.conftest import Landing as Zones
from tests.jobs.zone import election, leads, noise
from tests.proving import amount

RUNS = ("rocketmq-dledger/old-copy-497", "etcd/kill-leader-34", "zookeeper/kill-leader-384")
RAW = RawTable(
    name="raw", path=None, message="message", cluster="cluster", node="node", file="file", position="position"
)
JUDGED = [name for name, table in TABLES.items() if table.layer == "gold" and "replica_group" in table.names]
OTHERWISE = {"path", "file", "batch", "run_id", "judged_at", "first_seen_run", "first_seen_at", "last_seen_at"}
"""Columns that say where a line stands and when it was judged."""

Line = tuple[str, str, str, int, str]


def lines_of(zone: Path) -> Iterator[Line]:
    """Cluster, node, file, number and text of all lines of a landing zone."""
    for path in sorted(zone.glob("*/nodes/*/logs/**/*")):
        if path.is_file():
            cluster, _, node, _, *rest = path.relative_to(zone).parts
            data = path.read_bytes()
            data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
            for number, text in enumerate(data.decode().splitlines(), 1):
                yield cluster, node, "/".join(rest), number, text


def append(place: Path, lines: list[Line]) -> None:
    """Add rows to a table of raw lines."""
    names = ("cluster", "node", "file", "position", "message")
    write_deltalake(
        str(place), pa.table(dict(zip(names, map(list, zip(*lines, strict=True)), strict=True))), mode="append"
    )


def land_rows(engine: LocalEngine, place: Path, warehouse: Warehouse, raw: RawTable = RAW) -> Landing:
    """Land what is new in a table."""
    return land_table(engine, raw.name, warehouse, Config(tables=(mapped(raw, place),)))


def mapped(raw: RawTable, place: Path) -> RawTable:
    """The same mapping of a table that lies somewhere."""
    parts = ("preset", "message", "cluster", "node", "file", "position", "time")
    return RawTable(name=raw.name, path=str(place), **{part: getattr(raw, part) for part in parts})


def gold(warehouse: Warehouse) -> dict[str, list[str]]:
    """The judged rows, but for where lines stand and when they were judged."""
    return {
        name: sorted(
            str({column: value for column, value in row.items() if column not in OTHERWISE})
            for row in warehouse.rows(name)
        )
        for name in JUDGED
    }


@pytest.mark.slow
def test_a_table_of_raw_lines_gives_the_rows_that_folders_give(
    local: LocalEngine, landing: Zones, tmp_path: Path
) -> None:
    """All lines of some real clusters, shuffled, in two versions with rows that come late and twice."""
    zone = landing(RUNS)
    for snapshots in zone.glob("*/nodes/*/metadata"):  # they are no lines
        shutil.rmtree(snapshots)
    lines = list(lines_of(zone))
    folders = Warehouse(str(tmp_path / "folders"))
    replay_in(local, zone, Path(folders.root))
    chance = random.Random(7)
    chance.shuffle(lines)
    append(tmp_path / "raw", lines[: len(lines) // 2])
    append(tmp_path / "raw", lines[len(lines) // 2 :])
    tables = Warehouse(str(tmp_path / "tables"))
    assert land_rows(local, tmp_path / "raw", tables).lines_total == len(lines)
    replay(local, tables, Config().inventoried(), settings="test")
    assert gold(tables) == gold(folders)
    assert sum(map(len, gold(tables).values())) > 100


LINES = [
    ("c1", "n1", "broker.log", number, text)
    for number, text in enumerate(
        "".join([noise(1), election(10, 2), election(100, 3), noise(200), election(300, 4), noise(500)]).splitlines(), 1
    )
]


@pytest.fixture(scope="module")
def at_once(local: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """All rows in one night."""
    folder = tmp_path_factory.mktemp("once")
    append(folder / "all", LINES)
    warehouse = Warehouse(str(folder / "warehouse"))
    land_rows(local, folder / "all", warehouse)
    replay(local, warehouse, Config().inventoried(), settings="test")
    return warehouse


@pytest.mark.parametrize("seed", range(amount(2, 4)))
def test_rows_may_come_late_and_in_any_order(local: LocalEngine, at_once: Warehouse, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    chance_lines = chance.sample(LINES, len(LINES))
    by_night = Warehouse(str(tmp_path / "nights"))
    for night in (chance_lines[:6], chance_lines[6:11], [*chance_lines[11:], *chance_lines[:3]]):
        append(tmp_path / "raw", night)
        land_rows(local, tmp_path / "raw", by_night)
        replay(local, by_night, Config().inventoried(), settings="test")
    numbers = sorted(row["line_no"] for row in by_night.rows("events") if row["kind"] != "TICK")
    assert len(numbers) == len(set(numbers))
    roles = ["node", "role", "term", "start_time", "end_time"]
    assert by_night_rows(by_night, roles) == by_night_rows(at_once, roles)


def by_night_rows(warehouse: Warehouse, columns: list[str]) -> list[dict[str, Any]]:
    """The roles that are published."""
    from election_replay.jobs.reading.published import Published

    rows = Published(warehouse).rows("SELECT * FROM role_intervals ORDER BY start_time, role")
    return [{name: row[name] for name in columns} for row in rows]


def test_each_version_is_taken_once_and_maintenance_adds_nothing(local: LocalEngine, tmp_path: Path) -> None:
    warehouse, place = Warehouse(str(tmp_path / "w")), tmp_path / "raw"
    append(place, LINES[:4])
    append(place, LINES[4:6])
    assert land_rows(local, place, warehouse).lines_total == 6
    assert land_rows(local, place, warehouse).batch is None
    DeltaTable(str(place)).optimize.compact()
    assert land_rows(local, place, warehouse).batch is None
    append(place, LINES[6:])
    assert land_rows(local, place, warehouse).lines_total == len(LINES) - 6
    assert not list((tmp_path / "w" / "_raw_lines").glob("*"))
    write_deltalake(str(place), DeltaTable(str(place)).to_pyarrow_table(), mode="overwrite")
    with pytest.raises(JobError, match="rewrote rows"):
        land_rows(local, place, warehouse)


def test_evidence_refers_to_the_row(local: LocalEngine, tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path / "w"))
    append(tmp_path / "raw", [("c1", "n1", "var/log/broker.log", 4711, leads(1, 3).rstrip())])
    land_rows(local, tmp_path / "raw", warehouse)
    [line] = warehouse.rows("log_lines")
    assert (line["path"], line["line_no"]) == ("raw/c1/nodes/n1/logs/var/log/broker.log", 4711)


SHAPES: dict[str, dict[str, Any]] = {
    "fluent-bit": {"date": 1.5, "log": leads(1), "cluster": "c1", "hostname": "n1", "file": "broker.log", "offset": 7},
    "vector": {
        "message": leads(1).rstrip(),
        "cluster": "c1",
        "host": "n1",
        "file": "broker.log",
        "offset": 7,
        "timestamp": 5,
    },
    "kafka-connect": {
        "topic": "c1",
        "key": "n1",
        "partition": 0,
        "offset": 7,
        "timestamp": 5,
        "value": leads(1).rstrip(),
    },
    "otlp-json": {
        "time_unix_nano": 5,
        "observed_time_unix_nano": 6,
        "body": '{"stringValue": "' + leads(1).rstrip() + '"}',
        "resource": '{"service.namespace": "c1", "host.name": "n1"}',
        "attributes": '{"log.file.name": "broker.log", "log.file.record_number": "7"}',
    },
}


@pytest.mark.parametrize("preset", PRESETS)
def test_the_shapes_of_shippers_are_known(local: LocalEngine, tmp_path: Path, preset: str) -> None:
    write_deltalake(str(tmp_path / "raw"), pa.Table.from_pylist([SHAPES[preset]]))
    warehouse = Warehouse(str(tmp_path / "w"))
    land_rows(local, tmp_path / "raw", warehouse, RawTable(name="raw", preset=preset))
    [event] = [row for row in warehouse.rows("events") if row["kind"] != "TICK"]
    assert (event["cluster"], event["source_node"], event["line_no"], event["term"]) == ("c1", "n1", 7, 1)


def test_what_does_not_fit_is_told_in_words(
    local: LocalEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse = Warehouse(str(tmp_path / "w"))
    append(tmp_path / "raw", LINES[:1])
    with pytest.raises(JobError, match="do not fit it"):
        land_rows(local, tmp_path / "raw", warehouse, RawTable(name="raw", preset="vector"))
    with pytest.raises(JobError, match="cannot open the table"):
        land_rows(local, tmp_path / "gone", warehouse)
    command = ["land", "--warehouse", str(tmp_path / "w"), "--engine", "local", "--config"]
    assert main([*command, "none", "--from-table", "nix"]) == 1
    assert "list it below `tables`" in capsys.readouterr().err
    (tmp_path / "c.yaml").write_text(
        f"tables:\n  - {{name: raw, path: {tmp_path}/raw, message: message, node: node, file: file}}\n"
    )
    assert main([*command, str(tmp_path / "c.yaml"), "--from-table", "raw"]) == 0
    assert main([*command, "none"]) != 0
