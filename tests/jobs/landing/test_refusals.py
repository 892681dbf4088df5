"""A nightly run reads no file whose order or mixture would make it say what is false, and refuses no log of one server."""

import shutil
from pathlib import Path

import pytest

from election_replay.election_core.dialects import named
from election_replay.jobs.cli.app import main
from election_replay.jobs.landing.landing_zone import open_landing
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.plan import head_found
from election_replay.jobs.landing.refusals import mixed, newest_first
from election_replay.jobs.settings.config import Config

MAILED = Path(__file__).parents[2] / "mailed"


def refused(root: Path) -> dict[str, str | None]:
    """Why each log below a folder is refused."""
    zone, found = open_landing(str(root)), {}
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        file = LogFile(path.relative_to(root).as_posix(), "c", "n", path.stat().st_size, None)
        data = path.read_bytes()[: 1 << 16]
        dialect = named(head_found(file, data, Config()).dialect)
        found[file.path] = (newest_first(data) if dialect else None) or mixed(file, dialect, zone)
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


def test_a_restart_without_its_first_lines_is_of_the_same_server(corpora: Path, tmp_path: Path) -> None:
    """A server that logs warnings only prints no line when it starts."""
    log = next((corpora / "redis-sentinel/kill-master/nodes").glob("redis-1/logs/*.log"))
    lines = [line for line in log.read_text().splitlines(keepends=True) if "oO0OoO0OoO0Oo" not in line]
    (tmp_path / "redis-6379.log").write_text("".join(lines))
    assert len({line.partition(":")[0] for line in lines}) > 1, "two processes wrote it"
    assert {*refused(tmp_path).values()} == {None}
