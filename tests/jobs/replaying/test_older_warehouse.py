"""A warehouse of an older release under this one: it is read as it is, and the next night makes of it what is new."""

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.gates.checks import check
from election_replay.jobs.land import land
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.reading.published import Published
from election_replay.jobs.replay import replay
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.table_sets import JUDGED, WRITTEN
from election_replay.jobs.warehouse.warehouse import FORM, Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.findings import SIGHTINGS
from tests.jobs.nights import ALL, content

RUN = "rocketmq-dledger/kill-leader-533"
NEWER = {
    "findings": [column.name for column in SIGHTINGS],
    "facts": [TABLES["facts"].columns[-1].name],
    "events": [TABLES["events"].columns[-2].name],
    "runs": ["held", "settings"],
}
"""Columns that the older release did not know."""


def night(engine: LocalEngine, zone: Path, warehouse: Warehouse) -> None:
    """Land and replay."""
    land(engine, new_files(str(zone), warehouse, Config()), str(zone), warehouse, Config())
    assert replay(engine, warehouse).run_id


def grown_old(warehouse: Warehouse, *, other_partitions: bool) -> None:
    """Write the tables as an older release did: with columns missing, no form, and perhaps ``other_partitions``."""
    versions = {}
    for name in ("judged", "published"):
        shutil.rmtree(warehouse.location(name))
    for name in [*(name for name in TABLES if name not in {"runs", "judged", "published"}), "runs"]:
        table, lacking = TABLES[name], NEWER.get(name, [])
        assert all(column.nullable for column in table.columns if column.name in lacking)
        lacking = [*lacking, *(["run_id"] if table.by_run else [])]
        schema = pa.schema([field for field in table.arrow_schema() if field.name not in lacking])
        found = warehouse.rows(name, schema.names)
        if name == "runs":
            found = [row | {"versions": list(versions.items())} for row in found]
        rows = pa.Table.from_pylist(found, schema)
        shutil.rmtree(warehouse.location(name))
        by = list(table.partitioned_by)
        if other_partitions:
            by = ["cluster"] if name in WRITTEN else ["batch"] if table.layer == "bronze" else []
        write_deltalake(warehouse.location(name), rows, partition_by=by)
        versions[name] = 0


@pytest.mark.parametrize("other_partitions", [True, False])
def test_an_older_warehouse_is_read_checked_and_gone_on_with(
    local: LocalEngine, corpora: Path, tmp_path: Path, *, other_partitions: bool
) -> None:
    """What is published stays readable without a night; the night after it is that of a new warehouse."""
    zone, both = tmp_path / "zone", [Warehouse(str(tmp_path / name)) for name in ("new", "old")]
    shutil.copytree(corpora / RUN / "nodes", zone / "killed" / "nodes")
    late = zone / "killed" / "nodes" / "n2"
    late.rename(tmp_path / "late")
    for warehouse in both:
        night(local, zone, warehouse)
    grown_old(both[1], other_partitions=other_partitions)
    older = Warehouse(both[1].root)
    told = {table: len(rows) for table, rows in content(both[0], ALL).items()}
    assert older.form() == 1
    assert {table: len(rows) for table, rows in content(older, ALL).items()} == told
    assert Published(older).rows("SELECT first_seen_run FROM findings LIMIT 1") == [{"first_seen_run": None}]
    assert [one for one in check(older) if one.stops] == []
    (tmp_path / "late").rename(late)
    for warehouse in (both[0], older):
        night(local, zone, warehouse)
    again = tuple(name for name in ALL if name != "events")  # what was landed of old lines stays as it was
    assert content(older, again) == content(both[0], again)
    assert older.form() == FORM
    assert all(not older.opened(name).metadata().partition_columns for name in (*JUDGED, "landed_files"))
    for name, lacked in NEWER.items():
        assert {*lacked} <= {field.name for field in older.opened(name).schema().fields}, name
