"""Real Redis, under sentinels and as a cluster: what each run must say, by the logs alone."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.observed import far_from
from tests.acceptance.published import Row, Warehouse, replay_here
from tests.conftest import Landing

SYSTEMS = ("redis-sentinel", "redis-cluster")
CLOSE = 3.0
"""Seconds from a change after which logs and observer must agree."""


@pytest.fixture(scope="module")
def runs(corpora: Path) -> dict[str, Path]:
    return {run.parent.name: run.parent for system in SYSTEMS for run in sorted((corpora / system).glob("*/run.json"))}


@pytest.fixture(scope="module")
def gold(runs: dict[str, Path], landing: Landing, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    zone = landing(f"{path.parent.name}/{name}" for name, path in runs.items())
    return replay_here(zone, tmp_path_factory.mktemp("warehouse") / "redis")


def of(rows: Iterable[Row], run: str, **columns: object) -> list[Row]:
    wanted = {"cluster": run, **columns}
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def seconds(time: datetime) -> float:
    return time.timestamp()


def of_day(run: Path, clock: str) -> float:
    """The time of a clock in the facts of a run: ``12:17:38.506Z``."""
    day = json.loads((run / "run.json").read_text())["started"][:10]
    return datetime.fromisoformat(f"{day}T{clock.rstrip('Z')}").replace(tzinfo=UTC).timestamp()


def facts(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "run.json").read_text())["facts"]
    return found


def samples(run: Path) -> Iterable[tuple[float, str, str]]:
    """What each server said of itself: time, node, role. A master of a cluster without slots leads nothing."""
    for line in (run / "observed.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["role"] in ("master", "replica") and not (row["role"] == "master" and row.get("slots") == ""):
            yield row["t"], row["node"], row["role"]


def test_servers_agree_with_what_they_said_of_themselves(gold: Warehouse, runs: dict[str, Path]) -> None:
    intervals = gold.rows("gold/role_intervals")
    agreed, wrong = 0, []
    for name, run in runs.items():
        rows = of(intervals, name)
        changes = sorted(
            seconds(time) for row in rows for time in (row["start_time"], row["end_time"]) if time is not None
        )
        for t, node, role in samples(run):
            if not far_from(changes, t, CLOSE):
                continue
            claims = [
                row["role"]
                for row in rows
                if row["source_node"] == node
                and seconds(row["start_time"]) <= t
                and (row["end_time"] is None or t < seconds(row["end_time"]))
            ]
            if claims == [{"master": "leader", "replica": "follower"}[role]]:
                agreed += 1
            else:
                wrong.append((name, node, t, role, claims))
    print(f"\n{agreed} samples agree, {len(wrong)} do not")
    assert not wrong
    assert agreed > 1_500


def test_each_master_led_in_its_epoch(gold: Warehouse, runs: dict[str, Path]) -> None:
    intervals = gold.rows("gold/role_intervals")
    for name, run in runs.items():
        for master in facts(run)["masters"]:
            epoch = master.get("config_epoch_at_the_sentinels", master.get("config_epoch"))
            since = of_day(run, master["from"])
            led = [
                row
                for row in of(intervals, name, source_node=master["node"], role="leader")
                if epoch is None or row["term"] == epoch
            ]
            assert any(seconds(row["start_time"]) <= since + CLOSE for row in led), (name, master)


def test_the_votes_of_every_election(gold: Warehouse, runs: dict[str, Path]) -> None:
    elections = gold.rows("gold/elections")
    for name, run in runs.items():
        known = facts(run)
        for election in known.get("elections_of_sentinels", []) or known.get("elections", []):
            rows = of(elections, name, term=election["epoch"])
            winners = election.get("elected", election.get("won"))
            assert [row["outcome"] for row in rows].count("won") == len(winners), (name, election)
            assert sum(len(row["voters"]) for row in rows) == len(election["votes"]), (name, election)


def test_two_masters_and_what_they_lost(gold: Warehouse, runs: dict[str, Path]) -> None:
    findings = gold.rows("gold/findings")
    for name, run in runs.items():
        known = facts(run)
        overlaps = of(findings, name, rule="SPLIT_BRAIN_OVERLAP")
        assert len(overlaps) == len(known["overlaps"]), name
        for overlap in known["overlaps"]:
            near = [row for row in overlaps if abs(seconds(row["start_time"]) - of_day(run, overlap["from"])) < CLOSE]
            assert near, (name, overlap)
            assert near[0]["overlap_min_ms"] / 1000 - CLOSE <= overlap["s"] <= near[0]["overlap_max_ms"] / 1000 + CLOSE
        lost = {row["bytes_lost"] for row in of(findings, name) if row["bytes_lost"]}
        assert {refused["bytes_discarded"] for refused in known["refused_partial_resyncs"]} == lost, name
        critical = of(findings, name, severity="critical")
        assert bool(critical) == bool(known["writes"]["lost"]), name


def test_a_master_that_was_started_again_has_no_epoch_in_its_lane_and_in_its_finding(gold: Warehouse) -> None:
    """It serves beside the one that has its place: the finding names that one first, and no epoch that nobody gave."""
    intervals, findings = gold.rows("gold/role_intervals"), gold.rows("gold/findings")
    for name in ("kill-master", "kill-master-62"):
        [found] = of(findings, name, rule="SPLIT_BRAIN_OVERLAP")
        incumbent, back = found["nodes"]
        assert found["terms"] == [1]
        [lane] = of(intervals, name, node=back, role="leader", start_time=found["start_time"])
        assert lane["term"] is None
        assert of(intervals, name, node=incumbent, role="leader", term=1)
        assert f"{incumbent} (" in found["summary"]
        assert "epoch 0" not in found["summary"]


def test_times_without_a_master(gold: Warehouse, runs: dict[str, Path]) -> None:
    findings = gold.rows("gold/findings")
    for name in ("kill-master", "kill-master-62", "kill-a-master"):
        outages = facts(runs[name])["no_acknowledged_write"]
        [found] = of(findings, name, rule="LEADERLESS")
        longest = max(outage["s"] for outage in outages)
        assert found["severity"] == "warning"
        assert found["duration_min_ms"] / 1000 - CLOSE <= longest <= found["duration_max_ms"] / 1000 + CLOSE, name


def test_nothing_is_claimed_that_did_not_happen(gold: Warehouse) -> None:
    findings = gold.rows("gold/findings")
    never = {"DOUBLE_VOTE", "SPLIT_BRAIN_SAME_TERM", "TERM_REGRESSION", "LEADER_WITHOUT_QUORUM", "ELECTION_STORM"}
    assert not [row["summary"] for row in findings if row["rule"] in never]
    assert not [row["summary"] for row in of(findings, "failover-planned", rule="LEADERLESS")]
    for name in ("kill-master", "kill-master-62"):
        [overlap] = of(findings, name, rule="SPLIT_BRAIN_OVERLAP")
        assert overlap["severity"] == "info", "a killed master that comes back is a note"


def test_a_master_that_an_operator_replaced_was_not_cut_off(gold: Warehouse) -> None:
    """It lived and was reached: its sentinels told it some seconds after the new one led."""
    planned = [row for row in gold.rows("gold/terms") if row["cluster"] == "failover-planned"]
    assert {row["former_leader_state"] for row in planned if row["cause"] == "user_request"} == {"not_told"}
