"""A run reads files that do not stand as they were written as a look does, and leaves alone those that do."""

import csv
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from election_replay.election_core.dialects import named
from election_replay.jobs.cli.app import main
from election_replay.jobs.landing import as_written
from election_replay.jobs.landing.as_written import disorder_of
from election_replay.jobs.landing.blocks import Blocks
from election_replay.jobs.landing.heads import head_found
from election_replay.jobs.landing.landing_zone import open_landing
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.reading.published import Published
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse

MAILED = Path(__file__).parents[2] / "mailed"


def put_right(root: Path) -> dict[str, str | None]:
    """How each log below a folder is put right."""
    zone, found = open_landing(str(root)), {}
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        file = LogFile(path.relative_to(root).as_posix(), "c", "n", path.stat().st_size, None)
        head = head_found(file, path.read_bytes()[: 1 << 16], Config())
        blocks = Blocks(zone, file.path, file.size)
        disorder = disorder_of(blocks, file, zone, named(head.dialect), head.envelope, beside=False)
        written = as_written.as_written(blocks, disorder) if disorder else None
        found[file.path] = written.put_right if written else None
    return found


def nodes_of(run: Path, to: Path) -> dict[str, str]:
    """The logs of a run, copied as its nodes wrote them; their texts by node."""
    texts = {}
    for node in sorted((run / "nodes").iterdir()):
        shutil.copytree(node / "logs", to / node.name)
        texts[node.name] = "".join(path.read_text() for path in sorted(node.glob("logs/*.log")))
    return texts


def run(texts: dict[str, str], at: Path, *, status: int = 0) -> Published:
    """What a run publishes of logs, by the path of each in its cluster."""
    for path, text in texts.items():
        (at / "landing/c" / path).parent.mkdir(parents=True, exist_ok=True)
        (at / "landing/c" / path).write_text(text)
    command = ["run", "--engine", "local", "--landing", str(at / "landing"), "--warehouse", str(at / "w")]
    assert main([*command, "--config", "none"]) == status
    return Published(Warehouse(str(at / "w")))


def overview(published: Published) -> list[tuple[object, ...]]:
    """The findings, without what names nodes."""
    return [
        tuple(row.values())
        for row in published.rows("SELECT rule, severity, certainty, start_time, end_time FROM findings ORDER BY ALL")
    ]


def test_no_log_of_one_server_is_taken_apart(corpora: Path, tmp_path: Path) -> None:
    runs = [run for system in ("redis-sentinel", "redis-cluster") for run in sorted((corpora / system).iterdir())]
    for at in runs:
        if (at / "nodes").is_dir():
            nodes_of(at, tmp_path / at.name)
            assert {*put_right(tmp_path / at.name).values()} == {None}, at.name


def test_a_restart_without_its_first_lines_is_of_the_same_server(corpora: Path, tmp_path: Path) -> None:
    """A server that logs warnings only prints no line when it starts."""
    log = next((corpora / "redis-sentinel/kill-master/nodes").glob("redis-1/logs/*.log"))
    lines = [line for line in log.read_text().splitlines(keepends=True) if "oO0OoO0OoO0Oo" not in line]
    (tmp_path / "redis-6379.log").write_text("".join(lines))
    assert len({line.partition(":")[0] for line in lines}) > 1, "two processes wrote it"
    assert {*put_right(tmp_path).values()} == {None}


@pytest.mark.parametrize("name", ["redis-sentinel/kill-master", "redis-cluster/kill-a-master"])
def test_servers_of_redis_in_one_file_give_what_their_own_files_give(name: str, corpora: Path, tmp_path: Path) -> None:
    texts = nodes_of(corpora / name, tmp_path / "copied")
    apart = run({f"nodes/{node}/logs/redis.log": text for node, text in texts.items()}, tmp_path / "apart")
    joined = run({"nodes/n/logs/redis.log": "".join(texts.values())}, tmp_path / "joined")
    assert overview(joined) == overview(apart) != []
    [row] = joined.rows("SELECT put_right FROM landed_files WHERE status = 'landed'")
    assert row["put_right"] == f"it holds the lines of {len(texts)} servers or sentinels of Redis: each is read apart"


def test_newest_lines_first_are_turned_in_any_layout(corpora: Path, tmp_path: Path) -> None:
    found = put_right(MAILED / "newest-first")
    assert [path for path, how in found.items() if how and "newest line comes first" in how] == [*found]
    for layout in sorted((MAILED / "etcd-layout-matrix").iterdir()):
        assert {*put_right(layout).values()} == {None}, layout.name
    logs = sorted((corpora / "etcd/kill-leader-35/nodes").glob("*/logs/*.log"))
    texts = {f"nodes/{log.parents[1].name}/logs/{log.name}": log.read_text() for log in logs}
    turned = {path: "".join(text.splitlines(keepends=True)[::-1]) for path, text in texts.items()}
    assert overview(run(turned, tmp_path / "turned")) == overview(run(texts, tmp_path / "written")) != []


def test_nothing_is_sure_in_lines_that_were_sorted(
    corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = sorted((corpora / "zookeeper").glob("chaos-372/nodes/*/logs/*"))
    texts = {f"nodes/{log.parents[1].name}/logs/{log.name}": log.read_text() for log in logs}
    found = run({path: "\n".join(sorted(text.splitlines())) for path, text in texts.items()}, tmp_path)
    assert {row[2] for row in overview(found)} <= {"possible"}
    assert "not read as they stand (table landed_files, column put_right):" in capsys.readouterr().out


def test_a_file_that_is_too_large_is_refused_with_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(as_written, "LARGEST", 1 << 10)
    path = next((MAILED / "newest-first").glob("*.log"))
    found = run({f"nodes/n/logs/{path.name}": path.read_text()}, tmp_path, status=4)
    [row] = found.rows("SELECT status, problem FROM landed_files")
    assert row["status"] == "not_read"
    assert "give it with the oldest first (tac FILE)" in row["problem"]
    assert "tac FILE" in capsys.readouterr().out


def test_what_a_file_gained_after_it_was_put_right_is_refused(tmp_path: Path) -> None:
    path = next((MAILED / "newest-first").glob("*.log"))
    found = run({f"nodes/n/logs/{path.name}": path.read_text()}, tmp_path)
    assert [row["put_right"] for row in found.rows("SELECT put_right FROM landed_files")] != [None]
    again = run({}, tmp_path)
    assert again.rows("SELECT * FROM landed_files WHERE status = 'not_read'") == []
    grown = path.read_text() + path.read_text().splitlines()[0] + "\n"
    rows = run({f"nodes/n/logs/{path.name}": grown}, tmp_path, status=4).rows("SELECT * FROM landed_files")
    assert [row["problem"] for row in rows if row["status"] == "not_read"] == [as_written.GREW]


def test_a_live_log_of_a_few_lines_out_of_order_stands_as_it_was_written(tmp_path: Path) -> None:
    lines = [f"2026-03-01 10:00:{second:02} INFO main - line" for second in range(7, 0, -1)]
    (tmp_path / "broker.log").write_text("".join(f"{line}\n" for line in lines))
    assert put_right(tmp_path) == {"broker.log": None}


def test_bytes_that_are_no_text_hinder_nobody(corpora: Path, tmp_path: Path) -> None:
    logs = [path.read_bytes() for path in sorted((corpora / "etcd/kill-leader-35/nodes").glob("*/logs/*.log"))]
    (tmp_path / "etcd.log").write_bytes(b"\xa7\xff no text\n".join(logs))
    assert put_right(tmp_path) == {"etcd.log": as_written.MEMBERS.format(len(logs))}


def with_headings(texts: dict[str, str]) -> str:
    """Logs pasted one behind the other, below the names of their nodes."""
    return "".join(f"### {node}\n```\n{text}```\n" for node, text in texts.items())


def as_table(texts: dict[str, str]) -> str:
    """A table as a log store exports it, with the newest line first."""
    out = io.StringIO()
    rows = [(line, node) for node, text in texts.items() for line in text.splitlines()]
    csv.writer(out).writerows(
        [("message", "host"), *sorted(rows, key=lambda row: json.loads(row[0])["ts"], reverse=True)]
    )
    return out.getvalue()


@pytest.mark.parametrize("export", [with_headings, as_table])
def test_an_export_gives_what_the_logs_in_it_give(
    export: Callable[[dict[str, str]], str], corpora: Path, tmp_path: Path
) -> None:
    texts = {
        log.parents[1].name: log.read_text() for log in (corpora / "etcd/kill-leader-35/nodes").glob("*/logs/*.log")
    }
    plain = run({f"nodes/{node}/logs/etcd.log": text for node, text in texts.items()}, tmp_path / "written")
    exported = run({"nodes/desk/logs/export.txt": export(dict(sorted(texts.items())))}, tmp_path / "exported")
    assert overview(exported) == overview(plain) != []
    [row] = exported.rows("SELECT put_right FROM landed_files WHERE status = 'landed'")
    assert row["put_right"]


def test_no_clock_was_surely_set_where_a_text_may_hold_several_logs(tmp_path: Path) -> None:
    """Warnings of two members, one below the other, name nobody; their times go back below the line between them."""
    line = (
        '{"level":"warn","ts":"2026-03-01T10:00:%02d.000Z","caller":"etcdserver/raft.go:387","msg":"leader failed to send '
        'out heartbeat on time; took too long, leader is overloaded likely from slow disk","to":"909467108eb72220"}'
    )
    lines = [
        *(line % second for second in range(20, 50)),
        "and the other one",
        *(line % second for second in range(30)),
    ]
    text = "\n".join(lines)
    found = run({"nodes/desk/logs/mail.txt": f"{text}\n"}, tmp_path)
    assert found.rows("SELECT certainty FROM findings WHERE rule = 'CLOCK_SKEW' AND certainty <> 'possible'") == []
    [row] = found.rows("SELECT put_right FROM landed_files")
    assert "it may hold several logs" in row["put_right"]


def test_no_line_of_an_archive_is_an_event(tmp_path: Path, corpora: Path) -> None:
    """A zip may hold its members as they are: their lines would be those of one node, one log behind the other."""
    run_of = corpora / "etcd/kill-leader-35"
    at = tmp_path / "landing/c/nodes/n1/logs"
    at.mkdir(parents=True)
    with zipfile.ZipFile(at / "etcd.log", "w", zipfile.ZIP_STORED) as packed:
        for log in sorted(run_of.glob("nodes/*/logs/*.log")):
            packed.writestr(log.relative_to(run_of).as_posix(), log.read_bytes())
    published = run({}, tmp_path)
    (row,) = published.rows("SELECT lines_event, problem FROM landed_files")
    assert row["lines_event"] == 0
    assert "zip archive" in row["problem"]
