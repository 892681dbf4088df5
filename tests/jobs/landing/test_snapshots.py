"""Metadata snapshots are landed once, as records that add up."""

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest

from election_replay.jobs.landing.ledger import NOTHING_LANDED
from election_replay.jobs.landing.listing import log_files
from election_replay.jobs.landing.new_files import unseen
from election_replay.jobs.landing.plan import tasks_of
from election_replay.jobs.settings.config import Config
from tests.jobs.zone import Zone, leads, rows_of, stored

CONFIG = Config()
OFFSETS = '{"dataVersion":{"counter":2,"stateVersion":0,"timestamp":5},"offsetTable":{"t@g":{0:66,1:65}}}'


def put(zone: Zone, name: str, data: str | bytes, taken: str = "20260301T090000Z") -> Path:
    path = zone.logs.parent / "metadata" / taken / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def land(zone: Zone) -> dict[str, list[dict[str, Any]]]:
    """Land logs and snapshots that are new; the rows that this made."""
    landed = zone.tables["landed_files"]
    files = unseen(log_files(str(zone.root), CONFIG.layout, CONFIG.metadata_layout), landed)
    made: dict[str, list[dict[str, Any]]] = {name: [] for name in zone.tables}
    ledger, batch = stored("landed_files", landed), 1 + max((row["batch"] for row in landed), default=0)
    for task in tasks_of(files, ledger, str(zone.root), CONFIG, batch):
        for table, row in rows_of(task, zone.root):
            made[table].append(row)
    for table, rows in made.items():
        zone.tables[table] += rows
    return made


def counts(row: dict[str, Any]) -> tuple[int, ...]:
    return row["lines_total"], row["lines_event"], row["lines_ignored"], row["lines_quarantined"]


def test_each_record_is_a_line(zone: Zone) -> None:
    put(zone, "consumerOffset.json", OFFSETS)
    made = land(zone)
    (row,) = made["landed_files"]
    assert counts(row) == (3, 3, 0, 0)
    assert row["stream"] == "20260301T090000Z/consumerOffset.json"
    assert row["file_time"] == made["events"][0]["event_time"]
    assert [event["queue_offset"] for event in made["events"]] == [None, 66, 65]
    assert [line["text"] for line in made["log_lines"]][1:] == [
        "offsetTable t@g queue 0 = 66",
        "offsetTable t@g queue 1 = 65",
    ]
    assert len({event["event_id"] for event in made["events"]}) == 3


def test_a_file_of_no_interest_is_one_ignored_line_and_a_broken_one_one_in_quarantine(zone: Zone) -> None:
    put(zone, "myid", "1")
    put(zone, "consumerOffset.json", OFFSETS[:-2])
    put(zone, "consumerOffset.json.bak", OFFSETS)
    put(zone, "topics.json", "")
    put(zone, "delayOffset.json.gz", gzip.compress(OFFSETS.encode())[:20])
    made = land(zone)
    found = {row["path"].rpartition("/")[2]: counts(row) for row in made["landed_files"]}
    assert found == {
        "myid": (1, 0, 1, 0),
        "consumerOffset.json": (1, 0, 0, 1),
        "consumerOffset.json.bak": (1, 0, 1, 0),
        "topics.json": (1, 0, 0, 1),
        "delayOffset.json.gz": (1, 0, 0, 1),
    }
    reasons = " ".join(row["reason"] for row in made["quarantine"])
    assert "breaks off" in reasons
    assert "empty" in reasons
    assert "damaged" in reasons
    assert not made["events"]


def test_the_same_snapshot_lands_once_wherever_it_lies(zone: Zone) -> None:
    path = put(zone, "consumerOffset.json", OFFSETS)
    first = land(zone)
    assert not land(zone)["landed_files"]
    copied = zone.root / "again" / "c1" / "nodes" / "n1" / "metadata" / path.parent.name / (path.name + ".gz")
    copied.parent.mkdir(parents=True)
    copied.write_bytes(gzip.compress(path.read_bytes()))
    shutil.rmtree(zone.root / "c1")
    again = land(zone)
    assert [row["status"] for row in again["landed_files"]] == ["seen_before"]
    assert not again["events"]
    other = Zone(zone.root.parent / "other")
    put(other, "consumerOffset.json", OFFSETS)
    ids = [event["event_id"] for event in first["events"]]
    assert [event["event_id"] for event in land(other)["events"]] == ids


@pytest.mark.parametrize("taken", ["99991231T235959Z", "19691231T235959Z", "20261399T020000Z"])
def test_an_absurd_time_is_in_quarantine_and_the_others_land(zone: Zone, taken: str) -> None:
    put(zone, "consumerOffset.json", OFFSETS, taken=taken)
    put(zone, "consumerOffset.json", OFFSETS)
    made = land(zone)
    assert [row["reason"] for row in made["quarantine"]] == [f"{taken} is no possible time"]
    assert len(made["events"]) == 3
    assert not land(zone)["landed_files"]


def test_other_times_and_other_contents_are_other_snapshots(zone: Zone) -> None:
    put(zone, "consumerOffset.json", OFFSETS)
    put(zone, "consumerOffset.json", OFFSETS, taken="20260301T090010Z")
    assert len(land(zone)["events"]) == 6
    put(zone, "consumerOffset.json", OFFSETS.replace("66", "67890"))
    assert [event["queue_offset"] for event in land(zone)["events"]] == [None, 67890, 65]
    assert len({event["event_id"] for event in zone.tables["events"]}) == 9


@pytest.mark.parametrize("name", ["consumerOffset.json", "topics.json", "myid"])
def test_a_snapshot_that_is_copied_while_it_is_empty_and_then_full_is_two_that_add_up(zone: Zone, name: str) -> None:
    for content in ("", OFFSETS[:50], OFFSETS):
        put(zone, name, content)
        assert [row["status"] for row in land(zone)["landed_files"]] == ["landed"]
    rows = zone.tables["landed_files"]
    assert len({row["fingerprint"] for row in rows}) == len(rows) == 3
    assert all(row["lines_total"] == row["lines_landed"] for row in rows)
    assert not land(zone)["landed_files"]


def test_snapshots_are_landed_beside_logs(zone: Zone) -> None:
    zone.write("broker.log", leads(1))
    put(zone, "consumerOffset.json", OFFSETS)
    put(zone, "loose.json", OFFSETS, taken="no-time")
    streams = {row["stream"]: row["lines_event"] for row in land(zone)["landed_files"]}
    assert streams == {"broker.log": 1, "20260301T090000Z/consumerOffset.json": 3, "no-time/loose.json": 0}


@pytest.mark.parametrize("name", ["consumerOffset.json", "myid"])
def test_a_file_that_is_gone_before_it_is_read_waits(zone: Zone, name: str) -> None:
    path = put(zone, name, OFFSETS)
    files = log_files(str(zone.root), CONFIG.layout, CONFIG.metadata_layout)
    path.unlink()
    tasks = tasks_of(files, NOTHING_LANDED, str(zone.root), CONFIG, 1)
    rows = [row for task in tasks for row in rows_of(task, zone.root)]
    assert not [row for row in rows if row[0] != "landed_files"]
