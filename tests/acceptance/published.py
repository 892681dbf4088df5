"""The published tables as any Delta reader sees them: ``gold/published`` names whose rows are current."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltalake import DeltaTable

from election_replay.jobs.warehouse.pointer import OF_GROUP
from election_replay.schemas import TABLES
from election_replay.schemas.findings import OF_RUNS

if TYPE_CHECKING:
    from election_replay.jobs.engines.engine import Engine

Row = dict[str, Any]

OF_THE_RUN = {"runs", "validations", "landed_files", "published", "judged"}
"""Tables that tell of one run, and of when files were made."""


@dataclass(frozen=True)
class Warehouse:
    """A warehouse that `election-replay run` has published at least once."""

    path: Path

    def _rows(self, table: str, version: int | None = None, columns: tuple[str, ...] = ()) -> list[Row]:
        found = DeltaTable(str(self.path / table), version=version).to_pyarrow_table(columns=[*columns] or None)
        return list(found.to_pylist())

    @cached_property
    def manifest(self) -> Row:
        """The newest published row of ``gold/runs``."""
        published = [row for row in self._rows("gold/runs") if row["published_at"] is not None]
        return max(published, key=lambda row: row["published_at"])

    def rows(self, table: str, *columns: str) -> list[Row]:
        """All published rows of a table such as ``gold/terms``; of one of another layer only these columns."""
        name = table.rpartition("/")[2]
        if not TABLES[name].by_run:
            return self._rows(table, dict(self.manifest["versions"])[name], columns)
        assert not columns, "whose rows are published stands in other ones"
        return [row for row in self._rows(table) if tuple(map(row.get, OF_GROUP)) in self._pointer]

    @cached_property
    def _pointer(self) -> set[tuple[Any, ...]]:
        """Whose rows are published of each group."""
        return {tuple(map(row.get, OF_GROUP)) for row in self._rows("gold/published")}

    def newest(self, table: str, *columns: str) -> list[Row]:
        """All rows of a table as it is now, published or not; only these columns, if any are named."""
        return self._rows(table, columns=columns)


def ordered(rows: Iterable[Row]) -> list[str]:
    """Rows as texts in an order of their own, without what they say of runs: two nights of the same logs are alike."""
    of_logs = ({name: value for name, value in row.items() if name not in OF_RUNS} for row in rows)
    return sorted(json.dumps(row, default=str, sort_keys=True) for row in of_logs)


WITHOUT_JAVA = ("--engine", "local")
"""A way to run it, while which no program is found."""


def election_replay(*arguments: object, env: Mapping[str, str] | None = None) -> str:
    """Runs the command as a user would, in a process of its own; returns what it printed."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; import election_replay.jobs.cli.app; sys.exit(election_replay.jobs.cli.app.main())",
            *map(str, arguments),
        ],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def replay(landing: Path, warehouse: Path, *options: object, env: Mapping[str, str] | None = None) -> Warehouse:
    """Lands, replays and publishes one landing zone."""
    nothing = {"PATH": "/nothing", "JAVA_HOME": "/nothing"} if options == WITHOUT_JAVA else {}
    election_replay("run", "--landing", landing, "--warehouse", warehouse, *options, env={**nothing, **(env or {})})
    return Warehouse(warehouse)


def replay_here(landing: Path, warehouse: Path, *options: object) -> Warehouse:
    """The same by the local engine in this process, which has imported all that a process of its own would import."""
    from election_replay.jobs.cli.app import main

    arguments = ("--landing", landing, "--warehouse", warehouse, *WITHOUT_JAVA, *options)
    assert main(["run", *map(str, arguments)]) == 0
    return Warehouse(warehouse)


def replay_in(engine: "Engine", landing: Path, warehouse: Path) -> Warehouse:
    """The same by an engine that is there already."""
    from election_replay.jobs.land import land
    from election_replay.jobs.landing.new_files import new_files
    from election_replay.jobs.replay import replay as publish
    from election_replay.jobs.settings.config import Config
    from election_replay.jobs.warehouse.warehouse import Warehouse as Tables

    config, tables = Config(), Tables(str(warehouse))
    land(engine, new_files(str(landing), tables, config), str(landing), tables, config)
    publish(engine, tables, config.inventoried())
    return Warehouse(warehouse)
