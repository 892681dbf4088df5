"""Envelopes that are JSON objects, one per line: of shippers, container engines and log stores.

An object's shape is recognised by fields that only this shape has; the first shape that fits counts. A new shape is a
row here, with its names for the line, the node, the process and the file.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from election_replay.election_core.envelopes.model import Broken, Envelope, Opened, instant
from election_replay.election_core.model import digits

LONGEST = 256 << 10
"""Longer lines, in characters, are not parsed."""

DOCKER_PIECE = (16 << 10) - 3
"""The least length of a piece in bytes: 16 KiB, less the missing bytes of a character that was cut."""

Found = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """The fields of one kind of object; dots lead into nested objects, and the first field with a value counts. An
    object has this shape if it has all of ``marks`` and one of ``text``. ``partial`` recognises a piece of a line."""

    name: str
    text: tuple[str, ...]
    marks: tuple[str, ...] = ()
    node: tuple[str, ...] = ()
    program: tuple[str, ...] = ()
    file: tuple[str, ...] = ()
    time: tuple[str, ...] = ()
    partial: Callable[[Found, str], bool] = lambda _found, _text: False


def without_end(_found: Found, text: str) -> bool:
    """Return True for a piece: Docker cuts long lines into pieces of 16 KiB, of which only the last has a line end.
    Programs that rewrite such files often drop all line ends, so a piece must have that length too."""
    return not text.endswith("\n") and len(text.encode("utf-8", "replace")) >= DOCKER_PIECE


def cri_piece(found: Found, _text: str) -> bool:
    """Return True for a piece: Fluent Bit keeps the container runtime's tag as ``logtag``, Fluentd as ``logtag`` or
    ``flags``."""
    return found.get("logtag") == "P" or found.get("flags") == "P"


def docker_piece(found: Found, _text: str) -> bool:
    """Return True for a piece: Docker's journald driver marks all pieces of a line but the last."""
    return found.get("CONTAINER_PARTIAL_MESSAGE") == "true"


POD = ("kubernetes.pod.name", "kubernetes.pod_name")
CONTAINER = ("kubernetes.container.name", "kubernetes.container_name")

SHAPES = (
    Shape(
        "journal json",
        ("MESSAGE",),
        ("__REALTIME_TIMESTAMP",),
        node=("CONTAINER_NAME", "_HOSTNAME"),
        program=("CONTAINER_NAME", "SYSLOG_IDENTIFIER", "_SYSTEMD_UNIT", "_COMM"),
        time=("_SOURCE_REALTIME_TIMESTAMP", "__REALTIME_TIMESTAMP"),
        partial=docker_piece,
    ),
    Shape(
        "filebeat",
        ("message",),
        ("@timestamp", "log.file.path"),
        node=(*POD, "container.name", "host.name", "host.hostname", "agent.hostname", "agent.name", "host"),
        program=(*CONTAINER, "container.name"),
        file=("log.file.path",),
        time=("@timestamp",),
    ),
    Shape(  # before 7.0
        "filebeat",
        ("message",),
        ("@timestamp", "source", "beat.hostname"),
        node=(*POD, "docker.container.name", "host.name", "beat.hostname"),
        program=(*CONTAINER, "docker.container.name"),
        file=("source",),
        time=("@timestamp",),
    ),
    Shape(  # inputs without a file: containers, syslog, journald
        "filebeat",
        ("message",),
        ("@timestamp", "agent.type"),
        node=(*POD, "container.name", "host.name", "host.hostname", "agent.hostname", "agent.name"),
        program=(*CONTAINER, "container.name", "process.name", "syslog.appname"),
        time=("@timestamp",),
    ),
    Shape(
        "kubernetes",  # Fluent Bit and Fluentd with their kubernetes filter
        ("log", "message", "MESSAGE"),
        ("kubernetes.pod_name",),
        node=("kubernetes.pod_name",),
        program=("kubernetes.container_name",),
        time=("time", "@timestamp", "timestamp", "date"),
        partial=cri_piece,
    ),
    Shape(
        "docker",
        ("log",),
        ("stream", "time"),
        node=("attrs.name", "attrs.tag", "container_name", "host", "hostname"),
        program=("container_name",),
        file=("file", "filename", "path"),
        time=("time",),
        partial=without_end,
    ),
    Shape(
        "vector",
        ("message",),
        ("source_type",),
        node=("kubernetes.pod_name", "container_name", "host", "hostname"),
        program=("kubernetes.container_name", "container_name", "appname", "SYSLOG_IDENTIFIER", "_SYSTEMD_UNIT"),
        file=("file",),
        time=("timestamp",),
    ),
    Shape(
        "loki",
        ("line",),
        ("labels",),
        node=tuple(f"labels.{name}" for name in ("pod", "container_name", "host", "hostname", "node_name", "nodename",
                                                 "instance")),
        program=tuple(f"labels.{name}" for name in ("container", "unit", "app", "service_name")),
        file=("labels.filename",),
        time=("timestamp", "ts"),
    ),
    Shape("promtail pack", ("_entry",), node=("pod", "host", "hostname", "instance"), program=("container",)),
    Shape(
        "gcp",
        ("textPayload", "jsonPayload.message", "jsonPayload.MESSAGE", "jsonPayload.log", "jsonPayload"),
        ("logName",),
        node=(
            "resource.labels.pod_name", "labels.compute.googleapis.com/resource_name", "jsonPayload._HOSTNAME",
            "jsonPayload.host", "resource.labels.instance_id",
        ),
        program=("resource.labels.container_name",),
        time=("timestamp",),
    ),
    Shape(
        "cloudwatch",
        ("message",),
        ("logStreamName",),
        node=("logStreamName",),
        time=("timestamp",),
    ),
    Shape("cloudwatch", ("@message",), node=("@logStream", "@entity.KeyAttributes.Name"), time=("@timestamp",)),
    Shape(
        "logstash",
        ("message",),
        ("@timestamp", "@version"),
        node=(*POD, "container.name", "host.name", "host.hostname", "host", "hostname"),
        program=(*CONTAINER, "container.name", "program", "process.name"),
        file=("log.file.path", "path", "file"),
        time=("@timestamp",),
    ),
    Shape(
        "stern json",
        ("message",),
        ("podName", "containerName"),
        node=("podName",),
        program=("containerName",),
    ),
    Shape(  # rsyslog's %jsonmesg%
        "rsyslog json",
        ("msg",),
        ("rawmsg", "syslogtag"),
        node=("hostname",),
        program=("programname", "app-name"),
        time=("timereported",),
    ),
    Shape("splunk", ("_raw",), node=("host",), file=("source",), time=("_time",)),
    Shape(  # Vector's and Fluent Bit's tail of a file, and whoever names the file beside the line
        "file and line",
        ("message", "log", "line"),
        ("file",),
        node=("host", "hostname", "node", "pod", "container_name"),
        program=("container_name", "program", "tag"),
        file=("file",),
        time=("timestamp", "@timestamp", "time", "date", "ts"),
    ),
    Shape(
        "json",
        (
            *("message", "log", "MESSAGE", "line", "body", "short_message", "text", "event"),
            *("content.message", "LogMessage", "LogEntry", "_msg", "output"),
        ),
        node=(
            *(*POD, "pod_name", "pod", "PodName", "container_name", "_container_name", "host.name", "hostname", "host"),
            *("node", "_HOSTNAME", "instance", "content.host"),
        ),
        program=("container_name", "container", "program", "ident", "SYSLOG_IDENTIFIER", "appname", "tag"),
        file=("filename", "path", "filepath", "tailed_path", "log.file.path"),
        time=("timestamp", "@timestamp", "time", "date", "ts", "TimeGenerated", "_time", "content.timestamp"),
        partial=cri_piece,
    ),
)  # fmt: skip
"""All shapes; the last one is any object with a text under a usual name, and counts only with a known line inside."""

LOOSE = "json"
_OF_LINES = frozenset({"msg", "kind", "logger_name", "loggerName"})
"""Fields of log lines that are JSON themselves: etcd's logger, canonical events, Java's JSON layouts."""
_HASHICORP = frozenset({"@level", "@message", "@timestamp"})
"""The fields of a line of HashiCorp's logger; CloudWatch uses some of the same names."""


def parsed(line: str) -> Any:
    """Return the value of a line of JSON. Raises :class:`Broken` if it is not JSON, too long or nested too deeply."""
    if len(line) > LONGEST:
        raise Broken(f"a line of {len(line)} characters, longer than {LONGEST}")
    try:
        return json.loads(line)
    except RecursionError:
        raise Broken("not JSON: too many levels") from None
    except ValueError as error:
        raise Broken(f"not JSON: {error}") from None


def opened(found: Any, names: tuple[str, ...] = ()) -> tuple[str, Opened] | None:
    """Return an object's shape and content, or None if it has none of the shapes ``names`` (empty: any shape). Raises
    :class:`Broken` for an envelope that holds several lines, and for half a surrogate pair."""
    if isinstance(found, dict) and isinstance(found.get("_source"), dict):  # a hit of an Elasticsearch search
        found = found["_source"]
    if isinstance(found, dict) and isinstance(found.get("result"), dict) and "_raw" in found["result"]:
        found = found["result"]
    if not isinstance(found, dict) or found.keys() >= _HASHICORP:
        return None
    if isinstance(events := found.get("logEvents"), list):
        if len(events) != 1 or not isinstance(events[0], dict):
            raise Broken(f"holds {len(events)} lines in one: write each of its logEvents on a line of its own")
        found = {**events[0], "logStreamName": found.get("logStream")}
    for shape in SHAPES:
        if names and shape.name not in names:
            continue
        if shape.name == LOOSE and found.keys() & _OF_LINES:
            continue
        if all(at(found, mark) is not None for mark in shape.marks) and (text := _text(found, shape)) is not None:
            return shape.name, _opened(found, shape, text)
    return None


def _opened(found: Found, shape: Shape, text: str) -> Opened:
    offset = found.get("utc_offset_minutes")
    if offset is not None and (type(offset) is not int or abs(offset) > 18 * 60):
        raise Broken("utc_offset_minutes: there is no such zone")
    node, program, file = (_first(found, places) for places in (shape.node, shape.program, shape.file))
    for value in (text, node or "", program or "", file or ""):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise Broken(f"half a character: {error}") from None
    return Opened(
        text=text.rstrip("\r\n"),
        node=node.lstrip("/") if node else None,
        program=program.lstrip("/") if program else None,
        file=file,
        channel=channel if isinstance(channel := found.get("stream"), str) else None,
        time=next((time for place in shape.time if (time := time_of(at(found, place))) is not None), None),
        partial=shape.partial(found, text),
        utc_offset_minutes=offset,
    )


def _text(found: Found, shape: Shape) -> str | None:
    """Return the line inside, or None. journald writes a text with unprintable characters as a list of its bytes."""
    for place in shape.text:
        value = at(found, place)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(type(byte) is int and 0 <= byte < 256 for byte in value):
            return bytes(value).decode("utf-8", "replace")
        if isinstance(value, dict):  # a line of JSON that was parsed on its way
            return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if "msg" in value else None
    return None


def _first(found: Found, places: tuple[str, ...]) -> str | None:
    return next((value for place in places if isinstance(value := at(found, place), str) and value), None)


def at(found: Found, path: str) -> Any:
    """Return the value at the end of ``path``, or None: of a field with that very name, or of nested fields."""
    if path in found:
        return found[path]
    name, _, rest = path.partition(".")
    while rest:
        inner = found.get(name)
        if isinstance(inner, dict):
            return at(inner, rest)
        more, _, rest = rest.partition(".")
        name = f"{name}.{more}"
    return None


def time_of(value: Any) -> int | None:
    """Return the us UTC of a text with a zone, or of a number since 1970, whose size shows its unit; None for
    neither."""
    if isinstance(value, str):
        printed = digits.number(value)
        return instant(value) if printed is None else _since_1970(printed)
    return _since_1970(value) if type(value) in (int, float) else None


def _since_1970(value: float) -> int | None:
    for limit, per_second in ((10**11, 1), (10**14, 10**3), (10**17, 10**6), (10**20, 10**9)):
        if 10**8 <= value < limit:
            return int(value * 1_000_000 // per_second)
    return None


def _opens(line: str, name: str) -> Opened | None:
    if not line.startswith("{"):
        return None
    found = opened(parsed(line), (name,))
    return found and found[1]


OBJECTS = tuple(
    Envelope(name, partial(_opens, name=name), loose=name == LOOSE, whole=True)
    for name in dict.fromkeys(shape.name for shape in SHAPES)
)
"""Every shape as an envelope of one line."""
