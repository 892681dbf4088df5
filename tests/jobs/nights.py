"""Nights of a test: land, replay, and what readers see afterwards."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.land import Landing, land
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.reading.published import Published
from election_replay.jobs.replay import replay
from election_replay.jobs.settings.config import Config
from election_replay.jobs.upkeep import upkeep
from election_replay.jobs.warehouse.table_sets import FACT_TABLES
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas.findings import OF_RUNS
from tests.jobs.tables import blank
from tests.jobs.zone import Zone, election, noise

GOLD = (
    "terms",
    "elections",
    "role_intervals",
    "sync_state_sets",
    "lock_holds",
    "metadata_versions",
    "findings",
    "clock_offsets",
    "evidence_lines",
    "rule_coverage",
)
ALL = (*GOLD, *FACT_TABLES, "events", "log_lines", "quarantine")

_OF_DELIVERY = {"batch", "source_file", "path", "modified_at", *OF_RUNS}
"""What tells of the landing or run that wrote a row, and of the name that a file had then."""


def night(engine: Engine, zone: Path, warehouse: Warehouse) -> Landing:
    """One night's run."""
    done = land_only(engine, zone, warehouse)
    replay(engine, warehouse)
    return done


def land_only(engine: Engine, zone: Path, warehouse: Warehouse) -> Landing:
    """The first half of it."""
    if not Path(warehouse.root).exists():
        blank(warehouse.root)
    landing = str(zone)
    return land(engine, new_files(landing, warehouse, Config()), landing, warehouse, Config())


def whole_night(engine: Engine, zone: Path, warehouse: Warehouse) -> None:
    """A night and its upkeep, which keeps nothing that it need not keep."""
    night(engine, zone, warehouse)
    upkeep(warehouse, keep_days=0, grace_hours=0)


@dataclass(frozen=True, slots=True)
class SecondNight:
    """A night that is to come: the warehouse before it, the verdicts before and after it, and all rows after it."""

    start: Path
    before: dict[str, list[str]]
    after: dict[str, list[str]]
    wanted: dict[str, list[str]]


def second_night(engine: Engine, zone: Zone, folder: Path) -> SecondNight:
    """Two clusters were judged, of which one has news; the warehouses of this story lie in ``folder``."""
    logs = [zone.root / cluster / "nodes" / "n1" / "logs" / "broker_default.log" for cluster in ("c1", "c2")]
    for log in logs:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(election(0, 1))
    start, once = folder / "start", Warehouse(str(folder / "once"))
    whole_night(engine, zone.root, Warehouse(str(start)))
    logs[0].write_text(election(0, 1) + election(100, 2))
    night(engine, zone.root, once)
    story = SecondNight(start, content(Warehouse(str(start))), content(once), content(once, ALL))
    assert story.before != story.after
    return story


def night_after_rest(engine: Engine, zone: Zone, folder: Path) -> SecondNight:
    """All nodes of two clusters said nothing new for a night; in the next one some go on so, and two elect."""
    places = [("c1", f"n{number}") for number in range(1, 6)] + [("c2", "n1")]
    logs = {place: zone.root / place[0] / "nodes" / place[1] / "logs" / "broker_default.log" for place in places}
    told = {place: election(0, 1, place[1]) for place in places}
    start, once = folder / "start", Warehouse(str(folder / "once"))
    for quiet in ("", "".join(map(noise, range(8, 60, 5)))):
        for place, log in logs.items():
            told[place] += quiet
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(told[place])
        whole_night(engine, zone.root, Warehouse(str(start)))
    for place, log in logs.items():
        elects = place in {("c1", "n1"), ("c1", "n2")}
        log.write_text(told[place] + (election(62, 2, place[1]) if elects else "".join(map(noise, range(62, 90, 5)))))
    night(engine, zone.root, once)
    story = SecondNight(start, content(Warehouse(str(start))), content(once), content(once, ALL))
    assert story.before != story.after
    return story


def begun(*command: str, limits: str = "", **environment: str) -> "subprocess.Popen[str]":
    """A command of the console, running in this environment, after a shell has set ``limits``."""
    code = "import sys; from election_replay.jobs.cli.app import main; sys.exit(main())"
    return subprocess.Popen(
        ["sh", "-c", f'{limits} exec "$0" "$@"', sys.executable, "-c", code, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        env=os.environ | environment,
    )


def content(warehouse: Warehouse, tables: tuple[str, ...] = GOLD) -> dict[str, list[str]]:
    """All published rows, but for what tells of the landing, as sorted JSON."""
    return rows_in(Published(warehouse), tables)


def rows_in(published: Published, tables: tuple[str, ...]) -> dict[str, list[str]]:
    """The same of what somebody reads."""
    return {
        table: sorted(
            json.dumps({k: v for k, v in row.items() if k not in _OF_DELIVERY}, default=str, sort_keys=True)
            for row in published.rows(f"SELECT * FROM {table}")  # noqa: S608 - our own names
        )
        for table in tables
    }
