"""Odd surroundings of a job: names with blanks, a home or a folder for temporary files that cannot be written, a mask,
a locale, too little memory. A night goes well there, or says in one line what it lacks; nothing is lost either way."""

from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import TimeoutExpired

import pytest

from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.reading.published import Published
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.disks import disk_at
from tests.jobs.nights import ALL, begun, content, night
from tests.jobs.zone import Zone, election
from tests.proving import amount, only_when_proving

pytestmark = pytest.mark.slow

NO_HOME = "/proc"
"""Nobody makes a file there."""

LOCALE_C = {"LC_ALL": "C", "LANG": "C"}
NO_MEMORY = amount((1_500_000,), (500_000, 750_000, 1_500_000))
"""Bounds of the address space (kilobytes) that are too small: for libraries, for their threads, for a night."""

CPU_SECONDS = 8
"""So long such a night may compute: some libraries try again and again, for as long as they may."""

ENGINES = amount(["local"], ["local", "spark"])


@pytest.fixture
def odd(tmp_path: Path) -> Zone:
    """A zone whose path and cluster have blanks, quotes and letters that are no ASCII."""
    zone = Zone(tmp_path / "a zone's \N{LATIN SMALL LETTER O WITH DIAERESIS}")
    zone.logs = zone.root / "c \N{CJK UNIFIED IDEOGRAPH-4E00}" / "nodes" / "n1" / "logs"
    zone.write("broker_default.log", election(0, 1))
    return zone


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A folder in which there is no room."""
    with disk_at(tmp_path / "full", "4k") as folder:
        (folder / "ballast").write_bytes(bytes(4096))
        yield folder


def told(zone: Zone, warehouse: Path, engine: str, limits: str = "", **environment: str) -> tuple[int, str]:
    """The exit code of a run, and all that it said."""
    job = begun(
        *("run", "--engine", engine, "--landing", str(zone.root), "--warehouse", str(warehouse)),
        limits=limits,
        **environment,
    )
    try:
        said = job.communicate(timeout=600 if not limits.startswith("ulimit") else 60)[0]
    except TimeoutExpired:  # a library that may start no thread can wait for it for ever: its scheduler ends it
        job.kill()
        said = job.communicate()[0]
    return job.returncode, said


def whole(local: LocalEngine, zone: Zone, warehouse: Path) -> None:
    """All is as one night in plain surroundings makes it."""
    once = Warehouse(str(zone.root.parent / "once"))
    night(local, zone.root, once)
    assert content(Warehouse(str(warehouse)), ALL) == content(once, ALL)


@pytest.mark.parametrize("engine", ENGINES)
def test_nights_with_blanks_a_mask_a_locale_and_no_home(
    local: LocalEngine, odd: Zone, tmp_path: Path, engine: str, record_property: Callable[[str, object], None]
) -> None:
    warehouse = tmp_path / "a warehouse"
    for term in (2, 3):
        code, said = told(odd, warehouse, engine, "umask 077;", HOME=NO_HOME, **LOCALE_C)
        assert code == 0, said
        odd.append("broker_default.log", election(100 * term, term))
        record_property("nights in odd surroundings", 1)
    assert {path.stat().st_mode & 0o077 for path in warehouse.rglob("*")} == {0}
    night(local, odd.root, Warehouse(str(warehouse)))
    whole(local, odd, warehouse)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_night_without_room_for_temporary_files(
    local: LocalEngine,
    odd: Zone,
    tmp_path: Path,
    full: Path,
    engine: str,
    record_property: Callable[[str, object], None],
) -> None:
    warehouse = tmp_path / "warehouse"
    code, said = told(odd, warehouse, engine, TMPDIR=str(full))
    assert code == 0 or said.strip().splitlines()[-1].startswith("error: the disk is full"), said
    record_property("nights in odd surroundings", 1)
    night(local, odd.root, Warehouse(str(warehouse)))
    whole(local, odd, warehouse)


@pytest.mark.parametrize("kilobytes", NO_MEMORY)
def test_a_night_with_too_little_memory_changes_nothing_and_the_next_one_makes_it_good(
    local: LocalEngine, odd: Zone, tmp_path: Path, kilobytes: int, record_property: Callable[[str, object], None]
) -> None:
    warehouse = tmp_path / "warehouse"
    night(local, odd.root, Warehouse(str(warehouse)))
    odd.append("broker_default.log", election(100, 2))
    code, said = told(odd, warehouse, "local", f"ulimit -v {kilobytes}; ulimit -t {CPU_SECONDS};")
    assert code, "so much is enough by now: try less"
    if code == 1 and "error: " in said:  # else a library has ended the process by itself
        assert said.strip().splitlines()[-1].startswith("error: there is not enough memory"), said
        assert "Traceback" not in said
    assert {row["term"] for row in Published(Warehouse(str(warehouse))).rows("SELECT term FROM terms")} == {1}
    record_property("nights in odd surroundings", 1)
    night(local, odd.root, Warehouse(str(warehouse)))
    whole(local, odd, warehouse)


@only_when_proving("half a minute")
def test_workers_of_spark_with_too_little_memory_are_told_of(
    local: LocalEngine, odd: Zone, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    warehouse = tmp_path / "warehouse"
    little = "--conf spark.executor.pyspark.memory=250m --conf spark.electionReplay.little=0 pyspark-shell"
    code, said = told(odd, warehouse, "spark", PYSPARK_SUBMIT_ARGS=little)
    assert code == 1
    assert said.strip().splitlines()[-1].startswith("error: there is not enough memory"), said
    record_property("nights in odd surroundings", 1)
    night(local, odd.root, Warehouse(str(warehouse)))
    whole(local, odd, warehouse)
