"""What is hidden in plain files is hidden in envelopes: in names, in texts, and in what waits for the next landing."""

from pathlib import Path

import pytest

from election_replay.jobs.settings.config import ADDRESS, Config, Privacy
from tests.election_core.envelopes.shippers import SHIPPERS, exported, shipped
from tests.jobs.zone import Zone, leads, line

ADDRESSES = ("10.83.2.102", "10.83.2.7")


@pytest.fixture
def hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Zone:
    monkeypatch.setenv("ELECTION_REPLAY_SECRET_KEY", "0123456789abcdef")
    return Zone(tmp_path, Config(privacy=Privacy(hash=(ADDRESS,))))


def written() -> list[str]:
    told = line(0, f"Try to start service thread:X of {ADDRESSES[0]}:9876 started:false lastThread:null")
    return [text.rstrip("\n") for text in (told, leads(1), told, leads(2, term=2))]


def show_nothing(zone: Zone) -> None:
    said = repr(zone.tables)
    assert sum(row["kind"] != "TICK" for row in zone.tables["events"]) >= 2
    assert not any(address in said for address in ADDRESSES)


@pytest.mark.parametrize("shipper", SHIPPERS)
def test_no_address_is_kept(hidden: Zone, shipper: str) -> None:
    lines = shipped(shipper, written(), ADDRESSES[1], "/logs/broker.log")
    hidden.write("broker.log", "\n".join([*lines, lines[0][: len(lines[0]) - 3]]) + "\n")
    hidden.land()
    show_nothing(hidden)


@pytest.mark.parametrize("cut", [3, 40, 300, 500, 700])
def test_no_address_waits_for_the_rest_of_a_journal_entry(hidden: Zone, cut: int) -> None:
    data = exported([[text, f"at {ADDRESSES[0]}"] for text in written()], ADDRESSES[1])
    hidden.write("broker.log", data[: len(data) - cut])
    hidden.land()
    hidden.write("broker.log", data + exported([[leads(9, term=9).rstrip()]]))
    hidden.land()
    show_nothing(hidden)


def test_no_address_waits_in_a_piece_of_a_line(hidden: Zone) -> None:
    first = "\n".join(shipped("cri", written())) + f"\n2026-03-01T10:00:00.1Z stdout P of {ADDRESSES[0]}:9\n"
    hidden.write("broker.log", first)
    hidden.land()
    show_nothing(hidden)
