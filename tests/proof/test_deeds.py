"""The cause that a finding tells, held against what was really done."""

import json
from pathlib import Path

import pytest

from benchmarks.deeds import AGREES, CUT, ENDED, HELD, NOT_TOLD, NOTHING_DONE, WRONG, Deed, deeds, during, judged_by
from election_replay.election_core.model.rows import Finding
from tests.election_core import story

SOURCES = {("RaftNode08", "n0"): frozenset({"n0"}), ("RaftNode08", "n2"): frozenset({"n2"})}


@pytest.fixture(scope="module")
def findings(corpora: Path) -> list[Finding]:
    return [row for row in story.run_rows(corpora / "rocketmq-dledger/chaos-533") if isinstance(row, Finding)]


def the(findings: list[Finding], words: str) -> Finding:
    return next(finding for finding in findings if words in finding.summary)


def done(kind: str, *nodes: str) -> list[Deed]:
    return [Deed(kind, frozenset(nodes), 0.0, 10.0)]


def test_a_death_is_a_wrong_cause_where_the_leader_was_held(findings: list[Finding]) -> None:
    died = the(findings, "n0 (term 2) died")
    assert judged_by(died, done(ENDED, "n0"), SOURCES) == AGREES
    assert judged_by(died, done(HELD, "n0"), SOURCES) == WRONG
    assert judged_by(died, done(ENDED, "n2"), SOURCES) == WRONG, "another one was killed"
    assert judged_by(died, [], SOURCES) == NOTHING_DONE


def test_a_lost_majority_and_a_silent_log_are_causes_too(findings: list[Finding]) -> None:
    lost, silent = the(findings, "n2 (term 1) lost its majority"), the(findings, "logs of n2 (n2) are silent")
    assert judged_by(lost, done(CUT, "n2"), SOURCES) == AGREES
    assert judged_by(lost, done(ENDED, "n2"), SOURCES) == WRONG
    assert judged_by(silent, done(HELD, "n2"), SOURCES) == AGREES
    assert judged_by(silent, done(CUT, "n2"), SOURCES) == WRONG
    storm = next(finding for finding in findings if finding.rule == "ELECTION_STORM")
    assert judged_by(storm, done(CUT, "n2"), SOURCES) == NOT_TOLD


def test_deeds_last_until_they_are_undone(tmp_path: Path) -> None:
    rows = (
        {"t": 1, "action": "kill -9", "node": "n0"},
        {"t": 2, "action": "kill -9", "client": "writer"},
        {"t": 3, "action": "cut", "between": [["n1"], ["n0", "n2"]]},
        {"t": 4, "action": "pause", "node": "n2"},
        {"t": 20, "action": "start", "node": "n0"},
        {"t": 30, "action": "heal"},
    )
    (tmp_path / "truth.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    all_of_them = list(deeds(tmp_path))
    assert [str(deed) for deed in during(all_of_them, 10, 15)] == ["n0 ended", "n1 cut off", "n2 held"]
    assert [str(deed) for deed in during(all_of_them, 25, 26)] == ["n1 cut off", "n2 held"]
    assert [str(deed) for deed in during(all_of_them, 40, 50)] == ["n2 held"]


def test_records_of_all_writers_are_read(tmp_path: Path) -> None:
    """Some name what they do by its signal, or do it to all."""
    rows = (
        {"t": 1, "action": "start", "node": "n0"},
        {"t": 1, "action": "start", "node": "n1"},
        {"t": 10, "action": "peers cannot answer it", "node": "n0"},
        {"t": 20, "action": "healed", "node": "n0"},
        {"t": 30, "action": "SIGSTOP", "node": "n1"},
        {"t": 40, "action": "SIGCONT", "node": "n1"},
        {"t": 50, "action": "kill all", "node": "*"},
        {"t": 60, "action": "start", "node": "n0"},
        {"t": 70, "action": "start", "node": "n1"},
    )
    (tmp_path / "truth.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert {(str(deed), deed.begin, deed.end) for deed in deeds(tmp_path)} == {
        ("n0 cut off", 10, 20),
        ("n1 held", 30, 40),
        ("n0 ended", 50, 60),
        ("n1 ended", 50, 70),
    }
