"""Lines of a change of role that are lost prove nothing of whether its leader served."""

import pytest

from election_replay.election_core.fold.process_runs import Incarnation
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.protocols.dledger.broker_lines import changes_to_master

BEGIN, END = "DLB_ROLE_BEGIN", "DLB_ROLE_END"
LINES = {
    "begins to lead": (BEGIN, "LEADER", None),
    "leads": (END, "LEADER", True),
    "failed": (END, "LEADER", False),
    "begins to follow": (BEGIN, "FOLLOWER", None),
    "follows": (END, "FOLLOWER", True),
}


def life(start: int, next_start: int | None) -> Incarnation:
    return Incarnation(start, "s", start, start, None, None, next_start, None, (), start, start)


@pytest.mark.parametrize(
    ("said", "served"),
    [
        (("begins to lead", "leads"), [True]),
        (("begins to lead", "failed"), [False]),
        (("begins to lead",), [False]),
        (("begins to lead", "begins to follow", "follows"), []),
        (("begins to lead", "follows"), []),
        (("begins to lead", "begins to lead", "failed"), [False]),
    ],
)
def test_an_end_that_must_have_been_said_and_is_lost_says_nothing(said: tuple[str, ...], served: list[bool]) -> None:
    assert [end is not None for _, end in changes_to_master(events(said), [])] == served


def test_a_process_that_died_in_its_change_of_role_never_served() -> None:
    lives = [life(0, 1), life(1, None)]
    assert [end for _, end in changes_to_master(events(("begins to lead", "begins to follow")), lives)] == [None]


def events(said: tuple[str, ...]) -> list[FoldEvent]:
    return [
        FoldEvent(str(second), "broker.log", kind, second, second, role=role, term=1, flag=flag)
        for second, (kind, role, flag) in enumerate(LINES[name] for name in said)
    ]
