"""Writes the lines of a log as shippers, container engines, syslog and people's tools write them."""

import json
import random
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

BEGIN = datetime(2026, 3, 1, 10, 0, 0, 123456, tzinfo=UTC)
"""When the first line is taken over; each further one a millisecond later. No line's own time is near to it."""

NODE = "n1"
PROGRAM = "java"


@dataclass(frozen=True, slots=True)
class Said:
    """A line, when it was taken over, and the node and the path of its file."""

    line: str
    at: datetime
    node: str
    file: str


Shipper = Callable[[Said], str]
"""Writes a line into one line with an envelope."""


def rfc3339(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S.%f}789Z"


def micros(at: datetime) -> int:
    return round(at.timestamp() * 1_000_000)


def as_json(found: object) -> str:
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def _journal(line: str, at: datetime, node: str) -> dict[str, object]:
    return {
        "__CURSOR": f"s=abc;i={micros(at):x}",
        "__REALTIME_TIMESTAMP": str(micros(at)),
        "_BOOT_ID": "2f1e",
        "PRIORITY": "6",
        "SYSLOG_IDENTIFIER": PROGRAM,
        "MESSAGE": line,
        "_PID": "812",
        "_HOSTNAME": node,
        "_SYSTEMD_UNIT": "a.service",
    }


def _ecs(line: str, at: datetime, node: str, file: str) -> dict[str, object]:
    return {
        "@timestamp": f"{at:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z",
        "@metadata": {"beat": "filebeat", "type": "_doc", "version": "8.17.0"},
        "log": {"offset": 17, "file": {"path": file}},
        "message": line,
        "input": {"type": "filestream"},
        "host": {"name": node},
        "agent": {"type": "filebeat", "name": "shipper-7"},
        "ecs": {"version": "8.0.0"},
    }


def _flat(found: dict[str, object], path: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in found.items():
        flat |= _flat(value, f"{path}{name}.") if isinstance(value, dict) else {f"{path}{name}": value}
    return flat


def _kubernetes(node: str) -> dict[str, str]:
    return {"pod_name": node, "namespace_name": "prod", "container_name": "main", "host": "worker-3"}


SHIPPERS: dict[str, Shipper] = {
    "cri": lambda it: f"{rfc3339(it.at)} stdout F {it.line}",
    "kubectl time stamps": lambda it: f"{rfc3339(it.at)} {it.line}",
    "kubectl prefix": lambda it: f"[pod/{it.node}/main] {it.line}",
    "kubectl prefix and time stamps": lambda it: f"[pod/{it.node}/main] {rfc3339(it.at)} {it.line}",
    "compose": lambda it: f"{it.node}  | {it.line}",
    "compose of version 1": lambda it: f"\x1b[36m{it.node}     |\x1b[0m {it.line}",
    "compose with time stamps": lambda it: f"{it.node}  | {rfc3339(it.at)} {it.line}",
    "columns": lambda it: f"worker-3\t{it.node}\t{rfc3339(it.at)}\t{it.line}",
    "stern": lambda it: f"{it.node} main {it.line}",
    "stern of namespaces": lambda it: f"prod {it.node} main {it.line}",
    "stern in colour": lambda it: f"\x1b[38;5;2m{it.node}\x1b[0m \x1b[38;5;3mmain\x1b[0m {it.line}",
    "stern json": lambda it: as_json(
        {"message": it.line, "nodeName": "worker-3", "namespace": "prod", "podName": it.node, "containerName": "main"}
    ),
    "syslog 3164": lambda it: f"<14>{it.at:%b} {it.at.day:2} {it.at:%H:%M:%S} {it.node} {PROGRAM}[812]: {it.line}",
    "syslog 3164 in a file": lambda it: f"{it.at:%b} {it.at.day:2} {it.at:%H:%M:%S} {it.node} {PROGRAM}: {it.line}",
    "syslog 5424": lambda it: (
        f'<14>1 {it.at:%Y-%m-%dT%H:%M:%S.%f}Z {it.node} {PROGRAM} 812 - [a@1 b="c\\]"] {it.line}'
    ),
    "rsyslog": lambda it: (
        f"{it.at:%Y-%m-%dT%H:%M:%S.%f}+00:00 {it.node} {PROGRAM}[812]: " + it.line.replace("\t", "#011")
    ),
    "journal short": lambda it: f"{it.at:%b %d %H:%M:%S} {it.node} {PROGRAM}[812]: {it.line}",
    "journal short precise": lambda it: f"{it.at:%b %d %H:%M:%S.%f} {it.node} {PROGRAM}[812]: {it.line}",
    "journal short iso": lambda it: f"{it.at:%Y-%m-%dT%H:%M:%S}+0000 {it.node} {PROGRAM}[812]: {it.line}",
    "journal short iso precise": lambda it: (
        f"{it.at:%Y-%m-%dT%H:%M:%S.%f}+00:00 {it.node} {PROGRAM}[812]: {it.line}"
    ),
    "journal short full": lambda it: f"{it.at:%a %Y-%m-%d %H:%M:%S} UTC {it.node} {PROGRAM}[812]: {it.line}",
    "journal short unix": lambda it: f"{it.at.timestamp():.6f} {it.node} {PROGRAM}[812]: {it.line}",
    "journal json": lambda it: as_json(_journal(it.line, it.at, it.node)),
    "journal json of bytes": lambda it: as_json(
        _journal(it.line, it.at, it.node) | {"MESSAGE": list(it.line.encode())}
    ),
    "host and colon": lambda it: f"{it.node}: {it.line}",
    "host in brackets": lambda it: f"[{it.node}] {it.line}",
    "grep": lambda it: f"{it.file.rpartition('/')[2]}:{it.line}",
    "grep -n": lambda it: f"{it.file.rpartition('/')[2]}:17:{it.line}",
    "colours": lambda it: f"\x1b[32m{it.line}\x1b[0m",
    "docker json-file": lambda it: as_json(
        {"log": f"{it.line}\n", "stream": "stdout", "time": rfc3339(it.at)}
    ),
    "filebeat": lambda it: as_json(_ecs(it.line, it.at, it.node, it.file)),
    "filebeat flat": lambda it: as_json(_flat(_ecs(it.line, it.at, it.node, it.file))),
    "filebeat out of elasticsearch": lambda it: as_json(
        {"_index": "logs-1", "_id": "x", "_source": _ecs(it.line, it.at, it.node, it.file)}
    ),
    "filebeat 6": lambda it: as_json(
        {"@timestamp": rfc3339(it.at), "beat": {"hostname": it.node, "name": it.node}, "source": it.file}
        | {"message": it.line}
    ),
    "filebeat of a pod": lambda it: as_json(
        _ecs(it.line, it.at, "worker-3", "/var/log/containers/x.log")
        | {"kubernetes": {"pod": {"name": it.node}, "container": {"name": "main"}, "namespace": "prod"}}
        | {"log": {"offset": 1}}
    ),
    "fluent bit": lambda it: as_json(
        {"date": it.at.timestamp(), "time": rfc3339(it.at), "stream": "stdout", "logtag": "F", "log": it.line}
        | {"kubernetes": _kubernetes(it.node)}
    ),
    "fluent bit tail": lambda it: as_json(
        {"date": it.at.timestamp(), "file": it.file, "offset": 5, "log": it.line, "host": it.node}
    ),
    "fluent bit file": lambda it: (
        f"tail.0: [{it.at.timestamp():.9f}, {as_json({'log': it.line, 'file': it.file, 'host': it.node})}]"
    ),
    "fluentd": lambda it: as_json(
        {"log": f"{it.line}\n", "stream": "stderr", "docker": {"container_id": "f3"}}
        | {"kubernetes": _kubernetes(it.node)}
    ),
    "fluentd file": lambda it: (
        f"{it.at:%Y-%m-%dT%H:%M:%S}+00:00\tkubernetes.var.log\t"
        + as_json({"message": it.line, "kubernetes": _kubernetes(it.node)})
    ),
    "vector": lambda it: as_json(
        {"file": it.file, "host": it.node, "message": it.line, "offset": 7}
        | {"source_type": "file", "timestamp": rfc3339(it.at)}
    ),
    "vector of a pod": lambda it: as_json(
        {
            "kubernetes": {"pod_name": it.node, "container_name": "main", "pod_node_name": "worker-3"},
            "message": it.line,
            "source_type": "kubernetes_logs",
            "stream": "stdout",
            "timestamp": rfc3339(it.at),
        }
    ),
    "logcli jsonl": lambda it: as_json(
        {"labels": {"pod": it.node, "container": "main", "job": "prod/x"}, "line": it.line, "timestamp": rfc3339(it.at)}
    ),
    "logcli": lambda it: f'{rfc3339(it.at)} {{pod="{it.node}", container="main"}} {it.line}',
    "promtail of a file": lambda it: as_json(
        {"labels": {"filename": it.file, "host": it.node}, "line": it.line, "timestamp": rfc3339(it.at)}
    ),
    "cloudwatch": lambda it: as_json(
        {"timestamp": micros(it.at) // 1000, "message": it.line, "logStreamName": it.node}
        | {"ingestionTime": 1, "eventId": "3"}
    ),
    "cloudwatch export": lambda it: f"{it.at:%Y-%m-%dT%H:%M:%S}.123Z {it.line}",
    "cloudwatch insights": lambda it: as_json(
        {"@timestamp": "2026-03-01 10:00:00.123", "@message": it.line, "@logStream": it.node}
    ),
    "gcp": lambda it: as_json(
        {
            "insertId": "x1",
            "textPayload": it.line,
            "timestamp": rfc3339(it.at),
            "severity": "INFO",
            "logName": "projects/p/logs/stdout",
            "resource": {"type": "k8s_container", "labels": {"pod_name": it.node, "container_name": "main"}},
        }
    ),
    "logstash": lambda it: as_json(
        {"@timestamp": rfc3339(it.at), "@version": "1", "message": it.line, "host": it.node, "path": it.file}
    ),
    "splunk": lambda it: as_json(
        {"preview": False, "result": {"_raw": it.line, "host": it.node, "source": it.file, "_time": rfc3339(it.at)}}
    ),
    "any json": lambda it: as_json({"ts": rfc3339(it.at), "hostname": it.node, "message": it.line}),
    "docker in filebeat": lambda it: as_json(
        {"@timestamp": rfc3339(it.at), "agent": {"type": "filebeat"}, "host": {"name": it.node}}
        | {"message": as_json({"log": f"{it.line}\n", "stream": "stdout", "time": rfc3339(it.at)})}
    ),
    "cri in fluent bit": lambda it: as_json(
        {"log": f"{rfc3339(it.at)} stderr F {it.line}", "kubernetes": _kubernetes(it.node)}
    ),
    "logcli, labels above": lambda it: f"{rfc3339(it.at)} {{}} {it.line}",
    "syslog with a facility": lambda it: (
        f"{it.at:%b} {it.at.day:2} {it.at:%H:%M:%S} {it.node} user.info {PROGRAM}[812]: {it.line}"
    ),
    "rsyslog of the newer format": lambda it: f"{it.at:%Y-%m-%dT%H:%M:%S.%f}+00:00 {it.node} {PROGRAM} {it.line}",
    "journal short monotonic": lambda it: f"[ 1234.{it.at:%f}] {it.node} {PROGRAM}[812]: {it.line}",
    "journal json-seq": lambda it: "\x1e" + as_json(_journal(it.line, it.at, it.node)),
    "gelf": lambda it: as_json(
        {"version": "1.1", "host": it.node, "short_message": it.line, "timestamp": it.at.timestamp(), "level": 6}
    ),
    "rsyslog json": lambda it: as_json(
        {"msg": it.line, "rawmsg": f"<14> {it.line}", "timereported": f"{it.at:%Y-%m-%dT%H:%M:%S.%f}+00:00"}
        | {"hostname": it.node, "syslogtag": "java[1]:", "programname": PROGRAM}
    ),
    "log analytics": lambda it: as_json({"TimeGenerated": rfc3339(it.at), "LogMessage": it.line, "PodName": it.node}),
    "ts": lambda it: f"{it.at:%b %d %H:%M:%S} {it.line}",
    "svlogd": lambda it: f"{it.at:%Y-%m-%d_%H:%M:%S}.12345 {it.line}",
    "multilog": lambda it: f"@4000000067c2d9b0{it.at:%f}00 {it.line}",
    "klog": lambda it: f"I{it.at:%m%d %H:%M:%S.%f}       1 log.go:16] {it.line}",
    "kibana": lambda it: f"{it.at:%b} {it.at.day}, {it.at:%Y @ %H:%M:%S.%f}"[:-3] + f"\t{it.node}\t{it.line}",
    "k0s": lambda it: (
        f'time="{it.at:%Y-%m-%d %H:%M:%S}" level=info msg={json.dumps(it.line)} component=etcd stream=stderr'
    ),
    "process without a time": lambda it: f"{PROGRAM}[812]: {it.line}",
    "docker compose in the journal": lambda it: (
        f"{it.at:%b %d %H:%M:%S} host-9 docker-compose[1]: {it.node}  | {it.line}"
    ),
}  # fmt: skip
"""How each writes a line."""


def shipped(name: str, lines: Iterable[str], node: str = NODE, file: str = "/logs/x.log", first: int = 0) -> list[str]:
    """The lines in envelopes; ``first`` is the number of the first line, from which its time follows."""
    write = SHIPPERS[name]
    return [write(Said(line, BEGIN + timedelta(milliseconds=first + at), node, file)) for at, line in enumerate(lines)]


def records(lines: Iterable[str], begins: Callable[[str], bool]) -> list[list[str]]:
    """Lines gathered to records."""
    found: list[list[str]] = []
    for line in lines:
        if begins(line) or not found:
            found.append([])
        found[-1].append(line)
    return found


def exported(messages: Iterable[list[str]], node: str = NODE) -> bytes:
    """Records as ``journalctl -o export`` writes them; one of several lines is a binary field."""
    out = b""
    for at, lines in enumerate(messages):
        moment = BEGIN + timedelta(milliseconds=at)
        for name, value in _journal("\n".join(lines), moment, node).items():
            data = str(value).encode()
            if b"\n" in data:
                out += name.encode() + b"\n" + struct.pack("<Q", len(data)) + data + b"\n"
            else:
                out += name.encode() + b"=" + data + b"\n"
        out += b"\n"
    return out


def merged(files: dict[str, list[list[str]]], chance: random.Random) -> list[tuple[str, str]]:
    """The lines of several nodes in one row, each with its node: in their order, otherwise as chance has it."""
    waiting = {node: list(lines) for node, lines in files.items()}
    row: list[tuple[str, str]] = []
    while waiting:
        node = chance.choice(sorted(waiting))
        row += [(node, line) for line in waiting[node].pop(0)]
        if not waiting[node]:
            del waiting[node]
    return row
