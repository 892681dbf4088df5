"""Every verdict points at log lines that are there."""

import pytest

from tests.acceptance.published import Warehouse

pytestmark = pytest.mark.slow

REFERRING = ("gold/role_intervals", "gold/terms", "gold/elections", "gold/sync_state_sets")


@pytest.fixture(scope="session")
def event_ids(gold: Warehouse) -> set[str]:
    return {row["event_id"] for row in gold.rows("silver/events")}


def test_every_finding_is_proven_by_events(gold: Warehouse, event_ids: set[str]) -> None:
    for row in gold.rows("gold/findings"):
        assert row["evidence"], f"{row['cluster']}: {row['summary']} without evidence"
        assert set(row["evidence"]) <= event_ids, row


@pytest.mark.parametrize("table", REFERRING)
def test_every_start_and_end_is_an_event(gold: Warehouse, event_ids: set[str], table: str) -> None:
    for row in gold.rows(table):
        named = {row["start_event_id"], row.get("end_event_id")} - {None}
        assert named <= event_ids, row


def test_every_event_has_its_line(gold: Warehouse, event_ids: set[str]) -> None:
    assert {row["event_id"] for row in gold.rows("bronze/log_lines")} == event_ids
