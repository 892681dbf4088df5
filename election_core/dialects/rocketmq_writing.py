"""RocketMQ's log lines, written: the layout and the printed values that :mod:`.rocketmq_shapes` reads."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from election_core.dialects import rocketmq
from election_core.dialects.writing import Writer, members

WRITER = Writer(rocketmq.TEXTS)
_GMT_PLUS_8 = timedelta(minutes=rocketmq.GMT_PLUS_8)


def line(time_us: int, level: str, thread: str, message: str) -> str:
    """A line as every RocketMQ appender writes it: whole seconds, cut off, in GMT+8."""
    local = datetime.fromtimestamp(time_us // 1_000_000, UTC) + _GMT_PLUS_8
    return f"{local:%Y-%m-%d %H:%M:%S} {level} {thread} - {message}"


def timestamp(time_ms: int, zone_minutes: int) -> str:
    """``java.sql.Timestamp`` in the zone of the JVM: milliseconds without the zeros at their end, but for one."""
    moment = datetime.fromtimestamp(time_ms // 1000, UTC) + timedelta(minutes=zone_minutes)
    fraction = f"{time_ms % 1000:03d}".rstrip("0") or "0"
    return f"{moment:%Y-%m-%d %H:%M:%S}.{fraction}"


def vote(
    answer: str, term: int, group: str | None = None, candidate: str | None = None, voter: str | None = None
) -> str:
    """``VoteResponse``: keys in alphabetical order, nulls left out, as after a failed call."""
    of = {"code": 200, "group": group, "leaderId": candidate, "localId": candidate, "remoteId": voter}
    of |= {"term": term, "voteResult": answer}
    return json.dumps({key: value for key, value in of.items() if value is not None}, separators=(",", ":"))


def info(group: str, term: int, local: str, remote: str, leader: str) -> str:
    """``RequestOrResponse#baseInfo``."""
    return f"info[group={group},term={term},code=200,local={local},remote={remote},leader={leader}]"


def transfer(group: str, leader: str, to: str, term: int, last: int) -> str:
    """``LeadershipTransferRequest``."""
    of: dict[str, Any] = {"transferId": leader, "transfereeId": to, "takeLeadershipLedgerIndex": last, "group": group}
    of |= {"remoteId": to, "localId": leader, "code": 200, "leaderId": leader, "term": term}
    return f"LeadershipTransferRequest{{{members(of)}}}"


def transfer_reply(group: str, leader: str, to: str, term: int, code: int) -> str:
    """``LeadershipTransferResponse``."""
    of: dict[str, Any] = {"group": group, "remoteId": leader, "localId": to, "code": code, "leaderId": to, "term": term}
    return f"LeadershipTransferResponse{{{members(of)}}}"


def watermarks(term: int, marks: Iterable[tuple[str, int]]) -> str:
    """The leader's marks by term; the outer keys are not quoted."""
    inner = ",".join(f'"{peer}":{last}' for peer, last in marks)
    return f"{{{term}:{{{inner}}}}}" if inner else "{}"


def queue_data(broker_set: str, queues: int, permission: int) -> str:
    """``QueueData`` of a name server's route table."""
    of = {"readQueueNums": queues, "writeQueueNums": queues, "perm": permission, "topicSysFlag": 0}
    return f"QueueData [brokerName={broker_set}, {members(of)}]"


def live_address(cluster: str, address: str) -> str:
    """``BrokerAddrInfo``, which calls itself ``BrokerIdentityInfo``."""
    return f"BrokerIdentityInfo [clusterName={cluster}, brokerAddr={address}]"


def queue(topic: str, broker_set: str, number: int) -> str:
    """``MessageQueue``."""
    return f"MessageQueue [topic={topic}, brokerName={broker_set}, queueId={number}]"
