"""docs/reading.md: other readers, told nothing but its recipes, see what is published, while a replay waits."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyspark
import pytest

from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.land import land
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.reading.published import Published
from election_replay.jobs.replay import replay
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.acceptance.published import replay_in
from tests.conftest import Landing
from tests.jobs.zone import election
from tests.proving import only_when_proving

if TYPE_CHECKING:
    from election_replay.jobs.engines.spark_engine import SparkEngine

PAGE = (Path(__file__).parents[3] / "docs" / "reading.md").read_text(encoding="utf-8")
RECIPES = [text for text in re.findall(r"(?s)```python\n(.*?)```", PAGE) if "findings = " in text]
[SQL] = re.findall(r"(?s)```sql\n(.*?)```", PAGE)
[THRIFT] = [text for text in re.findall(r"(?s)```python\n(.*?)```", PAGE) if "thriftserver" in text]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def warehouse(local: LocalEngine, landing: Landing, tmp_path_factory: pytest.TempPathFactory) -> str:
    """One cluster is published; it is judged anew with what it has logged since, as is another one, and both wait."""
    root, zone = tmp_path_factory.mktemp("reading") / "w", landing(["rocketmq-dledger/old-copy-497"])
    replay_in(local, zone, root)
    more, tables = landing(["etcd/kill-leader-34"]), Warehouse(str(root))
    log = more / "old-copy-497" / "nodes" / "n0" / "logs" / "broker_default.log"
    log.parent.mkdir(parents=True)
    log.write_text(election(0, 9, "n0"))
    land(local, new_files(str(more), tables, Config()), str(more), tables, Config())
    replay(local, tables, Config().inventoried(), publishing=False, settings="test")
    rows = tables.rows("findings", ["finding_id", "cluster", "run_id"])
    assert len({(row["cluster"], row["run_id"]) for row in rows}) == 3
    assert len(rows) > len(published(str(root)))
    return str(root)


def published(warehouse: str) -> list[tuple[str, str]]:
    """The ids and summaries of the findings that are published."""
    return findings_of(Published(Warehouse(warehouse)).query("SELECT finding_id, summary FROM findings"))


def findings_of(found: Any) -> list[tuple[str, str]]:
    """The same of findings in a frame or table of any library."""
    columns = (found[name] for name in ("finding_id", "summary"))
    in_lists = (column.to_pylist() if isinstance(found, pa.Table) else list(column) for column in columns)
    return sorted(zip(*in_lists, strict=True))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.split()[1])
def test_a_recipe_sees_what_is_published(recipe: str, warehouse: str) -> None:
    known: dict[str, Any] = {}
    exec(recipe.replace("WAREHOUSE", warehouse), known)  # noqa: S102 - a reader of the page runs it too
    assert findings_of(known["findings"]) == published(warehouse) != []


def test_there_are_recipes_for_three_libraries() -> None:
    assert {recipe.split()[1] for recipe in RECIPES} == {"polars", "duckdb", "deltalake"}


def test_plain_spark_sees_what_is_published(spark: "SparkEngine", warehouse: str) -> None:
    found = spark.session.newSession().sql(SQL.replace("WAREHOUSE", warehouse)).toArrow()
    assert findings_of(found) == published(warehouse)


@only_when_proving("a minute")
def test_clients_of_the_thrift_server_see_what_is_published(warehouse: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    program = THRIFT.replace("/data/warehouse", warehouse).replace('"10000"', f'"{port}"')
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        assert any(line.startswith("ready:") for line in server.stdout)
        home = str(Path(pyspark.__file__).parent)
        asked = [f"{home}/bin/beeline", "-u", f"jdbc:hive2://127.0.0.1:{port}", "--silent=true", "--outputformat=csv2"]
        asked += ["-e", "SELECT finding_id FROM findings ORDER BY finding_id"]
        environment = os.environ | {"SPARK_HOME": home}
        done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)
        server.send_signal(signal.SIGTERM)
    assert [line for line in done.stdout.splitlines() if re.fullmatch("[0-9a-f]{12,}", line)] == [
        finding_id for finding_id, _ in published(warehouse)
    ]
