"""A simulated group tells the same story in the same words as a real one."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from election_replay.election_core.dialects import Record, dialect_for
from election_replay.election_core.model.events import Event
from election_replay.election_core.simulate.catalogue import SCENARIOS
from election_replay.election_core.simulate.judged import logs_of
from election_replay.election_core.simulate.scenario import Script, Stage, played
from election_replay.election_core.simulate.world import World

ROLES = (
    "DL_LISTEN",
    "DL_TERM_UP",
    "DL_TO_CANDIDATE",
    "DL_TO_LEADER",
    "DL_TO_FOLLOWER",
    "DL_HB_TIMEOUT",
    "DL_VOTE_PARSED",
)
ANSWERS = "DL_VOTE_REPLY"
KILLED = 1795252659.787533e6
"""When the leader of kill-leader-533 was killed, by its truth.jsonl."""


def as_it_was(stage: Stage) -> Script:
    """n0 and n1 start together, n2 some seconds later; a while after, the leader is killed and its host is gone."""
    stage.isolate("n2")
    for name, wait_ms in (("n0", 300), ("n1", 2400)):
        stage.start(name)
        yield wait_ms
    stage.heal()
    stage.start("n2")
    leader = yield from stage.until_led()
    yield from stage.seconds(20)
    assert leader is not None
    stage.isolate(leader)
    stage.kill(leader)
    yield from stage.seconds(28)


def slow(world: World) -> None:
    """The real machine was short of CPU: answers took up to a fifth of a second."""
    world.network.delay_us = (1_000, 200_000)


def kinds(logs: dict[tuple[str, str], list[str]], since: float = 0) -> list[tuple[str, ...]]:
    """What each elector did, from ``since`` on; many answers in a row are one, and so are equal lines."""
    found = []
    for (_, stream), lines in logs.items():
        if stream == "broker_default.log":
            own = [e.kind for e in events(stream, lines) if e.event_time >= since and tells(e, answers=since > 0)]
            found.append(tuple(kind for kind, _ in groupby(own)))
    return sorted(found)


def events(stream: str, lines: list[str]) -> Iterator[Event]:
    dialect = dialect_for(stream)
    assert dialect is not None
    for line in lines:
        event = dialect.parse(Record(line, (), stream, dialect.utc_offset_minutes))
        if event is not None:
            yield event


def tells(event: Event, *, answers: bool) -> bool:
    return event.kind in ROLES or (answers and event.kind == ANSWERS and event.peer is not None)


def test_killed_leader(corpora: Path) -> None:
    """All three nodes, from their start to the election after the kill: the same kinds of events in the same order."""
    run = corpora / "rocketmq-dledger" / "kill-leader-533"
    real = {
        (node.name, "broker_default.log"): file.read_text().splitlines()
        for node in sorted((run / "nodes").glob("n[0-9]"))
        for file in (node / "logs" / "rocketmqlogs").glob("broker_default.log")
    }
    world = played(replace(SCENARIOS["dledger-kill-leader"], script=as_it_was, prepare=slow), 87)
    simulated = logs_of(world)
    assert kinds(simulated) == kinds(real)
    killed = next(fault.true_us for fault in world.faults if fault.action == "kill")
    assert [one for one in kinds(simulated, killed) if one] == [one for one in kinds(real, KILLED) if one]


SERVICES = (
    *("PRE_BEGIN", "PRE_ALONE", "PRE_REVERSE", "PRE_SLAVE_DONE", "PRE_MASTER_DONE", "BRK_SERVICE_ON_MIN"),
    *("BRK_MIN_CHANGED", "BRK_SCHEDULE", "BRK_TX_CHECK", "BRK_POP_REVIVE", "SYNC_MASTER"),
)


def services(lines: list[str]) -> tuple[str, ...]:
    """What a broker of a set with acting masters does until it is shut down; what it takes over depends on traffic."""
    own = [event.kind for event in events("broker.log", lines)]
    end = own.index("BRK_SHUTDOWN_BEGIN") if "BRK_SHUTDOWN_BEGIN" in own else len(own)
    return tuple(kind for kind in own[:end] if kind in SERVICES)


def test_killed_master_and_acting_slave(corpora: Path) -> None:
    """Master and both slaves, from their start to the master's return by pre-online."""
    run = corpora / "rocketmq-acting-master" / "failover-preonline-clean"
    real = [(run / f"nodes/broker-a-{n}/logs/rocketmqlogs/broker.log").read_text().splitlines() for n in range(3)]
    logs = logs_of(played(SCENARIOS["acting-kill-master"], 1))
    simulated = [logs[f"broker-{n}", "broker.log"] for n in range(3)]
    assert [services(lines) for lines in simulated] == [services(lines) for lines in real]
