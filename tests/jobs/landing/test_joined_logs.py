"""Logs of one process behind one another in one file, and a clock that was put back."""

import pytest

from election_replay.jobs.landing.joined_logs import logs_in, logs_of_members


def lines(begin: int, count: int, text: str) -> list[str]:
    """Return lines of one second each, from ``begin`` seconds after 10:00 on."""
    times = (divmod(begin + number, 60) for number in range(count))
    return [f"2026-11-21 10:{m:02}:{s:02} INFO {text.format('abcdefgh'[s % 8])} {begin}" for m, s in times]


ROLES = lines(0, 60, "main{} - takes a role")


@pytest.mark.parametrize(
    ("sections", "logs"),
    [
        pytest.param([ROLES, lines(1, 50, "store{} - writes")], 2, id="other lines from about the same time on"),
        pytest.param([ROLES, lines(40, 9, "filter{} - registers")], 2, id="other lines that begin later"),
        pytest.param([ROLES, sorted([*ROLES[:30], *lines(0, 60, "more{}")])], 2, id="the same lines again, and more"),
        pytest.param([ROLES, lines(1, 50, "main{} - takes a role")], 1, id="the clock was put back"),
        pytest.param([ROLES, lines(40, 2, "hook - stops")], 1, id="the clock was put back, and the process stops"),
        pytest.param([ROLES[:9], lines(1, 50, "store{} - writes")], 1, id="a few lines show nothing"),
        pytest.param(
            [lines(60, 9, "main{} - takes a role"), lines(1, 50, "store{} - writes")], 2, id="it begins earlier"
        ),
        pytest.param(
            [ROLES, lines(1, 50, "store{} - writes"), lines(2, 30, "main{} - takes a role")],
            2,
            id="a third part is the rest of one of the logs",
        ),
    ],
)
def test_logs_of_one_process_are_told_from_a_clock_that_was_put_back(sections: list[list[str]], logs: int) -> None:
    found = logs_in(dict(enumerate(sections)))
    assert len(found) == logs
    assert sorted(number for log in found for number in log) == [*range(len(sections))]


def test_a_file_of_several_members_holds_several_logs_of_each() -> None:
    """``grep -h`` leaves few lines of each log; a clock that was put back would repeat the shapes of lines."""
    sections = [ROLES[:9], lines(1, 8, "store{} - writes")]
    assert len(logs_in(dict(enumerate(sections)))) == 1
    assert len(logs_in(dict(enumerate(sections)), joined=True)) == 2
    assert len(logs_in({0: ROLES[:9], 1: lines(1, 8, "main{} - takes a role")}, joined=True)) == 1


def test_logs_that_a_collector_merged_in_batches_are_not_one_behind_another() -> None:
    merged = [*lines(0, 30, "m{}"), *lines(20, 40, "m{}"), *lines(50, 30, "m{}")]
    behind = {number: "ab"[number >= 30] for number in range(100)}
    assert len(logs_of_members(merged[:70], {at: who for at, who in behind.items() if at < 70})) == 2
    assert logs_of_members(merged, {at: "abc"[at % 3] for at in range(100)}) == []
