"""The acting-master rules on real clusters: what each run's ``expected`` says, and what an observer saw meanwhile."""

import json
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from election_replay.election_core.model.catalogue import INFO
from election_replay.election_core.model.rows import Finding, RoleInterval, Row, RuleCoverage
from election_replay.election_core.protocols.acting_master.log import PROTOCOL
from tests.election_core import story

SYSTEM = "rocketmq-acting-master"
RUNS = (
    "chain-two-down",
    "delay-escape",
    "failover-preonline-clean",
    "failover-preonline-default-step",
    "failover-skip-preonline",
    "healthy-rebalance",
    "locks-nonstrict-cut",
    "locks-strict-consumers",
    "locks-strict-cut",
    "no-fault-slow-start",
    "preonline-never-ends",
    "skip-preonline-consumed-twice",
    "skip-preonline-no-repeat",
    "zombie-master-pause",
)
SERVING = ("leader", "acting_leader")
NEAR = 15_000_000
"""Closer than this to a change the observer and the logs may differ: name servers take up to 15 s."""


@cache
def rows_of(run: Path) -> tuple[Row, ...]:
    """The rows of this protocol for all broker sets of a run."""
    return tuple(row for row in story.run_rows(run) if row.protocol == PROTOCOL)


def clock(us: int) -> str:
    return datetime.fromtimestamp(us / 1_000_000, UTC).strftime("%H:%M:%S")


def told(rows: tuple[Row, ...], group: str, before: int) -> list[str]:
    """Who served, as text: ``acting_leader 1 10:25:23-10:26:19``; what begins after the end of a run is its stop."""
    serving = [
        row
        for row in rows
        if isinstance(row, RoleInterval)
        and row.replica_group == group
        and row.role in SERVING
        and row.start_time < before
    ]
    return [
        f"{row.role} {row.node} {clock(row.start_time)}-"
        f"{clock(row.end_time) if row.end_time is not None and row.end_time < before else 'end'}"
        for row in sorted(serving, key=lambda row: row.start_time)
    ]


def truth_end(run: Path) -> int:
    """When the story of a run ends and the stop of all processes begins."""
    rows = [json.loads(line) for line in (run / "truth.jsonl").read_text().splitlines()]
    return next(int(row["t"] * 1_000_000) for row in rows if row["action"] == "end")


@dataclass(frozen=True)
class Said:
    """A sentence of ``expected`` (its beginning) and what the core must say for it."""

    run: str
    sentence: str
    roles: tuple[str, ...] | None = None
    finding: str | None = None


SENTENCES = (
    Said(
        "chain-two-down",
        "broker-a: master 0 (10.82.1.20) from 18:46:22 GMT+8 until kill -9",
        (
            "leader 0 10:46:22-10:47:33",
            "acting_leader 1 10:47:35-10:47:51",
            "acting_leader 2 10:47:51-10:48:16",
            "acting_leader 1 10:48:16-10:48:51",
            "leader 0 10:48:51-end",
        ),
    ),
    Said(
        "delay-escape",
        "broker-a: master 0 (10.82.1.20) from 18:49:29",
        ("leader 0 10:49:29-10:50:39", "acting_leader 1 10:50:40-10:51:36", "leader 0 10:51:35-end"),
    ),
    Said(
        "failover-preonline-clean",
        "broker-a: master 0 (10.82.1.20) from 18:24:12",
        ("leader 0 10:24:12-10:25:22", "acting_leader 1 10:25:23-10:26:19", "leader 0 10:26:18-end"),
    ),
    Said(
        "failover-preonline-default-step",
        "broker-a: master 0 (10.82.1.20) from 18:30:32",
        ("leader 0 10:30:32-10:31:44", "acting_leader 1 10:31:45-10:32:41", "leader 0 10:32:40-end"),
    ),
    Said(
        "failover-skip-preonline",
        "broker-a: master 0 (10.82.1.20) until kill -9",
        (
            "leader 0 10:01:48-10:06:37",
            "acting_leader 1 10:06:38-10:10:09",
            "leader 0 10:10:04-end",
            "acting_leader 1 10:11:19-10:11:21",
            "acting_leader 1 10:11:45-10:12:01",
        ),
    ),
    Said(
        "failover-skip-preonline",
        "Second and third acting period with a LIVING master",
        finding="warning ACTING_MASTER_OVERLAP 0+1 10:11:45",
    ),
    Said("healthy-rebalance", "No fault. broker-a-0 (10.82.1.20) is master", ("leader 0 10:20:45-end",)),
    Said("locks-nonstrict-cut", "broker-a has master 0 (10.82.2.20) from 09:26:17"),
    Said(
        "locks-nonstrict-cut",
        "Acting master: broker-a-1 (smallest id) from 17:27:31",
        ("leader 0 09:26:17-end", "acting_leader 1 09:27:31-09:29:28"),
        "warning ACTING_MASTER_OVERLAP 0+1 09:27:31",
    ),
    Said(
        "locks-strict-consumers",
        "10:44:13 UTC: broker-a-0 (master, 10.82.1.20) and app-1 are cut",
        ("leader 0 10:42:55-end", "acting_leader 1 10:44:23-end"),
        "warning ACTING_MASTER_OVERLAP 0+1 10:44:23",
    ),
    Said(
        "locks-strict-cut",
        "09:34:23 UTC: broker-a-0 (master) and host app-1 are cut",
        None,
        "warning ACTING_MASTER_OVERLAP 0+1 09:34:38",
    ),
    Said("no-fault-slow-start", "broker-a-0 (10.82.2.20) and broker-b-0", ("leader 0 09:51:12-end",)),
    Said(
        "preonline-never-ends",
        "broker-a-0 (10.82.2.20) is master from 18:10:17",
        ("leader 0 10:10:17-10:13:19", "acting_leader 1 10:13:20-end"),
    ),
    Said(
        "preonline-never-ends",
        "broker-a-0 runs again from 18:14:2x but stays in pre-online",
        finding="warning PRE_ONLINE_STUCK 0 10:14:25",
    ),
    Said(
        "skip-preonline-consumed-twice",
        "broker-a: master 0 (10.82.1.20) from 18:36:37",
        ("leader 0 10:36:37-10:37:47", "acting_leader 1 10:37:49-10:38:45", "leader 0 10:38:44-end"),
    ),
    Said(
        "skip-preonline-no-repeat",
        "broker-a: master 0 (10.82.1.20) from 18:27:11",
        ("leader 0 10:27:11-10:28:21", "acting_leader 1 10:28:22-10:29:15", "leader 0 10:29:04-end"),
    ),
    Said(
        "zombie-master-pause",
        "broker-a: broker-a-0 (10.82.1.20) is master from 18:40:17",
        ("leader 0 10:40:17-end", "acting_leader 1 10:41:44-10:42:06"),
    ),
    Said(
        "zombie-master-pause",
        "Two masters of broker-a in the logs from 18:41:44",
        finding="info ACTING_MASTER_OVERLAP 0+1 10:41:44",
    ),
)


@pytest.mark.parametrize("said", SENTENCES, ids=lambda said: f"{said.run}-{said.sentence[:24]}")
def test_what_a_run_says_is_found(said: Said, corpora: Path) -> None:
    """Each sentence about masters, acting masters and pre-online; a kill ends a role at its last line."""
    run = corpora / SYSTEM / said.run
    expected = json.loads((run / "run.json").read_text())["expected"]
    assert any(sentence.startswith(said.sentence) for sentence in expected), "the run says no such thing"
    rows = rows_of(run)
    if said.roles is not None:
        assert told(rows, "broker-a", truth_end(run)) == list(said.roles)
    if said.finding is not None:
        assert said.finding in [_short(row) for row in rows if isinstance(row, Finding)]


def _short(row: Finding) -> str:
    return f"{row.severity} {row.rule} {'+'.join(row.nodes)} {clock(row.start_time)}"


ABOVE_INFO = {
    "chain-two-down": ["warning LEADERLESS 0+1+2 10:47:33"],
    "delay-escape": ["warning LEADERLESS 0+1 10:50:39"],
    "failover-preonline-clean": ["warning LEADERLESS 0+1 10:25:22"],
    "failover-preonline-default-step": ["warning LEADERLESS 0+1 10:31:44"],
    "failover-skip-preonline": [
        "warning ACTING_MASTER_OVERLAP 0+1 10:11:45",
        "warning LEADERLESS 0+1 10:06:37",
        "warning LEADERLESS 0+1 10:11:45",
    ],
    "locks-nonstrict-cut": ["warning ACTING_MASTER_OVERLAP 0+1 09:27:31", "warning LEADERLESS 0+1 09:27:15"],
    "locks-strict-consumers": ["warning ACTING_MASTER_OVERLAP 0+1 10:44:23", "warning LEADERLESS 0+1 10:44:12"],
    "locks-strict-cut": ["warning ACTING_MASTER_OVERLAP 0+1 09:34:38", "warning LEADERLESS 0+1 09:34:22"],
    "preonline-never-ends": ["warning LEADERLESS 0+1 10:13:19", "warning PRE_ONLINE_STUCK 0 10:14:25"],
    "skip-preonline-consumed-twice": ["warning LEADERLESS 0+1 10:37:47"],
    "skip-preonline-no-repeat": ["warning LEADERLESS 0+1 10:28:21"],
    "zombie-master-pause": ["warning LEADERLESS 0+1 10:41:28"],
}
"""All findings above info: nothing else may be claimed of any run."""


@pytest.mark.parametrize("name", RUNS)
def test_nothing_else_is_claimed(name: str, corpora: Path) -> None:
    """No finding above info but those listed; never two masters where the run says that there were none."""
    rows = rows_of(corpora / SYSTEM / name)
    loud = [_short(row) for row in rows if isinstance(row, Finding) and row.severity != INFO]
    assert sorted(loud) == ABOVE_INFO.get(name, [])


@pytest.mark.parametrize("name", RUNS)
def test_what_cannot_be_decided_says_why(name: str, corpora: Path) -> None:
    """Every undecidable case has a reason."""
    for row in rows_of(corpora / SYSTEM / name):
        if isinstance(row, RuleCoverage):
            assert bool(row.undecidable) == (row.why_undecidable is not None)


def test_cut_off_master_and_its_stand_in_served_for_as_long_as_the_run_says(corpora: Path) -> None:
    """117 s, 98 s and 98 s: the measured overlaps contain them."""
    for name, lasted in (("locks-nonstrict-cut", 117), ("locks-strict-cut", 98), ("locks-strict-consumers", 98)):
        found = [
            row
            for row in rows_of(corpora / SYSTEM / name)
            if isinstance(row, Finding) and row.rule == "ACTING_MASTER_OVERLAP"
        ]
        assert len(found) == 1
        assert (found[0].overlap_min_ms or 0) <= lasted * 1000 <= (found[0].overlap_max_ms or 0)


# -- the observer ----------------------------------------------------------------------------------------------

DIFFERENT = {("preonline-never-ends", "broker-a-0", "unknown")}
"""A broker with id 0 answers "on" already in pre-online, when it serves nothing: its pop revive is made switched on."""


def observed(run: Path) -> Iterator[dict[str, Any]]:
    """What the observer heard up to the end of the run's story."""
    end = truth_end(run)
    for line in (run / "observed.jsonl").read_text().splitlines():
        row = json.loads(line)
        if "unreachable" not in row and row["t"] * 1_000_000 < end:
            yield row


def intervals_of(rows: tuple[Row, ...], source: str) -> list[RoleInterval]:
    own = [row for row in rows if isinstance(row, RoleInterval) and row.source_node == source]
    return sorted(own, key=lambda row: row.start_time)


def role_at(own: list[RoleInterval], time: int) -> str | None:
    """The role at a time, ``None`` near a change."""
    number = bisect_right([row.start_time for row in own], time) - 1
    changes = [
        edge
        for row in own
        for edge in (
            row.start_time,
            row.start_time + row.start_uncertainty_ms * 1000,
            row.end_time if row.end_time is not None else row.start_time,
        )
    ]
    if number < 0 or any(abs(time - change) < NEAR for change in changes):
        return None
    return own[number].role


@pytest.mark.parametrize("name", RUNS)
def test_brokers_served_when_the_observer_saw_their_special_services_on(name: str, corpora: Path) -> None:
    """A broker that answered "special services on" was master or acted, and the other way round."""
    run = corpora / SYSTEM / name
    rows = rows_of(run)
    own = {
        row.source_node: intervals_of(rows, row.source_node)
        for row in rows
        if isinstance(row, RoleInterval) and row.source_node
    }
    compared, wrong = 0, []
    for seen in observed(run):
        if seen["role"] != "broker" or seen.get("special_services") is None:
            continue
        role = role_at(own[seen["node"]], int(seen["t"] * 1_000_000))
        if role is not None:
            compared += 1
            if (role in SERVING) != seen["special_services"] and (name, seen["node"], role) not in DIFFERENT:
                wrong.append((seen["node"], clock(int(seen["t"] * 1_000_000)), role, seen["special_services"]))
    assert compared > 0
    assert not wrong


@pytest.mark.parametrize("name", RUNS)
def test_who_the_name_servers_showed_as_master_served(name: str, corpora: Path) -> None:
    """Whom a name server's route showed as master was one by its own word; with permission 4 it acted."""
    run = corpora / SYSTEM / name
    rows = rows_of(run)
    addresses = {node["ip"]: source for source, node in json.loads((run / "run.json").read_text())["nodes"].items()}
    compared, wrong = 0, []
    for seen in observed(run):
        for address in (seen.get("leader") or {}).values() if seen["role"] == "nameserver" else ():
            source = addresses[address.partition(":")[0]]
            time = int(seen["t"] * 1_000_000)
            role = role_at(intervals_of(rows, source), time)
            permission = next(seen["perm"][group] for group, shown in seen["leader"].items() if shown == address)
            if role is not None:
                compared += 1
                if role != ("leader" if permission == 6 else "acting_leader"):
                    wrong.append((seen["node"], clock(time), source, role, permission))
    assert compared > 20
    assert not wrong


# -- lost lines ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["chain-two-down", "failover-skip-preonline", "locks-nonstrict-cut", "zombie-master-pause"]
)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_lost_lines_add_no_alarm(name: str, seed: int, corpora: Path) -> None:
    """Appenders drop INFO lines: whichever are missing, no finding above info appears that was not there."""
    dice = random.Random(seed)
    facts = story.run_facts(corpora / SYSTEM / name, lambda seen: seen.level != "INFO" or dice.random() > 0.3)
    rows = story.judge(fact for fact in facts if fact.protocol == PROTOCOL)
    alarms = Counter(row.rule for row in rows if isinstance(row, Finding) and row.severity != INFO)
    assert alarms <= Counter(short.split()[1] for short in ABOVE_INFO.get(name, []))


# -- evidence -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(ABOVE_INFO))
def test_evidence_is_in_the_logs(name: str, corpora: Path) -> None:
    """Each finding above info has evidence, and each piece of it is a line that is there."""
    run = corpora / SYSTEM / name
    there = {seen.event.event_id for lines in story.run_lines(run).values() for seen in lines if seen.event}
    for row in rows_of(run):
        if isinstance(row, Finding) and row.severity != INFO:
            assert row.evidence
            assert set(row.evidence) <= there
