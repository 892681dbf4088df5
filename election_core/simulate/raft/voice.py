"""The log writer of an etcd member.

Texts are those of the dialect; the fields beside the text are defined here.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from election_replay.election_core.dialects.etcd import writing
from election_replay.election_core.simulate.machine import Say
from election_replay.election_core.simulate.raft.machine import Rules

STREAM = "etcd.log"

CLUSTER = "62a3408d373ac1c8"
IDS: Mapping[str, str] = {
    "etcd1": "30c3c2aa47460bb0",
    "etcd2": "65d2efdeada7cca3",
    "etcd3": "59a04900bccefb6d",
    "etcd4": "8e9e05c52164694d",
    "etcd5": "91bc3c398fb3c146",
    "etcd6": "fd422379fda50e48",
    "etcd7": "1609b5d2af6e8f04",
}
"""The ids of the members: hashes of their addresses and their cluster's name."""

_OLD, _NEW = "3.4.23", "3.5.17"

_SERVER, _LIBRARY, _LIBRARY_NEW = "etcdserver/server.go:2069", "raft/raft.go:706", "etcdserver/zap_raft.go"
"""The source locations of lines; in 3.5 those of the library are where the server passes them on."""

_WARNS = frozenset({"ETCD_REMOVED", "RAFT_NO_QUORUM", "ETCD_PEER_LOST", "ETCD_PEER_INACTIVE", "ETCD_HEARTBEAT_LATE"})
_MEMBERS = frozenset({"node", "peer", "value_before"})

Lines = list[tuple[str, str, str]]
Values = dict[str, Any]


class EtcdVoice:
    """The members of one cluster; all run one release, drawn for each world."""

    def __init__(self, rng: Random, rules: Rules, names: tuple[str, ...]) -> None:
        self._version = rng.choice((_OLD, _NEW))
        self._rules, self._names = rules, names

    def file(self, stream: str, part: int) -> str:
        """As logrotate names them."""
        return f"logs/{stream}.{part}.gz" if part else f"logs/{stream}"

    def boot(self, node: str, wall_us: int) -> Lines:
        """Return the settings of a process that starts, as etcd prints them; other programs on its library print
        none."""
        if not self._rules.check_quorum:
            return []
        members = ",".join(f"{name}=http://{_host(name)}:2380" for name in self._names)
        settings = {
            "etcd-version": self._version,
            "git-sha": "Not provided (use ./build instead of go build)",
            "go-os": "linux",
            "go-arch": "amd64",
            "name": node,
            "data-dir": "/var/lib/etcd/data",
            "heartbeat-interval": writing.duration(self._rules.heartbeat_ms),
            "election-timeout": writing.duration(self._rules.election_ms),
            "initial-election-tick-advance": True,
            "initial-advertise-peer-urls": [f"http://{_host(node)}:2380"],
            "initial-cluster": members,
            "initial-cluster-token": "etcd-main",
            "pre-vote": self._rules.pre_vote,
        }
        return [self._line("ETCD_BOOT", wall_us, fields=settings)]

    def stopping(self, node: str, wall_us: int) -> Lines:
        """Return the lines of a process that is told to stop."""
        of = {"name": node, "data-dir": "/var/lib/etcd/data", "advertise-peer-urls": [f"http://{_host(node)}:2380"]}
        signal = self._line("ETCD_SIGNAL", wall_us, fields={"signal": "terminated"})
        return [signal, self._line("ETCD_STOPPING", wall_us, fields=of)]

    def render(self, node: str, wall_us: int, say: Say) -> Lines:
        """Return a line; the library has its values in its text, the server beside it."""
        values = {name: IDS.get(value, value) if name in _MEMBERS else value for name, value in say.values}
        if say.kind in _FIELDS:
            fields = _FIELDS[say.kind](node, {**values, "heartbeat_ms": self._rules.heartbeat_ms})
            return [self._line(say.kind, wall_us, fields=fields)]
        return [self._line(say.kind, wall_us, *_printed(say.kind, values))]

    def _line(
        self, kind: str, wall_us: int, named: Values | None = None, unnamed: tuple[Any, ...] = (),
        fields: Values | None = None,
    ) -> tuple[str, str, str]:  # fmt: skip
        message, warns = writing.WRITER.message(kind, *unnamed, **(named or {})), kind in _WARNS
        by_server, level = kind.startswith("ETCD_"), "warn" if warns else "info"
        if self._version == _OLD:
            caller = _SERVER if by_server else _LIBRARY
            text = writing.line(wall_us, 3, level, caller, message, fields or {})
        else:
            caller = _SERVER if by_server else f"{_LIBRARY_NEW}:{85 if warns else 77}"
            text = writing.line(wall_us, 6, level, caller, message, fields or {}, None if by_server else "raft")
        return STREAM, level.upper(), text


def _printed(kind: str, values: Values) -> tuple[Values, tuple[Any, ...]]:
    """Return the columns of a text, and the values of its placeholders without a column."""
    match kind:
        case "RAFT_MEMBERS":
            return {"node": values["node"]}, (
                writing.configuration(*((IDS[member] for member in values[kind]) for kind in ("members", "learners"))),
            )
        case "RAFT_START":
            return {**values, "members": ",".join(IDS[member] for member in values["members"])}, ()
        case "RAFT_CONFLICT":
            return {name: value for name, value in values.items() if name != "node"}, ()
        case _ if "value_before" in values:
            return {**values, "value_before": writing.member(values["value_before"])}, ()
    return values, ()


def _named(node: str, values: Values) -> Values:
    return {
        "local-member-id": values["node"],
        "local-member-attributes": f"{{Name:{node} ClientURLs:[http://{_host(node)}:2379]}}",
        "request-path": f"/0/members/{values['node']}/attributes",
        "cluster-id": CLUSTER,
        "publish-timeout": "15s",
    }


def _added(_: str, values: Values) -> Values:
    name = next(name for name, member_id in IDS.items() if member_id == values["peer"])
    return {
        "cluster-id": CLUSTER,
        "local-member-id": values["node"],
        "added-peer-id": values["peer"],
        "added-peer-peer-urls": [f"http://{_host(name)}:2380"],
    }


def _removed(_: str, values: Values) -> Values:
    return {"cluster-id": CLUSTER, "local-member-id": values["node"], "removed-remote-peer-id": values["peer"]}


def _lost(_: str, values: Values) -> Values:
    return {
        "stream-reader-type": "stream Message",
        "local-member-id": values["node"],
        "remote-peer-id": values["peer"],
        "error": values["result"],
    }


def _inactive(_: str, values: Values) -> Values:
    why = f"failed to read {values['peer']} on stream Message ({values['result']})"
    return {"peer-id": values["peer"], "error": why}


def _late(_: str, values: Values) -> Values:
    return {
        "to": values["peer"],
        "heartbeat-interval": writing.duration(values["heartbeat_ms"]),
        "expected-duration": writing.duration(2 * values["heartbeat_ms"]),
        "exceeded-duration": writing.duration(values["duration_ms"]),
    }


def _starts(_: str, values: Values) -> Values:
    return {"local-member-id": values["node"], "cluster-id": CLUSTER}


def _restarts(_: str, values: Values) -> Values:
    return {"cluster-id": CLUSTER, "local-member-id": values["node"], "commit-index": values["committed"]}


def _transfer(_: str, values: Values) -> Values:
    to = {"transferee-member-id": values["peer"]} if "peer" in values else {}
    leader = writing.member(values["value_before"])
    return {"local-member-id": values["node"], "current-leader-member-id": leader, **to}


_FIELDS: Mapping[str, Callable[[str, Values], Values]] = {
    "ETCD_MEMBER_STARTS": _starts,
    "ETCD_MEMBER_RESTARTS": _restarts,
    "ETCD_MEMBER_ADDED": _added,
    "ETCD_MEMBER_REMOVED": _removed,
    "ETCD_REMOVED": lambda _, __: {},
    "ETCD_MEMBER_NAMED": _named,
    "ETCD_PEER_ACTIVE": lambda _, values: {"peer-id": values["peer"]},
    "ETCD_PEER_LOST": _lost,
    "ETCD_PEER_INACTIVE": _inactive,
    "ETCD_HEARTBEAT_LATE": _late,
    "ETCD_TRANSFER_SKIPPED": _transfer,
}
"""The fields beside the texts of the server."""


def _host(name: str) -> str:
    return f"10.83.3.{10 + int(name[-1])}"
