"""Secrets are masked in envelopes as they are in plain files: in texts, and in what waits for the next landing."""

from pathlib import Path

import pytest

from election_replay.jobs.landing.inspection import inspect
from tests.election_core.envelopes.shippers import SHIPPERS, exported, shipped
from tests.jobs.zone import Zone, leads, line

SECRET = "hunter2hunter2"  # noqa: S105 - nobody has it


def written() -> list[str]:
    """An event with a secret behind it, one in a line of no interest, and one in the last line, which is kept."""
    told = [leads(1), f"  secretKey={SECRET}", line(2, f"accessKey=ak, secretKey={SECRET}"), leads(3, term=2)]
    return [text.rstrip("\n") for text in (*told, line(4, f'the last: password="{SECRET}" and more'))]


def show_nothing(zone: Zone, events: int = 2) -> None:
    assert sum(row["kind"] != "TICK" for row in zone.tables["events"]) >= events
    assert SECRET not in repr(zone.tables)


@pytest.mark.parametrize("shipper", SHIPPERS)
def test_no_secret_is_kept(zone: Zone, shipper: str) -> None:
    lines = shipped(shipper, written(), "n7", "/logs/broker.log")
    zone.write("broker.log", "\n".join([*lines, lines[-1][: len(lines[-1]) - 3]]) + "\n")
    zone.land()
    show_nothing(zone)


@pytest.mark.parametrize("cut", [3, 40, 300, 500, 700])
def test_no_secret_waits_for_the_rest_of_a_journal_entry(zone: Zone, cut: int) -> None:
    data = exported([[text, f"secretKey={SECRET}"] for text in written()], "n7")
    zone.write("broker.log", data[: len(data) - cut])
    zone.land()
    assert SECRET not in repr(zone.tables)
    zone.write("broker.log", data + exported([[leads(9, term=9).rstrip()]]))
    zone.land()
    show_nothing(zone)


def test_no_secret_waits_in_a_piece_of_a_line(zone: Zone) -> None:
    first = "\n".join(shipped("cri", written())) + f"\n2026-03-01T10:00:00.1Z stdout P secretKey={SECRET}\n"
    zone.write("broker.log", first)
    zone.land()
    [row] = [one for one in zone.tables["landed_files"] if one["status"] == "landed"]
    assert "secretKey=***" in row["envelope_state"]
    show_nothing(zone)


@pytest.mark.parametrize("shipper", ["cri", "filebeat", "syslog 5424"])
def test_no_secret_is_shown_by_inspect(tmp_path: Path, shipper: str) -> None:
    file = tmp_path / "broker.log"
    file.write_text("\n".join(shipped(shipper, written(), "n7", "/logs/broker.log")) + "\n")
    found = inspect(str(file))
    assert found.kinds == {"DL_TO_LEADER": 2}
    assert SECRET not in repr(found)


def test_no_secret_is_told_of_a_file_that_is_not_understood(zone: Zone) -> None:
    zone.write("broker.log", f"17:00:01 secretKey={SECRET} [ChangeRoleToLeader] from term: 1\n" * 5)
    [row] = zone.land()["landed_files"]
    assert row["problem"].startswith("not understood: ")
    assert "secretKey=***" in row["problem"]
    found = inspect(str(zone.logs / "broker.log"))
    assert "secretKey=***" in str(found.misunderstood)
    assert SECRET not in repr(found.unread) + str(found.misunderstood)
