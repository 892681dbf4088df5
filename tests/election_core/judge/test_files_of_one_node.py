"""Several files of one node that are cut at different places: what the rules read must reach as far as a claim."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from election_replay.election_core.model.catalogue import DEFINITE
from election_replay.election_core.model.facts import Written
from election_replay.election_core.model.rows import Finding, RoleInterval
from election_replay.election_core.model.timing import SECOND
from tests.election_core import story

SCENARIOS = Path(__file__).parents[2] / "scenarios"
DAY = "2026-03-01"
Logs = dict[tuple[str, str], list[str]]


def logs_of(name: str) -> Logs:
    return story.parse((SCENARIOS / f"{name}.txt").read_text())


def leaderless(logs: Logs) -> list[Finding]:
    rows = story.judge(story.facts_of(logs))
    return [row for row in rows if isinstance(row, Finding) and row.rule == "LEADERLESS"]


def until(logs: Logs, time: str, stream: str) -> Logs:
    """The logs with this stream of all nodes cut off at a time; the other files of the nodes go on."""
    cut = {
        place: [line for line in of if line < f"{DAY} {time}"] if place[1] == stream else of
        for place, of in logs.items()
    }
    return {place: of for place, of in cut.items() if of}


def goes_on(logs: Logs, node: str, stream: str) -> Logs:
    """Another file of a node, which its process wrote to the end."""
    line = "INFO main - nothing that a rule reads"
    return logs | {
        (node, stream): [f"{DAY} 10:{second // 60:02}:{second % 60:02} {line}" for second in range(5, 121, 5)]
    }


def test_a_controller_whose_file_ends_shows_nobody_unelected() -> None:
    logs = goes_on(logs_of("controller/no_candidate"), "ctl", "controller_default.log")
    (whole,) = leaderless(logs)
    assert whole.certainty == DEFINITE
    (part,) = leaderless(until(logs, "10:00:52", "controller.log"))
    assert whole.duration_min_ms is not None
    assert part.duration_min_ms is not None
    assert part.duration_min_ms <= 13_000 < 60_000 < whole.duration_min_ms


def test_a_file_that_tells_roles_says_how_far_it_goes() -> None:
    logs = goes_on(logs_of("controller/no_candidate"), "ctl", "controller_default.log")
    (written,) = [fact for fact in story.facts_of(logs) if isinstance(fact, Written) and fact.source_node == "ctl"]
    assert written.stream == "controller.log"
    assert written.until is not None
    assert written.until - written.since == 115 * SECOND


def test_an_epoch_of_which_no_log_tells_may_have_had_a_master_all_the_time() -> None:
    logs = logs_of("controller/dead_master_by_right_clocks")
    (whole,) = leaderless(logs)
    assert whole.certainty == DEFINITE
    later = logs | {("y", "broker.log"): [re.sub(r"(poch:)2", r"\g<1>3", line) for line in logs["y", "broker.log"]]}
    assert all(found.certainty != DEFINITE for found in leaderless(later))


@pytest.mark.slow
def test_a_leader_whose_own_file_begins_later_than_its_others_led_before(corpora: Path) -> None:
    lines = story.run_lines(corpora / "rocketmq-dledger/chaos-533")
    cut = next(line.time for line in lines["n0"] if line.stream == "broker_default.log") + 48 * SECOND
    kept = [line for line in lines["n0"] if line.stream != "broker_default.log" or line.time >= cut]
    facts = [fact for node, of in (lines | {"n0": kept}).items() for fact in story.folder_facts("chaos", node, of)]
    found = [row for row in story.judge(facts) if isinstance(row, Finding) and row.rule == "LEADERLESS"]
    assert all((row.duration_min_ms or 0) < 15_000 for row in found if row.start_time < cut)


def test_a_role_ends_at_a_gap_between_files_but_not_where_they_all_rest_for_seconds() -> None:
    def of(beginning: str) -> list[tuple[str, str, str | None]]:
        lines = [line.replace("[2026-03-01 12:00:09,990]", beginning) for line in logs["ctl-1", "kafka-controller.log"]]
        rows = story.judge(story.facts_of(logs | {("ctl-1", "kafka-controller.log"): lines}))
        roles = [row for row in rows if isinstance(row, RoleInterval) and row.source_node == "ctl-1"]
        ends = [datetime.fromtimestamp((role.end_time or 0) / SECOND, UTC).strftime("%M:%S") for role in roles]
        return [(role.role, end, role.end_cause) for role, end in zip(roles, ends, strict=True)][:-1]

    logs = logs_of("partition/fenced_in_vain")
    assert of("[2026-03-01 12:00:09,990]") == [("follower", "01:40", "stepped_down")]
    assert of("[2026-03-01 12:01:09,990]") == [("follower", "00:01", "silent"), ("unknown", "01:40", "stepped_down")]
