"""Files whose lines are not in the order in which they were written are seen by their times, and read in that order."""

import pytest

from election_replay.jobs.landing.reversed_files import (
    by_time,
    newest_first,
    parts_in_order,
    reversed_files,
    sorted_as_texts,
)
from election_replay.jobs.landing.written_times import stamp

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


def test_of_equal_times_the_terms_tell_the_order() -> None:
    """An export that sorts by its times, newest first, keeps lines of one time in the order in which they came."""
    time = "2026-03-01T10:00:0{}Z"
    written = [
        f"{time.format(1)} a is starting a new election at term 1",
        f"{time.format(1)} a became candidate at term 2",
        f"{time.format(1)} a became leader at term 2",
        f"{time.format(2)} a lost leader a at term 3",
        f"{time.format(3)} a is starting a new election at term 3",
        f"{time.format(3)} a became candidate at term 4",
    ]
    exported = [*written[4:], written[3], *written[:3]]
    assert newest_first(exported)
    assert reversed_files(exported) == written
    assert reversed_files(written[::-1]) == written


def test_a_log_whose_end_stands_before_its_beginning_is_read_in_the_order_of_its_parts() -> None:
    """``cat broker.log broker.1.log``: the newer file first."""
    lines = [f"2026-03-01 10:{second // 60:02}:{second % 60:02} INFO main - line {second}" for second in range(120)]
    lines.insert(70, "\tat a.b.C.d(C.java:1)")
    assert parts_in_order([*lines[61:], *lines[:61]]) == lines
    assert parts_in_order([*lines[90:], *lines[40:90], *lines[:40]]) == lines


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(
            range(200, 260), range(100, 160), id="a clock that was put back, and does not reach the beginning"
        ),
        pytest.param(range(200, 260), range(180, 240), id="the logs of two members"),
        pytest.param(range(200, 260), range(190, 200), id="an excerpt"),
        pytest.param(range(100, 160), range(160, 220), id="a log as it was written"),
    ],
)
def test_other_logs_have_no_parts_in_another_order(first: range, second: range) -> None:
    lines = [f"2026-03-01 10:{at // 60:02}:{at % 60:02} INFO main - line {at}" for at in (*first, *second)]
    assert parts_in_order(lines) is None


def test_sorted_lines_are_read_in_the_order_of_their_times() -> None:
    """Lines of Redis begin with the process and its role: sorted, those of a master stand before those of a slave."""
    written = [
        *(f"12:S 01 Mar 2026 10:00:0{second}.000 * line {second}" for second in range(7)),
        *(f"12:M 01 Mar 2026 10:00:1{second}.000 * line {second}" for second in range(7)),
    ]
    assert sorted_as_texts(sorted(written))
    assert by_time(sorted(written)) == written
    assert not sorted_as_texts(written)
    assert not sorted_as_texts(OLDEST_FIRST * 4)


def test_sorted_lines_of_one_second_are_read_by_their_terms() -> None:
    time = "2026-03-01 10:00:00 INFO "
    rises = f"{time}StateMaintainer - n0_[INCREASE_TERM] from 1 to 2"
    asks = f"{time}StateMaintainer - [n0][CANDIDATE] term=1"
    follows = f"{time}NettyServerPublicExecutor_4 - [n0][ChangeRoleToFollower] from term: 2"
    other = f"{time}Other - nothing of terms"
    assert by_time(sorted([asks, rises, follows, other])) == [asks, other, rises, follows]


def test_lines_that_begin_with_a_time_of_microseconds_are_not_sorted_as_texts() -> None:
    inside = ("13:28:19.146 # b", "13:28:19.146 # a") * 10
    lines = [f"1795699.{number:06} cache-1 redis[8]: 8:X 26 Nov 2026 {text}" for number, text in enumerate(inside)]
    assert not sorted_as_texts(lines)


def test_numbers_before_lines_are_not_the_order_of_their_letters() -> None:
    """``cat -n`` writes them in columns: sorted as texts they stand as they were written."""
    clock_put_back = [*(f"2026-03-01 10:00:{at:02} INFO main - {at % 3}" for at in [*range(30, 50), *range(20, 40)])]
    assert not sorted_as_texts([f"{number:6}\t{line}" for number, line in enumerate(clock_put_back, 1)])
    of_redis = sorted(f"12:{role} 01 Mar 2026 10:00:0{at}.000 * line" for role in "MS" for at in range(7))
    assert sorted_as_texts([f"{number:6}\t{line}" for number, line in enumerate(of_redis, 1)])


def test_a_quiet_process_that_prints_the_same_lines_again_and_again_is_not_sorted() -> None:
    lines = [
        f"2026-03-01 10:{at:02}:00 INFO main - {text}" for at in range(60) for text in ("bytes behind: 0", "size: 1")
    ]
    assert not sorted_as_texts(lines)
