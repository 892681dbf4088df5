"""A landing zone that a test fills line by line, landed without Spark and Delta."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from election_replay.jobs.landing.listing import log_files
from election_replay.jobs.landing.new_files import read_otherwise, unseen
from election_replay.jobs.landing.one_file import land_task
from election_replay.jobs.landing.plan import EVIDENCE, tasks_of
from election_replay.jobs.settings.config import Config
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
        for task in tasks_of(files, stored("landed_files", landed), str(self.root), config, batch):
            for table, values in land_task(task, str(self.root)):
                made[table].append(as_stored(table, values))
        for table, rows in made.items():
            self.tables[table] += rows
        return made


def as_stored(table: str, values: tuple[Any, ...]) -> dict[str, Any]:
    """A row as it comes back from its table."""
    return {
        column.name: EPOCH + timedelta(microseconds=value)
        if column.type.sql == "TIMESTAMP" and value is not None
        else value
        for column, value in zip(TABLES[table].columns, values, strict=True)
    }


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
