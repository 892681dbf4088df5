"""``incident``: a story that can be retold, lanes, findings with their lines, without colour, as wide as a terminal."""

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.reading.incident import incident
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import COLUMNS, leader_word, paragraph, term_word, undecidable, when
from tests.jobs.tables import GROUP, at, blank, event, finding, log_line, publish, put, role, term

LONG = " ".join(f"word{n}" for n in range(60))


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A leader that is cut off and leads on while another one is elected."""
    tables = blank(tmp_path_factory.mktemp("incident") / "w")
    put(
        tables,
        "terms",
        term(1, "n1", 0, 70),
        term(2, "n2", 41, None, cause="heartbeat_timeout", former_leader_state="cut_off"),
    )
    put(
        tables,
        "role_intervals",
        role("n1", "leader", 0, 70, term=1, end_cause="larger_term", source_node="machine-a", start_event_id="e1"),
        role("n1", "follower", 70, None, term=2, leader="n2", source_node="machine-a"),
        role("n2", "follower", 2, 40, term=1, leader="n1"),
        *(role("n2", "candidate", 40 + n / 10, 40 + n / 10, term=1, start_cause="larger_term") for n in range(5)),
        role("n2", "leader", 41, None, term=2, start_event_id="e2"),
        role("n3", "unknown", 50, None, start_cause="silent"),
    )
    overlap = finding(
        *("f00000000001", "SPLIT_BRAIN_OVERLAP", 40, 70),
        severity="critical",
        terms=[1, 2],
        overlap_min_ms=29000,
        overlap_max_ms=31000,
        evidence=[f"e{n}" for n in range(1, 10)],
        summary="n1 and n2 both led for 29 s to 31 s.",
    )
    echo = finding("f00000000002", "POSSIBLE_DATA_LOSS", 75, 76, implied_by="f00000000001", summary="Cut off.")
    put(
        tables,
        "findings",
        overlap,
        echo,
        finding("f00000000003", "LOG_GAP", 50, 60, severity="info", summary="Silent."),
    )
    put(
        tables,
        "log_lines",
        *(
            log_line(f"e{n}", f"c1/nodes/n1/logs/b{n}.log", n, f"line {n} \x1b[31m {LONG}\nException\nat\nat")
            for n in range(1, 9)
        ),
    )
    put(
        tables,
        "rule_coverage",
        GROUP
        | {"rule": "LEADERLESS", "conforms": 2, "violates": 0, "undecidable": 1}
        | {"why_undecidable": "a log just stops"},
    )
    put(tables, "events", event("e1", "machine-a", 0, source_file="c1/nodes/n1/logs/b1.log"))
    publish(tables)
    return tables.root


def told(capsys: pytest.CaptureFixture[str], warehouse: str, *more: str, code: int = 0) -> str:
    """What ``incident`` prints about the group."""
    assert main(["incident", "--warehouse", warehouse, "--cluster", "c1", "--group", "g1", *more]) == code
    out, err = capsys.readouterr()
    return out if code == 0 else err


def section(text: str, title: str) -> list[str]:
    """The lines of one section."""
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(title))
    return lines[first + 1 : next((n for n in range(first + 1, len(lines)) if not lines[n].strip()), None)]


def test_the_story_says_who_led_why_that_changed_and_what_went_wrong(
    warehouse: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert section(told(capsys, warehouse), "What happened") == [
        "  12:00:00  machine-a becomes leader (term 1), the first one that is seen.",
        "  12:00:40  CRITICAL (definite): machine-a and n2 both led for 29 s to 31 s.",
        "  12:00:41  n2 becomes leader (term 2): machine-a was alive but cut off, and gave up 29 s later.",
        "  At the end of the logs n2 leads, machine-a follows, n3 has an unknown role.",
    ]


def test_lanes_show_who_was_what_when(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = section(told(capsys, warehouse), "Who was what")
    lanes = {line[2:18].strip(): line[18:] for line in lines[3:]}
    width = COLUMNS - 18
    assert lanes["n1 (machine-a)"].startswith("1" + "#" * 60)
    assert lanes["n1 (machine-a)"].rstrip().endswith("-")
    assert "c2###" in lanes["n2"]  # a short candidacy is not lost beside long roles
    assert lanes["n2"].count("#") > 30
    assert set(lanes["n3"].strip()) == {"?"}
    assert lanes["critical"].index("!") == lanes["n2"].index("c")
    assert max(map(len, lanes.values())) <= width


def test_nothing_is_wider_than_the_terminal_and_nothing_commands_it(
    warehouse: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = told(capsys, warehouse)
    assert max(map(len, text.splitlines())) <= COLUMNS + len("\\x1b") - 1  # a made-visible control character
    assert "\x1b" not in text


@pytest.mark.parametrize(("columns", "widest"), [("60", 80), ("80", 80), ("200", 200), ("300", 200)])
def test_in_a_terminal_it_is_as_wide_as_that(
    columns: str, widest: int, warehouse: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", columns)
    lines = [line for line in told(capsys, warehouse).splitlines() if "x1b" not in line]
    assert widest - 10 < max(map(len, lines)) <= widest


def test_findings_say_how_sure_they_are_and_what_would_refute_them(
    warehouse: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = told(capsys, warehouse)
    assert "Findings: 1 critical, 1 warning, 1 info" in text
    assert "How sure: definite: so for every reading of the clocks inside their bounds, by at least 29 s" in text
    assert "What would refute it: A line that ends the older leader's role" in text
    assert "From it follows WARNING (DEFINITE) POSSIBLE_DATA_LOSS f00000000002: Cut off." in text
    assert text.count("POSSIBLE_DATA_LOSS") == 1
    assert "c1/nodes/n1/logs/b1.log:1" in text
    assert "(and 2 lines more of it)" in text
    assert "and 3 more: election-replay explain f00000000001" in text


def test_a_notice_of_a_member_with_a_wrong_clock_has_the_true_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = blank(tmp_path / "w")
    put(tables, "terms", term(1, "n1", 0, 70))
    put(tables, "role_intervals", role("n1", "leader", 0, 70, term=1), role("n2", "follower", 2, 70, leader="n1"))
    ahead = {"source_node": "n2", "position": 1, "moved_ms": -75_000, "clock_least_ms": 74_900, "clock_most_ms": 75_100}
    times = {"start_time": at(0), "end_time": at(70), "start_time_logged": at(75), "end_time_logged": at(145)}
    of = {"finding_id": "c1", "protocol": "sources", "node": "n2", "nodes": ["n2"], "summary": "n2 is ahead."}
    put(tables, "clock_offsets", GROUP | of | ahead | times)
    put(tables, "events", event("e1", "n2", 105, kind="ZK_LEARNER_TYPE", node="n2", value="voter"))
    publish(tables)
    line = "n2: a reconfiguration made the server a voter, or took its vote."
    assert f"12:00:30  {line}" in told(capsys, tables.root)
    window = "--from", at(20).isoformat(), "--to", at(40).isoformat()
    assert f"12:00:30  {line}" in told(capsys, tables.root, *window)


def test_what_could_not_be_seen_is_said(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(told(capsys, warehouse).split())
    assert "LEADERLESS was kept 2 times, and could not be judged once: a log just stops." in text
    assert "The log of n3 just stops at 12:00:50 while others go on." in text


def test_the_timeline_has_a_place_for_each_line_and_collapses_repetitions(
    warehouse: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = section(told(capsys, warehouse), "Timeline")
    assert "  12:00:00  n1       leader in term 1  [n1/logs/b1.log:1]" in lines
    assert "  12:00:40  n2       candidate in term 1 (larger term) (5 alike, to 12:00:40.400)" in lines


@pytest.mark.parametrize(
    ("window", "there", "not_there"),
    [
        (("--from", "2026-03-01T12:00:30"), "n2 becomes leader", "machine-a becomes leader"),
        (("--to", "2026-03-01T12:00:20Z"), "machine-a becomes leader", "n2 becomes leader"),
        (("--to", "2026-03-01T12:00:20Z"), "Findings: none", "At the end of the logs"),
        (
            ("--from", "2026-03-01T12:00:10", "--to", "2026-03-01T12:00:20"),
            "No line says who became leader. Looked for, from 12:00:10 to 12:00:20",
            "becomes",
        ),
        (("--from", "2026-03-01T20:00:30+08:00"), "n2 becomes leader", "machine-a becomes leader"),
    ],
)
def test_a_window_narrows_everything(
    warehouse: str, capsys: pytest.CaptureFixture[str], window: tuple[str, ...], there: str, not_there: str
) -> None:
    text = told(capsys, warehouse, *window)
    assert there in text
    assert not_there not in text


def test_lanes_are_those_of_the_window(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, warehouse, "--from", "2026-03-01T12:00:50", "--to", "2026-03-01T12:01:30")
    lanes = {line[2:18].strip(): line[18:] for line in section(text, "Who was what")[3:]}
    half = (COLUMNS - 18) // 2
    assert lanes["n1 (machine-a)"][:half].strip("1#") == ""
    assert lanes["n1 (machine-a)"][half + 1 :].strip("-") == ""


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (("--from", "2026-03-01T13:00", "--to", "2026-03-01T12:00"), "is after --to"),
        (("--from", "yesterday"), "is no time"),
    ],
)
def test_a_window_that_cannot_be_is_refused(
    warehouse: str, capsys: pytest.CaptureFixture[str], window: tuple[str, ...], expected: str
) -> None:
    text = told(capsys, warehouse, *window, code=1)
    assert expected in text
    assert text.count("\n") == 1


def test_masters_without_terms_are_told_by_their_service(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = blank(tmp_path / "w")
    acting: dict[str, Any] = {"protocol": "acting_master"}
    put(
        tables,
        "role_intervals",
        role("0", "leader", 0, 30, end_cause="died", source_node="broker-a-0", **acting),
        role("1", "acting_leader", 35, 60, end_cause="min_changed", **acting),
    )
    publish(tables)
    text = told(capsys, tables.root)
    assert "12:00:00  broker-a-0 serves as master, until 12:00:30: it died." in text
    assert "12:00:35  1 acts as master, read only, until 12:01:00." in text
    assert "#: master; a: acting master" in text


def test_a_number_stays_with_its_unit() -> None:
    lines = paragraph("x" * 96 + " for 34 s to")
    assert lines == ["x" * 96 + " for", "34 s to"]


def test_who_is_told_to_stop_and_goes_on_for_a_while_is_stopped_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = blank(tmp_path)
    lives = (
        role("n1", "leader", 0, 10, term=1, start_cause="start", end_cause="stopped"),
        role("n1", "follower", 10, 14, term=1, start_cause="stopped", end_cause="stopped"),
        role("n1", "follower", 20, 30, term=2, start_cause="start", end_cause="stopped"),
        role("n1", "down", 30, 40, start_cause="stopped", end_cause="start"),
        role("n1", "follower", 40, 50, term=2, start_cause="start", end_cause="stopped"),
    )
    put(tables, "role_intervals", *lives)
    publish(tables)
    text = told(capsys, tables.root)
    stops = [line.split()[0] for line in text.splitlines() if "n1 is stopped" in line]
    assert stops == ["12:00:10", "12:00:30", "12:00:50"]


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (at(0), "2026-03-01 12:00:00"),
        (at(1.5), "2026-03-01 12:00:00 to 12:00:01.500"),
        (at(86400), "2026-03-01 12:00:00 to 2026-03-02 12:00:00"),
        (None, "2026-03-01 12:00:00 to the end of the logs"),
    ],
)
def test_a_moment_is_said_once(end: datetime | None, said: str) -> None:
    assert when({"start_time": at(0), "end_time": end}) == said


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((6, 0, 50), "R was kept 6 times, and could not be judged 50 times: why."),
        ((2, 1, 1), "R was kept 2 times and broken once, and could not be judged once: why."),
        ((0, 0, 3), "R could not be judged 3 times: why."),
        ((0, 1, 0), "R was broken once, and could be judged each time."),
        ((0, 0, 0), "R was never asked."),
    ],
)
def test_what_counts_nothing_is_not_said_of_a_rule(counts: tuple[int, int, int], said: str) -> None:
    row = dict(zip(("conforms", "violates", "undecidable"), counts, strict=True))
    assert undecidable(row | {"rule": "R", "why_undecidable": "why"}) == said


def test_a_term_of_zookeeper_is_an_epoch_and_one_of_raft_a_term() -> None:
    assert [term_word(protocol) for protocol in ("zab", "controller", "raft", "dledger")] == [
        *("epoch", "epoch", "term", "term")
    ]
    assert [leader_word(protocol) for protocol in ("zab", "controller", "acting_master")] == [
        *("leader", "master", "master")
    ]


def test_a_leader_that_leads_again_is_not_said_to_have_missed_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = blank(tmp_path)
    put(
        tables,
        "terms",
        term(1, "n1", 0, 10),
        term(4, "n1", 12, None, cause="election_timeout", former_leader_state="reachable"),
    )
    vote = {"term": 2, "candidate": "n2", "outcome": "no_winner", "rounds": 1, "votes_granted": 1, "votes_needed": 2}
    put(tables, "elections", GROUP | vote | {"start_time": at(5), "end_time": at(6), "voters": ["n2"]})
    terms = role("n1", "leader", 0, 10, term=1, end_cause="larger_term"), role("n1", "leader", 12, None, term=4)
    put(tables, "role_intervals", *terms)
    publish(tables)
    text = " ".join(told(capsys, tables.root).split())
    assert "n1 becomes leader again (term 4). It was alive: only the election ended its role." in text
    assert "no winner, 1 vote of 2 needed" in text


def test_a_member_of_another_group_is_named_by_its_host(tmp_path: Path) -> None:
    tables = blank(tmp_path)
    put(tables, "terms", term(1, "n1", 0, None))
    elsewhere = role("4a8f452f59b5f2799965", "leader", 0, None, term=1, source_node="rc-1") | {"replica_group": "g2"}
    put(tables, "role_intervals", role("n1", "leader", 0, None, term=1), elsewhere)
    publish(tables)
    found = incident(Published(tables), "c1", "g1")
    assert found.by_host("takes 4a8f452f59b5f2799965 for failed") == "takes rc-1 for failed"


@pytest.mark.parametrize(("protocol", "word"), [("raft", "term"), ("kraft", "epoch")])
def test_a_leader_that_was_toppled_is_told_once_in_the_words_of_its_system(
    protocol: str, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of = {"protocol": protocol}
    tables = blank(tmp_path)
    after = term(4, "n2", 12, None, cause="term_raised", former_leader_state="toppled")
    put(tables, "terms", term(1, "n1", 0, 10) | of, after | of)
    roles = role("n1", "leader", 0, 10, term=1, end_cause="larger_term"), role("n2", "leader", 12, None, term=4)
    put(tables, "role_intervals", *(each | of for each in roles))
    publish(tables)
    said = " ".join(told(capsys, tables.root).split())
    expected = f"n2 becomes leader ({word} 4): n1 ran, and gave up because a member came with a larger {word}."
    assert expected in said


def test_a_member_that_takes_the_folder_of_another_is_not_its_return(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = blank(tmp_path / "w")
    put(tables, "terms", term(1, "n1", 0, 40))
    put(
        tables,
        "role_intervals",
        role("n1", "leader", 0, 40, term=1, end_cause="died", source_node="machine-a"),
        role("n1", "down", 40, 60, start_cause="died", end_cause="start", source_node="machine-a"),
        role("n4", "follower", 60, None, start_cause="start", source_node="machine-a"),
        role("n2", "leader", 0, 30, term=1, end_cause="died", source_node="machine-b"),
        role("n2", "down", 30, 50, start_cause="died", end_cause="start", source_node="machine-b"),
        role("n2", "follower", 50, None, start_cause="start", source_node="machine-b"),
    )
    publish(tables)
    assert main(["incident", "--warehouse", str(tmp_path / "w"), "--cluster", "c1", "--group", "g1"]) == 0
    said = capsys.readouterr().out
    assert "n1 (machine-a) dies; its process starts again as another member, or in another group" in said
    assert "machine-b dies; it starts again at 12:00:50" in said


def test_a_member_whose_folder_another_had_for_a_while_returns_with_its_own_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = blank(tmp_path)
    put(tables, "terms", term(1, "n2", 0, None))
    put(
        tables,
        "role_intervals",
        role("n1", "follower", 0, 40, term=1, end_cause="died", source_node="machine-a"),
        role("n1", "down", 40, 60, start_cause="died", end_cause="start", source_node="machine-a"),
        role("n4", "follower", 60, 70, start_cause="start", end_cause="died", source_node="machine-a"),
        role("n4", "down", 70, 80, start_cause="died", end_cause="start", source_node="machine-a"),
        role("n1", "follower", 80, None, start_cause="start", source_node="machine-a"),
    )
    publish(tables)
    said = " ".join(told(capsys, tables.root).split())
    assert "n1 (machine-a) dies; it starts again at 12:01:20" in said


@pytest.mark.parametrize(("then", "ends"), [("candidate", False), ("down", True)])
def test_a_leader_that_fails_ends_only_if_its_process_does(
    then: str, ends: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = blank(tmp_path)
    put(tables, "terms", term(1, "n1", 0, 40), term(2, "n2", 45, None, former_leader_state="ended_itself"))
    put(
        tables,
        "role_intervals",
        role("n1", "leader", 0, 40, term=1, end_cause="ended_itself"),
        role("n1", then, 40, None, start_cause="ended_itself"),
        role("n2", "leader", 45, None, term=2),
    )
    publish(tables)
    said = " ".join(told(capsys, tables.root).split())
    assert ("n1 ends by itself" in said) == ends
    assert "n1 had failed, and its log says why." in said


def test_a_story_calls_members_by_their_hosts_and_leaves_quoted_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = blank(tmp_path / "w")
    put(
        tables,
        "role_intervals",
        role("1", "leader", 0, 40, term=1, end_cause="died", source_node="zk-a"),
        role("2", "follower", 0, None, source_node="zk-b"),
        role("3", "follower", 0, None, source_node="zk-c"),
    )
    put(
        tables,
        "findings",
        finding(
            *("f00000000001", "LEADERLESS", 40, 42),
            summary="No leader for 1 s to 2 s: 1 (zk-a, epoch 1) died (2 and 3 lost contact with it).",
        ),
    )
    publish(tables)
    assert main(["incident", "--warehouse", str(tmp_path / "w"), "--cluster", "c1", "--group", "g1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "No leader for 1 s to 2 s: zk-a (epoch 1) died (zk-b and zk-c lost contact with it)." in said
    assert "1 (zk-a)" in said, "the lanes say which id it is"


@pytest.mark.parametrize(
    ("cause", "why"),
    [("quorum_lost", "it gave up for want of a quorum"), ("larger_term", "it heard of a larger term"), ("died", None)],
)
def test_that_the_last_leader_gave_up_is_told_where_no_line_says_who_led_next(
    cause: str, why: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = blank(tmp_path)
    put(tables, "terms", term(1, "n1", 0, 10, start_event_id="e1"))
    led = role("n1", "leader", 0, 10, term=1, end_cause=cause, start_event_id="e1")
    put(tables, "role_intervals", led, role("n1", "follower", 10, None, term=1))
    publish(tables)
    text = " ".join(told(capsys, tables.root).split())
    assert (f"12:00:10 n1 leads no longer: {why}; no line says who led next." in text) == (why is not None)


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        (51, "n2 leads (term 2); no line says since when. n1 had died."),
        (55, "n2 becomes leader (term 2): n1 had died."),
    ],
)
def test_a_leader_of_which_a_member_tells_that_just_started_may_have_led_before(
    heard: float, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = blank(tmp_path)
    after = term(2, "n2", heard, None, start_event_id="e2", former_leader="n1", former_leader_state="died")
    put(tables, "terms", term(1, "n1", 0, 40), after)
    put(
        tables,
        "role_intervals",
        role("n1", "leader", 0, 40, term=1, end_cause="died"),
        role("n1", "down", 40, 50, start_cause="died", end_cause="start"),
        role("n1", "candidate", 50, heard, start_cause="start"),
        role("n1", "follower", heard, None, term=2),
        role("n2", "leader", heard, None, term=2, start_cause="others_followed", start_event_id="e2", source_node=None),
    )
    publish(tables)
    assert said in " ".join(told(capsys, tables.root).split())
