"""The log writer of a RocketMQ controller and of its brokers."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from election_replay.election_core.dialects.rocketmq import writing
from election_replay.election_core.simulate.broker_identity.machine import REQUEST_MS, Identity, Temporary
from election_replay.election_core.simulate.controller.messages import Broker, Controller
from election_replay.election_core.simulate.machine import Say

CONTROLLER_LOG, BROKER_LOG, STORE_LOG = "controller.log", "broker.log", "store.log"

Lines = list[tuple[str, str, str]]
Values = dict[str, Any]

_STREAMS = {"CTL_": CONTROLLER_LOG, "BRK_": BROKER_LOG, "HA_": STORE_LOG, "EPOCH_": STORE_LOG, "STORE_": STORE_LOG}
_THREADS = {
    "main": "main",
    "scheduled": "ReplicasManager_ScheduledService_{}",
    "executor": "ReplicasManager_ExecutorService_{}",
    "noticed": "AdminBrokerThread_{}",
    "sets": "AutoSwitchHAService_Executor_1",
    "reader": "ReadSocketService",
    "client": "AutoSwitchHAClient",
    "sender": "GroupTransferService",
    "names": "brokerOutApi_thread_{}",
    "events": "org.apache.rocketmq.controller.impl.DLedgerController$EventScheduler",
    "applies": "io.openmessaging.storage.dledger.statemachine.StateMachineCaller",
    "requests": "ControllerRequestExecutorThread_{}",
    "scans": "DefaultBrokerHeartbeatManager_scheduledService_1",
    "inactive": "DefaultBrokerHeartbeatManager_executorService_1",
    "elections": "Thread-5",
    "network": "NettyEventExecutor",
}
_LEVELS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("BRK_META_POLL_ERR", "BRK_START_RETRY", "CTL_BROKER_EXPIRED", "CTL_ELECT_NONE"),
            *("CTL_SSS_SAME", "HA_ACK_TIMEOUT", "HA_CLIENT_CONNECT_ERR"),
            *("HA_CLIENT_EXPIRED", "HA_CONN_EXPIRED", "HA_MASTER_STALE", "HA_SLAVE_STALE"),
        ),
        "WARN",
    ),
    **dict.fromkeys(
        (
            *("BRK_CTL_NONE", "BRK_CTL_POLL_ERR", "BRK_ELECT_FAILED", "BRK_REG_APPLY_ERR", "BRK_REG_ERR"),
            *("BRK_REG_FILE_INVALID", "BRK_REG_GAVE_UP"),
            *("BRK_REG_NEXT_ERR", "BRK_REG_SEND_ERR", "BRK_REG_TEMP_CLUSTER"),
            *("BRK_REG_TEMP_NAME", "BRK_SSS_ALTER_ERR", "BRK_START_FAILED", "CTL_ELECT_FAILED", "CTL_SSS_DEAD_REPLICA"),
            *("CTL_SSS_EPOCH", "CTL_SSS_MASTER_EPOCH", "CTL_SSS_NOT_MASTER", "CTL_SSS_NO_MASTER_IN_SET"),
            *("CTL_SSS_UNKNOWN_REPLICA", "EPOCH_APPEND_ERR", "HA_CLIENT_CUT_FAILED"),
        ),
        "ERROR",
    ),
}
_REMARKS = {
    3: " request type 1012 not supported",
    2008: "Broker metadata is not existed",
    2010: "Broker-set hasn't been registered in controller",
    2012: "Failed to elect a new master",
    2014: "Fail to apply brokerId",
}
_STORE = "/home/rocketmq/store"


def identity(of: Identity | Temporary) -> str:
    """``BrokerMetadata`` and ``TempBrokerMetadata``."""
    names: Values = {"clusterName": of.cluster, "brokerName": of.group, "brokerId": of.broker_id}
    if isinstance(of, Temporary):
        names = {"registerCheckCode": of.code, **names, "filePath": f"{_STORE}/brokerIdentity-temp"}
        return writing.bean("TempBrokerMetadata", names)
    return writing.bean("BrokerMetadata", {**names, "filePath": f"{_STORE}/brokerIdentity"})


class ControllerModeVoice:
    """The processes of one broker set and its controller; ``members`` are their configurations."""

    def __init__(self, members: Mapping[str, Broker | Controller], rng: Random) -> None:
        self.members = dict(members)
        self._rng = Random(rng.random())  # noqa: S311 - seeded: a world must repeat
        self._stopped: set[str] = set(members)
        self._controller = next(member for member in members.values() if isinstance(member, Controller))

    def boot(self, node: str, wall_us: int) -> Lines:
        """Return the configuration dump, and the store's lines about the end of the last process."""
        member = self.members[node]
        stream = CONTROLLER_LOG if isinstance(member, Controller) else BROKER_LOG
        dump = [
            (stream, "INFO", writing.line(wall_us, "INFO", "main", f"{name}={value}"))
            for name, value in _settings(member)
        ]
        ended = "normally" if node in self._stopped else "abnormally"
        self._stopped.discard(node)
        if isinstance(member, Controller):
            return [*dump, self._line(CONTROLLER_LOG, wall_us, "INFO", "main", "CTL_BOOT", "JSON")]
        return [
            *dump,
            self._line(STORE_LOG, wall_us, "WARN", "main", "HA_KIND_AUTO", value="AutoSwitchHAService"),
            self._line(STORE_LOG, wall_us, "INFO", "main", "STORE_LAST_SHUTDOWN", result=ended, value=_STORE),
        ]

    def stopping(self, node: str, wall_us: int) -> Lines:
        """Return the line of the shutdown hook."""
        self._stopped.add(node)
        if isinstance(self.members[node], Controller):
            return [self._line(CONTROLLER_LOG, wall_us, "INFO", "ShutdownHook", "SRV_SHUTDOWN_BEGIN", count=1)]
        return [self._line(BROKER_LOG, wall_us, "INFO", "ShutdownHook", "BRK_SHUTDOWN_BEGIN", count=1)]

    def render(self, node: str, wall_us: int, say: Say) -> Lines:  # noqa: ARG002 - a line says who by its file
        """One line, with the exception that a refusal prints."""
        values = dict(say.values)
        after = self._exception(values)
        named, unnamed = self._printed(say.kind, values)
        stream = next(stream for begin, stream in _STREAMS.items() if say.kind.startswith(begin))
        thread = _THREADS[say.by].format(1 + sum(map(ord, say.kind)) % 3)
        line = self._line(stream, wall_us, _LEVELS.get(say.kind, "INFO"), thread, say.kind, *unnamed, **named)
        return [(*line[:2], f"{line[2]}\n{after}")] if after else [line]

    file = staticmethod(writing.file)

    # -- parts -------------------------------------------------------------------------------------------------

    def _exception(self, values: Values) -> str | None:
        if "code" not in values:
            return None
        code, why = values.pop("code"), values.pop("why", None)
        if code is None:
            return writing.unanswered(self._controller.address, REQUEST_MS)
        remark = writing.WRITER.message(why[0], **dict(why[1])) if why else _REMARKS[code]
        return writing.refused(code, remark)

    def _printed(self, kind: str, values: Values) -> tuple[Values, tuple[Any, ...]]:
        """Return the columns of a text, and the values of its placeholders without a column."""
        for name in ("members", "members_before"):
            if name in values:
                values[name] = writing.ids(values[name])
        if "entries" in values:
            values["epoch_entries"] = writing.epoch_entries(values.pop("entries"))
        unnamed = tuple(make(self, values) for make in _UNNAMED.get(kind, ()))
        if kind in _MORE:
            values |= _MORE[kind](self, values)
        hidden = _HIDDEN | _HIDDEN_IN.get(kind, frozenset())
        return {name: value for name, value in values.items() if name not in hidden}, unnamed

    def hash(self) -> str:
        """Return the hash of a Java object without a ``toString``."""
        return f"{self._rng.randrange(1 << 24, 1 << 31):x}"

    def channel(self, state: str, address: str) -> str:
        """Return a connection of the controller, as netty prints it."""
        number, port = self._rng.randrange(1 << 28, 1 << 32), self._rng.randrange(32768, 61000)
        return f"[id: 0x{number:x}, L:/{self._controller.address} {state} R:/{address.partition(':')[0]}:{port}]"

    def _line(
        self, stream: str, wall_us: int, level: str, thread: str, kind: str, *unnamed: Any, **named: Any
    ) -> tuple[str, str, str]:
        message = writing.WRITER.message(kind, *unnamed, **named)
        return stream, level, writing.line(wall_us, level, thread, message)


_HIDDEN = frozenset({"identity", "events", "response", "entry", "last", "group", "cluster", "recorded", "lost"})
"""Values of placeholders without a column."""
_HIDDEN_IN = {
    "CTL_BROKER_EXPIRED": frozenset({"broker_id", "peer_address"}),
    "HA_CONN_EXPIRED": frozenset({"address"}),
}


def _result(voice: ControllerModeVoice, values: Values) -> str:
    response = values["response"]
    if response is not None:
        printed: str | None = writing.bean(response[0], dict(response[1:]))
    elif values["request"] == "registerSuccess":
        header = "org.apache.rocketmq.remoting.protocol.header.controller.register"
        printed = f"{header}.RegisterBrokerToControllerResponseHeader@{voice.hash()}"
    else:
        printed = None
    return writing.controller_result((writing.bean(event[0], dict(event[1:])) for event in values["events"]), printed)


def _entry(_: ControllerModeVoice, values: Values) -> str:
    return writing.epoch_entry(*values["entry"])


def _last(_: ControllerModeVoice, values: Values) -> str:
    return writing.epoch_entry(*values["last"])


def _known_as(_: ControllerModeVoice, values: Values) -> str:
    names = {"clusterName": values["cluster"], "brokerName": values["group"], "brokerId": values["broker_id"]}
    return writing.bean("BrokerIdentityInfo", names)


_UNNAMED: Mapping[str, tuple[Callable[[ControllerModeVoice, Values], Any], ...]] = {
    "BRK_BOOT": (lambda *_: "JSON",),
    "BRK_REG_APPLIED": (lambda _, values: identity(values["identity"]),),
    "BRK_REG_TEMP": (lambda _, values: identity(values["identity"]),),
    "CTL_APPLIED": (lambda _, values: f"{values['group']}#n0",),
    "CTL_BROKER_CHANNEL_CLOSED": (lambda voice, values: voice.channel("!", values["address"]),),
    "CTL_BROKER_EXPIRED": (lambda voice, values: voice.channel("-", values["peer_address"]), _known_as),
    "CTL_ELECT_DONE": (
        lambda *_: (
            "RemotingCommand [code=0, language=JAVA, version=0, opaque=0, flag(B)=1, remark=null, "
            "extFields=null, serializeTypeCurrentRPC=JSON]"
        ),
    ),
    "EPOCH_APPEND_ERR": (_entry, _last),
}

_MORE: Mapping[str, Callable[[ControllerModeVoice, Values], Values]] = {
    "BRK_BOOT": lambda *_: {"value": _NAME_SERVER},
    "BRK_CTL_NONE": lambda voice, _: {"value": f"[{voice._controller.address}]"},
    "BRK_REG_NS_OK": lambda *_: {"peer_address": _NAME_SERVER},
    "CTL_EVENT": lambda voice, values: {"value": _result(voice, values)},
    "HA_CONN_EXPIRED": lambda _, values: {"peer_address": f"/{values['address'].partition(':')[0]}:50078"},
}  # fmt: skip
_NAME_SERVER = "10.84.1.10:9876"


def _settings(member: Broker | Controller) -> list[tuple[str, object]]:
    if isinstance(member, Controller):
        return [
            ("rocketmqHome", "/home/rocketmq"),
            ("controllerType", "DLedger"),
            ("scanNotActiveBrokerInterval", member.rules.periods.scan),
            ("controllerDLegerGroup", "controllers"),
            ("controllerDLegerPeers", f"n0-{member.address}"),
            ("controllerDLegerSelfId", "n0"),
            ("controllerStorePath", "/home/rocketmq/controller"),
            ("electMasterMaxRetryCount", 3),
            ("enableElectUncleanMaster", _flag(member.rules.unclean)),
            ("isProcessReadEvent", "false"),
            ("notifyBrokerRoleChanged", "true"),
            ("scanInactiveMasterInterval", member.rules.periods.scan),
        ]
    return [
        ("brokerConfigPath", "/home/rocketmq/conf/broker.conf"),
        ("rocketmqHome", "/home/rocketmq"),
        ("namesrvAddr", _NAME_SERVER),
        ("listenPort", member.address.partition(":")[2]),
        ("brokerIP1", member.address.partition(":")[0]),
        ("brokerName", member.group),
        ("brokerClusterName", member.cluster),
        ("registerNameServerPeriod", 10000),
        ("enableSlaveActingMaster", "false"),
        ("enableControllerMode", "true"),
        ("controllerAddr", member.controller_address),
        ("syncBrokerMetadataPeriod", member.rules.periods.poll),
        ("checkSyncStateSetPeriod", member.rules.periods.check_set),
        ("controllerHeartBeatTimeoutMills", member.rules.periods.silent),
        ("storePathRootDir", _STORE),
        ("brokerRole", "ASYNC_MASTER"),
        ("enableDLegerCommitLog", "false"),
        ("inSyncReplicas", 1),
        ("minInSyncReplicas", 1),
        ("allAckInSyncStateSet", _flag(member.rules.all_ack)),
        ("haMaxTimeSlaveNotCatchup", member.rules.periods.not_caught_up),
    ]


def _flag(value: bool) -> str:
    return "true" if value else "false"
