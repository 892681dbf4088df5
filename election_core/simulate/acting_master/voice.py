"""The log writer of the brokers of a set with a configured master, and of their name servers.

Texts are those of the dialect in releases 5.1.1 to 5.3; files, levels and threads are defined here.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from election_replay.election_core.dialects.rocketmq import writing
from election_replay.election_core.dialects.writing import printed
from election_replay.election_core.simulate.machine import Say

BROKER, STORE, REMOTING, LOCKS, SERVER = "broker.log", "store.log", "remoting.log", "filter.log", "namesrv.log"

CLUSTER, BROKER_SET = "shop", "broker-a"
_PORT, _REPLICATION_PORT, _SERVER_PORT = 10911, 10912, 9876
_MONITOR = "10.85.0.70"
_QUEUES = 4
_HOME = "/opt/rocketmq"

_THREADS = {
    "main": "main",
    "pre-online": "BrokerPreOnlineService",
    "poll": "BrokerControllerSyncBrokerScheduledThread1",
    "scheduled": "BrokerControllerScheduledThread1",
    "requests out": "brokerOutApi_thread_{}",
    "requests": "RemotingExecutorThread_{}",
    "admin": "AdminBrokerThread_{}",
    "answers": "NettyClientPublicExecutor_{}",
    "network": "NettyServerCodecThread_{}",
    "replication": "DefaultAcceptSocketService",
    "scan": "NSScanScheduledThread",
    "unregistration": "org.apache.rocketmq.namesrv.routeinfo.BatchUnregistrationService",
}
_LEVELS = {
    **dict.fromkeys(
        (
            *("BRK_MEMBERS_ERR", "BRK_REG_NS_FAILED", "PRE_HA_INFO_ERR", "PRE_NS_ERR", "PRE_REVERSE_ERR"),
            *("PRE_SEND_ERR", "PRE_WAIT_LOST"),
        ),
        "ERROR",
    ),
    **dict.fromkeys(
        (
            *("META_GROUP_DELETE_NONE", "META_TOPIC_DELETE_NONE", "NS_BROKER_EXPIRED"),
            *("LOCK_TAKEN_EXPIRED", "LOCK_REFUSED", "LOCK_RELEASE_REFUSED", "LOCK_RELEASE_NONE"),
            *("LOCK_RELEASE_NO_GROUP", "LOCK_PEER_ERR", "LOCK_RELEASE_PEER_ERR"),
        ),
        "WARN",
    ),
}
_ADDRESSES = ("address", "peer_address")

Lines = list[tuple[str, str, str]]
Printed = tuple[dict[str, Any], tuple[Any, ...]]
"""The columns of a text, and the values of its placeholders without a column."""


def address(node: str | None) -> str | None:
    """Return the address of a broker or name server, by the number at the end of its name."""
    if node is None:
        return None
    number = int(node.rpartition("-")[2])
    return f"10.85.0.{10 + number}:{_SERVER_PORT}" if is_server(node) else f"10.85.0.{20 + number}:{_PORT}"


def is_server(node: str) -> bool:
    """Return True for a name server."""
    return node.startswith("ns-")


def is_broker(node: str) -> bool:
    """Return True for a broker."""
    return node.startswith("broker-")


def client_id(name: str) -> str:
    """Return a client's id: its address and instance."""
    return f"10.85.0.{60 + int(name.rpartition('-')[2])}@{name}"


class SetVoice:
    """The brokers of one set and their name servers, with the settings of all brokers (``settings``) and of all name
    servers (``of_servers``)."""

    def __init__(
        self, servers: tuple[str, ...], rng: Random, settings: dict[str, str], of_servers: dict[str, str]
    ) -> None:
        self._servers, self._settings, self._of_servers = servers, settings, of_servers
        self._rng = Random(rng.random())  # noqa: S311 - seeded: a world must repeat
        self._up: set[str] = set()
        self._wrote: tuple[tuple[str, int, str] | None, int] = (None, 1)

    def boot(self, node: str, wall_us: int) -> Lines:
        """Return the configuration dump and the banner of a process that starts; clients have logs elsewhere."""
        if not (is_server(node) or is_broker(node)):
            return []
        if is_server(node):
            dump = {"rocketmqHome": _HOME, **self._of_servers, "supportActingMaster": "true"}
            lines = [self._setting(SERVER, wall_us, *item) for item in dump.items()]
            boot = writing.WRITER.message("NS_BOOT", "JSON", address=f"0.0.0.0:{_SERVER_PORT}")
            return [*lines, self._line(SERVER, wall_us, "INFO", "main", boot)]
        lines = [self._setting(BROKER, wall_us, *item) for item in self._dump(node).items()]
        ended = "normally" if node not in self._up else "abnormally"
        self._up.add(node)
        replication = writing.WRITER.message("HA_KIND_DEFAULT", value="DefaultHAService")
        last = writing.WRITER.message("STORE_LAST_SHUTDOWN", result=ended, value=f"{_HOME}/store")
        lines.append(self._line(STORE, wall_us, "WARN", "main", replication))
        lines.append(self._line(STORE, wall_us, "INFO", "main", last))
        servers = ";".join(address(server) or "" for server in self._servers)
        boot = writing.WRITER.message(
            "BRK_BOOT", "JSON", replica_group=BROKER_SET, address=address(node), value=servers
        )
        return [*lines, self._line(BROKER, wall_us, "INFO", "main", boot)]

    def stopping(self, node: str, wall_us: int) -> Lines:
        """Return the lines of the shutdown hook."""
        if is_server(node):
            message = writing.WRITER.message("SRV_SHUTDOWN_BEGIN", count=1)
            return [self._line(SERVER, wall_us, "INFO", "ShutdownHook", message)]
        if not is_broker(node):
            return []
        self._up.discard(node)
        message = writing.WRITER.message("BRK_SHUTDOWN_BEGIN", count=1)
        return [self._line(BROKER, wall_us, "INFO", "Thread-18", message)]

    def render(self, node: str, wall_us: int, say: Say) -> Lines:
        """Return the line of a machine's statement; a renewal has none."""
        if say.kind in _UNPRINTED:
            return []
        values = dict(say.values)
        for name in _ADDRESSES:
            if name in values:
                values[name] = address(values[name])
        named, unnamed = _PRINTED[say.kind](values, self._rng) if say.kind in _PRINTED else (values, ())
        message = writing.WRITER.message(say.kind, *unnamed, **named)
        stream = SERVER if is_server(node) else _STREAMS.get(say.kind, BROKER)
        drawn = self._rng.randint(1, 8)
        if self._wrote[0] != (node, wall_us, say.by):  # what a process says at one moment is one request's
            self._wrote = (node, wall_us, say.by), drawn
        thread = _THREADS[say.by].format(self._wrote[1])
        return [self._line(stream, wall_us, _LEVELS.get(say.kind, "INFO"), thread, message)]

    file = staticmethod(writing.file)

    # -- parts -------------------------------------------------------------------------------------------------

    def _dump(self, node: str) -> dict[str, str]:
        host = (address(node) or "").partition(":")[0]
        return {
            "brokerConfigPath": f"{_HOME}/conf/broker.conf",
            "rocketmqHome": _HOME,
            "namesrvAddr": ";".join(address(server) or "" for server in self._servers),
            "listenPort": str(_PORT),
            "brokerIP1": host,
            "brokerName": BROKER_SET,
            "brokerClusterName": CLUSTER,
            "enableControllerMode": "false",
            "enableDLegerCommitLog": "false",
            "enableSlaveActingMaster": "true",
            **self._settings,
        }

    def _setting(self, stream: str, wall_us: int, name: str, value: str) -> tuple[str, str, str]:
        return self._line(stream, wall_us, "INFO", "main", f"{name}={value}")

    def _line(self, stream: str, wall_us: int, level: str, thread: str, message: str) -> tuple[str, str, str]:
        return stream, level, writing.line(wall_us, level, thread, message)


_UNPRINTED = ("CLIENT_HOLDS", "LOCK_RENEWED", "REVERSED", "TABLES")
_STREAMS = {"NET_SERVER_OPEN": REMOTING, "XHA_CONN_NEW": STORE}
_STREAMS |= dict.fromkeys(
    (
        *("LOCK_NEW", "LOCK_TAKEN_EXPIRED", "LOCK_REFUSED", "LOCK_RELEASED", "LOCK_RELEASE_NONE"),
        *("LOCK_RELEASE_NO_GROUP", "LOCK_RELEASE_REFUSED"),
    ),
    LOCKS,
)


def _at(member: tuple[str, str | None]) -> str:
    return f"{member[0]}-{printed(address(member[1]))}"


def _port(rng: Random) -> int:
    return rng.randint(32768, 60999)


def _replication(host: str | None) -> str:
    return f"{(host or '').partition(':')[0]}:{_REPLICATION_PORT}"


def _canonical(values: dict[str, Any]) -> str:
    return f"{CLUSTER}_{BROKER_SET}_{values['number']}"


def _queues(permission: int) -> str:
    return writing.queue_data(BROKER_SET, _QUEUES, permission)


def _lock(values: dict[str, Any], _: Random) -> Printed:
    group, topic, number = values["key"]
    named: dict[str, Any] = {
        name: client_id(values[name]) for name in ("client_id", "peer_client_id") if name in values
    }
    return {"consumer_group": group, **named}, (writing.queue(topic, BROKER_SET, number),)


def _no_group(values: dict[str, Any], _: Random) -> Printed:
    queues = ", ".join(writing.queue(topic, BROKER_SET, number) for _, topic, number in values["keys"])
    return {"consumer_group": values["keys"][0][0], "client_id": client_id(values["client_id"])}, (f"[{queues}]",)


def _no_answer(values: dict[str, Any], _: Random) -> Printed:
    return {"peer_address": values["peer_address"], "value": "{}"}, ()


_PRINTED: dict[str, Callable[[dict[str, Any], Random], Printed]] = {
    "BRK_MIN_CHANGED": lambda v, _: ({"value_before": _at(v["before"])}, (_at(v["after"]),)),
    "BRK_SERVICE_ON": lambda v, _: ({}, (_canonical(v),)),
    "BRK_SERVICE_ON_MIN": lambda v, _: (
        {"peer": v["minimum"][0], "peer_address": address(v["minimum"][1])},
        (_canonical(v),),
    ),
    "LOCK_NEW": _lock,
    "LOCK_PEER_ERR": _no_answer,
    "LOCK_REFUSED": _lock,
    "LOCK_RELEASED": _lock,
    "LOCK_RELEASE_NONE": _lock,
    "LOCK_RELEASE_NO_GROUP": _no_group,
    "LOCK_RELEASE_PEER_ERR": _no_answer,
    "LOCK_RELEASE_REFUSED": _lock,
    "LOCK_TAKEN_EXPIRED": _lock,
    "NET_SERVER_OPEN": lambda _, rng: ({"peer_address": f"{_MONITOR}:{_port(rng)}"}, ()),
    "NS_BROKER_EXPIRED": lambda v, _: (
        {"duration_ms": v["duration_ms"]},
        (writing.live_address(CLUSTER, v["address"]),),
    ),
    "NS_BROKER_NEW": lambda v, _: (
        {"peer_address": _replication(v["address"])},
        (writing.live_address(CLUSTER, v["address"]),),
    ),
    "NS_CHANNEL_CLOSED": lambda _, __: ({"flag": True}, (f"BrokerAddrInfo{{clusterName='{CLUSTER}'}}",)),
    "NS_TOPIC_CHANGED": lambda v, _: ({"topic": v["topic"]}, (_queues(v["before"]), _queues(v["permission"]))),
    "NS_TOPIC_NEW": lambda v, _: ({"topic": v["topic"]}, (_queues(v["permission"]),)),
    "NS_UNREG_ADDR": lambda v, _: ({"result": v["result"]}, (writing.live_address(CLUSTER, v["address"]),)),
    "NS_UNREG_LIVE": lambda v, _: ({"result": v["result"]}, (writing.live_address(CLUSTER, v["address"]),)),
    "NS_UNREG_NAME": lambda _, __: ({"replica_group": BROKER_SET}, ()),
    "PRE_BEGIN": lambda _, __: ({"value": "BrokerPreOnlineService"}, ()),
    "PRE_REVERSE_CONSUMER": lambda v, _: (v, (v["peer_address"],)),
    "PRE_REVERSE_DELAY": lambda v, _: (v, (v["peer_address"],)),
    "XHA_CONN_NEW": lambda v, rng: ({"peer_address": f"/{v['peer_address'].partition(':')[0]}:{_port(rng)}"}, ()),
}
"""The printing of kinds whose text has placeholders other than the machine's columns."""
