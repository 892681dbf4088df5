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


def step(second: int, name: str, node: str, term: int) -> str:
    event = {"name": name, "nid": node, "state": {"term": term}}
    return json.dumps({"ts": f"2026-03-01T10:00:{second:02d}.5Z", "tag": "trace", "event": event})


def test_traces_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clone = tmp_path / "they+theirs"
    clone.mkdir()
    lead = [step(1, "BecomeCandidate", "1", 3), step(2, "BecomeLeader", "1", 3)]
    (clone / "a.ndjson").write_text("\n".join(['{"tag": "config"}', *lead]), encoding="utf-8")
    twice = [step(1, "BecomeFollower", "2", 2), *lead, step(3, "BecomeLeader", "2", 3)]
    (clone / "b.ndjson").write_text("\n".join(twice), encoding="utf-8")
    git = ["git", "-C", str(clone), "-c", "user.name=x", "-c", "user.email=x@x"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "traces"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    manifest = tmp_path / "others.toml"
    manifest.write_text(MANIFEST.format(commit=commit), encoding="utf-8")
    [row] = [line for line in page(tmp_path, manifest) if line.startswith("| traces")]
    assert "| 2 | 3 | 1 SPLIT_BRAIN_SAME_TERM (critical, " in row
    assert "| a: LEADERLESS |" in row
    assert "they/others: not in" in capsys.readouterr().err
