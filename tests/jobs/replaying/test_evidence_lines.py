"""Lines of former nights that prove findings: they are sought in the landings of their times, and found elsewhere."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.replaying.evidence_lines import MANY_DAYS, FormerLandings, logged_about
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.nights import land_only
from tests.jobs.zone import Zone, election

NIGHTS = 3
Wanted = dict[tuple[str, str], datetime | None]


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """Three landings, two days apart."""
    zone, warehouse = Zone(tmp_path / "zone"), Warehouse(str(tmp_path / "warehouse"))
    zone.write("broker_default.log", "")
    for number in range(NIGHTS):
        zone.append("broker_default.log", election(0, number + 1).replace("03-01", f"03-{2 * number + 1:02d}"))
        land_only(LocalEngine(cores=1), zone.root, warehouse)
    return warehouse


def former(warehouse: Warehouse) -> FormerLandings:
    """All landings but the last one."""
    return FormerLandings(
        warehouse.root, NIGHTS - 1, {name: warehouse.versions()[name] for name in ("events", "log_lines")}
    )


def events_of(warehouse: Warehouse, batch: int) -> Wanted:
    """The events of a landing, and when they were logged."""
    rows = warehouse.rows("events")
    return {(row["cluster"], row["event_id"]): row["event_time"] for row in rows if row["batch"] == batch}


def answers(warehouse: Warehouse, wanted: Wanted) -> list[str]:
    return sorted(map(repr, former(warehouse).lines(wanted)))


def test_a_line_is_found_whatever_is_known_of_its_time(warehouse: Warehouse) -> None:
    known = events_of(warehouse, 1)
    lines = answers(warehouse, known)
    assert sum("'text'" in line for line in lines) == len(known) > 1
    for time in (None, datetime.fromisoformat("2000-01-01T00:00:00+00:00"), *events_of(warehouse, 2).values()):
        assert answers(warehouse, dict.fromkeys(known, time)) == lines
    assert answers(warehouse, dict.fromkeys(events_of(warehouse, NIGHTS))) == []


def test_of_other_days_no_file_is_opened(warehouse: Warehouse) -> None:
    events = warehouse.dataset("events")
    of_batch = {batch: [*events_of(warehouse, batch).values()] for batch in (1, NIGHTS)}
    for times, files in ((of_batch[1], 1), ([*of_batch[1], *of_batch[NIGHTS]], 2), ([], 0)):
        wanted = logged_about(time for time in times if time is not None)
        assert len([*events.get_fragments(wanted)]) == files
    spread = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=2 * day) for day in range(3 * MANY_DAYS)]
    assert str(logged_about(spread)).count(">=") == MANY_DAYS
