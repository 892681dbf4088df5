"""Which run found a finding first, night by night, by either engine."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable, write_deltalake

from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.land import land
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.reading.published import Published
from election_replay.jobs.replay import replay
from election_replay.jobs.replaying.nothing_new import Selection
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas.findings import FIRST_SEEN
from tests.proving import only_when_proving

if TYPE_CHECKING:
    from election_replay.jobs.engines.spark_engine import SparkEngine

SEEN = "finding_id, cluster, first_seen_run, first_seen_at, last_seen_at"


def deliver(corpora: Path, run: str, zone: Path, cluster: str) -> None:
    """Put the logs of a real run into a landing zone."""
    shutil.copytree(corpora / run / "nodes", zone / cluster / "nodes", dirs_exist_ok=True)


def night(engine: Engine, zone: Path, warehouse: Warehouse, selection: Selection | None = None) -> str:
    """Land and replay; the run that was published."""
    land(engine, new_files(str(zone), warehouse, Config()), str(zone), warehouse, Config())
    done = replay(engine, warehouse, selection=selection) if selection else replay(engine, warehouse)
    assert done.run_id
    return done.run_id


def seen(warehouse: Warehouse) -> dict[str, dict[str, Any]]:
    """What is published of each finding."""
    return {row["finding_id"]: row for row in Published(warehouse).rows(f"SELECT {SEEN} FROM findings")}  # noqa: S608


def three_nights(engine: Engine, corpora: Path, tmp_path: Path) -> None:
    """A cluster, another one, and the first one again with the log that it lacked."""
    zone, warehouse = tmp_path / "zone", Warehouse(str(tmp_path / "warehouse"))
    deliver(corpora, "rocketmq-dledger/old-copy-497", zone, "old-copy")
    late = zone / "old-copy" / "nodes" / "n2"
    late.rename(tmp_path / "late")
    first_run = night(engine, zone, warehouse)
    first = seen(warehouse)
    assert first
    assert {row["first_seen_run"] for row in first.values()} == {first_run}
    deliver(corpora, "rocketmq-dledger/kill-leader-533", zone, "killed")
    second_run = night(engine, zone, warehouse)
    second = seen(warehouse)
    assert {one: row for one, row in second.items() if row["cluster"] == "old-copy"} == first
    assert {row["first_seen_run"] for row in second.values() if row["cluster"] == "killed"} == {second_run}
    (tmp_path / "late").rename(late)
    third_run = night(engine, zone, warehouse)
    third = seen(warehouse)
    stayed = {one for one, row in third.items() if one in first}
    new = {one for one, row in third.items() if one not in second}
    assert stayed
    assert new
    for one in stayed:
        assert third[one]["first_seen_run"] == first_run
        assert third[one]["first_seen_at"] == first[one]["first_seen_at"]
        assert third[one]["last_seen_at"] > first[one]["last_seen_at"]
    assert {third[one]["first_seen_run"] for one in new} == {third_run}
    assert {one: row for one, row in third.items() if row["cluster"] == "killed"} == {
        one: row for one, row in second.items() if row["cluster"] == "killed"
    }
    asked = "SELECT finding_id FROM findings_new((SELECT max(published_at) FROM runs WHERE run_id = '{}'))"
    assert {row["finding_id"] for row in Published(warehouse).rows(asked.format(second_run))} == new
    assert not Published(warehouse).rows(asked.format(third_run))


def test_a_finding_keeps_the_run_that_found_it_first(local: LocalEngine, corpora: Path, tmp_path: Path) -> None:
    three_nights(local, corpora, tmp_path)


@pytest.mark.slow
@only_when_proving("a minute")
def test_spark_keeps_it_too(spark: "SparkEngine", corpora: Path, tmp_path: Path) -> None:
    three_nights(spark, corpora, tmp_path)


def test_a_judgement_anew_of_everything_finds_nothing_new(local: LocalEngine, corpora: Path, tmp_path: Path) -> None:
    zone, warehouse = tmp_path / "zone", Warehouse(str(tmp_path / "warehouse"))
    deliver(corpora, "rocketmq-dledger/kill-leader-533", zone, "killed")
    run = night(local, zone, warehouse)
    before = seen(warehouse)
    night(local, zone, warehouse, Selection(clusters=("killed",), from_events=True))
    after = seen(warehouse)
    assert after.keys() == before.keys()
    assert {row["first_seen_run"] for row in after.values()} == {run}


def test_what_an_earlier_release_found_is_not_new(local: LocalEngine, corpora: Path, tmp_path: Path) -> None:
    """Its table has no such columns."""
    zone, warehouse = tmp_path / "zone", Warehouse(str(tmp_path / "warehouse"))
    deliver(corpora, "rocketmq-dledger/kill-leader-533", zone, "killed")
    night(local, zone, warehouse)
    location = warehouse.location("findings")
    rows = DeltaTable(location).to_pyarrow_table().drop_columns([column.name for column in FIRST_SEEN])
    shutil.rmtree(location)
    write_deltalake(location, rows)
    warehouse = Warehouse(warehouse.root)  # the table is another one now
    before = seen(warehouse)
    assert {row["first_seen_run"] for row in before.values()} == {None}
    deliver(corpora, "rocketmq-dledger/old-copy-497", zone, "old-copy")
    run = night(local, zone, warehouse, Selection(clusters=("killed", "old-copy"), from_events=True))
    after = seen(warehouse)
    assert {after[one]["first_seen_run"] for one in before} == {None}
    assert all(after[one]["last_seen_at"] for one in before)
    new = Published(warehouse).rows("SELECT DISTINCT cluster, first_seen_run FROM findings_new('2020-01-01')")
    assert new == [{"cluster": "old-copy", "first_seen_run": run}]
