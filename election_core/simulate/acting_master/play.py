"""Broker sets with a configured master, for a world: who is in the cast, and the words that all their stories share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from election_replay.election_core.simulate.acting_master import machine
from election_replay.election_core.simulate.acting_master.machine import (
    Broker,
    BrokerState,
    Member,
    NameServer,
    Rules,
    State,
)
from election_replay.election_core.simulate.acting_master.voice import SetVoice, is_broker
from election_replay.election_core.simulate.machine import Machine
from election_replay.election_core.simulate.order_lock.machine import Client
from election_replay.election_core.simulate.scenario import Script, Stage
from election_replay.election_core.simulate.world import World

SERVERS = ("ns-1", "ns-2")
BROKERS = ("broker-0", "broker-1", "broker-2")
MASTER = BROKERS[0]


@dataclass(frozen=True, slots=True)
class SetPlay:
    """A broker set; ``settings`` are printed by each of its brokers, and the times in ``rules`` by who keeps them."""

    settings: tuple[tuple[str, str], ...]
    rules: Rules = field(default_factory=Rules)

    @property
    def machine(self) -> Machine[Member, State]:
        """Brokers and name servers."""
        return machine

    def voice(self, rng: Random) -> SetVoice:
        """Brokers and name servers of RocketMQ."""
        silent = {"brokerNotActiveTimeoutMillis": str(self.rules.silent_ms)}
        scan = {"scanNotActiveBrokerInterval": str(self.rules.scan_ms)}
        return SetVoice(SERVERS, rng, dict(self.settings) | silent, scan)

    def leads(self, state: Any) -> int | None:
        """The id of a broker that runs the special services: there are no terms, but a smaller id is the better one."""
        return int(state.number) if isinstance(state, BrokerState) and state.serving else None

    def committed(self, _: Any) -> int:
        """Nothing is replicated here."""
        return 0

    def write(self, _: int) -> None:
        """Producers write nothing that a world counts."""


def cast(
    rules: Rules = Rules(),  # noqa: B008 - frozen
    server_rules: Rules = Rules(),  # noqa: B008 - frozen
    brokers: tuple[str, ...] = BROKERS,
    clients: tuple[str, ...] = (),
) -> Callable[[], Mapping[str, Member]]:
    """Name servers, brokers, and consumers that lock queues; the number at the end of a broker's name is its id."""

    def make() -> dict[str, Member]:
        members: dict[str, Member] = {name: NameServer(name, server_rules) for name in SERVERS}
        members |= {name: Broker(name, name.rpartition("-")[2], SERVERS, rules) for name in brokers}
        return members | {name: Client(name, SERVERS) for name in clients}

    return make


def connected(prepare: Callable[[World], None]) -> Callable[[World], None]:
    """Brokers keep their connections to name servers open."""

    def both(world: World) -> None:
        world.connected = True
        prepare(world)

    return both


def brokers_of(stage: Stage) -> list[str]:
    """All brokers of a world."""
    return [name for name in stage.names if is_broker(name)]


def slaves_of(stage: Stage) -> list[str]:
    """All brokers but the configured master."""
    return [name for name in brokers_of(stage) if name != MASTER]


def set_up(stage: Stage) -> Script:
    """Name servers start, then the brokers, the master first; after a while all serve."""
    for name in stage.names:
        stage.start(name)
        yield from stage.seconds(0.5, 3)
    yield from stage.seconds(14, 22)
