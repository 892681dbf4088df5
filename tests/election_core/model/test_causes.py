"""Which cause decides about the next steps, by rows of small made-up groups."""

from dataclasses import replace
from typing import Any

import pytest

from election_replay.election_core.model.next_steps import CAUSES
from election_replay.election_core.model.next_steps.causes import causes
from election_replay.election_core.model.rows import Finding, RoleInterval, Row, Term

S = 1_000_000
GROUP: dict[str, Any] = {"cluster": "c1", "replica_group": "g1", "protocol": "dledger"}
NO_EVENTS: dict[str, Any] = {"start_event_id": None, "end_event_id": None}


def led(term: int, leader: str, start: int, end: int | None, cause: str | None = None) -> Term:
    """A term; times in seconds."""
    ends = None if end is None else end * S
    more: dict[str, Any] = {"leader": leader, "start_time": start * S, "end_time": ends, "cause": cause}
    return Term(**GROUP, **NO_EVENTS, **more, term=term, certainty="proven")


def role(node: str, term: int, start: int, end: int | None, end_cause: str | None = None) -> RoleInterval:
    """A time as leader."""
    return RoleInterval(
        **GROUP,
        **NO_EVENTS,
        node=node,
        source_node=node,
        role="leader",
        term=term,
        leader=node,
        start_time=start * S,
        end_time=None if end is None else end * S,
        start_uncertainty_ms=1000,
        end_uncertainty_ms=1000,
        start_cause=None,
        end_cause=end_cause,
    )


def found(rule: str, start: int, end: int | None, **more: Any) -> Finding:
    """A finding, called after its rule."""
    said: dict[str, Any] = {"severity": "warning", "certainty": "definite", "nodes": (), "terms": (), "evidence": ()}
    when = {"start_time": start * S, "end_time": None if end is None else end * S}
    return Finding(**GROUP, **(said | when | more), finding_id=rule, rule=rule, summary="")


def change(end: int | None, end_cause: str | None, cause: str | None = None) -> list[Row]:
    """n1 led term 1 until 30, n2 leads term 2 since 42; ``end`` is when n1 gave up."""
    old = role("n1", 1, 0, end, end_cause)
    return [led(1, "n1", 0, 30), led(2, "n2", 42, None, cause), old, role("n2", 2, 42, None)]


@pytest.mark.parametrize(
    ("end", "end_cause", "more", "expected"),
    [
        (30, "died", [], "died"),
        (30, "stopped", [], "died"),
        (30, "quorum_lost", [], "cut_off"),
        (42, "larger_term", [], "reachable"),
        (50, "larger_term", [], "any"),
        (50, "larger_term", [found("SPLIT_BRAIN_OVERLAP", 42, 50, terms=(1, 2), overlap_max_ms=8000)], "cut_off"),
        (50, "larger_term", [found("LOG_GAP", 28, 49, nodes=("n1",))], "frozen"),
        (50, "larger_term", [found("LOG_GAP", 28, 49, nodes=("n3",))], "any"),
        (None, None, [], "any"),
    ],
)
def test_a_time_without_a_leader_comes_of_what_became_of_the_old_one(
    end: int | None, end_cause: str | None, more: list[Row], expected: str
) -> None:
    rows = [*change(end, end_cause), found("LEADERLESS", 30, 42), *more]
    assert causes(rows)["LEADERLESS"] == expected
    assert causes(reversed(rows))["LEADERLESS"] == expected


def test_what_follows_from_another_finding_and_what_is_far_from_a_change_have_no_cause() -> None:
    rows = change(30, "died")
    assert causes([*rows, found("LEADERLESS", 30, 42, implied_by="f")])["LEADERLESS"] == "any"
    assert causes([*rows, found("LEADERLESS", 30, 40)])["LEADERLESS"] == "any"
    assert causes([*rows, found("LEADERLESS", 30, 41)])["LEADERLESS"] == "died", "whole seconds do not tell"
    assert causes([*rows, found("ELECTION_STORM", 30, 42)])["ELECTION_STORM"] == "any"


def test_leaders_of_another_protocol_are_no_predecessors() -> None:
    other = [replace(row, protocol="controller") for row in change(30, "died")[:1]]
    assert causes([*other, *change(30, "died")[1:], found("LEADERLESS", 30, 42)])["LEADERLESS"] == "any"


def test_what_was_lost_counts_before_anything_else() -> None:
    lost = found("SPLIT_BRAIN_OVERLAP", 42, 50, terms=(1, 2), messages_lost=3)
    assert causes([*change(30, "died"), lost])[lost.finding_id] == "lost"
    assert causes([*change(30, "died"), replace(lost, messages_lost=0)])[lost.finding_id] == "died"


def test_a_clock_that_was_only_set_asks_for_other_steps() -> None:
    skew = found("CLOCK_SKEW", 0, 1, clock_set_by_ms=-9000)
    assert causes([skew])["CLOCK_SKEW"] == "was_set"
    assert causes([replace(skew, clock_least_ms=5000, clock_most_ms=6000)])["CLOCK_SKEW"] == "any"
    assert causes([replace(skew, clock_set_by_ms=None)])["CLOCK_SKEW"] == "any"
    assert {"was_set", "lost", "died", "cut_off", "frozen", "reachable", "any"} == {*CAUSES}
