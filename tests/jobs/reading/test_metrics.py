"""The metrics are OpenMetrics, and their numbers are those of the tables."""

import re
from pathlib import Path

import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.gates.checks import check, record
from election_replay.jobs.publish import move_pointer
from election_replay.jobs.publishing.runs import Judged
from election_replay.jobs.reading.metrics import escaped
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.gates.test_validate import EPOCH, finding, twice
from tests.jobs.tables import blank, name_published
from tests.jobs.zone import Zone, leads, noise

LINE = re.compile(r'election_replay_[a-z_]+(\{([a-z_]+="([^"\\]|\\.)*",?)+\})? -?\d+(\.\d+)?(e[+-]?\d+)?')


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """A published warehouse with a finding, a held cluster and an event that is there twice."""
    zone = Zone(tmp_path / "landing")
    zone.write("broker_default.log", leads(0) + noise(1))
    tables = blank(tmp_path / "w")
    for table, rows in zone.land().items():
        tables.append(rows, table)
    tables.append([finding("f1", [])], "findings")
    name_published(tables)
    twice("events")(tables)
    record(tables, check(tables))
    move_pointer(tables, Judged("r1", EPOCH, 1, (), ("c1",), "none", tables.versions()), ["c2"])
    return tables


def test_they_are_what_the_tables_say(warehouse: Warehouse, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["metrics", "--warehouse", warehouse.root]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "# EOF"
    samples = [line for line in said if not line.startswith("#")]
    assert all(LINE.fullmatch(line) for line in samples), samples
    assert "election_replay_held_clusters 1" in samples
    assert "election_replay_files_not_understood 0" in samples
    assert 'election_replay_findings{cluster="c1",severity="warning"} 1' in samples
    assert 'election_replay_lines{became="event"} 1' in samples
    assert "election_replay_findings_new 0" in samples
    assert 'election_replay_findings_open{cluster="c1",severity="warning"} 1' in samples
    assert any('expectation="one_row_a_key"' in line and line.endswith(" 1") for line in samples)
    assert any(line.startswith('election_replay_source_last_line_timestamp_seconds{cluster="c1"') for line in samples)

    out = tmp_path / "election_replay.prom"
    assert main(["metrics", "--warehouse", warehouse.root, "--out", str(out)]) == 0
    assert out.read_text().splitlines() == said


def test_labels_are_escaped() -> None:
    assert escaped('a"b\\c\nd') == 'a\\"b\\\\c\\nd'
