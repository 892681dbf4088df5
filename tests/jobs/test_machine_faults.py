"""A full disk at any step, a driver's clock that is set back, two jobs at once: nothing is lost, nothing comes twice,
readers see whole runs, and the next run makes it good."""

import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import election_replay.jobs.publishing.runs
import election_replay.jobs.replaying.plan
import election_replay.jobs.upkeep
import election_replay.jobs.warehouse.warehouse
from election_replay.jobs import JobError
from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.engines.spark_engine import SparkEngine
from election_replay.jobs.faults import user_message
from election_replay.jobs.reading.published import Published
from election_replay.jobs.upkeep import upkeep
from election_replay.jobs.warehouse import tidying
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.disks import disk_at
from tests.jobs.nights import ALL, GOLD, begun, content, night, second_night, whole_night
from tests.jobs.replaying.test_every_commit import WRITERS
from tests.jobs.tables import GROUP, blank
from tests.jobs.zone import Zone, election
from tests.proving import amount, only_when_proving

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples" / "landing"

STEP = amount(67, 2)
"""Before which of the writes the disk is filled: ``make prove`` tries every second one of them."""

TIMES = amount(1, 10)
"""How often two jobs run at once."""

ON_SPARK = 3
"""How often one of them runs on Spark."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system that can be filled."""
    with disk_at(tmp_path / "disk", "64m") as disk:
        yield disk


@contextmanager
def full_from(disk: Path, last: int) -> Iterator[list[str]]:
    """Before the write with the number ``last`` the disk is filled, and it stays so. Gives the names of all writes."""
    writes: list[str] = []

    def counted(write: Callable[..., Any], name: str) -> Callable[..., Any]:
        def counting(*arguments: Any, **options: Any) -> Any:
            if len(writes) == last:
                fill(disk)
            writes.append(name)
            return write(*arguments, **options)

        return counting

    with pytest.MonkeyPatch.context() as patch:
        for place, name in WRITERS:
            patch.setattr(place, name, counted(getattr(place, name), name))
        yield writes


def failure_of(engine: LocalEngine, zone: Path, warehouse: Warehouse) -> str:
    """What a night that fails, by whatever error of whatever library, tells the one who runs it."""
    try:
        whole_night(engine, zone, warehouse)
    except Exception as error:  # noqa: BLE001
        return user_message(error) or repr(error)
    return ""


def fill(disk: Path) -> None:
    """Leave no byte free."""
    with suppress(OSError), (disk / "ballast").open("wb", buffering=0) as ballast:
        while ballast.write(bytes(1 << 16)):
            pass
    with suppress(OSError), (disk / "ballast").open("ab", buffering=0) as ballast:
        while ballast.write(b"x"):
            pass


def test_a_disk_that_is_full_from_any_write_on_costs_a_night_and_no_row(
    local: LocalEngine,
    zone: Zone,
    tmp_path: Path,
    small_disk: Path,
    record_property: Callable[[str, object], None],
) -> None:
    story = second_night(local, zone, tmp_path)
    number, ended = amount(STEP, 0), False
    while not ended:
        folder = small_disk / "w"
        shutil.copytree(story.start, folder)
        with full_from(small_disk, number) as writes:
            said = failure_of(local, zone.root, Warehouse(str(folder)))
        ended = len(writes) <= number
        assert not said if ended else said.startswith("the disk is full"), (said, writes[number:])
        assert content(Warehouse(str(folder)), GOLD) in (story.before, story.after), (
            f"half a night, full from {writes[number:]}"
        )
        (small_disk / "ballast").unlink(missing_ok=True)
        whole_night(local, zone.root, Warehouse(str(folder)))
        assert content(Warehouse(str(folder)), ALL) == story.wanted, f"full from {writes[number:]}"
        shutil.rmtree(folder)
        number += STEP
        record_property("times the disk was full", 1)
    assert number > len(ALL), "a night writes to every table"


class Clock(datetime):
    """The clock of the driver."""

    off = timedelta()

    @classmethod
    def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + cls.off


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Clock]]:
    for module in (
        election_replay.jobs.warehouse.warehouse,
        election_replay.jobs.replaying.plan,
        election_replay.jobs.publishing.runs,
        election_replay.jobs.upkeep,
        tidying,
    ):
        monkeypatch.setattr(module, "datetime", Clock, raising=False)
    yield Clock
    Clock.off = timedelta()


def test_a_clock_that_is_set_back_between_nights_hides_no_night(
    local: LocalEngine, zone: Zone, tmp_path: Path, clock: type[Clock]
) -> None:
    """By little, and by more than anything is kept."""
    warehouse = Warehouse(str(tmp_path / "w"))
    for term, back in enumerate((timedelta(seconds=2), timedelta(days=3), timedelta(days=4000)), 1):
        zone.append("broker_default.log", election(100 * term, term))
        night(local, zone.root, warehouse)
        clock.off -= back
        assert {row["term"] for row in Published(warehouse).rows("SELECT term FROM terms")} == {*range(1, term + 1)}
    started = [run["started_at"] for run in sorted(warehouse.runs(), key=lambda run: run["batch"])]
    assert started == sorted({*started})
    clock.off -= timedelta(days=4000)
    upkeep(warehouse, keep_days=0, grace_hours=0)
    once = Warehouse(str(tmp_path / "once"))
    night(local, zone.root, once)
    assert content(warehouse, ALL) == content(once, ALL)
    assert not night(local, zone.root, warehouse).files, "nothing is landed twice"


def test_a_clock_that_is_set_back_within_a_night_hides_nothing(
    local: LocalEngine, zone: Zone, tmp_path: Path, clock: type[Clock], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between a run's begin and its row."""
    warehouse = Warehouse(str(tmp_path / "w"))
    zone.write("broker_default.log", election(0, 1))
    night(local, zone.root, warehouse)
    zone.append("broker_default.log", election(100, 2))
    whole = Warehouse.append

    def late(self: Warehouse, rows: Any, table: str) -> None:
        clock.off = -timedelta(days=1)
        whole(self, rows, table)

    monkeypatch.setattr(Warehouse, "append", late)
    night(local, zone.root, warehouse)
    assert {row["term"] for row in Published(warehouse).rows("SELECT term FROM terms")} == {1, 2}
    zone.append("broker_default.log", election(200, 3))
    night(local, zone.root, warehouse)
    assert {row["term"] for row in Published(warehouse).rows("SELECT term FROM terms")} == {1, 2, 3}


def test_the_last_note_on_a_finding_counts_whatever_the_clock_said(tmp_path: Path, clock: type[Clock]) -> None:
    warehouse = blank(tmp_path / "w")
    note = GROUP | {
        "finding_id": "f",
        "rule": "LEADERLESS",
        "reviewed_at": datetime.now(UTC),
        "state": "known",
        "reviewer": "r",
    }
    warehouse.append([note], "reviews")
    clock.off = -timedelta(days=1)
    assert warehouse.next_timestamp("reviews", "reviewed_at") > note["reviewed_at"]


Ended = tuple[int, str]
"""The exit code of a job, and the end of what it said."""


def awaited(job: "subprocess.Popen[str]") -> Ended:
    """Wait for a command."""
    said = job.communicate(timeout=600)[0]
    assert "Traceback" not in said, said
    return job.returncode, (said.strip().splitlines() or [""])[-1]


def night_told(engine: Engine, zone: Path, warehouse: Warehouse) -> Ended:
    """A night in this process, told as the console does."""
    try:
        night(engine, zone, warehouse)
    except JobError as error:
        return 1, f"error: {user_message(error) or error}"
    return 0, ""


class Pairs:
    """Two jobs at once, again and again, over one warehouse."""

    def __init__(self, engine: LocalEngine, zone: Zone, folder: Path) -> None:
        self.engine, self.zone, self.warehouse, self.folder = engine, zone, Warehouse(str(folder / "w")), folder
        self.last_term = 1
        where = ("--engine", "local", "--warehouse", self.warehouse.root)
        landing = ("--landing", str(zone.root))
        self.commands = {
            "run": ("run", *where, *landing),
            "upkeep": ("upkeep", *where[2:]),
            "replay": ("replay", *where),
            "land": ("land", *where, *landing),
        }

    def meet(self, first: Callable[[], Callable[[], Ended]], other: str, times: int, pause: float) -> None:
        """Each either does its work or says in one line that another job was there; then one run makes all good.

        ``first`` begins the one job, and gives what waits for it. The other begins up to four pauses later.
        """
        for number in range(times):
            term = self.last_term = self.last_term + 1
            self.zone.append("broker_default.log", election(100 * term, term))
            waits = first()
            time.sleep(pause * (number % 5))
            second = begun(*self.commands[other])
            for code, said in (waits(), awaited(second)):
                assert code in (0, 1), said
                if code:
                    assert said.startswith("error: "), said
                    assert "again" in said or "another" in said, said
            assert self._terms() in ({*range(1, term)}, {*range(1, term + 1)})
            code, said = night_told(self.engine, self.zone.root, Warehouse(self.warehouse.root))
            assert code == 0, said

    def _terms(self) -> set[int]:
        published = Published(Warehouse(self.warehouse.root))
        return {row["term"] for row in published.rows("SELECT term FROM terms")}

    def made_good(self) -> None:
        """All is as after one night."""
        once = Warehouse(str(self.folder / "once"))
        night(self.engine, self.zone.root, once)
        assert content(Warehouse(self.warehouse.root), ALL) == content(once, ALL)


@pytest.fixture
def pairs(local: LocalEngine, zone: Zone, tmp_path: Path) -> Pairs:
    zone.write("broker_default.log", election(0, 1))
    found = Pairs(local, zone, tmp_path)
    night(local, zone.root, found.warehouse)
    return found


OTHERS = ("run", "upkeep", "replay", "land")


def test_two_jobs_at_once_lose_nothing(pairs: Pairs, record_property: Callable[[str, object], None]) -> None:
    for other in OTHERS:
        pairs.meet(lambda: partial(awaited, begun(*pairs.commands["run"])), other, TIMES, pause=0.35)
    pairs.made_good()
    record_property("pairs of jobs at once", TIMES * len(OTHERS))


@only_when_proving("three minutes")
def test_a_night_on_spark_and_another_job_at_once_lose_nothing(
    spark: SparkEngine, pairs: Pairs, record_property: Callable[[str, object], None]
) -> None:
    with ThreadPoolExecutor(1) as pool:
        alone = partial(pool.submit, night_told, spark, pairs.zone.root, Warehouse(pairs.warehouse.root))
        for other in OTHERS:
            pairs.meet(lambda: alone().result, other, ON_SPARK, pause=0.8)
    pairs.made_good()
    record_property("pairs of jobs at once", ON_SPARK * len(OTHERS))


LOOK = ("look", str(EXAMPLES))
RUN = ("run", "--engine", "spark", "--landing", str(EXAMPLES), "--warehouse")


MOMENTS = ((LOOK, "*", 0.0), (LOOK, "*", 0.3), (LOOK, "*", 0.6), (RUN, "*", 0.0), (RUN, "election-replay-*", 0.0))
SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""One handler takes both: ``make test`` sends them by turns, ``make prove`` each at each moment."""


@pytest.mark.parametrize(
    ("command", "first", "after_s", "number"),
    [(*moment, number) for at, moment in enumerate(MOMENTS) for number in amount((SIGNALS[at % 2],), SIGNALS)],
)
def test_a_command_that_is_told_to_end_leaves_nothing_behind(
    command: tuple[str, ...], first: str, after_s: float, number: signal.Signals, tmp_path: Path
) -> None:
    """Schedulers stop what takes too long by SIGTERM, some of them twice; with Spark, while its JVM starts or later:
    it is told when the ``first`` file of this name is there, or some time after."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    warehouse = [str(tmp_path / "warehouse")] if command is RUN else []
    with begun(*command, *warehouse, TMPDIR=str(scratch)) as told_to_end:
        while not any(scratch.glob(first)):
            assert told_to_end.poll() is None
            time.sleep(0.05)
        time.sleep(after_s)
        told_to_end.send_signal(number)
        time.sleep(0.05)
        told_to_end.send_signal(number)
        said, _ = told_to_end.communicate(timeout=600)  # a JVM that stayed would hold its standard output
    assert told_to_end.returncode == 128 + number, said
    assert said.endswith("error: stopped; run the same command again to go on\n")
    assert "Traceback" not in said
    assert [*scratch.iterdir()] == []
