"""Values that RocketMQ and DLedger print, and the columns they fill.

Most are the ``toString`` of a Java class: ``Name{key='text', key=number, key=[list]}``. The docstrings name that class of
apache/rocketmq or openmessaging/dledger.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from election_replay.election_core.dialects.dialect import Fields, Shape, integer, words
from election_replay.election_core.model.events import EpochEntry

OPEN_END = 2**63 - 1
"""``Long.MAX_VALUE``: the end offset of the present epoch."""

REQUEST_NAMES = {
    1001: "alterSyncStateSet",
    1002: "electMaster",
    1003: "registerSuccess",
    1004: "getReplicaInfo",
    1006: "getSyncStateData",
    1011: "cleanBrokerData",
    1012: "getNextBrokerId",
    1013: "applyBrokerId",
}
"""Names of request codes (``RequestCode``), as the event queue of a DLedger controller prints them."""

_MEMBER = re.compile(r"\b(\w+)=(?:'([^']*)'|(\[[^\]]*\])|([^,'\[\]{}]*))")
_EVENT = re.compile(r"\b(\w+Event)\{([^{}]*)\}")
_QUEUE = re.compile(r"MessageQueue \[[^\]]*\]")
_RESULT = re.compile(r"ControllerResult\{events=\[(.*)\], response=(.*)\}", re.DOTALL)
_AT = re.compile(r"(-?\d+|null)-(.*)")
_EPOCH = re.compile(r"EpochEntry\{epoch=(-?\d+), startOffset=(-?\d+), endOffset=(-?\d+)\}")


def members(printed: str) -> dict[str, str | None]:
    """Return the members of a printed Java object; a printed null is None."""
    return {key: words(quoted or listed or plain) for key, quoted, listed, plain in _MEMBER.findall(printed)}


def number(of: Mapping[str, str | None], key: str) -> int | None:
    """Return the whole number under ``key``; None if it is missing or null."""
    printed = of.get(key)
    return None if printed is None else integer(printed)


def ids(printed: str | None) -> tuple[str, ...] | None:
    """Return a printed set, ``[1, 2]``, in its printed order."""
    if printed is None or printed == "null":
        return None
    if not (printed.startswith("[") and printed.endswith("]")):
        raise ValueError(f"not a set: {printed[:40]!r}")
    inner = printed[1:-1].strip()
    return tuple(name.strip() for name in inner.split(",")) if inner else ()


def _epochs(printed: str) -> tuple[EpochEntry, ...] | None:
    if printed == "null":
        return None
    if not (printed.startswith("[") and printed.endswith("]")):
        raise ValueError(f"not a list of epochs: {printed[:40]!r}")
    entries = tuple(_epoch(found) for found in _EPOCH.finditer(printed))
    if len(entries) != printed.count("EpochEntry{"):
        raise ValueError(f"a broken list of epochs: {printed[:80]!r}")
    return entries


def _epoch(found: re.Match[str]) -> EpochEntry:
    epoch, start, end = (integer(number) or 0 for number in found.groups())
    return EpochEntry(epoch, start, None if end == OPEN_END else end)


def _one_epoch(printed: str) -> Fields:
    found = _EPOCH.fullmatch(printed)
    return {"term": _epoch(found).epoch, "epoch_entries": (_epoch(found),)} if found else {}


def _epoch_before(printed: str) -> Fields:
    found = _EPOCH.fullmatch(printed)
    return {"max_term": _epoch(found).epoch, "start_offset": _epoch(found).start_offset} if found else {}


def _vote(printed: str) -> Fields:
    """``VoteResponse`` as JSON: ``leaderId`` is the candidate, ``remoteId`` the voter, ``term`` the voter's."""
    try:
        reply = json.loads(printed)
    except (ValueError, RecursionError):
        raise ValueError(f"not a vote response: {printed[:80]!r}") from None
    if not isinstance(reply, dict):
        raise ValueError(f"not a vote response: {printed[:80]!r}")
    return {
        "peer": _text(reply.get("remoteId")),
        "replica_group": _text(reply.get("group")),
        "term": _whole(reply.get("term")),
        "result": _text(reply.get("voteResult")),
        "code": _whole(reply.get("code")),
    }


def _whole(value: Any) -> int | None:
    return None if value is None else integer(str(value))


def _text(value: Any) -> str | None:
    """Return a string of a JSON document; half a surrogate pair is no text (its UnicodeEncodeError is a ValueError)."""
    if value is None:
        return None
    if isinstance(value, str):
        value.encode()
        return value
    raise ValueError(f"not a text: {str(value)[:40]!r}")


def _info(printed: str) -> Fields:
    """``RequestOrResponse.baseInfo``."""
    of = members(printed)
    return {
        "replica_group": of.get("group"),
        "term": number(of, "term"),
        "node": of.get("local"),
        "peer": of.get("remote"),
    }


def _status(printed: str) -> Fields:
    """``DLedgerResponseCode``: ``[code=302,name=NETWORK_ERROR,desc=]``."""
    of = members(printed[1:-1])
    return {"code": number(of, "code"), "result": of.get("name")}


def _transfer(printed: str) -> Fields:
    """Read a ``LeadershipTransferRequest``: the node hands over to the peer."""
    of = members(printed)
    return {
        "replica_group": of.get("group"),
        "node": of.get("transferId") or of.get("leaderId"),
        "peer": of.get("transfereeId"),
        "term": number(of, "term"),
        "ledger_end": number(of, "takeLeadershipLedgerIndex"),
    }


def _taken(printed: str) -> Fields:
    """Read a ``LeadershipTransferRequest`` in a line with a term of its own; the request's term is the one before."""
    fields = dict(_transfer(printed))
    return fields | {"from_term": fields.pop("term")}


def _transfer_reply(printed: str) -> Fields:
    return {"code": number(members(printed), "code")}


def _identity(printed: str) -> Fields:
    """``BrokerIdentityInfo``, ``BrokerMetadata`` and ``TempBrokerMetadata``."""
    of = members(printed)
    broker_id = of.get("brokerId")
    fields = {"cluster_name": of.get("clusterName"), "replica_group": of.get("brokerName")}
    fields |= {"broker_id": broker_id, "node": broker_id}
    return fields | ({"register_code": of["registerCheckCode"]} if "registerCheckCode" in of else {})


def _live_address(printed: str) -> Fields:
    """``BrokerAddrInfo``, which calls itself ``BrokerIdentityInfo`` too."""
    of = members(printed[:-1])
    return {"cluster_name": of.get("clusterName"), "address": of.get("brokerAddr")}


def _queue_data(printed: str) -> Fields:
    """``QueueData``: the permission is a bit set, 4 read and 2 write."""
    of = members(printed[:-1])
    return {"replica_group": of.get("brokerName"), "value": of.get("perm")}


def _old_queue_data(printed: str) -> Fields:
    return {"value_before": members(printed[:-1]).get("perm")}


def _min_broker(printed: str) -> Fields:
    """Read ``id-address`` of the smallest live broker, which is the peer of the printing broker."""
    found = _AT.fullmatch(printed)
    if not found:
        raise ValueError(f"not an id and an address: {printed[:40]!r}")
    return {"value": found.group(1), "peer": found.group(1), "peer_address": words(found.group(2))}


def _min_id(printed: str) -> str:
    return str(_min_broker(printed)["value"])


def _queue(printed: str) -> Fields:
    """``MessageQueue``: its broker name is the broker set's."""
    of = members(printed[:-1])
    return {
        "topic": of.get("topic"),
        "replica_group": of.get("brokerName"),
        "queue_id": number(of, "queueId"),
    }


def _queues(printed: str) -> Fields:
    """Read a set of ``MessageQueue`` of one broker set; members are ``topic:number``."""
    queues = [_queue(printed_queue) for printed_queue in _QUEUE.findall(printed)]
    sets = {queue["replica_group"] for queue in queues}
    return {
        "replica_group": sets.pop() if len(sets) == 1 else None,
        "members": tuple(f"{queue['topic']}:{queue['queue_id']}" for queue in queues),
    }


def _elect_request(printed: str) -> Fields:
    """Read an ``ElectMasterRequestHeader``; the flag means that an operator or a broker designated the new master."""
    of = members(printed)
    return {
        "cluster_name": of.get("clusterName"),
        "replica_group": of.get("brokerName"),
        "broker_id": of.get("brokerId"),
        "flag": of.get("designateElect") == "true",
    }


def _node_id(printed: str) -> Fields:
    """JRaft's ``NodeId``: ``<group/ip:port>``."""
    group, slash, address = printed.strip("<>").rpartition("/")
    if not slash:
        raise ValueError(f"not a node id: {printed[:40]!r}")
    return {"replica_group": group, "node": address, "address": address}


def _leader_change(printed: str) -> Fields:
    """JRaft's ``LeaderChangeContext``."""
    of = members(printed)
    status = re.search(r"status=(Status\[.*\])\]", printed)
    return {
        "peer": _peer_id(of.get("leaderId") or ""),
        "term": number(of, "term"),
        "result": status.group(1) if status else None,
    }


def _log_id(printed: str) -> Fields:
    """JRaft's ``LogId``: the last entry of the log."""
    of = members(printed[:-1])
    return {"ledger_end": number(of, "index")}


def _peer_id(printed: str) -> str | None:
    """Return JRaft's ``PeerId``; None for the empty one."""
    return None if printed == "0.0.0.0:0" else words(printed)


def _socket(printed: str) -> str | None:
    """Return the address of a Java socket address, without the host name (mostly empty) before its slash."""
    return words(printed.rpartition("/")[2])


def _self_in_group(printed: str) -> Fields:
    """``group#selfId`` (or ``group-selfId``) of a controller's state machine."""
    group, mark, node = printed.rpartition("#" if "#" in printed else "-")
    return {"replica_group": group, "node": node} if mark else {"node": printed}


def _canonical(printed: str) -> Fields:
    """Read ``cluster_name_id``: names may contain ``_`` themselves, so only the id is certain."""
    return {"value": printed, "broker_id": printed.rpartition("_")[2]}


def _request_code(printed: str) -> str:
    code = integer(printed)
    return REQUEST_NAMES.get(code, f"request {code}") if code is not None else "request null"


def decided(read: Fields) -> Fields:
    """Read a controller's decision from the name of the request and the printed ``ControllerResult``.

    The events contain the changes, the response the answer; neither contains the response code. The printed result
    comes in the column ``value``.
    """
    columns = dict(read)
    printed = columns.pop("value") or ""
    found = _RESULT.fullmatch(printed)
    if not found:
        raise ValueError(f"not a controller result: {printed[:80]!r}")
    events = {name: members(inner) for name, inner in _EVENT.findall(found.group(1))}
    decision = _decision(columns.get("request"), events, members(found.group(2)))
    return columns | {column: value for column, value in decision.items() if value is not None}


def committed(read: Fields) -> Fields:
    """Read a controller's decision in ``from_term`` of its log; ``term`` is the master's epoch, if printed."""
    return {"term": read["from_term"], **decided(read)}


def _decision(
    request: str | None, events: Mapping[str, Mapping[str, str | None]], response: Mapping[str, str | None]
) -> dict[str, Any]:
    if elected := events.get("ElectMasterEvent"):
        return _elected(elected, response)
    if altered := events.get("AlterSyncStateSetEvent"):
        return {
            "decision": "SET_CHANGED",
            "replica_group": altered.get("brokerName"),
            "members": ids(altered.get("newSyncStateSet")),
            "sync_state_set_epoch": number(response, "newSyncStateSetEpoch"),
        }
    if applied := events.get("ApplyBrokerIdEvent"):
        return {
            "decision": "ID_APPLIED",
            **_broker_set(applied),
            "broker_id": applied.get("newBrokerId"),
            "address": applied.get("brokerAddress"),
            "register_code": applied.get("registerCheckCode"),
        }
    if moved := events.get("UpdateBrokerAddressEvent"):
        return {
            "decision": "ADDRESS_CHANGED",
            **_broker_set(moved),
            "broker_id": moved.get("brokerId"),
            "address": moved.get("brokerAddress"),
        }
    if cleaned := events.get("CleanBrokerDataEvent"):
        return {
            "decision": "IDS_CLEANED",
            "replica_group": cleaned.get("brokerName"),
            "members": ids(cleaned.get("brokerIdSetToClean")),
        }
    return _without_event(request, response)


def _elected(event: Mapping[str, str | None], response: Mapping[str, str | None]) -> dict[str, Any]:
    if "true" not in (event.get("newMasterElected"), event.get("isNewMasterElected")):
        return {"decision": "NOBODY_ELECTED", "replica_group": event.get("brokerName")}
    master = _master(response)
    if response.get("newMasterAddress") and master["sync_state_set_epoch"] is not None:
        # Up to 5.1.0 the answer bears the epoch before the election (ReplicasInfoManager#electMaster).
        master["sync_state_set_epoch"] += 1
    return {
        "decision": "ELECTED",
        "replica_group": event.get("brokerName"),
        **master,
        "node": event.get("newMasterBrokerId") or event.get("newMasterAddress"),
    }


def _without_event(request: str | None, response: Mapping[str, str | None]) -> dict[str, Any]:
    if request == "electMaster":
        master = _master(response)
        return {"decision": "MASTER_STILL_EXISTS", **master} if master["node"] else {"decision": "ELECT_REFUSED"}
    if request == "getReplicaInfo":
        return {"decision": "ANSWERED", **_master(response)}
    if request == "getNextBrokerId":
        return {
            "decision": "ID_PROPOSED",
            **_broker_set(response),
            "broker_id": response.get("nextBrokerId"),
        }
    decision = {
        "alterSyncStateSet": "SET_REFUSED",
        "applyBrokerId": "ID_REFUSED",
        "cleanBrokerData": "CLEAN_REFUSED",
        "registerSuccess": "REGISTERED",
        "registerBroker": "REGISTERED",
    }
    return {"decision": decision.get(request or "", "NONE"), **_broker_set(response)}


def _master(response: Mapping[str, str | None]) -> dict[str, Any]:
    address = response.get("masterAddress") or response.get("newMasterAddress")
    return {
        "node": response.get("masterBrokerId") or address,
        "address": address,
        "term": number(response, "masterEpoch"),
        "sync_state_set_epoch": number(response, "syncStateSetEpoch"),
    }


def _broker_set(of: Mapping[str, str | None]) -> dict[str, Any]:
    return {"cluster_name": of.get("clusterName"), "replica_group": of.get("brokerName")}


ROCKETMQ_SHAPES: Mapping[str, Shape] = {
    "ids": Shape(r".*?", ids),
    "epochs": Shape(r".*?", _epochs),
    "epoch": Shape(r"EpochEntry\{[^}]*\}|null", _one_epoch, spread=True),
    "epoch_before": Shape(r"EpochEntry\{[^}]*\}|null", _epoch_before, spread=True),
    "vote": Shape(r".*?", _vote, spread=True),
    "info": Shape(r"info\[[^\]]*\]", _info, spread=True),
    "status": Shape(r"\[[^\]]*\]", _status, spread=True),
    "transfer": Shape(r".*?", _transfer, spread=True),
    "taken": Shape(r".*?", _taken, spread=True),
    "transfer_reply": Shape(r".*?", _transfer_reply, spread=True),
    "identity": Shape(r"\w*\{[^}]*\}|null", _identity, spread=True),
    "live_address": Shape(r"\w+ \[clusterName=[^\]]*\]", _live_address, spread=True),
    "queue": Shape(_QUEUE.pattern, _queue, spread=True),
    "queues": Shape(rf"\[(?:{_QUEUE.pattern}(?:, )?)*\]", _queues, spread=True),
    "queue_data": Shape(r"QueueData \[[^\]]*\]", _queue_data, spread=True),
    "old_queue_data": Shape(r"QueueData \[[^\]]*\]", _old_queue_data, spread=True),
    "min_broker": Shape(r"\S*?", _min_broker, spread=True),
    "min_id": Shape(r"\S*?", _min_id),
    "pre_online": Shape(r"\S*BrokerPreOnlineService", words),
    "elect_request": Shape(r"\w+\{[^}]*\}", _elect_request, spread=True),
    "node_id": Shape(r"<\S*?>", _node_id, spread=True),
    "peer_id": Shape(r"\S*?", _peer_id),
    "socket": Shape(r"\S*?", _socket),
    "log_id": Shape(r"LogId \[[^\]]*\]", _log_id, spread=True),
    "leader_change": Shape(r".*?", _leader_change, spread=True),
    "self_in_group": Shape(r"\S*?", _self_in_group, spread=True),
    "canonical": Shape(r"\S+?", _canonical, spread=True),
    "marks": Shape(r"\{\S*\}", words),
    "request_code": Shape(r"\S*?", _request_code),
}
