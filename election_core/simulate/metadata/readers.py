"""Consumers that commit their offsets to the serving broker, and a collector that copies the brokers' files."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from election_replay.election_core.dialects.rocketmq import writing
from election_replay.election_core.simulate.acting_master.machine import Commit, Deliver
from election_replay.election_core.simulate.acting_master.play import brokers_of
from election_replay.election_core.simulate.machine import Say
from election_replay.election_core.simulate.metadata.machine import (
    CONSUMER_FILE,
    DELAY_FILE,
    GROUP_FILE,
    TOPIC_FILE,
    Names,
    Offsets,
    Place,
)
from election_replay.election_core.simulate.scenario import Stage
from election_replay.election_core.simulate.world import SECOND, UP

TOPIC, GROUPS, QUEUES = "OrderEvents", ("billing-group", "order-group"), 4
LEVELS = (3, 4)
_COMMIT_US, _COPY_US = 5 * SECOND, 10 * SECOND


@dataclass(slots=True)
class Readers:
    """Two groups of consumers, and the broker that they read from. ``reading`` is False while they pause."""

    stage: Stage
    places: dict[Place, int] = field(default_factory=dict)
    delivered: dict[Place, int] = field(default_factory=dict)
    broker: str | None = None
    reading: bool = True

    def begin(self) -> None:
        """Commit every five seconds."""
        self.places = {(TOPIC, group, queue): 0 for group in GROUPS for queue in range(QUEUES)}
        self.delivered = {("", "", level): 0 for level in LEVELS}
        self._commit()

    def forget(self) -> None:
        """Restart the consumers, which then continue from their broker's offsets."""
        state = self.stage.world.processes[self.broker].state if self.broker is not None else None
        if state is not None:
            self.places |= dict(state.tables.consumer.of)

    def _commit(self) -> None:
        world, rng = self.stage.world, self.stage.rng
        serving = sorted(world.leaders())
        if serving:
            self.broker = serving[0]
        if self.broker is not None and self.reading and world.processes[self.broker].condition == UP:
            self.places = {place: offset + rng.randint(3, 9) for place, offset in self.places.items()}
            self.delivered = {place: offset + rng.randint(0, 2) for place, offset in self.delivered.items()}
            world.ask(self.broker, Commit(tuple(sorted(self.places.items()))))
            world.ask(self.broker, Deliver(tuple(sorted(self.delivered.items()))))
        world.at(world.now_us + _COMMIT_US, self._commit)


class Collector:
    """Copies files that changed since the last copy: every ten seconds, and at marked moments."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._last: dict[tuple[str, str], tuple[str, str]] = {}

    def begin(self) -> None:
        """Copy every ten seconds."""
        world = self._stage.world
        self.copy()
        world.at(world.now_us + _COPY_US, self.begin)

    def copy(self) -> None:
        """Copy now; the collector's clock is right."""
        world = self._stage.world
        stamp = f"{datetime.fromtimestamp(world.now_us // SECOND, UTC):%Y%m%dT%H%M%SZ}"
        for node in brokers_of(self._stage):
            for file, content in sorted(world.processes[node].files.items()):
                printed, (last, taken) = _FILES[file](content), self._last.get((node, file), ("", ""))
                if printed != last and stamp != taken:
                    self._last[node, file] = (printed, stamp)
                    world.copies.append((node, f"metadata/{stamp}/{file}", printed.encode()))
                    world.unprinted.append((world.now_us, node, Say("COPIED", "collector", ((file, content),))))


def _consumer_file(table: Offsets) -> str:
    of: dict[tuple[str, str], dict[int, int]] = {}
    for (topic, group, queue), offset in table.of:
        of.setdefault((topic, group), {})[queue] = offset
    return writing.consumer_offset_file(_version(table), of)


def _delay_file(table: Offsets) -> str:
    return writing.delay_offset_file(_version(table), {level: offset for (_, _, level), offset in table.of})


def _version(table: Offsets | Names) -> tuple[int, int, int]:
    state, timestamp, counter = table.version
    return state or 0, timestamp or 0, counter or 0


_FILES: dict[str, Callable[[Any], str]] = {
    CONSUMER_FILE: _consumer_file,
    DELAY_FILE: _delay_file,
    TOPIC_FILE: lambda table: writing.topic_file(_version(table), table.names),
    GROUP_FILE: lambda table: writing.group_file(_version(table), table.names),
}
