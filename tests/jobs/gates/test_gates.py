"""A run passes its gates: what fails is held back, what holds is published, and a repaired cluster comes through."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake

import election_replay.jobs.replay
from election_replay.jobs import JobError
from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.land import land
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.publish import publish
from election_replay.jobs.publishing.runs import unpublished_run
from election_replay.jobs.reading.published import Published
from election_replay.jobs.replay import replay
from election_replay.jobs.replaying.nothing_new import Selection
from election_replay.jobs.replaying.plan import Work
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import NOTE, Warehouse
from election_replay.schemas import TABLES
from tests.jobs.zone import Zone, leads

pytestmark = pytest.mark.slow

ROLES = TABLES["role_intervals"]


@pytest.fixture
def other(zone: Zone) -> Path:
    """The log of a second cluster in the same landing zone."""
    path = zone.root / "c2" / "nodes" / "n1" / "logs" / "broker_default.log"
    path.parent.mkdir(parents=True)
    return path


def land_all(engine: Engine, zone: Zone, warehouse: Warehouse) -> None:
    landing = str(zone.root)
    land(engine, new_files(landing, warehouse, Config()), landing, warehouse, Config())


def terms(warehouse: Warehouse) -> dict[str, list[int]]:
    """The published terms of each cluster."""
    found: dict[str, list[int]] = {}
    for row in Published(warehouse).rows("SELECT cluster, term FROM terms ORDER BY cluster, term"):
        found.setdefault(row["cluster"], []).append(row["term"])
    return found


def test_a_failing_landing_holds_its_cluster_alone(engine: Engine, zone: Zone, other: Path, tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path / "w"))
    zone.write("broker_default.log", leads(0, 1))
    other.write_text(leads(0, 1))
    land_all(engine, zone, warehouse)
    assert replay(engine, warehouse).held == ()
    zone.append("broker_default.log", leads(60, 2))
    other.write_text(leads(0, 1) + leads(60, 2))
    land_all(engine, zone, warehouse)
    [twin] = [row for row in warehouse.rows("events") if row["cluster"] == "c1" and row["term"] == 2]
    warehouse.append([twin], "events")

    done = replay(engine, warehouse)
    assert (done.clusters, done.held) == (("c2",), ("c1",))
    assert [check.table for check in done.checks if check.stops] == ["landed_files", "events"]
    assert terms(warehouse) == {"c1": [1], "c2": [1, 2]}

    versions = warehouse.versions()
    again = replay(engine, warehouse)
    assert (again.run_id, again.held) == (None, ("c1",))
    assert {n for n, v in warehouse.versions().items() if v != versions[n]} == {"validations"}

    DeltaTable(warehouse.location("events")).delete(f"event_id = '{twin['event_id']}'")
    warehouse.append([twin], "events")
    assert replay(engine, warehouse).held == ()
    assert terms(warehouse) == {"c1": [1, 2], "c2": [1, 2]}


def spoiling(judge_all: Callable[..., None], cluster: str) -> Callable[..., None]:
    """``judge_all``, but an interval of ``cluster`` overlaps another one afterwards."""

    def spoil(work: Work) -> None:
        judge_all(work)
        rows_of_run = [row for row in work.warehouse.rows("role_intervals") if row["run_id"] == work.plan.run_id]
        row = next(row for row in rows_of_run if row["cluster"] == cluster)
        rows = pa.Table.from_pylist([row | {"role": "candidate", "end_time": None}], ROLES.arrow_schema())
        by_the_run = CommitProperties(custom_metadata={NOTE: work.plan.run_id})
        write_deltalake(work.warehouse.location(ROLES.name), rows, mode="append", commit_properties=by_the_run)

    return spoil


def test_a_failing_verdict_holds_its_cluster_alone(
    engine: Engine, zone: Zone, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = Warehouse(str(tmp_path / "w"))
    zone.write("broker_default.log", leads(0, 1))
    other.write_text(leads(0, 1))
    land_all(engine, zone, warehouse)
    with monkeypatch.context() as patch:
        patch.setattr(election_replay.jobs.replay, "judge_all", spoiling(election_replay.jobs.replay.judge_all, "c1"))
        done = replay(engine, warehouse)
    assert (done.held, terms(warehouse)) == (("c1",), {"c2": [1]})
    assert "no_overlap" in {check.expectation.name for check in done.checks if check.stops}
    assert replay(engine, warehouse).clusters == ("c1",)
    before = terms(warehouse)
    assert before == {"c1": [1], "c2": [1]}

    zone.append("broker_default.log", leads(60, 2))
    other.write_text(leads(0, 1) + leads(60, 2))
    land_all(engine, zone, warehouse)
    with monkeypatch.context() as patch:
        patch.setattr(election_replay.jobs.replay, "judge_all", spoiling(election_replay.jobs.replay.judge_all, "c2"))
        assert replay(engine, warehouse).held == ("c2",)
    assert terms(warehouse) == {"c1": [1, 2], "c2": [1]}


def test_what_is_judged_waits_until_it_is_published(engine: Engine, zone: Zone, other: Path, tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path / "w"))
    zone.write("broker_default.log", leads(0, 1))
    land_all(engine, zone, warehouse)
    with pytest.raises(JobError, match="nothing is judged"):
        unpublished_run(warehouse)
    replay(engine, warehouse, publishing=False)
    assert warehouse.published() is None
    with pytest.raises(JobError, match="waits to be published"):
        replay(engine, warehouse, selection=Selection(clusters=("c1",)))
    judged = unpublished_run(warehouse)
    assert judged is not None
    assert publish(warehouse, judged).held == ()
    assert terms(warehouse) == {"c1": [1]}
    assert unpublished_run(warehouse) is None

    other.write_text(leads(0, 1))
    land_all(engine, zone, warehouse)
    replay(engine, warehouse, publishing=False)
    assert terms(warehouse) == {"c1": [1]}
    warehouse.append(warehouse.rows("facts")[:1], "facts")
    with pytest.raises(JobError, match="have changed"):
        unpublished_run(warehouse)


def as_others_read(warehouse: Warehouse, table: str) -> list[dict[str, Any]]:
    """What a reader that knows docs/reading.md alone sees of a judged table."""
    names = {"every": table, "published": "published"}
    with duckdb.connect() as database:
        for name, of in names.items():
            database.register(name, DeltaTable(warehouse.location(of)).to_pyarrow_dataset())
        rows = database.sql(
            "SELECT * FROM every SEMI JOIN published USING (cluster, replica_group, run_id) ORDER BY ALL"
        )
        return rows.to_arrow_table().to_pylist()


def test_readers_of_all_engines_agree_where_a_run_was_killed_before_its_row(
    engine: Engine, zone: Zone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Publishing is one commit, which says the row too; whoever writes rows of runs next makes it good."""
    warehouse, recorded = Warehouse(str(tmp_path / "w")), Warehouse.append
    zone.write("broker_default.log", leads(0, 1))
    land_all(engine, zone, warehouse)
    replay(engine, warehouse)
    zone.append("broker_default.log", leads(60, 2))
    land_all(engine, zone, warehouse)

    def killed(self: Warehouse, rows: Sequence[Mapping[str, Any]], table: str) -> None:
        if table == "runs":
            raise KeyboardInterrupt
        recorded(self, rows, table)

    with monkeypatch.context() as patch:
        patch.setattr(Warehouse, "append", killed)
        with pytest.raises(KeyboardInterrupt):
            replay(engine, warehouse)
    assert len(warehouse.rows("runs")) == 1
    assert [row["term"] for row in as_others_read(warehouse, "terms")] == [1, 2]
    assert terms(Warehouse(warehouse.root)) == {"c1": [1, 2]}
    assert unpublished_run(warehouse) is None
    said = warehouse.runs()[-1]
    assert replay(engine, warehouse).run_id is None
    zone.append("broker_default.log", leads(120, 3))
    land_all(engine, zone, warehouse)
    replay(engine, warehouse)
    assert terms(warehouse) == {"c1": [1, 2, 3]}
    ids = [row["run_id"] for row in warehouse.rows("runs")]
    assert len(ids) == len({*ids}) == 3
    [row] = [row for row in warehouse.runs() if row["run_id"] == said["run_id"]]
    assert row == said


def test_what_is_selected_is_judged_anew_and_the_rest_waits(
    engine: Engine, zone: Zone, other: Path, tmp_path: Path
) -> None:
    warehouse = Warehouse(str(tmp_path / "w"))
    zone.write("broker_default.log", leads(0, 1))
    other.write_text(leads(0, 1))
    land_all(engine, zone, warehouse)
    assert replay(engine, warehouse, selection=Selection(clusters=("c2",))).held == ("c1",)
    assert terms(warehouse) == {"c2": [1]}
    assert replay(engine, warehouse).clusters == ("c1",)
    assert terms(warehouse) == {"c1": [1], "c2": [1]}
    assert replay(engine, warehouse, selection=Selection(clusters=("c1",))).clusters == ("c1",)
    assert terms(warehouse) == {"c1": [1], "c2": [1]}
    with pytest.raises(JobError, match="no event is landed"):
        replay(engine, warehouse, selection=Selection(clusters=("c3",)))
