"""Rows that are replaced by their key: a night writes anew only the files that hold some of its own.

The name of a file says between which places its keys lie (:func:`~jobs.warehouse.data_files.place`), and files of a
table hardly overlap: those that may hold rows that go are written anew without them, and with the new rows where these
are few, sorted by their place. A file is small enough that most of them hold nothing of a usual night, and large enough
that a table has some hundred at most: their number follows that of the rows and not that of the nights.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from election_replay.jobs.warehouse.data_files import (
    FILE_ROWS,
    FIRST,
    LAST,
    PLACES,
    DataFile,
    in_shape,
    keys_of,
    place,
    write_data_files,
)
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

LEAST_ROWS = 2_000
"""So many rows a file has, about, in a table that is no larger than :data:`TABLE_FILES` of them."""

TABLE_FILES = 200
"""About so many files a larger table has, until they hold :data:`~jobs.warehouse.data_files.FILE_ROWS` rows each."""

SMALL = 4
"""A file with fewer rows than one part of so many of what a file of its table should have is small."""

MOST_SMALL = 16
"""More small files of a table than these are joined."""

FEW_ROWS = 200_000
"""So many rows are written anew by the driver, sooner than others have begun; so many new ones go into files of old."""

READ_ROWS = 50_000
"""So many rows are looked at together."""

PIECE_ROWS = 200_000
"""About so many rows are written anew at once."""

MANY_RUNS = 100
"""More runs of rows than these are copied row by row."""

Places = np.ndarray[Any, np.dtype[np.int64]]
"""The places of rows, as numbers."""

Flags = np.ndarray[Any, np.dtype[np.bool_]]

Each = Callable[[Callable[["Piece"], list[DataFile]], Sequence["Piece"]], list[list[DataFile]]]
"""How an engine works on each of some items."""


@dataclass(frozen=True, slots=True)
class DeletedKeys:
    """The rows that go: all of some clusters, and those of some keys in others."""

    clusters: frozenset[str] = frozenset()
    keys: frozenset[tuple[str, str]] = frozenset()

    @property
    def places(self) -> list[tuple[str, str]]:
        """Between which places they lie, in order; none lies in another."""
        whole = ((place(cluster, "")[:4] + FIRST[:4], place(cluster, "")[:4] + LAST[:4]) for cluster in self.clusters)
        found: list[tuple[str, str]] = []
        for first, last in sorted({*whole, *((at, at) for at in starmap(place, self.keys))}):
            if found and last <= found[-1][1]:
                continue
            if found and first == found[-1][0]:
                found.pop()
            found.append((first, last))
        return found

    def between(self, first: str, last: str) -> "DeletedKeys":
        """Those of them that may lie between two places."""
        clusters = (cluster for cluster in self.clusters if first[:4] <= place(cluster, "")[:4] <= last[:4])
        return DeletedKeys(frozenset(clusters), frozenset(key for key in self.keys if first <= place(*key) <= last))


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file of a table as it is: its path and size in bytes, its rows (``None``: unknown), the places of its keys."""

    path: str
    size: int
    rows: int | None
    first: str
    last: str

    @property
    def named(self) -> bool:
        """Whether its name says which keys may be in it."""
        return PLACES.fullmatch(self.path) is not None

    def meets(self, first: str, last: str) -> bool:
        """Whether some of its keys may lie between two places."""
        return self.first <= last and first <= self.last


@dataclass(frozen=True, slots=True)
class Piece:
    """Of some files of a table the rows from a place to before another, but for those that go.

    ``news`` are new files, of which all rows stay. No new file of about ``file_rows`` rows goes beyond one of the
    ``borders``: there lie files that are not touched.
    """

    table: str
    root: str
    files: tuple[str, ...]
    first: int
    end: int
    gone: DeletedKeys
    news: tuple[str, ...] = ()
    borders: tuple[int, ...] = ()
    file_rows: int = FILE_ROWS


@dataclass(frozen=True, slots=True)
class RewritePlan:
    """The files of a table that are written anew, in pieces; ``merged`` are the new ones whose rows go with them."""

    table: str
    version: int
    files: tuple[TableFile, ...] = ()
    pieces: tuple[Piece, ...] = ()
    merged: tuple[DataFile, ...] = ()

    @property
    def rows(self) -> int:
        """About how many rows are written anew."""
        return rows_in(self.files) + sum(file.rows for file in self.merged)


def anew(warehouse: Warehouse, table: str, gone: DeletedKeys, news: Iterable[DataFile] = ()) -> RewritePlan:
    """What is to be written anew where the rows of ``table`` that are ``gone`` go, and the files ``news`` come."""
    every, places = files_of(warehouse, table), gone.places
    chosen = [file for file in every if touched(file.first, file.last, places)]
    of_table = tuple(file for file in news if file.table == table)
    merged = of_table if chosen and sum(file.rows for file in of_table) <= FEW_ROWS else ()
    others = [file for file in small_ones(every) if file not in chosen]
    if len(others) > MOST_SMALL:
        chosen += others
    return written_again(warehouse, table, every, chosen, gone, merged)


def joining(warehouse: Warehouse, table: str) -> RewritePlan:
    """What is to be written anew so that small files come together, and each file says which keys may be in it."""
    every = files_of(warehouse, table)
    small = small_ones(every)
    chosen = [file for file in every if not file.named or (file in small and len(small) > 1)]
    return written_again(warehouse, table, every, chosen, DeletedKeys())


def files_of(warehouse: Warehouse, table: str) -> list[TableFile]:
    """The files of a table."""
    return lying(pa.table(warehouse.opened(table).get_add_actions()))


def small_ones(files: Collection[TableFile]) -> list[TableFile]:
    """Those of a table's files that have much fewer rows than they should."""
    few = rows_a_file(files) // SMALL
    return [file for file in files if file.rows is not None and file.rows < few]


def rows_in(files: Iterable[TableFile]) -> int:
    """About how many rows some files hold."""
    return sum(FEW_ROWS if file.rows is None else file.rows for file in files)


def rows_a_file(files: Iterable[TableFile]) -> int:
    """How many rows a file of a table should have, which has those ``files`` now."""
    return min(FILE_ROWS, max(LEAST_ROWS, rows_in(files) // TABLE_FILES))


def written_again(
    warehouse: Warehouse,
    table: str,
    every: Collection[TableFile],
    chosen: Sequence[TableFile],
    gone: DeletedKeys,
    merged: Sequence[DataFile] = (),
) -> RewritePlan:
    """Those files that are ``chosen`` of a table, to be written anew without rows ``gone`` and with new ones.

    They are cut into pieces of about as many rows.
    """
    version = warehouse.opened(table).version()
    if not chosen:
        return RewritePlan(table, version)
    coming = [TableFile(file.path, file.size, file.rows, *placed(file.path)) for file in merged]
    files = [*chosen, *coming]
    first, last = (int(digits, 16) for digits in (min(file.first for file in files), max(file.last for file in files)))
    count = rows_in(files) // PIECE_ROWS + 1
    ends = sorted({first + (last + 1 - first) * number // count for number in range(count + 1)})
    others = {*every}.difference(chosen)
    borders = sorted(int(file.first, 16) for file in others if file.named)
    cut = []
    for begin, end in pairwise(ends):
        between = f"{begin:08x}", f"{end - 1:08x}"
        piece = Piece(
            table=table,
            root=warehouse.root,
            files=tuple(file.path for file in chosen if file.meets(*between)),
            first=begin,
            end=end,
            gone=gone.between(*between),
            news=tuple(file.path for file in coming if file.meets(*between)),
            borders=tuple(border for border in borders if begin < border < end),
            file_rows=rows_a_file(every),
        )
        if piece.files or piece.news:
            cut.append(piece)
    return RewritePlan(table, version, tuple(chosen), tuple(cut), tuple(merged))


def lying(actions: pa.Table) -> list[TableFile]:
    """The files that Delta's log names."""
    found = []
    for path, size, rows in zip(
        *(actions[name].to_pylist() for name in ("path", "size_bytes", "num_records")), strict=True
    ):
        found.append(TableFile(path, size, rows, *placed(path)))
    return found


def touched(first: str, last: str, places: Sequence[tuple[str, str]]) -> bool:
    """Whether a file whose keys lie between two places may hold rows of some of these ``places``."""
    at = bisect_left(places, first, key=itemgetter(1))
    return at < len(places) and places[at][0] <= last


def of_keys(rows: ds.Dataset, gone: DeletedKeys) -> ds.Dataset:
    """Of a table whose rows are replaced by their key, the files that may hold some of those ``gone``."""
    places = gone.places
    files = [file for file in rows.get_fragments() if touched(*placed(file.path), places)]
    return ds.FileSystemDataset(files, rows.schema, rows.format, rows.filesystem)


def placed(path: str) -> tuple[str, str]:
    """Between which places the keys of a file lie, by its name."""
    matched = PLACES.fullmatch(path)
    first, last = matched.groups() if matched else (FIRST, LAST)
    return first, last


def kept(each: Each, plans: Sequence[RewritePlan]) -> list[DataFile]:
    """The rows that stay, and new ones among them, in new files."""
    every = [piece for plan in plans for piece in plan.pieces]
    if sum(plan.rows for plan in plans) <= FEW_ROWS:
        written = [written_anew(piece) for piece in every]
    else:
        written = each(written_anew, every)
    return [file for files in written for file in files]


def written_anew(piece: Piece) -> list[DataFile]:
    """The rows of a piece that stay, in new files."""
    warehouse = Warehouse(piece.root)
    system, root = warehouse.files(warehouse.location(piece.table))
    found = [(TABLES[piece.table].arrow_schema().empty_table(), np.zeros(0, np.int64))]
    for gone, paths in ((piece.gone, piece.files), (DeletedKeys(), piece.news)):
        files = (pq.ParquetFile(system.open_input_file(f"{root}/{path}")) for path in paths)
        found += [staying(batch, piece, gone) for file in files for batch in file.iter_batches(READ_ROWS)]
    rows, places = in_order(*map(list, zip(*found, strict=True)))
    parts = [rows.slice(begin, end - begin) for begin, end in pairwise(cuts(places, piece.borders, piece.file_rows))]
    written = (write_data_files(((piece.table, batch) for batch in batches_of(part)), piece.root) for part in parts)
    return [file for files in written for file in files]


def batches_of(rows: pa.Table) -> list[pa.RecordBatch]:
    """Rows in as few batches as there can be."""
    batches: list[pa.RecordBatch] = rows.combine_chunks().to_batches()
    return batches


def staying(batch: pa.RecordBatch, piece: Piece, gone: DeletedKeys) -> tuple[pa.Table, Places]:
    """Those of some rows that lie in the piece and are not ``gone``, in the table's columns of today; their places."""
    table = TABLES[piece.table]
    rows = pa.Table.from_batches([in_shape(table, batch)]).cast(table.arrow_schema())
    of_row, keys = keys_of(rows, table)
    places = np.array([int(place(*key), 16) for key in keys], np.int64)
    stays = np.array([key[0] not in gone.clusters and key not in gone.keys for key in keys], np.bool_)
    chosen = (stays & (places >= piece.first) & (places < piece.end))[of_row]
    return only(rows, chosen), places[of_row][chosen]


def only(rows: pa.Table, chosen: Flags) -> pa.Table:
    """The rows that are chosen; where they stand in few runs none is copied."""
    runs = np.flatnonzero(np.diff(chosen, prepend=False, append=False)).reshape(-1, 2)
    if len(runs) > MANY_RUNS:
        return rows.filter(pa.array(chosen))
    return pa.concat_tables([rows.slice(0, 0), *(rows.slice(begin, end - begin) for begin, end in runs.tolist())])


def in_order(parts: Sequence[pa.Table], places_of: Sequence[Places]) -> tuple[pa.Table, Places]:
    """The rows of all parts sorted by their places, and these."""
    rows, places = pa.concat_tables(parts), np.concatenate(places_of)
    if (places[1:] >= places[:-1]).all():
        return rows, places
    order = np.argsort(places, kind="stable")
    return rows.take(pa.array(order)), places[order]


def cuts(places: Places, borders: Collection[int], file_rows: int) -> list[int]:
    """Where to cut rows, by their sorted places, into files: at the borders, and into even parts between them.

    Rows of one place stay together.
    """
    ends = sorted({0, len(places), *np.searchsorted(places, np.array(sorted(borders), np.int64)).tolist()})
    found = {0, len(places)}
    for begin, end in pairwise(ends):
        count = -(-(end - begin) // file_rows)
        even = [begin + (end - begin) * number // count for number in range(count)]
        found.update(np.searchsorted(places, places[even]).tolist())
    return sorted(found) if len(places) else []
