"""Whole runs: idempotent, crash-safe, incremental, deterministic."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import election_replay.jobs.replay
from election_replay.election_core.model.inventory import Inventory, InventoryRow
from election_replay.jobs import JobError
from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.engines.spark_engine import SparkEngine
from election_replay.jobs.replay import replay
from election_replay.jobs.replaying.nothing_new import Selection
from election_replay.jobs.replaying.plan import Work
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.nights import ALL, GOLD, content, land_only, night
from tests.jobs.zone import Zone, election, leads
from tests.proving import only_when_proving

pytestmark = pytest.mark.slow


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(str(tmp_path / "warehouse"))


def test_a_second_run_changes_nothing_and_a_new_file_adds_only_itself(
    engine: Engine, zone: Zone, warehouse: Warehouse
) -> None:
    zone.write("broker_default.log", election(0, 1))
    first = night(engine, zone.root, warehouse)
    assert (first.batch, first.lines_event + first.lines_ignored) == (1, 4)
    before, versions = content(warehouse), warehouse.versions()
    assert night(engine, zone.root, warehouse).batch is None
    assert warehouse.versions() == versions
    zone.write("otherdays/broker_default.1.log", election(0, 1))
    zone.write("broker_default.log", election(0, 1) + election(100, 2))
    second = night(engine, zone.root, warehouse)
    assert (second.batch, second.lines_total) == (2, 4)
    assert len(content(warehouse, ("events",))["events"]) > first.lines_event
    assert content(warehouse) != before


def test_a_killed_landing_leaves_no_trace(
    engine: Engine, zone: Zone, tmp_path: Path, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had read a file that is gone when the landing is tried again."""
    zone.write("broker_default.log", election(0, 1))
    night(engine, zone.root, warehouse)
    before = content(warehouse, (*GOLD, "events"))
    gone = zone.write("broker.log", leads(7, term=99))
    with monkeypatch.context() as patch:
        patch.setattr(Warehouse, "replace", dying_at(Warehouse.replace, "landed_files"))
        with pytest.raises(KeyboardInterrupt):
            land_only(engine, zone.root, warehouse)
    replay(engine, warehouse)
    assert content(warehouse, (*GOLD, "events")) == before
    gone.unlink()
    zone.append("broker_default.log", election(100, 2))
    night(engine, zone.root, warehouse)
    once = Warehouse(str(tmp_path / "once"))
    night(engine, zone.root, once)
    assert content(warehouse, (*GOLD, "events")) == content(once, (*GOLD, "events"))


def test_a_killed_replay_shows_nothing_and_is_made_good(
    engine: Engine, zone: Zone, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone.write("broker_default.log", election(0, 1))
    night(engine, zone.root, warehouse)
    before = content(warehouse)
    zone.append("broker_default.log", election(100, 2))
    land_only(engine, zone.root, warehouse)
    for dies_at in ("terms", "published"):
        with monkeypatch.context() as patch:
            for write in ("replace", "commit_rewrite", "append"):
                patch.setattr(Warehouse, write, dying_at(getattr(Warehouse, write), dies_at))
            with pytest.raises(KeyboardInterrupt):
                replay(engine, warehouse)
        assert content(warehouse) == before
    assert replay(engine, warehouse).run_id
    assert content(warehouse) != before
    assert replay(engine, warehouse).run_id is None


def test_another_inventory_judges_anew_what_is_landed(engine: Engine, zone: Zone, warehouse: Warehouse) -> None:
    """The log never names its group; what the inventory says holds as if it had been said from the beginning."""
    zone.write("broker_default.log", election(0, 1))
    night(engine, zone.root, warehouse)
    assert '"replica_group": "unidentified"' in content(warehouse)["terms"][0]
    listed = Inventory({("c1", "n1"): InventoryRow("RaftNode00", "n1")})
    assert replay(engine, warehouse, listed).run_id
    assert all('"replica_group": "RaftNode00"' in row for row in content(warehouse)["terms"])
    assert replay(engine, warehouse, listed).run_id is None


def test_what_a_killed_replay_wrote_is_not_taken_for_what_stands(
    engine: Engine, zone: Zone, tmp_path: Path, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It judged two clusters by other settings; the next night has the old ones, and news of one cluster alone."""
    logs = [zone.root / cluster / "nodes" / "n1" / "logs" / "broker_default.log" for cluster in ("c1", "c2")]
    for log in logs:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(election(0, 1))
    night(engine, zone.root, warehouse)
    listed = Inventory({(cluster, "n1"): InventoryRow("RaftNode00", "n1") for cluster in ("c1", "c2")})
    with monkeypatch.context() as patch:
        patch.setattr(Warehouse, "append", dying_at(Warehouse.append, "runs"))
        with pytest.raises(KeyboardInterrupt):
            replay(engine, warehouse, listed)
    with logs[0].open("a") as log:
        log.write(election(100, 2))
    night(engine, zone.root, warehouse)
    once = Warehouse(str(tmp_path / "once"))
    night(engine, zone.root, once)
    assert content(warehouse) == content(once)


def test_two_replays_at_once_cannot_mix(
    engine: Engine, zone: Zone, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the first one judges, a second one judges all the same events and publishes them."""
    zone.write("broker_default.log", election(0, 1))
    night(engine, zone.root, warehouse)
    zone.append("broker_default.log", election(100, 2))
    land_only(engine, zone.root, warehouse)
    judge_all = election_replay.jobs.replay.judge_all

    def overtaken(work: Work) -> None:
        monkeypatch.setattr(election_replay.jobs.replay, "judge_all", judge_all)
        replay(engine, warehouse)
        judge_all(work)

    monkeypatch.setattr(election_replay.jobs.replay, "judge_all", overtaken)
    with pytest.raises(JobError, match="another replay has written"):
        replay(engine, warehouse)
    before = content(warehouse, ALL)
    assert replay(engine, warehouse, selection=Selection(from_events=True)).run_id
    assert content(warehouse, ALL) == before


def dying_at(write: Callable[..., None], table: str) -> Callable[..., None]:
    """``write``, but the process is killed when ``table`` is to be written."""

    def dying(self: Warehouse, *told: Any, **more: Any) -> None:
        if table in told:
            raise KeyboardInterrupt
        write(self, *told, **more)

    return dying


@only_when_proving("half a minute")
def test_partitions_do_not_matter(spark: SparkEngine, zone: Zone, warehouse: Warehouse) -> None:
    for node in ("n1", "n2", "n3"):
        path = zone.root / "c1" / "nodes" / node / "logs" / "broker_default.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(election(0, 1, node) + election(100, 2, node))
    land_only(spark, zone.root, warehouse)
    replay(spark, warehouse)
    wanted, settings = content(warehouse, ALL), spark.session.conf
    settings.set("spark.sql.adaptive.enabled", "false")
    try:
        for partitions in (1, 16):
            settings.set("spark.sql.shuffle.partitions", str(partitions))
            assert replay(spark, warehouse, selection=Selection(from_events=True)).run_id
            assert content(warehouse, ALL) == wanted
    finally:
        settings.set("spark.sql.shuffle.partitions", "3")
        settings.set("spark.sql.adaptive.enabled", "true")
