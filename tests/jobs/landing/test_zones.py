"""Local times around the change of the clocks: never wrong, and exact wherever the order of lines says enough."""

import itertools
import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from election_replay.jobs.landing.zones import LocalTimes, Reading
from election_replay.jobs.settings.config import Config, is_zone
from tests.jobs.zone import Zone

BERLIN = "Europe/Berlin"
AUTUMN = datetime(2026, 10, 25, 1, tzinfo=UTC)
"""02:00 to 03:00 comes twice."""
SPRING = datetime(2026, 3, 29, 1, tzinfo=UTC)
"""02:00 to 03:00 is skipped."""
HOUR = 3_600_000


def local(moment: datetime, zone: str = BERLIN) -> datetime:
    return moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def written(moment: datetime, message: str = "LOOKING", zone: str = BERLIN) -> str:
    """A line of ZooKeeper in local time."""
    time = f"{local(moment, zone):%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03d}"
    return f"{time} [myid:1] - INFO  [QuorumPeer[myid=1](plain=0.0.0.0:2181):o.a.z.s.q.QuorumPeer@1455] - {message}\n"


def landed(zone: Zone, lines: list[str]) -> list[tuple[datetime, int]]:
    """Time and resolution of each line's event, in their order."""
    zone.write("zookeeper.log", "".join(lines))
    zone.land()
    return times(zone)


def times(zone: Zone) -> list[tuple[datetime, int]]:
    rows = sorted(zone.tables["events"], key=lambda row: row["line_no"])
    return [(row["event_time"], row["time_resolution_ms"]) for row in rows]


@pytest.fixture
def berlin(tmp_path: Path) -> Zone:
    return Zone(tmp_path / "landing", Config(time_zone=BERLIN))


def every(seconds: float, begin: datetime, end: datetime) -> list[datetime]:
    count = int((end - begin).total_seconds() / seconds)
    return [begin + timedelta(seconds=seconds * n) for n in range(count)]


def test_the_repeated_hour_is_told_apart_by_the_order_of_lines(berlin: Zone) -> None:
    moments = every(20, AUTUMN - timedelta(hours=3), AUTUMN + timedelta(hours=3))
    assert landed(berlin, [written(moment) for moment in moments]) == [(moment, 1) for moment in moments]


def test_a_line_of_the_repeated_hour_with_nothing_before_it_is_uncertain_by_an_hour(berlin: Zone) -> None:
    moments = every(20, AUTUMN - timedelta(minutes=30), AUTUMN - timedelta(minutes=20))
    found = landed(berlin, [written(moment) for moment in moments])
    assert found == [(moment, 1 + HOUR) for moment in moments]
    second = every(20, AUTUMN + timedelta(minutes=30), AUTUMN + timedelta(minutes=40))
    assert local(second[0]) == local(moments[0])


def test_the_second_pass_is_sure_once_the_times_have_gone_back(berlin: Zone) -> None:
    """The file begins in the first pass: uncertain, until it is seen to begin anew."""
    moments = every(20, AUTUMN - timedelta(minutes=30), AUTUMN + timedelta(minutes=90))
    found = landed(berlin, [written(moment) for moment in moments])
    first_pass = len([moment for moment in moments if moment < AUTUMN])
    assert found[:first_pass] == [(moment, 1 + HOUR) for moment in moments[:first_pass]]
    assert found[first_pass:] == [(moment, 1) for moment in moments[first_pass:]]


def test_after_a_hole_nobody_knows_the_pass(berlin: Zone) -> None:
    before = every(20, AUTUMN - timedelta(minutes=65), AUTUMN - timedelta(minutes=50))
    after = every(20, AUTUMN + timedelta(minutes=20), AUTUMN + timedelta(minutes=30))
    found = landed(berlin, [written(moment) for moment in (*before, *after)])
    assert found[: len(before)] == [(moment, 1) for moment in before]
    assert found[len(before) :] == [(moment - timedelta(hours=1), 1 + HOUR) for moment in after]


def test_the_skipped_hour_is_a_sign_of_a_wrong_zone(berlin: Zone) -> None:
    """Lines in another zone, read as Berlin's: those of the hour that Berlin skips cannot be its own."""
    moments = every(600, SPRING - timedelta(hours=2), SPRING + timedelta(hours=3))
    landed(berlin, [written(moment, zone="UTC") for moment in moments])
    impossible = [moment for moment in moments if local(moment, "UTC").hour == 2]
    assert [row["line_no"] for row in berlin.tables["quarantine"]] == [moments.index(one) + 1 for one in impossible]
    assert {row["reason"] for row in berlin.tables["quarantine"]} == {
        "Europe/Berlin skips that time: was the line written in another zone?"
    }
    (row,) = berlin.tables["landed_files"]
    assert row["lines_total"] == len(moments) == row["lines_event"] + row["lines_quarantined"]


def test_a_jump_over_the_skipped_hour_is_none(berlin: Zone) -> None:
    moments = every(20, SPRING - timedelta(hours=1), SPRING + timedelta(hours=1))
    assert landed(berlin, [written(moment) for moment in moments]) == [(moment, 1) for moment in moments]


def test_a_line_that_says_its_zone_needs_none(berlin: Zone) -> None:
    line = (
        '{"level":"info","ts":"2026-03-29T02:30:00.123Z","caller":"raft/raft.go:1","msg":"1a became leader at term 2"}'
    )
    berlin.write("etcd.log", line + "\n")
    berlin.land()
    assert times(berlin) == [(datetime(2026, 3, 29, 2, 30, 0, 123000, tzinfo=UTC), 1)]


def test_canonical_events_and_envelopes_are_read_as_without_a_zone(berlin: Zone) -> None:
    berlin.write(
        "a.events.jsonl",
        '{"kind": "BULLY_OK_SENT", "event_time": "2026-03-29T02:30:00Z", "node": "3", "peer": "1"}\n'
        '{"file": "/logs/broker.log", "message": "2026-03-29 02:30:00 INFO x - n2_[INCREASE_TERM] from 3 to 4"}\n',
    )
    berlin.land()
    assert [at for at, _ in times(berlin)] == [
        datetime(2026, 3, 29, 2, 30, tzinfo=UTC),
        datetime(2026, 3, 28, 18, 30, tzinfo=UTC),
    ]


def test_signs_of_life_go_on_through_the_repeated_hour(berlin: Zone) -> None:
    """A log that says nothing of interest for the whole hour is not silent."""
    moments = every(5, AUTUMN - timedelta(hours=2), AUTUMN + timedelta(hours=2))
    found = landed(berlin, [written(moment, "nothing worth telling") for moment in moments])
    gaps = [later - earlier for (earlier, _), (later, _) in itertools.pairwise(found)]
    assert max(gaps) <= timedelta(seconds=10)


@pytest.mark.parametrize("seed", range(6))
def test_night_by_night_is_the_same_as_at_once(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    moments, at = [], AUTUMN - timedelta(hours=2)
    while at < AUTUMN + timedelta(hours=2):
        at += timedelta(seconds=chance.choice([1, 5, 20, 20, 400]))
        moments.append(at)
    text = "".join(written(moment, chance.choice(["LOOKING", "LEADING", "dull"])) for moment in moments)
    once = Zone(tmp_path / "once", Config(time_zone=BERLIN))
    once.write("zookeeper.log", text)
    once.land()
    nights = Zone(tmp_path / "nights", Config(time_zone=BERLIN))
    cuts = sorted(chance.sample(range(len(text)), 6))
    for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        nights.append("zookeeper.log", text[begin:end])
        nights.land()
    assert times(nights) == times(once)


@pytest.mark.parametrize("run", ["healthy-380", "kill-leader-384", "rolling-restart-380"])
def test_real_lines_around_the_change_hold_their_true_time(corpora: Path, tmp_path: Path, run: str) -> None:
    """A real log, as its machine would have written it in Berlin with the change of the clocks in its middle."""
    source = next((corpora / "zookeeper" / run / "nodes").glob("*/logs/*"))
    stamp = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
    lines = source.read_text().splitlines(keepends=True)
    written_at = [
        datetime.fromisoformat(found.group()).replace(tzinfo=UTC) for line in lines if (found := stamp.match(line))
    ]
    moved = AUTUMN - written_at[len(written_at) // 2]
    in_berlin = [
        stamp.sub(
            lambda at: f"{local(datetime.fromisoformat(at.group()).replace(tzinfo=UTC) + moved):%Y-%m-%d %H:%M:%S}",
            one,
            count=1,
        )
        if stamp.match(one)
        else one
        for one in lines
    ]
    plain, zoned = Zone(tmp_path / "plain"), Zone(tmp_path / "zoned", Config(time_zone=BERLIN))
    truth = {no: at + moved for no, at in _events(plain, lines).items()}
    found = _events(zoned, in_berlin)
    assert truth.keys() <= found.keys()
    doubts = {row["line_no"]: row["time_resolution_ms"] for row in zoned.tables["events"]}
    for line_no, moment in truth.items():
        assert found[line_no] <= moment < found[line_no] + timedelta(milliseconds=doubts[line_no]), line_no
    after = [line_no for line_no, moment in truth.items() if moment >= AUTUMN]
    assert after
    assert {doubts[line_no] for line_no in after} == {1}


def _events(zone: Zone, lines: list[str]) -> dict[int, datetime]:
    zone.write("zookeeper.log", "".join(lines))
    zone.land()
    return {row["line_no"]: row["event_time"] for row in zone.tables["events"] if row["kind"] != "TICK"}


def test_zones_with_other_changes_are_read_too() -> None:
    """Lord Howe moves its clocks by half an hour."""
    times_read = LocalTimes("Australia/Lord_Howe")
    ambiguous = int(datetime(2026, 4, 5, 1, 45, tzinfo=UTC).timestamp())
    assert times_read.read(ambiguous) == Reading(660, 30)
    assert times_read.read(ambiguous + 3600) == Reading(630)
    assert not times_read.read(int(datetime(2026, 10, 4, 2, 15, tzinfo=UTC).timestamp())).exists


def test_only_zones_of_the_database_are_zones() -> None:
    assert [is_zone(name) for name in (BERLIN, "UTC", "", "/etc/passwd", "../x", "Mars/Phobos", "a" * 5000)] == [
        *(True, True, False, False, False, False, False)
    ]
