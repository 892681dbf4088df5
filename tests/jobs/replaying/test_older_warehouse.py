"""A warehouse of an older release under this one: it is read as it is, and the next night makes of it what is new."""

import shutil
from pathlib import Path

import pyarrow as pa
from deltalake import write_deltalake

from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.gates.checks import check
from election_replay.jobs.land import land
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.reading.published import Published
from election_replay.jobs.replay import replay
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import FORM, Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.findings import FIRST_SEEN
from tests.jobs.nights import ALL, content

RUN = "rocketmq-dledger/kill-leader-533"
NEWER = {
    "findings": [column.name for column in FIRST_SEEN],
    "facts": [TABLES["facts"].columns[-1].name],
    "events": [TABLES["events"].columns[-2].name],
    "runs": ["held", "settings"],
}
"""Columns that the older release did not know."""
GONE = "DL_APPEND_IN_ORDER"
"""A kind that the older release read and this one does not: its lines are signs of life."""


def night(engine: LocalEngine, zone: Path, warehouse: Warehouse) -> None:
    """Land and replay."""
    land(engine, new_files(str(zone), warehouse, Config()), str(zone), warehouse, Config())
    assert replay(engine, warehouse).run_id


def grown_old(warehouse: Warehouse) -> None:
    """Write the tables as an older release with other rules did: with columns missing, kinds that are gone, and no form."""
    versions = dict.fromkeys(TABLES, 0)
    for name, table in TABLES.items():
        lacking = NEWER.get(name, [])
        assert all(column.nullable for column in table.columns if column.name in lacking)
        schema = pa.schema([field for field in table.arrow_schema() if field.name not in lacking])
        found = warehouse.rows(name, schema.names)
        if name == "events":
            found = [row | {"kind": GONE if row["kind"].endswith("_SIGN") else row["kind"]} for row in found]
            assert GONE in {row["kind"] for row in found}
        if name == "runs":
            found = [row | {"versions": list(versions.items()), "rules_version": "0"} for row in found]
        rows = pa.Table.from_pylist(found, schema)
        shutil.rmtree(warehouse.location(name))
        write_deltalake(warehouse.location(name), rows, partition_by=list(table.partitioned_by))


def test_an_older_warehouse_is_read_checked_and_gone_on_with(local: LocalEngine, corpora: Path, tmp_path: Path) -> None:
    """What is published stays readable without a night; the night after it is that of a new warehouse."""
    zone, both = tmp_path / "zone", [Warehouse(str(tmp_path / name)) for name in ("new", "old")]
    shutil.copytree(corpora / RUN / "nodes", zone / "killed" / "nodes")
    late = zone / "killed" / "nodes" / "n0"
    late.rename(tmp_path / "late")
    for warehouse in both:
        night(local, zone, warehouse)
    grown_old(both[1])
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
    for name, lacked in NEWER.items():
        assert {*lacked} <= {field.name for field in older.opened(name).schema().fields}, name
