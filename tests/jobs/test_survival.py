"""A warehouse survives its own commands: rows that share files, landings that run for days, names of folders."""

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from election_replay.jobs import JobError
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.forget import forget
from election_replay.jobs.reading.published import Published
from election_replay.jobs.upkeep import upkeep
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from tests.conftest import Landing
from tests.jobs.nights import land_only, night
from tests.jobs.warehouse.test_data_files import commit, files_of
from tests.jobs.zone import Zone, election

THREE = ("rocketmq-dledger/kill-leader-533", "rocketmq-dledger/old-copy-497", "rocketmq-dledger/healthy-497")


def ask_every_table(warehouse: Warehouse, gone: str) -> int:
    """Ask each table for a cluster, as people and nights do; return the number of tables."""
    published, asked = Published(warehouse), 0
    for name in warehouse.versions():
        if "cluster" not in TABLES[name].names:
            continue
        of_cluster = pc.field("cluster") == gone
        assert warehouse.dataset(name).count_rows(filter=of_cluster) == 0, name
        assert published.rows(f"SELECT count(*) AS n FROM {name} WHERE cluster = '{gone}'") == [{"n": 0}]  # noqa: S608
        asked += 1
    return asked


def grow(zone: Path, clusters: Iterable[str]) -> None:
    """Let a node of each cluster begin another log."""
    for cluster in clusters:
        (zone / cluster / "nodes" / "n9" / "logs").mkdir(parents=True)
        (zone / cluster / "nodes" / "n9" / "logs" / "broker_default.log").write_text(election(0, 1))


def test_the_others_can_be_asked_and_go_on_after_one_cluster_is_erased(
    local: LocalEngine, landing: Landing, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Three clusters are landed and judged in one night: their rows share files, which stay of the tables' types."""
    zone, warehouse = landing(THREE), Warehouse(str(tmp_path / "warehouse"))
    night(local, zone, warehouse)
    forget(warehouse, "old-copy-497")
    record_property("tables asked after one cluster was erased", ask_every_table(warehouse, "old-copy-497"))
    for name in warehouse.versions():
        for file in DeltaTable(warehouse.location(name)).file_uris():
            assert "_view" not in str(pq.read_schema(file).types), name
    (zone / "old-copy-497").rename(zone.parent / "old-copy")
    grow(zone, ["healthy-497"])
    night(local, zone, warehouse)
    ask_every_table(warehouse, "old-copy-497")


def test_upkeep_leaves_the_files_of_a_landing_that_runs_for_days(zone: Zone, local: LocalEngine) -> None:
    warehouse = Warehouse(str(zone.root.parent / "w"))
    zone.write("broker_default.log", election(0, 1))
    night(local, zone.root, warehouse)
    written = files_of(warehouse, 2, lines=3)
    for file in written:
        path = Path(warehouse.location(file.table), file.path)
        two_days_ago = time.time() - 2 * 24 * 60 * 60
        os.utime(path, (two_days_ago, two_days_ago))
    upkeep(warehouse)
    commit(warehouse, written, 2)
    assert warehouse.dataset("quarantine").to_table().num_rows >= 3


def test_files_that_are_gone_are_not_committed(zone: Zone, local: LocalEngine) -> None:
    warehouse = Warehouse(str(zone.root.parent / "w"))
    zone.write("broker_default.log", election(0, 1))
    land_only(local, zone.root, warehouse)
    written = files_of(warehouse, 2, lines=3)
    for file in written:
        Path(warehouse.location(file.table), file.path).unlink()
    before = warehouse.versions()
    with pytest.raises(JobError, match="are gone: somebody has tidied up"):
        commit(warehouse, written, 2)
    assert warehouse.versions() == before
