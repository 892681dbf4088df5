"""Pattern strings of loggers become readers: anchored, bounded, and refused where they cannot be read."""

import time
from datetime import UTC, datetime

import pytest

from election_replay.election_core.dialects.known_layouts import HEADERS, layouts_of, layouts_with
from election_replay.election_core.dialects.layouts import BadLayout, any_layout, layout
from election_replay.election_core.dialects.stamps import stamp

TEN = round(datetime(2026, 3, 1, 10, 0, 7, tzinfo=UTC).timestamp() * 1_000_000)


@pytest.mark.parametrize(
    ("pattern", "printed", "micros", "resolution"),
    [
        ("ISO8601", "2026-03-01 10:00:07,123", 123_000, 1),
        ("ISO8601", "2026-03-01T10:00:07.123", 123_000, 1),
        ("yyy-MM-dd HH:mm:ss,GMT+8", "2026-03-01 18:00:07", 0, 1000),
        ("yyyy/MM/dd HH:mm:ss.S", "2026/03/01 10:00:07.4", 400_000, 100),
        ("yyyy-MM-dd HH:mm:ss.SSSSSS", "2026-03-01 10:00:07.123456", 123_456, 1),
        ("dd MMM yyyy HH:mm:ss,SSS", "01 Mar 2026 10:00:07,123", 123_000, 1),
        ("MMM d, yyyy h:mm:ss a", "Mar 1, 2026 10:00:07 AM", 0, 1000),
        ("MM/dd/yyyy hh:mm:ss a", "03/01/2026 12:00:07 AM", -36_000_000_000, 1000),
        ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2026-03-01T18:00:07.123+08:00", 123_000, 1),
        ("yyyy-MM-dd HH:mm:ss Z", "2026-03-01 05:00:07 -0500", 0, 1000),
        ("yyyy-MM-dd HH:mm:ss z", "2026-03-01 10:00:07 UTC", 0, 1000),
        ("yyyy-MM-dd HH:mm", "2026-03-01 10:00", -7_000_000, 60_000),
        ("yy/MM/dd HH:mm:ss", "26/03/01 10:00:07", 0, 1000),
        ("UNIX_MILLIS", str(TEN // 1000 + 123), 123_000, 1),
        ("UNIX", str(TEN // 1_000_000), 0, 1000),
        ("COMPACT", "20260301100007123", 123_000, 1),
    ],
)
def test_a_stamp_says_its_time_and_how_wide_it_is(pattern: str, printed: str, micros: int, resolution: int) -> None:
    assert stamp(pattern).read(printed, 0) == (TEN + micros, resolution)


@pytest.mark.parametrize("printed", ["2026-02-30 10:00:07,123", "2026-03-01 25:00:07,123", "1026-03-01 10:00:07,123"])
def test_an_impossible_time_is_refused(printed: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        stamp("ISO8601").read(printed, 0)


@pytest.mark.parametrize(
    ("pattern", "line", "parts"),
    [
        (
            "%d{ISO8601} [%t] %-5p %c{1} - %m%n",
            "2026-03-01 10:00:07,123 [a b] INFO  Broker - it - runs  ",
            ("INFO", "a b", "Broker", None, "it - runs"),
        ),
        (
            "%d [myid:%X{myid}] - %-5p [%t:%C{1}@%L] - %m%n",
            "2026-03-01 10:00:07,123 [myid:3] - WARN  [QuorumPeer[myid=3]/0:0:2181:Leader@12] - x",
            ("WARN", "QuorumPeer[myid=3]/0:0:2181", "Leader", "3", "x"),
        ),
        (
            "%d %p %m (%c) [%t]%n",
            "2026-03-01 10:00:07,123 INFO a (b) (o.a.C) [t]",
            ("INFO", "t", "o.a.C", None, "a (b)"),
        ),
        (
            "%highlight{%d [%t] %-5level %logger{36} - %msg%n}{FATAL=red}",
            "2026-03-01 10:00:07,123 [t] ERROR o.a.C - m",
            ("ERROR", "t", "o.a.C", None, "m"),
        ),
        (
            "%clr(%d{yyyy-MM-dd HH:mm:ss.SSS}){faint} %clr(${LOG_LEVEL_PATTERN:-%5p}) %clr(${PID:- }){magenta} "
            "%clr(---){faint} %clr([%15.15t]){faint} %clr(%-40.40logger{39}){cyan} %clr(:){faint} %m%n%wEx",
            "2026-03-01 10:00:07.123  INFO 4711 --- [           main] o.a.C                                    : m",
            ("INFO", "main", "o.a.C", None, "m"),
        ),
        (
            "%d %p%notEmpty{ [%X{trace}]} - %m%xEx%n",
            "2026-03-01 10:00:07,123 INFO - m",
            ("INFO", None, None, None, "m"),
        ),
        ("%d %p %m %ex%n", "2026-03-01 10:00:07,123 INFO m java.io.IOException: no", ("INFO", None, None, None, "m")),
        ("%d \\(%p\\) 100%% %m", "2026-03-01 10:00:07,123 (INFO) 100% m", ("INFO", None, None, None, "m")),
        ("json time=@timestamp message=m.t", '{"@timestamp":1772359207,"m":{"t":"x"}}', (None, None, None, None, "x")),
    ],
)
def test_a_layout_takes_a_line_apart(pattern: str, line: str, parts: tuple[str | None, ...]) -> None:
    found = any_layout(pattern).line(line)
    assert found is not None
    assert (found.level, found.thread, found.logger, found.node, found.message) == parts
    assert abs(found.time(0)[0] - TEN) < 1_000_000


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("%p %m%n", "no date"),
        ("%d %p%n", "no message"),
        ("%d{HH:mm:ss} %m", "does not say"),
        ("%d{ABSOLUTE} %m", "no day"),
        ("%d{ISO8601}{Asia/Shanghai} %m", "time_zone"),
        ("%d{qqqq} %m", "letter q"),
        ("%d %zzz %m", "no conversion word"),
        ("%d{ISO8601 %m", "never closed"),
        ("%d %", "stands alone"),
        ("%d %t %t %x %x %X %m", "fields before the message"),
        ("%d %m" + " " * 1000, "longer than"),
        ("json time=ts", "message"),
        ("json what=ts", "does not say where"),
    ],
)
def test_a_layout_that_cannot_be_read_is_refused_with_its_reason(pattern: str, reason: str) -> None:
    with pytest.raises(BadLayout, match=reason):
        any_layout(pattern)


@pytest.mark.parametrize("date", ["yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd HH:mm:ss,SSSXXX", "dd MMM yyyy HH:mm:ss,SSS"])
def test_hostile_lines_are_read_in_no_time(date: str) -> None:
    hostile = [
        "[" * 20_000,
        " - " * 20_000,
        "2026-03-01 10:00:07 [" + "] [" * 20_000,
        "2026-03-01 10:00:07 INFO" + " (" * 20_000,
    ]
    begun = time.process_time()
    for one in layouts_with(date):
        for line in hostile:
            one.line(line)
    assert (time.process_time() - begun) / len(HEADERS) / len(hostile) < 0.1


def test_the_first_known_layout_that_reads_a_line_is_the_most_telling() -> None:
    line = "2026-03-01 10:00:00,123 [myid:1] - INFO  [QuorumPeer[myid=1]/0.0.0.0:2181:QuorumPeer@909] - LOOKING"
    assert "%X{myid}" in next(layouts_of(line)).pattern
    assert not list(layouts_of("10.0.0.1 - - GET /"))


def test_a_layout_is_anchored() -> None:
    assert layout("%d %p %m").line("x 2026-03-01 10:00:07,123 INFO m") is None
