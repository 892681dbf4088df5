"""The RocketMQ dialect: all texts of brokers, controllers and name servers, from 4.5 to 5.5.

Layout of a line: ``2026-03-01 10:00:07 INFO StateMaintainer - [n1] [ChangeRoleToCandidate] ...``; whole seconds,
always GMT+8 whatever the zone of the machine, unless an operator edited the logging configuration.
"""

import re
from functools import partial
from typing import Any

from election_replay.election_core.dialects.dialect import Dialect, Record, Table, integer, moment
from election_replay.election_core.dialects.parts import Line, event_of, parse_by, time_by
from election_replay.election_core.dialects.rocketmq import broker as rocketmq_broker
from election_replay.election_core.dialects.rocketmq import controller as rocketmq_controller
from election_replay.election_core.dialects.rocketmq import dledger as rocketmq_dledger
from election_replay.election_core.dialects.rocketmq import jraft as rocketmq_jraft
from election_replay.election_core.dialects.rocketmq import lock as rocketmq_lock
from election_replay.election_core.dialects.rocketmq import nameserver as rocketmq_nameserver
from election_replay.election_core.dialects.rocketmq import process as rocketmq_process
from election_replay.election_core.dialects.rocketmq import store as rocketmq_store
from election_replay.election_core.dialects.rocketmq import writes as rocketmq_writes
from election_replay.election_core.dialects.rocketmq.shapes import ROCKETMQ_SHAPES
from election_replay.election_core.model.events import Event

GMT_PLUS_8 = 480
TIME = r"(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})(?:[.,](\d{1,9}))?"
RECORD_START = r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})? (?:TRACE|DEBUG|INFO|WARN|ERROR) "

STREAMS = frozenset(
    f"{name}.log"
    for name in (
        *("broker", "broker_default", "store", "storeerror", "remoting", "transaction", "lock", "filter"),
        *("controller", "controller_default", "dledger", "jraft", "namesrv", "namesrv_default"),
        *("proxy", "broker_container"),
    )
)
"""The files with lines about leadership, without suffixes of rolling and compression."""

TEXTS = (
    *rocketmq_dledger.TEXTS,
    *rocketmq_controller.TEXTS,
    *rocketmq_jraft.TEXTS,
    *rocketmq_broker.TEXTS,
    *rocketmq_store.TEXTS,
    *rocketmq_lock.TEXTS,
    *rocketmq_nameserver.TEXTS,
    *rocketmq_process.TEXTS,
    *rocketmq_writes.TEXTS,
)
TABLE = Table(TEXTS, ROCKETMQ_SHAPES)

_LINE = re.compile(TIME + r" (TRACE|DEBUG|INFO|WARN|ERROR) (.+?) - (.*)", re.DOTALL | re.ASCII)
_TIME = re.compile(TIME, re.ASCII)
_CODE = re.compile(r"CODE: (\d+)  DESC: (.*?)(?: BROKER: (\S+))?$")
_DLEDGER_CODE = re.compile(r"DLedgerException: \[code=(\d+),name=(\w+)")


def line_of(text: str) -> Line | None:
    """Return the parts of a line, or None if it has another layout."""
    found = _LINE.match(text)
    if found is None:
        return None
    time, fraction, level, thread, message = found.groups()
    return Line(partial(moment, time, fraction), level, thread, None, None, message.rstrip())


def reads(text: str) -> bool:
    """Return True when a line has RocketMQ's own layout."""
    found = _LINE.match(text)
    return found is not None and not found.group(4).startswith((" ", "["))


def parse_line(line: Line, record: Record) -> Event | None:
    """Return the event of a line in any layout. Raises :class:`Unparsable` for a known text with an impossible
    value."""

    def more(_kind: str, columns: dict[str, Any]) -> dict[str, Any]:
        return _answered(record.continuation) | columns

    return event_of(TABLE, line, record, line.thread or "", more if record.continuation else None)


def _answered(continuation: tuple[str, ...]) -> dict[str, int | str | None]:
    """Return the code and text of a refusal, which only the exception after the line contains."""
    for line in continuation:
        if found := _CODE.search(line) or _DLEDGER_CODE.search(line):
            return {"code": integer(found.group(1)), "result": found.group(2)}
    return {}


ROCKETMQ = Dialect(
    name="rocketmq",
    record_start=RECORD_START,
    needles=TABLE.needles(),
    utc_offset_minutes=GMT_PLUS_8,
    parse=parse_by(line_of, parse_line),
    time_of=time_by(_TIME),
    parse_line=parse_line,
    reads=reads,
    anchors=TABLE.anchors(),
    telling=TABLE.telling(),
)
