"""What people say of findings, beside what is judged; and findings as regression cases."""

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from deltalake import DeltaTable

from election_replay.jobs import JobError
from election_replay.jobs.cli.app import main
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.land import land
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.reading.published import Published
from election_replay.jobs.replay import replay
from election_replay.jobs.review import case_of
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.tables import blank, finding, publish, put


@pytest.fixture
def marked(tmp_path: Path) -> str:
    """Two findings, of which nobody has said anything."""
    warehouse = blank(tmp_path / "w")
    put(warehouse, "findings", finding("aaa1", "LEADERLESS", 0, 5), finding("bbb2", "LOG_GAP", 1, 2))
    publish(warehouse)
    return warehouse.root


def marks(warehouse: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """The marks that hold."""
    capsys.readouterr()
    assert main(["review", "list", "--warehouse", warehouse, "--format", "json"]) == 0
    return list(json.loads(capsys.readouterr().out))


def test_the_last_mark_holds_and_none_is_lost(marked: str, capsys: pytest.CaptureFixture[str]) -> None:
    mark = ("review", "mark", "--warehouse", marked)
    versions = Warehouse(marked).versions()
    assert main([*mark, "aaa", "--as", "seen", "--by", "ann"]) == 0
    assert main([*mark, "aaa1", "--as", "false-alarm", "--note", "a drill", "--by", "bob"]) == 0
    assert main([*mark, "bbb", "--as", "ticket", "--ticket", "OPS-1"]) == 0
    shown = [
        (row["finding_id"], row["state"], row["ticket"], row["note"], row["found"]) for row in marks(marked, capsys)
    ]
    assert shown == [("aaa1", "false_alarm", None, "a drill", 1), ("bbb2", "ticket", "OPS-1", None, 1)]
    assert main([*mark, "aaa", "--as", "open"]) == 0
    assert [row["finding_id"] for row in marks(marked, capsys)] == ["bbb2"]
    assert len(Warehouse(marked).rows("reviews")) == 4
    now = Warehouse(marked).versions()
    assert {name for name in now if now[name] != versions.get(name)} == {"reviews"}, "a mark is no verdict"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("nix", "--as", "seen"), "no finding has an id that begins with nix"),
        (("aaa", "--as", "wrong"), "wrong is no mark: give one of seen, false_alarm, ticket, open"),
        (("aaa", "--as", "ticket"), "name the ticket"),
    ],
)
def test_a_mark_that_cannot_be_is_told_so(
    marked: str, given: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["review", "mark", "--warehouse", marked, *given]) == 1
    assert said in capsys.readouterr().err


def test_a_mark_outlives_its_finding(marked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "mark", "--warehouse", marked, "aaa", "--as", "seen"]) == 0
    warehouse = Warehouse(marked)
    DeltaTable(warehouse.location("findings")).delete("finding_id = 'aaa1'")
    publish(warehouse)
    shutil.rmtree(Path(warehouse.location("runs")))
    publish(warehouse)
    assert [(row["finding_id"], row["found"]) for row in marks(marked, capsys)] == [("aaa1", 0)]


def test_a_warehouse_of_an_earlier_release_reads_and_takes_marks(
    marked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(Path(marked, "side"))
    assert marks(marked, capsys) == []
    assert main(["review", "mark", "--warehouse", marked, "aaa", "--as", "seen"]) == 0
    assert [row["state"] for row in marks(marked, capsys)] == ["seen"]


@pytest.fixture(scope="module")
def judged(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """A real run with a split brain and lost messages."""
    zone, warehouse = tmp_path_factory.mktemp("zone"), Warehouse(str(tmp_path_factory.mktemp("w") / "warehouse"))
    shutil.copytree(corpora / "rocketmq-controller/master-cut-off/nodes", zone / "cut" / "nodes")
    with closing(LocalEngine(cores=1)) as engine:
        land(engine, new_files(str(zone), warehouse, Config()), str(zone), warehouse, Config())
        replay(engine, warehouse)
        yield warehouse


def test_a_case_is_small_shows_the_finding_and_tells_no_address(
    judged: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    published = Published(judged)
    [split] = published.rows("SELECT finding_id FROM findings WHERE rule = 'SPLIT_BRAIN_OVERLAP'")
    out = tmp_path / "case"
    arguments = ["review", "export", "--warehouse", judged.root, split["finding_id"], "--out", str(out), "--note", "x"]
    assert main(arguments) == 0
    assert "Read and judged again, the case shows the finding." in capsys.readouterr().out
    texts = [path.read_text("utf-8") for path in out.rglob("*.log")]
    assert 0 < sum(text.count("\n") for text in texts) < 60
    assert "addr-" in "".join(texts)
    assert not any("10.81.1." in text for text in texts)
    about = json.loads((out / "case.json").read_text("utf-8"))
    assert (about["rule"], about["severity"], about["note"]) == ("SPLIT_BRAIN_OVERLAP", "critical", "x")
    assert about["lines_before"] > 1000
    assert main(arguments) == 1
    assert "holds something already" in capsys.readouterr().err


def test_what_no_line_shows_is_not_exported(marked: str) -> None:
    with pytest.raises(JobError, match="do not show this finding"):
        case_of(Published(Warehouse(marked)), "aaa1")
