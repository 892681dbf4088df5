"""A large landing commits part by part: one that is stopped goes on behind its last part, and nothing comes twice."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from election_replay.jobs import JobError, land
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.landing.one_file import Task
from election_replay.jobs.replay import replay
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.nights import ALL, content, land_only, night
from tests.jobs.zone import election

CLUSTERS = ("a", "b", "c")


class KilledError(Exception):
    """The process ends there."""


@pytest.fixture
def zone(tmp_path: Path) -> Path:
    """Three clusters, of which one has a rolled file, and lines that cannot be read."""
    for number, cluster in enumerate(CLUSTERS):
        logs = tmp_path / "zone" / cluster / "nodes" / "n1" / "logs"
        logs.mkdir(parents=True)
        (logs / "broker_default.log").write_text(election(1000 * number, 1) + "1970-01-01 00:00:00 broken\\n")
    rolled = tmp_path / "zone" / "b" / "nodes" / "n1" / "logs" / "broker_default.log.1"
    rolled.write_text(election(500, 1))
    return tmp_path / "zone"


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is a part of its own."""
    monkeypatch.setattr(land, "GIGABYTE", 1)


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize("table", ["events", "landed_files"])
def test_a_landing_that_was_killed_goes_on_behind_its_last_part(
    local: LocalEngine, zone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    warehouse, whole = Warehouse(str(tmp_path / "w")), Warehouse.replace
    commits = Counter[str]()

    def until_killed(self: Warehouse, files: Any, name: str, *others: Any, **more: Any) -> None:
        commits[name] += 1
        if name == table and commits[name] == 3:
            raise KilledError
        whole(self, files, name, *others, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Warehouse, "replace", until_killed)
        with pytest.raises(KilledError):
            land_only(local, zone, warehouse)
    there = Warehouse(warehouse.root)
    assert sorted(row["cluster"] for row in there.rows("landed_files", ["cluster"])) == ["a", "b"]
    before = lines_of(there)
    land_only(local, zone, there)
    assert {line for line in lines_of(there) if line[-1] <= 2} == {line for line in before if line[-1] <= 2} != set()
    assert replay(local, there).run_id

    monkeypatch.undo()
    once = Warehouse(str(tmp_path / "once"))
    assert night(local, zone, once).batch == 1
    assert content(there, ALL) == content(once, ALL)


@pytest.mark.usefixtures("parts")
def test_a_landing_beside_it_stops_one_of_them(
    local: LocalEngine, zone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse, land_all = Warehouse(str(tmp_path / "w")), land.land_all
    calls = []

    def beside(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            monkeypatch.undo()
            land_only(local, zone, Warehouse(warehouse.root))
        return land_all(*arguments)

    monkeypatch.setattr(land, "land_all", beside)
    with pytest.raises(JobError, match="another job has written"):
        land_only(local, zone, warehouse)
    lines = lines_of(Warehouse(warehouse.root))
    assert len(lines) == len({line[:-1] for line in lines})
    assert {cluster for cluster, *_ in lines} == {*CLUSTERS}


def test_parts_are_as_large_as_is_said_and_keep_the_order_of_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(land, "weight", lambda task: task.batch)
    tasks = [Fake("b", 9), Fake("a", 5), Fake("b", 4), Fake("a", 3), Fake("c", 1)]
    assert [[task.head for task in part] for part in land.parts_of(tasks, 10)] == [["a5", "a3"], ["b9"], ["b4", "c1"]]
    assert [[task.head for task in part] for part in land.parts_of(tasks, 100)] == [["b9", "a5", "b4", "a3", "c1"]]
    assert [*land.parts_of([], 10)] == []


def lines_of(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    """All lines: cluster, file, number, landing."""
    rows = warehouse.rows("log_lines", ["cluster", "path", "line_no", "batch"])
    return sorted((row["cluster"], row["path"], row["line_no"], row["batch"]) for row in rows)


class Fake(Task):
    """A task that is known by its cluster and its size, which stands for its batch."""

    def __init__(self, cluster: str, size: int) -> None:
        for name, value in {"cluster": cluster, "batch": size, "head": f"{cluster}{size}"}.items():
            object.__setattr__(self, name, value)
