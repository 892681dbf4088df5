"""Drivers, executors and Python workers are killed at any moment of a night: readers see whole runs, and the next run
makes it good."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue

import pytest

from election_replay.jobs import JobError
from election_replay.jobs.engines.spark_engine import SparkEngine
from election_replay.jobs.reading.published import Published
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.nights import ALL, content, night, rows_in
from tests.jobs.zone import Zone, leads, line, noise
from tests.proving import only_when_proving

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SEED = 1
EXECUTOR, PYTHON = "CoarseGrainedExecutorBackend", "pyspark.daemon"
ALL_OF_IT, DRIVER = ("driver, JVM and executors",), ("driver",)
HELPERS = (*(PYTHON,) * 5, EXECUTOR, *(PYTHON,) * 4)
THIRTY = (HELPERS, *((DRIVER,) * 5), HELPERS, ALL_OF_IT, *((DRIVER,) * 4))
"""Whom each night loses: it outlives the loss of an executor, and of the Python beside it."""
TABLES_WITH_TERMS = ("terms", "role_intervals", "facts", "events")
PAUSE_S = 3
"""Between two reads; they cost something too."""
LIMIT_S = 600


@only_when_proving("ten minutes")
def test_nights_with_kills(
    spark: SparkEngine, zone: Zone, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    assert sum(map(len, THIRTY)) == 30
    warehouse = Warehouse(str(tmp_path / "warehouse"))
    crew, reader = Crew(zone.root, warehouse, tmp_path), Reader(warehouse)
    try:
        runs = nights_with_kills(Story(zone), crew, reader)
        assert crew.kills == sum(map(len, THIRTY))
        record_property("kills", crew.kills)
        assert not reader.complaints
        assert {*reader.reads} <= {*runs.items()}
        assert reader.reads == sorted(reader.reads), "a reader went back"
        assert len({*reader.reads}) >= sum(kinds[0] == PYTHON for kinds in THIRTY)
        once = Warehouse(str(tmp_path / "once"))
        night(spark, zone.root, once)
        wanted, found = content(once, ALL), content(warehouse, ALL)
        for table in ALL:
            assert found[table] == wanted[table], table
    except Exception as error:
        error.add_note("\n".join([f"seed {SEED}; nights, and who was killed when:", *crew.diary]))
        raise
    finally:
        reader.ends()
        crew.dies()


def nights_with_kills(story: "Story", crew: "Crew", reader: "Reader") -> dict[str, str]:
    """All nights of the plan between two in which nobody dies; what the reader ought to see of each run."""
    chance, plan = random.Random(SEED), deque(THIRTY)
    story.goes_on()
    crew.whole_night()
    runs = dict([seen(crew.warehouse)])
    reader.start()
    while plan:
        story.goes_on()
        missed = crew.night_with_kills(plan.popleft(), chance)
        plan.extend([missed] if missed else [])
        run, digest = seen(crew.warehouse)
        assert runs.setdefault(run, digest) == digest, f"{run} changed"
    crew.whole_night()
    reader.ends()
    return runs | dict([seen(crew.warehouse)])


class Story:
    """What the nodes of two clusters log: every night a new election on a node of each; two nodes say no more."""

    def __init__(self, zone: Zone) -> None:
        self.zone, self.nights = zone, 0
        for silent in ("c1/nodes/n2", "c1/nodes/n3"):
            self._write(silent, noise(0))

    def goes_on(self) -> None:
        """The next night."""
        term = self.nights = self.nights + 1
        said = line(100 * term, f"[n1] [ChangeRoleToCandidate] from term: {term - 1} and currTerm: {term - 1}")
        said += leads(100 * term + 2, term) + noise(100 * term + 3)
        for node in ("c1/nodes/n1", "c2/nodes/n1"):
            self._write(node, said)

    def _write(self, node: str, text: str) -> None:
        log = self.zone.root / node / "logs" / "broker_default.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a") as file:
            file.write(text)


def seen(warehouse: Warehouse) -> tuple[str, str]:
    """What a reader sees now: the run, and a digest of all its rows. They are of one night, or it is a mixture."""
    published = Published(warehouse)
    told = {
        (row["cluster"], table): row["last"]
        for table in TABLES_WITH_TERMS
        for row in published.rows(f"SELECT cluster, max(term) AS last FROM {table} GROUP BY cluster")  # noqa: S608
    }
    assert len({*told.values()}) == 1, f"{published.run['run_id']} is a mixture: {told}"
    return published.run["run_id"], hashlib.sha256(repr(rows_in(published, ALL)).encode()).hexdigest()


class Reader(threading.Thread):
    """Reads what is published, again and again."""

    def __init__(self, warehouse: Warehouse) -> None:
        super().__init__()
        self.reads: list[tuple[str, str]] = []
        self.complaints: list[str] = []
        self._warehouse, self._over = warehouse, threading.Event()

    def run(self) -> None:
        while not self._over.wait(PAUSE_S):
            try:
                self.reads.append(seen(self._warehouse))
            except (AssertionError, JobError) as error:
                self.complaints.append(str(error))

    def ends(self) -> None:
        """No more."""
        self._over.set()
        if self.is_alive():
            self.join()


@dataclass
class Crew:
    """A driver with its executors, and whoever comes after it. ``length_s``: how long its last whole night took."""

    landing: Path
    warehouse: Warehouse
    folder: Path
    length_s: float = 0
    kills: int = 0
    diary: list[str] = field(default_factory=list)
    _process: subprocess.Popen[str] | None = None
    _said: "Queue[str]" = field(default_factory=Queue)
    _orphans: bool = False
    """The JVM may still be writing what a killed driver had asked for."""

    def whole_night(self) -> None:
        """A night in which nobody dies."""
        self.night_with_kills((), random.Random(SEED))
        if self._orphans:
            self.night_with_kills((), random.Random(SEED))

    def night_with_kills(self, victims: tuple[str, ...], chance: random.Random) -> tuple[str, ...]:
        """A night in which these are killed at moments of its usual length; those for whom it was over too early."""
        driver, begin = self._begin(), time.monotonic()
        self.diary.append(f"night {len(self.diary) + 1}:")
        moments = sorted(chance.uniform(0, self.length_s) for _ in victims)
        for number, (victim, moment) in enumerate(zip(victims, moments, strict=True)):
            how = self._hears(begin + moment - time.monotonic())
            while not how and not (found := self._processes(victim, driver)):
                how = self._hears(0.1)
            if how:
                self._ends(how, begin, whole=not number)
                return victims[number:]
            self._kills(victim, chance.choice(found))
            self.diary[-1] += f" {victim} {time.monotonic() - begin:.2f} s,"
        if victims == ALL_OF_IT:
            return ()
        how = self._hears(LIMIT_S)
        too_late = victims == DRIVER and how == "published"
        self._ends(how, begin, whole=not victims, killed=victims == DRIVER and not too_late)
        self.kills -= too_late
        return victims if too_late else ()

    def _kills(self, victim: str, process: int) -> None:
        """Now."""
        self.kills += 1
        if victim in ALL_OF_IT:
            self.dies()
        else:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def _ends(self, how: str, begin: float, *, whole: bool, killed: bool = False) -> None:
        """The end of a night. One that follows a killed driver may be told to run again."""
        took = time.monotonic() - begin
        self.diary[-1] += f" {how or 'hanging'} after {took:.2f} s"
        assert how == ("failed" if killed else "published") or (self._orphans and how), self._log().read_text()[-3000:]
        if whole and how == "published":
            self.length_s = took
        self._orphans = how == "failed"

    def dies(self) -> None:
        """Driver, JVM and executors: all at once."""
        if self._process is not None:
            helpers = descendants(self._process.pid)
            os.killpg(self._process.pid, signal.SIGKILL)
            for helper, _ in helpers:
                with suppress(ProcessLookupError):
                    os.kill(helper, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _begin(self) -> int:
        """Begin a night; the process that runs it."""
        if self._process is None:
            self._start()
        assert self._process
        assert self._process.stdin
        self._process.stdin.write("night\n")
        self._process.stdin.flush()
        return int(self._hears(LIMIT_S))

    def _start(self) -> None:
        """A new driver, with executors of its own."""
        self._said, self._orphans = Queue(), False
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.jobs.driver", str(self.landing), self.warehouse.root],
            env={**os.environ, "PYTHONPATH": str(ROOT), "SPARK_WORKER_DIR": str(self.folder / "work")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log().open("a"),
            text=True,
            cwd=self.folder,
            process_group=0,
        )
        threading.Thread(target=lines_into, args=(self._process, self._said)).start()
        assert self._hears(LIMIT_S) == "ready", self._log().read_text()[-3000:]

    def _log(self) -> Path:
        return self.folder / "driver.log"

    def _hears(self, seconds: float) -> str:
        """What the driver says next; nothing when it says nothing for so long."""
        try:
            return self._said.get(timeout=max(seconds, 0.001))
        except Empty:
            return ""

    def _processes(self, victim: str, driver: int) -> list[int]:
        """The running processes of this crew that are meant: none while Spark starts a new one."""
        if victim in (*DRIVER, *ALL_OF_IT):
            return [driver]
        assert self._process
        return [pid for pid, command in descendants(self._process.pid) if victim in command]


def lines_into(process: "subprocess.Popen[str]", queue: "Queue[str]") -> None:
    """What a process says, line by line."""
    assert process.stdout
    for said in process.stdout:
        queue.put(said.strip())


def descendants(pid: int) -> list[tuple[int, str]]:
    """The processes below one, and their commands."""
    children: dict[int, list[tuple[int, str]]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            command = (status.parent / "cmdline").read_text(errors="replace")
            children.setdefault(parent, []).append((int(status.parent.name), command))
    found = list(children.get(pid, []))
    for child, _ in found:
        found += children.get(child, [])
    return sorted(found)
