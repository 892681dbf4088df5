"""``incident --lines`` and ``export lnav``: the lines of all members around a finding, merged, and what is new there."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.landing.inspection import shape_of
from tests.conftest import Landing

EXAMPLE = Path(__file__).parents[3] / "examples" / "landing" / "master-cut-off"
LINE = re.compile(r"^(\d\d:\d\d:\d\d)\S* +([>+]?) +(\S+) +(\S+):(\d+) +(\(\d+ alike\) )?(.*)$")


@pytest.fixture(scope="module")
def finding(cut_off: str) -> str:
    """The split brain of a real cluster whose master was cut off."""
    from election_replay.jobs.reading.published import Published
    from election_replay.jobs.warehouse.warehouse import Warehouse

    [row] = Published(Warehouse(cut_off)).rows("SELECT finding_id FROM findings WHERE severity = 'critical'")
    return str(row["finding_id"])


def asked(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    capsys.readouterr()
    assert main(["incident", *options]) == 0
    return capsys.readouterr().out


def found(shown: str) -> list[re.Match[str]]:
    return [line for line in map(LINE.match, shown.splitlines()) if line]


def test_kept_lines_of_all_members_are_merged_in_order(
    cut_off: str, finding: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = found(asked(capsys, "--warehouse", cut_off, "--finding", finding[:8], "--lines"))
    assert {line[3] for line in lines} >= {"broker-1", "broker-2", "broker-3"}
    assert [line[1] for line in lines] == sorted(line[1] for line in lines)
    assert [line for line in lines if line[2] == ">"]
    assert not [line for line in lines if line[2] == "+"]


def test_with_the_files_each_line_is_there_once_and_on_the_clock_of_the_kept_ones(
    cut_off: str, finding: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--warehouse", cut_off, "--finding", finding, "--lines"]
    kept = found(asked(capsys, *given))
    every = found(asked(capsys, *given, "--landing", str(EXAMPLE)))
    places = [line.group(3, 4, 5) for line in every]
    assert len(places) == len(set(places))
    assert {line.group(1, 3, 4, 5, 7) for line in kept} < {line.group(1, 3, 4, 5, 7) for line in every}
    log = next((EXAMPLE / "nodes/broker-1/logs").rglob("broker.log")).read_text("utf-8").splitlines()
    of_file = [line for line in every if line.group(3, 4) == ("broker-1", "broker.log")]
    assert [line[7].split() for line in of_file] == [log[int(line[5]) - 1].split() for line in of_file]


def test_what_was_never_printed_before_is_told_once(
    cut_off: str, finding: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--warehouse", cut_off, "--finding", finding, "--new", "--landing", str(EXAMPLE)]
    new = found(asked(capsys, *given))
    shapes = [shape_of(line[7]) for line in new]
    assert len(shapes) == len(set(shapes)) < 100
    assert any("Elect a new master in broker-set" in line[7] for line in new)
    assert not [line for line in new if line[7].lstrip().startswith("at ")]


@pytest.mark.parametrize(("no_color", "coloured"), [("1", False), ("", True)])
def test_each_node_has_a_colour_unless_nobody_wants_one(
    no_color: str, coloured: bool, cut_off: str, finding: str
) -> None:
    command = [sys.executable, "-m", "election_replay.jobs.cli", "incident", "--warehouse", cut_off]
    told = {"NO_COLOR": no_color, "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    done = subprocess.run(
        [*command, "--finding", finding, "--lines"], env=os.environ | told, capture_output=True, text=True, check=True
    )
    colours = {
        node: set(re.findall(rf"\x1b\[([\d;]+)m[^\x1b\n]* {node} ", done.stdout))
        for node in ("broker-1", "broker-2", "broker-3")
    }
    assert (
        [len(of_node) for of_node in colours.values()] == [1, 1, 1] and len(set.union(*colours.values())) == 3
        if coloured
        else not any(colours.values())
    )


def test_a_file_that_became_another_is_told_and_its_kept_lines_are_shown(
    finding: str, cut_off: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    landing = tmp_path / "landing"
    shutil.copytree(EXAMPLE, landing)
    logs = [*(landing / "nodes/broker-1/logs").rglob("broker.log")]
    text = logs[0].read_text("utf-8").splitlines(keepends=True)
    logs[0].write_text("".join(text[5:]), encoding="utf-8")
    next((landing / "nodes/broker-2/logs").rglob("broker.log")).unlink()
    shown = asked(capsys, "--warehouse", cut_off, "--finding", finding, "--lines", "--landing", str(landing))
    assert re.search(r"Not read: \S+broker-1\S+broker.log: it is no more the file that was landed", shown)
    assert re.search(r"Not read: \S+broker-2\S+broker.log: it is not there any more", shown)
    assert "all of the files that could be read" in shown
    assert [line for line in found(shown) if line.group(3, 4) == ("broker-1", "broker.log")]


def test_what_is_missing_on_the_line_is_said(cut_off: str, finding: str, capsys: pytest.CaptureFixture[str]) -> None:
    for given, said in (
        (["--cluster", "master-cut-off"], "give --cluster and --group, or --finding"),
        (["--finding", "ffffffffffff"], "no finding has an id that begins with"),
        (["--finding", finding, "--new"], "--new needs --landing"),
    ):
        assert main(["incident", "--warehouse", cut_off, *given]) != 0
        assert said in capsys.readouterr().err


def test_json_lines_are_told_apart_by_their_message() -> None:
    first, second = (
        f'{{"level":"info","ts":"2026-03-01T10:00:0{n}Z","msg":"raft.node: {n}c0e elected {n}","x":"y"}}' for n in "12"
    )
    other = '{"level":"info","ts":"2026-03-01T10:00:00Z","msg":"closed"}'
    assert shape_of(first) == shape_of(second) != shape_of(other)


def test_lnav_opens_the_lines_and_the_logs_of_every_system(
    cut_off: str, finding: str, tmp_path: Path, landing: Landing, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "seen"
    assert main(["export", "lnav", str(out), "--warehouse", cut_off, "--finding", finding]) == 0
    assert f"lnav -I {out} -c ':goto 2026-11-21T09:41:14' {out}/lines.jsonl" in capsys.readouterr().out
    lines = [json.loads(line) for line in (out / "lines.jsonl").read_text("utf-8").splitlines()]
    assert {"proof", "line"} == {line["level"] for line in lines}
    if shutil.which("lnav") is None:
        pytest.skip("NO LNAV WAS FOUND: Debian and Ubuntu have it as the package lnav")
    env = os.environ | {"HOME": str(tmp_path)}
    assert not subprocess.run(["lnav", "-I", out, "-C"], env=env, capture_output=True, check=True).stderr
    runs = ("kafka-kraft/kill-active", "etcd/isolate-leader-34", "redis-sentinel/kill-master")
    places = [landing([*runs, "zookeeper/chaos-372", "rocketmq-controller/master-cut-off"])]
    wanted = ("kafka_log", "etcd_log", "redis_server_log", "zookeeper_log", "rocketmq_log", "election_replay_log")
    logs = [next(next(place.rglob("logs")).rglob("*.log")) for place in sorted(places[0].iterdir())]
    seen = set()
    for log in [*logs, out / "lines.jsonl"]:
        query = ";SELECT log_format, count(*) FROM all_logs WHERE log_level <> 'unknown' GROUP BY 1"
        told = ["lnav", "-n", "-I", out, "-c", query, "-c", ":write-csv-to -", log]
        seen.add(subprocess.run(told, env=env, capture_output=True, text=True, check=True).stdout.split()[-1])
    assert {line.partition(",")[0] for line in seen} == set(wanted)
