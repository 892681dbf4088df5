"""Writes a small redacted copy of logs with the same verdict, to attach to a bug report.

It keeps the lines on which the verdict may rest, and one line a second of all others, which shows that a process was
alive. Addresses, hosts, and names of clusters, groups, topics and clients are replaced consistently; the mapping is
written beside the folder, never into it. The copy is judged again before it is written.
"""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from election_replay.election_core.model.streams import unpacked
from election_replay.jobs import JobError
from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.landing.blocks import Blocks
from election_replay.jobs.landing.landing_zone import open_landing
from election_replay.jobs.landing.lines import decoded
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.masking import masked
from election_replay.jobs.look import Looked, look
from election_replay.jobs.reading.published import Published
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse

NAMES = (
    ("cluster", "SELECT DISTINCT cluster FROM events UNION SELECT DISTINCT cluster_name FROM events"),
    ("group", "SELECT DISTINCT broker_name FROM events"),
    ("topic", "SELECT DISTINCT topic FROM events"),
    ("consumers", "SELECT DISTINCT consumer_group FROM events"),
    ("client", "SELECT DISTINCT client_id FROM events UNION SELECT DISTINCT peer_client_id FROM events"),
    ("node", "SELECT DISTINCT source_node FROM landed_files"),
)
"""Queries of the names that people gave, by kind; a name of two kinds counts as the first."""
LEAST_NAME = 4
"""Names with fewer characters are not replaced, nor are numbers: most matches would be other words."""
USUAL = frozenset(
    {
        *("broker", "cluster", "consumer", "controller", "default", "defaultcluster", "election", "follower", "leader"),
        *("learner", "logs", "master", "node", "nodes", "observer", "producer", "raft", "redis", "server", "slave"),
        *("etcd", "kafka", "rocketmq", "sentinel", "zookeeper", "unknown", "default_producer", "mymaster", "null"),
    }
)
"""Words that systems print themselves, which are never replaced."""
VERDICT = """
    SELECT rule, severity, certainty, start_time, duration_min_ms, duration_max_ms, overlap_min_ms, overlap_max_ms
    FROM findings
"""
INTERESTING = "SELECT path, line_no FROM log_lines"
NEAR = """
    SELECT DISTINCT line.path, line.line_no FROM log_lines AS line
    JOIN events AS event ON event.cluster = line.cluster AND event.event_id = line.event_id
    JOIN findings AS found ON found.cluster = line.cluster
        AND event.event_time BETWEEN found.start_time - INTERVAL 30 SECOND
            AND coalesce(found.end_time, found.start_time) + INTERVAL 30 SECOND
    UNION SELECT path, line_no FROM evidence_lines WHERE line_no IS NOT NULL
"""
CHOICES = (NEAR, INTERESTING)
"""Queries of the lines to keep: first those near findings; if they give another verdict, all lines of events."""

_V4 = r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.]\d)"
_V6 = r"(?<![\w:.])(?:[0-9a-fA-F]{1,4}:){3,7}[0-9a-fA-F]{1,4}(?![\w:])"
_HOST = r"(?<=://)[A-Za-z][\w.-]*[A-Za-z0-9]|(?<![\w./<-])[A-Za-z][\w.-]*(?=/\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})"
_EMAIL = r"[\w.+-]+@[\w-]+\.[\w.-]+"
NO_ADDRESS = frozenset({"0.0.0.0", "127.0.0.1", "255.255.255.255"})  # noqa: S104 - these identify no machine
_SECOND = re.compile(r"\d\d:\d\d:\d\d|\d{10}")
_STAMPED = re.compile(r"^\W{0,3}\d|^\W{0,3}[A-Z][a-z]{2} \d|^\{|\d\d:\d\d:\d\d")


@dataclass(slots=True)
class Redaction:
    """Replaces names consistently. ``names`` are given ones; ``replaced`` collects original -> replacement."""

    names: Mapping[str, str] = field(default_factory=dict)
    replaced: dict[str, str] = field(default_factory=dict)
    _pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        known = "|".join(re.escape(name) for name in sorted(self.names, key=len, reverse=True))
        literal = rf"|(?<![A-Za-z0-9_])(?:{known})(?![A-Za-z0-9_])" if known else ""
        self._pattern = re.compile(f"(?P<mail>{_EMAIL})|(?P<host>{_HOST}){literal}|(?P<v4>{_V4})|(?P<v6>{_V6})")

    def of(self, text: str) -> str:
        """Return ``text`` with names, hosts and addresses replaced and secrets masked."""
        return self._pattern.sub(self._replacement, masked(text))

    def _replacement(self, found: re.Match[str]) -> str:
        value = found.group()
        if value in NO_ADDRESS or value.lower() in USUAL:
            return value
        if value not in self.replaced:
            number = len(self.replaced) + 1
            self.replaced[value] = self.names.get(value) or _pseudonym(found.lastgroup or "", number)
        return self.replaced[value]


def _pseudonym(kind: str, number: int) -> str:
    match kind:
        case "v4":
            return f"10.254.{number // 250}.{number % 250 + 1}"
        case "v6":
            return f"fd00:0:0:0:0:0:0:{number:x}"
        case "mail":
            return f"somebody{number}@example.org"
        case _:
            return f"host{number}.example.org"


def given_names(published: Published) -> dict[str, str]:
    """Return the replacement of each name that people gave, such as ``group1``."""
    found: dict[str, str] = {}
    for kind, query in NAMES:
        values = sorted(str(value) for row in published.rows(query) for value in row.values() if value is not None)
        for number, value in enumerate(values, 1):
            if len(value) >= LEAST_NAME and not value.isdecimal() and value.lower() not in USUAL:
                found.setdefault(value, f"{kind}{number}")
    return found


def share(engine: Engine, looked: Looked, tables: Warehouse, out: Path, config: Config, scratch: Path) -> str:
    """Write the redacted folder ``out`` and the mapping beside it, and return a message about both.

    Raises :class:`JobError` if the redacted logs give another verdict.
    """
    published = Published(tables)
    names = names_file(out)
    redaction = Redaction(given_names(published))
    for attempt, choice in enumerate(CHOICES):
        made = scratch / f"share-{attempt}"
        wanted: dict[str, set[int]] = {}
        for row in published.rows(choice):
            wanted.setdefault(row["path"], set()).add(row["line_no"])
        counts = [
            _write_redacted(layout.root, file, wanted, redaction, made)
            for layout in looked.layouts
            for file in layout.files
        ]
        again = Warehouse(f"{scratch}/judged-{attempt}")
        look(engine, str(made), again, config, scratch / f"again-{attempt}")
        differences = differing(verdict(published), verdict(Published(again)))
        if not differences:
            break
    else:
        raise JobError("the redacted logs are judged in another way, so nothing is written:", *differences[:10])
    try:
        shutil.copytree(made, out)
        names.write_text(json.dumps(redaction.replaced, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise JobError(f"cannot write {out}: {error.strerror}") from None
    before, after = (sum(column) for column in zip(*counts, strict=True))
    return (
        f"Wrote {out}: {after:,} of {before:,} lines, judged again with the same verdict. {names} says which name "
        "stands for which: keep it to yourself, and read the folder before you send it."
    )


def free(out: Path) -> Path:
    """Return ``out``. Raises :class:`JobError` if it, or the mapping beside it, exists already."""
    for place in (out, names_file(out)):
        if place.exists():
            raise JobError(f"{place} is there already: give a new folder to --share")
    return out


def names_file(out: Path) -> Path:
    """Return the path of the mapping of original to replaced names."""
    return out.with_name(f"{out.name}.names.json")


def _write_redacted(
    root: str, file: LogFile, wanted: Mapping[str, set[int]], redaction: Redaction, out: Path
) -> tuple[int, int]:
    """Write one redacted file and return (its lines, lines written)."""
    place = out / redaction.of(file.cluster) / "nodes" / redaction.of(file.source_node)
    if file.below:
        place = place / "metadata" / file.below
    else:
        place = place / "logs" / redaction.of(_below_node(file)) / redaction.of(unpacked(file.name))
    lines = list(_lines(root, file))
    kept = lines if file.below else list(_kept(lines, wanted.get(file.path, set())))
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(f"{redaction.of(line)}\n" for line in kept), encoding="utf-8")
    return len(lines), len(kept)


def _below_node(file: LogFile) -> str:
    """Return a file's folders below its node's logs, which distinguish files of the same name."""
    folders = [part for part in PurePosixPath(file.path).parts[:-1] if part not in (file.cluster, file.source_node)]
    return "/".join(part for part in folders if part not in ("nodes", "logs", ".."))


def _lines(root: str, file: LogFile) -> Iterator[str]:
    blocks = Blocks(open_landing(root), file.path, file.size)
    for block in blocks:
        yield from _texts(block.data)
    if blocks.rest:
        yield from _texts(blocks.rest)


def _texts(data: bytes) -> list[str]:
    text = decoded(data)[0].decode("utf-8", "replace")
    return text.removesuffix("\n").split("\n")


def _kept(lines: list[str], wanted: set[int]) -> Iterator[str]:
    """Yield the ``wanted`` line numbers with their continuations, and of all others the first of each second.

    The last line is kept too.
    """
    second, continued = "", False
    for number, line in enumerate(lines, 1):
        if number in wanted:
            continued = True
            yield line
        elif not _STAMPED.search(line[:60]):
            if continued:
                yield line
        else:
            continued = False
            found = _SECOND.search(line)
            at = found.group() if found else ""
            if at != second or number == len(lines):
                second = at
                yield line


def verdict(published: Published) -> Counter[tuple[Any, ...]]:
    """Return the findings without any name, counted."""
    return Counter(tuple(row.values()) for row in published.rows(VERDICT))


def differing(before: Counter[tuple[Any, ...]], after: Counter[tuple[Any, ...]]) -> list[str]:
    """Return a line for each finding in which two verdicts differ."""
    return [
        f"  {'vanished' if key in before - after else 'appeared'}: {key[1]} ({key[2]}) {key[0]} {key[3]}"
        for key in sorted((before - after) + (after - before), key=str)
    ]
