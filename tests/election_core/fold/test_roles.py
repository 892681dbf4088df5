"""From role changes to role spans."""

from dataclasses import replace

import pytest

from election_replay.election_core.fold.process_runs import Incarnation
from election_replay.election_core.fold.roles import CANDIDATE, FOLLOWER, LEADER, Step, merged, spans
from election_replay.election_core.model.timing import SECOND

LIFE = Incarnation(0, "e0", 0, 1000 * SECOND, None, None, None, None, (), SECOND, 1001 * SECOND)


def seconds(*begins: int) -> list[tuple[int, int | None]]:
    """The spans of roles that were logged at these seconds, in this order."""
    roles = (CANDIDATE, LEADER, FOLLOWER)
    steps = [
        Step(at * SECOND, (at + 1) * SECOND, roles[number % 3], number, None, f"e{number}")
        for number, at in enumerate(begins)
    ]
    return [
        (span.step.at // SECOND, None if span.until is None else span.until // SECOND)
        for span in spans(steps, [LIFE], CANDIDATE)
    ]


@pytest.mark.parametrize(
    ("logged", "told"),
    [
        ((0, 10, 20), [(0, 10), (10, 20), (20, None)]),
        ((0, 10, 6), [(0, 10), (10, 10), (10, None)]),
        ((0, 40, 10, 50), [(0, 40), (40, 40), (40, 50), (50, None)]),
    ],
    ids=["in turn", "a step back too small to be proven", "a single old line"],
)
def test_roles_follow_one_another_as_the_log_has_them(logged: tuple[int, ...], told: list[tuple[int, int]]) -> None:
    assert seconds(*logged) == told


def test_the_same_again_is_no_change_and_a_name_that_is_said_later_is_kept() -> None:
    nameless, named = (
        Step(at * SECOND, at * SECOND, LEADER, 1, None, None, node=node) for at, node in ((0, None), (5, "a"))
    )
    other = replace(named, at=9 * SECOND, by=9 * SECOND, node="b")
    assert merged([nameless, named]) == [replace(nameless, node="a")]
    assert merged([named, replace(nameless, at=9 * SECOND)]) == [named]
    assert merged([named, other]) == [named]
