"""The log writer of a RocketMQ broker in DLedger mode.

The elector's lines go to ``broker_default.log``, the broker's own to ``broker.log``. Texts are those of the dialect;
levels, threads, and the broker's lines around its elector are defined here.
"""

from random import Random
from typing import Any

from election_replay.election_core.dialects.rocketmq import writing
from election_replay.election_core.simulate.dledger.machine import CANDIDATE, FOLLOWER, LEADER
from election_replay.election_core.simulate.machine import Say

ELECTOR, BROKER = "broker_default.log", "broker.log"

_THREADS = {
    "maintainer": "StateMaintainer",
    "acks": "QuorumAckChecker-{node}",
    "entries": "EntryHandler-{node}",
    "main": "main",
}
_POOLS = {"server": "NettyServerPublicExecutor", "client": "NettyClientPublicExecutor"}
_LEVELS = {
    "DL_TO_LEADER_SKIPPED": "WARN",
    "DL_TWO_LEADERS": "ERROR",
    "DL_RPC_VOTE_TIMEOUT": "ERROR",
    "DL_RPC_VOTE_SEND_ERR": "ERROR",
    "DL_RPC_HB_TIMEOUT": "ERROR",
    "DL_RPC_HB_SEND_ERR": "ERROR",
    "DL_STORE_TRUNCATE": "WARN",
}
_ROLE_LINES = {"DL_TO_CANDIDATE": CANDIDATE, "DL_TO_LEADER": LEADER, "DL_TO_FOLLOWER": FOLLOWER}
_PORT, _BROKER_PORT, _NAME_SERVER = 40911, 30911, "10.84.0.101:9876"

Lines = list[tuple[str, str, str]]


class BrokerVoice:
    """The brokers of one group, of the release in ``home``; only printed timestamps depend on the JVMs' time zone."""

    def __init__(self, group: str, names: tuple[str, ...], rng: Random, home: str = "/opt/rocketmq") -> None:
        self._group, self._names, self._home = group, names, home
        self._zone_minutes = rng.choice((0, 480, -300, 330))
        self._store_role: dict[str, str] = {}

    def boot(self, node: str, wall_us: int) -> Lines:
        """Return the configuration dump and the start message of a broker."""
        self._store_role[node] = "ASYNC_MASTER"
        dump = [self._line(BROKER, wall_us, "INFO", "main", f"{name}={value}") for name, value in self._settings(node)]
        message = writing.WRITER.message(
            "BRK_BOOT", "JSON", replica_group=self._group, address=f"{self._address(node)}:{_BROKER_PORT}",
            value=_NAME_SERVER,
        )  # fmt: skip
        return [*dump, self._line(BROKER, wall_us, "INFO", "main", message)]

    def stopping(self, node: str, wall_us: int) -> Lines:  # noqa: ARG002 - all brokers say the same
        """Return the line of the shutdown hook."""
        return [self._say(BROKER, wall_us, "INFO", "Thread-18", "BRK_SHUTDOWN_BEGIN", count=1)]

    def render(self, node: str, wall_us: int, say: Say) -> Lines:
        """Return a line of the elector, and the broker's lines about a change of role."""
        values = dict(say.values)
        named, unnamed = self._printed(say.kind, node, values)
        message = writing.WRITER.message(say.kind, *unnamed, **named)
        level = _LEVELS.get(say.kind, "INFO")
        lines = [self._line(ELECTOR, wall_us, level, self._thread(say, node), message)]
        if say.kind in _ROLE_LINES:
            lines += self._broker_role(node, wall_us, _ROLE_LINES[say.kind], values["term"])
        return lines

    file = staticmethod(writing.file)

    # -- parts -------------------------------------------------------------------------------------------------

    def _thread(self, say: Say, node: str) -> str:
        if say.by not in _POOLS:
            return _THREADS[say.by].format(node=node)
        pool = _POOLS[say.by]
        if say.kind.endswith("_SEND_ERR"):
            pool = "voteInvokeExecutor" if "VOTE" in say.kind else "heartBeatInvokeExecutor"
            return f"{pool}-{1 + sum(map(ord, repr(say.values))) % 2}"
        return f"{pool}_{1 + sum(map(ord, repr(say.values))) % 4}"

    def _printed(self, kind: str, node: str, values: dict[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
        """Return the columns of a text, and the values of its placeholders without a column."""
        match kind:
            case "DL_LISTEN":
                return {"value": _PORT}, ()
            case "DL_VOTE_REPLY":
                return {"node": node}, (self._vote(values),)
            case "DL_STATUS":
                marks = writing.watermarks(values["term"], values.pop("watermarks"))
                begin = values.pop("ledger_begin")
                return {**values, "value": marks}, (begin,)
            case "DL_HB_TIMEOUT" | "DL_HB_PARSED":
                local = writing.timestamp(values.pop("last_heartbeat_ms"), self._zone_minutes)
                return {**values, "last_heartbeat_local": local}, ()
            case "DL_STORE_TRUNCATE":
                return {name: value for name, value in values.items() if name != "node"}, ()
            case "DL_TRANSFER_REQ":
                return {}, (writing.transfer(**dict(values["transfer"])),)
            case "DL_TAKE_DONE":
                return self._take_done(values)
        if kind.startswith("DL_RPC_"):
            return {}, (writing.info(values["group"], values["term"], node, values["peer"], node),)
        return values, ()

    def _vote(self, values: dict[str, Any]) -> str:
        return writing.vote(**{name: value for name, value in values.items() if name != "node"})

    def _take_done(self, values: dict[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
        of = dict(values["transfer"])
        reply = writing.transfer_reply(of["group"], of["leader"], of["to"], values["term"], values["code"])
        return {"term": values["term"], "role": values["role"]}, (writing.transfer(**of), reply)

    def _broker_role(self, node: str, wall_us: int, role: str, term: int) -> Lines:
        """``DLedgerRoleChangeHandler``: a candidate becomes slave once, a follower always."""
        before = self._store_role[node]
        after = "SYNC_MASTER" if role == LEADER else "SLAVE"
        parts: list[tuple[str, dict[str, Any]]] = [
            ("DLB_ROLE_BEGIN", {"term": term, "role": role, "value_before": before})
        ]
        if role == LEADER:
            parts += [(kind, {"replica_group": self._group}) for kind in ("DLB_MASTER_BEGIN", "DLB_MASTER_END")]
        elif role == FOLLOWER or before != "SLAVE":
            slave = {"replica_group": self._group, "broker_id": self._names.index(node) + 1}
            parts += [(kind, slave) for kind in ("DLB_SLAVE_BEGIN", "DLB_SLAVE_END")]
        done = {"flag": True, "term": term, "role": role, "value_before": after, "duration_ms": 3}
        self._store_role[node] = after
        thread = "DLegerRoleChangeHandler_1"
        return [self._say(BROKER, wall_us, "INFO", thread, kind, **of) for kind, of in (*parts, ("DLB_ROLE_END", done))]

    def _settings(self, node: str) -> list[tuple[str, str]]:
        peers = ";".join(f"{name}-{self._address(name)}:{_PORT}" for name in self._names)
        return [
            ("brokerConfigPath", f"{self._home}/conf/broker.conf"),
            ("rocketmqHome", self._home),
            ("namesrvAddr", _NAME_SERVER),
            ("listenPort", str(_BROKER_PORT)),
            ("brokerIP1", self._address(node)),
            ("brokerName", self._group),
            ("brokerClusterName", "RaftCluster"),
            ("enableControllerMode", "false"),
            ("enableDLegerCommitLog", "true"),
            ("dLegerGroup", self._group),
            ("dLegerPeers", peers),
            ("dLegerSelfId", node),
            ("preferredLeaderId", ""),
        ]

    def _address(self, node: str) -> str:
        return f"10.84.0.{11 + self._names.index(node)}"

    def _say(self, stream: str, wall_us: int, level: str, thread: str, kind: str, **named: Any) -> tuple[str, str, str]:
        return self._line(stream, wall_us, level, thread, writing.WRITER.message(kind, **named))

    def _line(self, stream: str, wall_us: int, level: str, thread: str, message: str) -> tuple[str, str, str]:
        return stream, level, writing.line(wall_us, level, thread, message)
