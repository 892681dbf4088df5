"""Clusters that were hurt in several ways at once: what was lost and for how long nobody could write.

Each expectation was read off the raw lines, the clients' acknowledgements and what had been done to the cluster.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.acceptance.published import Row, Warehouse

pytestmark = pytest.mark.slow

FOREVER = datetime(9999, 12, 30, tzinfo=UTC)


def findings(warehouse: Warehouse, run: str, **columns: Any) -> list[Row]:
    """The findings of a run with these values, in order of time."""
    rows = (row for row in warehouse.rows("gold/findings") if row["cluster"] == run)
    return sorted((row for row in rows if _has(row, columns)), key=lambda row: row["start_time"])


def _has(row: Row, columns: Mapping[str, Any]) -> bool:
    return all(row[name] == value for name, value in columns.items())


OUTAGES = {
    "flap-shop": [(35.8, "n1", "n1"), (21.3, "n1", "n1"), (13.0, "n1", "n1"), (22.0, "n1", "n1")],
    "busy-shop": [(7.0, "n1", "n1")],
    "wiped-shop": [(4.5, "n2", "n3"), (187.5, "n3", "n2"), (13.5, "n2", "n2")],
}
"""For how long nobody could write (seconds), after whom and until whom: the end is when the broker was master."""


@pytest.mark.parametrize("run", OUTAGES)
def test_an_outage_lasts_until_a_broker_is_master(run: str, compound: Warehouse) -> None:
    found = findings(compound, run, rule="LEADERLESS", certainty="definite")
    changes = [(row["former_leader"], row["next_leader"]) for row in found]
    assert changes == [(former, following) for _, former, following in OUTAGES[run]]
    for row, (seconds, _, _) in zip(found, OUTAGES[run], strict=True):
        assert row["duration_min_ms"] <= seconds * 1000 <= row["duration_max_ms"], row["summary"]


def test_who_is_elected_and_never_serves_ends_no_outage(compound: Warehouse) -> None:
    """n2 led twice, and its broker became master neither time; n3 had served until 09:50:45."""
    last = findings(compound, "restore-shop", rule="LEADERLESS", next_leader=None)[-1]
    assert (last["former_leader"], last["end_time"], last["served_time"]) == ("n3", None, None)
    assert last["duration_min_ms"] >= 170_000
    assert "Elected meanwhile, and never served: n2" in last["summary"]


def test_the_last_quorum_of_an_earlier_leadership_begins_no_outage(compound: Warehouse) -> None:
    """n2 prints 09:50:20, when it last had a quorum, three minutes before it led again; n3's acknowledgements lie
    between them."""
    served = datetime(2026, 11, 21, 9, 50, 30, tzinfo=UTC)
    found = findings(compound, "restore-shop", rule="LEADERLESS")
    assert not [row for row in found if row["start_time"] <= served and not (row["end_time"] or FOREVER) <= served]


CUTS = {
    "chaos-stock": {(3, 174283, 189189), (10, 347628, 360060), (12, 536957, 537216), (13, 547058, 547835)},
    "sleepy-master": {(1, 51346, 54832), (2, 97910, 100400)},
    "embedded-all-ack": {(1, 38163, 65398)},
}
"""What was cut off, by the lines that cut it: epoch, from, to."""


@pytest.mark.parametrize("run", CUTS)
def test_each_cut_is_of_the_epoch_that_it_cuts_and_has_one_root(run: str, compound: Warehouse) -> None:
    found = [row for row in findings(compound, run) if row["cut_to"] is not None]
    roots = [row for row in found if row["root_finding_id"] is None]
    assert sorted((row["cut_epoch"], row["cut_from"], row["cut_to"]) for row in roots) == sorted(CUTS[run])
    assert all(row["unit"] == "bytes" and row["bytes_lost"] == row["cut_to"] - row["cut_from"] for row in found)
    for row in found:
        root = next((other for other in roots if other["finding_id"] == row["root_finding_id"]), row)
        assert (row["cut_epoch"], row["cut_from"], row["cut_to"]) == (
            root["cut_epoch"],
            root["cut_from"],
            root["cut_to"],
        )


def test_a_master_that_ceased_to_wait_for_its_set_may_have_acknowledged(compound: Warehouse) -> None:
    """It waited up to byte 39681, dropped its slaves, and acknowledged 101 messages alone."""
    [lost] = findings(compound, "embedded-all-ack", rule="POSSIBLE_DATA_LOSS")
    assert lost["severity"] == "critical"
    assert "39681" in lost["summary"]


REFUSALS = {
    "many-topics-full-disk": [
        (60, "its disk was too full. To have room, it deleted its messages before byte 4,194,304")
    ],
    "upgrade-transfer-dl": [(109, "it was handing its leadership over to n3")],
}
"""For how long a broker took no writes though it held its role (seconds), and why."""


@pytest.mark.parametrize("run", REFUSALS)
def test_a_leader_that_refuses_writes_is_an_outage(run: str, compound: Warehouse) -> None:
    found = findings(compound, run, rule="WRITES_REFUSED", severity="warning")
    for row, (seconds, why) in zip(found, REFUSALS[run], strict=True):
        assert row["duration_min_ms"] <= seconds * 1000 <= row["duration_max_ms"], row["summary"]
        assert why in row["summary"]


def test_a_master_whose_slaves_do_not_acknowledge_is_an_outage(compound: Warehouse) -> None:
    found = findings(compound, "embedded-all-ack", rule="WRITES_REFUSED")
    assert [row["severity"] for row in found] == ["warning"] * len(found)
    assert len(found) >= 2


def test_what_a_client_had_seen_and_the_leader_never_had_is_lost(compound: Warehouse) -> None:
    """59 writes that clients had acknowledgements of; both servers that elected the leader had older data."""
    [lost] = findings(compound, "older-data-387", rule="COMMITTED_ENTRY_LOST")
    assert (lost["severity"], lost["certainty"], lost["entries_lost"]) == ("critical", "proven", 59)
    assert (lost["cut_from"], lost["cut_to"], lost["unit"]) == (0x100000044, 0x10000007F, "transactions")
