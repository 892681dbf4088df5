"""What is fuzzed: a file of each dialect, in each envelope, and of each kind of metadata, landed as on an executor."""

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from election_replay.jobs.landing.ledger import NOTHING_LANDED
from election_replay.jobs.landing.listing import log_files
from election_replay.jobs.landing.plan import tasks_of
from election_replay.jobs.settings.config import Config
from election_replay.schemas import TABLES
from tests.jobs.zone import rows_of

HERE = Path(__file__).parent
KEPT = HERE / "kept"
"""A folder a target, with the inputs that are worth keeping: each reaches code that no smaller one reaches."""

DIALECTS = {
    "dialect rocketmq": "broker.log",
    "dialect zookeeper": "zookeeper.log",
    "dialect etcd": "etcd.log",
    "dialect canonical": "ring.events.jsonl",
}
METADATA = (
    *("consumerOffset.json", "delayOffset.json", "topics.json", "subscriptionGroup.json", "timercheck"),
    *("brokerIdentity", "brokerIdentity-temp", "epochFileCheckpoint", "currterm", "checkpoint"),
)
NODE = Path("c1/nodes/n1")


class LinesLost(AssertionError):
    """The counts of a landed file do not add up, or rows cannot be stored."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file that is fuzzed, by its place below the landing zone."""

    name: str
    file: Path

    @property
    def folder(self) -> Path:
        """Where its inputs are kept."""
        return KEPT / self.name.replace(" ", "-")


def targets() -> list[Target]:
    """All targets. An envelope's is any folder of kept inputs that is named after it."""
    logs, metadata = NODE / "logs", NODE / "metadata" / "20260301T090000Z"
    envelopes = sorted(folder.name for folder in KEPT.glob("envelope-*"))
    return [
        *(Target(name, logs / file) for name, file in DIALECTS.items()),
        *(Target(name.replace("-", " ", 1), logs / "broker.log") for name in envelopes),
        *(Target(f"metadata {name}", metadata / name) for name in METADATA),
    ]


def try_one(target: Target, data: bytes) -> None:
    """Land a file that holds ``data``; :class:`LinesLost` where a line is lost. Any other error is a defect, too."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / target.file
        file.parent.mkdir(parents=True)
        file.write_bytes(data)
        rows = landed(folder)
    check(rows)


def landed(landing: str) -> dict[str, list[dict[str, Any]]]:
    """The rows that a landing makes of all files."""
    config = Config()
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    files = log_files(landing, config.layout, config.metadata_layout)
    for task in tasks_of(files, NOTHING_LANDED, landing, config, 1):
        for table, row in rows_of(task, landing):
            rows[table].append(row)
    return rows


def check(rows: dict[str, list[dict[str, Any]]]) -> None:
    """Every line is an event, of no interest, or in quarantine, and each of the kept ones has its rows."""
    counts: Counter[str] = Counter()
    for row in rows["landed_files"]:
        counts.update({name: value or 0 for name, value in row.items() if name.startswith("lines_")})
    parts = counts["lines_event"] + counts["lines_ignored"] + counts["lines_quarantined"]
    if not rows["landed_files"] or counts["lines_total"] != parts:
        raise LinesLost(f"{counts['lines_total']} lines, and {parts} of them are accounted for")
    for name, table in (("lines_event", "events"), ("lines_event", "log_lines"), ("lines_quarantined", "quarantine")):
        if counts[name] != len(rows[table]):
            raise LinesLost(f"{counts[name]} {name}, and {len(rows[table])} rows of {table}")
