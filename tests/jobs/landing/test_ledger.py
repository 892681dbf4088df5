"""The ledger of landed files is asked for what the new files need; how long it is shows in no answer."""

from collections.abc import Iterator
from typing import Any

import pytest

from election_replay.jobs.landing import plan
from election_replay.jobs.landing.ledger import Ledger
from election_replay.jobs.landing.plan import hashes_at
from tests.jobs.zone import Zone, leads, noise


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The rows that the ledger gave out."""
    given: list[dict[str, Any]] = []

    class Counted(Ledger):
        def rows(self, openings: Any, columns: Any) -> Iterator[dict[str, Any]]:
            for row in super().rows(openings, columns):
                given.append(row)
                yield row

    monkeypatch.setattr(plan, "Ledger", Counted)
    return given


def rolled(zone: Zone, nights: int) -> None:
    """Land a whole new file each night; the log before lies beside it under another name."""
    for night in range(nights):
        zone.write("broker.log", noise(100 * night) + leads(100 * night + 1, night + 1))
        zone.land()
        (zone.logs / "broker.log").unlink()


def test_a_new_file_is_told_no_row_of_former_nights(zone: Zone, answered: list[dict[str, Any]]) -> None:
    rolled(zone, 12)
    assert len(zone.tables["landed_files"]) == 12
    assert answered == []


def test_a_grown_file_is_told_its_own_rows_alone(zone: Zone, answered: list[dict[str, Any]]) -> None:
    rolled(zone, 5)
    zone.write("broker.log", noise(1000))
    for night in range(3):
        answered.clear()
        zone.append("broker.log", leads(1001 + night, 9 + night))
        (row,) = zone.land()["landed_files"]
    assert row["status"] == "grown"
    assert [former["batch"] for former in answered] == [6, 7], "of seven rows those of its own two landings"


def test_a_file_without_a_dated_line_is_found_by_all_that_it_held(zone: Zone, answered: list[dict[str, Any]]) -> None:
    """Its head is another one, once it has a dated line; how long it was is known, and the hash of so many bytes."""
    rolled(zone, 5)
    zone.write("broker.log", "no date here\n")
    zone.land()
    zone.append("broker.log", noise(1000) + leads(1001, 9))
    (row,) = zone.land()["landed_files"]
    assert (row["status"], row["lines_total"], row["lines_landed"]) == ("grown", 2, 3)
    assert [former["batch"] for former in answered] == [6]


def test_a_file_that_merely_is_as_long_is_another_one(zone: Zone, answered: list[dict[str, Any]]) -> None:
    zone.write("broker.log", "no date here\n")
    zone.land()
    zone.write("broker.log", "no time here\n" + noise(1000) + leads(1001, 9))
    (row,) = zone.land()["landed_files"]
    assert (row["status"], row["lines_landed"]) == ("landed", 3)
    assert answered == []


def test_hashes_are_those_of_the_first_bytes() -> None:
    whole = hashes_at([1, 3, 5], b"abcd")
    assert whole == {length: hashes_at([length], b"abcd")[length] for length in (1, 3)}
    assert hashes_at([3], b"abcx")[3] == whole[3] != hashes_at([3], b"abxx")[3]
