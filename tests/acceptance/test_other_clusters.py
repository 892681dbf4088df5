"""Clusters of releases and settings on which no rule was written: who led, why, and every finding above info."""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from election_replay.jobs.reading.incident import incident
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.story import story
from election_replay.jobs.warehouse.warehouse import Warehouse as Tables
from tests.acceptance.published import Row, Warehouse, replay_here
from tests.acceptance.verdict import show
from tests.conftest import Landing

pytestmark = pytest.mark.slow

RUNS = (
    *("etcd-3616-members", "etcd-373-five", "rocketmq-540-jraft"),
    *(
        "rocketmq-514-dledger-five",
        "rocketmq-533-old-controllers",
        "rocketmq-540-jraft-all-ack",
        "rocketmq-550-unclean",
    ),
    *("etcd-368-hasty", "zookeeper-386-hasty"),
    "rocketmq-452-dledger",
    *("rocketmq-500-controllers", "rocketmq-510-controllers", "rocketmq-510-stale-master"),
    *("zookeeper-364-clock-and-twin", "zookeeper-395-reconfigured", "zookeeper-395-tls-broken"),
)
CLOSE = timedelta(seconds=3)
SEPARATOR = re.compile(r"(?<=\d),(?=\d)")
"""The separator of thousands, which the expectations of the runs do not have."""


@pytest.fixture(scope="module")
def others(landing: Landing, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    zone = landing(f"other-clusters/{run}" for run in RUNS)
    return replay_here(zone, tmp_path_factory.mktemp("warehouse") / "others")


@pytest.fixture(params=RUNS)
def run(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def expected(run: str, corpora: Path) -> dict[str, Any]:
    about = json.loads((corpora / "other-clusters" / run / "run.json").read_text(encoding="utf-8"))
    return dict(about["expected"])


def of_run(warehouse: Warehouse, table: str, run: str) -> list[Row]:
    return [row for row in warehouse.rows(table) if row["cluster"] == run]


def test_every_run_is_asked(corpora: Path) -> None:
    assert {path.parent.name for path in (corpora / "other-clusters").glob("*/run.json")} == set(RUNS)


def test_no_line_is_misunderstood(run: str, others: Warehouse) -> None:
    assert not of_run(others, "bronze/quarantine", run)


def test_who_led_which_term(run: str, expected: dict[str, Any], others: Warehouse) -> None:
    leading = [row for row in of_run(others, "gold/role_intervals", run) if row["role"] == "leader"]
    assert {(row["source_node"], row["term"]) for row in leading} == {tuple(led) for led in expected["leaders"]}
    assert len(leading) == len(expected["leaders"]), show(leading)


def test_why_elections_began(run: str, expected: dict[str, Any], others: Warehouse) -> None:
    causes = {str(row["term"]): row["cause"] for row in of_run(others, "gold/terms", run)}
    assert {term: causes[term] for term in expected["causes"]} == expected["causes"]


def test_every_finding_above_info(run: str, expected: dict[str, Any], others: Warehouse) -> None:
    loud = [row for row in of_run(others, "gold/findings", run) if row["severity"] != "info"]
    assert len(loud) == len(expected["above_info"]), show(loud)
    for rule, severity, certainty, begins, words in expected["above_info"]:
        found = [
            row
            for row in loud
            if (row["rule"], row["severity"], row["certainty"]) == (rule, severity, certainty)
            and abs(row["start_time"] - datetime.fromisoformat(begins)) <= CLOSE
            and words in SEPARATOR.sub("", row["summary"])
        ]
        assert len(found) == 1, f"{rule} at {begins}:\n{show(loud)}"


def test_who_is_killed_is_told_to_start_again(others: Warehouse) -> None:
    """Of members that say late which role they have, too: all that are killed come back until the end."""
    found = incident(Published(Tables(str(others.path))), "rocketmq-452-dledger", "RaftNode07")
    deaths = [entry.sentence for entry in story(found) if " dies" in entry.sentence]
    assert len(deaths) == 10
    assert all("it starts again at" in sentence for sentence in deaths), deaths
