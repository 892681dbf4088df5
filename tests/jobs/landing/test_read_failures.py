"""A file that cannot be read now is another thing than a damaged one: it is told, and read as soon as it can be."""

import bz2
import errno
import gzip
import io
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.landing import blocks
from election_replay.jobs.landing.blocks import Blocks
from election_replay.jobs.landing.landing_zone import LocalZone, open_landing
from election_replay.jobs.landing.ledger import NOTHING_LANDED
from election_replay.jobs.landing.listing import LogFile, log_files
from election_replay.jobs.landing.new_files import unseen
from election_replay.jobs.landing.plan import tasks_of
from tests.jobs.landing.test_landing import events, lines_landed
from tests.jobs.zone import Zone, leads, noise, rows_of

TEXT = "".join(leads(s, term=s) if s % 5 == 0 else noise(s * 4) for s in range(1, 400))
OFFSETS = '{"dataVersion":{"counter":2,"stateVersion":0,"timestamp":5},"offsetTable":{"t@g":{0:66,1:65}}}'

FAILURES = [
    PermissionError(errno.EACCES, os.strerror(errno.EACCES)),
    OSError(errno.EIO, os.strerror(errno.EIO)),
    OSError(errno.ESTALE, os.strerror(errno.ESTALE)),
    TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT)),
    pa.ArrowException("When reading information: AWS Error SLOW_DOWN"),
]


class Failing(io.RawIOBase):
    """A file that gives its first ``good`` bytes and then fails."""

    def __init__(self, data: bytes, good: int, failure: Exception) -> None:
        super().__init__()
        self._data = io.BytesIO(data[:good])
        self._failure = failure

    def read(self, size: int = -1) -> bytes:
        """What is left of the good bytes; then the failure."""
        if piece := self._data.read(size):
            return piece
        raise self._failure


Broken = dict[str, tuple[int, Exception]]
"""Files by their names: after how many bytes they fail, and how; before the first of them already in opening (-1)."""


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Broken:
    """What the file system does not give, from now on; empty: all is well."""
    faults: Broken = {}
    opened: Callable[[LocalZone, str], AbstractContextManager[IO[bytes]]] = LocalZone.open

    def opening(self: LocalZone, path: str, position: int = 0) -> Any:
        good, failure = faults.get(path.rpartition("/")[2], (0, None))
        if failure is None:
            return opened(self, path, position)
        if good < 0:
            raise failure
        return Failing(Path(self.root, path).read_bytes(), good, failure)

    monkeypatch.setattr(LocalZone, "open", opening)
    return faults


def packed(name: str) -> bytes:
    """:data:`TEXT` as a file of that name holds it."""
    if name.endswith(".gz"):
        return gzip.compress(TEXT.encode())
    if name.endswith(".bz2"):
        return bz2.compress(TEXT.encode())
    if name.endswith(".zst"):
        return bytes(pa.Codec("zstd").compress(TEXT.encode(), asbytes=True))
    return TEXT.encode()


def once(zone: Zone) -> list[Any]:
    other = Zone(zone.root.parent / "once")
    other.write("broker.log", TEXT)
    other.land()
    return events(other)


def balanced(zone: Zone) -> None:
    """The counts are those of the rows, and no number of a line comes twice."""
    rows = zone.tables["landed_files"]
    for row in rows:
        assert row["lines_total"] == row["lines_event"] + row["lines_ignored"] + row["lines_quarantined"]
    assert sum(row["lines_event"] for row in rows) == len(zone.tables["events"]) == len(zone.tables["log_lines"])
    assert sum(row["lines_quarantined"] for row in rows) == len(zone.tables["quarantine"])
    ids = [row["event_id"] for row in zone.tables["events"]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__ + str(failure)[:10])
def test_a_file_that_cannot_be_opened_is_told_and_tried_again_until_it_is_read(
    zone: Zone, broken: Broken, failure: Exception
) -> None:
    zone.write("broker.log", TEXT)
    zone.write("lock.log", leads(1))
    broken["broker.log"] = -1, failure
    for night in range(3):
        made = zone.land()
        told = {row["stream"]: row for row in made["landed_files"]}
        assert ("lock.log" in told) == (night == 0), "the others land, once"
        row = told["broker.log"]
        assert (row["status"], row["unread"], row["lines_total"]) == ("not_read", True, 0)
        assert str(failure) in row["problem"]
        assert not made["quarantine"]
    del broken["broker.log"]
    zone.land()
    assert lines_landed(zone) == len(TEXT.splitlines()) + 1
    assert not any(zone.land().values()), "what is read is done with"
    balanced(zone)


@pytest.mark.parametrize(
    "name", ["broker.log", "broker.1.log", "broker.1.log.gz", "broker.1.log.bz2", "broker.1.log.zst"]
)
@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.97])
def test_what_was_read_before_the_failure_stays_and_the_rest_follows(
    zone: Zone, broken: Broken, monkeypatch: pytest.MonkeyPatch, name: str, part: float
) -> None:
    monkeypatch.setattr("election_replay.jobs.landing.plan.HEAD_BYTES", 300)
    monkeypatch.setattr("election_replay.jobs.landing.recognising.HEAD_BYTES", 300)
    data = packed(name)
    zone.write(name, data)
    broken[name] = int(len(data) * part), FAILURES[1]
    first = zone.land()
    [row] = first["landed_files"]
    assert row["unread"]
    assert "Input/output error" in row["problem"]
    assert not first["quarantine"]
    if name.endswith(".log") and part:
        assert row["lines_total"] == data[: int(len(data) * part)].count(b"\n")
    again = zone.land()
    assert [(one["status"], one["lines_total"]) for one in again["landed_files"]] == [("not_read", 0)]
    broken.clear()
    zone.land()
    assert not any(zone.land().values())
    assert lines_landed(zone) == len(TEXT.splitlines())
    assert events(zone) == once(zone)
    balanced(zone)


def test_damage_is_still_in_quarantine_and_is_not_tried_again(zone: Zone) -> None:
    for name in ("broker.1.log.gz", "store.1.log.bz2", "lock.1.log.zst"):
        zone.write(name, packed(name)[:-200] if name.endswith("gz") else b"no such thing\n")
    made = zone.land()
    assert [(row["lines_quarantined"], row["unread"]) for row in made["landed_files"]] == [(1, False)] * 3
    assert not any(zone.land().values())


def test_a_tail_that_cannot_be_read_waits(zone: Zone, broken: Broken) -> None:
    lines = TEXT.splitlines(keepends=True)
    zone.write("broker.log", "".join(lines[:100]))
    zone.land()
    zone.write("broker.log", TEXT)
    for good in (-1, 0, 500, len("".join(lines[:100]))):
        broken["broker.log"] = good, FAILURES[2]
        assert [row["lines_total"] for row in zone.land()["landed_files"]] == [0]
    broken.clear()
    zone.land()
    assert events(zone) == once(zone)
    balanced(zone)


def test_a_file_that_could_not_be_read_and_was_rolled_meanwhile_is_read(zone: Zone, broken: Broken) -> None:
    path = zone.write("broker.log", TEXT)
    broken["broker.log"] = len(TEXT) // 2, FAILURES[1]
    zone.land()
    path.rename(path.with_name("broker.1.log"))
    zone.land()
    broken.clear()
    assert events(zone) == once(zone)
    assert not any(zone.land().values())


def test_a_half_line_at_the_failure_is_no_line(zone: Zone, broken: Broken) -> None:
    """Not in a rolled file either, whose last line is complete."""
    zone.write("broker.1.log", leads(0) + leads(1, term=12))
    broken["broker.1.log"] = len(leads(0) + leads(1, term=1)) - 1, FAILURES[1]
    zone.land()
    broken.clear()
    zone.land()
    assert [row["term"] for row in zone.tables["events"]] == [1, 12]


@pytest.mark.parametrize("good", [-1, 0, 30])
def test_a_snapshot_is_read_whole_or_later(zone: Zone, broken: Broken, good: int) -> None:
    path = zone.logs.parent / "metadata" / "20260301T090000Z" / "consumerOffset.json"
    path.parent.mkdir(parents=True)
    path.write_text(OFFSETS)
    zone.write("broker.log", leads(0))
    broken[path.name] = good, FAILURES[0]
    for _ in range(2):
        made = zone.land()
        assert [row["unread"] for row in made["landed_files"] if "metadata" in row["path"]] == [True]
        assert not made["quarantine"]
    broken.clear()
    assert len(zone.land()["events"]) == 3
    assert not any(zone.land().values())
    balanced(zone)


def test_a_file_that_cannot_be_compared_with_its_longer_copy_waits(zone: Zone, broken: Broken) -> None:
    lines = TEXT.splitlines(keepends=True)
    zone.write("a/broker.1.log", TEXT)
    zone.land()
    zone.write("broker.log", "".join(lines[:50]) + leads(3000, term=7))
    broken["broker.1.log"] = 0, FAILURES[1]
    assert [row["status"] for row in zone.land()["landed_files"]] == ["not_read"]
    broken.clear()
    zone.land()
    assert 7 in [row["term"] for row in zone.tables["events"]]


def test_files_alike_in_size_and_time_are_told_apart_when_one_was_not_read(zone: Zone, broken: Broken) -> None:
    """Object stores tell whole seconds: two rolled files of one size may be of the same one."""
    texts = [leads(0) + leads(1, term=term) for term in (3, 4)]
    for number, text in enumerate(texts):
        os.utime(zone.write(f"broker.{number}.log", text), ns=(10**18, 10**18))
    broken["broker.1.log"] = -1, FAILURES[0]
    zone.land()
    broken.clear()
    zone.land()
    assert sorted(row["term"] for row in zone.tables["events"]) == [1, 1, 3, 4]
    assert not any(zone.land().values())


def test_the_machine_of_the_executor_may_read_what_the_driver_could_not(zone: Zone, broken: Broken) -> None:
    """What the file is was not known when it was dealt: nothing of it lands before that is known."""
    zone.write("broker.log", TEXT)
    broken["broker.log"] = -1, FAILURES[0]
    [task] = tasks_of(log_files(str(zone.root), zone.config.layout), NOTHING_LANDED, str(zone.root), zone.config, 1)
    broken.clear()
    [(_, row)] = rows_of(task, zone.root)
    assert (row["status"], row["head"], row["fingerprint"]) == ("not_read", "", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_permissions_that_are_given_later_bring_the_file(zone: Zone) -> None:
    """The real thing: mode 000, and a user who is not root."""
    path = zone.write("broker.log", TEXT)
    path.chmod(0)
    for folder in zone.root.parents:
        folder.chmod(folder.stat().st_mode | 0o055)
    os.seteuid(65534)
    try:
        [row] = zone.land()["landed_files"]
    finally:
        os.seteuid(0)
    assert row["unread"], row
    path.chmod(0o644)
    zone.land()
    assert lines_landed(zone) == len(TEXT.splitlines())


def test_a_file_that_is_tried_again_says_why(zone: Zone, broken: Broken) -> None:
    zone.write("broker.log", TEXT)
    broken["broker.log"] = -1, FAILURES[0]
    zone.land()
    found: list[LogFile] = unseen(log_files(str(zone.root), zone.config.layout), zone.tables["landed_files"])
    assert [file.unread for file in found] == ["could not be read: [Errno 13] Permission denied"]


def test_no_more_of_a_packed_hole_is_read_than_shows_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that was truncated while a process wrote it begins with zeros; packed, a gigabyte of them is small."""
    monkeypatch.setattr(blocks, "LONGEST_HOLE", 1 << 20)
    (tmp_path / "in").mkdir()
    (tmp_path / "in/etcd.log.gz").write_bytes(gzip.compress(bytes(64 << 20)))
    read = Blocks(open_landing(str(tmp_path / "in")), "etcd.log.gz", 65_000)
    assert read.length() < 4 << 20
    assert main(["look", str(tmp_path / "in")]) == 4
    assert "etcd.log.gz  its first" in capsys.readouterr().out
