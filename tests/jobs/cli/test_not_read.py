"""What could not be read of a landing zone is told, and the exit code says so; everything else goes on."""

import errno
import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.cli.ending import GATE_FAILED, NOT_READ
from election_replay.jobs.land import Landing
from election_replay.jobs.landing.landing_zone import LocalZone, Skip, Skipped
from election_replay.jobs.landing.ledger import NOTHING_LANDED
from election_replay.jobs.landing.listing import LogFile, log_files
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.landing.one_file import land_tasks
from election_replay.jobs.landing.plan import tasks_of
from election_replay.jobs.reading.metrics import metrics
from election_replay.jobs.reading.published import Published
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.cli.test_dry_run import landed, published
from tests.jobs.zone import Zone, leads, noise


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes files of a name unreadable."""

    def fail(name: str) -> None:
        opened = LocalZone.open

        def opening(self: LocalZone, path: str, position: int = 0) -> Any:
            if path.endswith(name):
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return opened(self, path, position)

        monkeypatch.setattr(LocalZone, "open", opening)

    return fail


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(str(tmp_path / "w"))


def test_a_dry_run_names_what_is_tried_again_and_what_is_passed_over(
    zone: Zone, warehouse: Warehouse, failing: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    zone.write("broker.log", leads(0) + noise(1))
    zone.write("store.log", leads(0))
    (zone.root / "c\n2").symlink_to("/nowhere")
    failing("store.log")
    landed(zone, warehouse)
    assert main(["land", "--landing", str(zone.root), "--warehouse", warehouse.root, "--dry-run"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if not line.startswith("Settings: ")] == [
        "would try again c1/nodes/n1/logs/store.log: could not be read: [Errno 5] Input/output error",
        "would pass over c\\n2: a link, not followed, to /nowhere",
    ]


def test_executors_tell_which_files_they_could_not_read(
    zone: Zone, warehouse: Warehouse, failing: Callable[[str], None]
) -> None:
    zone.write("broker.log", leads(0) + noise(1))
    zone.write("store.log", leads(0))
    tasks = tasks_of(log_files(str(zone.root), zone.config.layout), NOTHING_LANDED, str(zone.root), zone.config, 1)
    failing("store.log")
    warehouse.create()
    done = land_tasks(tasks, str(zone.root), warehouse.root)
    assert +done.sums == {"lines_total": 2, "lines_event": 1, "lines_ignored": 1}
    assert done.unread == [("c1/nodes/n1/logs/store.log", "could not be read: [Errno 5] Input/output error")]


class InventoryRow:
    """Lists a landing zone, tells what was passed over besides, and counts how often it is asked to."""

    def __init__(self, passed_over: list[Skipped]) -> None:
        self._passed_over, self.times = passed_over, 0

    def __call__(self, landing: str, tables: Warehouse, settings: Config, skip: Skip) -> list[LogFile]:
        self.times += 1
        for one in self._passed_over:
            skip(one)
        return new_files(landing, tables, settings, skip)


@pytest.mark.parametrize(
    ("unread", "passed_over", "gate_fails", "code"),
    [
        ((), [], False, 0),
        ((), [Skipped("latest", "a link", harmless=True)], False, 0),
        ((("p", "could not be read"),), [], False, NOT_READ),
        ((), [Skipped("c\\xe9", "its name is no UTF-8")], False, NOT_READ),
        ((("p", "could not be read"),), [], True, GATE_FAILED),
    ],
)
def test_the_exit_code_of_a_night_says_what_was_missed(
    zone: Zone,
    warehouse: Warehouse,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    unread: tuple[tuple[str, str], ...],
    passed_over: list[Skipped],
    gate_fails: bool,
    code: int,
) -> None:
    """A failed gate says more than a file that is tried again."""
    zone.write("broker.log", leads(0))
    steps: list[str] = []
    monkeypatch.setattr("election_replay.jobs.cli.pipeline.engine_of", lambda *_, **__: nullcontext())
    monkeypatch.setattr("election_replay.jobs.landing.new_files.new_files", listed := InventoryRow(passed_over))
    monkeypatch.setattr("election_replay.jobs.cli.pipeline.land_stage", lambda *_: Landing(1, unread=unread))
    monkeypatch.setattr("election_replay.jobs.cli.pipeline.replay_stage", lambda *_: steps.append("replay"))
    monkeypatch.setattr("election_replay.jobs.cli.pipeline.gates", lambda *_: gate_fails)
    both = ("--landing", str(zone.root), "--warehouse", warehouse.root)
    assert main(["run", *both]) == code
    assert steps == ["replay"], "what was read is judged"
    assert listed.times == 1, "a landing zone on an object store is listed folder by folder"
    told = capsys.readouterr().out
    for path, *_ in (*unread, *((one.path,) for one in passed_over)):
        assert f"\n  {path}  " in told
    if not gate_fails:
        assert main(["land", *both]) == code


def test_what_is_passed_over_is_said_in_a_night_without_news_too(
    zone: Zone, warehouse: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    zone.write("broker.log", leads(0))
    landed(zone, warehouse)
    published(warehouse, 1, held=[])
    (zone.root / "c2").symlink_to("/nowhere")
    assert main(["land", "--landing", str(zone.root), "--warehouse", warehouse.root]) == NOT_READ
    assert "  c2  a link, not followed, to /nowhere" in capsys.readouterr().out.splitlines()


def test_they_are_counted_for_monitoring_while_they_are_unread(
    zone: Zone, warehouse: Warehouse, failing: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    zone.write("broker.log", leads(0) + noise(1))
    zone.write("store.log", leads(0))
    failing("store.log")
    landed(zone, warehouse)
    published(warehouse, 1, held=[])
    assert 'election_replay_unread_files{cluster="c1"} 1' in metrics(Published(warehouse))
    monkeypatch.undo()
    landed(zone, warehouse)
    published(warehouse, 2, held=[])
    assert not [line for line in metrics(Published(warehouse)) if line.startswith("election_replay_unread_files{")]


def test_a_night_over_a_bad_landing_zone_is_published(
    zone: Zone, warehouse: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the command line does it."""
    zone.write("broker_default.log", leads(0) + leads(60, term=2))
    bad = zone.root / os.fsdecode(b"latin\xe9") / "nodes" / "n1" / "logs" / "broker.log"
    bad.parent.mkdir(parents=True)
    bad.write_text(leads(0))
    (zone.root / "c2").symlink_to(zone.root.parent / "c2")
    both = ("--landing", str(zone.root), "--warehouse", warehouse.root, "--engine", "local")
    assert main(["run", *both]) == NOT_READ
    said = capsys.readouterr().out
    assert "Published: run" in said
    assert "\n  latin\\xe9  the folder's name is no UTF-8\n" in said
    assert "\n  c2  a link, not followed, to " in said
    assert Published(warehouse).rows("SELECT count(*) AS n FROM terms") == [{"n": 2}]
    assert main(["run", *both]) == NOT_READ, "until it is put right"
    (zone.root / "c2").unlink()
    bad.parents[3].rename(zone.root / "latin")
    assert main(["run", *both]) == 0
