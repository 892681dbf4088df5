"""Looks up what former landings recorded of files, as far as this landing needs it, by columns, in Arrow and DuckDB.

``landed_files`` has a row for each file and landing, so it grows with the nights. It is never held whole: only those
rows become Python objects that are of files in the landing zone, or of files that begin as one of them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from tempfile import gettempdir
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import landed_files

ROWS = 10_000
"""How many rows are Python objects at once."""

FILE = ("cluster", "source_node", "stream", "head", "fingerprint")
"""The columns that name a file."""

Stream = tuple[str, str, str]
"""Cluster, node and stream."""

Heads = Mapping[tuple[str, str, str, int, str], str]
"""Cluster, node, stream, the length of a file and its SHA-256 -> its head."""

NOTHING_LANDED = landed_files.TABLE.arrow_schema().empty_table()
"""The ledger before the first landing."""


def rows_like(warehouse: Warehouse, files: Sequence[LogFile], columns: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of files of the same node, size and time of change as one of ``files``, in the order of landings.

    A night's files changed at about the same time, so Arrow leaves out most other nights by their times alone.
    """
    if warehouse.version(landed_files.TABLE.name) is None:
        return
    listed = {
        "cluster": pa.array([file.cluster for file in files], pa.string()),
        "source_node": pa.array([file.source_node for file in files], pa.string()),
        "file_bytes": pa.array([file.size for file in files], pa.int64()),
        "modified": pa.array([file.modified for file in files], pa.int64()),
    }
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        database.register("listed", pa.table(listed))
        times = listed["modified"].drop_null().cast(landed_files.TABLE.arrow_schema().field("modified_at").type)
        of = pc.field("modified_at").isin(times) & (pc.field("status") != landed_files.PART)
        names = [*{*columns, "cluster", "source_node", "file_bytes", "modified_at"}]
        database.register("landed", warehouse.dataset(landed_files.TABLE.name).scanner(names, filter=of).to_reader())
        landed = "(SELECT *, epoch_us(modified_at) AS modified FROM landed)"
        like = f"{landed} SEMI JOIN listed USING (cluster, source_node, file_bytes, modified)"
        found = database.sql(f"SELECT {', '.join(columns)} FROM {like} ORDER BY batch").to_arrow_reader(ROWS)  # noqa: S608
        for batch in found:
            yield from batch.to_pylist()


@dataclass(frozen=True, slots=True)
class Opening:
    """The beginning of a new file: its head, and the SHA-256 of its first bytes, by the number of these bytes."""

    cluster: str
    source_node: str
    stream: str
    head: str
    hashes: Mapping[int, str]


class Ledger:
    """The files landed so far, where ``landed`` are all rows of ``landed_files``.

    The columns that tell where the files of the nodes in question ended are read once, and stay in DuckDB. Whole rows
    are read only of the files that are asked for, in the landings that read them: their number follows from the new
    files, not from the nights. Before the first landing nothing is read.
    """

    def __init__(self, landed: ds.Dataset | pa.Table, files: Iterable[LogFile], up_to: int) -> None:
        """Read from ``landed`` where the files of the nodes of ``files``, the new ones, ended.

        A file that was landed up to at most ``up_to`` bytes is short: all it holds may identify it. That goes too for a
        file that has grown since: what it held when it was first landed may identify it.
        """
        in_memory = isinstance(landed, pa.Table)
        self._landed = ds.dataset(landed) if in_memory else landed
        self._empty = not landed.num_rows if in_memory else next(landed.get_fragments(), None) is None
        if self._empty:
            return
        nodes = {(file.cluster, file.source_node) for file in files}
        clusters, names = (pa.array(sorted({node[at] for node in nodes}), pa.string()) for at in (0, 1))
        self._wanted = pc.field("cluster").isin(clusters) & pc.field("source_node").isin(names)
        self._wanted &= pc.field("status").isin(landed_files.LANDED_STATES)
        self._database = duckdb.connect()
        self._database.execute("SET TimeZone = 'UTC'")
        self._database.execute("SET temp_directory = ?", [gettempdir()])
        columns = [*FILE, "batch", "bytes_landed", "content_hash"]
        self._database.register("landed", self._landed.scanner(columns, filter=self._wanted).to_reader())
        self._database.execute(
            f"CREATE TABLE files AS SELECT {', '.join(FILE)}, list(batch) AS batches, min(batch) AS first, "  # noqa: S608
            "[min_by((bytes_landed, content_hash), (batch, bytes_landed)) FILTER (bytes_landed > 0), "
            "max_by((bytes_landed, content_hash), (batch, bytes_landed))] AS landed FROM landed GROUP BY ALL"
        )
        self._database.execute(
            "CREATE TABLE short AS SELECT DISTINCT cluster, source_node, stream, head, landed[1] AS length, "
            "landed[2] AS content_hash FROM (SELECT * REPLACE (unnest(landed) AS landed) FROM files) "
            "WHERE length BETWEEN 1 AND ?",
            [up_to],
        )

    def lengths(self) -> Mapping[Stream, Sequence[int]]:
        """Return the lengths in bytes of the short files of each stream: where else a file may begin as one of them
        does."""
        if self._empty:
            return {}
        found = self._database.sql(
            "SELECT cluster, source_node, stream, list(DISTINCT length) AS lengths FROM short GROUP BY ALL"
        )
        return {(cluster, node, stream): sorted(lengths) for cluster, node, stream, lengths in found.fetchall()}

    def heads(self, openings: Sequence[Opening]) -> Heads:
        """Return the heads of files that held, when they were short, what one of ``openings`` begins with."""
        if self._empty:
            return {}
        self._database.register("asked", asked(openings))
        found = self._database.sql(
            "SELECT cluster, source_node, stream, length, content_hash, min(head) FROM short "
            "SEMI JOIN asked USING (cluster, source_node, stream, length, content_hash) GROUP BY ALL"
        )
        return {tuple(beginning): head for *beginning, head in found.fetchall()}

    def rows(self, openings: Sequence[Opening], columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the rows of all files that begin as one of ``openings``: by their heads, or by all they held when
        short.

        The rows of the stream that was landed first come first; those of a stream are in the order of landings.
        """
        if self._empty:
            return
        run = self._database.execute
        self._database.register("asked", asked(openings))
        run(
            "CREATE TABLE heads AS SELECT cluster, source_node, head FROM asked UNION "
            "SELECT cluster, source_node, head FROM short "
            "SEMI JOIN asked USING (cluster, source_node, stream, length, content_hash)"
        )
        run("CREATE TABLE found AS FROM files SEMI JOIN heads USING (cluster, source_node, head)")
        run(
            "CREATE TABLE streams AS SELECT cluster, source_node, stream, min(first) AS first FROM files "
            "SEMI JOIN found USING (cluster, source_node, stream) GROUP BY ALL"
        )
        batches = [batch for (batch,) in self._database.sql("SELECT DISTINCT unnest(batches) FROM found").fetchall()]
        of = self._wanted & pc.field("batch").isin(pa.array(batches, pa.int64()))
        self._database.register("rows", self._landed.scanner([*columns], filter=of).to_reader())
        found = self._database.sql(
            f"SELECT {', '.join(columns)} FROM rows SEMI JOIN heads USING (cluster, source_node, head) "  # noqa: S608
            "JOIN streams USING (cluster, source_node, stream) ORDER BY first, stream, batch, bytes_landed"
        )
        for batch in found.to_arrow_reader(ROWS):
            yield from batch.to_pylist()


def asked(openings: Iterable[Opening]) -> pa.Table:
    """Return the beginnings of new files as a table: a row for each length, and one without."""
    rows = [
        (opening.cluster, opening.source_node, opening.stream, opening.head, length, content_hash)
        for opening in openings
        for length, content_hash in ((None, None), *opening.hashes.items())
    ]
    shape = pa.schema(
        [*((name, pa.string()) for name in FILE[:4]), ("length", pa.int64()), ("content_hash", pa.string())]
    )
    return pa.Table.from_pylist([dict(zip(shape.names, row, strict=True)) for row in rows], shape)
