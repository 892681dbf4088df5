"""The dashboard for Apache Superset.

``python -m election_replay.jobs.showing.superset_bundle dashboards/superset`` writes it anew.

Superset imports a zip of this folder. Its datasets are queries over the views, which a DuckDB file and Spark answer
alike; its charts need nothing but what comes with Superset.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import yaml

SLUG = "election-replay"
URI = "duckdb:////data/election_replay.duckdb"
"""Where the file stands that `--database` writes; Superset's own dialog changes it."""
VERSION = "1.0.0"
"""Of Superset's format of exports, not of this software."""
WIDTH = 12


@dataclass(frozen=True, slots=True)
class Dataset:
    """A query whose answer a chart shows. ``columns`` are the names of its columns with their types; ``time`` is the
    one that filters of time work on."""

    name: str
    title: str
    sql: str
    columns: Mapping[str, str]
    time: str | None = None
    width: int = WIDTH
    height: int = 50


TEXT, NUMBER, TIME = "VARCHAR", "BIGINT", "TIMESTAMP WITH TIME ZONE"
PLACE = {"cluster": TEXT, "replica_group": TEXT}

DATASETS: tuple[Dataset, ...] = (
    Dataset(
        "findings",
        "Findings, the newest first",
        "SELECT found.start_time, found.severity, found.certainty, found.rule, found.cluster, found.replica_group, "
        "found.summary, coalesce(mark.state, 'open') AS review, mark.ticket, found.end_time, found.bytes_lost, "
        "found.duration_min_ms, found.finding_id FROM findings AS found LEFT JOIN reviewed AS mark "
        "ON mark.finding_id = found.finding_id WHERE found.implied_by IS NULL",
        {"start_time": TIME, "severity": TEXT, "certainty": TEXT, "rule": TEXT, **PLACE, "summary": TEXT}
        | {"review": TEXT, "ticket": TEXT, "end_time": TIME, "bytes_lost": NUMBER, "duration_min_ms": NUMBER}
        | {"finding_id": TEXT},
        time="start_time",
        height=80,
    ),
    Dataset(
        "next_steps",
        "What to do about critical findings and warnings",
        "SELECT severity, rule, cluster, replica_group, cause, first_check, second_check, third_check, do_not, "
        "finding_id FROM next_steps WHERE severity <> 'info'",
        {"severity": TEXT, "rule": TEXT, **PLACE, "cause": TEXT, "first_check": TEXT, "second_check": TEXT}
        | {"third_check": TEXT, "do_not": TEXT, "finding_id": TEXT},
    ),
    Dataset(
        "current",
        "Who leads at the end of the logs",
        "SELECT cluster, replica_group, protocol, leader, term, since, as_of, "
        "array_join(followers, ', ') AS followers, array_join(others, ', ') AS others FROM current",
        {**PLACE, "protocol": TEXT, "leader": TEXT, "term": NUMBER, "since": TIME, "as_of": TIME, "followers": TEXT}
        | {"others": TEXT},
        time="as_of",
    ),
    Dataset(
        "availability",
        "Days: time observed, and of it without a leader",
        "SELECT day, cluster, replica_group, observed_ms, leaderless_least_ms, leaderless_most_ms, outages, planned "
        "FROM availability",
        {"day": TIME, **PLACE, "observed_ms": NUMBER, "leaderless_least_ms": NUMBER, "leaderless_most_ms": NUMBER}
        | {"outages": NUMBER, "planned": NUMBER},
        time="day",
        width=6,
    ),
    Dataset(
        "recoveries",
        "Recoveries: lost, detected, elected, serving",
        "SELECT lost_at, cluster, replica_group, cause, old_leader, old_leader_state, new_leader, detected_at, "
        "elected_at, serving_at, duration_min_ms, duration_max_ms FROM recoveries",
        {"lost_at": TIME, **PLACE, "cause": TEXT, "old_leader": TEXT, "old_leader_state": TEXT, "new_leader": TEXT}
        | {"detected_at": TIME, "elected_at": TIME, "serving_at": TIME, "duration_min_ms": NUMBER}
        | {"duration_max_ms": NUMBER},
        time="lost_at",
        width=6,
    ),
    Dataset(
        "losses",
        "What was lost, one row a cut",
        "SELECT start_time, cluster, replica_group, rule, severity, lost_from, bytes_lost, messages_lost, summary "
        "FROM losses",
        {"start_time": TIME, **PLACE, "rule": TEXT, "severity": TEXT, "lost_from": TEXT, "bytes_lost": NUMBER}
        | {"messages_lost": NUMBER, "summary": TEXT},
        time="start_time",
        width=6,
    ),
    Dataset(
        "clocks",
        "Clocks that were wrong",
        "SELECT start_time, cluster, replica_group, node, reads, least_ms, most_ms, clock_set_by_ms, certainty "
        "FROM clocks",
        {"start_time": TIME, **PLACE, "node": TEXT, "reads": TEXT, "least_ms": NUMBER, "most_ms": NUMBER}
        | {"clock_set_by_ms": NUMBER, "certainty": TEXT},
        time="start_time",
        width=6,
    ),
)


def files() -> Iterator[tuple[str, dict[str, Any]]]:
    """The files of the folder: their paths, and what they hold."""
    yield "metadata.yaml", {"version": VERSION, "type": "Dashboard", "timestamp": "2026-01-01T00:00:00+00:00"}
    yield "databases/election_replay.yaml", database()
    for dataset in DATASETS:
        yield f"datasets/election_replay/{dataset.name}.yaml", dataset_file(dataset)
        yield f"charts/{dataset.name}.yaml", chart_file(dataset)
    yield "dashboards/election_replay.yaml", dashboard()


def named(kind: str, name: str) -> str:
    """The id of a thing, the same in every export, so that an import takes the place of an older one."""
    return str(uuid5(NAMESPACE_URL, f"{SLUG}/superset/{kind}/{name}"))


def database() -> dict[str, Any]:
    """The connection."""
    return {
        "database_name": SLUG,
        "sqlalchemy_uri": URI,
        "cache_timeout": None,
        "expose_in_sqllab": True,
        "allow_run_async": False,
        "allow_ctas": False,
        "allow_cvas": False,
        "allow_dml": False,
        "extra": {"engine_params": {"connect_args": {"read_only": True}}},
        "uuid": named("database", SLUG),
        "version": VERSION,
    }


def dataset_file(dataset: Dataset) -> dict[str, Any]:
    """A virtual dataset."""
    return {
        "table_name": f"election_replay_{dataset.name}",
        "main_dttm_col": dataset.time,
        "description": dataset.title,
        "default_endpoint": None,
        "offset": 0,
        "cache_timeout": None,
        "schema": None,
        "sql": dataset.sql,
        "params": None,
        "template_params": None,
        "filter_select_enabled": True,
        "fetch_values_predicate": None,
        "extra": None,
        "uuid": named("dataset", dataset.name),
        "metrics": [{"metric_name": "count", "metric_type": "count", "expression": "COUNT(*)", "verbose_name": "Rows"}],
        "columns": [
            {
                "column_name": name,
                "verbose_name": name.replace("_", " "),
                "is_dttm": kind == TIME,
                "is_active": True,
                "type": kind,
                "groupby": True,
                "filterable": True,
                "expression": None,
                "description": None,
                "python_date_format": None,
            }
            for name, kind in dataset.columns.items()
        ],
        "version": VERSION,
        "database_uuid": named("database", SLUG),
    }


def chart_file(dataset: Dataset) -> dict[str, Any]:
    """A table of the dataset's rows, the newest first."""
    filters = [
        {
            "clause": "WHERE",
            "subject": dataset.time,
            "operator": "TEMPORAL_RANGE",
            "comparator": "No filter",
            "expressionType": "SIMPLE",
        }
    ]
    params = {
        "viz_type": "table",
        "query_mode": "raw",
        "all_columns": list(dataset.columns),
        "order_by_cols": [json.dumps([dataset.time, False])] if dataset.time else [],
        "row_limit": 1000,
        "server_pagination": False,
        "include_search": True,
        "table_timestamp_format": "%Y-%m-%d %H:%M:%S",
        "adhoc_filters": filters if dataset.time else [],
    }
    return {
        "slice_name": dataset.title,
        "description": None,
        "viz_type": "table",
        "params": params,
        "cache_timeout": None,
        "uuid": named("chart", dataset.name),
        "version": VERSION,
        "dataset_uuid": named("dataset", dataset.name),
    }


def dashboard() -> dict[str, Any]:
    """One row for each wide chart, and one for two narrow ones."""
    rows: list[list[Dataset]] = []
    for dataset in DATASETS:
        if rows and sum(chart.width for chart in rows[-1]) + dataset.width <= WIDTH:
            rows[-1].append(dataset)
        else:
            rows.append([dataset])
    position: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "ROOT_ID": {"type": "ROOT", "id": "ROOT_ID", "children": ["GRID_ID"]},
        "GRID_ID": {"type": "GRID", "id": "GRID_ID", "children": [], "parents": ["ROOT_ID"]},
        "HEADER_ID": {"type": "HEADER", "id": "HEADER_ID", "meta": {"text": "Elections"}},
    }
    for number, row in enumerate(rows):
        row_id = f"ROW-{number}"
        position["GRID_ID"]["children"].append(row_id)
        charts = [f"CHART-{dataset.name}" for dataset in row]
        position[row_id] = {
            "type": "ROW",
            "id": row_id,
            "children": charts,
            "parents": ["ROOT_ID", "GRID_ID"],
            "meta": {"background": "BACKGROUND_TRANSPARENT"},
        }
        for chart, dataset in zip(charts, row, strict=True):
            meta = {"chartId": 0, "width": dataset.width, "height": dataset.height, "sliceName": dataset.title}
            position[chart] = {
                "type": "CHART",
                "id": chart,
                "children": [],
                "parents": ["ROOT_ID", "GRID_ID", row_id],
                "meta": meta | {"uuid": named("chart", dataset.name)},
            }
    return {
        "dashboard_title": "Elections",
        "description": "Findings of election-replay: who led what and when, and what went wrong.",
        "css": "",
        "slug": SLUG,
        "uuid": named("dashboard", SLUG),
        "position": position,
        "metadata": {"color_scheme": "supersetColors", "refresh_frequency": 0, "native_filter_configuration": []},
        "version": VERSION,
    }


def write(folder: Path) -> None:
    """Write the files."""
    for path, content in files():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text_of(content), encoding="utf-8")


def text_of(content: dict[str, Any]) -> str:
    """A file as YAML."""
    return str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
