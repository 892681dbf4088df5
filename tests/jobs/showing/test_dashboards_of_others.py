"""What is shipped for Superset and Grafana fits what the software answers."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from election_replay.jobs.reading.metrics import metrics
from election_replay.jobs.reading.published import Published
from tests.jobs.tables import blank, finding, publish, put, role
from tests.jobs.test_more_views import landed

ROOT = Path(__file__).parents[3] / "dashboards"
SUPERSET, GRAFANA = ROOT / "superset", ROOT / "grafana"
OURS = re.compile(r"election_replay_[a-z_]+")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """One finding, one leader, one file."""
    warehouse = blank(tmp_path_factory.mktemp("w"))
    put(warehouse, "findings", finding("f1", "LEADERLESS", 0, 5, first_seen_run="r1", bytes_lost=3))
    put(warehouse, "role_intervals", role("n1", "leader", 0, None))
    put(warehouse, "landed_files", landed("n1", 0, 10))
    publish(warehouse)
    return Published(warehouse)


def superset(folder: str) -> list[dict[str, Any]]:
    """The files of a folder of the bundle, in the order of their names."""
    return [yaml.safe_load(path.read_text("utf-8")) for path in sorted((SUPERSET / folder).rglob("*.yaml"))]


DATASETS = superset("datasets")


@pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset["table_name"])
def test_a_dataset_answers_with_the_columns_that_it_says(dataset: dict[str, Any], published: Published) -> None:
    answer, columns = published.query(dataset["sql"]), dataset["columns"]
    assert answer.column_names == [column["column_name"] for column in columns]
    kinds = dict(zip(answer.column_names, map(str, answer.schema.types), strict=True))
    times = [name for name, kind in kinds.items() if "timestamp" in kind]
    assert times == [column["column_name"] for column in columns if column["is_dttm"]]
    assert dataset["main_dttm_col"] in (None, *times)
    assert not any("list" in kind for kind in kinds.values()), "a chart shows no lists"


def test_every_chart_is_on_the_dashboard_and_has_its_dataset() -> None:
    [board] = [one["position"] for one in superset("dashboards")]
    placed = {one["meta"]["uuid"] for one in board.values() if isinstance(one, dict) and one["type"] == "CHART"}
    charts, datasets = superset("charts"), {one["uuid"]: one for one in DATASETS}
    assert {one["uuid"] for one in charts} == placed
    assert {one["database_uuid"] for one in DATASETS} == {one["uuid"] for one in superset("databases")}
    for one in charts:
        known = {column["column_name"] for column in datasets[one["dataset_uuid"]]["columns"]}
        assert set(one["params"]["all_columns"]) <= known
    rows = [one for one in board.values() if isinstance(one, dict) and one["type"] == "ROW"]
    assert all(sum(board[child]["meta"]["width"] for child in row["children"]) <= 12 for row in rows)


def expressions() -> list[str]:
    """Every query of the board and the alerts."""
    board = json.loads((GRAFANA / "election_replay.json").read_text("utf-8"))
    alerts: dict[str, Any] = yaml.safe_load((GRAFANA / "alerts.yaml").read_text("utf-8"))
    shown = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked = [one["query"]["query"] for one in board["templating"]["list"] if one["type"] == "query"]
    return [*shown, *asked, *(rule["expr"] for group in alerts["groups"] for rule in group["rules"])]


def test_grafana_asks_for_what_is_measured_by_labels_that_it_has(published: Published) -> None:
    lines = [*metrics(published)]
    measured = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    asked = {name for expression in expressions() for name in OURS.findall(expression)}
    assert asked <= measured
    assert {"election_replay_findings_new", "election_replay_held_clusters"} <= asked
    assert 'election_replay_findings_new{cluster="c1",severity="warning"} 1' in lines
    assert 'election_replay_observed_seconds{cluster="c1",replica_group="g1"} 10.0' in lines


def test_the_board_has_no_panel_upon_another() -> None:
    board = json.loads((GRAFANA / "election_replay.json").read_text("utf-8"))
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        assert panel["description"].endswith(".")
        taken |= cells
