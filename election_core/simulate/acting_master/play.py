"""Broker sets with a configured master in a world: the members, and the steps that their scenarios share."""

from collections.abc import Callable, Generator
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
from election_replay.election_core.simulate.order_lock.machine import Client
from election_replay.election_core.simulate.scenario import Scenario, Script, Stage
from election_replay.election_core.simulate.world import Play

SERVERS = ("ns-1", "ns-2")
BROKERS = ("broker-0", "broker-1", "broker-2")
MASTER = BROKERS[0]


def scenario(
    protocol: str,
    name: str,
    meaning: str,
    script: Callable[[Stage], Script],
    *,
    rules: Rules = Rules(),  # noqa: B008 - frozen
    server_rules: Rules = Rules(),  # noqa: B008 - frozen
    brokers: tuple[str, ...] = BROKERS,
    clients: tuple[str, ...] = (),
    **more: Any,
) -> Scenario:
    """Return a scenario of name servers, brokers and consumers that lock queues, about ``protocol``.

    The number at the end of a broker's name is its id. All brokers print their settings; name servers print the times
    in ``server_rules``.
    """
    members: dict[str, Member] = {server: NameServer(server, server_rules) for server in SERVERS}
    members |= {broker: Broker(broker, broker.rpartition("-")[2], SERVERS, rules) for broker in brokers}
    members |= {client: Client(client, SERVERS) for client in clients}
    settings = {
        "totalReplicas": "3",
        "lockInStrictMode": str(rules.locks.strict).lower(),
        "skipPreOnline": str(rules.skip_pre_online).lower(),
        "brokerNotActiveTimeoutMillis": str(server_rules.silent_ms),
    }
    scan = {"scanNotActiveBrokerInterval": str(server_rules.scan_ms)}
    play = Play(machine, lambda rng: SetVoice(SERVERS, rng, settings, scan), _serves, connected=True)
    return Scenario(name, protocol, meaning, script, play, members, **more)


def _serves(state: State) -> int | None:
    """Return the id of a broker that runs the special services; it stands for a term, though the smaller id wins."""
    return int(state.number) if isinstance(state, BrokerState) and state.serving else None


def brokers_of(stage: Stage) -> list[str]:
    """Return all brokers of a world."""
    return [name for name in stage.names if is_broker(name)]


def slaves_of(stage: Stage) -> list[str]:
    """Return all brokers but the configured master."""
    return [name for name in brokers_of(stage) if name != MASTER]


def set_up(stage: Stage) -> Generator[int, None, str]:
    """Start the name servers, then the brokers, the master first; wait until all serve. Return the configured
    master."""
    for name in stage.names:
        stage.start(name)
        yield from stage.seconds(0.5, 3)
    yield from stage.seconds(14, 22)
    return MASTER
