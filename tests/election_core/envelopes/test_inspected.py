"""``inspect`` looks behind envelopes, and says which they are and whose lines are in them."""

from pathlib import Path

import pytest

from election_replay.jobs.cli.learn import envelope_text
from election_replay.jobs.landing.inspection import inspect
from tests.election_core.envelopes.shippers import exported, shipped
from tests.jobs.zone import leads, noise

LINES = [
    text.rstrip() for at in range(8) for text in (leads(at, term=at + 1), noise(at), "\tat org.example.A.b(A.java:7)")
]


def test_envelope_nodes_and_numbers_are_told(tmp_path: Path) -> None:
    file = tmp_path / "0.log"
    rows = [*shipped("filebeat", LINES, "a", "/logs/broker.log"), *shipped("filebeat", LINES, "b", "/logs/broker.log")]
    file.write_text("\n".join([*rows, '{"message": "hal']) + "\n")
    found = inspect(str(file))
    assert (found.envelope, found.lines, dict(found.nodes)) == ("filebeat", 49, {"a": 24, "b": 24})
    assert found.kinds == {"DL_TO_LEADER": 16}
    assert [(one.line_no, one.reason) for one in found.quarantined] == [(49, found.quarantined[0].reason)]
    assert found.events[0].text == LINES[0]
    assert envelope_text(found) == "; in envelopes (filebeat) of a (24 lines), b (24 lines)"


@pytest.mark.parametrize("name", ["broker.log", "0.log", "journal.export"])
def test_an_export_is_inspected(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(
        exported(entry for at in range(0, len(LINES), 3) for entry in (LINES[at : at + 1], LINES[at + 1 : at + 3]))
    )
    found = inspect(str(file))
    assert found.envelope == "journal export"
    assert found.kinds == {"DL_TO_LEADER": 8}


def test_a_plain_file_came_in_nothing(tmp_path: Path) -> None:
    file = tmp_path / "broker.log"
    file.write_text("\n".join(LINES) + "\n")
    assert envelope_text(inspect(str(file))) == ""
