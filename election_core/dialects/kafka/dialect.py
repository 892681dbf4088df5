"""The Kafka dialect: what controllers and brokers in KRaft mode print, 3.3 to 4.3.

Layout of a line, of log4j 1 and 2 alike; Confluent and Strimzi write the thread behind the logger::

    [2026-03-01 10:00:00,123] INFO [RaftManager id=1] Completed transition to ... (org.apache.kafka.raft.QuorumState)

Times are local. Most lines contain the node's id.
"""

import re
from functools import partial
from typing import Any

from election_replay.election_core.dialects.dialect import Dialect, Record, Table, integer, moment
from election_replay.election_core.dialects.kafka.shapes import KAFKA_SHAPES, ids
from election_replay.election_core.dialects.kafka.texts import TEXTS
from election_replay.election_core.dialects.parts import Line, event_of, parse_by, time_by
from election_replay.election_core.model.events import Event

TIME = r"(\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2})(?:[.,](\d{1,9}))?"
LEVEL = "(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)"
RECORD_START = r"^\[\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\] (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "

TABLE = Table(TEXTS, KAFKA_SHAPES, before="")

_LINE = re.compile(
    rf"\[{TIME}\] {LEVEL} +(.*?)(?: \(([\w.$]{{1,200}})\)(?: \[([^\]]{{0,200}})\])?)?\s*\Z", re.DOTALL | re.ASCII
)
_TIME = re.compile(rf"\[{TIME}\]", re.ASCII)
_FEW_IN_SYNC = re.compile(
    r"(?:org\.apache\.kafka\.common\.errors\.)?NotEnoughReplicasException: The size of the current ISR "
    r"(?P<isr>\S.{0,300}?) is insufficient to satisfy the min\.isr requirement of (?P<needed>\d{1,10}) for partition "
    r"[^\s,]{1,300}(?:, live replica\(s\) broker\.id are : (?P<live>\S.{0,300}))?",
    re.ASCII,
)
"""``Partition#appendRecordsToLeader``: the in-sync replicas, or from 3.9 on their number, and then they themselves;
``ReplicaManager#appendRecordsToLocalLog`` prints it after its own line."""
_OF_ZOOKEEPER = "org.apache.zookeeper."

FORMER = (("[RaftManager nodeId=", "[RaftManager id="), ("[Controller ", "[QuorumController id="))
"""Former and present prefixes of two components, renamed after 3.3 and after 3.4."""


def parse_line(line: Line, record: Record) -> Event | None:
    """Return the event of a line in any layout. Raises :class:`Unparsable` for a known text with an impossible
    value."""

    def more(kind: str, columns: dict[str, Any]) -> dict[str, Any] | None:
        return _refused(columns, record.continuation) if kind == "KAFKA_FEW_IN_SYNC" else columns

    return event_of(TABLE, line._replace(message=_as_now(line.message)), record, line.thread or "", more)


def _refused(columns: dict[str, Any], continuation: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the columns of a refused write, with the in-sync replicas and the needed number; None if it failed for
    another reason. From 4.1 on the topic's id stands before the partition."""
    found = next((found for line in continuation if (found := _FEW_IN_SYNC.match(line))), None)
    if found is None:
        return None
    members, topic = ids((found["live"] or found["isr"]).rstrip()), str(columns["topic"]).rpartition(":")[2]
    return columns | {"topic": topic, "members": members, "count": integer(found["needed"])}


def _as_now(message: str) -> str:
    """Return a message with the present name of its component."""
    for former, now in FORMER:
        if message.startswith(former):
            return now + message.removeprefix(former)
    return message


def line_of(text: str) -> Line | None:
    """Return the parts of a line, or None if it has another layout."""
    found = _LINE.match(text)
    if found is None:
        return None
    time, fraction, level, message, logger, thread = found.groups()
    return Line(partial(moment, time, fraction), level, thread, logger, None, message.rstrip())


def reads(text: str) -> bool:
    """Return True when a line has Kafka's own layout and is not of the ZooKeeper server in a Kafka release."""
    line = line_of(text)
    return line is not None and not (line.logger or "").startswith(_OF_ZOOKEEPER)


KAFKA = Dialect(
    name="kafka",
    record_start=RECORD_START,
    needles=(*TABLE.needles(), *(former for former, _ in FORMER)),
    utc_offset_minutes=0,
    parse=parse_by(line_of, parse_line),
    time_of=time_by(_TIME),
    parse_line=parse_line,
    reads=reads,
    anchors=(*TABLE.anchors(), *(former for former, _ in FORMER)),
)
