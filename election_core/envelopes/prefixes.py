r"""Envelopes written before a line, by containers, syslog, journald and people.

| name | a line | written by |
|---|---|---|
| ``cri`` | ``2026-03-01T10:00:00.123456789Z stdout F `` | containerd and CRI-O; ``P`` marks a piece of a longer line |
| ``fluentd file`` | ``2026-03-01T10:00:00+00:00\ttag\t{...}`` | Fluentd, output ``file`` |
| ``fluent bit file`` | ``tag: [1772359200.123456789, {...}]`` | Fluent Bit, output ``file`` |
| ``logcli`` | ``2026-03-01T10:00:00Z {pod="zk-0"} `` | logcli, output ``default`` |
| ``syslog 5424`` | ``<13>1 2026-03-01T10:00:00.123Z host app 12 - - `` | syslog, RFC 5424 |
| ``syslog`` | ``<13>Mar  1 10:00:00 host app[12]: `` | syslog, RFC 3164; journalctl ``short``, ``short-precise`` |
| ``syslog iso`` | ``2026-03-01T10:00:00+00:00 host app[12]: `` | rsyslog; journalctl ``short-iso`` (``-precise``) |
| ``journal full`` | ``Sun 2026-03-01 10:00:00 UTC host app[12]: `` | journalctl ``short-full`` |
| ``journal unix`` | ``1772359200.123456 host app[12]: `` | journalctl ``short-unix`` |
| ``time stamp`` | ``2026-03-01T10:00:00.123456789Z `` | ``kubectl logs --timestamps``, ``docker logs -t``, CloudWatch |
| ``pod`` | ``[pod/zk-0/zookeeper] `` | ``kubectl logs --prefix`` |
| ``compose`` | ``zk1-1  | `` | ``docker compose logs``, ``docker service logs`` |
| ``stern`` | ``zk-0 zookeeper `` | stern; ``stern of namespaces`` with another word first |
| ``host`` | ``zk1: ``, ``[zk1] ``, ``zk1/zookeeper.log:`` | pdsh, ansible, grep |
| ``loki`` | ``1772359200000\t2026-03-01T10:00:00Z\t`` | Grafana's download of logs; one time is enough |
| ``kibana`` | ``Mar 1, 2026 @ 10:00:00.123\tzk-0\t`` | Kibana's table of documents, copied |
| ``logrus`` | ``time="2026-03-01 10:00:00" level=info msg="..." component=etcd`` | k0s, of the programs that it runs |
| ``columns`` | ``host\tpod\t2026-03-01T10:00:00Z\t`` | results of a search in a log store, copied as a table |
| ``indent`` | blanks, ``> ``, ``+`` | quotations in mails and tickets, and patches |
| ``line number`` | ``  12\t``, ``12:`` | cat -n, nl, less -N, grep -n |
| ``quoted`` | ``"...",`` | jq without -r, a column of CSV |
| ``html`` | ``&quot;`` | pages of tickets and chats |
| ``klog`` | ``I0301 10:00:00.123456       1 log.go:16] `` | programs of Kubernetes around another program |
| ``ansi`` | ``ESC[36m`` | programs that colour their output |
"""

import html
import json
import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from election_replay.election_core.envelopes.model import Envelope, Opened, instant

_RFC_3339 = r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:[Zz]|[+-]\d\d:?\d\d)"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_HOST = r"(?!\d{4}-\d\d-\d\d )(?!(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL) )(?P<node>[\w.:-]{1,255})"
"""A host; not a date, nor the level of a line without a time."""

_DAY = r"\d{4}[-/]\d\d[-/]\d\d "
_TAG = rf"(?!{_DAY})(?P<program>[^\s:\[\]]{{1,128}})(?:\[[^\]\s]{{1,64}}\])?:?"
"""A program, its process, and a colon, which rsyslog omits for messages it received in the newer format."""

_SEVERITY = r"(?:\w+\.(?:emerg|alert|crit|err|warning|notice|info|debug) )?"
"""A facility and a severity, before the host or after it."""

_NAME = r"(?!\d{4}-\d\d-\d\d)[A-Za-z0-9][\w.-]{0,254}"
"""The name of a container, pod or host; not a date."""

ANSI = re.compile(r"(?:\x1b|#033)(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
"""Terminal escape sequences; rsyslog writes the escape character as ``#033``."""

_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_CONTROL = {"#011": "\t", "#012": "\n"}
"""Control characters of a stack trace, by rsyslog's notation."""


def pattern(expression: str) -> Callable[[str], re.Match[str] | None]:
    """Return the matcher of a whole line, with the rest as group ``text``."""
    return re.compile(expression + r"(?P<text>.*)\Z", re.ASCII | re.DOTALL).match


def _plain(expression: str) -> Callable[[str], Opened | None]:
    """Return the opener of an envelope that a pattern describes fully, with groups ``node``, ``program`` and
    ``time``."""
    matches = pattern(expression)

    def opens(line: str) -> Opened | None:
        found = matches(line)
        if found is None:
            return None
        parts = found.groupdict()
        time = parts.get("time")
        return Opened(parts["text"], parts.get("node"), parts.get("program"), time=instant(time) if time else None)

    return opens


def _syslog(expression: str) -> Callable[[str], Opened | None]:
    """Return the opener of a syslog envelope: its tag may name a container, and control characters are numbers."""
    opens = _plain(expression)

    def opens_syslog(line: str) -> Opened | None:
        found = opens(line)
        if found is None:
            return None
        text = (
            re.sub("#01[12]", lambda match: _CONTROL[match.group()], found.text) if "#01" in found.text else found.text
        )
        node, program = found.node, found.program
        if program and program.startswith("docker/"):
            node = program = program.removeprefix("docker/")
        return Opened(text, None if node == "-" else node, None if program == "-" else program, time=found.time)

    return opens_syslog


_CRI = pattern(rf"(?P<time>{_RFC_3339}) (?P<channel>stdout|stderr) (?P<tag>[PF])(?::\S*)?(?: |\Z)")


def _cri(line: str) -> Opened | None:
    found = _CRI(line)
    return found and Opened(
        found["text"], channel=found["channel"], time=instant(found["time"]), partial=found["tag"] == "P"
    )


_FLUENT_BIT = re.compile(r"(?P<tag>[\w.*/-]{1,255}): \[(\d{9,10})(?:\.(\d{1,9}))?, (\{.*\})\]\Z", re.ASCII | re.DOTALL)


def _fluent_bit(line: str) -> Opened | None:
    found = _FLUENT_BIT.match(line)
    if found is None:
        return None
    time = int(found[2]) * 1_000_000 + int((found[3] or "")[:6].ljust(6, "0"))
    return Opened(found[4], *of_tag(found["tag"]), time=time)


_FLUENTD = pattern(rf"(?P<time>{_RFC_3339})\t(?P<tag>[\w.*/-]{{1,255}})\t(?=\{{)")


def _fluentd(line: str) -> Opened | None:
    found = _FLUENTD(line)
    return found and Opened(found["text"], *of_tag(found["tag"]), time=instant(found["time"]))


_OF_CONTAINER = re.compile(r".*\bcontainers[./]([^_/]+)_[^_/]+_([^_/]+)-[\da-f]+(?:\.log)?\Z", re.ASCII)
"""``kube.var.log.containers.POD_NAMESPACE_CONTAINER-ID.log``: the tag is the path below which kubelet links a log."""


def of_tag(tag: str) -> tuple[str | None, str | None]:
    """Return the pod and the container that a tag of Fluentd or Fluent Bit names."""
    found = _OF_CONTAINER.match(tag)
    return (found[1], found[2]) if found else (None, None)


_LOGCLI = pattern(rf"(?P<time>{_RFC_3339})[ \t]\{{(?P<labels>[^{{}}]*)\}}[ \t]?")


def _logcli(line: str) -> Opened | None:
    found = _LOGCLI(line)
    if found is None:
        return None
    labels = dict(_LABEL.findall(found["labels"]))  # labels common to all lines are printed above them
    if not labels and found["labels"]:
        return None
    return of_labels(labels, found["text"].lstrip(" "), instant(found["time"]))


def of_labels(labels: dict[str, str], text: str, time: int | None) -> Opened:
    """Return a line that Loki's labels describe."""
    return Opened(
        text,
        next((labels[name] for name in ("pod", "container_name", "host", "hostname", "node_name", "nodename",
                                        "instance") if labels.get(name)), None),
        next((labels[name] for name in ("container", "unit", "app", "service_name") if labels.get(name)), None),
        labels.get("filename"),
        time=time,
    )  # fmt: skip


_LOGRUS = re.compile(
    r'time="[^"]{10,40}" level=\w{3,9} msg="((?:[^"\\]|\\.)*)"((?: \w{1,40}=(?:"(?:[^"\\]|\\.)*"|\S*))*)\s*\Z',
    re.DOTALL,
)


def _logrus(line: str) -> Opened | None:
    """Open a line that k0s prints of a program, its ``component``; its own lines name none, or no stream."""
    found = _LOGRUS.match(line)
    if found is None or " stream=" not in found[2]:
        return None
    program = re.search(r" component=(\S+)", found[2])
    try:
        return Opened(json.loads(f'"{found[1]}"', strict=False), program=program and program[1])
    except ValueError:  # a backslash that k0s did not write
        return None


_COMPOSE = pattern(rf"(?P<name>{_NAME})(?:@[\w.-]{{1,255}})? *\|(?: |\Z)")
_TASK = re.compile(r"(.+\.\d+)\.[a-z0-9]{25}")


def _compose(line: str) -> Opened | None:
    found = _COMPOSE(line)
    if found is None:
        return None
    task = _TASK.fullmatch(found["name"])  # a restarted swarm task has a new id after the same name
    return Opened(found["text"], task[1] if task else found["name"])


def _ansi(line: str) -> Opened | None:
    return Opened(ANSI.sub("", line)) if "\x1b" in line or "#033" in line else None


def _quoted(line: str) -> Opened | None:
    """Open a string of JSON, or a value of CSV, with or without a comma after it."""
    text = line.strip().removesuffix(",")
    if len(text) < 2 or not text[0] == text[-1] == '"':
        return None
    try:
        found = json.loads(text)
    except ValueError:
        inner = text[1:-1].replace('""', "\0")
        return None if '"' in inner else Opened(inner.replace("\0", '"'))
    return Opened(found)


_ENTITY = re.compile(r"&(?:quot|lt|gt|amp|apos|#39|#34|#x27|#x22);")

FEWEST_ESCAPED = 3
"""The number of lines with HTML entities from which lines without bare angle brackets count as HTML."""


def _html(line: str) -> Opened | None:
    return Opened(html.unescape(line) if _ENTITY.search(line) else line)


def as_html(lines: Sequence[str]) -> bool:
    """Return True when lines are escaped as in a page of HTML."""
    return sum(map(bool, map(_ENTITY.search, lines))) >= FEWEST_ESCAPED and not any(
        "<" in line or ">" in line for line in lines
    )


_HOST_PREFIX = pattern(r"(?:\[(?P<inside>[A-Za-z0-9/~.][\w./@~-]{0,254})\]|(?P<bare>[A-Za-z0-9/~.][\w./@~-]{0,254}))"
                       r"(?::\d{1,9}: ?| ?[:|>] ?| (?:- )?)")  # fmt: skip


_LOG_FILE = re.compile(r"\.(?:log|out|txt)\b")


def _host(line: str) -> Opened | None:
    found = _HOST_PREFIX(line)
    if found is None:
        return None
    name = found["inside"] or found["bare"]
    if "/" not in name and not _LOG_FILE.search(name):
        return Opened(found["text"], name)
    path = PurePosixPath(name)
    return Opened(found["text"], None if str(path.parent) == "." else str(path.parent), file=name)


PREFIXES = (
    Envelope("cri", _cri),
    Envelope("fluentd file", _fluentd),
    Envelope("fluent bit file", _fluent_bit),
    Envelope("logcli", _logcli),
    Envelope(
        "syslog 5424",
        _syslog(
            rf"(?:\d{{1,6}} )?<\d{{1,3}}>1 (?:-|(?P<time>{_RFC_3339})) {_HOST} (?P<program>\S{{1,128}}) \S+ \S+ "
            r"(?:-|(?:\[(?:[^\]\\]|\\.)*\])+)(?: \ufeff?|\Z)"
        ),
    ),
    Envelope(
        "syslog",
        _syslog(
            rf"(?:<\d{{1,3}}>)?{_MONTH} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{{1,9}})? {_SEVERITY}{_HOST} "
            rf"{_SEVERITY}{_TAG}(?: |\Z)"
        ),
    ),
    Envelope("syslog iso", _syslog(rf"(?:<\d{{1,3}}>)?(?P<time>{_RFC_3339}) {_HOST} {_TAG}(?: |\Z)")),
    Envelope(
        "syslog without tag", _syslog(rf"(?:<\d{{1,3}}>)?(?:{_MONTH} [ \d]\d \d\d:\d\d:\d\d|{_RFC_3339}) {_HOST} ")
    ),
    Envelope(
        "journal full",
        _syslog(
            r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})? [A-Z+\d:-]{1,6} "
            rf"{_HOST} {_TAG}(?: |\Z)"
        ),
    ),
    Envelope("journal unix", _syslog(rf"\d{{9,10}}\.\d{{6}} {_HOST} {_TAG}(?: |\Z)")),
    Envelope("journal monotonic", _syslog(rf"\[ *\d{{1,10}}\.\d{{6}}(?: <[ .\d]{{1,20}}>)?\] {_HOST} {_TAG}(?: |\Z)")),
    Envelope("event stream", _plain(r"data: (?=\{)")),
    Envelope("record separators", _plain(r"\x1e(?=\{)")),
    Envelope("pod", _plain(rf"\[pod/(?P<node>{_NAME})/(?P<program>{_NAME})\](?: |\Z)")),
    Envelope("compose", _compose),
    Envelope("time stamp", _plain(rf"(?P<time>{_RFC_3339})(?: |\Z)")),
    Envelope("loki", _plain(rf"(?:\d{{13}}(?:\d{{6}})?\t(?:(?P<time>{_RFC_3339})\t)?|{_RFC_3339}\t)")),
    Envelope(
        "kibana",
        _plain(
            rf"{_MONTH} \d{{1,2}}, \d{{4}} @ \d\d:\d\d:\d\d\.\d{{3}}\t"
            rf"(?:(?P<node>(?!\d+\t){_NAME})\t)?(?:[\w.-]+\t){{0,2}}"
        ),
    ),
    Envelope("logrus", _logrus),
    Envelope("columns", _plain(rf"(?:{_NAME}\t){{0,2}}(?P<node>(?!\d+\t){_NAME})\t(?={_RFC_3339}\t|{_DAY}\d\d:)")),
    Envelope("stamp of ts", _plain(rf"{_MONTH} [ \d]\d \d\d:\d\d:\d\d(?: |\Z)")),
    Envelope("stamp of svlogd", _plain(r"\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d\.\d{1,9}(?: |\Z)")),
    Envelope("stamp of multilog", _plain(r"@[0-9a-f]{24}(?: |\Z)")),
    Envelope("stamp of a day", _plain(rf"{_DAY}\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?(?:\t| (?={_DAY}\d\d:|\{{\"))")),
    Envelope("klog", _plain(r"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d{1,9} [\w./-]{1,80}:\d{1,6}\] ")),
    Envelope("ansi", _ansi),
    Envelope("quoted", _quoted),
    Envelope("indent", _plain(r"(?:[>+|] ?|[ \t]{1,16})(?=\S)"), loose=True),
    Envelope("line number", _plain(r"[ \t]{0,8}\d{1,7}(?:\t|[:|] ?| )(?=\S)"), loose=True),
    Envelope("stern", _plain(rf"(?P<node>{_NAME}) (?P<program>{_NAME}) "), loose=True),
    Envelope("stern of namespaces", _plain(rf"{_NAME} (?P<node>{_NAME}) (?P<program>{_NAME}) "), loose=True),
    Envelope("process", _plain(r"(?P<program>[A-Za-z_][\w.-]{0,127})\[\d{1,9}\]:(?: |\Z)"), loose=True),
    Envelope("host", _host, loose=True),
)
"""Every envelope before a line; if several fit, the first counts."""

HTML = Envelope("html", _html)
"""Either all lines of a file have it or none, as :func:`as_html` decides."""
