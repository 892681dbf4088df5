"""What the views answer, by small made-up histories; tests/jobs/reading/test_queries.py asks them about real ones."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from election_replay.jobs.reading.published import Published
from election_replay.schemas import TABLES
from election_replay.schemas.model import View
from election_replay.schemas.views import RULES_OF, VIEWS
from tests.jobs.tables import at, blank, event, finding, log_line, publish, put, role, term

ARGUMENTS = {
    "incident_timeline": "'c1', 'g1'",
    "leader_at": "'c1', 'g1', '2026-03-01T12:00:30Z'",
    "events_around": "'c1', '2026-03-01T12:00:30Z'",
    "findings_new": "'2026-03-01T12:00:00Z'",
    "findings_between": "'2026-03-01T12:00:00Z', '2026-03-01T13:00:00Z'",
}


def asked(tmp_path: Path, query: str, **rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answer to a query over a warehouse that holds these rows."""
    warehouse = blank(tmp_path / "w")
    for table, some in rows.items():
        put(warehouse, table, *some)
    publish(warehouse)
    found: list[dict[str, Any]] = Published(warehouse).query(query).to_pylist()
    return found


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """A warehouse without rows."""
    warehouse = blank(tmp_path_factory.mktemp("empty"))
    publish(warehouse)
    return Published(warehouse)


@pytest.mark.parametrize("view", VIEWS.values(), ids=lambda view: view.name)
def test_a_view_has_the_columns_that_it_says(empty: Published, view: View) -> None:
    call = f"{view.name}({ARGUMENTS[view.name]})" if view.parameters else view.name
    answer = empty.query(f"SELECT * FROM {call}")  # noqa: S608 - our own names
    assert {name: plain(kind) for name, kind in zip(answer.column_names, answer.schema.types, strict=True)} == {
        column.name: plain(column.type.arrow) for column in view.columns
    }
    assert view.name not in TABLES
    assert view.comment.endswith(".")


def plain(kind: pa.DataType) -> str:
    """A type without the name that an engine gives to the elements of a list."""
    return f"list of {kind.value_type}" if pa.types.is_list(kind) else str(kind)


def test_comments_can_be_asked_for(tmp_path: Path) -> None:
    query = "SELECT comment FROM duckdb_columns() WHERE table_name = 'current' AND column_name = 'leader'"
    assert asked(tmp_path, query)[0]["comment"].startswith("Member that leads")
    query = "SELECT comment FROM duckdb_views() WHERE view_name = 'current'"
    assert asked(tmp_path, query)[0]["comment"] == VIEWS["current"].comment


def test_rules_of_views_are_rules() -> None:
    from election_replay.jobs.runbook.rules import catalogue

    assert {rule for rules in RULES_OF.values() for rule in rules} <= set(catalogue())


HAND_OVER = [
    role("n1", "leader", 0, 40, term=1, end_cause="larger_term"),
    role("n2", "follower", 1, 40, term=1, leader="n1"),
    role("n2", "leader", 40, None, term=2),
    role("n1", "follower", 41, None, term=2, leader="n2"),
    role("n3", "down", 5, None),
]


def test_who_leads_now_and_who_else_is_there(tmp_path: Path) -> None:
    (row,) = asked(tmp_path, "SELECT * FROM current", role_intervals=HAND_OVER)
    assert (row["leader"], row["term"], row["since"]) == ("n2", 2, at(40))
    assert (row["followers"], row["others"]) == (["n1"], ["n3"])


def test_a_group_without_leader_is_a_row_too(tmp_path: Path) -> None:
    (row,) = asked(tmp_path, "SELECT * FROM current", role_intervals=[role("n1", "leader", 0, 5, term=1)])
    assert (row["leader"], row["followers"], row["others"]) == (None, [], [])


def test_stretches_show_two_leaders_at_once_and_none(tmp_path: Path) -> None:
    roles = [
        role("n1", "leader", 0, 30, term=1),
        role("n2", "leader", 20, 50, term=2),
        role("n1", "acting_leader", 60, None),
    ]
    rows = asked(tmp_path, "SELECT * FROM leadership_at ORDER BY start_time", role_intervals=roles)
    assert [(row["start_time"], row["end_time"], row["leaders"], row["acting_leaders"]) for row in rows] == [
        (at(0), at(20), ["n1"], []),
        (at(20), at(30), ["n1", "n2"], []),
        (at(30), at(50), ["n2"], []),
        (at(50), at(60), [], []),
        (at(60), None, [], ["n1"]),
    ]


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (-1, []),
        (0.5, [("n1", "possible")]),
        (30, [("n1", "definite")]),
        (40.5, [("n2", "possible"), ("n1", "possible")]),
        (50, [("n2", "definite")]),
        (101, [("n2", "possible")]),
    ],
)
def test_who_led_at_a_moment_and_how_sure_that_is(
    tmp_path: Path, moment: float, expected: list[tuple[str, str]]
) -> None:
    empty = {"STRING": "", "BIGINT": 0, "TIMESTAMP": at(0)}
    file = {column.name: empty[column.type.sql] for column in TABLES["landed_files"].columns if not column.nullable}
    files = [file | {"cluster": "c1", "source_node": "n2", "last_line_time": at(100)}]
    query = f"SELECT node, certainty FROM leader_at('c1', 'g1', '{at(moment).isoformat()}')"  # noqa: S608
    rows = asked(tmp_path, query, role_intervals=HAND_OVER, landed_files=files)
    assert [(row["node"], row["certainty"]) for row in rows] == expected


REACHED = {"former_leader": "n1", "former_leader_state": "reachable"}
CHANGE = [term(1, "n1", 0, 40), term(2, "n2", 40, None, cause="heartbeat_timeout", **REACHED)]


def test_what_had_become_of_the_old_leader(tmp_path: Path) -> None:
    roles = [role("n1", "leader", 0, 20, term=1), role("n1", "leader", 25, 41, term=1, end_cause="told")]
    (row,) = asked(tmp_path, "SELECT * FROM leadership_changes", terms=CHANGE, role_intervals=roles)
    assert (row["old_leader"], row["new_leader"], row["old_leader_state"]) == ("n1", "n2", "reachable")
    assert row["old_leader_end"] == at(41), "the last time that it led the term"
    former_release = [term(1, "n1", 0, 40), term(2, "n2", 40, None)]
    (row,) = asked(tmp_path / "former", "SELECT * FROM leadership_changes", terms=former_release, role_intervals=roles)
    assert row["old_leader_state"] == "unknown"


@pytest.mark.parametrize(
    ("cause", "more", "why"),
    [
        ("heartbeat_timeout", [], "heartbeat_loss"),
        ("master_inactive", [], "controller_heartbeat_loss"),
        ("elected_again", [], "controller_heartbeat_loss"),
        ("requested", [], "operator"),
        ("leadership_transfer", [], "operator"),
        ("preferred_leader", [], "fail_back"),
        ("larger_term", [], "unknown"),
        (None, [], "unknown"),
        ("heartbeat_timeout", [finding("f", "LOG_GAP", 5, 20, nodes=["n2"])], "thread_starvation"),
        ("heartbeat_timeout", [finding("f", "LOG_GAP", 1, 5, nodes=["n2"])], "heartbeat_loss"),
    ],
)
def test_why_an_election_was_needless(tmp_path: Path, cause: str | None, more: list[dict[str, Any]], why: str) -> None:
    (row,) = asked(
        tmp_path,
        "SELECT * FROM needless_elections",
        terms=[term(1, "n1", 0, 40), term(2, "n2", 40, None, cause=cause, **REACHED)],
        role_intervals=[role("n1", "leader", 0, 40, term=1, end_cause="told")],
        findings=[*more, finding("other", "LEADERLESS", 0, None)],
    )
    assert row["why"] == why


def test_a_change_after_a_death_was_needed(tmp_path: Path) -> None:
    died = [CHANGE[0], CHANGE[1] | {"former_leader_state": "died"}]
    assert asked(tmp_path, "SELECT * FROM needless_elections", terms=died, role_intervals=[]) == []


def test_evidence_is_in_its_order_and_says_where_it_stands(tmp_path: Path) -> None:
    rows = asked(
        tmp_path,
        "SELECT position, path, line_no, text FROM evidence_lines ORDER BY finding_id, position",
        findings=[finding("f", "LEADERLESS", 0, 1, evidence=["e2", "e1", "gone"]), finding("none", "NOT_JUDGED", 0, 1)],
        log_lines=[log_line("e1", "a.log", 7, "one"), log_line("e2", "b.log", 9, "two")],
    )
    assert [tuple(row.values()) for row in rows] == [
        (1, "b.log", 9, "two"),
        (2, "a.log", 7, "one"),
        (3, None, None, None),
    ]


def test_groups_are_counted(tmp_path: Path) -> None:
    (row,) = asked(
        tmp_path,
        "SELECT * FROM groups",
        terms=CHANGE,
        role_intervals=HAND_OVER,
        findings=[
            finding("a", "LEADERLESS", 0, 4, duration_min_ms=3000),
            finding("b", "LOG_GAP", 0, 1, severity="info"),
        ],
    )
    assert list(row.values()) == ["c1", "g1", "warning", 0, 1, 1, 1, 1, 3000]


def test_a_timeline_tells_what_happened_between_two_times(tmp_path: Path) -> None:
    query = "SELECT kind, node, what, path FROM incident_timeline('c1', 'g1', '2026-03-01T12:00:40Z', until := '{}')"
    rows = asked(
        tmp_path,
        query.format("2026-03-01T12:00:40Z"),
        terms=CHANGE,
        role_intervals=HAND_OVER,
        findings=[finding("a", "LEADERLESS", 40, 41, evidence=["e1"])],
        events=[event("e1", "n1", 40, source_file="a.log", line_no=7)],
    )
    assert [tuple(row.values()) for row in rows] == [
        ("finding", None, "WARNING LEADERLESS: LEADERLESS.", "a.log"),
        ("role", "n2", "leader in term 2", None),
        ("term", None, "TERM 1: n1 leads no more", None),
        ("term", None, "TERM 2: led by n2 (proven, because: heartbeat timeout)", None),
    ]
