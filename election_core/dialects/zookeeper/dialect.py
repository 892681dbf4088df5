"""The ZooKeeper dialect: what servers of an ensemble print about elections, 3.3 to 3.9.

Layouts of a line, of log4j and logback alike::

    2026-03-01 10:00:00,123 [myid:1] - INFO  [QuorumPeer[myid=1]/0.0.0.0:2181:QuorumPeer@909] - LOOKING
    2026-03-01 10:00:00,123 - INFO  [QuorumPeer[myid=1]/0.0.0.0:2181:QuorumPeer@909] - LOOKING
    [2026-03-01 10:00:00,123] INFO LOOKING (org.apache.zookeeper.server.quorum.QuorumPeer)
    2026-03-01 10:00:00,123 INFO quorum.QuorumPeer: LOOKING

Times are local. The server's id is in ``[myid:...]``, which is often empty, or in the thread's name; without both, only
the file tells whose line it is.
"""

import re
from functools import partial
from typing import Any

from election_replay.election_core.dialects.dialect import Dialect, Record, Table, moment
from election_replay.election_core.dialects.parts import Line, event_of, parse_by, time_by
from election_replay.election_core.dialects.zookeeper.shapes import ZOOKEEPER_SHAPES
from election_replay.election_core.dialects.zookeeper.texts import EXPLAINED, REASONS, TEXTS
from election_replay.election_core.model.events import Event

STREAMS = ("zookeeper*.log*", "zookeeper*.out")
"""The files of a server: its own log, and its console as redirected by the start script."""

BEFORE = r"^[\[.]?"
"""The characters that may precede a time: the bracket of one layout, or a progress dot of the start script."""

TIME = r"(\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2})(?:[.,](\d{1,9}))?"
LEVEL = "(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)"
RECORD_START = (
    BEFORE + r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:\]| \[myid:[^\]]*\] -| -)?"
    " (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
)

TABLE = Table(TEXTS, ZOOKEEPER_SHAPES, before="")
REASON_TABLE = Table(REASONS, ZOOKEEPER_SHAPES, before="")

_OWN_LAYOUT = re.compile(
    rf"{BEFORE}{TIME}(?: \[myid:([^\]]*)\])? - {LEVEL} +\[(.*?):([\w.$]+)@\d+\](?:\[[^\]]*\])? - ?(.*)",
    re.DOTALL | re.ASCII,
)
_BRACKETED = re.compile(
    rf"{BEFORE}{TIME}\] {LEVEL} (.*) \((org\.apache\.zookeeper[\w.$]+)\)(?: \[(.{{0,200}})\])?\s*\Z",
    re.DOTALL | re.ASCII,
)
_COMPACT = re.compile(rf"{BEFORE}{TIME} {LEVEL} ([\w.$]+): (.*)", re.DOTALL | re.ASCII)
_TIME = re.compile(BEFORE + TIME, re.ASCII)
_ID = re.compile(r"(?:QuorumPeer|WorkerReceiver|WorkerSender|QuorumConnectionThread-)\[(?:myid=)?(\d{1,19})\]")
_EXCEPTION = re.compile(r"(?:Caused by: )?([\w.$]+(?:Exception|Error)(?:: (?:shutdown Leader! reason: )?(.*))?)")


def parse_line(line: Line, record: Record) -> Event | None:
    """Return the event of a line in any layout. Raises :class:`Unparsable` for a known text with an impossible value.
    Solr puts the first line of an exception after a message: ``Exception when following the leader => java.io...``."""
    before, _, exception = line.message.rpartition(" => ")
    if before and _EXCEPTION.match(exception):
        line, record = line._replace(message=before), record._replace(continuation=(exception, *record.continuation))

    def more(kind: str, columns: dict[str, Any]) -> dict[str, Any]:
        reason = _reason(columns.get("result"), record.continuation) if kind in EXPLAINED else {}
        return {"node": _node(line), **columns, **reason}

    return event_of(TABLE, line, record, (line.logger or "").rpartition(".")[2], more)


def line_of(text: str) -> Line | None:
    """Return the parts of a line, or None if it has none of ZooKeeper's own layouts."""
    thread: str | None
    if found := _OWN_LAYOUT.match(text):
        time, fraction, myid, level, thread, name, message = found.groups()
    elif found := _BRACKETED.match(text):
        time, fraction, level, message, name, thread = found.groups()
        myid = None
    elif found := _COMPACT.match(text):
        time, fraction, level, name, message = found.groups()
        myid = thread = None
    else:
        return None
    return Line(partial(moment, time, fraction), level, thread, name, myid, message.rstrip())


def _node(line: Line) -> str | None:
    if line.node:
        return line.node
    found = _ID.search(line.thread or "")
    return found.group(1) if found else None


def _reason(result: str | None, continuation: tuple[str, ...]) -> dict[str, Any]:
    """Return why a role ended: by the line, by a known exception after it, or else by the first exception."""
    exceptions = [found for line in continuation if (found := _EXCEPTION.match(line.rstrip()))]
    for message in [result] if result else [line.group(2) or "" for line in exceptions]:
        for pattern in REASON_TABLE.candidates(message):
            columns = pattern.read(message, "", "")
            if columns is not None:
                return {"decision": pattern.text.kind, "result": message, **columns}
    return {"result": exceptions[0].group(1)} if exceptions and not result else {}


ZOOKEEPER = Dialect(
    name="zookeeper",
    record_start=RECORD_START,
    needles=TABLE.needles(),
    utc_offset_minutes=0,
    parse=parse_by(line_of, parse_line),
    time_of=time_by(_TIME),
    parse_line=parse_line,
    reads=lambda text: line_of(text) is not None,
    anchors=TABLE.anchors(),
    telling=TABLE.telling(),
    by_class=True,
)
