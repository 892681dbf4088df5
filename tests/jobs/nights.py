"""Nights of a test: land, replay, and what readers see afterwards."""

import json
from pathlib import Path

from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.land import Landing, land, new_files
from election_replay.jobs.reading.published import Published
from election_replay.jobs.replay import replay
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas.findings import OF_RUNS

GOLD = (
    "terms",
    "elections",
    "role_intervals",
    "sync_state_sets",
    "lock_holds",
    "metadata_versions",
    "findings",
    "evidence_lines",
    "rule_coverage",
)
ALL = (*GOLD, "facts", "events", "log_lines", "quarantine")

_OF_DELIVERY = {"batch", "source_file", "path", "modified_at", *OF_RUNS}
"""What tells of the landing or run that wrote a row, and of the name that a file had then."""


def night(engine: Engine, zone: Path, warehouse: Warehouse) -> Landing:
    """One night's run."""
    done = land_only(engine, zone, warehouse)
    replay(engine, warehouse)
    return done


def land_only(engine: Engine, zone: Path, warehouse: Warehouse) -> Landing:
    """The first half of it."""
    landing = str(zone)
    return land(engine, new_files(landing, warehouse, Config()), landing, warehouse, Config())


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
