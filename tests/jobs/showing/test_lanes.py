"""The picture of a group: what is drawn together loses nothing, no lane hides another, and it says what it knows."""

from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring, tostring

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from election_replay.jobs.reading import lanes
from election_replay.jobs.reading.clocks import Clocks, WrongClock
from election_replay.jobs.reading.incident import Incident, incident
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import harmless
from election_replay.jobs.showing.picture import MARKS_SHOWN, TICKS, Links, Scale, marks, picture
from election_replay.jobs.showing.rendering import TEMPLATES
from election_replay.schemas import TABLES
from tests.jobs.tables import GROUP, at, blank, event, finding, publish, put, role, term

BEGIN, END, LOG_END = at(20), at(80), at(70)

spans = st.lists(
    st.builds(
        lambda node, source, name, start, length: role(
            node, name, start, None if length is None else start + length, source_node=source
        ),
        st.sampled_from(["n0", "n1"]),
        st.sampled_from(["a", "b", None]),
        st.sampled_from(["leader", "follower", "candidate"]),
        st.floats(0, 100).map(lambda second: round(second, 2)),
        st.none() | st.sampled_from([0, 0.01, 0.5, 30]) | st.floats(0, 5).map(lambda second: round(second, 3)),
    ),
    max_size=40,
)


class Roles:
    """Published tables that hold nothing but roles."""

    def __init__(self, roles: list[dict[str, Any]]) -> None:
        schema = TABLES["role_intervals"].arrow_schema()
        full = [dict.fromkeys(schema.names) | row for row in roles]
        self._database = duckdb.connect()
        self._database.register("role_intervals", pa.Table.from_pylist(full, schema))

    def rows(self, sql: str, values: dict[str, Any]) -> list[dict[str, Any]]:
        """As :class:`Published` answers."""
        found: list[dict[str, Any]] = self._database.sql(sql, params=values).to_arrow_table().to_pylist()
        return found


def drawn(roles: list[dict[str, Any]], clocks: Clocks = Clocks()) -> lanes.Lanes:  # noqa: B008 - it is frozen
    """What is drawn of these alone."""
    counts = Counter((row["node"], row["source_node"]) for row in roles)
    members = [{"node": node, "source_node": source, "roles": count} for (node, source), count in counts.items()]
    ends = dict.fromkeys(("a", "b"), LOG_END)
    return lanes.lanes(Roles(roles), "c1", "g1", (BEGIN, END), members, clocks, ends)  # type: ignore[arg-type]


def told(findings: list[dict[str, Any]], lanes: lanes.Lanes | None = None) -> Incident:
    """An incident that is known by its findings and lanes alone."""
    empty: dict[str, Any] = dict.fromkeys(Incident.__dataclass_fields__)
    known = {"begin": BEGIN, "end": END, "findings": findings, "drawn": lanes, "names": {}, "clocks": Clocks()}
    return Incident(**empty | known)


def seen(row: dict[str, Any]) -> tuple[datetime, datetime] | None:
    """From when to when a role lies in the window, if it does."""
    end = max(row.get("end_time") or (LOG_END if row["source_node"] else END), row["start_time"])
    return (max(row["start_time"], BEGIN), min(end, END)) if row["start_time"] <= END and end >= BEGIN else None


@settings(max_examples=60, deadline=None)
@given(spans, st.integers(2, 50))
def test_bars_that_stand_for_several_roles_lose_none_and_add_none(roles: list[dict[str, Any]], shown: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lanes, "BARS_SHOWN", shown)
        bars = drawn(roles).bars
        counts = Counter((row["node"], row["source_node"]) for row in roles)
        column = timedelta(microseconds=lanes.column_of(BEGIN, END, [{"roles": count} for count in counts.values()]))
    inside = [(lanes.lane_of(row), row["role"], *edges) for row in roles if (edges := seen(row))]
    counted = Counter(
        (lanes.lane_of(bar), one["role"]) for bar in bars for one in bar["roles"] for _ in range(one["n"])
    )
    assert counted == Counter((lane, name) for lane, name, _, _ in inside)
    assert all(bar["n"] == sum(one["n"] for one in bar["roles"]) for bar in bars)
    for lane, name, left, right in inside:
        assert any(
            lanes.lane_of(bar) == lane
            and name in {one["role"] for one in bar["roles"]}
            and bar["left_edge"] <= left
            and right <= bar["right_edge"]
            for bar in bars
        )
    for bar in bars:
        own = {(left, right) for lane, _, left, right in inside if lane == lanes.lane_of(bar)}
        assert bar["left_edge"] in {left for left, _ in own}
        assert bar["right_edge"] in {right for _, right in own}
        assert bar["right_edge"] - bar["left_edge"] < 2 * column or (bar["left_edge"], bar["right_edge"]) in own


@settings(max_examples=40, deadline=None)
@given(spans)
def test_every_source_with_roles_has_its_lane(roles: list[dict[str, Any]]) -> None:
    found = drawn(roles)
    assert set(found.names) == {(row["node"], row["source_node"]) for row in roles}
    assert len(set(found.names.values())) == len(found.names) or any(source is None for _, source in found.names)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 80), st.none() | st.floats(0, 60)), max_size=60))
def test_marks_that_stand_for_several_findings_lose_none(times: list[tuple[float, float | None]]) -> None:
    found = [
        finding(f"f{n}", "LEADERLESS", start, end)
        for n, (start, length) in enumerate(sorted(times, key=lambda one: one[0]))
        if (end := None if length is None else start + length) is None or end >= 20
    ]
    row = marks(told(found)).get("warning", [])
    assert [one for mark in row for one in mark.findings] == found
    for mark in row:
        for one in mark.findings:
            assert mark.at <= max(one["start_time"], BEGIN)
            assert min(one["end_time"] or END, END) <= mark.until
    assert all(later.at - mark.at >= (END - BEGIN) / MARKS_SHOWN for mark, later in pairwise(row))


def test_few_roles_are_drawn_each_for_itself() -> None:
    roles = [role("n0", "candidate", 30 + n // 2, 30 + n // 2, term=n, source_node="a") for n in range(20)]
    assert [(bar["n"], bar["first_term"]) for bar in drawn(roles).bars] == [(1, n) for n in range(20)]


def test_a_leader_that_still_leads_when_its_log_ends_goes_on_hatched_to_the_end_of_the_group() -> None:
    found = drawn(
        [
            role("n0", "leader", 30, None, term=1, source_node="a"),
            role("n1", "follower", 30, None, term=1, source_node="b"),
            role("n2", "leader", 30, 40, term=0, source_node="b"),
        ]
    )
    assert [(tail["node"], tail["left_edge"]) for tail in found.tails] == [("n0", LOG_END)]


def test_two_leaders_at_once_are_a_band_and_a_change_of_leader_within_a_second_is_none() -> None:
    found = drawn(
        [
            role("n0", "leader", 30, 50, term=1, source_node="a"),
            role("n1", "leader", 40, 60, term=2, source_node="b"),
            role("n0", "leader", 60, 65, term=3, source_node="a"),
        ]
    )
    assert [(band["left_edge"], band["right_edge"]) for band in found.bands] == [(at(41), at(50))]


def test_two_machines_under_one_id_that_lead_at_once_are_a_band_as_well() -> None:
    machines = [role("n0", "leader", 30, 50, term=1, source_node=source) for source in ("a", "b")]
    assert [(band["source_node"], band["other_source_node"]) for band in drawn(machines).bands] == [("a", "b")]


def test_what_a_wrong_clock_showed_shifts_its_lane() -> None:
    behind = WrongClock("b", at(0), at(200), timedelta(seconds=-10.5))
    roles = [role("n0", "leader", 30, 40, source_node="a"), role("n1", "leader", 30, 40, source_node="b")]
    found = drawn(roles, Clocks((behind,)))
    assert [(bar["node"], bar["left_edge"]) for bar in found.bars] == [("n0", at(30)), ("n1", at(40.5))]
    assert found.bands == []
    assert len(drawn(roles).bands) == 1
    assert behind.shift == "+10.5 s"


@given(st.floats(0.001, 10**9))
def test_times_above_the_lanes_are_round(length: float) -> None:
    scale = Scale(BEGIN, BEGIN + timedelta(seconds=length))
    ticks = list(scale.ticks())
    assert len(ticks) <= TICKS + 2
    assert all(tick.microsecond == 0 and BEGIN <= tick <= scale.end for tick in ticks)
    if length > 600:
        assert all(tick.second == 0 for tick in ticks)


def behind(second: float) -> datetime:
    """What a clock that is 88.5 s behind shows at a second."""
    return at(second - 88.5)


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """Two machines under one id, both leaders at once, a third one whose clock is 88.5 s behind, and followers."""
    tables = blank(tmp_path_factory.mktemp("lanes") / "w")
    put(
        tables,
        "role_intervals",
        role("n0", "leader", 0, None, term=1, source_node="host-a"),
        role("n0", "leader", 10, 60, term=2, source_node="host-b"),
        role("n0", "follower", 60, None, term=3, source_node="host-b"),
        role(
            "n1",
            "follower",
            2,
            30,
            term=1,
            source_node="host-c",
            start_time_logged=behind(2),
            end_time_logged=behind(30),
        ),
        role("n1", "follower", 30, None, term=2, source_node="host-c", start_time_logged=behind(30)),
    )
    put(tables, "terms", term(1, "n0", 0, None), term(2, "n0", 10, 60))
    skew = {"clock_least_ms": -89_000, "clock_most_ms": -88_000, "nodes": ["n1"]}
    put(
        tables,
        "findings",
        finding("s1", "CLOCK_SKEW", 0, 60, summary="The clock of n1 (host-c) was behind.", **skew),
    )
    off = {"protocol": "sources", "source_node": "host-c", "position": 1, "finding_id": "s1", "moved_ms": 88_500}
    shown = {"start_time_logged": behind(0), "end_time_logged": behind(80)}
    put(tables, "clock_offsets", GROUP | {"start_time": at(0), "end_time": at(80)} | shown | off)
    put(tables, "events", event("e1", "host-c", 30 - 88.5))
    columns = TABLES["landed_files"].columns
    schema = TABLES["landed_files"].arrow_schema()
    ends = {one.name: nothing(schema.field(one.name).type) for one in columns if not one.nullable} | {"cluster": "c1"}
    for source, end in (("host-a", 40), ("host-b", 90), ("host-c", 80 - 88.5)):
        put(tables, "landed_files", ends | {"source_node": source, "last_line_time": at(end)})
    publish(tables)
    return Published(tables)


def nothing(kind: pa.DataType) -> Any:
    """A value of a type that says nothing."""
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return ""
    return at(0) if pa.types.is_timestamp(kind) else [] if pa.types.is_nested(kind) else 0


def texts(element: Element) -> list[str]:
    """All text of a picture that is shown, in its order."""
    return [one.text for one in element.iter("text") if one.text]


def of_class(element: Element, name: str) -> list[Element]:
    """The elements of a class."""
    return [one for one in element.iter() if name in (one.get("class") or "").split()]


NOWHERE = Links(lambda _: None, lambda _: None)


def svg(found: Incident) -> str:
    """The picture as it stands in a page; links lead nowhere."""
    drawing = TEMPLATES.get_template("picture.html.j2").module
    return str(drawing.picture(picture(found, NOWHERE))).replace(' xmlns="http://www.w3.org/2000/svg"', "")  # type: ignore[attr-defined]


def test_the_drawn_picture_has_a_lane_a_machine_a_band_a_hatch_and_the_shift(twins: Published) -> None:
    found = incident(twins, "c1", "g1")
    shown = fromstring(svg(found))
    names = [text for text in texts(shown) if text.startswith("n")]
    assert names == ["n0 (host-a)", "n0 (host-b)", "n1 (host-c)"]
    assert [one.text for one in of_class(shown, "shift")] == ["  clock put right: +88.5 s"]
    [tail] = [one for one in of_class(shown, "later") if one.tag == "rect"]
    assert tail.get("fill") == "url(#hatch-later)"
    [band] = [one for one in of_class(shown, "both") if one.tag == "rect"]
    assert "n0 (host-a) and n0 (host-b) lead at once" in tostring(band, encoding="unicode")
    assert len(of_class(shown, "edge")) == 1
    raw = fromstring(svg(incident(twins, "c1", "g1", raw=True)))
    assert of_class(raw, "shift") == []
    assert int(raw.get("data-begin", 0)) == int(shown.get("data-begin", 0)) - 86_500


def test_a_role_that_may_have_begun_later_is_faint_until_it_surely_had() -> None:
    late = [
        role("n0", "leader", 30, 70, term=1, start_uncertainty_ms=10_000),
        role("n1", "leader", 30, 70, start_uncertainty_ms=0),
    ]
    late.append(role("n2", "follower", 30, 40, term=1, start_uncertainty_ms=20_000))
    found = told([], drawn(late))
    shown = fromstring(svg(found))
    assert [one.get("width") for one in of_class(shown, "unsure")] == ["25.0%", "100%"]
    places = {
        (one.text, one.get("x")) for one in shown.iter("text") if one.text in {"leader 1", "leader", "follower 1"}
    }
    assert places == {("leader 1", "25.0%"), ("leader", "0%"), ("follower 1", "0%")}
    assert ("unsure", "may have begun later") in picture(found, NOWHERE).swatches


def test_the_text_has_the_same_lanes(twins: Published) -> None:
    from election_replay.jobs.showing.incident_text import lane_lines

    lines = list(lane_lines(incident(twins, "c1", "g1")))
    named = {line[2:24].strip(): line[24:] for line in lines[3:] if line.startswith("  ") and line.strip()}
    assert any("~: leader, no later line" in line for line in lines)
    first, second = (next(line for line in lines if host in line) for host in ("host-a", "host-b"))
    assert "1####" in first
    assert first.rstrip().endswith("~")
    assert "2####" in second
    assert "+88.5 s" in next(line for line in lines if "host-c" in line)
    assert "|" in next(line for line in lines if "host-c" in line)
    assert any(line.strip().startswith("leaders") and "=" in line for line in lines), named


def test_text_from_logs_is_text_in_the_picture(tmp_path: Path) -> None:
    from tests.jobs.showing.test_dashboard import filled

    published = Published(filled(tmp_path / "w"))
    text = harmless(svg(incident(published, "c1", "bs-orders")))
    assert "&lt;img" in text
    assert "<img" not in text
    assert "\x1b" not in text
