"""Real lines of three systems in every shape that production gives a file, and what becomes of each.

``python -m tests.shapes.matrix`` writes the table of ``docs/dialects.md``.
"""

import bz2
import gzip
import html
import io
import json
import lzma
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from election_replay.jobs.settings.config import Config, LayoutRule
from election_replay.schemas.landed_files import NOT_UNDERSTOOD
from tests.election_core.envelopes.shippers import SHIPPERS, exported, records, shipped
from tests.jobs.zone import Zone
from tests.shapes import writing
from tests.shapes.writing import Said, laid_out

SYSTEMS = {"rocketmq": "broker.log", "zookeeper": "zookeeper.log", "etcd": "etcd.log"}
"""The systems, and the name that each gives its log."""

PAGE = Path(__file__).parents[2] / "docs" / "dialects.md"
BEGIN, END = "<!-- shapes: begin -->\n", "<!-- shapes: end -->\n"

READ = "read"


@dataclass(frozen=True)
class Shape:
    """A shape of a file: ``make`` gives the name and the bytes for a system, or ``None`` where it has no such shape."""

    group: str
    name: str
    make: Callable[[str], tuple[str, bytes] | None]
    config: Config | None = None
    resolution_ms: int = 1
    lacks: frozenset[str] = frozenset()


def lines_of(system: str) -> list[str]:
    return (Path(__file__).parent / f"{system}.txt").read_text().splitlines()


def text_of(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def plain(system: str) -> bytes:
    return text_of(lines_of(system))


def under(name: str) -> Shape:
    return Shape("names", f"`{name}`", lambda system: (name, plain(system)))


def called(what: str, name: Callable[[str], str]) -> Shape:
    return Shape("names", what, lambda system: (name(SYSTEMS[system]), plain(system)))


def names() -> Iterator[Shape]:
    for name in ("0.log", "app.log", "console.txt", "nohup.out", "server", "stderr.log"):
        yield under(name)
    yield called("the system's own name", lambda name: name)
    yield called("logrotate: `-20260301`", lambda name: f"{name}-20260301")
    yield called("logrotate: `-20260301.gz` of plain text", lambda name: f"{name}-20260301")
    yield called("daily file: `.2026-03-01`", lambda name: f"{name}.2026-03-01")
    yield called("daily file: `-2026-03-01.1.log`", lambda name: name.replace(".log", "-2026-03-01.1.log"))
    yield called("rolled: `.1`", lambda name: f"{name}.1")
    yield called("rolled: `-20240101-1700000000`", lambda name: f"{name}-20240101-1700000000")
    yield called("rolled: `.2024-01-01.12.log`", lambda name: name.replace(".log", ".2024-01-01.12.log"))
    yield called("rolled: `_2024-01-01.log`", lambda name: name.replace(".log", "_2024-01-01.log"))
    yield called("rolled: `2024-01-01-` in front", lambda name: f"2024-01-01-{name}")
    yield Shape(
        "names",
        "ZooKeeper's start script",
        lambda system: ("zookeeper-zk-server-zk1.example.org.log", plain(system)) if system == "zookeeper" else None,
    )
    yield Shape("names", "`etcd.txt`", lambda system: ("etcd.txt", plain(system)) if system == "etcd" else None)


def in_utf_16(data: bytes, order: str, mark: bytes = b"") -> bytes:
    return mark + data.decode().encode(order)


def archived(data: bytes, kind: str) -> bytes:
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("log", data)
    else:
        with tarfile.open(fileobj=out, mode="w:gz" if kind == "tar.gz" else "w") as tar:
            info = tarfile.TarInfo("log")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def packed(name: str, suffix: str, pack: Callable[[bytes], bytes]) -> Shape:
    return Shape("bytes", name, lambda system: (SYSTEMS[system] + suffix, pack(plain(system))))


def zst(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


def files() -> Iterator[Shape]:
    yield packed("gz", ".gz", gzip.compress)
    yield packed("bz2", ".bz2", bz2.compress)
    yield packed("zst", ".zst", zst)
    yield packed("gz under the name of a log", "", gzip.compress)
    yield packed("bz2 under the name of a log", "", bz2.compress)
    yield packed("zst under the name of a log", "", zst)
    yield packed("gz under the name of zst", ".zst", gzip.compress)
    yield packed("plain text named .gz", ".gz", bytes)
    yield packed("xz", ".xz", lzma.compress)
    yield packed("zip", ".zip", lambda data: archived(data, "zip"))
    yield packed("zip under the name of a log", "", lambda data: archived(data, "zip"))
    yield packed("tar", ".tar", lambda data: archived(data, "tar"))
    yield packed("tar.gz", ".tar.gz", lambda data: archived(data, "tar.gz"))
    yield packed("CRLF", "", lambda data: data.replace(b"\n", b"\r\n"))
    yield packed("UTF-8 with a mark", "", lambda data: b"\xef\xbb\xbf" + data)
    yield packed("UTF-16, little end first, with a mark", "", lambda data: in_utf_16(data, "utf-16-le", b"\xff\xfe"))
    yield packed("UTF-16, big end first, with a mark", "", lambda data: in_utf_16(data, "utf-16-be", b"\xfe\xff"))
    yield packed("UTF-16 without a mark", "", lambda data: in_utf_16(data, "utf-16-le"))
    yield packed("bytes that are no text", "", lambda data: bytes(256) + data.translate(bytes(range(255, -1, -1))))


def envelopes() -> Iterator[Shape]:
    for name in SHIPPERS:
        yield Shape(
            "envelopes", name, lambda system, name=name: (SYSTEMS[system], text_of(shipped(name, lines_of(system))))
        )
    yield Shape(
        "envelopes",
        "journal export",
        lambda system: (
            SYSTEMS[system],
            exported(records(lines_of(system), lambda line: writing.own(system, line) is not None)),
        ),
    )


COPIED: dict[str, Callable[[int, str], str]] = {
    "strings of JSON (`jq` without `-r`)": lambda _, line: json.dumps(line),
    "an array of strings": lambda _, line: f"  {json.dumps(line)},",
    "a column of CSV": lambda _, line: '"' + line.replace('"', '""') + '"',
    "a page of HTML": lambda _, line: html.escape(line),
    "`cat -n`": lambda number, line: f"{number:6}\t{line}",
    "`less -N`": lambda number, line: f"{number:7} {line}",
    "`grep -n`": lambda number, line: f"{number}:{line}",
    "quoted in a mail": lambda _, line: f"> {line}",
    "indented": lambda _, line: f"    {line}",
    "indented by a tab": lambda _, line: f"\t{line}",
    "out of a patch": lambda _, line: f"+{line}",
    "Grafana's download": lambda number, line: f"{1772359200000 + number}\t2026-03-01T10:00:00.{number:03}Z\t{line}",
    "Loki, tabs": lambda number, line: f"2026-03-01T10:00:00.{number:03}Z\t{line}",
    "Loki with labels, tabs": lambda number, line: f'2026-03-01T10:00:00.{number:03}Z\t{{pod="n1"}}\t{line}',
    "in single quotation marks": lambda _, line: f"'{line}'",
    "a mark of the byte order on each line": lambda _, line: f"\ufeff{line}",
}
"""What people and their tools make of lines."""


def copied() -> Iterator[Shape]:
    for name, write in COPIED.items():
        yield Shape(
            "copies",
            name,
            lambda system, write=write: (
                SYSTEMS[system],
                text_of(write(number, line) for number, line in enumerate(lines_of(system), 1)),
            ),
        )


def halves(system: str) -> tuple[bytes, bytes]:
    lines = lines_of(system)
    return text_of(lines[: len(lines) // 2]), text_of(lines[len(lines) // 2 :])


def changed(name: str, change: Callable[[bytes], bytes]) -> Shape:
    def make(system: str) -> tuple[str, bytes]:
        first, second = halves(system)
        return SYSTEMS[system], first + change(second)

    return Shape("changes in the middle", name, make)


def each(write: Callable[[str], str]) -> Callable[[bytes], bytes]:
    return lambda data: text_of(map(write, data.decode().splitlines()))


def torn(data: bytes) -> bytes:
    """In front of every fifth line, and on it, stands the beginning of the line before, whose writer died."""
    lines = data.decode().splitlines()
    return text_of(
        before[: len(before) // 2] + line if number % 5 == 0 and not line.startswith(("\t", " ")) else line
        for number, (before, line) in enumerate(pairwise(["", *lines]))
    )


def changes() -> Iterator[Shape]:
    yield changed("bytes of zero (`copytruncate`)", lambda data: bytes(100_000) + data)
    yield changed("a mark of the byte order", lambda data: b"\xef\xbb\xbf" + data)
    yield changed("a line of 300,000 characters", lambda data: b"x" * 300_000 + b"\n" + data)
    yield changed("torn lines, behind which the next ones stand", torn)
    yield changed("from then on CRI", each(lambda line: f"2026-03-01T10:00:00.123Z stdout F {line}"))
    yield changed("from then on strings of JSON", each(json.dumps))
    yield changed(
        "from then on another layout", each(lambda line: f"<{line}>".replace('"msg":', '"what":').replace("<{", "{"))
    )


LAYOUTS: tuple[tuple[str, str], ...] = (
    ("log4j2, logback", "%d{yyyy-MM-dd HH:mm:ss.SSS} [%t] %-5p %c{36} - %m%n"),
    ("log4j 1", "%d{yyyy-MM-dd HH:mm:ss,SSS} %-5p [%t] %c{1}:%L - %m%n"),
    ("thread first", "[%t] %d{yyyy-MM-dd HH:mm:ss,SSS} %-5p %c - %m%n"),
    ("level first", "%-5p [%d{yyyy-MM-dd HH:mm:ss,SSS}] [%t] %c: %m%n"),
    ("level first, as Dropwizard", "%-5p [%d{yyyy-MM-dd HH:mm:ss,SSS}] %c: %m%n"),
    ("Strimzi", "%d{yyyy-MM-dd HH:mm:ss,SSS} %p %m (%c) [%t]%n"),
    ("Kafka, Confluent, Bitnami", "[%d{yyyy-MM-dd HH:mm:ss,SSS}] %p %m (%c)%n"),
    ("Hadoop", "%d{yyyy-MM-dd HH:mm:ss,SSS} %p %c: %m%n"),
    ("Hadoop with the method", "%d{yyyy-MM-dd HH:mm:ss,SSS} %-5p %c{2} (%F:%M(%L)) - %m%n"),
    ("Spring Boot", "%d{yyyy-MM-dd HH:mm:ss.SSS} %5p %pid --- [%t] %-40c : %m%n"),
    ("Spring Boot 3", "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %5p %pid --- [%t] %-40c : %m%n"),
    ("trace ids", "%d{yyyy-MM-dd HH:mm:ss,SSS} [%X] [%t] %-5p %c - %m%n"),
    ("trace ids behind the level", "%d{yyyy-MM-dd HH:mm:ss,SSS} %-5p [%X] [%t] %c - %m%n"),
    ("brackets", "[%d{yyyy-MM-dd HH:mm:ss.SSS}][%p][%t][%c] %m%n"),
    ("bars", "%d{yyyy-MM-dd HH:mm:ss.SSS}|%p|%t|%c|%m%n"),
    ("tabs", "%d{yyyy-MM-dd HH:mm:ss.SSS}\t%p\t%t\t%c\t%m%n"),
    ("a zone in the time", "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} [%t] %-5p %c - %m%n"),
    ("a zone behind the time", "%d{yyyy-MM-dd HH:mm:ss,SSS XXX} [%t] %-5p %c - %m%n"),
    ("UTC behind the time", "%d{yyyy-MM-dd HH:mm:ss,SSS z} [%t] %-5p %c - %m%n"),
    ("slashes", "%d{yyyy/MM/dd HH:mm:ss.SSS} [%t] %-5p %c - %m%n"),
    ("points", "%d{yyyy.MM.dd HH:mm:ss,SSS} [%t] %-5p %c - %m%n"),
    ("the month as a word", "%d{dd MMM yyyy HH:mm:ss,SSS} [%t] %-5p %c - %m%n"),
    ("the month between hyphens", "%d{dd-MMM-yyyy HH:mm:ss.SSS} %-5p [%t] %c %m%n"),
    ("twelve hours", "%d{MMM dd, yyyy h:mm:ss a} [%t] %-5p %c - %m%n"),
    ("no blanks in the date", "%d{yyyyMMdd HH:mm:ss,SSS} [%t] %-5p %c - %m%n"),
    ("milliseconds since 1970", "%d{UNIX_MILLIS} %-5p [%t] %c - %m%n"),
    ("microseconds", "%d{yyyy-MM-dd HH:mm:ss.SSSSSS} [%t] %-5p %c - %m%n"),
    ("whole seconds", "%d{yyyy-MM-dd HH:mm:ss} %-5p [%t] %c - %m%n"),
    ("no thread", "%d{yyyy-MM-dd HH:mm:ss,SSS} %-5p %c - %m%n"),
    ("no class", "%d{yyyy-MM-dd HH:mm:ss,SSS} %-5p [%t] - %m%n"),
    ("no day", "%d{HH:mm:ss.SSS} [%t] %-5p %c - %m%n"),
    ("a day that can be two", "%d{MM/dd/yyyy HH:mm:ss.SSS} [%t] %-5p %c - %m%n"),
    ("a layout of one's own", "<%d{yyyy-MM-dd HH:mm:ss.SSS}> {%p} at %c by %t :: %m%n"),
)

SET: tuple[tuple[str, str], ...] = (
    ("a day that can be two", "%d{MM/dd/yyyy HH:mm:ss.SSS} [%t] %-5p %c - %m%n"),
    ("two digits of a year", "%d{yy/MM/dd HH:mm:ss} %p %c: %m%n"),
    ("a layout of one's own", "<%d{yyyy-MM-dd HH:mm:ss.SSS}> {%p} at %c by %t :: %m%n"),
    ("hardly any signs", "%d{yyyy-MM-dd HH:mm:ss.SSS} %t %p %c %m%n"),
)


def said_by(system: str) -> list[Said]:
    return writing.records(system, lines_of(system))


def written(pattern: str, system: str) -> list[str]:
    """The lines in a layout; a time with a zone is in that of the system's own times."""
    zone = 480 if system == "rocketmq" else 0
    return [
        line
        for number, said in enumerate(said_by(system), 1)
        for line in laid_out(pattern, said, number, zone).splitlines()
    ]


def lacking(pattern: str) -> frozenset[str]:
    """What a layout does not say."""
    lacks = {"level"} if "%p" not in pattern else set()
    return frozenset(lacks | {"thread", "node"})


def resolution_of(pattern: str) -> int:
    return 1 if "S" in pattern or "UNIX_MILLIS" in pattern else 1000


def laid(group: str, name: str, pattern: str, rule: Config | None = None, shipper: str = "") -> Shape:
    def make(system: str) -> tuple[str, bytes] | None:
        if system == "etcd":
            return None
        lines = written(pattern, system)
        return SYSTEMS[system], text_of(shipped(shipper, lines) if shipper else lines)

    shown = pattern.removesuffix("%n").replace("|", "\\|").replace("\t", "\\t")
    where = f" in {shipper}" if shipper else ""
    return Shape(group, f"{name}{where}: `{shown}`", make, rule, resolution_of(pattern), lacking(pattern))


def layouts() -> Iterator[Shape]:
    for name, pattern in LAYOUTS:
        yield laid("layouts", name, pattern)
    for name, pattern in SET:
        rules = tuple(LayoutRule("*.log", system, pattern) for system in ("zookeeper", "rocketmq"))
        by_name = tuple(LayoutRule(SYSTEMS[one.system], one.system, one.layout) for one in rules)
        yield laid("layouts that are set", name, pattern, Config(layouts=by_name))
    for shipper in ("docker json-file", "cri", "compose", "filebeat", "journal short"):
        yield laid("layouts in envelopes", "log4j2", LAYOUTS[0][1], shipper=shipper)
        yield laid("layouts in envelopes", "Strimzi", LAYOUTS[5][1], shipper=shipper)


ENCODERS: dict[str, Callable[[Said, str], dict[str, Any]]] = {
    "JSON of ECS": lambda it, at: {
        "@timestamp": at,
        "log.level": it.level,
        "message": it.message,
        "ecs.version": "1.2.0",
        "process.thread.name": it.thread,
        "log.logger": it.logger,
    },
    "JSON of logstash's encoder": lambda it, at: {
        "@timestamp": at,
        "@version": "1",
        "message": it.message,
        "logger_name": it.logger,
        "thread_name": it.thread,
        "level": it.level,
        "level_value": 20000,
    },
    "JSON of log4j2's template": lambda it, _: {
        "timeMillis": it.at // 1000,
        "thread": it.thread,
        "level": it.level,
        "loggerName": it.logger,
        "message": it.message,
        "endOfBatch": False,
    },
    "JSON of logback": lambda it, _: {
        "timestamp": it.at // 1000,
        "level": it.level,
        "thread": it.thread,
        "logger": it.logger,
        "message": it.message,
    },
}


def encoded(name: str, encode: Callable[[Said, str], dict[str, Any]]) -> Shape:
    def make(system: str) -> tuple[str, bytes] | None:
        if system == "etcd":
            return None
        zone = 480 if system == "rocketmq" else 0
        lines = []
        for said in said_by(system):
            at = Said(said.at - zone * 60_000_000, said.level, said.thread, said.logger, said.message)
            lines.append(json.dumps(encode(at, writing.date("yyyy-MM-dd'T'HH:mm:ss.SSS", at.at) + "Z")))
        return SYSTEMS[system], text_of(lines)

    return Shape("JSON", name, make, lacks=frozenset({"thread", "node"}))


def of_zap(name: str, write: Callable[[dict[str, Any]], str], config: Config | None = None) -> Shape:
    def make(system: str) -> tuple[str, bytes] | None:
        return (
            (SYSTEMS[system], text_of(write(json.loads(one)) for one in lines_of(system))) if system == "etcd" else None
        )

    return Shape("JSON", name, make, config)


def console(found: dict[str, Any]) -> str:
    beside = {key: value for key, value in found.items() if key not in ("ts", "level", "caller", "msg", "logger")}
    said = (found["ts"], found["level"], found.get("caller", ""), found["msg"], json.dumps(beside) if beside else "")
    return "\t".join(one for one in said if one)


def renamed(**keys: str) -> Callable[[dict[str, Any]], str]:
    return lambda found: json.dumps({keys.get(key, key): value for key, value in found.items()})


def objects() -> Iterator[Shape]:
    for name, encode in ENCODERS.items():
        yield encoded(name, encode)
    yield of_zap("console encoding of zap", console)
    yield of_zap("keys time and message", renamed(ts="time", msg="message"))
    yield of_zap("keys @timestamp, severity and message", renamed(ts="@timestamp", level="severity", msg="message"))
    yield of_zap(
        "keys of one's own",
        renamed(ts="when", level="how", msg="what"),
        Config(layouts=(LayoutRule("etcd.log", "etcd", "json time=when level=how message=what"),)),
    )
    yield of_zap("keys of one's own that are not set", renamed(ts="when", level="how", msg="what"))


SHAPES: tuple[Shape, ...] = (*names(), *files(), *changes(), *copied(), *envelopes(), *layouts(), *objects())

ALONE = {"source_file", "batch", "event_id", "fingerprint", "file_time", "line_no", "stream", "time_resolution_ms"}
"""What is the file's and not its lines'."""


def landed(shape: Shape, system: str, root: Path) -> Zone | None:
    """What a file in a shape gives; ``None`` where the system has no such shape."""
    made = shape.make(system)
    if made is None:
        return None
    zone = Zone(root, shape.config)
    zone.write(*made)
    zone.land()
    zone.land()
    return zone


@cache
def landed_plain(system: str) -> Zone:
    """What the plain file gives."""
    with tempfile.TemporaryDirectory() as folder:
        zone = landed(Shape("", "", lambda one: (SYSTEMS[one], plain(one))), system, Path(folder) / "plain")
    assert zone is not None
    return zone


def events(zone: Zone, resolution_ms: int, lacks: frozenset[str]) -> list[str]:
    """What the events say, as far as the shape says it."""
    found = []
    for row in sorted(zone.tables["events"], key=lambda row: row["line_no"]):
        at = round(row["event_time"].timestamp() * 1000)
        kept = {name: value for name, value in row.items() if name not in ALONE | lacks and value is not None}
        found.append(repr(kept | {"event_time": at // resolution_ms}))
    return found


def outcome(shape: Shape, system: str, root: Path) -> str | None:
    """What becomes of a file: read as the plain one, told why not, or else what is wrong."""
    zone = landed(shape, system, root / "shaped")
    if zone is None:
        return None
    problems = [row["problem"] for row in zone.tables["landed_files"] if row["problem"]]
    if problems:
        what, _, rest = problems[-1].removeprefix(NOT_UNDERSTOOD).partition("; most lines look like ")
        return f"told: {what}" if not rest else f"told: {what}; {rest.rpartition('; ')[2]}"
    ours = events(zone, shape.resolution_ms, shape.lacks)
    theirs = events(landed_plain(system), shape.resolution_ms, shape.lacks)
    if ours == theirs:
        return READ
    return f"wrong: {len(ours)} of {len(theirs)} events" if ours else "silent"


def outcomes() -> dict[tuple[str, str], dict[str, str | None]]:
    found: dict[tuple[str, str], dict[str, str | None]] = {}
    for shape in SHAPES:  # each alone, in a landing zone of its own
        for system in SYSTEMS:
            with tempfile.TemporaryDirectory() as folder:
                found.setdefault((shape.group, shape.name), {})[system] = outcome(shape, system, Path(folder))
    return found


def table(found: dict[tuple[str, str], dict[str, str | None]]) -> str:
    """The outcomes as a table of Markdown, with its count."""
    cells = [cell for row in found.values() for cell in row.values() if cell]
    read = sum(cell == READ for cell in cells)
    lines = [
        f"{len(cells)} shapes: {read} are read as the plain file, {len(cells) - read} are told.",
        "",
        "| | shape | " + " | ".join(SYSTEMS) + " |",
        "|---|---|" + "---|" * len(SYSTEMS),
    ]
    for (group, name), row in found.items():
        lines.append(f"| {group} | {name} | " + " | ".join(cell or "" for cell in row.values()) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{table(outcomes())}{END}{after}")


if __name__ == "__main__":
    main()
