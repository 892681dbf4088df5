"""Nothing vanishes on the way in, nothing comes in twice, and the order of arrival changes nothing."""

import bz2
import gzip
import os
import random
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from election_replay.jobs.warehouse.table_sets import CARRIED
from election_replay.schemas import TABLES
from election_replay.schemas.findings import OF_RUNS
from tests.acceptance.published import OF_THE_RUN, Row, Warehouse, election_replay, replay, replay_in
from tests.conftest import Landing
from tests.proving import amount

if TYPE_CHECKING:
    from election_replay.jobs.engines.engine import Engine

pytestmark = pytest.mark.slow

OPENERS = {".gz": gzip.open, ".bz2": bz2.open}

SMALL = ("rocketmq-dledger/kill-leader-533", "rocketmq-controller/zombie-master")
"""Two small runs, one of each system."""

ENGINE = ("--engine", amount("local", "spark"))

JUDGED = tuple(
    table.path for table in TABLES.values() if table.layer == "gold" and table.name not in OF_THE_RUN | {*CARRIED}
)


def lines_of(path: Path) -> int:
    """The lines of a file, counted without any of the code under test."""
    with OPENERS.get(path.suffix, open)(path, "rb") as file:
        content = file.read()
    return content.count(b"\n") + (not content.endswith(b"\n") and content != b"")


def log_files(zone: Path) -> list[Path]:
    return sorted(path for path in zone.glob("*/nodes/*/logs/**/*") if path.is_file())


def snapshots(zone: Path) -> list[Path]:
    """Files of metadata snapshots: one folder a time, no further folders."""
    return sorted(path for path in zone.glob("*/nodes/*/metadata/*/*") if path.is_file())


def as_text(rows: Iterable[Row], without: tuple[str, ...] = ()) -> list[str]:
    """Rows as sorted texts, to compare whole tables."""
    return sorted(repr([(name, value) for name, value in row.items() if name not in without]) for row in rows)


def judged(warehouse: Warehouse) -> dict[str, list[str]]:
    """Every gold table that says something about groups, but for the columns that tell of runs and nights."""
    return {table: as_text(warehouse.rows(table), OF_RUNS) for table in JUDGED}


@pytest.fixture(scope="module")
def everything(corpora: Path, landing: Landing) -> Path:
    """Every fourth real run of all systems in one landing zone, and every one in `make prove`."""
    runs = sorted(corpora.glob("*/*/run.json"))[:: amount(4, 1)]
    return landing(f"{run.parent.parent.name}/{run.parent.name}" for run in runs)


@pytest.fixture(scope="module")
def landed(everything: Path, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    path = tmp_path_factory.mktemp("warehouse") / "everything"
    election_replay("land", "--landing", everything, "--warehouse", path, *ENGINE)
    return Warehouse(path)


def test_every_file_has_its_row(landed: Warehouse, everything: Path) -> None:
    rows = Counter(row["path"] for row in landed.newest("bronze/landed_files"))
    files = [*log_files(everything), *snapshots(everything)]
    assert rows == Counter(str(path.relative_to(everything)) for path in files)


def test_lines_add_up_for_every_file(
    landed: Warehouse, everything: Path, record_property: Callable[[str, object], None]
) -> None:
    record_property("lines counted", sum(row["lines_total"] for row in landed.newest("bronze/landed_files")))
    for row in landed.newest("bronze/landed_files"):
        parts = row["lines_event"] + row["lines_ignored"] + row["lines_quarantined"]
        assert row["lines_total"] == parts, row
        # A record of a snapshot counts as a line; only a log has lines that can be counted without its dialect.
        if row["status"] == "landed" and "/logs/" in row["path"]:
            waiting = 1 if row["bytes_waiting"] else 0
            assert row["lines_total"] + waiting == lines_of(everything / row["path"]), row


def test_every_event_and_every_bad_line_is_counted(landed: Warehouse) -> None:
    counted = {"silver/events": "lines_event", "bronze/quarantine": "lines_quarantined"}
    for table, column in counted.items():
        told: dict[str, int] = defaultdict(int)
        for row in landed.newest("bronze/landed_files"):
            told[row["cluster"]] += row[column]
        found = Counter(row["cluster"] for row in landed.newest(table, "cluster"))
        assert found == +Counter(told), table


@pytest.fixture(scope="module")
def at_once(engine: "Engine", landing: Landing, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The verdicts on the small runs, landed and judged in one go."""
    return judged(replay_in(engine, landing(SMALL), tmp_path_factory.mktemp("warehouse") / "at-once"))


def test_a_second_run_changes_nothing_and_one_more_file_adds_only_that(
    engine: "Engine", landing: Landing, tmp_path: Path, at_once: dict[str, list[str]]
) -> None:
    zone = landing(SMALL)
    late = zone / "kill-leader-533/nodes/n2/logs/rocketmqlogs/broker_default.log"
    aside = tmp_path / late.name
    shutil.move(late, aside)
    first = replay_in(engine, zone, tmp_path / "warehouse")
    before = judged(first)
    files, events = first.newest("bronze/landed_files"), first.newest("silver/events")

    again = replay_in(engine, zone, tmp_path / "warehouse")
    assert judged(again) == before
    assert as_text(again.newest("bronze/landed_files")) == as_text(files)
    assert again.manifest["run_id"] == first.manifest["run_id"]

    shutil.move(aside, late)
    more = replay_in(engine, zone, tmp_path / "warehouse")
    new = Counter(as_text(more.newest("bronze/landed_files"))) - Counter(as_text(files))
    assert len(new) == 1, new
    assert str(late.relative_to(zone)) in next(iter(new))
    added = Counter(as_text(more.newest("silver/events"))) - Counter(as_text(events))
    assert sum(added.values()) == len(more.newest("silver/events")) - len(events) > 0
    assert all("broker_default.log" in row and "kill-leader-533" in row for row in added)
    assert judged(more) == at_once


def settings(folder: Path, partitions: int) -> Path:
    """A settings file that differs from the defaults in the number of partitions only."""
    path = folder / f"pipeline-{partitions}.yaml"
    path.write_text(f"shuffle_partitions: {partitions}\n")
    return path


@pytest.mark.parametrize(("partitions", "seed"), amount([(16, "2")], [(1, "1"), (16, "2")]))
def test_partitions_and_hash_seeds_change_nothing(
    partitions: int, seed: str, landing: Landing, tmp_path: Path, at_once: dict[str, list[str]]
) -> None:
    config = settings(tmp_path, partitions)
    there = replay(landing(SMALL), tmp_path / "warehouse", "--config", config, *ENGINE, env={"PYTHONHASHSEED": seed})
    assert judged(there) == at_once


def test_the_order_of_arrival_changes_nothing(
    engine: "Engine", landing: Landing, tmp_path: Path, at_once: dict[str, list[str]]
) -> None:
    whole, growing = landing(SMALL), tmp_path / "growing"
    files = [*log_files(whole), *snapshots(whole)]
    random.Random(20261121).shuffle(files)
    for part in (files[: len(files) // 2], files[len(files) // 2 :]):
        for file in part:
            there = growing / file.relative_to(whole)
            there.parent.mkdir(parents=True, exist_ok=True)
            os.link(file, there)
        warehouse = replay_in(engine, growing, tmp_path / "shuffled")
    assert judged(warehouse) == at_once
