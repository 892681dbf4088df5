"""A landing zone that a test fills line by line, landed without Spark and Delta."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from election_replay.jobs.landing.event_lines import in_batches
from election_replay.jobs.landing.listing import log_files
from election_replay.jobs.landing.new_files import read_otherwise, unseen
from election_replay.jobs.landing.one_file import Task, land_task
from election_replay.jobs.landing.plan import EVIDENCE, tasks_of
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.data_files import record_batch, with_all_columns
from election_replay.schemas import TABLES

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Zone:
    """A landing zone of one cluster and node, and what was landed of it so far, without Spark and Delta."""

    def __init__(self, root: Path, config: Config | None = None) -> None:
        self.root = root
        self.config = config or Config()
        self.logs = root / "c1" / "nodes" / "n1" / "logs"
        self.logs.mkdir(parents=True)
        self.tables: dict[str, list[dict[str, Any]]] = {name: [] for name in (*EVIDENCE, "landed_files")}

    def write(self, name: str, data: bytes | str) -> Path:
        """Write a log file whole."""
        path = self.logs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def append(self, name: str, data: str) -> None:
        """Let a log file grow."""
        path = self.logs / name
        self.write(name, (path.read_bytes() if path.exists() else b"") + data.encode())

    def land(self) -> dict[str, list[dict[str, Any]]]:
        """Land what is new; the rows that this made."""
        config, landed = self.config, self.tables["landed_files"]
        read = [row for row in landed if not read_otherwise(row, config)]
        files = unseen(log_files(str(self.root), config.layout, config.metadata_layout), read)
        batch = 1 + max((row["batch"] for row in landed), default=0)
        made: dict[str, list[dict[str, Any]]] = {name: [] for name in self.tables}
        if not files:
            return made
        for task in tasks_of(files, stored("landed_files", landed), str(self.root), config, batch):
            for table, row in rows_of(task, self.root):
                made[table].append(row)
        for table, rows in made.items():
            self.tables[table] += rows
        return made


def rows_of(task: Task, landing: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a task's files as they come back from their tables, each with the name of its table."""
    for table, rows in in_batches(land_task(task, str(landing))):
        made = record_batch(TABLES[table], [rows]) if isinstance(rows, tuple) else with_all_columns(TABLES[table], rows)
        yield from ((table, row) for row in made.to_pylist())


def stored(table: str, rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as their table holds them."""
    return pa.Table.from_pylist(rows, TABLES[table].arrow_schema())


def line(second: int, message: str, thread: str = "StateMaintainer") -> str:
    """A line of a RocketMQ log, ``second`` seconds after 17:00 in GMT+8."""
    return f"2026-03-01 {17 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d} INFO {thread} - {message}\n"


def leads(second: int, term: int = 1, node: str = "n1") -> str:
    """A line of interest."""
    return line(second, f"[{node}] [ChangeRoleToLeader] from term: {term} and currTerm: {term}")


def noise(second: int) -> str:
    """A line of no interest."""
    return line(second, "nothing worth telling", "main")


def election(second: int, term: int, winner: str = "n1") -> str:
    """The log of a node around an election that it wins."""
    return (
        line(second, f"[{winner}] [ChangeRoleToCandidate] from term: {term - 1} and currTerm: {term - 1}")
        + noise(second + 1)
        + leads(second + 2, term, winner)
        + noise(second + 3)
    )
