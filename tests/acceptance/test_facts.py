"""What is known of a run from outside its logs, held against the tables: who led, who led at once, what was lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.known import Known, Led
from tests.acceptance.published import Row, Warehouse
from tests.acceptance.verdict import NEAR, end, latest_end, show, start

pytestmark = pytest.mark.slow

SPLITS = ("SPLIT_BRAIN_OVERLAP", "SPLIT_BRAIN_SAME_TERM")
QUEUES_CUT = "QUEUES_CUT_AT_START"
"""DLedger's loss at a restart: no election's fault."""

RUNS = (
    *("chaos-36", "isolate-leader-36-slow", "kill-leader-33", "kill-leader-36"),
    *("chaos", "master-cut-off-slow-timing", "master-killed-5.2.0"),
    *("chaos-533", "five-kill-leader-then-two-533", "kill-leader-480", "kill-leader-520", "restarted-leads-533"),
    *("chaos-372", "isolate-leader-3510-tick500", "isolate-leader-372-tick3000", "kill-leader-3414", "kill-leader-394"),
)
"""The runs that have facts."""

Tables = dict[str, list[Row]]


@pytest.fixture(scope="module")
def everything(gold: Warehouse) -> Tables:
    return {name: gold.rows(f"gold/{name}") for name in ("role_intervals", "terms", "findings")}


@pytest.fixture(params=RUNS)
def known(request: pytest.FixtureRequest, runs: dict[str, Path]) -> Known:
    return Known(runs[request.param])


@pytest.fixture
def tables(known: Known, everything: Tables) -> Tables:
    return {
        name: [row for row in rows if row["cluster"] == known.path.name and start(row) < known.ended]
        for name, rows in everything.items()
    }


def leading(tables: Tables) -> list[Row]:
    return [row for row in tables["role_intervals"] if row["role"] == "leader" and row["source_node"]]


def members(tables: Tables, known: Known) -> dict[str, str]:
    """The name in its group of each node that led it, by the folder of its logs."""
    folders = {led.node for led in known.leaders}
    return {row["source_node"]: row["node"] for row in leading(tables) if row["source_node"] in folders}


def test_all_runs_with_facts_are_asked(runs: dict[str, Path]) -> None:
    assert {name for name, path in runs.items() if Known(path).facts is not None} == set(RUNS)


def test_each_leader_led_its_term_as_long_as_it_did(known: Known, tables: Tables) -> None:
    """In common time, whatever the clock of the leader showed."""
    wrong = [text for led in known.leaders for text in contradictions(led, known, tables)]
    assert not wrong, "\n".join(wrong)


def contradictions(led: Led, known: Known, tables: Tables) -> Iterator[str]:
    """What the tables say otherwise about one leadership."""
    own = [row for row in leading(tables) if (row["source_node"], row["term"]) == (led.node, led.term)]
    if len(own) != 1:
        yield f"{led} is not one interval:\n{show(own)}"
        return
    [role] = own
    begin, until = led.since, led.until
    if abs(start(role) - begin) > known.step:
        yield f"{led} begins by its role at {role['start_time']}"
    if not _ends(role, led, until, known.step):
        yield f"{led} ends by its role at {role['end_time']} + {role['end_uncertainty_ms']} ms"
    terms = [
        row
        for row in tables["terms"]
        if (row["replica_group"], row["term"], row["leader"]) == (role["replica_group"], led.term, role["node"])
    ]
    if not any(_is_of(row, role) and abs(start(row) - begin) <= known.step for row in terms):
        yield f"{led} has no such term:\n{show(terms)}"


def _is_of(term: Row, role: Row) -> bool:
    """Whether a term ends when the role of its leader does."""
    return bool(term["end_time"] == role["end_time"])


def _ends(role: Row, led: Led, until: float, step: float) -> bool:
    """A killed or stopped process wrote its last line at some time before; one at the end of the run has no end."""
    if led.ended_by == "end of run":
        return end(role) >= until - NEAR
    if led.ended_by == "stop":  # it goes on for a moment
        return end(role) - NEAR <= until <= latest_end(role) + step
    return end(role) - step <= until <= latest_end(role) + step


def test_nobody_else_led(known: Known, tables: Tables) -> None:
    found = {(row["source_node"], row["term"]) for row in leading(tables)}
    assert found == {(led.node, led.term) for led in known.leaders}


def test_who_led_at_once_and_how_long(known: Known, tables: Tables) -> None:
    """Each overlap has its finding, whose bounds hold its length; no other one is claimed as more than possible."""
    name_of = members(tables, known)
    found = [row for row in tables["findings"] if row["rule"] in SPLITS]
    told: list[Row] = []
    missing = []
    for overlap in known.overlaps:
        nodes = {name_of[node] for node in overlap.nodes}
        rounding = max(known.step, 0.06)  # facts are rounded to a tenth
        good = [
            row
            for row in found
            if set(row["nodes"]) == nodes
            and set(row["terms"]) == overlap.terms
            and row["overlap_min_ms"] / 1000 - rounding <= overlap.seconds <= row["overlap_max_ms"] / 1000 + rounding
        ]
        if len(good) != 1 and not known.undecided(overlap):
            missing.append(f"{overlap}:\n{show(found)}")
        told += good
    assert not missing, "\n".join(missing)
    more = [row for row in found if row not in told and row["certainty"] != "possible"]
    assert not more, show(more)


def test_what_was_lost_is_told_by_whom_it_was_taken(known: Known, tables: Tables) -> None:
    """Each loss by a stale master has a critical finding with offsets that hold it, and names the master."""
    name_of = members(tables, known)
    for gone in known.gone:
        good = [
            row
            for row in tables["findings"]
            if row["severity"] == "critical"
            and row["offset_after"] is not None
            and row["offset_after"] <= gone.first_offset <= gone.last_offset < row["offset_before"]
            and name_of[gone.node] in row["nodes"]
        ]
        assert good, f"{gone}:\n{show(tables['findings'])}"
    if known.unreadable:
        assert any(row["rule"] == QUEUES_CUT for row in tables["findings"]), show(tables["findings"])


def test_nothing_critical_that_did_not_happen(known: Known, tables: Tables) -> None:
    """Critical is what lost or forked something; where nothing was lost, no finding counts lost messages."""
    findings = [row for row in tables["findings"] if not (known.unreadable and row["rule"] == QUEUES_CUT)]
    critical = [row for row in findings if row["severity"] == "critical"]
    if not known.gone:
        assert not critical, show(critical)
        counted = [row for row in findings if row["messages_lost"] or row["bytes_lost"]]
        assert not [row for row in counted if row["severity"] != "info"], show(counted)
        return
    name_of = members(tables, known)
    takers = {name_of[gone.node] for gone in known.gone}
    assert all(takers & set(row["nodes"]) for row in critical), show(critical)


def test_no_time_without_a_leader_in_which_clients_wrote(known: Known, tables: Tables) -> None:
    """Where a client writes all the time, it was without service at least as long as a group surely had no leader."""
    groups = {row["replica_group"] for row in leading(tables)} - _controllers(known, tables)
    claims = [
        row
        for row in tables["findings"]
        if row["rule"] == "LEADERLESS"
        and row["severity"] != "info"
        and row["replica_group"] in groups
        and row["certainty"] != "possible"
    ]
    false = [
        row
        for row in claims
        if not any(
            start(row) - NEAR <= outage.until
            and end(row) + NEAR >= outage.since
            and row["duration_min_ms"] / 1000 <= outage.until - outage.since + known.step
            for outage in known.unwritten
        )
    ]
    assert not false, show(false)


def _controllers(known: Known, tables: Tables) -> set[str]:
    own = {led.node for led in known.leaders if led.of_controllers}
    return {row["replica_group"] for row in leading(tables) if row["source_node"] in own}
