"""A nightly run reads no file whose order or mixture would make it say what is false, and refuses no log of one server."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from election_replay.election_core.dialects import named
from election_replay.jobs.cli.app import main
from election_replay.jobs.landing.landing_zone import open_landing
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.plan import head_found
from election_replay.jobs.landing.refusals import refusal
from election_replay.jobs.settings.config import Config

MAILED = Path(__file__).parents[2] / "mailed"


def refused(root: Path) -> dict[str, str | None]:
    """Why each log below a folder is refused."""
    zone, paths = open_landing(str(root)), sorted(path for path in root.rglob("*") if path.is_file())
    names, found = Counter(path.name for path in paths), {}
    for path in paths:
        file = LogFile(path.relative_to(root).as_posix(), "c", "n", path.stat().st_size, None)
        data = path.read_bytes()[: 1 << 16]
        found[file.path] = refusal(file, data, named(head_found(file, data, Config()).dialect), zone, names)
    return found


def nodes_of(run: Path, to: Path) -> dict[str, str]:
    """The logs of a run, copied as its nodes wrote them; their texts by node."""
    texts = {}
    for node in sorted((run / "nodes").iterdir()):
        shutil.copytree(node / "logs", to / node.name)
        texts[node.name] = "".join(path.read_text() for path in sorted(node.glob("logs/*.log")))
    return texts


def test_no_log_of_one_server_is_refused(corpora: Path, tmp_path: Path) -> None:
    runs = [run for system in ("redis-sentinel", "redis-cluster") for run in sorted((corpora / system).iterdir())]
    for run in runs:
        if (run / "nodes").is_dir():
            nodes_of(run, tmp_path / run.name)
            assert {*refused(tmp_path / run.name).values()} == {None}, run.name


@pytest.mark.parametrize("run", ["redis-sentinel/kill-master", "redis-cluster/kill-a-master"])
def test_servers_of_redis_in_one_file_are_refused(
    run: str, corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = nodes_of(corpora / run, tmp_path / "nodes")
    logs = tmp_path / "landing/c/nodes/n/logs"
    logs.mkdir(parents=True)
    (logs / "redis.log").write_text("".join(texts.values()))
    command = ["run", "--engine", "local", "--landing", str(tmp_path / "landing"), "--warehouse", str(tmp_path / "w")]
    assert main([*command, "--config", "none"]) == 4
    answer = capsys.readouterr().out
    assert f"it holds the lines of {len(texts)} servers or sentinels of Redis" in answer
    assert "findings: 0 critical, 0 warning, 0 info" in answer


def test_newest_lines_first_are_refused() -> None:
    found = refused(MAILED / "newest-first")
    assert [path for path, why in found.items() if why and "newest first" in why] == [*found]
    for layout in sorted((MAILED / "etcd-layout-matrix").iterdir()):
        assert {*refused(layout).values()} == {None}, layout.name
