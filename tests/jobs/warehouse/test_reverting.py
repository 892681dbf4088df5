"""The facts of a cluster that is held back are those of what is published; those of others can be asked as before."""

from pathlib import Path

import pyarrow.compute as pc
import pytest

from election_replay.jobs.publishing.runs import revert_clusters
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from tests.jobs.tables import NOON, blank, put


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    tables = blank(tmp_path / "w")
    plain = {"STRING": "x", "ARRAY<STRING>": [], "TIMESTAMP": NOON}
    fact = {one.name: plain.get(one.type.sql, 0) for one in TABLES["facts"].columns if not one.nullable}
    put(tables, "facts", *(fact | {"cluster": cluster} for cluster in ("a", "b", "c", "it's")))
    return tables


def test_the_rows_of_others_can_still_be_asked_for(warehouse: Warehouse) -> None:
    """Delta's own DELETE writes strings as a type by which Arrow cannot filter."""
    revert_clusters(warehouse, ["a", "it's"], "a run")
    facts = warehouse.dataset("facts")
    assert facts.to_table(["cluster"])["cluster"].to_pylist() == ["b", "c"]
    assert facts.to_table(filter=pc.field("cluster") == "b").num_rows == 1
