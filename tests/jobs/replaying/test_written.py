"""The gates look at the rows that a night wrote: at all of them, and at none of groups that kept theirs."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, write_deltalake

import election_replay.jobs.publish
import election_replay.jobs.replay
from benchmarks.load import Calendar
from benchmarks.years import Fleet, Nights
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.gates.checks import Check, blocked_clusters, check
from election_replay.jobs.reading.published import Published
from election_replay.jobs.replay import replay
from election_replay.jobs.warehouse.replacing import DeletedKeys
from election_replay.jobs.warehouse.table_sets import FACT_TABLES, JUDGED, VERDICTS
from election_replay.jobs.warehouse.warehouse import NOTE, Warehouse
from election_replay.schemas import TABLES

Written = Mapping[str, DeletedKeys]
Keyed = dict[tuple[str, str], list[str]]


FLEET = Fleet(clusters=1, groups=4, members=3, calendar=Calendar(80), electing=1)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four groups of one cluster, judged once."""
    warehouse = Warehouse(str(tmp_path_factory.mktemp("judged") / "w"))
    Nights(warehouse, FLEET).land(1)
    assert replay(LocalEngine(cores=1), warehouse).clusters == ("c0",)
    return Path(warehouse.root)


@pytest.fixture
def nights(judged: Path, tmp_path: Path) -> tuple[Nights, Warehouse]:
    """The same before another night."""
    shutil.copytree(judged, tmp_path / "w")
    warehouse = Warehouse(str(tmp_path / "w"))
    return Nights(warehouse, FLEET), warehouse


@pytest.fixture
def gates(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Written | None, list[Check]]]:
    """What the gates of judged tables were asked for, and what they found."""
    seen: list[tuple[Written | None, list[Check]]] = []

    def watched(*of: Any, written: Written | None = None, run_id: str | None = None) -> list[Check]:
        checks = check(*of, written=written, run_id=run_id)
        seen.append((written, checks))
        return checks

    monkeypatch.setattr(election_replay.jobs.publish, "check", watched)
    return seen


def rows(warehouse: Warehouse) -> dict[str, Keyed]:
    """The rows of each judged table by the key that a night replaces."""
    found: dict[str, Keyed] = {table: {} for table in FACT_TABLES}
    for table, keyed in found.items():
        cluster, key = TABLES[table].replaced_by
        for row in sorted(warehouse.rows(table), key=repr):
            keyed.setdefault((row[cluster], row[key]), []).append(repr(row))
    return found


def verdicts(warehouse: Warehouse) -> dict[str, int]:
    """How many rows of each table of verdicts the last run has added."""
    run, rows = warehouse.last_run()["run_id"], Published(warehouse).rows
    return {name: rows(f"SELECT count(*) AS n FROM {name} WHERE run_id = '{run}'")[0]["n"] for name in VERDICTS}  # noqa: S608


def changed(before: Keyed, after: Keyed) -> set[tuple[str, str]]:
    """The keys whose rows are others now."""
    return {key for key in before | after if before.get(key) != after.get(key)}


@pytest.mark.parametrize("where", ["source_node LIKE 'g1-%'", "source_node = 'g2-n0'", "source_node NOT LIKE 'g1-%'"])
def test_every_row_that_a_night_changes_passes_the_gates(
    nights: tuple[Nights, Warehouse], gates: list[tuple[Written | None, list[Check]]], where: str
) -> None:
    landing, warehouse = nights
    before = rows(warehouse)
    landing.land(2, where)
    replay(LocalEngine(cores=1), warehouse)
    ((written, checks),) = gates
    assert written is not None
    counted = {one.table: one.rows for one in checks}
    for table, after in rows(warehouse).items():
        updated, seen = changed(before[table], after), written[table]
        assert all(key in seen.keys or key[0] in seen.clusters for key in updated), table
        inside = [key for key in after if key in seen.keys or key[0] in seen.clusters]
        assert counted[table] == sum(len(after[key]) for key in inside), table
    assert counted["facts"] > 0
    assert counted | verdicts(warehouse) == counted
    assert sum(verdicts(warehouse).values()) > 0


def spoiling(judge_all: Callable[..., Written], group: str) -> Callable[..., Written]:
    """``judge_all``, but a row of a group stands twice afterwards."""

    def spoil(work: Any) -> Written:
        written = judge_all(work)
        table = "role_intervals"
        [row, *_] = sorted(
            (row for row in work.warehouse.rows(table) if row["replica_group"] == group),
            key=lambda row: str(row["run_id"]),
            reverse=True,
        )
        twin = pa.Table.from_pylist([row], TABLES[table].arrow_schema())
        by_the_run = CommitProperties(custom_metadata={NOTE: work.plan.run_id})
        write_deltalake(work.warehouse.location(table), twin, mode="append", commit_properties=by_the_run)
        work.warehouse.unpin(table)
        return written

    return spoil


@pytest.mark.parametrize(("group", "held"), [("G1", ("c0",)), ("G3", ())])
def test_a_wrong_row_is_stopped_where_the_night_wrote_and_found_elsewhere_by_a_whole_validation(
    nights: tuple[Nights, Warehouse], monkeypatch: pytest.MonkeyPatch, group: str, held: tuple[str, ...]
) -> None:
    landing, warehouse = nights
    landing.land(2, "source_node LIKE 'g1-%'")
    judge_all = election_replay.jobs.replay.judge_all
    monkeypatch.setattr(election_replay.jobs.replay, "judge_all", spoiling(judge_all, group))
    assert replay(LocalEngine(cores=1), warehouse).held == held
    assert blocked_clusters(check(warehouse, JUDGED), ["c0"]) == (set() if held else {"c0"})
