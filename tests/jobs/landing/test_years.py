"""Times without a year get the one that makes the newest of them no later than the file."""

from datetime import UTC, date, datetime

import pytest

from election_replay.jobs.landing.years import with_days, with_years, without_day, without_year

SYSLOG = "{} 15:54:38 master-1 etcd[1167]: a1 became leader at term 7"


def written(lines: list[str], day: str) -> list[str]:
    modified = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1_000_000)
    return with_years(lines, modified)[0]


@pytest.mark.parametrize(
    ("days", "modified", "dated"),
    [
        (["Apr 29"], "2018-05-02", ["2018-04-29"]),
        (["Apr 29"], "2018-04-28T20:00", ["2018-04-29"]),  # a zone apart
        (["Apr 29"], "2018-03-01", ["2017-04-29"]),
        (["Dec 31", "Jan  1"], "2018-01-02", ["2017-12-31", "2018-01-01"]),
        (["Jan  1", "Dec 31"], "2018-01-02", ["2018-01-01", "2017-12-31"]),  # the newest comes first
        (["Feb 29"], "2024-03-01", ["2024-02-29"]),
    ],
)
def test_the_newest_time_is_no_later_than_the_file(days: list[str], modified: str, dated: list[str]) -> None:
    lines = written([SYSLOG.format(day) for day in days], modified)
    assert [line.partition("T")[0] for line in lines] == dated
    assert all(line.endswith("T15:54:38+00:00 master-1 etcd[1167]: a1 became leader at term 7") for line in lines)


def test_redis_before_its_role_stood_in_front() -> None:
    lines = ["[30728] 03 Jun 10:26:07.291 # +switch-master m 10.0.0.1 6379 10.0.0.2 6379", "  a further line"]
    assert written(lines, "2014-06-03") == [
        "30728:X 03 Jun 2014 10:26:07.291 # +switch-master m 10.0.0.1 6379 10.0.0.2 6379",
        "  a further line",
    ]
    assert written(["7:M 03 Jun 10:26:07.291 * Ready to accept connections"], "2014-06-03") == [
        "7:M 03 Jun 2014 10:26:07.291 * Ready to accept connections"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Apr 29 15:54:38 m docker: 2016-12-14 02:42:33.263136 E | rafthttp: streaming request ignored",
        'Aug 28 08:00:00 cp k3s[1249]: {"level":"info","ts":"2023-08-28T08:00:00.292Z","msg":"a1 became leader at term 2"}',
        "1:X 27 Aug 2024 16:15:07.613 # +monitor master m 10.0.0.1 6379 quorum 2",
        "2024-04-29 15:54:38.000000 I | raft: a1 became leader at term 7",
    ],
)
def test_what_dates_itself_is_left_as_it_is(line: str) -> None:
    assert not without_year([line])


def test_one_such_line_among_others_is_no_log_without_years() -> None:
    own = "2024-04-29 15:54:38.000000 I | raft: a1 became leader at term 7"
    assert not without_year([SYSLOG.format("Apr 29"), own, own, own])


@pytest.mark.parametrize("name", ["Sentinel_3_log ", "sentinel-0 | ", "[redis-1] ", "logs/sentinel.log:12:", "> "])
def test_names_in_front_of_the_lines_stay_there(name: str) -> None:
    line = "7:X 03 Jun 10:26:07.291 # +switch-master m 10.0.0.1 6379 10.0.0.2 6379"
    assert without_year([name + line])
    assert written([name + line], "2014-06-03") == [name + line.replace("Jun", "Jun 2014")]


CLOCKED = "{},102 INFO  [QuorumPeer[myid=1]/0.0.0.0:2181:QuorumPeer@784] - LEADING"


@pytest.mark.parametrize(
    ("clocks", "modified", "days"),
    [
        (["10:00:00", "10:00:01"], "2026-03-02T12:00", ["2026-03-02"] * 2),
        (["10:00:00", "13:00:01"], "2026-03-02T12:00", ["2026-03-01"] * 2),
        (["23:59:59", "00:00:01"], "2026-03-02T12:00", ["2026-03-01", "2026-03-02"]),
        (["00:00:01", "23:59:59"], "2026-03-02T12:00", ["2026-03-02", "2026-03-01"]),  # the newest comes first
    ],
)
def test_times_of_day_get_the_day_of_the_file(clocks: list[str], modified: str, days: list[str]) -> None:
    lines = [CLOCKED.format(clock) for clock in clocks]
    at = int(datetime.fromisoformat(modified).replace(tzinfo=UTC).timestamp() * 1_000_000)
    assert without_day(lines)
    dated, how = with_days(lines, at)
    assert dated == [f"{day} {line}" for day, line in zip(days, lines, strict=True)]
    assert how.startswith(f"its times have no day: taken for {min(days)}")
    assert not without_day(dated)


def test_the_day_that_is_given_dates_the_last_line() -> None:
    clocked = [CLOCKED.format(clock) for clock in ("23:59:59", "00:00:01")]
    dated, how = with_days(clocked, 0, date(2026, 3, 2))
    assert [line[:10] for line in dated] == ["2026-03-01", "2026-03-02"]
    assert "2026-03-01 to 2026-03-02" in how
    assert "--date says 2026-03-02" in how
    years, how = with_years([SYSLOG.format("Dec 31"), SYSLOG.format("Jan  1")], 0, date(2026, 1, 5))
    assert [line[:4] for line in years] == ["2025", "2026"]
    assert "--date" in how
