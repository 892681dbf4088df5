"""Lives of a process from signs of life, markers and stops."""

import pytest

from election_replay.election_core.fold.process_runs import Activity, Start, incarnation_at
from election_replay.election_core.model.timing import SECOND, US_PER_MS


def activity(*seen: int) -> Activity:
    """Signs of life at these seconds."""
    one = Activity()
    for second in seen:
        one.seen(second * SECOND, (second + 1) * SECOND)
    return one


def start(second: int, event_id: str) -> Start:
    """A line of a start, in whole seconds."""
    return Start(second * SECOND, (second + 1) * SECOND, event_id)


def test_a_log_that_goes_on_is_one_life() -> None:
    """No start, no stop, no hole: one life that is open at both ends."""
    (life,) = activity(*range(0, 60, 3)).incarnations()
    assert (life.start, life.stop, life.next_start, life.silences) == (None, None, None, ())
    assert (life.first_seen, life.last_seen) == (0, 57 * SECOND)


def test_signs_of_life_are_as_wide_as_their_stamps() -> None:
    """The first and the last line of whole seconds, and the first line of the next life."""
    one = activity(0, 3, 6, 30, 33)
    one.marker(start(30, "e"), "broker.log rocketmqHome")
    before, after = one.incarnations()
    assert (before.last_seen, before.last_by, before.next_start_by) == (6 * SECOND, 7 * SECOND, 31 * SECOND)
    assert (before.first_by, after.first_by, after.last_by) == (SECOND, 31 * SECOND, 34 * SECOND)


def test_a_hole_inside_a_life_is_a_silence() -> None:
    """Ten seconds without a line in any log."""
    (life,) = activity(0, 3, 6, 30, 33).incarnations()
    assert [(hole.begin, hole.end) for hole in life.silences] == [(6 * SECOND, 30 * SECOND)]


def test_streams_fill_each_others_holes() -> None:
    """A line of any file is a sign of life."""
    one = activity(0, 3, 6, 30, 33)
    for second in (9, 15, 21, 27):
        one.seen(second * SECOND, (second + 1) * SECOND)
    assert one.incarnations()[0].silences == ()


def test_a_start_ends_the_life_before() -> None:
    """The hole before a start is no silence: the process was down."""
    one = activity(0, 3, 6, 30, 31, 32, 33, 36)
    one.marker(start(32, "e"), "store.log STORE_LOADED")
    before, after = one.incarnations()
    assert before.silences == ()
    assert before.last_seen == 6 * SECOND
    assert before.next_start == 30 * SECOND, "a life begins with the lines just before its marker"
    assert after.start == 30 * SECOND
    assert before.ended_by == 32 * SECOND, "those lines may as well be the last ones of the life before"


def test_markers_of_one_start_are_one_start() -> None:
    """A slow start writes its markers over a minute; a second one of a kind is a second start."""
    one = activity(*range(0, 300, 2))
    for second, name in ((0, "dump"), (20, "store"), (60, "listen"), (200, "dump"), (215, "store")):
        one.marker(start(second, name), name)
    assert [life.start for life in one.incarnations()] == [0, 200 * SECOND]


def test_nothing_of_a_start_comes_after_its_last_line() -> None:
    """A log that begins with the end of a start shows the next one as a start of its own."""
    one = activity(*range(0, 60, 2), *range(90, 200, 2))
    one.marker(start(10, "boot"), "broker.log BRK_BOOT")
    one.marker(start(11, "another thread's line, a second late"), "store.log STORE_LOADED")
    one.marker(start(90, "dump"), "broker.log rocketmqHome")
    assert [life.start for life in one.incarnations()] == [0, 90 * SECOND]


def test_a_hole_in_which_a_former_night_saw_a_start_is_kept() -> None:
    """A life begins with the first line after the last hole before its start; a late log must not cover that hole."""
    began, late, rest = 75, (67, 69, 71, 78, 79), (82, 90, 100, 200)

    def started(*seen: int) -> Activity:
        one = activity(*seen)
        one.marker(start(began, "e"), "broker.log BRK_BOOT")
        return one

    former = started(began)
    with_state = started(*late, *rest)
    again = started()
    again.covered = [*former.digest(), *with_state.digest()]
    assert again.incarnations() == started(*late[:3], began, *late[3:], *rest).incarnations()


def test_a_clean_stop_is_kept_apart_from_a_death() -> None:
    """The life knows when its shutdown began."""
    one = activity(*range(0, 40, 2))
    one.stopping(36 * SECOND, "stop")
    (life,) = one.incarnations()
    assert life.stop == 36 * SECOND


def test_a_start_within_two_seconds_swallows_no_stop() -> None:
    """A clean stop and a start so soon after it that lines go on without a gap are two lives, the first one stopped."""
    one = activity(*range(60))
    one.stopping(36 * SECOND, "stop")
    one.marker(start(38, "boot"), "broker.log BRK_BOOT")
    before, after = one.incarnations()
    assert (before.stop, before.next_start) == (36 * SECOND, 38 * SECOND)
    assert (after.start, after.stop) == (38 * SECOND, None)


def test_the_first_words_of_a_process_come_before_its_marker() -> None:
    """Without a stop among them, the lines that go on into a start are that process's own."""
    one = activity(*range(20), *range(30, 60))
    one.marker(start(38, "boot"), "broker.log BRK_BOOT")
    before, after = one.incarnations()
    assert (before.next_start, after.start) == (30 * SECOND, 30 * SECOND)


def test_life_at_finds_the_life_of_a_time() -> None:
    """A time before the first start belongs to the first life."""
    one = activity(0, 2, 4, 50, 52)
    one.marker(start(50, "e"), "dump")
    incarnations = one.incarnations()
    assert [incarnation_at(incarnations, second * SECOND) for second in (-5, 0, 49, 50, 99)] == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("width_ms", [1, 1000])
def test_signs_of_life_are_as_exact_as_the_stamps_of_their_lines(width_ms: int) -> None:
    one = Activity()
    width = width_ms * US_PER_MS
    for second in (0, 2, 4, 30, 32, 60, 62):
        one.seen(second * SECOND + 700 * US_PER_MS, second * SECOND + 700 * US_PER_MS + width, f"e{second}")
    one.marker(Start(60 * SECOND + 700 * US_PER_MS, 60 * SECOND + 700 * US_PER_MS + width, "boot"), "BRK_BOOT")
    before, after = one.incarnations()
    (hole,) = before.silences
    assert (hole.begin_by - hole.begin, hole.end_by - hole.end) == (width, width)
    assert (before.last_seen, before.last_by) == (32_700 * US_PER_MS, 32_700 * US_PER_MS + width)
    assert (after.start, after.first_by, before.next_start_by) == (
        *(60_700 * US_PER_MS, 60_700 * US_PER_MS + width),
        60_700 * US_PER_MS + width,
    )
    again = Activity(covered=one.digest(), markers=one.markers)
    assert again.incarnations() == [before, after], "a checkpoint keeps the widths"


def test_of_lines_of_two_widths_the_wider_one_may_be_the_last() -> None:
    """A stamp of whole seconds covers the milliseconds of the other file after it."""
    one = Activity()
    for at, by in ((10_000, 11_000), (10_500, 10_501)):
        one.seen(at * US_PER_MS, by * US_PER_MS)
    (life,) = one.incarnations()
    assert (life.last_seen, life.last_by) == (10_500 * US_PER_MS, 11_000 * US_PER_MS)


def test_a_process_that_ends_again_and_again_lives_in_between() -> None:
    """What watches over it starts it again at once, three times within 15 s."""
    one = activity(*range(20))
    for second in (2, 6, 11):
        one.marker(start(second, "dump"), "dump")
        one.marker(start(second + 1, "listen"), "listen")
    lives = one.incarnations()
    assert [life.start for life in lives] == [0, 6 * SECOND, 11 * SECOND]
    assert [life.last_by for life in lives] == [6 * SECOND, 11 * SECOND, 20 * SECOND]


@pytest.mark.parametrize(("marker", "begins"), [("etcd.log ETCD_BOOT", 20), ("etcd.log RAFT_START", 14)])
def test_what_stands_long_before_the_first_line_of_a_program_is_another_life(marker: str, begins: int) -> None:
    """It said little, and was started again within two seconds; other lines of a start come later in it."""
    one = activity(0, 14, 16, 18, 20, 22)  # a line each 2 s: no hole
    one.marker(start(0, "a"), marker)
    one.marker(start(20, "b"), marker)
    assert [life.start for life in one.incarnations()] == [0, begins * SECOND]


@pytest.mark.parametrize(("marker", "lives"), [("store.log STORE_LOADED", 1), ("etcd.log ETCD_BOOT", 3)])
def test_a_later_line_of_a_start_that_is_said_twice_is_one_start(marker: str, lives: int) -> None:
    """RocketMQ 5.0.0 says twice that its store is loaded; what a program begins with it says once."""
    one = activity(*range(10))
    for second, line in ((1, "a"), (1, "b"), (2, "c")):
        one.marker(start(second, line), marker)
    assert len(one.incarnations()) == lives


def test_a_second_before_the_first_line_of_a_program_is_its_own() -> None:
    """Whole seconds: what was written just before it may read so; what reads as two seconds before is older."""
    for second, begins in ((31, 31), (30, 32)):
        one = activity(0, 3, 6, second, 32, 33)
        one.marker(start(32, "e"), "broker.log rocketmqHome")
        assert one.incarnations()[-1].start == begins * SECOND


def test_a_start_without_a_gap_leaves_the_last_line_before_it_open() -> None:
    """Lines of one piece are up to two seconds apart: no exact stamp says which was the last before a start."""
    one = Activity()
    for ms in range(0, 20_000, 500):
        one.seen(ms * US_PER_MS, (ms + 1) * US_PER_MS)
    one.stopping(9 * SECOND, "stop")
    one.marker(Start(10 * SECOND, 10 * SECOND + US_PER_MS, "boot"), "broker.log BRK_BOOT")
    before, _ = one.incarnations()
    assert (before.last_seen, before.last_by) == (8 * SECOND, 10 * SECOND)


def test_what_comes_before_another_line_of_a_start_begins_the_next_one_behind_it() -> None:
    """DLedger with an empty store says only that it listens; two minutes later it reads its store: it died between."""
    one = activity(0, 3, 6, 120, 141)
    for second, kind in ((0, "DL_LISTEN"), (120, "DL_STORE_RECOVER_BEGIN"), (141, "DL_LISTEN")):
        one.marker(start(second, f"e{second}"), f"broker_default.log {kind}")
    before, after = one.incarnations()
    assert (before.last_seen, after.start) == (6 * SECOND, 120 * SECOND)


def test_a_line_behind_a_start_tells_what_the_start_had_written() -> None:
    """The rest of the first start is missing; DLedger had a role, so what reads the store again is another start."""
    one = activity(0, 9, 12, 100, 103)
    one.marker(start(0, "e0"), "store.log STORE_LOADED")
    one.past_start(start(9, "e9"), "broker_default.log DL_TO_LEADER")
    one.marker(start(100, "e100"), "broker_default.log DL_STORE_RECOVER_BEGIN")
    before, after = one.incarnations()
    assert (before.last_seen, after.start) == (12 * SECOND, 100 * SECOND)


def test_a_line_behind_a_start_begins_none() -> None:
    """The broker boots after its DLedger has a role; roles alone are no start."""
    one = activity(0, 3, 6, 9)
    one.marker(start(0, "e0"), "broker_default.log DL_LISTEN")
    one.past_start(start(3, "e3"), "broker_default.log DL_TO_LEADER")
    one.marker(start(6, "e6"), "broker.log BRK_BOOT")
    assert [life.start for life in one.incarnations()] == [0]


def test_lines_between_two_gaps_before_a_start_are_signs_of_no_run_for_sure() -> None:
    """A start writes for a while before the line that marks it: nobody knows which run wrote what stands between."""
    one = activity(0, 3, 6, 60, 61, 65, 66, 70)
    one.marker(start(66, "loaded"), "store.log STORE_LOADED")
    before, after = one.incarnations()
    assert (before.last_seen, before.last_by, after.start) == (6 * SECOND, 62 * SECOND, 65 * SECOND)


def test_a_status_line_is_of_the_run_before_the_start_that_has_yet_to_listen() -> None:
    """DLedger tells its state once it has started: what comes before its start, without a gap, is the former run's."""
    one = activity(0, 5, 10, 15, 16, 20)
    one.past_start(start(10, "status"), "broker_default.log DL_STATUS")
    one.past_start(start(15, "status"), "broker_default.log DL_STATUS")
    one.marker(start(16, "listens"), "broker_default.log DL_LISTEN")
    one.marker(start(16, "boots"), "broker.log BRK_BOOT")
    before, after = one.incarnations()
    assert (before.last_seen, after.start) == (15 * SECOND, 16 * SECOND)


def test_settings_alone_mark_a_start_once() -> None:
    """All are printed within seconds, at the start; those that begin the list may be missing."""
    one = activity(0, 3, 60, 61, 62, 200)
    for second in (60, 61, 62):
        one.marker(start(second, f"e{second}"), "broker.log CFG_ITEM")
    one.marker(start(200, "boots"), "broker.log BRK_BOOT")
    assert [life.start for life in one.incarnations()] == [None, 60 * SECOND]
