"""``whois``: the member, group, finding or run that an id stands for, and ids in a text replaced by names."""

import io

import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.whois import Member, translated
from election_replay.jobs.warehouse.warehouse import Warehouse


def said(capsys: pytest.CaptureFixture[str], warehouse: str, name: str) -> list[str]:
    assert main(["whois", "--warehouse", warehouse, name]) == 0
    return capsys.readouterr().out.splitlines()


def test_an_address_and_its_folder_name_one_member(cut_off: str, capsys: pytest.CaptureFixture[str]) -> None:
    [address] = [
        row["address"]
        for row in Published(Warehouse(cut_off)).rows(
            "SELECT DISTINCT address FROM events WHERE node = '1' AND replica_group = 'bs-orders' "
            "AND address IS NOT NULL"
        )
    ]
    by_address, by_folder = said(capsys, cut_off, address), said(capsys, cut_off, "broker-1")
    assert by_address[0] == by_folder[0]
    assert by_folder[0].startswith("1 is a member of bs-orders in master-cut-off; its logs are in folder broker-1; ")
    assert said(capsys, cut_off, address.partition(":")[0])[0] == by_address[0]


def test_a_group_a_finding_and_a_run_are_told(cut_off: str, capsys: pytest.CaptureFixture[str]) -> None:
    published = Published(Warehouse(cut_off))
    finding = published.rows("SELECT finding_id FROM findings WHERE rule = 'SPLIT_BRAIN_OVERLAP'")[0]["finding_id"]
    assert said(capsys, cut_off, "bs-orders")[0] == "bs-orders is a replica group of cluster master-cut-off"
    assert "critical SPLIT_BRAIN_OVERLAP in bs-orders of master-cut-off" in said(capsys, cut_off, finding[:8])[0]
    assert said(capsys, cut_off, published.run["run_id"])[0].endswith("is a run of the pipeline: published")


def test_what_nobody_is_called_is_said(cut_off: str, capsys: pytest.CaptureFixture[str]) -> None:
    [line] = said(capsys, cut_off, "nobody-at-all")
    assert line.startswith("No member, group, client, finding or run is called nobody-at-all.")


def test_the_beginning_of_an_id_is_enough_if_it_is_long_enough() -> None:
    member = Member("c", "g", "6c0e5a2d263cd46c", "m1", ("10.0.0.1:2380",))
    assert member.is_called("6c0e5")
    assert not member.is_called("6c0")
    assert member.is_called("10.0.0.1")
    assert not member.is_called("10.0.0")


def test_only_whole_ids_become_names() -> None:
    names = {"6c0e5a2d263cd46c": "m1", "10.0.0.1:2380": "m1", "1": "never"}
    text = "6c0e5a2d263cd46c lost 10.0.0.1:2380; 110.0.0.1:2380 and 6c0e5a2d263cd46c0 stay, 1 too\n"
    assert translated(text, names) == "m1 lost m1; 110.0.0.1:2380 and 6c0e5a2d263cd46c0 stay, 1 too\n"
    assert translated(text, {}) == text


def test_a_text_from_standard_input_gets_names(
    cut_off: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    [row] = Published(Warehouse(cut_off)).rows(
        "SELECT addresses[1] AS address FROM identities WHERE source_node = 'broker-3' AND addresses IS NOT NULL"
    )
    monkeypatch.setattr("sys.stdin", io.StringIO(f"master is {row['address']} now\n"))
    assert main(["whois", "--warehouse", cut_off, "--translate"]) == 0
    assert capsys.readouterr().out == "master is broker-3 now\n"


def test_an_id_or_a_text_is_needed(cut_off: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whois", "--warehouse", cut_off]) == 2
    assert "give an id or a name" in capsys.readouterr().err
