"""A program that nobody here knows, read by a table of the settings alone: terms, leaders, two leaders at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from election_replay.jobs.settings.config import load
from tests.acceptance.published import Warehouse, replay_here
from tests.election_core import story

SETTINGS = """
programs:
  - name: tollgate
    files: "tollgate*.log"
    layout: "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %p %c :: %m"
    texts:
      - {text: "tollgate {node} comes up", does: starts}
      - {text: "closing down", does: stops}
      - {text: "we hold the gate, shift {term}", does: leads}
      - {text: "shift {term} is held by {leader}, {...}", does: follows}
      - {text: "standing for shift {term}", does: asks_for_votes}
      - {text: "our voice for shift {term} goes to {candidate}", does: votes}
      - {text: "holder silent", does: loses_leader}
"""

LOGS = {
    "east": """
        10:00:00.000 tollgate t1 comes up
        10:00:01.000 standing for shift 1
        10:00:01.000 our voice for shift 1 goes to t1
        10:00:01.100 we hold the gate, shift 1
        10:05:40.000 shift 2 is held by t2, stepping back
        10:06:10.000 our voice for shift 3 goes to t3
        10:06:10.200 shift 3 is held by t3, noted
    """,
    "west": """
        10:00:00.000 tollgate t2 comes up
        10:00:01.050 our voice for shift 1 goes to t1
        10:00:01.150 shift 1 is held by t1, noted
        10:05:00.000 holder silent
        10:05:01.000 standing for shift 2
        10:05:01.000 our voice for shift 2 goes to t2
        10:05:01.200 we hold the gate, shift 2
        10:06:00.000 closing down
        10:07:00.000 tollgate t2 comes up
        10:07:05.000 we hold the gate, shift 3
    """,
    "south": """
        10:00:00.000 tollgate t3 comes up
        10:00:01.060 our voice for shift 1 goes to t1
        10:00:01.150 shift 1 is held by t1, noted
        10:05:01.100 our voice for shift 2 goes to t2
        10:05:01.300 shift 2 is held by t2, noted
        10:06:09.000 holder silent
        10:06:10.000 standing for shift 3
        10:06:10.000 our voice for shift 3 goes to t3
        10:06:10.100 we hold the gate, shift 3
        10:06:11.000 our voice for shift 3 goes to t2
        10:08:00.000 nobody knows this line
    """,
}
"""The first is frozen from 10:00:02 to 10:05:40; the second comes back and takes a shift that is taken."""


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    folder = tmp_path_factory.mktemp("tollgate")
    for node, log in LOGS.items():
        lines = [line.strip().split(" ", 1) for line in log.strip().splitlines()]
        written = "".join(f"2026-03-01T{at}Z INFO gate.Keeper :: {text}\n" for at, text in lines)
        path = folder / "landing" / "roads" / "nodes" / node / "logs" / "tollgate.log"
        path.parent.mkdir(parents=True)
        path.write_text(written, encoding="utf-8")
    settings = folder / "settings.yaml"
    settings.write_text(SETTINGS, encoding="utf-8")
    return replay_here(folder / "landing", folder / "warehouse", "--config", str(settings))


def test_who_held_which_term(gold: Warehouse) -> None:
    terms = sorted((row["term"], row["leader"], row["replica_group"]) for row in gold.rows("gold/terms"))
    assert terms == [(1, "t1", "tollgate"), (2, "t2", "tollgate"), (3, "t2", "tollgate"), (3, "t3", "tollgate")]
    elections = {(row["term"], row["candidate"], row["outcome"]) for row in gold.rows("gold/elections")}
    assert {(1, "t1", "won"), (2, "t2", "won"), (3, "t3", "won")} <= elections


def test_two_leaders_and_a_second_vote_are_told(gold: Warehouse) -> None:
    found = {(row["rule"], row["severity"], tuple(row["terms"])) for row in gold.rows("gold/findings")}
    assert ("SPLIT_BRAIN_SAME_TERM", "critical", (3,)) in found
    assert ("SPLIT_BRAIN_OVERLAP", "warning", (1, 2)) in found
    assert ("DOUBLE_VOTE", "critical", (3,)) in found


def test_roles_of_a_program_that_was_stopped(gold: Warehouse) -> None:
    of_west = sorted(
        (row["start_time"], row["role"], row["end_cause"])
        for row in gold.rows("gold/role_intervals")
        if row["source_node"] == "west"
    )
    assert [(role, end) for _, role, end in of_west if role in ("leader", "down")] == [
        ("leader", "stopped"),
        ("down", "start"),
        ("leader", None),
    ]


def test_a_mistake_in_a_table_is_told_by_its_line(tmp_path: Path) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text(SETTINGS.replace("{candidate}", "{somebody}"), encoding="utf-8")
    with pytest.raises(Exception, match=r"text 6.*a place is"):
        load(settings)


STORIES = Path(__file__).parents[1] / "scenarios"


def in_a_table(name: str) -> tuple[str, dict[tuple[str, str], list[str]]]:
    """The settings that describe the kinds of a story of canonical events, and its logs."""
    logs = story.parse((STORIES / name).read_text())
    kinds = sorted({json.loads(line)["kind"] for lines in logs.values() for line in lines})
    fields = "{node: node, peer: peer, term: term, value: value, members: members, group: replica_group}"
    texts = "".join(f"\n      - {{text: {kind}, does: {kind}, fields: {fields}}}" for kind in kinds)
    layout = "json time=event_time message=kind"
    return f'programs:\n  - name: highest\n    files: "*.told"\n    layout: "{layout}"\n    texts:{texts}\n', logs


@pytest.mark.parametrize("name", ["bully/walk_through.txt", "token_ring/leader_not_the_largest_in_the_list.txt"])
def test_a_table_of_canonical_events_says_what_they_say(name: str, tmp_path: Path) -> None:
    """Bully and ring are tables: a program that elects as they do is described, and judged by their rules."""
    settings, logs = in_a_table(name)
    (tmp_path / "settings.yaml").write_text(settings, encoding="utf-8")
    (tmp_path / "none.yaml").write_text("programs: []\n", encoding="utf-8")
    rows = {}
    for ending, config in (("events.jsonl", "none.yaml"), ("told", "settings.yaml")):
        for (node, _), lines in logs.items():
            path = tmp_path / ending / "landing" / "c" / "nodes" / node / "logs" / f"{node}.{ending}"
            path.parent.mkdir(parents=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        run = (tmp_path / ending / "landing", tmp_path / ending / "warehouse")
        gold = replay_here(*run, "--config", str(tmp_path / config))
        tables = ("terms", "role_intervals", "elections", "findings", "rule_coverage")
        rows[ending] = {table: sorted(map(_comparable, gold.rows(f"gold/{table}"))) for table in tables}
    assert rows["told"] == rows["events.jsonl"]
    assert rows["told"]["findings"]


def _comparable(row: dict[str, Any]) -> str:
    """A row without what says which run made it, or in which file its lines stand."""
    return str(sorted((key, value) for key, value in row.items() if "event" not in key and key not in _OF_A_RUN))


_OF_A_RUN = {"run_id", "finding_id", "evidence", "first_seen_run", "first_seen_at", "last_seen_at"}


PHONES = """
programs:
  - name: phones
    files: "phones*.log"
    layout: "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %m"
    texts:
      - {text: "{node} is up", does: BULLY_START}
      - {text: "{node} calls {peer}: are you there?", does: BULLY_ELECTION_SENT}
      - {text: "{node} is the boss, and tells {peer}", does: BULLY_COORDINATOR_SENT}
      - {text: "{node} hears that {peer} is the boss", does: BULLY_COORDINATOR_RECEIVED}
"""


def test_a_lower_member_leads_beside_a_higher_one(tmp_path: Path) -> None:
    """A program in words of its own whose election is Bully: P1 took the lead though P3 was up all the time."""
    said = {
        "a": ["00:00 P1 is up", "01:00 P1 calls P3: are you there?", "01:05 P1 is the boss, and tells P2"],
        "b": ["00:00 P2 is up", "01:06 P2 hears that P1 is the boss"],
        "c": ["00:00 P3 is up", "04:00 P3 calls P9: are you there?"],
    }
    for node, lines in said.items():
        path = tmp_path / "landing" / "c" / "nodes" / node / "logs" / "phones.log"
        path.parent.mkdir(parents=True)
        path.write_text("".join(f"2026-03-01T10:{line[:5]}.000Z{line[5:]}\n" for line in lines), encoding="utf-8")
    settings = tmp_path / "settings.yaml"
    settings.write_text(PHONES, encoding="utf-8")
    gold = replay_here(tmp_path / "landing", tmp_path / "warehouse", "--config", str(settings))
    found = [(row["rule"], tuple(row["nodes"])) for row in gold.rows("gold/findings") if row["severity"] != "info"]
    assert ("BULLY_NOT_HIGHEST", ("P1", "P3")) in found


DOORS = """
programs:
  - name: doors
    files: "doors*.log"
    layout: "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %m"
    texts:
      - {text: "{node} is up", does: starts}
      - {text: "acting as active", does: leads}
      - {text: "acting as standby", does: follows}
"""


@pytest.mark.parametrize(
    ("of_b", "found"),
    [
        (["01:30 acting as active", "02:00 acting as standby", "09:00 b is up"], [("definite", 30_000)]),
        (["03:30 acting as active", "09:00 acting as standby"], []),
    ],
    ids=["at once", "one after the other"],
)
def test_two_leaders_at_once_whose_lines_name_no_term(
    tmp_path: Path, of_b: list[str], found: list[tuple[str, int]]
) -> None:
    said = {"a": ["00:00 a is up", "01:00 acting as active", "03:00 acting as standby", "09:00 a is up"],
            "b": ["00:00 b is up", *of_b]}  # fmt: skip
    for node, lines in said.items():
        path = tmp_path / "landing" / "c" / "nodes" / node / "logs" / "doors.log"
        path.parent.mkdir(parents=True)
        path.write_text("".join(f"2026-03-01T10:{line[:5]}.000Z{line[5:]}\n" for line in lines), encoding="utf-8")
    settings = tmp_path / "settings.yaml"
    settings.write_text(DOORS, encoding="utf-8")
    gold = replay_here(tmp_path / "landing", tmp_path / "warehouse", "--config", str(settings))
    rows = [row for row in gold.rows("gold/findings") if row["rule"] != "RESTART_LOOP"]
    assert not [row for row in rows if row["rule"] == "NOT_JUDGED"]
    overlaps = [row for row in rows if row["rule"] == "SPLIT_BRAIN_OVERLAP"]
    assert [row["certainty"] for row in overlaps] == [certainty for certainty, _ in found]
    for row, (_, least_ms) in zip(overlaps, found, strict=True):
        assert abs(row["overlap_min_ms"] - least_ms) < 1_000
