"""Upkeep takes away what nobody needs, and nothing that a published run names."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from election_replay.jobs import JobError
from election_replay.jobs.cli.app import main
from election_replay.jobs.engines.spark_engine import SparkEngine
from election_replay.jobs.publish import move_pointer
from election_replay.jobs.publishing.runs import Judged
from election_replay.jobs.reading.published import KeptNoLongerError, Published
from election_replay.jobs.spark_views import register
from election_replay.jobs.upkeep import Tidied, upkeep
from election_replay.jobs.warehouse.delta_form import properties
from election_replay.jobs.warehouse.table_sets import JUDGED, unchanged_since
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from tests.jobs.tables import blank, name_published
from tests.jobs.warehouse.test_data_files import commit, files_of

NOW = datetime.now(UTC)
TERM = {"cluster": "c1", "replica_group": "g1", "protocol": "dledger", "start_time": NOW, "certainty": "proven"}


def run_id(days_ago: float) -> str:
    """The id of a run that began so long ago."""
    return f"{NOW - timedelta(days=days_ago):%Y%m%dT%H%M%S.%fZ}-1"


def judge(warehouse: Warehouse, run: str, *terms: int) -> str:
    """Let a run find some terms, in files of one row; nobody publishes them."""
    for term in terms:
        warehouse.append([TERM | {"term": term, "run_id": run}], "terms")
    return run


def published(warehouse: Warehouse, *terms: int, days_ago: float = 0) -> dict[str, Any]:
    """Publish what a run found some days ago."""
    name, started = judge(warehouse, run_id(days_ago), *terms), NOW - timedelta(days=days_ago)
    name_published(warehouse, name, ("c1", "g1"))
    move_pointer(warehouse, Judged(name, started, 1, (), ("c1",), "none", warehouse.versions()), ())
    rows = warehouse.rows("runs")
    DeltaTable(warehouse.location("runs")).delete()
    late = [row | {"published_at": started} if row["run_id"] == name else row for row in rows]
    warehouse.append(late, "runs")
    return next(run for run in warehouse.runs() if run["run_id"] == name)


def terms(warehouse: Warehouse, run: dict[str, Any] | None = None) -> list[int]:
    """The terms that a run shows, by default the last one."""
    rows = Published(warehouse, run and run["run_id"]).rows("SELECT term FROM terms ORDER BY term")
    return [row["term"] for row in rows]


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return blank(tmp_path / "w")


def files(warehouse: Warehouse) -> set[Path]:
    return set(Path(warehouse.root).rglob("*.parquet"))


def of_terms(done: list[Tidied]) -> Tidied:
    return next(one for one in done if one.table == "terms")


def test_published_states_stay_readable_and_others_go(warehouse: Warehouse) -> None:
    first = published(warehouse, 1, 2, days_ago=20)
    judge(warehouse, run_id(19), 7, 8, 9)  # never published
    second = published(warehouse, 1, 2, 3)
    judge(warehouse, run_id(-1), 5)  # at work while upkeep is
    before = files(warehouse)

    done = of_terms(upkeep(warehouse, grace_hours=0))
    assert done.forgotten == 3
    assert len(before - files(warehouse)) >= 3
    assert (terms(warehouse, first), terms(warehouse, second)) == ([1, 2], [1, 2, 3])
    assert sorted(row["term"] for row in warehouse.rows("terms")) == [1, 1, 2, 2, 3, 5]
    newest = warehouse.published()
    assert newest is not None
    assert newest["run_id"] not in {first["run_id"], second["run_id"]}
    assert unchanged_since(warehouse, newest)
    assert terms(warehouse) == [1, 2, 3]
    assert len(DeltaTable(warehouse.location("terms")).file_uris()) == 1


def test_runs_that_are_not_kept_go_but_never_the_newest(warehouse: Warehouse) -> None:
    old = published(warehouse, 1, days_ago=90)
    newest = published(warehouse, 1, 2, days_ago=80)
    upkeep(warehouse, keep_days=7)
    assert terms(warehouse, newest) == [1, 2]
    with pytest.raises(KeptNoLongerError, match="is kept no longer"):
        terms(warehouse, old)
    assert sorted(row["term"] for row in warehouse.rows("terms")) == [1, 2]


def test_a_foreign_joining_and_vacuum_changes_nothing(warehouse: Warehouse) -> None:
    first = published(warehouse, 1, 2, days_ago=3)
    second = published(warehouse, 1, 2, 3)
    state = warehouse.published()
    for name in warehouse.versions():
        table = DeltaTable(warehouse.location(name))
        table.optimize.compact()
        table.vacuum(dry_run=False)
    newest = Warehouse(warehouse.root)
    assert newest.published() == state
    assert state is not None
    assert unchanged_since(newest, state), "nothing need be judged anew"
    assert (terms(newest, first), terms(newest, second), terms(newest)) == ([1, 2], [1, 2, 3], [1, 2, 3])


def aged(warehouse: Warehouse, days: int) -> None:
    """Let all that is written be older by some days."""
    for file in Path(warehouse.root).rglob("*"):
        if file.is_file():
            seconds = file.stat().st_mtime - days * 24 * 60 * 60
            os.utime(file, (seconds, seconds))


def many_commits(warehouse: Warehouse, run: str) -> None:
    """So many that Delta makes checkpoints; each time it may remove what is older than its retention."""
    DeltaTable(warehouse.location("published")).alter.set_table_properties({"delta.checkpointInterval": "4"})
    for _ in range(6):
        name_published(warehouse, run, ("c1", "g1"))


def log_entries(warehouse: Warehouse) -> list[str]:
    return sorted(path.name for path in Path(warehouse.location("published"), "_delta_log").glob("*.json"))


def test_kept_runs_stay_readable_however_old_the_log_is(warehouse: Warehouse) -> None:
    old = published(warehouse, 1, days_ago=80)
    many_commits(warehouse, old["run_id"])
    aged(warehouse, 80)
    many_commits(warehouse, old["run_id"])
    newest = published(warehouse, 1, 2, 3)
    upkeep(warehouse, keep_days=90)
    assert (terms(warehouse, old), terms(warehouse, newest)) == ([1], [1, 2, 3])
    assert (
        properties(TABLES["published"], 90).items()
        <= DeltaTable(warehouse.location("published")).metadata().configuration.items()
    )

    entries = log_entries(warehouse)
    upkeep(warehouse, keep_days=30)
    assert len(log_entries(warehouse)) < len(entries), "what no kept run needs goes from the log too"
    assert terms(warehouse, newest) == terms(warehouse) == [1, 2, 3]


def test_spark_reads_a_run_however_old_its_versions_are(spark: SparkEngine, warehouse: Warehouse) -> None:
    published(warehouse, 1, days_ago=300)
    aged(warehouse, 300)
    judge(warehouse, run_id(0), 1, 2)  # not published
    register(spark.session, warehouse.root)
    assert [row["term"] for row in spark.session.sql("SELECT term FROM terms").collect()] == [1]


def test_what_is_not_published_yet_is_left_alone(warehouse: Warehouse) -> None:
    published(warehouse, 1)
    kind = {"STRING": "x", "ARRAY<STRING>": [], "TIMESTAMP": NOW}
    fact = {one.name: kind.get(one.type.sql, 0) for one in TABLES["facts"].columns if not one.nullable}
    warehouse.append([fact], "facts")
    version = warehouse.version("facts")
    assert next(one for one in upkeep(warehouse, grace_hours=0) if one.table == "facts").left_alone
    assert warehouse.version("facts") == version


def test_a_second_time_changes_nothing(warehouse: Warehouse) -> None:
    published(warehouse, 1, 2)
    upkeep(warehouse, grace_hours=0)
    upkeep(warehouse, grace_hours=0)  # joins the two rows of runs
    versions, state = warehouse.versions(), warehouse.published()
    upkeep(warehouse, grace_hours=0)
    assert {name: warehouse.version(name) for name in JUDGED} == {name: versions[name] for name in JUDGED}
    assert warehouse.published() == state


def test_a_dry_run_changes_nothing_and_says_what_there_is_to_do(
    warehouse: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    published(warehouse, 1, 2)
    before, versions = files(warehouse), warehouse.versions()
    assert main(["upkeep", "--warehouse", warehouse.root, "--dry-run"]) == 0
    assert "terms: 2 files, 2 would be joined, 0 old ones would be removed" in capsys.readouterr().out
    assert (files(warehouse), warehouse.versions()) == (before, versions)


def test_files_of_different_partitions_are_not_joined(warehouse: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    for batch in (1, 2):
        commit(warehouse, files_of(warehouse, batch, lines=1), batch)
    published(warehouse, 1)
    assert main(["upkeep", "--warehouse", warehouse.root, "--dry-run"]) == 0
    assert "quarantine: 2 files, 0 would be joined" in capsys.readouterr().out


def test_files_of_the_last_day_stay(warehouse: Warehouse) -> None:
    published(warehouse, 1)
    published(warehouse, 2, days_ago=9)
    assert of_terms(upkeep(warehouse)).removed == 0


def test_nothing_published_is_said(warehouse: Warehouse) -> None:
    with pytest.raises(JobError, match="nothing is published"):
        upkeep(warehouse)
