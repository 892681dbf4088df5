"""Two landings at once: the rows of one that counts are never taken for those of one that was killed."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from election_replay.jobs import JobError, land
from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.landing.plan import Begun
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.nights import ALL, content, land_only, night
from tests.jobs.zone import Zone, election

Resume = Callable[[], None]


class StoppedError(Exception):
    """A landing stops there, and may go on later."""


@pytest.fixture
def warehouse(engine: Engine, zone: Zone, tmp_path: Path) -> Warehouse:
    """One night has been, and another election is to land."""
    zone.write("broker_default.log", election(0, 1))
    found = Warehouse(str(tmp_path / "w"))
    night(engine, zone.root, found)
    zone.append("broker_default.log", election(200, 2))
    return found


@pytest.fixture
def resume(engine: Engine, zone: Zone, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> Resume:
    """What a landing has still to do whose rows are all there, and that does not count yet."""
    whole, rest = Warehouse.replace, []

    def until_it_counts(self: Warehouse, files: Any, table: str, *others: Any) -> None:
        if table == "landed_files":
            rest.append(partial(whole, self, list(files), table, *others))
            raise StoppedError
        whole(self, files, table, *others)

    with monkeypatch.context() as patched:
        patched.setattr(Warehouse, "replace", until_it_counts)
        with pytest.raises(StoppedError):
            land_only(engine, zone.root, Warehouse(warehouse.root))
    return rest[0]


def as_after_one_night(engine: Engine, zone: Zone, warehouse: Warehouse, folder: Path) -> bool:
    once = Warehouse(str(folder / "once"))
    night(engine, zone.root, once)
    night(engine, zone.root, Warehouse(warehouse.root))
    return content(Warehouse(warehouse.root), ALL) == content(once, ALL)


def test_one_that_counts_while_another_begins_keeps_its_rows(
    engine: Engine,
    zone: Zone,
    warehouse: Warehouse,
    resume: Resume,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second has the number of the first, and finds nothing left to land: its nothing must not replace the rows."""
    whole, there = land.begin, Warehouse(warehouse.root).count("events")

    def meanwhile(*arguments: Any) -> Begun:
        begun = whole(*arguments)
        resume()
        return begun

    with monkeypatch.context() as patched:
        patched.setattr(land, "begin", meanwhile)
        with pytest.raises(JobError, match="another job has written"):
            land_only(engine, zone.root, Warehouse(warehouse.root))
    assert Warehouse(warehouse.root).count("events") == there
    assert as_after_one_night(engine, zone, warehouse, tmp_path)


def test_one_whose_rows_were_replaced_never_counts(
    engine: Engine, zone: Zone, warehouse: Warehouse, resume: Resume, tmp_path: Path
) -> None:
    assert land_only(engine, zone.root, Warehouse(warehouse.root)).batch == 2
    with pytest.raises(JobError, match="another job has written"):
        resume()
    assert as_after_one_night(engine, zone, warehouse, tmp_path)


def test_one_that_wakes_while_its_rows_are_replaced_never_counts(
    engine: Engine,
    zone: Zone,
    warehouse: Warehouse,
    resume: Resume,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, woken = Warehouse.replace, []

    def wakes(self: Warehouse, files: Any, table: str, *others: Any) -> None:
        whole(self, files, table, *others)
        if table == "events" and not woken:
            woken.append(True)
            with pytest.raises(JobError, match="another job has written"):
                resume()

    with monkeypatch.context() as patched:
        patched.setattr(Warehouse, "replace", wakes)
        assert land_only(engine, zone.root, Warehouse(warehouse.root)).batch == 2
    assert woken
    assert as_after_one_night(engine, zone, warehouse, tmp_path)
