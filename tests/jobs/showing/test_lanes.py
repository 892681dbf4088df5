"""The picture of a group: what is drawn together loses nothing, and text from logs is no markup in it."""

import re
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.reading.incident import Incident, incident
from jobs.reading.published import Published
from jobs.showing import lanes
from schemas import TABLES
from tests.jobs.showing.test_dashboard import filled
from tests.jobs.tables import at, finding, role

BEGIN, END, LOG_END = at(20), at(80), at(70)

spans = st.lists(
    st.builds(
        lambda node, name, start, length: role(node, name, start, None if length is None else start + length),
        st.sampled_from(["n0", "n1", "n2"]),
        st.sampled_from(["leader", "follower", "candidate"]),
        st.floats(0, 100).map(lambda second: round(second, 2)),
        st.none() | st.sampled_from([0, 0.01, 0.5, 30]) | st.floats(0, 5).map(lambda second: round(second, 3)),
    ),
    max_size=40,
)


class Roles:
    """Published tables that hold nothing but roles, and when each node's log ends."""

    def __init__(self, roles: list[dict[str, Any]]) -> None:
        schema = TABLES["role_intervals"].arrow_schema()
        full = [dict.fromkeys(schema.names) | row for row in roles]
        ends = [{"cluster": "c1", "source_node": node, "log_end": LOG_END} for node in ("n0", "n1", "n2")]
        self._database = duckdb.connect()
        self._database.register("role_intervals", pa.Table.from_pylist(full, schema))
        self._database.register("log_ends", pa.Table.from_pylist(ends))

    def rows(self, sql: str, values: dict[str, Any]) -> list[dict[str, Any]]:
        """As :class:`Published` answers."""
        found: list[dict[str, Any]] = self._database.sql(sql, params=values).to_arrow_table().to_pylist()
        return found


def told(roles: list[dict[str, Any]], findings: list[dict[str, Any]]) -> Incident:
    """What is known of these alone."""
    empty: dict[str, Any] = dict.fromkeys(Incident.__dataclass_fields__)
    counts = Counter(row["node"] for row in roles)
    members = [{"node": node, "source_node": node, "roles": count} for node, count in counts.items()]
    window = {"cluster": "c1", "group": "g1", "begin": BEGIN, "end": END}
    return Incident(**empty | window | {"members": members, "findings": findings})


def seen(row: dict[str, Any]) -> tuple[datetime, datetime] | None:
    """From when to when a role lies in the window, if it does."""
    end = max(row.get("end_time") or LOG_END, row["start_time"])
    return (max(row["start_time"], BEGIN), min(end, END)) if row["start_time"] <= END and end >= BEGIN else None


@settings(max_examples=60, deadline=None)
@given(spans, st.integers(2, 50))
def test_bars_that_stand_for_several_roles_lose_none_and_add_none(roles: list[dict[str, Any]], shown: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lanes, "BARS_SHOWN", shown)
        here = told(roles, [])
        drawn = lanes.bars(Roles(roles), here)  # type: ignore[arg-type]
        column = timedelta(microseconds=lanes.column_of(here))
    inside = [(row["node"], row["role"], *edges) for row in roles if (edges := seen(row))]
    counted = Counter((bar["node"], one["role"]) for bar in drawn for one in bar["roles"] for _ in range(one["n"]))
    assert counted == Counter((node, name) for node, name, _, _ in inside)
    assert all(bar["n"] == sum(one["n"] for one in bar["roles"]) for bar in drawn)
    for node, name, left, right in inside:
        assert any(
            bar["node"] == node
            and name in {one["role"] for one in bar["roles"]}
            and bar["left_edge"] <= left
            and right <= bar["right_edge"]
            for bar in drawn
        )
    for bar in drawn:
        own = {(left, right) for node, _, left, right in inside if node == bar["node"]}
        assert bar["left_edge"] in {left for left, _ in own}
        assert bar["right_edge"] in {right for _, right in own}
        assert bar["right_edge"] - bar["left_edge"] < 2 * column or (bar["left_edge"], bar["right_edge"]) in own


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 80), st.none() | st.floats(0, 60)), max_size=60))
def test_marks_that_stand_for_several_findings_lose_none(times: list[tuple[float, float | None]]) -> None:
    found = [
        finding(f"f{n}", "LEADERLESS", start, end)
        for n, (start, length) in enumerate(sorted(times, key=lambda one: one[0]))
        if (end := None if length is None else start + length) is None or end >= 20
    ]
    row = lanes.marks(told([], found))["warning"]
    assert [one for mark in row for one in mark.findings] == found
    for mark in row:
        for one in mark.findings:
            assert mark.at <= max(one["start_time"], BEGIN)
            assert min(one["end_time"] or END, END) <= mark.until
    assert all(later.at - mark.at >= (END - BEGIN) / lanes.MARKS_SHOWN for mark, later in pairwise(row))


def test_few_roles_are_drawn_each_for_itself() -> None:
    roles = [role("n0", "candidate", 30 + n // 2, 30 + n // 2, term=n) for n in range(20)]
    drawn = lanes.bars(Roles(roles), told(roles, []))  # type: ignore[arg-type]
    assert [(bar["n"], bar["first_term"]) for bar in drawn] == [(1, n) for n in range(20)]


def test_what_plotly_draws_is_disarmed(tmp_path: Path) -> None:
    published = Published(filled(tmp_path / "w"))
    drawn = lanes.picture(published, incident(published, "c1", "bs-orders", at_most=100))
    text = drawn.figure.to_json()
    assert "&lt;img" in text
    assert not re.search(r"<\s*(img|a|b)\b", text)
    assert drawn.merged == ""
