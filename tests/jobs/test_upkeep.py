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
from election_replay.jobs.publishing.runs import Judged, write_run
from election_replay.jobs.reading.published import Published
from election_replay.jobs.spark_views import register
from election_replay.jobs.upkeep import Tidied, upkeep
from election_replay.jobs.warehouse.table_sets import JUDGED, stands
from election_replay.jobs.warehouse.warehouse import Warehouse, properties
from election_replay.schemas import TABLES
from tests.jobs.warehouse.test_data_files import commit, files_of

NOW = datetime.now(UTC)
TERM = {"cluster": "c1", "replica_group": "g1", "protocol": "dledger", "start_time": NOW, "certainty": "proven"}


def rewrite(warehouse: Warehouse, *terms: int) -> None:
    """Replace the terms, by files of one row."""
    DeltaTable(warehouse.location("terms")).delete()
    for term in terms:
        warehouse.append([TERM | {"term": term}], "terms")


def published(warehouse: Warehouse, name: str, days_ago: int = 0) -> dict[str, Any]:
    """Publish what is there."""
    started = NOW - timedelta(days=days_ago)
    write_run(warehouse, Judged(name, started, 1, (), ("c1",), "none", warehouse.versions()), "published", ())
    rows = warehouse.rows("runs")
    DeltaTable(warehouse.location("runs")).delete()
    late = [row | {"published_at": started} if row["run_id"] == name else row for row in rows]
    warehouse.append(late, "runs")
    return next(run for run in warehouse.runs() if run["run_id"] == name)


def terms(warehouse: Warehouse, run: dict[str, Any]) -> list[int]:
    """The terms that a run shows."""
    table = DeltaTable(warehouse.location("terms"), version=run["versions"]["terms"])
    return sorted(table.to_pyarrow_table()["term"].to_pylist())


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    tables = Warehouse(str(tmp_path / "w"))
    tables.create()
    return tables


def files(warehouse: Warehouse) -> set[Path]:
    return set(Path(warehouse.root).rglob("*.parquet"))


def of_terms(done: list[Tidied]) -> Tidied:
    return next(one for one in done if one.table == "terms")


def test_published_states_stay_readable_and_others_go(warehouse: Warehouse) -> None:
    rewrite(warehouse, 1, 2)
    first = published(warehouse, "first")
    rewrite(warehouse, 7, 8, 9)  # never published
    rewrite(warehouse, 1, 2, 3)
    second = published(warehouse, "second")
    before = files(warehouse)

    done = of_terms(upkeep(warehouse, grace_hours=0))
    assert (done.files, done.joined, done.removed) == (3, 3, 3)
    assert len(before - files(warehouse)) >= 3
    assert terms(warehouse, first) == [1, 2]
    assert terms(warehouse, second) == [1, 2, 3]
    newest = warehouse.published()
    assert newest is not None
    assert newest["run_id"] not in {"first", "second"}
    assert stands(warehouse, newest)
    assert Published(warehouse).rows("SELECT term FROM terms ORDER BY term") == [{"term": n} for n in (1, 2, 3)]
    assert len(DeltaTable(warehouse.location("terms"), version=newest["versions"]["terms"]).file_uris()) == 1


def test_runs_that_are_not_kept_go_but_never_the_newest(warehouse: Warehouse) -> None:
    rewrite(warehouse, 1)
    old = published(warehouse, "old", days_ago=9)
    rewrite(warehouse, 1, 2)
    newest = published(warehouse, "newest", days_ago=8)
    upkeep(warehouse, keep_days=7, grace_hours=0)
    assert terms(warehouse, newest) == [1, 2]
    with pytest.raises(OSError, match="No such file"):
        terms(warehouse, old)


def aged(warehouse: Warehouse, days: int) -> None:
    """Let all that is written be older by some days."""
    for file in Path(warehouse.root).rglob("*"):
        if file.is_file():
            seconds = file.stat().st_mtime - days * 24 * 60 * 60
            os.utime(file, (seconds, seconds))


def many_commits(warehouse: Warehouse) -> None:
    """So many that Delta makes checkpoints; each time it may remove what is older than its retention."""
    DeltaTable(warehouse.location("terms")).alter.set_table_properties({"delta.checkpointInterval": "4"})
    for _ in range(6):
        rewrite(warehouse, 7)


def log_entries(warehouse: Warehouse) -> list[str]:
    return sorted(path.name for path in Path(warehouse.location("terms"), "_delta_log").glob("*.json"))


def test_kept_runs_stay_readable_however_old_the_log_is(warehouse: Warehouse) -> None:
    rewrite(warehouse, 1)
    old = published(warehouse, "old", days_ago=80)
    many_commits(warehouse)
    aged(warehouse, 80)
    many_commits(warehouse)
    rewrite(warehouse, 1, 2, 3)
    newest = published(warehouse, "newest")
    upkeep(warehouse, keep_days=90)
    assert (terms(warehouse, old), terms(warehouse, newest)) == ([1], [1, 2, 3])
    assert (
        properties(TABLES["terms"], 90).items()
        <= DeltaTable(warehouse.location("terms")).metadata().configuration.items()
    )

    entries = log_entries(warehouse)
    upkeep(warehouse, keep_days=30)
    assert len(log_entries(warehouse)) < len(entries), "what no kept run needs goes from the log too"
    assert terms(warehouse, newest) == [1, 2, 3]
    assert Published(warehouse).rows("SELECT term FROM terms ORDER BY term") == [{"term": n} for n in (1, 2, 3)]


def test_spark_reads_a_run_however_old_its_versions_are(spark: SparkEngine, warehouse: Warehouse) -> None:
    rewrite(warehouse, 1)
    published(warehouse, "old")
    aged(warehouse, 300)
    rewrite(warehouse, 1, 2)  # not published
    register(spark.session, warehouse.root)
    assert [row["term"] for row in spark.session.sql("SELECT term FROM terms").collect()] == [1]


def test_what_is_not_published_yet_is_left_alone(warehouse: Warehouse) -> None:
    rewrite(warehouse, 1)
    published(warehouse, "first")
    rewrite(warehouse, 1, 2)
    version = warehouse.version("terms")
    assert of_terms(upkeep(warehouse, grace_hours=0)).left_alone
    assert warehouse.version("terms") == version


def test_a_second_time_changes_nothing(warehouse: Warehouse) -> None:
    rewrite(warehouse, 1, 2)
    published(warehouse, "first")
    upkeep(warehouse, grace_hours=0)
    upkeep(warehouse, grace_hours=0)  # joins the two rows of runs
    versions, state = warehouse.versions(), warehouse.published()
    upkeep(warehouse, grace_hours=0)
    assert {name: warehouse.version(name) for name in JUDGED} == {name: versions[name] for name in JUDGED}
    assert warehouse.published() == state


def test_a_dry_run_changes_nothing_and_says_what_there_is_to_do(
    warehouse: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(warehouse, 1, 2)
    published(warehouse, "first")
    before, versions = files(warehouse), warehouse.versions()
    assert main(["upkeep", "--warehouse", warehouse.root, "--dry-run"]) == 0
    assert "terms: 2 files, 2 would be joined, 0 old ones would be removed" in capsys.readouterr().out
    assert (files(warehouse), warehouse.versions()) == (before, versions)


def test_files_of_different_partitions_are_not_joined(warehouse: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    for batch in (1, 2):
        commit(warehouse, files_of(warehouse, batch, lines=1), batch)
    published(warehouse, "first")
    assert main(["upkeep", "--warehouse", warehouse.root, "--dry-run"]) == 0
    assert "quarantine: 2 files, 0 would be joined" in capsys.readouterr().out


def test_files_of_the_last_day_stay(warehouse: Warehouse) -> None:
    rewrite(warehouse, 1)
    rewrite(warehouse, 2)
    published(warehouse, "first")
    assert of_terms(upkeep(warehouse)).removed == 0


def test_nothing_published_is_said(warehouse: Warehouse) -> None:
    with pytest.raises(JobError, match="nothing is published"):
        upkeep(warehouse)
