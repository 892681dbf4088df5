"""What other ways to judge runs claim is held against what run.json says."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchmarks.in_process import events_of
from proof.comparison.__main__ import Score, claims_in, measured, rivals, score
from proof.comparison.questions import HERE, Question, answers
from proof.comparison.rivals import frames, monitor, ours, sql
from proof.comparison.rivals.trace.__main__ import forged, module

YES = {
    "etcd/pause-leader-34": {Question.TWO_LEADERS},
    "rocketmq-dledger/old-copy-497": {Question.TWO_LEADERS, Question.SAME_TERM, Question.DOUBLE_VOTE},
    "etcd/healthy-35": set(),
}


def run(folder: Path, described: dict[str, Any]) -> Path:
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(described))
    return folder


def test_sentences_and_facts_answer_and_silence_is_no(tmp_path: Path) -> None:
    sentences = [
        "By their logs a (term 2) and b (term 3) are leader at once for about 18.2 s; different terms: a is stale.",
        "No leader between 09:39:21Z and 09:39:31Z (about 10 s).",
    ]
    found = answers(run(tmp_path / "s" / "r", {"expected": sentences, "facts": {"writes": {"lost": 3}}}))
    assert {question for question, answer in found.items() if answer} == {
        Question.TWO_LEADERS,
        Question.LEADERLESS,
        Question.WRITES_LOST,
    }
    assert found[Question.DOUBLE_VOTE] is False


@pytest.mark.parametrize(("seconds", "answer"), [("0.9", False), ("1.0", None), ("5.9", None), ("6.0", True)])
def test_short_times_are_left_open(tmp_path: Path, seconds: str, answer: bool | None) -> None:
    text = f"By their logs a (term 2) and b (term 3) are leader at once for about {seconds} s; different terms."
    assert answers(run(tmp_path / "s" / "r", {"expected": [text]}))[Question.TWO_LEADERS] is answer


def test_a_score_leaves_out_what_is_open() -> None:
    truth = {name: dict.fromkeys(Question, answer) for name, answer in (("a", True), ("b", False), ("c", None))}
    claims = claims_in("b\ta vote given twice\nc\ta vote given twice\n")
    assert score(claims, Question.DOUBLE_VOTE, truth) == Score((), ("a",), ("b",))


def test_a_rival_that_fails_is_no_rival_that_finds_nothing() -> None:
    said, cost = measured(["echo", "{word}"], {"word": "x"})
    assert (said, cost.seconds < 60, cost.megabytes > 0) == ("x\n", True, True)
    with pytest.raises(SystemExit, match="ended with 1"):
        measured(["false"], {})


def test_every_rival_says_what_it_leaves_out() -> None:
    assert all(rival.leaves_out and rival.made and rival.asks for rival in rivals())


def test_the_lines_of_members_are_a_module_of_tla() -> None:
    lines = {"a": [{"says": "leader", "term": 2, "for": "nobody"}], "b": [{"says": "vote", "term": 2, "for": "a"}]}
    assert 'm = "b" -> <<[says |-> "vote", term |-> 2, for |-> "a"]>>' in module(lines)
    assert forged(lines)["b"][-1] == {"says": "leader", "term": 2, "for": "nobody"}


@pytest.mark.slow
def test_rivals_find_what_is_plain(corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = tmp_path / "raw"
    for name in YES:
        (tmp_path / "events" / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(events_of(corpora / name), tmp_path / "events" / f"{name}.parquet")
        shutil.copytree(corpora / name, raw / name)
    for rival, asked in (
        (ours, {*Question}),
        (sql, {*Question}),
        (frames, {*Question} - {Question.WRITES_LOST}),
        (monitor, {Question.SAME_TERM, Question.DOUBLE_VOTE}),
    ):
        rival.main(tmp_path / "events")
        claims = claims_in(capsys.readouterr().out)
        for name, wanted in YES.items():
            found = {question for run_of, question in claims if run_of == name} - {Question.LEADERLESS}
            assert found == wanted & asked, (rival.__name__, name)
    said = subprocess.run(
        ["sh", HERE / "rivals" / "grep_awk.sh", raw], capture_output=True, text=True, check=True
    ).stdout
    assert claims_in(said) >= {
        ("etcd/pause-leader-34", Question.TWO_LEADERS),
        ("rocketmq-dledger/old-copy-497", Question.SAME_TERM),
    }
    assert not {claim for claim in claims_in(said) if claim[0] == "etcd/healthy-35"}
