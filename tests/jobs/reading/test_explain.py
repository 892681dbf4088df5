"""``explain``: one finding with all that a reviewer asks about it."""

import json
from typing import Any

import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.reading.words import certainty
from election_replay.jobs.runbook.rules import catalogue
from tests.jobs.tables import GROUP, NOON, blank, finding, log_line, publish, put


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A split brain, what follows from it, and what limits it."""
    tables = blank(tmp_path_factory.mktemp("explain") / "w")
    put(
        tables,
        "findings",
        finding(
            "abc1",
            "SPLIT_BRAIN_SAME_TERM",
            10,
            20,
            severity="critical",
            certainty="proven",
            terms=[7],
            nodes=["n1", "n2"],
            evidence=["e1", "e2", "e3"],
            overlap_min_ms=9000,
            bytes_lost=1234567,
            former_leader="n1",
            former_leader_fate="cut_off",
            cut_node="n1",
            summary="n1 and n2 both led term 7.",
        ),
        finding("abd2", "POSSIBLE_DATA_LOSS", 30, 31, certainty="possible", implied_by="abc1", summary="Cut off."),
        finding("gap1", "LOG_GAP", 15, 40, summary="The logs of n2 are silent for 25 s."),
        finding("gap2", "LOG_GAP", 500, 540, summary="Much later."),
        finding("poll", "LEADERLESS", 600, 640, protocol="controller", summary="Nobody was master."),
    )
    put(
        tables,
        "log_lines",
        log_line("e1", "c1/n1/broker.log", 7, "2026-03-01 20:00:10 INFO a - [n1] leads \x1b[31m"),
        log_line("e2", "c1/n2/broker.log", 9, "2026-03-01 20:00:10 INFO a - [n2] leads\n\tat Trace.java:1"),
    )
    put(
        tables,
        "rule_coverage",
        GROUP
        | {"rule": "SPLIT_BRAIN_SAME_TERM", "conforms": 3, "violates": 1, "undecidable": 2}
        | {"why_undecidable": "logs that just stop"},
    )
    put(
        tables,
        "facts",
        *(fact("SETTING_PRINTED", node, "syncBrokerMetadataPeriod", ms) for node, ms in (("n1", 5000), ("n2", 30_000))),
        fact("TIMEOUT_CONFIGURED", "n1", "CONTROLLER_CHECK_SET", 1500),
    )
    publish(tables)
    return tables.root


def fact(kind: str, source: str, name: str, value: int) -> dict[str, Any]:
    """A setting of the group."""
    return GROUP | {
        "protocol": "controller",
        "kind": kind,
        "source_node": source,
        "name": name,
        "value": value,
        "since": NOON,
        "since_by": NOON,
        "bound_ms": 0,
        "ordinal": 0,
        "evidence": [],
    }


def said(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> str:
    """What ``explain`` prints."""
    assert main(["explain", *args]) == code
    out, err = capsys.readouterr()
    return out if code == 0 else err


def test_a_finding_is_explained(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "--warehouse", warehouse, "abc")
    assert text.splitlines()[0] == "CRITICAL (PROVEN) SPLIT_BRAIN_SAME_TERM  c1 / g1"
    assert "2026-03-01 12:00:10 to 12:00:20 (UTC, by the clocks of the nodes that logged it)" in text
    assert "finding abc1" in text
    assert "proven: both signed term 7" in text
    assert "Bytes that were cut off: 1,234,567 bytes" in text
    assert "Smallest overlap of two leaders: 9 s" in text
    assert catalogue()["SPLIT_BRAIN_SAME_TERM"].source.split("; ")[0] in text
    assert "One of the two role lines belongs to another cluster" in text
    assert "could not be judged 2 times: logs that just stop." in " ".join(text.split())
    assert "POSSIBLE_DATA_LOSS abd2" in text
    assert "The logs of n2 are silent" in text
    assert "Much later" not in text


def test_evidence_stands_word_for_word_with_file_and_line(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "--warehouse", warehouse, "abc1").splitlines()
    at = lines.index("  c1/n1/broker.log:7")
    assert lines[at + 1] == "    2026-03-01 20:00:10 INFO a - [n1] leads \\x1b[31m"
    assert lines[at + 2 : at + 5] == [
        "  c1/n2/broker.log:9",
        "    2026-03-01 20:00:10 INFO a - [n2] leads",
        "        at Trace.java:1",  # a terminal shows the tab as spaces
    ]
    assert lines[at + 5] == "  event e3 (not kept as a line)"


def test_the_times_of_the_group_are_told_with_their_origin(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "--warehouse", warehouse, "poll")
    assert "  controller_poll: 5 s to 30 s, as its logs print" in text.splitlines()
    assert "  controller_check_set: 1500 ms, as the settings of the pipeline say" in text.splitlines()
    assert "  controller_scan: 5 s, by default: no log prints it" in text.splitlines()
    told = json.loads(said(capsys, "--warehouse", warehouse, "poll", "--format", "json"))
    [poll] = [row for row in told["times"] if row["name"] == "controller_poll"]
    assert (poll["shortest_ms"], poll["longest_ms"], poll["origin"]) == (5000, 30_000, "printed")


def test_what_a_finding_follows_from_is_told(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "--warehouse", warehouse, "ABD2")
    assert "from critical (proven) SPLIT_BRAIN_SAME_TERM abc1: n1 and n2 both led term 7." in text
    assert "none: the finding is about what is missing" in text


def test_an_explanation_as_json_says_the_same(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(said(capsys, "--warehouse", warehouse, "abc1", "--format", "json"))
    assert told["finding"]["finding_id"] == "abc1"
    assert told["certainty"] == "proven: both signed term 7"
    assert [row["line_no"] for row in told["evidence"]] == [7, 9, None]
    assert told["rule"]["refuted_by"] == catalogue()["SPLIT_BRAIN_SAME_TERM"].refuted_by
    assert [row["finding_id"] for row in told["implies"]] == ["abd2"]


@pytest.mark.parametrize(
    ("beginning", "expected"),
    [
        ("nix", "no finding has an id that begins with nix"),
        ("", "list them with"),
        ("ab", "abc1 (SPLIT_BRAIN_SAME_TERM)"),
    ],
)
def test_an_unknown_or_short_id_is_one_line_that_helps(
    warehouse: str, capsys: pytest.CaptureFixture[str], beginning: str, expected: str
) -> None:
    text = said(capsys, "--warehouse", warehouse, beginning, code=1)
    assert text.startswith("error: ")
    assert expected in text
    assert text.count("\n") == 1


@pytest.mark.parametrize("rule", [rule.rule for rule in catalogue().values()])
@pytest.mark.parametrize("sure", ["proven", "definite", "possible"])
def test_every_rule_says_in_words_how_sure_it_is(rule: str, sure: str) -> None:
    row = finding("f", rule, 0, 1, certainty=sure, terms=[1, 2], overlap_min_ms=None, duration_min_ms=2000)
    text = certainty(row)
    assert text.startswith(f"{sure}: ")
    assert "{" not in text


def test_epochs_are_called_epochs() -> None:
    row = finding("f", "SPLIT_BRAIN_SAME_TERM", 0, 1, certainty="proven", terms=[3, 4], protocol="controller")
    assert certainty(row) == "proven: both signed epochs 3 and 4"
