"""Readers that know nothing but docs/reading.md see what is published, and only that."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.reading.published import Published
from election_replay.jobs.replay import replay
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.conftest import Landing
from tests.jobs.nights import land_only, night
from tests.jobs.zone import election

if TYPE_CHECKING:
    from election_replay.jobs.engines.spark_engine import SparkEngine

PAGE = (Path(__file__).parents[3] / "docs" / "reading.md").read_text("utf-8")
RECIPES = {
    name: code
    for name, code in zip(("polars", "duckdb"), re.findall(r"(?s)```python\n(.*?)```", PAGE), strict=False)
    if "gold/" in code
}
SPARK = re.findall(r"(?s)```sql\n(.*?)```", PAGE)


@pytest.fixture(scope="module")
def waiting(local: LocalEngine, landing: Landing, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A warehouse in which two clusters are published, and a replay of one of them and of a third waits."""
    zone = landing(["rocketmq-dledger/kill-leader-533", "rocketmq-dledger/old-copy-497"])
    warehouse = Warehouse(str(tmp_path_factory.mktemp("elsewhere") / "w"))
    night(local, zone, warehouse)
    for cluster, node in (("old-copy-497", "n0"), ("third", "n1")):
        log = zone / cluster / "nodes" / node / "logs" / "broker_default.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        before = log.read_text() if log.exists() else ""
        log.unlink(missing_ok=True)
        log.write_text(before + election(0, 9, node))
    land_only(local, zone, warehouse)
    replay(local, warehouse, publishing=False)
    return warehouse


def keys(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return sorted((row["finding_id"], row["summary"]) for row in rows)


def test_something_waits(waiting: Warehouse) -> None:
    published = Published(waiting).rows("SELECT * FROM findings")
    assert 0 < len(published) < waiting.count("findings")
    assert {row["cluster"] for row in published} <= {"kill-leader-533", "old-copy-497"}


@pytest.mark.parametrize("reader", RECIPES)
def test_another_reader_sees_the_same_rows(waiting: Warehouse, reader: str) -> None:
    names: dict[str, Any] = {}
    exec(RECIPES[reader].replace("WAREHOUSE", waiting.root), names)  # noqa: S102 - our own page
    found = names["findings"]
    rows = found.to_dicts() if reader == "polars" else found.to_pylist()
    assert keys(rows) == keys(Published(waiting).rows("SELECT * FROM findings"))


def test_the_page_has_a_recipe_for_each() -> None:
    assert {*RECIPES} == {"polars", "duckdb"}
    assert len(SPARK) == 1


@pytest.mark.slow
def test_plain_spark_sees_the_same_rows(waiting: Warehouse, spark: "SparkEngine") -> None:
    found = spark.session.newSession().sql(SPARK[0].replace("WAREHOUSE", waiting.root)).toArrow().to_pylist()
    assert keys(found) == keys(Published(waiting).rows("SELECT * FROM findings"))
