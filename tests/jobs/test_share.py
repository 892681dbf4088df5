"""``look --share``: a redacted folder with the same verdict, and a list of names that stays at home."""

import json
from pathlib import Path

import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.share import Redaction, _kept

EXAMPLE = Path(__file__).parents[2] / "examples" / "landing" / "master-cut-off"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("share") / "out"
    assert main(["look", str(EXAMPLE), "--share", str(out)]) == 0
    return out


def test_no_name_and_no_address_is_left(shared: Path) -> None:
    replaced = json.loads(shared.with_name("out.names.json").read_text())
    left = [
        f"{path}: {name}"
        for path in shared.rglob("*")
        for name in replaced
        if name in path.name or (path.is_file() and f"{name}:" in path.read_text())
    ]
    assert {"bs-orders", "broker-1"} <= set(replaced)
    assert any(name.count(".") == 3 for name in replaced)
    assert not left


def test_it_is_smaller_and_judged_alike(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def size(folder: Path) -> int:
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

    assert size(shared) < size(EXAMPLE)
    capsys.readouterr()
    assert main(["look", str(shared)]) == 0
    assert "critical (definite) SPLIT_BRAIN_OVERLAP" in capsys.readouterr().out


def test_what_is_there_is_not_overwritten(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And said before anything is looked at."""
    assert main(["look", str(EXAMPLE), "--share", str(shared)]) == 1
    told = capsys.readouterr()
    assert "is there already" in told.err
    assert not told.out


def test_names_are_replaced_whole_and_everywhere_alike() -> None:
    redaction = Redaction({"orders": "topic1", "db-7": "node1"})
    text = redaction.of("db-7 10.1.2.3:80 http://db-7.corp/x orders preorders a.b@corp.example password=x 127.0.0.1")
    assert text == redaction.of(
        "db-7 10.1.2.3:80 http://db-7.corp/x orders preorders a.b@corp.example password=x 127.0.0.1"
    )
    assert "node1 10.254.0." in text
    assert " topic1 preorders " in text
    assert "corp" not in text
    assert "password=***" in text
    assert text.endswith("127.0.0.1")


def test_one_line_a_second_shows_that_a_process_lived() -> None:
    lines = ["10:00:00 a", "10:00:00 b", "10:00:01 event", "\tat Trace", "10:00:01 c", "10:00:02 d", "\tat Trace"]
    assert [*_kept(lines, {3})] == ["10:00:00 a", "10:00:01 event", "\tat Trace", "10:00:01 c", "10:00:02 d"]
