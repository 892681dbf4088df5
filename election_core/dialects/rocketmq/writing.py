"""Writing RocketMQ's log lines: the layout and the printed values that :mod:`.shapes` reads."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from election_replay.election_core.dialects.rocketmq import dialect as rocketmq
from election_replay.election_core.dialects.rocketmq.shapes import OPEN_END
from election_replay.election_core.dialects.writing import Writer, members, printed

WRITER = Writer(rocketmq.TEXTS)
_GMT_PLUS_8 = timedelta(minutes=rocketmq.GMT_PLUS_8)


def line(time_us: int, level: str, thread: str, message: str) -> str:
    """Return a line as every RocketMQ appender writes it: time in GMT+8, truncated to whole seconds."""
    local = datetime.fromtimestamp(time_us // 1_000_000, UTC) + _GMT_PLUS_8
    return f"{local:%Y-%m-%d %H:%M:%S} {level} {thread} - {message}"


def file(stream: str, part: int) -> str:
    """Return the path of a log below its node's folder, as logback's fixed window has it: older parts are packed away
    as ``otherdays/<name>.<N>.log.gz``."""
    folder = "logs/rocketmqlogs"
    return f"{folder}/otherdays/{stream.removesuffix('.log')}.{part}.log.gz" if part else f"{folder}/{stream}"


def timestamp(time_ms: int, zone_minutes: int) -> str:
    """Return a ``java.sql.Timestamp`` in the JVM's zone: ms without trailing zeros, but at least one digit."""
    moment = datetime.fromtimestamp(time_ms // 1000, UTC) + timedelta(minutes=zone_minutes)
    fraction = f"{time_ms % 1000:03d}".rstrip("0") or "0"
    return f"{moment:%Y-%m-%d %H:%M:%S}.{fraction}"


def vote(
    answer: str, term: int, group: str | None = None, candidate: str | None = None, voter: str | None = None
) -> str:
    """Return a ``VoteResponse``: keys in alphabetical order, nulls left out, as after a failed call."""
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
    """Return the leader's watermarks by term; the outer keys have no quotes."""
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


# -- the controller mode --------------------------------------------------------------------------------------------


def ids(members: Iterable[int]) -> str:
    """Return a set of broker ids, as Java prints it."""
    return f"[{', '.join(str(member) for member in members)}]"


def epoch_entry(epoch: int, start: int, end: int | None = None) -> str:
    """Return an ``EpochEntry``; the present epoch has the largest possible end."""
    return f"EpochEntry{{epoch={epoch}, startOffset={start}, endOffset={OPEN_END if end is None else end}}}"


def epoch_entries(entries: Iterable[tuple[int, int, int | None]]) -> str:
    """Return a list of ``EpochEntry``, as Java prints it."""
    return f"[{', '.join(epoch_entry(*entry) for entry in entries)}]"


def bean(name: str, of: Mapping[str, Any]) -> str:
    """Return the ``toString`` of an event or a header of the controller; a null text keeps its quotes."""
    return f"{name}{{{members({key: ids(value) if isinstance(value, tuple) else value for key, value in of.items()})}}}"


def controller_result(events: Iterable[str], response: str | None) -> str:
    """Return a ``ControllerResult``, without its body and code."""
    return f"ControllerResult{{events=[{', '.join(events)}], response={printed(response)}}}"


def refused(code: int, remark: str) -> str:
    """Return the exception after the line of a refused request; only it contains the code."""
    return (
        f"org.apache.rocketmq.client.exception.MQBrokerException: CODE: {code}  DESC: {remark}\n"
        "For more information, please visit the url, https://rocketmq.apache.org/docs/bestPractice/06FAQ\n"
        "\tat org.apache.rocketmq.broker.out.BrokerOuterAPI"
    )


def unanswered(address: str, timeout_ms: int) -> str:
    """Return the exception after the line of a request without answer."""
    return (
        "org.apache.rocketmq.remoting.exception.RemotingTimeoutException: wait response on the channel "
        f"</{address}> timeout, {timeout_ms}(ms)\n"
        "\tat org.apache.rocketmq.remoting.netty.NettyRemotingAbstract.invokeSyncImpl(NettyRemotingAbstract.java:507)"
    )


# -- metadata files: as fastjson prints them, with numbers as keys ----------------------------------------------------


def _file(version: tuple[int, int, int], name: str, entries: Iterable[str]) -> str:
    """Return a file with a DataVersion (state version, timestamp, counter) and one table."""
    state, timestamp, counter = version
    head = (
        f'\t"dataVersion":{{\n\t\t"counter":{counter},\n\t\t"stateVersion":{state},\n\t\t"timestamp":{timestamp}\n\t}}'
    )
    body = ",\n".join(entries)
    table = f'\t"{name}":{{\n{body}\n\t}}' if body else f'\t"{name}":{{}}'
    return f"{{\n{head},\n{table}\n}}"


def consumer_offset_file(version: tuple[int, int, int], of: Mapping[tuple[str, str], Mapping[int, int]]) -> str:
    """Return ``consumerOffset.json``: the next message of each queue, by topic and group."""
    entries = (
        f'\t\t"{topic}@{group}":{{{",".join(f"{queue}:{offset}" for queue, offset in sorted(queues.items()))}\n\t\t}}'
        for (topic, group), queues in sorted(of.items())
    )
    return _file(version, "offsetTable", entries)


def delay_offset_file(version: tuple[int, int, int], of: Mapping[int, int]) -> str:
    """Return ``delayOffset.json``: the next message of each delay level."""
    return _file(version, "offsetTable", (f"\t\t{level}:{offset}" for level, offset in sorted(of.items())))


def topic_file(version: tuple[int, int, int], names: Iterable[str]) -> str:
    """``topics.json``."""
    of = {"order": False, "perm": 6, "readQueueNums": 4, "topicSysFlag": 0, "writeQueueNums": 4}
    return _file(version, "topicConfigTable", (_named(name, {**of, "topicName": name}) for name in names))


def group_file(version: tuple[int, int, int], names: Iterable[str]) -> str:
    """``subscriptionGroup.json``."""
    of = {"brokerId": 0, "consumeEnable": True, "retryMaxTimes": 16, "retryQueueNums": 1}
    return _file(version, "subscriptionGroupTable", (_named(name, {**of, "groupName": name}) for name in names))


def _named(name: str, of: Mapping[str, Any]) -> str:
    inner = ",\n".join(f'\t\t\t"{key}":{json.dumps(of[key])}' for key in sorted(of))
    return f'\t\t"{name}":{{\n{inner}\n\t\t}}'
