"""One line is landed once, however its file is shipped."""

import gzip
import os
import random
from pathlib import Path
from typing import Any

import pytest

from election_replay.jobs.landing.one_file import Task
from election_replay.jobs.landing.plan import tasks_of
from election_replay.jobs.settings.config import Config, LayoutRule
from tests.jobs.zone import Zone, leads, noise

TEXT = "".join(leads(s, term=s) if s % 5 == 0 else noise(s * 4) for s in range(1, 60))


def lines_landed(zone: Zone) -> int:
    return sum(row["lines_total"] for row in zone.tables["landed_files"])


def events(zone: Zone) -> list[Any]:
    """What is said of events, without the name that the file had when it was read."""
    hidden = {"source_file", "batch"}
    return sorted(repr({k: v for k, v in row.items() if k not in hidden}) for row in zone.tables["events"])


def once(zone: Zone) -> list[Any]:
    """The events of :data:`TEXT` landed in one go."""
    other = Zone(zone.root.parent / "once")
    other.write("broker.log", TEXT)
    other.land()
    return events(other)


def test_an_unchanged_file_is_not_looked_into_again(zone: Zone) -> None:
    zone.write("broker.log", TEXT)
    zone.land()
    assert not any(zone.land().values())


def test_a_grown_file_lands_its_tail(zone: Zone) -> None:
    lines = TEXT.splitlines(keepends=True)
    zone.write("broker.log", "".join(lines[:20]))
    zone.land()
    zone.append("broker.log", "".join(lines[20:]))
    made = zone.land()
    assert [row["status"] for row in made["landed_files"]] == ["grown"]
    assert made["landed_files"][0]["lines_total"] == len(lines) - 20
    assert events(zone) == once(zone)


@pytest.mark.parametrize("seed", range(8))
def test_night_by_night_gives_the_same_events_as_at_once(zone: Zone, seed: int) -> None:
    """Nights end anywhere, in the middle of a line too."""
    cuts = sorted(random.Random(seed).sample(range(len(TEXT)), 5))
    for begin, end in zip([0, *cuts], [*cuts, len(TEXT)], strict=True):
        zone.append("broker.log", TEXT[begin:end])
        zone.land()
    assert events(zone) == once(zone)
    assert lines_landed(zone) == len(TEXT.splitlines())


@pytest.mark.parametrize("name", ["broker.1.log", "otherdays/broker.3.log", "2026/broker.log"])
def test_a_renamed_or_copied_file_lands_nothing(zone: Zone, name: str) -> None:
    zone.write("broker.log", TEXT)
    zone.land()
    zone.write(name, TEXT)
    made = zone.land()
    assert not made["events"]
    assert [(row["status"], row["lines_total"]) for row in made["landed_files"]] == [("seen_before", 0)]
    assert not any(zone.land().values())


def test_a_rolled_and_compressed_file_lands_what_it_gained_before(zone: Zone) -> None:
    lines = TEXT.splitlines(keepends=True)
    zone.write("broker.log", "".join(lines[:30]))
    zone.land()
    zone.write("otherdays/broker.1.log.gz", gzip.compress("".join(lines[:50]).encode()))
    zone.write("broker.log", "".join(lines[50:]))
    zone.land()
    assert lines_landed(zone) == len(lines)
    assert len({row["fingerprint"] for row in zone.tables["landed_files"]}) == 2
    assert len({row["event_id"] for row in zone.tables["events"]}) == len(zone.tables["events"])


def test_a_rename_that_keeps_time_and_size_is_not_even_opened(zone: Zone) -> None:
    path = zone.write("broker.log", TEXT)
    zone.land()
    (zone.logs / "otherdays").mkdir()
    path.rename(zone.logs / "otherdays" / "broker.1.log")
    assert not any(zone.land().values())


@pytest.mark.parametrize("time", [10**18, 10**18 + 1234567000])
def test_another_file_of_the_same_size_and_time_lands(zone: Zone, time: int) -> None:
    """A known file that lies there still was not renamed; where times are whole seconds nothing tells a rename."""
    os.utime(zone.write("broker.log", leads(0, term=3)), ns=(time, time))
    zone.land()
    os.utime(zone.write("broker.1.log", leads(0, term=4)), ns=(time, time))
    assert [row["term"] for row in zone.land()["events"]] == [4]
    assert not any(zone.land().values())


def test_a_file_that_takes_the_place_of_a_removed_one_of_the_same_size_and_second_lands(zone: Zone) -> None:
    os.utime(zone.write("broker.log", leads(0, term=3)), ns=(10**18, 10**18))
    zone.land()
    (zone.logs / "broker.log").unlink()
    os.utime(zone.write("broker.1.log", leads(0, term=4)), ns=(10**18, 10**18))
    assert [row["term"] for row in zone.land()["events"]] == [4]


def test_of_two_copies_in_one_landing_the_longer_one_lands(zone: Zone) -> None:
    lines = TEXT.splitlines(keepends=True)
    zone.write("a/broker.log", "".join(lines[:20]))
    zone.write("b/broker.1.log.gz", gzip.compress(TEXT.encode()))
    made = zone.land()
    assert {row["path"].split("/")[4]: row["status"] for row in made["landed_files"]} == {
        "a": "older_copy",
        "b": "landed",
    }
    assert lines_landed(zone) == len(lines)
    assert events(zone) == once(zone)


def test_a_shorter_file_that_goes_on_differently_is_no_copy(zone: Zone) -> None:
    """Two files whose first lines are the same, second and text, in one landing and one after the other."""
    zone.write("a/broker.log", noise(1) + leads(2, 1000) + leads(3, 1001))
    zone.write("b/broker.log", noise(1) + leads(2, 7))
    zone.land()
    zone.write("c/broker.log", noise(1) + leads(2, 8))
    zone.land()
    assert lines_landed(zone) == 7
    assert sorted(row["term"] for row in zone.tables["events"] if row["term"] is not None) == [7, 8, 1000, 1001]
    assert not any(zone.land().values())


def test_files_that_begin_with_the_same_banner_are_different_files(zone: Zone) -> None:
    banner = "*" * 3000 + "\nwelcome\n"
    zone.write("broker.log", banner + leads(100))
    zone.write("broker.1.log", banner + leads(0))
    zone.land()
    assert [row["status"] for row in zone.tables["landed_files"]] == ["landed", "landed"]
    assert len(zone.tables["events"]) == 2


def test_files_that_begin_alike_and_go_on_differently_are_different_files(zone: Zone) -> None:
    zone.write("broker.log", leads(0) + leads(1, term=2) + leads(2, term=3))
    zone.land()
    zone.write("broker.1.log", leads(0) + leads(1, term=7) + leads(2, term=8) + leads(3, term=9))
    zone.land()
    zone.append("broker.1.log", leads(4, term=10))
    zone.land()
    assert sorted(row["term"] for row in zone.tables["events"]) == [1, 1, 2, 3, 7, 8, 9, 10]
    assert len({row["fingerprint"] for row in zone.tables["events"]}) == 2


@pytest.mark.parametrize("began", ["banner\n", "banner\n" * 5000, "no line end yet", "b" * 70_000 + "\n"])
def test_a_file_landed_before_its_first_dated_line_stays_the_same_file(zone: Zone, began: str) -> None:
    """Also when it is longer, the night after that, than what is looked at of its beginning."""
    zone.write("broker.log", began)
    zone.land()
    zone.append("broker.log", "\n" + "".join(map(noise, range(2000))) + leads(2000, term=1))
    for term in (2, 3):
        zone.land()
        zone.append("broker.log", leads(2000 + term, term))
    zone.land()
    assert sorted(row["term"] for row in zone.tables["events"] if row["term"]) == [1, 2, 3]
    assert len({row["fingerprint"] for row in zone.tables["events"]}) == 1


def test_a_file_shorter_than_the_window_may_grow(zone: Zone) -> None:
    for text in ("starting\n", "still starting\n", leads(0), leads(1, term=2)):
        zone.append("broker.log", text)
        zone.land()
    assert lines_landed(zone) == 4
    assert len({row["fingerprint"] for row in zone.tables["landed_files"]}) == 1


def test_a_last_line_without_end_waits_for_one_landing(zone: Zone) -> None:
    half, whole = leads(1, term=1).rstrip("\n"), leads(1, term=12)
    zone.write("broker.log", leads(0) + half)
    zone.land()
    assert lines_landed(zone) == 1
    assert zone.tables["landed_files"][0]["bytes_waiting"] == len(half)
    zone.write("broker.log", leads(0) + whole)
    zone.land()
    assert [row["term"] for row in zone.tables["events"]] == [1, 12]


def test_a_last_line_without_end_is_taken_when_the_file_stays_as_it_is(zone: Zone) -> None:
    zone.write("broker.log", leads(0) + leads(1, term=2).rstrip("\n"))
    zone.land()
    zone.land()
    assert [row["term"] for row in zone.tables["events"]] == [1, 2]
    assert not any(zone.land().values())


def test_a_log_that_is_copied_and_truncated_goes_on(zone: Zone) -> None:
    """logrotate's copytruncate: the copy is known, and the emptied file begins anew under its old name."""
    lines = TEXT.splitlines(keepends=True)
    zone.write("broker.log", "".join(lines[:30]))
    zone.land()
    zone.write("broker.log.1", "".join(lines[:40]))
    zone.write("broker.log", "")
    zone.land()
    zone.write("broker.log", "".join(lines[40:]))
    zone.land()
    assert lines_landed(zone) == len(lines)
    assert len({row["event_id"] for row in zone.tables["events"]}) == len(zone.tables["events"])
    assert sum(row["kind"] != "TICK" for row in zone.tables["events"]) == TEXT.count("ChangeRoleToLeader")


def test_a_file_that_shrinks_lands_nothing_and_goes_on_when_it_has_grown_again(zone: Zone) -> None:
    lines = TEXT.splitlines(keepends=True)
    zone.write("broker.log", "".join(lines[:30]))
    zone.land()
    zone.write("broker.log", "".join(lines[:10]))
    made = zone.land()
    assert [(row["status"], row["lines_total"]) for row in made["landed_files"]] == [("older_copy", 0)]
    zone.write("broker.log", TEXT)
    zone.land()
    assert lines_landed(zone) == len(lines)
    assert events(zone) == once(zone)


def test_a_file_that_is_rewritten_in_place_is_another_file(zone: Zone) -> None:
    zone.write("broker.log", leads(0) + leads(1, term=2))
    zone.land()
    zone.write("broker.log", leads(5) + leads(6, term=7))
    zone.land()
    assert [row["term"] for row in zone.tables["events"]] == [1, 2, 1, 7]


@pytest.mark.parametrize("read_head", [False, True])
def test_a_file_that_is_gone_when_it_is_read_is_found_under_its_new_name(
    zone: Zone, monkeypatch: pytest.MonkeyPatch, read_head: bool
) -> None:
    """It was rolled between listing and reading, before or after its head was read."""
    path = zone.write("broker.log", TEXT)
    whole = tasks_of

    def moved(*arguments: Any) -> list[Task]:
        tasks = whole(*arguments) if read_head else []
        path.rename(path.with_name("broker.1.log"))
        return tasks or whole(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr("tests.jobs.zone.tasks_of", moved)
        made = zone.land()
    assert not any(made.values())
    zone.land()
    assert lines_landed(zone) == len(TEXT.splitlines())
    assert events(zone) == once(zone)


@pytest.mark.parametrize(
    "later", ["".join(TEXT.splitlines(keepends=True)[:20]), leads(9_000, 7) + noise(9_001) * len(TEXT)], ids=len
)
def test_another_file_in_the_place_of_a_planned_one_waits_for_the_next_landing(
    zone: Zone, monkeypatch: pytest.MonkeyPatch, later: str
) -> None:
    """It was truncated, and perhaps written again, between the look at its beginning and its reading."""
    zone.write("broker.log", TEXT)
    whole = tasks_of

    def truncated(*arguments: Any) -> list[Task]:
        tasks = whole(*arguments)
        zone.write("broker.log", later)
        return tasks

    with monkeypatch.context() as patch:
        patch.setattr("tests.jobs.zone.tasks_of", truncated)
        assert not any(zone.land().values())
    zone.land()
    assert lines_landed(zone) == later.count("\n")
    zone.write("broker.1.log", TEXT)
    zone.land()
    terms = [row["term"] for row in zone.tables["events"] if row["term"]]
    assert sorted(terms) == [*range(5, 60, 5)] if later in TEXT else sorted([7, *range(5, 60, 5)])


@pytest.mark.parametrize(
    ("begin", "dated", "kinds"),
    [
        ("Java HotSpot(TM) warning\nThe broker boots\n", leads(0), ["DL_TO_LEADER"]),
        (
            "ZooKeeper JMX enabled by default\n",
            "2026-03-01 10:00:00,221 [myid:1] - INFO  [QuorumPeer[myid=1](plain=x):o.a.z.s.q.QuorumPeer@1] - LOOKING\n",
            ["ZK_LOOKING"],
        ),
        (
            "",
            '{"level":"info","ts":"2026-03-01T10:00:00Z","caller":"raft.go:1","msg":"1a became leader at term 2"}\n',
            ["RAFT_TO_LEADER"],
        ),
        ("no log at all\n", "nor here\n", []),
    ],
    ids=["rocketmq", "zookeeper", "etcd", "nothing"],
)
def test_a_console_log_speaks_the_dialect_of_its_first_known_line(
    zone: Zone, begin: str, dated: str, kinds: list[str]
) -> None:
    """Its name says nothing; half of it may have come a night before."""
    zone.write("nohup.out", begin)
    zone.land()
    zone.append("nohup.out", dated)
    zone.land()
    assert [row["kind"] for row in zone.tables["events"]] == kinds
    assert lines_landed(zone) == len((begin + dated).splitlines())
    zone.write("nohup.1.out", begin + dated)
    assert not zone.land()["events"]


def test_links_are_not_followed_and_metadata_is_not_read_as_a_log(zone: Zone, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "broker.log").write_text(TEXT)
    (zone.logs / "linked").symlink_to(outside)
    (zone.logs / "broker.log").symlink_to(outside / "broker.log")
    (zone.logs.parent / "metadata").mkdir()
    (zone.logs.parent / "metadata" / "broker.log").write_text(TEXT)
    zone.write("lock.log", noise(0))
    zone.land()
    [copy, log] = sorted(zone.tables["landed_files"], key=lambda row: row["stream"])
    assert (log["stream"], log["path"].split("/")[-2]) == ("lock.log", "logs")
    assert (copy["path"].split("/")[-2], copy["lines_event"]) == ("metadata", 0)


def test_a_file_that_nobody_understood_is_read_again_once_its_layout_is_set(zone: Zone) -> None:
    """Nothing of it is counted twice; with its layout it lands as if that had been set at first."""
    lines = [
        f"<2026-03-01 17:00:{s:02d}> INFO at main :: [n1] [ChangeRoleToLeader] from term: 1 and currTerm: 1\n"
        for s in (1, 2, 3)
    ]
    zone.write("broker.log", "".join(lines))
    [row] = zone.land()["landed_files"]
    assert row["problem"].startswith("not understood: none of 3 lines begins as one of rocketmq does")
    assert not any(zone.land().values())
    zone.config = Config(layouts=(LayoutRule("broker.log", "rocketmq", "<%d{yyyy-MM-dd HH:mm:ss}> %p at %t :: %m%n"),))
    made = zone.land()
    assert [one["kind"] for one in made["events"]] == ["DL_TO_LEADER"] * 3
    assert made["landed_files"][0]["problem"] is None
    assert lines_landed(zone) == 3
    assert not any(zone.land().values())
