"""JUnit, SARIF and ``--fail-on``: a build fails for what it names, and passes no rule that nobody could judge."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from election_replay.jobs import JobError
from election_replay.jobs.cli.app import main
from election_replay.jobs.cli.ending import FOUND
from election_replay.jobs.reading.verdict_files import Clause, condition, printable

EXAMPLE = str(Path(__file__).parents[3] / "examples" / "landing" / "master-cut-off")


def finding(**measured: Any) -> dict[str, Any]:
    return {"severity": "warning", "rule": "LEADERLESS", "duration_min_ms": None, "overlap_min_ms": None} | measured


def test_a_condition_names_severities_rules_and_lengths() -> None:
    assert condition("Critical or leaderless > 1.5 min") == (Clause("critical"), Clause("LEADERLESS", 90_000))
    assert condition("SPLIT_BRAIN_OVERLAP > 20ms") == (Clause("SPLIT_BRAIN_OVERLAP", 20),)


@pytest.mark.parametrize("text", ["", "LEADERLES", "LEADERLESS > 5", "critical and warning", "LEADERLESS > five s"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(JobError, match="--fail-on"):
        condition(text)


def test_only_what_surely_lasted_longer_fails() -> None:
    [clause] = condition("LEADERLESS > 5 s")
    assert clause.holds(finding(duration_min_ms=5001))
    assert clause.holds(finding(overlap_min_ms=6000))
    assert not clause.holds(finding(duration_min_ms=5000))
    assert not clause.holds(finding())
    assert not clause.holds(finding(rule="LOG_GAP", duration_min_ms=9000))


def test_xml_holds_what_a_log_may_hold() -> None:
    assert printable("a\x1b[31m\ufffe b") == printable(printable("a\x1b[31m\ufffe b"))
    ElementTree.fromstring(f"<a>{printable('x' + chr(0) + chr(0xFFFF))}</a>")


def test_a_build_fails_for_a_split_brain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    junit, sarif = tmp_path / "verdict.xml", tmp_path / "verdict.sarif"
    asked = ["look", EXAMPLE, "--junit", str(junit), "--sarif", str(sarif), "--fail-on", "critical"]
    assert main(asked) == FOUND
    assert capsys.readouterr().out.endswith("SPLIT_BRAIN_OVERLAP\n")
    cases = {
        (case.get("classname"), case.get("name")): case for case in ElementTree.parse(junit).getroot().iter("testcase")
    }
    split = cases["master-cut-off / bs-orders", "SPLIT_BRAIN_OVERLAP"].find("failure")
    assert split is not None
    assert split.get("type") == "critical"
    assert any(case.find("skipped") is not None for case in cases.values())
    assert all(case.find("failure") is None or case.find("skipped") is None for case in cases.values())
    [run] = json.loads(sarif.read_text())["runs"]
    [overlap] = [result for result in run["results"] if result["ruleId"] == "SPLIT_BRAIN_OVERLAP"]
    assert overlap["level"] == "error"
    place = overlap["locations"][0]["physicalLocation"]
    assert place["region"]["startLine"] > 0
    assert place["artifactLocation"]["uri"].endswith(".log")


def test_a_build_goes_on_where_nothing_of_the_kind_was_found(tmp_path: Path) -> None:
    junit = tmp_path / "verdict.xml"
    assert main(["look", EXAMPLE, "--junit", str(junit), "--fail-on", "DOUBLE_VOTE"]) == 0
    assert all(case.find("failure") is None for case in ElementTree.parse(junit).getroot().iter("testcase"))


def test_a_condition_is_refused_before_anything_is_judged(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", EXAMPLE, "--fail-on", "critcal or LEADERLESS > 5 s"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "--fail-on: critcal is neither a severity (critical, warning, info) nor a rule" in told.err


def test_a_file_that_cannot_be_written_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", EXAMPLE, "--junit", "/nowhere/at/all.xml"]) == 1
    assert "cannot write /nowhere/at/all.xml" in capsys.readouterr().err
