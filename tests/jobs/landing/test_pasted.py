"""Pasted text: whose lines follow is told by headings, and all else stays one log."""

import io
import sys
from pathlib import Path

import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.landing.pasted import heading, members_of, parted, write_pasted

MAILED = Path(__file__).parents[2] / "mailed" / "etcd-layout-matrix" / "e-console-3.6"


@pytest.mark.parametrize(
    ("line", "node"),
    [
        ("node1:", "node1"),
        ("> **etcd-2**:", "etcd-2"),
        ("### zk-0", "zk-0"),
        ("Node 3:", "3"),
        ("server `10.0.0.7` (leader):", "10.0.0.7"),
        ("==> zk1/zookeeper.log <==", "zk1/zookeeper.log"),
        ("$ kubectl logs -n kube-system etcd-1 --previous", "etcd-1"),
        ("kubectl -n kube-system logs etcd-1 -c etcd", "etcd-1"),
        ("docker logs -f broker-a", "broker-a"),
        ("root@etcd-3:~# journalctl -u etcd --no-pager", "etcd-3"),
        ("Logs of broker-a:", "broker-a"),
        ("and this is n0:", "n0"),
        ("These are from the weekend:", None),
        ("[root@bastion ~]# kubectl -n kube-system logs etcd-m2 --tail=150", "etcd-m2"),
        ("ops@bastion:~$ docker logs zk1", "zk1"),
        ("ZK: zookeeper-0", "zookeeper-0"),
        ("<summary>m1 etcd log</summary>", "m1"),
        ("<details><summary><b>etcd-2</b> logs</summary>", "etcd-2"),
        ("<summary>Relevant log output</summary>", None),
        ("port: 26379", None),
        ("logs:", None),
        ("```", None),
        ("Then the second one failed:", None),
        ("2026-03-01 10:00:00 INFO main - hello:", None),
        ("\tat a.b.C.d(C.java:1)", None),
        ("Caused by: java.io.IOException: no", None),
    ],
)
def test_a_heading_names_a_node(line: str, node: str | None) -> None:
    assert heading(line) == node


def test_prose_between_headings_makes_no_part() -> None:
    text = "node1:\n\nSee the other one:\n\nnode2:\n2026-03-01 10:00:00 INFO main - x\n"
    assert [node for node, _ in parted(text.splitlines())] == ["node2"]


def pasted() -> str:
    """A thread as people write it: quotes, fences, a member after the other."""
    parts = []
    for node in sorted(path.name for path in MAILED.iterdir()):
        lines = (MAILED / node / "etcd.log").read_text(encoding="utf-8").splitlines()
        parts += [f"> {node}:", "> ```", *(f"> {line}" for line in lines), "> ```", "", "and then", ""]
    return "Hello,\nwe lost the leader.\n\n" + "\n".join(parts)


def test_members_one_after_the_other_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pasted().encode()), encoding="utf-8"))
    assert main(["look", "-"]) == 0
    answer = capsys.readouterr().out
    for node in ("master-0", "master-1", "master-2"):
        assert f"    {node}: 1 file, by folder {node}; by its lines member " in answer
    assert "No leader for 14.8 s to 19.9 s" in answer


def test_one_heading_names_the_only_member(tmp_path: Path) -> None:
    text = "The log of one of them:\n\n> etcd-2:\n> 2026-03-01 10:00:00 INFO main - x\n"
    assert [path.name for path in write_pasted(text, tmp_path / "in").iterdir()] == ["etcd-2"]
    text = "2026-03-01 10:00:00 INFO main - x\n"
    assert [path.name for path in write_pasted(text, tmp_path / "without").iterdir()] == ["pasted.txt"]


def test_lines_of_a_known_system_that_tell_of_no_election_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = b"[2026-11-26 12:44:53,026] INFO [ReplicaFetcher replicaId=11] Nothing of interest (kafka.server.Fetcher)\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(5 * line), encoding="utf-8"))
    assert main(["look", "-"]) == 1
    assert "laid out as those of kafka, but none in its beginning tells of elections" in capsys.readouterr().err


def test_what_is_no_log_is_told_without_our_own_places(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"hello\n"), encoding="utf-8"))
    assert main(["look", "-"]) == 1
    error = capsys.readouterr().err
    assert "no line that tells of elections was found in the text on standard input" in error
    assert "/" not in error


def test_fences_between_which_time_goes_back_are_logs_of_several() -> None:
    logs = [[f"[2026-03-01 10:00:0{at},000] INFO {name} {at}" for at in range(4)] for name in "ab"]
    text = "".join("What we saw:\n```\n" + "\n".join(lines) + "\n```\n" for lines in logs)
    assert [lines for _, lines in members_of(text.splitlines(), "chat.md")] == logs
    on = [*logs[0], *(line.replace("10:00", "10:01") for line in logs[1])]
    text = "".join("```\n" + "\n".join(lines) + "\n```\n" for lines in (on[:4], on[4:]))
    assert members_of(text.splitlines(), "chat.md") == []
