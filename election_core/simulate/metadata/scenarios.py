"""Scenarios of hand-overs: whether a returning master learns what was read while it was away."""

from collections.abc import Callable
from functools import partial
from typing import Any

from election_replay.election_core.protocols.metadata.data_version import Version
from election_replay.election_core.simulate.acting_master.machine import MakeTopic, Rules
from election_replay.election_core.simulate.acting_master.play import (
    BROKERS,
    MASTER,
    scenario,
    set_up,
)
from election_replay.election_core.simulate.metadata.machine import TableRules
from election_replay.election_core.simulate.metadata.readers import Collector, Readers
from election_replay.election_core.simulate.scenario import Scenario, Script, Stage
from election_replay.election_core.simulate.scripts import drifting_clocks, lost_lines

_EACH_COMMIT = TableRules(version_step=1, delay_step=1)
"""A version for each commit, so that versions order the tables (``consumerOffsetUpdateVersionStep=1``)."""


def _story(
    name: str,
    meaning: str,
    script: Callable[[Stage], Script],
    *,
    tables: TableRules = TableRules(),  # noqa: B008 - frozen
    skip: bool = False,
    **more: Any,
) -> Scenario:
    rules = Rules(tables=tables, skip_pre_online=skip)
    return scenario("metadata", f"metadata-{name}", meaning, script, rules=rules, **more)


def _read_for(
    before: tuple[float, float],
    acting: tuple[float, float],
    *,
    again: bool = False,
    reading: bool = True,
    topic: bool = False,
) -> Callable[[Stage], Script]:
    """Kill the master and start it again, while consumers read or pause.

    ``before``, ``acting``: how long the master and the slave serve. ``again``: consumers restart after the return and
    ask their broker for their offsets. ``topic``: one is created while the slave acts.
    """

    def script(stage: Stage) -> Script:
        yield from set_up(stage)
        readers, collector = Readers(stage, reading=reading), Collector(stage)
        readers.begin()
        collector.begin()
        yield from stage.seconds(*before)
        stage.kill(MASTER)
        yield from stage.seconds(2, 6)
        collector.copy()
        if topic:
            yield from stage.seconds(8)
            stage.ask(BROKERS[1], MakeTopic("LateTopic"), "make the topic LateTopic")
        yield from stage.seconds(*acting)
        collector.copy()
        yield from stage.seconds(1)
        # A place that is committed after it was read and before the slave hears of the master is lost, always.
        readers.reading = False
        stage.start(MASTER)
        while MASTER not in stage.world.leaders():
            yield 100
        yield from stage.seconds(2)
        readers.broker, readers.reading = MASTER, reading
        if again:
            readers.forget()
        yield from stage.seconds(75 if topic else 40, 85 if topic else 55)

    return script


def _frozen(stage: Stage) -> Script:
    """Freeze the master and thaw it; its consumers restart and get older offsets."""
    yield from set_up(stage)
    readers, collector = Readers(stage), Collector(stage)
    readers.begin()
    collector.begin()
    yield from stage.seconds(30, 50)
    stage.freeze(MASTER)
    yield from stage.seconds(45, 60)
    collector.copy()
    stage.thaw(MASTER)
    readers.broker = MASTER
    readers.forget()
    yield from stage.seconds(40, 55)


def _healthy(stage: Stage) -> Script:
    yield from set_up(stage)
    Readers(stage).begin()
    Collector(stage).begin()
    yield from stage.seconds(90, 120)


_LONG, _SHORT = (85, 110), (15, 25)

SAFE: tuple[Scenario, ...] = (
    _story("healthy", "consumers read, slaves copy, nothing broken", _healthy),
    _story(
        "clean",
        "a slave acts for long; the master takes over what was read",
        _read_for((25, 40), _LONG),
        tables=_EACH_COMMIT,
    ),
    _story(
        "one-slave",
        "with one slave an equal version is taken, and right",
        _read_for((25, 40), _SHORT),
        brokers=BROKERS[:2],
    ),
    _story("idle", "nobody reads while a slave acts", _read_for((25, 40), _SHORT, reading=False), skip=False),
    _story(
        "clean-lost-lines", "INFO lines are lost", _read_for((25, 40), _LONG), tables=_EACH_COMMIT, prepare=lost_lines
    ),
    _story(
        "clean-drifting-clocks",
        "clocks differ within their bounds",
        _read_for((25, 40), _LONG),
        tables=_EACH_COMMIT,
        prepare=drifting_clocks,
    ),
)


def _whatever(_held: Version, _read: Version) -> bool:
    """Take a table over without comparing versions: a bug."""
    return True


_broken = partial(_story, broken=True)

BROKEN: tuple[Scenario, ...] = (
    _broken(
        "version-behind",
        "the slave acts for a short time, so that its version stays behind: pre-online takes nothing over",
        _read_for((50, 60), _SHORT, again=True),
        tables=TableRules(version_step=20, delay_step=2),
    ),
    _broken(
        "equal-versions",
        "all versions are equal: the last slave's old table is taken over too",
        _read_for((70, 90), (20, 35), again=True),
    ),
    _broken(
        "takes-whatever",
        "a bug: the returning master takes tables over without comparing versions",
        _read_for((70, 90), (20, 35), again=True),
        tables=TableRules(version_step=1, delay_step=1, is_taken_over=_whatever),
    ),
    _broken("skip", "skipPreOnline: nothing is taken over", _read_for((30, 50), _SHORT, again=True), skip=True),
    _broken(
        "skip-no-repeat",
        "skipPreOnline, but every consumer takes its place along",
        _read_for((30, 50), _SHORT),
        skip=True,
    ),
    _broken(
        "new-topic",
        "a topic and a group are made while a slave acts, and go missing",
        _read_for((25, 40), _LONG, topic=True),
        tables=_EACH_COMMIT,
    ),
    _broken("frozen", "the master is frozen, and goes on with its old offsets", _frozen),
    _broken(
        "skip-lost-lines",
        "skipPreOnline, and lines are lost",
        _read_for((30, 50), _SHORT, again=True, topic=True),
        skip=True,
        prepare=lost_lines,
    ),
)

SCENARIOS = (*SAFE, *BROKEN)
