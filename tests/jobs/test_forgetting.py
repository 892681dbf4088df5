"""What is forgotten is gone, and nothing else: findings keep their lines, and are judged anew as before."""

import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from election_replay.jobs import JobError
from election_replay.jobs.cli.app import main
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.forget import forget
from election_replay.jobs.gates.checks import check
from election_replay.jobs.reading.explain import explain
from election_replay.jobs.reading.published import Published
from election_replay.jobs.replay import replay
from election_replay.jobs.replaying.nothing_new import Selection
from election_replay.jobs.upkeep import upkeep
from election_replay.jobs.warehouse.table_sets import CARRIED, JUDGED
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from tests.jobs.nights import content, land_only
from tests.jobs.replaying.test_first_seen import deliver, night

KILLED = "rocketmq-dledger/kill-leader-533"


@pytest.fixture(scope="module")
def once(local: LocalEngine, corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clusters, each landed in a night of its own."""
    root = tmp_path_factory.mktemp("once")
    for cluster, run in (("killed", KILLED), ("old-copy", "rocketmq-dledger/old-copy-497")):
        deliver(corpora, run, root / "zone", cluster)
        night(local, root / "zone", Warehouse(str(root / "warehouse")))
    return root


@pytest.fixture
def two_nights(once: Path, tmp_path: Path) -> Warehouse:
    """A copy of the zone and of the warehouse, to forget things in."""
    shutil.copytree(once, tmp_path, dirs_exist_ok=True)
    return Warehouse(str(tmp_path / "warehouse"))


def age(warehouse: Warehouse, days: int) -> None:
    """Let the runs be published some days earlier."""
    rows = warehouse.rows("runs")
    DeltaTable(warehouse.location("runs")).delete()
    past = timedelta(days=days)
    warehouse.append([row | {"published_at": row["published_at"] - past} for row in rows], "runs")


def lines(warehouse: Warehouse) -> int:
    """So many lines are kept."""
    return warehouse.count("log_lines")


def test_old_lines_go_and_findings_keep_theirs(two_nights: Warehouse, local: LocalEngine) -> None:
    before, quotes = lines(two_nights), content(two_nights, ("evidence_lines",))
    upkeep(two_nights, forget_after=7)
    assert lines(two_nights) == before, "they are of today"
    age(two_nights, 8)
    planned = {one.table: one.forgotten for one in upkeep(two_nights, forget_after=7, dry_run=True)}
    assert lines(two_nights) == before
    done = {one.table: one.forgotten for one in upkeep(two_nights, forget_after=7)}
    assert done == planned
    assert lines(two_nights) == before - done["log_lines"] < before / 2
    assert content(two_nights, ("evidence_lines",)) == quotes
    kept = {row["event_id"] for row in two_nights.rows("log_lines")}
    named = {row[name] for row in two_nights.rows("open_facts") for name in ("since_event", "until_event")} - {None}
    assert named
    assert named <= kept, "lives that go on are facts too"
    assert not [one for one in check(two_nights) if one.stops]
    judged = content(two_nights)
    replay(local, two_nights, selection=Selection(clusters=("killed", "old-copy"), from_events=True))
    assert content(two_nights) == judged, "judged anew from the first event, with the same lines"
    assert {one.forgotten for one in upkeep(two_nights, forget_after=7)} == {0}


def test_a_forgotten_line_that_becomes_a_proof_stays_empty(once: Path, local: LocalEngine, tmp_path: Path) -> None:
    """No fact of today's rules names it; rules of tomorrow may."""
    warehouse = Warehouse(str(tmp_path / "warehouse"))
    land_only(local, once / "zone", warehouse)
    DeltaTable(warehouse.location("log_lines")).delete()
    warehouse.note_forgotten(warehouse.last_batch())
    replay(local, warehouse)
    rows = Published(warehouse).rows("SELECT * FROM evidence_lines WHERE cluster = 'killed'")
    assert rows
    assert {row["text"] for row in rows} == {None}
    assert all(row["path"] and row["line_no"] and row["event_time"] for row in rows), "where it stood is known"
    assert explain(Published(warehouse), rows[0]["finding_id"]).evidence


def test_a_cluster_is_erased_everywhere(two_nights: Warehouse, local: LocalEngine, tmp_path: Path) -> None:
    kept = content(two_nights)
    planned = forget(two_nights, "old-copy", dry_run=True)
    assert content(two_nights) == kept
    assert forget(two_nights, "old-copy") == planned
    assert {"landed_files", "log_lines", "events", *JUDGED, *CARRIED} - {*planned} <= {
        "quiescent_groups",
        "clock_offsets",
        "sync_state_sets",
        "lock_holds",
        "metadata_versions",
    }
    for name in two_nights.versions():
        if "cluster" in TABLES[name].names:
            rows = two_nights.dataset(name).to_table(["cluster"])["cluster"].to_pylist()
            assert "old-copy" not in rows, name
    assert {row["cluster"] for row in Published(two_nights).rows("SELECT DISTINCT cluster FROM findings")} == {"killed"}
    upkeep(two_nights, keep_days=0, grace_hours=0)
    spoken = [file for file in Path(two_nights.root).rglob("*.parquet") if b"old-copy" in file.read_bytes()]
    assert not spoken, "no file holds it any more"
    (tmp_path / "zone" / "old-copy").rename(tmp_path / "gone")
    deliver_again(tmp_path)
    night(local, tmp_path / "zone", two_nights)
    assert {row["cluster"] for row in Published(two_nights).rows("SELECT DISTINCT cluster FROM findings")} == {
        "killed",
        "again",
    }


def deliver_again(tmp_path: Path) -> None:
    """The logs of the erased cluster come as those of another one: their landing has a number of its own."""
    (tmp_path / "gone").rename(tmp_path / "zone" / "again")


def test_what_cannot_be_forgotten_is_told(two_nights: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(JobError, match="nothing is known of a cluster nowhere; there is killed, old-copy"):
        forget(two_nights, "nowhere")
    assert main(["forget", "--warehouse", two_nights.root, "--cluster", "killed", "--dry-run"]) == 0
    assert "findings: " in capsys.readouterr().out
    row: dict[str, Any] = two_nights.rows("landed_files")[0]
    two_nights.append([row], "landed_files")
    with pytest.raises(JobError, match="landed_files: some rows are not published yet"):
        forget(two_nights, "killed")
