"""Turn the new rows of a Delta table of raw lines into log files for a landing.

Each row is taken once: a landing takes the rows that were added by table versions after the one it recorded last, and
records the newest version with what it landed. Versions that only compacted or sorted files added no rows. Rows may
come late and in any order.
"""

import json
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from tempfile import gettempdir
from typing import Any
from urllib.parse import unquote

import duckdb
import pyarrow.dataset as ds
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pyarrow import fs

from election_replay.jobs import JobError
from election_replay.jobs.landing.event_lines import digest
from election_replay.jobs.landing.listing import LogFile, OfTable
from election_replay.jobs.landing.new_files import micros
from election_replay.jobs.landing.one_file import Task
from election_replay.jobs.settings.config import Config, RawTable
from election_replay.jobs.warehouse.stores import absolute, file_system, for_arrow, path_for_delta_rs
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import landed_files
from election_replay.schemas.landed_files import LANDED_STATES
from election_replay.schemas.model import sql_text

ROWS = 50_000
"""Rows that are held as Python objects at one time."""
LONGEST_PART = 120
"""The longest name of a folder or file, in characters, that is kept as it is."""
UNNAMED = "lines.log"
"""The name of a log where the table gives none."""

READ = """
    SELECT cluster, node, file, position, message FROM raw_lines
    QUALIFY position IS NULL OR row_number() OVER (PARTITION BY cluster, node, file, position ORDER BY arrived) = 1
    ORDER BY cluster, node, file, position NULLS LAST, try_cast(time AS DOUBLE), time, arrived
"""


@dataclass(frozen=True, slots=True)
class Known:
    """What is landed of a log: fingerprint, time of its beginning (us UTC), number of lines, and last position."""

    fingerprint: str
    file_time: int | None
    lines: int
    last: int


@dataclass(frozen=True, slots=True)
class RawLines:
    """A table of raw lines, how the settings map its columns, and its version at the last landing.

    ``since`` is None for a table that was never landed.
    """

    mapping: RawTable
    table: DeltaTable
    since: int | None

    @property
    def table_id(self) -> str:
        """Return the id that Delta gave the table."""
        return str(self.table.metadata().id)


def opened(name: str, warehouse: Warehouse, config: Config) -> RawLines:
    """Open the table whose name or path in the settings is ``name``.

    Raises :class:`~jobs.JobError` when the settings do not list it, or when it cannot be opened.
    """
    mapping = next((table for table in config.tables if name in {table.name, table.path}), None)
    if mapping is None:
        raise JobError(
            f"nothing says what the columns of {name} are: list it below `tables` in the settings, such as "
            f"- {{name: raw_lines, path: {name}, preset: fluent-bit}}"
        )
    place = mapping.path or name
    try:
        table = DeltaTable(for_arrow(path_for_delta_rs(absolute(place))))
    except (DeltaError, OSError) as error:
        raise JobError(f"cannot open the table {place}: {str(error).splitlines()[0]}") from error
    found = warehouse.rows(landed_files.TABLE.name, ["table_id", "table_version"])
    versions = [row["table_version"] for row in found if row["table_id"] == str(table.metadata().id)]
    return RawLines(mapping, table, max(versions, default=None))


def added(raw: RawLines) -> Iterator[ds.Dataset]:
    """Yield Arrow datasets of the rows that are new; all rows for a table that was never landed.

    Raises :class:`~jobs.JobError` when a version rewrote rows, or when the table's log no longer has a version.
    """
    newest = raw.table.version()
    if raw.since is None:
        yield dataset_of(raw.table)
        return
    system, root = file_system(raw.table.table_uri)
    for version in range(raw.since + 1, newest + 1):
        actions = list(commit(system, root, version, raw))
        new = {unquote(action["add"]["path"]) for action in actions if action.get("add", {}).get("dataChange")}
        if new and any(action.get("remove", {}).get("dataChange") for action in actions):
            raise JobError(
                f"version {version} of {raw.mapping.name} rewrote rows (UPDATE, MERGE or overwrite), so that nothing "
                "says which are new: raw lines are only to be appended"
            )
        if new:
            at = DeltaTable(raw.table.table_uri, version=version)
            whole = dataset_of(at)
            files = [part for part in whole.get_fragments() if any(part.path.endswith(path) for path in new)]
            yield ds.FileSystemDataset(files, whole.schema, whole.format, whole.filesystem)


def commit(system: fs.FileSystem, root: str, version: int, raw: RawLines) -> Iterator[dict[str, Any]]:
    """Yield the actions of one version of the table.

    Raises :class:`~jobs.JobError` when the table's log no longer has that version.
    """
    try:
        with system.open_input_stream(f"{root}/_delta_log/{version:020}.json") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        raise JobError(
            f"the log of {raw.mapping.name} has its version {version} no longer, so that nothing says which rows are "
            "new since the last landing: land it more often than its log is cleaned, or into a new warehouse"
        ) from None
    yield from map(json.loads, filter(None, lines))


def dataset_of(table: DeltaTable) -> Any:
    """Return the rows of a table as an Arrow dataset; raises :class:`~jobs.JobError` when Arrow cannot read it."""
    try:
        return table.to_pyarrow_dataset()
    except (DeltaError, OSError) as error:
        raise JobError(f"the table {table.table_uri} cannot be read: {str(error).splitlines()[0]}") from error


def logs_in(raw: RawLines, into: str, warehouse: Warehouse) -> list[LogFile]:
    """Write the new rows into the folder ``into`` and return a log file for each log that has new rows.

    Each log becomes two files: its lines, and the position of each line as a 64-bit integer.
    """
    version, known = raw.table.version(), known_logs(warehouse, raw)
    system, root = file_system(into)
    files = []
    with duckdb.connect() as database:
        take(database, raw)
        for (cluster, node, log), rows in by_log(database):
            path = "/".join([part_of(cluster), "nodes", part_of(node), "logs", *map(part_of, log.split("/"))])
            shown = f"{raw.mapping.name}/{path}"
            before = known.get((cluster, node, shown))
            new = without_known(rows, before, warehouse, cluster, shown)
            if not new:
                continue
            text = "".join(f"{line}\n" for _, message in new for line in message.split("\n")).encode()
            numbers = [at for at, message in new for _ in message.split("\n")]
            placed = numbers[0] is not None
            places = array("q", [number or 0 for number in numbers] if placed else range(1, len(numbers) + 1))
            write(system, f"{root}/lines/{path}", text)
            write(system, f"{root}/positions/{path}", places.tobytes())
            continued = before if placed else None  # rows without positions are a log of their own
            about = OfTable(
                raw.table_id,
                version,
                f"positions/{path}",
                shown,
                continued.fingerprint if continued else "",
                continued.file_time if continued else None,
                continued.lines if continued else 0,
            )
            files.append(LogFile(f"lines/{path}", cluster, node, len(text), None, settled=True, of_table=about))
    return files


def take(database: duckdb.DuckDBPyConnection, raw: RawLines) -> None:
    """Copy the new rows into the table ``raw_lines`` of the database, which spills to disk what exceeds memory.

    Raises :class:`~jobs.JobError` when the settings of the table do not fit its columns.
    """
    part = raw.mapping.expression
    database.execute("SET TimeZone = 'UTC'")
    database.execute("SET temp_directory = ?", [gettempdir()])
    database.execute("SET python_enable_replacements = false")
    database.execute(
        "CREATE TABLE raw_lines (cluster VARCHAR, node VARCHAR, file VARCHAR, position BIGINT, time VARCHAR, "
        "message VARCHAR, arrived BIGINT)"
    )
    select = (
        "INSERT INTO raw_lines "  # noqa: S608 - the operator's own settings
        f"SELECT coalesce(nullif(CAST({part('cluster') or sql_text(raw.mapping.name)} AS VARCHAR), ''), 'unknown'), "
        f"coalesce(nullif(CAST({part('node')} AS VARCHAR), ''), 'unknown'), "
        f"coalesce(nullif(CAST({part('file') or sql_text(UNNAMED)} AS VARCHAR), ''), {sql_text(UNNAMED)}), "
        f"CAST({part('position') or 'NULL'} AS BIGINT), CAST({part('time') or 'NULL'} AS VARCHAR), "
        f"rtrim(CAST({part('message')} AS VARCHAR), chr(10) || chr(13)), row_number() OVER () "
        f"FROM rows WHERE ({part('message')}) IS NOT NULL"
    )
    for rows in added(raw):
        database.register("rows", rows)
        try:
            database.execute(select)
        except duckdb.Error as error:
            there = ", ".join(rows.schema.names)
            raise JobError(
                f"the settings of the table {raw.mapping.name} do not fit it: {str(error).splitlines()[0]}",
                f"Its columns are: {there}",
            ) from error


Log = tuple[str, str, str]
"""(cluster, node, file)."""
Line = tuple[int | None, str]
"""(position, text); the position is None where the table gives none."""


def by_log(database: duckdb.DuckDBPyConnection) -> Iterator[tuple[Log, list[Line]]]:
    """Yield each log with its rows: by position, then by time and arrival; a position that comes again is left out."""
    log: Log | None = None
    lines: list[Line] = []
    reader = database.sql(READ).to_arrow_reader(ROWS)
    for batch in reader:
        columns = [batch.column(number).to_pylist() for number in range(batch.num_columns)]
        for cluster, node, file, position, message in zip(*columns, strict=True):
            if log != (cluster, node, file):
                if log is not None:
                    yield log, lines
                log, lines = (cluster, node, file), []
            lines.append((position, message))
    if log is not None:
        yield log, lines


def known_logs(warehouse: Warehouse, raw: RawLines) -> Mapping[tuple[str, str, str], Known]:
    """Return (cluster, node, path) -> what is landed of that log of the table."""
    columns = ["batch", "cluster", "source_node", "path", "fingerprint", "file_time", "lines_landed", "last_line_no"]
    rows = warehouse.rows(landed_files.TABLE.name, [*columns, "table_id", "status"])
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["batch"]):
        if row["table_id"] == raw.table_id and row["status"] in LANDED_STATES:
            found[row["cluster"], row["source_node"], row["path"]].append(row)
    return {
        log: Known(
            fingerprint=parts[0]["fingerprint"],
            file_time=micros(parts[0]["file_time"]),
            lines=parts[-1]["lines_landed"],
            last=max((part["last_line_no"] or 0 for part in parts), default=0),
        )
        for log, parts in found.items()
    }


def without_known(rows: list[Line], before: Known | None, warehouse: Warehouse, cluster: str, path: str) -> list[Line]:
    """Return the rows except those at whose position an event was landed already, as shippers send some lines twice.

    All rows of a new log are returned, and rows that have no positions or begin behind the last landed one.
    """
    if before is None or rows[0][0] is None or rows[0][0] > before.last:
        return rows
    of_log = (ds.field("cluster") == cluster) & (ds.field("source_file") == path)
    there = warehouse.dataset("events").to_table(["line_no"], filter=of_log)["line_no"]
    known = set(there.to_pylist())
    return [row for row in rows if row[0] not in known]


def told_apart(tasks: Iterable[Task], warehouse: Warehouse) -> list[Task]:
    """Return the tasks with a fingerprint of its own for each new log that begins like one landed before."""
    columns = ("cluster", "source_node", "stream", "head")
    landed = {tuple(row.values()) for row in warehouse.rows(landed_files.TABLE.name, columns)}

    def apart(file: LogFile) -> LogFile:
        about = file.of_table
        if about is None or about.fingerprint:
            return file
        return replace(file, of_table=replace(about, fingerprint=digest(f"{about.table_id}|{about.path}".encode())))

    return [
        replace(task, files=tuple(map(apart, task.files)))
        if (task.cluster, task.source_node, task.stream, task.head) in landed
        else task
        for task in tasks
    ]


def part_of(name: str) -> str:
    """Return a name as one part of a path; one that is too long or could lead elsewhere is changed and gets a hash."""
    safe = "".join(sign if sign.isprintable() and sign not in "/\\%:" else "_" for sign in name)[:LONGEST_PART]
    if safe == name and safe.strip("."):
        return name
    return f"{safe.strip('.') or '_'}-{sha256(name.encode()).hexdigest()[:8]}"


def write(system: fs.FileSystem, path: str, data: bytes) -> None:
    """Write a file and create the folders above it."""
    system.create_dir(path.rpartition("/")[0], recursive=True)
    with system.open_output_stream(path) as file:
        file.write(data)
