"""Worlds from the command line."""

import json
from pathlib import Path

import pytest

from election_replay.election_core.simulate.catalogue import SCENARIOS
from election_replay.jobs.cli.app import main
from election_replay.jobs.landing.inspection import inspect


def test_a_world_is_a_landing_zone_with_its_truth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Logs lie where `run` looks for them, rolled ones too; nothing in them is unreadable."""
    assert main(["simulate", "--scenario", "dledger-old-copy", "--seed", "7", "--out", str(tmp_path)]) == 0
    folder = tmp_path / "dledger-old-copy-7"
    assert str(folder / "truth.jsonl") in capsys.readouterr().out
    truth = [json.loads(line) for line in (folder / "truth.jsonl").read_text().splitlines()]
    assert "DOUBLE_VOTE" in {line["rule"] for line in truth if line["what"] == "finding" and line["provable"]}
    logs = [file for file in (folder / "nodes").rglob("*") if file.is_file()]
    assert {file.relative_to(folder).parts[1] for file in logs} == {"n0", "n1", "n2"}
    assert any(file.parent.name == "otherdays" for file in logs)
    for file in logs:
        found = inspect(str(file))
        assert found.kinds, file
        assert not found.quarantined, file


def test_a_world_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = ["simulate", "--scenario", "dledger-healthy", "--out", str(tmp_path)]
    assert main(world) == 0
    assert main(world) == 1
    assert "is there already" in capsys.readouterr().err


def test_watching_tells_the_story(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--scenario", "dledger-isolated-leader", "--watch"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("dledger-isolated-leader, seed 1: the leader is cut off from its peers")
    told = [line.partition(" s  ")[2].strip() for line in said.splitlines()[1:]]
    assert [line for line in told if not line.startswith(">>> start")] == [
        *("n1 LEADS term 1", ">>> isolate n1", "n1 leads term 1 no longer: stepped down"),
        *("n2 LEADS term 2", ">>> heal"),
    ]


def test_watching_tells_what_is_broken_and_names_no_terms_where_there_are_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["simulate", "--scenario", "lock-cut", "--watch"]) == 0
    said = capsys.readouterr().out
    assert "broker-1 LEADS\n" in said
    assert "LOCK_DOUBLE_HOLD: client-2 at broker-1 and client-1 at broker-0 both had 2 for" in said


def test_judging_shows_truth_and_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--scenario", "dledger-votes-twice", "--judge"]) == 0
    proven, claimed = capsys.readouterr().out.split("What the judge says")
    assert "SPLIT_BRAIN_SAME_TERM" in proven
    assert "critical SPLIT_BRAIN_SAME_TERM" in claimed


def test_the_list_names_every_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--list"]) == 0
    said = capsys.readouterr().out
    for name, scenario in SCENARIOS.items():
        assert f"{name} " in said
        assert scenario.meaning in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scenario", "no-such-thing", "--watch"], "there is no scenario no-such-thing"),
        (["--scenario", "dledger-healthy"], "--out DIR, --watch or --judge"),
        ([], "--scenario NAME"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", *arguments]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
