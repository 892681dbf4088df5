"""A file that went back to a beginning of itself and goes on differently, as on a machine that was restored."""

import random
from typing import Any

import pytest

from election_replay.jobs.landing.blocks import MARKS
from election_replay.schemas import TABLES
from tests.jobs.landing.test_landing import lines_landed
from tests.jobs.zone import Zone, leads, noise

OLD = [leads(s, term=s) if s % 3 else noise(s) for s in range(1, 701)]
NEW = [leads(s, term=10_000 + s) for s in range(2_000, 2_101)]


def terms(zone: Zone) -> list[int]:
    """The terms that are told, in program order."""
    order = sorted(
        (row for row in zone.tables["events"] if row["term"] is not None),
        key=lambda row: (row["file_time"], row["fingerprint"], row["line_no"]),
    )
    return [row["term"] for row in order]


def told(lines: list[str]) -> list[int]:
    return [int(one.rpartition(" ")[2]) for one in lines if "Leader" in one]


def balanced(zone: Zone) -> None:
    """What the gates ask of landed_files: counts add up, and no landing is missing; no event comes twice."""
    ids = [row["event_id"] for row in zone.tables["events"]]
    assert len(ids) == len(set(ids))
    files: dict[str, list[dict[str, Any]]] = {}
    for row in zone.tables["landed_files"]:
        assert row["lines_total"] == row["lines_event"] + row["lines_ignored"] + row["lines_quarantined"]
        files.setdefault(row["fingerprint"], []).append(row)
    for rows in files.values():
        shared = max(row["lines_shared"] or 0 for row in rows)
        assert sum(row["lines_total"] for row in rows) + shared == max(row["lines_landed"] for row in rows)
    assert "lines_shared" in next(
        one.failing for one in TABLES["landed_files"].expectations if one.name == "no_landing_is_missing"
    )


@pytest.mark.parametrize("back", [1, 20, 200, 256, 699])
def test_what_is_new_lands_and_hardly_a_line_twice(zone: Zone, back: int) -> None:
    """No more twice than lie between two marks: a file of 700 lines has a mark every 32 lines."""
    zone.write("broker.log", "".join(OLD))
    zone.land()
    zone.write("broker.log", "".join(OLD[:back] + NEW[: min(100, 699 - back)]))
    made = zone.land()
    new = len(NEW[: min(100, 699 - back)])
    if new:
        [row] = made["landed_files"]
        assert row["status"] == "landed"
        assert new <= row["lines_total"] <= new + 2 * len(OLD) // MARKS
        assert row["lines_landed"] == back + new
        assert (row["lines_shared"] or 0) == back + new - row["lines_total"]
    else:
        assert [(row["status"], row["lines_total"]) for row in made["landed_files"]] == [("older_copy", 0)]
        assert made["landed_files"][0]["bytes_waiting"] > 0, "it may be a copy under way"
        [row] = zone.land()["landed_files"]
        assert 0 < row["lines_total"] <= 2 * len(OLD) // MARKS
    assert {10_000 + s for s in range(2_000, 2_000 + new)} <= set(terms(zone))
    balanced(zone)
    assert not any(zone.land().values())


def test_where_a_landing_ended_not_a_line_comes_twice(zone: Zone) -> None:
    zone.write("broker.log", "".join(OLD[:200]))
    zone.land()
    zone.write("broker.log", "".join(OLD))
    zone.land()
    zone.write("broker.log", "".join(OLD[:200] + NEW[:100]))
    zone.land()
    assert lines_landed(zone) == 800
    assert terms(zone) == told(OLD + NEW[:100]), "in the order in which they were written"
    balanced(zone)


@pytest.mark.parametrize("seed", range(12))
def test_a_restored_file_goes_on_night_by_night(zone: Zone, seed: int) -> None:
    """Small files, whose every line has its mark: nothing is lost, nothing lands twice, whatever happens when."""
    chance = random.Random(seed)
    lines: list[str] = [leads(0)]
    said, second = [leads(0)], 1
    for _ in range(8):
        zone.write("broker.log", "".join(lines))
        zone.land()
        if chance.random() < 0.5:
            lines = lines[: chance.randint(1, len(lines))]
        for _ in range(chance.randint(0, 3)):
            said.append(leads(second, term=second))
            lines.append(said[-1])
            second += 1
        if chance.random() < 0.2:
            (zone.logs / "broker.log").rename(zone.logs / f"broker.{second}.log")
    zone.write("broker.log", "".join(lines))
    zone.land()
    assert terms(zone) == told(said)
    assert lines_landed(zone) == len(said)
    balanced(zone)
    assert not any(zone.land().values())


def test_when_it_is_longer_than_ever_it_is_still_the_one_that_was_restored(zone: Zone) -> None:
    zone.write("broker.log", "".join(OLD[:30]))
    zone.land()
    zone.write("broker.log", "".join(OLD[:10] + NEW[:5]))
    zone.land()
    zone.write("broker.log", "".join(OLD[:10] + NEW))
    made = zone.land()
    assert [(row["status"], row["lines_total"]) for row in made["landed_files"]] == [("grown", 96)]
    assert made["landed_files"][0]["file_time"] == made["events"][0]["file_time"]
    assert lines_landed(zone) == 30 + len(NEW)
    balanced(zone)


def test_a_restored_file_that_only_went_back_lands_nothing(zone: Zone) -> None:
    zone.write("broker.log", "".join(OLD[:30]))
    zone.land()
    for back in (20, 5, 29):
        zone.write("broker.log", "".join(OLD[:back]))
        assert [(row["status"], row["lines_total"]) for row in zone.land()["landed_files"]] == [("older_copy", 0)]


HALF = sum(map(len, OLD[:301])) - 7
"""So many bytes of a file end in the middle of its line 301."""


@pytest.mark.parametrize("copied", [HALF, sum(map(len, OLD[:300]))])
def test_a_copy_under_way_waits_and_is_whole_at_the_next_landing(zone: Zone, copied: int) -> None:
    """copytruncate: the file itself is empty and goes on with new lines while its copy is written."""
    whole = "".join(OLD)
    zone.write("broker.log", whole)
    zone.land()
    zone.write("broker.log", NEW[0])
    zone.write("broker.log.1", whole[:copied])
    zone.land()
    zone.write("broker.log", "".join(NEW[:50]))
    zone.write("broker.log.1", whole)
    zone.land()
    assert sorted(terms(zone)) == sorted(told(OLD + NEW[:50]))
    balanced(zone)
    assert not any(zone.land().values())


def test_a_file_that_is_copied_anew_under_its_own_name_waits_too(zone: Zone) -> None:
    whole = "".join(OLD + NEW)
    zone.write("broker.log", "".join(OLD))
    zone.land()
    zone.write("broker.log", whole[:HALF])
    assert [row["status"] for row in zone.land()["landed_files"]] == ["older_copy"]
    zone.write("broker.log", whole)
    zone.land()
    assert terms(zone) == told(OLD + NEW)
    balanced(zone)


def test_a_file_that_stays_shorter_waits_no_second_time(zone: Zone) -> None:
    """It goes on from one night to the next: it is no copy under way, but a machine that was restored."""
    zone.write("broker.log", "".join(OLD))
    zone.land()
    for count, status in ((1, "older_copy"), (2, "landed"), (3, "grown")):
        zone.write("broker.log", "".join(OLD[:300] + NEW[:count]))
        assert [row["status"] for row in zone.land()["landed_files"]] == [status]
    assert told(NEW[:3]) == terms(zone)[-3:]
    balanced(zone)


@pytest.mark.parametrize("name", ["broker.log.1", "broker.2026-03-01.log"])
def test_half_a_line_at_the_end_of_a_rolled_file_is_no_line(zone: Zone, name: str) -> None:
    """A shipper copies it while the landing reads: ``term 12`` is half there."""
    line = leads(1, term=12)
    zone.write(name, leads(0) + line[: line.rindex("2")])
    zone.land()
    zone.write(name, leads(0) + line + leads(2, term=13))
    zone.land()
    assert terms(zone) == told([leads(0), line, leads(2, term=13)])
    assert not zone.tables["quarantine"]
    balanced(zone)


def test_what_an_older_release_landed_has_no_marks_and_stays_an_older_copy(zone: Zone) -> None:
    zone.write("broker.log", "".join(OLD[:30]))
    zone.land()
    for row in zone.tables["landed_files"]:
        row["marks"] = None
    zone.write("broker.log", "".join(OLD[:10]))
    assert [row["status"] for row in zone.land()["landed_files"]] == ["older_copy"]


def test_marks_are_few_and_the_same_for_any_blocks(zone: Zone, monkeypatch: pytest.MonkeyPatch) -> None:
    zone.write("broker.log", "".join(OLD))
    [row] = zone.land()["landed_files"]
    lines = [int(mark.split(":")[1]) for mark in row["marks"].split()]
    assert lines == [*range(32, 700, 32), 700]
    other = Zone(zone.root.parent / "other")
    other.write("broker.log", "".join(OLD))
    monkeypatch.setattr("election_replay.jobs.landing.blocks.CHUNK_BYTES", 1_000)
    assert other.land()["landed_files"][0]["marks"] == row["marks"]
