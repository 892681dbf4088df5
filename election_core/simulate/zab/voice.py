"""The log writer of a ZooKeeper server.

Texts are those of the dialect; the threads and classes of 3.8 that print them are defined here.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from election_replay.election_core.dialects.zookeeper import writing
from election_replay.election_core.simulate.machine import Say

STREAM = "zookeeper.log"

SIDS: Mapping[str, str] = {f"zk{number}": str(number) for number in range(1, 8)}
NAMES = tuple(SIDS)[:3]

_PEER = "QuorumPeer[myid={sid}](plain=[0:0:0:0:0:0:0:0]:2181)(secure=disabled)"
_WORKER = "WorkerReceiver[myid={sid}]"

_PLACES: Mapping[str, tuple[str, str]] = {
    "ZK_BOOT": ("main", "QuorumPeerConfig@177"),
    "ZK_START": ("main", "QuorumPeerMain@152"),
    "ZK_SETTING": ("main", "QuorumPeer@1786"),
    "ZK_LOOKING": (_PEER, "QuorumPeer@1455"),
    "ZK_ELECTION": (_PEER, "FastLeaderElection@946"),
    "ZK_VOTE": (_WORKER, "FastLeaderElection$Messenger$WorkerReceiver@391"),
    "ZK_VOTE_TIMEOUT": (_PEER, "FastLeaderElection@996"),
    "ZK_LEADING": (_PEER, "QuorumPeer@1549"),
    "ZK_FOLLOWING": (_PEER, "QuorumPeer@1537"),
    "ZK_ELECTED": (_PEER, "Leader@581"),
    "ZK_FOLLOWS": (_PEER, "Follower@77"),
    "ZK_STATE": (_PEER, "QuorumPeer@917"),
    "ZK_ESTABLISHED": (_PEER, "Leader@1519"),
    "ZK_ROLE_ERROR": (_PEER, "QuorumPeer@1558"),
    "ZK_LEADER_SHUTDOWN": (_PEER, "Leader@819"),
    "ZK_LEADER_REACHED": ("LeaderConnector-{name}/{peer}:2888", "Learner$LeaderConnector@384"),
    "ZK_EPOCH_REFUSED": (_PEER, "Follower@93"),
    "ZK_SYNC_RECEIVED": (_PEER, "Learner@565"),
    "ZK_TRUNCATED": (_PEER, "Learner@618"),
    "ZK_PROPOSAL_GAP": (_PEER, "Follower@169"),
    "ZK_LEARNER_ERROR": ("LearnerHandler-/{peer}:48238", "LearnerHandler@719"),
    "ZK_LEADER_LOST": (_PEER, "Follower@128"),
    "ZK_ROLE_END": (_PEER, "Follower@286"),
    "ZK_TO_LOOKING": (_PEER, "QuorumPeer@1585"),
    "ZK_PEER_LOST": ("RecvWorker:{other}", "QuorumCnxManager$RecvWorker@1399"),
}
"""Thread and class of each line; ``peer`` is the address, ``name`` the name and ``other`` the id of another server."""

_LEVELS = {
    **dict.fromkeys(("ZK_PEER_LOST", "ZK_LEADER_LOST", "ZK_TO_LOOKING", "ZK_PROPOSAL_GAP", "ZK_TRUNCATED"), "WARN"),
    "ZK_ROLE_ERROR": "WARN",
    "ZK_EPOCH_REFUSED": "ERROR",
    "ZK_LEARNER_ERROR": "ERROR",
}

Lines = list[tuple[str, str, str]]
Values = dict[str, Any]
Printed = tuple[Values, tuple[Any, ...]]


class ServerVoice:
    """The servers of one ensemble."""

    def __init__(self, rng: Random) -> None:
        self._folder = rng.choice(("/opt/zookeeper/conf", "/etc/zookeeper"))

    def file(self, stream: str, part: int) -> str:
        """As log4j's rolling appender names them."""
        return f"logs/{stream}.{part}" if part else f"logs/{stream}"

    def boot(self, node: str, wall_us: int) -> Lines:
        """Return the first line of a process."""
        message = writing.WRITER.message("ZK_BOOT", value=f"{self._folder}/zoo.cfg")
        return [self._line("ZK_BOOT", node, None, wall_us, message)]

    def stopping(self, node: str, wall_us: int) -> Lines:  # noqa: ARG002 - nobody prints anything
        """Return no line: a server that is told to stop prints nothing."""
        return []

    def render(self, node: str, wall_us: int, say: Say) -> Lines:
        """Return a line, with the exception after it."""
        values = {name: value for name, value in say.values if name != "node"}
        peer = values.get("peer")
        if say.kind == "ZK_SETTING":
            message = writing.SETTINGS[values["setting"]].message("ZK_SETTING", value=values["value"])
        else:
            named, unnamed = _PRINTED.get(say.kind, _as_said)(node, values)
            message = writing.WRITER.message(say.kind, *unnamed, **named)
        exception = _exception(say.kind, values)
        trace = "" if exception is None else f"\n{exception}\n\tat java.base/java.lang.Thread.run(Thread.java:829)"
        return [self._line(say.kind, node, peer, wall_us, message + trace)]

    def _line(self, kind: str, node: str, peer: str | None, wall_us: int, message: str) -> tuple[str, str, str]:
        thread, place = _PLACES[kind]
        other = {"peer": _host(peer), "name": peer, "other": SIDS[peer]} if peer is not None else {}
        level = _LEVELS.get(kind, "INFO")
        return STREAM, level, writing.line(wall_us, level, thread.format(sid=SIDS[node], **other), place, message)


def _as_said(_: str, values: Values) -> Printed:
    return values, ()


def _vote(_: str, values: Values) -> Printed:
    named = {
        "role": values["role"],
        "peer": SIDS[values["peer"]],
        "result": values["result"],
        "value": values["value"],
        "count": f"{values['count']:x}",
        "term": f"{values['term']:x}",
        "code": "2",
        "state_version": "0",
    }
    return named, (f"{values['zxid']:x}",)


def _election(node: str, values: Values) -> Printed:
    return {"node": SIDS[node]}, (f"{values['zxid']:x}",)


def _state(_: str, values: Values) -> Printed:
    return {}, (f"{values['role'].lower()} - {values['phase']}",)


def _established(_: str, values: Values) -> Printed:
    return {"members": writing.servers(SIDS[name] for name in values["members"])}, (f"0x{values['zxid']:x}",)


def _shutdown(_: str, values: Values) -> Printed:
    named = {"members": writing.servers(SIDS[name] for name in values["members"])} if "members" in values else {}
    return {"result": writing.REASON.message(values["decision"], **named)}, ()


def _zxid(_: str, values: Values) -> Printed:
    return {}, (f"{values['zxid']:x}",)


def _address(_: str, values: Values) -> Printed:
    named = {name: value for name, value in values.items() if name != "peer"}
    return {**named, "peer_address": f"{values['peer']}/{_host(values['peer'])}:2888"}, ()


def _nothing(_: str, __: Values) -> Printed:
    return {}, ()


_PRINTED: Mapping[str, Callable[[str, Values], Printed]] = {
    "ZK_START": lambda node, _: ({"node": SIDS[node]}, ()),
    "ZK_ELECTION": _election,
    "ZK_VOTE": _vote,
    "ZK_STATE": _state,
    "ZK_ESTABLISHED": _established,
    "ZK_ROLE_ERROR": _nothing,
    "ZK_LEADER_SHUTDOWN": _shutdown,
    "ZK_LEADER_REACHED": _address,
    "ZK_EPOCH_REFUSED": lambda _, values: ({name: f"{value:x}" for name, value in values.items()}, ()),
    "ZK_SYNC_RECEIVED": _zxid,
    "ZK_TRUNCATED": _zxid,
    "ZK_PROPOSAL_GAP": lambda _, values: ({}, (f"{values['zxid']:x}", "1")),
    "ZK_LEADER_LOST": _nothing,
    "ZK_LEARNER_ERROR": _nothing,
    "ZK_PEER_LOST": lambda node, values: ({"peer": SIDS[values["peer"]], "node": SIDS[node]}, ()),
}
"""The columns of a text, and the values of its places without a column; as they are said where nothing is here."""


def _exception(kind: str, values: Values) -> str | None:
    if kind in ("ZK_LEADER_LOST", "ZK_LEARNER_ERROR"):
        package = "java.net" if values["exception"].startswith("Socket") else "java.io"
        return f"{package}.{values['exception']}"
    if kind == "ZK_ROLE_ERROR":
        return f"java.lang.InterruptedException: {writing.REASON.message(values['decision'])}"
    return None


def _host(name: str | None) -> str:
    return f"10.83.2.{10 + int((name or '')[-1])}"
