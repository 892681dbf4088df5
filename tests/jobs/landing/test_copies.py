"""Copies of a log that lie beside it under names that are no log's own: what shippers, editors and people leave."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.in_process import judged
from election_replay.election_core.model.rows import Finding
from election_replay.jobs.landing.listing import log_files
from election_replay.jobs.landing.new_files import unseen
from tests.jobs.zone import Zone, leads, noise

EXAMPLES = Path(__file__).parents[3] / "examples" / "landing"
LOG = "".join(leads(2 * at, term=at + 1) + noise(2 * at + 1) for at in range(20))
MORE = "".join(leads(100 + 2 * at, term=at + 50) + noise(101 + 2 * at) for at in range(5))
NAMES = [
    *("broker.log.bak", "broker.log.old", "broker.log~", "broker (1).log", "copy-of-broker.log", "broker.log.tmp"),
    *(".broker.log.Ab12xZ", "broker.log.filepart", "broker.log.5D9f3c1A", "broker.log._COPYING_"),
]
"""What editors, people, rsync, WinSCP, the command line of S3 and HDFS call a file, for a while or for ever."""


@pytest.fixture
def zone(tmp_path: Path) -> Zone:
    return Zone(tmp_path / "zone")


def told(zone: Zone) -> list[tuple[str, int]]:
    """Streams and terms of the events."""
    rows = [row for row in zone.tables["events"] if row["kind"] != "TICK"]
    return sorted((row["stream"], row["term"]) for row in rows)


def statuses(made: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    return {Path(row["path"]).name: row["status"] for row in made["landed_files"]}


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_beside_its_original_says_nothing_twice(zone: Zone, name: str) -> None:
    zone.write("broker.log", LOG)
    zone.write(name, LOG[: len(LOG) // 2] if name.startswith(".") else LOG)
    found = zone.land()["landed_files"]
    assert sorted(row["status"] for row in found) == ["landed", "older_copy" if name.startswith(".") else "seen_before"]
    assert told(zone) == [("broker.log", term) for term in range(1, 21)]
    assert not any(zone.land().values())


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_that_comes_later_lands_nothing(zone: Zone, name: str) -> None:
    zone.write("broker.log", LOG)
    zone.land()
    zone.write(name, LOG)
    zone.append("broker.log", MORE)
    assert statuses(zone.land()) == {"broker.log": "grown", name: "older_copy"}
    assert told(zone) == [("broker.log", term) for term in (*range(1, 21), *range(50, 55))]
    landed = zone.tables["landed_files"]
    assert unseen(log_files(str(zone.root), zone.config.layout), landed) == []


def test_a_copy_that_is_landed_before_its_original_stands_for_it(zone: Zone) -> None:
    """rsync was at work while a landing ran: what it had written by then lands once, under the name that it had."""
    part = zone.write(".broker.log.Ab12xZ", LOG[: len(LOG) // 2])
    zone.land()
    part.unlink()
    zone.write("broker.log", LOG)
    zone.land()
    assert [term for _, term in told(zone)] == list(range(1, 21))


def test_logs_with_names_of_their_own_stay_apart_however_they_begin(zone: Zone) -> None:
    zone.write("broker.log", LOG)
    zone.write("controller.log", LOG)
    zone.land()
    assert {stream for stream, _ in told(zone)} == {"broker.log", "controller.log"}


def test_copies_of_whole_clusters_change_no_finding(tmp_path: Path) -> None:
    for run in sorted(EXAMPLES.iterdir()):
        shutil.copytree(run, tmp_path / run.name)
        before = {row.summary for row in judged(tmp_path / run.name) if isinstance(row, Finding)}
        for file in sorted((tmp_path / run.name).glob("nodes/*/logs/**/*.log")):
            shutil.copy(file, file.with_name(f"{file.name}.bak"))
        assert {row.summary for row in judged(tmp_path / run.name) if isinstance(row, Finding)} == before
