"""A cluster that is held back shows what is published of it, and the rows of all others can be asked as before."""

from pathlib import Path

import pyarrow.compute as pc
import pytest

from election_replay.jobs.publishing.held_back import hold_back
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.tables import put, term


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    tables = Warehouse(str(tmp_path / "w"))
    tables.create()
    put(tables, "terms", *(term(1, "n1", 0, None, cluster=cluster) for cluster in ("a", "b", "c", "it's")))
    return tables


def test_the_rows_of_others_can_still_be_asked_for(warehouse: Warehouse) -> None:
    """Delta's own DELETE writes strings as a type by which Arrow cannot filter."""
    hold_back(warehouse, ["a", "it's"], "a run")
    terms = warehouse.dataset("terms")
    assert terms.to_table(["cluster"])["cluster"].to_pylist() == ["b", "c"]
    assert terms.to_table(filter=pc.field("cluster") == "b").num_rows == 1
