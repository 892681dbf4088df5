"""Files whose newest line comes first are seen by their times, and read from their end."""

import pytest

from election_replay.jobs.landing.reversed_files import newest_first, reversed_files, stamp

OLDEST_FIRST = [f"2026-03-01 10:00:{second:02} INFO main - line {second}" for second in range(10)]
WHOLE_SECONDS = [f"2026-03-01 10:00:{line // 7:02} INFO main - line {line}" for line in range(70)]
A_STEP_BACK = [*OLDEST_FIRST[:8], *OLDEST_FIRST[2:]]
TRACED = [
    "2026-03-01 10:00:01 INFO main - before",
    "2026-03-01 10:00:02 ERROR main - it failed",
    "java.io.IOException: no",
    "\tat a.b.C.d(C.java:1)",
    "\tat a.b.C.e(C.java:2)",
    "2026-03-01 10:00:03 INFO main - after",
]


@pytest.mark.parametrize("lines", [OLDEST_FIRST, WHOLE_SECONDS, TRACED])
def test_a_file_turned_line_by_line_is_seen_and_turned_back(lines: list[str]) -> None:
    assert not newest_first(lines)
    assert newest_first(lines[::-1])
    assert reversed_files(lines[::-1]) == lines


def test_a_record_of_several_lines_may_stand_as_it_was_written() -> None:
    exported = [TRACED[5], *TRACED[1:5], TRACED[0]]
    assert newest_first(exported)
    assert reversed_files(exported) == TRACED


def test_a_clock_that_is_put_back_once_is_no_such_file() -> None:
    assert not newest_first(A_STEP_BACK)
    assert not newest_first(OLDEST_FIRST[:1])
    assert not newest_first(["2026-03-01 10:00:02 INFO a", "2026-03-01 10:00:01 INFO b"])


def test_lines_out_of_order_here_and_there_do_not_hide_the_order() -> None:
    backwards = WHOLE_SECONDS[::-1]
    backwards[20], backwards[40] = backwards[40], backwards[20]
    assert newest_first(backwards)
    forwards = [*WHOLE_SECONDS]
    forwards[20], forwards[40] = forwards[40], forwards[20]
    assert not newest_first(forwards)


def test_a_heading_stays_above_its_columns() -> None:
    heading = '"@timestamp","message"'
    rows = [f'"2026-03-01T10:00:{second:02}.000Z","line {second}"' for second in range(5)]
    assert reversed_files([heading, *rows[::-1]]) == [heading, *rows]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("2026-03-01T10:00:00.9Z x", "2026-03-01T10:00:01.0Z x"),
        ('"May 28, 2025 @ 10:40:40.510",x', '"May 28, 2025 @ 10:40:40.520",x'),
        ("May 31 23:59:59 host etcd[1]: x", "Jun  1 00:00:00 host etcd[1]: x"),
        ('{"level":"info","ts":1748428740.5,"msg":"x"}', '{"level":"info","ts":1748428741.25,"msg":"x"}'),
        ('{"timestamp":"1748428740000000001"}', '{"timestamp":"1748428740000000002"}'),
    ],
)
def test_times_are_compared_however_they_are_written(earlier: str, later: str) -> None:
    before, after = stamp(earlier), stamp(later)
    assert before is not None
    assert after is not None
    assert before < after
