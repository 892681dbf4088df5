"""Lines of several servers and sentinels of Redis in one file: whose they are."""

from pathlib import Path

import pytest

from election_replay.election_core import dialects
from election_replay.jobs.landing.as_written import disorder_of
from election_replay.jobs.landing.blocks import Blocks
from election_replay.jobs.landing.landing_zone import open_landing
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.processes import members_in

ID = f"Sentinel ID is {'a' * 40}"
STARTS = "oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo"


def line(pid: int, letter: str, at: str, text: str = "Ready to accept connections") -> str:
    return f"{pid}:{letter} 26 Nov 2026 {at}.000 * {text}"


@pytest.mark.parametrize(
    ("lines", "processes"),
    [
        pytest.param(
            [line(9, "C", "10:00:00", STARTS), line(9, "M", "10:00:00"), line(9, "M", "10:00:09")], [], id="one server"
        ),
        pytest.param(
            [line(9, "M", "10:00:00"), line(30, "C", "10:00:05", "DB saved on disk"), line(9, "M", "10:00:09")],
            [],
            id="a server and its child",
        ),
        pytest.param(
            [line(9, "M", "10:00:00"), line(12, "C", "10:01:00", STARTS), line(12, "M", "10:01:00")],
            [],
            id="a server and its restart",
        ),
        pytest.param(
            [
                *(line(9, "C", "10:00:00", STARTS), line(9, "M", "10:09:00")),
                *(line(12, "C", "10:08:00", STARTS), line(12, "M", "10:08:00")),
            ],
            [],
            id="a restart with the clock put back",
        ),
        pytest.param(
            [
                *(line(9, "X", "10:03:00", STARTS), line(9, "X", "10:03:00", ID), line(9, "X", "10:09:00")),
                *(line(12, "X", "10:01:00", STARTS), line(12, "X", "10:01:00", ID), line(12, "X", "10:04:00")),
            ],
            [],
            id="a sentinel prints its id again, with the clock put back far",
        ),
        pytest.param(
            [line(9, "M", "10:00:00"), line(9, "M", "10:09:00"), line(9, "M", "10:08:00")],
            [],
            id="a clock put back without a restart",
        ),
        pytest.param(
            [
                *(line(9, "C", "10:00:00", STARTS), line(9, "M", "10:00:00"), line(9, "M", "10:09:00")),
                *(line(12, "C", "10:00:01", STARTS), line(12, "S", "10:00:01"), line(12, "S", "10:09:01")),
            ],
            [["9"], ["12"]],
            id="one behind the other",
        ),
        pytest.param(
            [line(1, "M", "10:00:05"), line(1, "M", "10:09:00"), line(1, "S", "10:00:01"), line(1, "S", "10:09:01")],
            [["1"], ["1"]],
            id="one behind the other, in containers",
        ),
        pytest.param(
            [line(1, "X", "10:00:05"), line(1, "M", "10:00:06"), line(1, "X", "10:09:00"), line(1, "M", "10:09:01")],
            [["1"], ["1"]],
            id="a sentinel and a server, merged",
        ),
        pytest.param(
            [
                *(line(9, "M", "10:00:00"), line(12, "S", "10:00:01"), line(9, "M", "10:00:05")),
                *(line(12, "S", "10:02:00"), line(20, "C", "10:03:00", STARTS), line(20, "M", "10:03:00")),
                *(line(12, "S", "10:04:00"), line(20, "M", "10:05:00")),
            ],
            [["9", "20"], ["12"]],
            id="merged, with a restart of the one that had ended",
        ),
        pytest.param(
            [
                *(line(9, "X", "10:00:00"), line(9, "X", "10:00:01", "Next failover delay: I will not before Thu Nov 26 11:00:00")),
                line(9, "X", "10:00:02"),
            ],
            [],
            id="a time in the text",
        ),
        pytest.param(
            [f"redis-1  | {line(1, 'M', '10:00:05')}", f"redis-2  | {line(1, 'S', '10:00:01')}"],
            [],
            id="names of containers tell them apart",
        ),
        pytest.param(
            [f"all-in-one  | {line(9, 'M', '10:00:05')}", f"all-in-one  | {line(12, 'S', '10:00:06')}"],
            [["9"], ["12"]],
            id="in one container",
        ),
    ],
)  # fmt: skip
def test_whose_lines(lines: list[str], processes: list[list[str]]) -> None:
    found, _ = members_in(lines)
    assert [[process.pid for process in member] for member in found] == processes
    kept = [text for member in found for process in member for text in process.lines.values()]
    assert not found or sorted(kept) == sorted(text.removeprefix("all-in-one  | ") for text in lines)


def test_a_restart_that_may_be_of_several_is_nobodys() -> None:
    merged = [line(9, "M", "10:00:00"), line(12, "S", "10:00:01"), line(9, "M", "10:00:02"), line(15, "X", "10:09:00")]
    members, left_out = members_in([*merged, line(20, "C", "10:03:00", STARTS), line(20, "M", "10:03:00")])
    assert [[process.pid for process in member] for member in members] == [["9"], ["12"], ["15"]]
    assert [process.pid for process in left_out] == ["20"]


def test_two_servers_of_one_host_that_its_syslog_merged_are_two() -> None:
    lines = [
        f"Nov 26 10:00:0{n} db redis[{pid}]: {line(pid, 'M', f'10:00:0{n}')}" for n, pid in enumerate((7, 9, 7, 9))
    ]
    assert [[process.pid for process in member] for member in members_in(lines)[0]] == [["7"], ["9"]]


@pytest.mark.parametrize("beside", [True, False])
def test_a_folder_beside_another_is_one_server(beside: bool, tmp_path: Path) -> None:
    """Its clock was put back far, and it was started again; alone, the file could be two servers', joined."""
    first = [line(9, "C", "10:03:00", STARTS), line(9, "M", "10:03:00"), line(9, "M", "10:09:00")]
    again = [line(12, "C", "10:01:00", STARTS), line(12, "M", "10:01:00"), line(12, "M", "10:05:00")]
    (tmp_path / "redis.log").write_text("".join(f"{text}\n" for text in [*first, *again]))
    file, zone = LogFile("redis.log", "c", "n", 1000, None), open_landing(str(tmp_path))
    blocks = Blocks(zone, file.path, file.size)
    found = disorder_of(blocks, file, zone, dialects.named("redis"), None, beside=beside)
    assert (found is None) == beside
