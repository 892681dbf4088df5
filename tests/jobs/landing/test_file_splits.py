"""A large file that is landed in stretches gives the same rows as in one go."""

import gzip
import pickle
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs

from election_replay.jobs import land as job
from election_replay.jobs.engines.engine import Answer, Item
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.landing import file_splits
from election_replay.jobs.landing.landing_zone import LocalZone, StoredZone
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.landing.one_file import Task
from election_replay.jobs.settings.config import Config, Privacy
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.landing.test_zones import AUTUMN, BERLIN, written
from tests.jobs.tables import blank
from tests.jobs.zone import Zone, leads, line, noise
from tests.proving import amount

EXAMPLES = Path(__file__).parents[3] / "examples" / "landing"
LANDED = ("landed_files", "events", "log_lines", "quarantine")


def between_processes(value: Any) -> Any:
    """What another process has of a value."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - this process wrote it


class Cores(LocalEngine):
    """So many cores by name, all of them this process; ``meanwhile`` is done before each round of work."""

    def __init__(self, cores: int, meanwhile: Iterable[Callable[[], object]] = ()) -> None:
        super().__init__(cores)
        self._meanwhile = iter(meanwhile)

    def cores_for(self, size: int) -> int:  # noqa: ARG002 - all of them
        """All of them, however little there is to do."""
        return self.tasks

    def each(self, work: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """One after the other; what they take and give goes between processes, as it does in use."""
        next(self._meanwhile, int)()
        return [between_processes(work(between_processes(item))) for item in items]


class Counted(list[bool]):
    """For each file that was landed in stretches: whether these counted."""


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """Every file is large from now on: stretches have some kilobytes."""
    found = Counted()

    def row_of_splits(*of_file: Any) -> Any:
        row = file_splits.row_of_splits(*of_file)
        found.append(row is not None)
        return row

    def may_be_split(task: Task, _: int) -> bool:
        return file_splits.may_be_split(task, 0)

    monkeypatch.setattr(job, "row_of_splits", row_of_splits)
    monkeypatch.setattr(job, "may_be_split", may_be_split)
    monkeypatch.setattr(file_splits, "SPLIT_BYTES", 3000)
    monkeypatch.setattr(file_splits, "WINDOW_BYTES", 1000)
    return found


def landed(engine: LocalEngine, zone: Path, warehouse: Path, config: Config | None = None) -> Warehouse:
    """Land what is new."""
    tables, settings = Warehouse(str(warehouse)) if warehouse.exists() else blank(warehouse), config or Config()
    job.land(engine, new_files(str(zone), tables, settings), str(zone), tables, settings)
    return tables


def rows(tables: Warehouse) -> dict[str, list[str]]:
    """All that was landed, in no order."""
    return {name: sorted(map(repr, tables.dataset(name).to_table().to_pylist())) for name in LANDED}


def test_real_logs(counted: Counted, tmp_path: Path) -> None:
    whole, cut = (landed(Cores(cores), EXAMPLES, tmp_path / str(cores)) for cores in (1, 2))
    assert rows(cut) == rows(whole)
    assert len(counted) > 40
    assert counted.count(False) <= 2


def ordinary(seconds: Iterable[int]) -> Iterator[str]:
    """Lines of a broker, now and then one of interest with lines that belong to it."""
    for second in seconds:
        yield leads(second, term=second) + "\tat here\n\tat there\n" if second % 7 == 0 else noise(second) * 3


def text(*parts: Iterable[str]) -> bytes:
    """A log of some parts."""
    return "".join("".join(part) for part in parts).encode()


def flood(second: int) -> str:
    """A text of which one in ten seconds is kept for each of what it names."""
    return line(
        second, "the request offset: 38 over flow badly, fix to 38, broker max offset: 19, consumer: 10.0.0.1:1"
    )


AGAIN = [*ordinary(range(290, 300))]
SHAPES: dict[str, bytes] = {
    "ordinary": text(ordinary(range(600))),
    "crlf": text(ordinary(range(600))).replace(b"\n", b"\r\n"),
    "gbk": text(line(second, "集群") + leads(second) for second in range(300)).decode().encode("gbk"),
    "byte order mark": b"\xef\xbb\xbf" + text(ordinary(range(600))),
    "damaged bytes": text(ordinary(range(600))).replace(b"[n1] [Change", b"[n\xff\xff] [Change", 20),
    "long records": text(leads(second) + "\tat here\n" * 80 for second in range(0, 400, 5)),
    "longer records": text(leads(second) + "\tat here\n" * 300 for second in range(0, 200, 5)),
    "lines without a time": text(ordinary(range(60)), ["no time at all\n"] * 800, ordinary(range(60, 300))),
    "no line of a log": b"another program says this\n" * 900,
    "half a line at the end": text(ordinary(range(600)), [noise(600)[:-9]]),
    "a giant line": text(ordinary(range(200)), [line(200, "x" * 90_000)], ordinary(range(201, 400))),
    "one line without end": b"x" * 20_000,
    "empty lines": text(["\n\n", *ordinary(range(300)), "\n" * 500, *ordinary(range(300, 500))]),
    "clock put back": text(ordinary(range(300)), ordinary(range(100, 400))),
    "clock put back a little": text(ordinary(range(300)), ordinary(range(288, 600))),
    "delivered again": text(ordinary(range(290)), AGAIN, AGAIN, ordinary(range(300, 600))),
    "each line twice": text(leads(second, term=second) * 2 for second in range(400)),
    "floods": text(flood(second) * 5 + noise(second) for second in range(200)),
    "few floods": text(flood(second) if second % 50 == 0 else noise(second) for second in range(600)),
    "another layout behind": text(
        ordinary(range(300)), (f"01/03/2026 17:{s // 60:02d}:{s % 60:02d} x\n" for s in range(600))
    ),
    "another layout now and then": text(noise(s) + f"17:00:{s % 60:02d} x y z\n" * (s % 2) for s in range(600)),
    "as in html": text(line(second, "a &quot;quoted&quot; text") for second in range(300)),
    "as in html from somewhere on": text(ordinary(range(900)), (line(s, "a &quot;b&quot;") for s in range(900, 999))),
}
NOT_CUT = ("no line of a log", "one line without end", "longer records", "as in html")
"""There is no place for a cut, or lines come in an envelope."""
NOT_COUNTED = ("clock put back", "clock put back a little", "delivered again", "each line twice", "floods")
"""What stands far before a cut has a say in what lines behind it are."""


@pytest.mark.parametrize("shape", SHAPES)
def test_any_shape(counted: Counted, tmp_path: Path, shape: str) -> None:
    zone = Zone(tmp_path / "zone")
    zone.write("broker.log", SHAPES[shape])
    whole, cut = (landed(Cores(cores), zone.root, tmp_path / str(cores)) for cores in (1, 2))
    assert rows(cut) == rows(whole)
    assert counted == ([] if shape in NOT_CUT else [shape not in NOT_COUNTED])


@pytest.mark.parametrize("seed", range(amount(10, 200)))
def test_any_mixture(counted: Counted, tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    second, parts = 0, list[str]()
    for _ in range(source.randrange(100, 400)):
        second = max(0, second + source.choice((0, 0, 1, 1, 2, 9, 40, -3, -60)))
        makers = (noise, leads, flood, lambda second: leads(second) + "\tat here\n" * 5, lambda _: "undated\n")
        parts.append(source.choice(makers)(second) * source.choice((1, 1, 3)))
    zone = Zone(tmp_path / "zone")
    zone.write("broker.log", "".join(parts))
    whole, cut = (landed(Cores(cores), zone.root, tmp_path / str(cores)) for cores in (1, 2))
    assert rows(cut) == rows(whole)
    assert counted


def test_a_file_that_grows(counted: Counted, tmp_path: Path) -> None:
    """A night goes on in the middle of a record, and where the last line waited for its end. Little is not cut, and
    neither is what is little beside all that was landed, which would have to be hashed twice."""
    zone, lines = Zone(tmp_path / "zone"), text(ordinary(range(1500)))
    for end in (11_000, 11_500, 30_000, len(lines) - 6_500, len(lines)):
        zone.write("broker.log", lines[:end])
        whole, cut = (landed(Cores(cores), zone.root, tmp_path / str(cores)) for cores in (1, 2))
    assert rows(cut) == rows(whole)
    assert counted == [True] * 3


@pytest.mark.parametrize("zone", [BERLIN, "America/New_York", None])
def test_local_times(counted: Counted, tmp_path: Path, zone: str | None) -> None:
    """Also those of an hour that comes twice."""
    place, config = Zone(tmp_path / "zone"), Config(time_zone=zone) if zone else Config()
    lines = (written(AUTUMN + timedelta(seconds=20 * step), zone=zone or "UTC") for step in range(-400, 400))
    place.write("zookeeper.log", "".join(lines))
    whole, cut = (landed(Cores(cores), place.root, tmp_path / str(cores), config) for cores in (1, 2))
    assert rows(cut) == rows(whole)
    assert counted == [zone != BERLIN], "in the hour that comes twice lines far back decide"


def test_what_is_hashed(counted: Counted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config(privacy=Privacy(("address",)))
    monkeypatch.setenv(config.privacy.key_env, "0123456789abcdef")
    zone = Zone(tmp_path / "zone")
    zone.write("broker.log", text(line(second, f"from 10.0.0.{second % 99}:10911") for second in range(300)))
    whole, cut = (landed(Cores(cores), zone.root, tmp_path / str(cores), config) for cores in (1, 2))
    assert rows(cut) == rows(whole)
    assert "10.0.0" not in repr(rows(cut))
    assert counted == [True]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("broker.1.log.gz", gzip.compress(SHAPES["ordinary"], compresslevel=1) + gzip.compress(SHAPES["floods"])),
        ("broker.log", gzip.compress(SHAPES["ordinary"])),
        ("broker.log", SHAPES["ordinary"].decode().encode("utf-16")),
        ("broker.log", SHAPES["ordinary"].replace(b"\n", b"\r")),
        ("broker.log", bytes(5000) + SHAPES["ordinary"]),
    ],
    ids=["packed", "packed under another name", "utf-16", "a lone cr", "a hole"],
)
def test_what_is_no_text_as_it_lies_is_not_cut(counted: Counted, tmp_path: Path, name: str, data: bytes) -> None:
    zone = Zone(tmp_path / "zone")
    zone.write(name, data)
    whole, cut = (landed(Cores(cores), zone.root, tmp_path / str(cores)) for cores in (1, 2))
    assert rows(cut) == rows(whole)
    assert not counted


def test_an_object_store(counted: Counted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gives a file from the middle on, as a disk does."""
    zone = Zone(tmp_path / "zone")
    zone.write("broker.log", SHAPES["ordinary"])
    whole = landed(Cores(1), zone.root, tmp_path / "1")
    for module in ("listing", "plan", "one_file", "file_splits"):
        monkeypatch.setattr(
            f"election_replay.jobs.landing.{module}.open_landing",
            lambda root: StoredZone(fs.LocalFileSystem(), str(root)),
        )
    cut = landed(Cores(2), zone.root, tmp_path / "2")
    assert rows(cut) == rows(whole)
    assert counted == [True]


def test_where_a_guess_is_wrong_the_file_is_landed_in_one_go(counted: Counted, tmp_path: Path) -> None:
    """The same flood goes on behind the cut, in the same ten seconds: a stretch alone keeps it once more."""
    zone = Zone(tmp_path / "zone")
    zone.write("broker.log", text(flood(1) for _ in range(200)))
    whole, cut = (landed(Cores(cores), zone.root, tmp_path / str(cores)) for cores in (1, 2))
    assert rows(cut) == rows(whole)
    assert counted == [False]
    written_files = [*(tmp_path / "2" / "bronze" / "log_lines").rglob("*.parquet")]
    assert len(written_files) == 1, "what does not count is removed"


@pytest.mark.parametrize("round_", [1, 2], ids=["before it is looked at", "before it is landed"])
@pytest.mark.parametrize("new", [b"", SHAPES["floods"], SHAPES["ordinary"][:8951], None])
def test_a_file_that_changes_meanwhile(counted: Counted, tmp_path: Path, new: bytes | None, round_: int) -> None:
    """It was emptied, rolled, cut off or removed: what is there the next night is landed then, and nothing twice."""
    zone = Zone(tmp_path / "zone")
    zone.write("store.log", SHAPES["ordinary"][:500])
    path = zone.write("broker.log", SHAPES["ordinary"])

    def change() -> None:
        path.unlink() if new is None else path.write_bytes(new)

    nothing = (int,) * round_
    landed(Cores(2, [*nothing, change]), zone.root, tmp_path / "2")
    assert True not in counted
    cut = landed(Cores(2), zone.root, tmp_path / "2")
    ledger = cut.dataset("landed_files").to_table().to_pylist()
    of_broker = [row for row in ledger if row["stream"] == "broker.log"]
    assert sum(row["lines_event"] for row in ledger) == cut.dataset("events").count_rows()
    if new:
        assert of_broker[-1]["bytes_landed"] == len(new)
        assert sum(row["lines_total"] for row in of_broker) == new.count(b"\n")


def test_another_file_of_the_same_length_that_takes_its_place(counted: Counted, tmp_path: Path) -> None:
    """It comes when the file is read for its hash, but before a stretch of it is landed."""
    zone = Zone(tmp_path / "zone")
    zone.write("broker.log", SHAPES["ordinary"])

    class Late(Cores):
        def each(self, work: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
            if isinstance(next(iter(items), None), file_splits.Large):
                found = [work(items[0])]
                zone.write("broker.log", SHAPES["ordinary"].replace(b"[n1]", b"[n2]"))
                return [*found, *super().each(work, items[1:])]
            return super().each(work, items)

    tables = landed(Late(2), zone.root, tmp_path / "2")
    assert counted == [False]
    assert tables.dataset("log_lines").count_rows() == 0
    landed(Cores(2), zone.root, tmp_path / "2")
    texts = "".join(tables.dataset("log_lines").to_table()["text"].to_pylist())
    assert "[n2]" in texts
    assert "[n1]" not in texts


def test_a_stretch_that_cannot_be_read(counted: Counted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is landed in one go, as far as it can be read, and told."""
    zone = Zone(tmp_path / "zone")
    zone.write("broker.log", SHAPES["ordinary"])
    opened = LocalZone.open

    def fail(self: LocalZone, path: str, position: int = 0) -> Any:
        if position > 8000:
            raise OSError("stale file handle")
        return opened(self, path, position)

    def break_() -> None:
        monkeypatch.setattr(LocalZone, "open", fail)

    cut = landed(Cores(2, [int, int, break_]), zone.root, tmp_path / "2")
    assert counted == [False]
    monkeypatch.setattr(LocalZone, "open", opened)
    whole = landed(Cores(1), zone.root, tmp_path / "1")
    assert rows(cut) == rows(whole)


def test_many_large_files_are_not_cut(tmp_path: Path) -> None:
    """There are enough for all cores."""
    zone = Zone(tmp_path / "zone")
    for number in range(8):
        zone.write(f"{number}/broker.log", text(ordinary(range(number, 900, 2))))
    size = sum(path.stat().st_size for path in zone.logs.rglob("*.log"))
    seen: list[int] = []

    class Watching(Cores):
        def each(self, work: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
            seen.append(len(items))
            return super().each(work, items)

    landed(Watching(2), zone.root, tmp_path / "2")
    assert size
    assert seen[:2] == [0, 0]
