"""Data of others is read out of a clone at a commit, traces become events, and what is found and missed is told."""

import json
import subprocess
from pathlib import Path

import pytest

from proof.comparison.others import page

MANIFEST = """
[[data]]
name = "traces"
repository = "they/theirs"
commit = "{commit}"
licence = "none is stated"
files = "\\\\.ndjson$"
reads = "traces"
truth = "two leaders of term 3 in b"
wanted = {{ b = "SPLIT_BRAIN_SAME_TERM", a = "LEADERLESS" }}

[[data]]
name = "not cloned"
repository = "they/others"
commit = "0"
"""


LOCKS = """
[[data]]
name = "locks"
repository = "they/theirs"
commit = "{commit}"
licence = "MIT"
files = "\\\\.txt$"
reads = "lock_server"
asks = ["SPLIT_BRAIN_OVERLAP"]
settings = {{ clock_bound_ms = 0 }}
truth = "two holders of lock 0 in bad"
wanted = {{ bad = "SPLIT_BRAIN_OVERLAP" }}

[[data]]
name = "steps"
repository = "they/theirs"
commit = "{commit}"
licence = "Apache-2.0"
files = "^(?P<cluster>run-\\\\d+)/.*\\\\.log$"
reads = "pgo"
truth = "one leader a run"

[[data]]
name = "dialogues"
repository = "they/theirs"
commit = "{commit}"
licence = "Apache-2.0"
files = "\\\\.talk$"
reads = "interactions"
truth = "two leaders of term 1"
wanted = {{ talk = "SPLIT_BRAIN_SAME_TERM" }}
"""


def committed(clone: Path, files: dict[str, str]) -> str:
    """Write files into a new repository; return the commit that holds them."""
    for name, text in files.items():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(text, encoding="utf-8")
    git = ["git", "-C", str(clone), "-c", "user.name=x", "-c", "user.email=x@x"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "traces"]):
        subprocess.run([*git, *command], check=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def step(second: int, name: str, node: str, term: int) -> str:
    event = {"name": name, "nid": node, "state": {"term": term}}
    return json.dumps({"ts": f"2026-03-01T10:00:{second:02d}.5Z", "tag": "trace", "event": event})


def test_traces_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lead = [step(1, "BecomeCandidate", "1", 3), step(2, "BecomeLeader", "1", 3)]
    twice = [step(1, "BecomeFollower", "2", 2), *lead, step(3, "BecomeLeader", "2", 3)]
    files = {"a.ndjson": "\n".join(['{"tag": "config"}', *lead]), "b.ndjson": "\n".join(twice)}
    commit = committed(tmp_path / "they+theirs", files)
    manifest = tmp_path / "others.toml"
    manifest.write_text(MANIFEST.format(commit=commit), encoding="utf-8")
    [row] = [line for line in page(tmp_path, manifest) if line.startswith("| traces")]
    assert "| 2 | 3 | 1 SPLIT_BRAIN_SAME_TERM (critical, " in row
    assert "| a: LEADERLESS |" in row
    assert "they/others: not in" in capsys.readouterr().err


def answer(second: int, client: int, kind: str, result: str) -> str:
    return (
        f"2023-12-01 16:10:{second:02d}.000926 [main] INFO  StructuredLogger - : MessageType=RESPONSE, ClientID={client}, "
        f"LockID=0, TransactionType={kind}, TransactionID={second}, Result={result}, LockStatus=LOCKED, Message=null\n"
    )


def pgo_step(second: int, *writes: tuple[str, str]) -> str:
    elements = [{"indices": ["1"], "name": {"name": name}, "tag": "write", "value": value} for name, value in writes]
    at = f"2025-03-21T08:06:{second:02d}.123456789Z"
    return json.dumps({"csElements": elements, "startTime": at, "endTime": at, "isAbort": False}) + "\n"


def test_locks_steps_and_dialogues_are_judged(tmp_path: Path) -> None:
    good = [answer(1, 4, "LOCK", "SUCCESS"), answer(2, 3, "LOCK", "FAIL"), answer(3, 4, "RELEASE", "SUCCESS")]
    after = [answer(5, 3, "RELEASE", "FAIL"), answer(6, 4, "RELEASE", "SUCCESS"), answer(7, 3, "LOCK", "SUCCESS")]
    became = "{} became {} at term 1\n"
    files = {
        "good.txt": "".join([*good, answer(4, 3, "LOCK", "SUCCESS")]),
        "bad.txt": "".join([good[0], answer(2, 3, "LOCK", "SUCCESS"), *after]),
        "run-7/a.log": pgo_step(1, ("state", '"candidate"'), ("currentTerm", "2")),
        "run-7/b.log": pgo_step(2, ("state", '"leader"')),
        "talk.talk": "".join(f"  INFO {became.format(node, 'leader')}" for node in (1, 2)),
    }
    commit = committed(tmp_path / "they+theirs", files)
    manifest = tmp_path / "others.toml"
    manifest.write_text(LOCKS.format(commit=commit), encoding="utf-8")
    rows = [line.split(" | ")[4:8] for line in page(tmp_path, manifest) if f"theirs {commit[:12]} " in line]
    assert rows == [
        ["2", "5", "1 SPLIT_BRAIN_OVERLAP (warning, definite)", "none"],
        ["2", "1", "none", "none"],
        ["1", "2", "1 SPLIT_BRAIN_SAME_TERM (critical, proven)", "none"],
    ]
