"""Rows that are replaced by their key: a night writes anew only the files that hold some of its own.

The name of a file says between which places its keys lie (:func:`~jobs.warehouse.data_files.place`). Of the files that
may hold rows that go, those that stay are written into new files, sorted by their place, with them those of other small
files where there are many, so that their number follows that of the rows and not that of the nights.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from operator import itemgetter

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from election_replay.jobs.warehouse.data_files import (
    FILE_ROWS,
    FIRST,
    LAST,
    PLACES,
    DataFile,
    in_shape,
    place,
    write_data_files,
)
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

SMALL_ROWS = FILE_ROWS // 4
"""A file with fewer rows is small."""

MOST_SMALL = 16
"""More small files of a table than these are joined."""

FEW_ROWS = 200_000
"""So many rows are written anew by the driver, sooner than others have begun."""

READ_ROWS = 50_000
"""So many rows are looked at together."""

PIECE_ROWS = 200_000
"""About so many rows are written anew at once."""

Each = Callable[[Callable[["Piece"], list[DataFile]], Sequence["Piece"]], list[list[DataFile]]]
"""How an engine works on each of some items."""


@dataclass(frozen=True, slots=True)
class Gone:
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

    def between(self, first: str, last: str) -> "Gone":
        """Those of them that may lie between two places."""
        clusters = (cluster for cluster in self.clusters if first[:4] <= place(cluster, "")[:4] <= last[:4])
        return Gone(frozenset(clusters), frozenset(key for key in self.keys if first <= place(*key) <= last))


@dataclass(frozen=True, slots=True)
class Lying:
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
    """Of a table's files the rows from a place to before another, but for those that go."""

    table: str
    root: str
    files: tuple[str, ...]
    first: int
    end: int
    gone: Gone


@dataclass(frozen=True, slots=True)
class Anew:
    """The files of a table that are written anew, in pieces."""

    table: str
    version: int
    files: tuple[Lying, ...]
    pieces: tuple[Piece, ...]

    @property
    def rows(self) -> int:
        """About how many rows are written anew."""
        return sum(FEW_ROWS if file.rows is None else file.rows for file in self.files)


def anew(warehouse: Warehouse, table: str, gone: Gone) -> Anew:
    """What is to be written anew where the rows of ``table`` that are ``gone`` go."""
    opened = warehouse.opened(table)
    files = lying(pa.table(opened.get_add_actions()))
    places = gone.places
    chosen = [file for file in files if touched(file, places)]
    others = [file for file in files if file not in chosen and file.rows is not None and file.rows < SMALL_ROWS]
    if len(others) > MOST_SMALL:
        chosen += others
    return written_again(warehouse, opened, table, chosen, gone)


def joining(warehouse: Warehouse, table: str) -> Anew:
    """What is to be written anew so that small files come together, and each file says which keys may be in it."""
    opened = warehouse.opened(table)
    files = lying(pa.table(opened.get_add_actions()))
    small = [file for file in files if file.rows is not None and file.rows < SMALL_ROWS]
    chosen = [file for file in files if not file.named or (file in small and len(small) > 1)]
    return written_again(warehouse, opened, table, chosen, Gone())


def written_again(warehouse: Warehouse, opened: DeltaTable, table: str, files: list[Lying], gone: Gone) -> Anew:
    """Some files of a table, to be written anew without the rows that are ``gone``."""
    rows = sum(FEW_ROWS if file.rows is None else file.rows for file in files)
    return Anew(table, opened.version(), tuple(files), tuple(pieces(warehouse, table, files, rows, gone)))


def lying(actions: pa.Table) -> list[Lying]:
    """The files that Delta's log names."""
    found = []
    for path, size, rows in zip(
        *(actions[name].to_pylist() for name in ("path", "size_bytes", "num_records")), strict=True
    ):
        matched = PLACES.fullmatch(path)
        first, last = matched.groups() if matched else (FIRST, LAST)
        found.append(Lying(path, size, rows, first, last))
    return found


def touched(file: Lying, places: Sequence[tuple[str, str]]) -> bool:
    """Whether a file may hold rows of some of these places."""
    at = bisect_left(places, file.first, key=itemgetter(1))
    return at < len(places) and places[at][0] <= file.last


def pieces(warehouse: Warehouse, table: str, files: Sequence[Lying], rows: int, gone: Gone) -> Iterable[Piece]:
    """The files in pieces of about as many rows."""
    if not files:
        return
    first, last = (int(digits, 16) for digits in (min(file.first for file in files), max(file.last for file in files)))
    count = rows // PIECE_ROWS + 1
    cuts = sorted({first + (last + 1 - first) * number // count for number in range(count + 1)})
    for begin, end in pairwise(cuts):
        within = [file for file in files if file.meets(f"{begin:08x}", f"{end - 1:08x}")]
        if within:
            inside = gone.between(f"{begin:08x}", f"{end - 1:08x}")
            yield Piece(table, warehouse.root, tuple(file.path for file in within), begin, end, inside)


def kept(each: Each, plans: Sequence[Anew]) -> list[DataFile]:
    """The rows that stay, in new files."""
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
    files = (pq.ParquetFile(system.open_input_file(f"{root}/{path}")) for path in piece.files)
    parts = [staying(batch, piece) for file in files for batch in file.iter_batches(READ_ROWS)]
    rows = pa.concat_tables([TABLES[piece.table].arrow_schema().empty_table(), *parts])
    order = pc.sort_indices(pa.table({"place": places_of(rows, piece.table)}), [("place", "ascending")])
    in_order = rows.take(order).to_batches(max_chunksize=READ_ROWS)
    return write_data_files(((piece.table, batch) for batch in in_order if batch.num_rows), piece.root)


def staying(batch: pa.RecordBatch, piece: Piece) -> pa.Table:
    """Those of some rows that lie in the piece and do not go, in the table's columns of today."""
    table = TABLES[piece.table]
    rows = pa.Table.from_batches([in_shape(table, batch)]).cast(table.arrow_schema())
    cluster, key = table.replaced_by
    places = places_of(rows, piece.table)
    going = pc.is_in(rows[cluster], pa.array(sorted(piece.gone.clusters), pa.string()))
    if piece.gone.keys:
        keys = pa.array(["\0".join(key) for key in sorted(piece.gone.keys)], pa.string())
        going = pc.or_(going, pc.is_in(pc.binary_join_element_wise(rows[cluster], rows[key], "\0"), keys))
    inside = pc.and_(pc.greater_equal(places, piece.first), pc.less(places, piece.end))
    return rows.filter(pc.and_(inside, pc.invert(going)))


def places_of(rows: pa.Table, table: str) -> pa.ChunkedArray:
    """The places of rows, as numbers."""
    cluster, key = TABLES[table].replaced_by
    joined = pc.binary_join_element_wise(rows[cluster], rows[key], "\0").combine_chunks()
    keys = joined.dictionary_encode()
    if isinstance(keys, pa.ChunkedArray):
        keys = keys.combine_chunks()
    numbers = pa.array([int(place(*key.split("\0", 1)), 16) for key in keys.dictionary.to_pylist()], pa.int64())
    return pa.chunked_array([numbers.take(keys.indices)])
