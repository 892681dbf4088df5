"""This machine as an engine: this process and a pool of more, without Spark and without Java.

DuckDB reads, sorts and groups, past a bound of memory on disk. What is little stays in this process: to start others
would take longer. Otherwise rows go to the processes of the pool in hands, each a file of record batches. They take
half a second to start, once; meanwhile this process works too, and what waits for them is begun when they are there.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import reduce
from itertools import chain, islice
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from election_replay.jobs import JobError
from election_replay.jobs.engines.duckdb_rows import MEMORY, answer, database_in, in_order
from election_replay.jobs.engines.engine import NOTHING, Adding, Answer, Item, Partitioning, Rows, Work
from election_replay.jobs.engines.python_worker import prepare_worker
from election_replay.jobs.warehouse.data_files import DataFile, write_data_files
from election_replay.jobs.warehouse.warehouse import Warehouse

HAND_ROWS = 20_000
"""So many rows go to a process at once, or more where those of one key do: about half a second of work."""

POOL_HANDS = 4
"""Fewer hands than these are done sooner than a pool of processes has started, and without the CPU seconds of that."""

POOL_BYTES = 24 << 20
"""Less than this is landed sooner than a pool of processes has started."""


class LocalEngine:
    """Moves batches on this machine. ``preload`` are modules that the processes of the pool need.

    To be closed when its work is done: :func:`contextlib.closing`.
    """

    def __init__(self, cores: int | None = None, memory: str = MEMORY, preload: Sequence[str] = ()) -> None:
        self.tasks = cores or usable_cores()
        self._memory, self._preload = memory, list(preload)
        self._pool: ProcessPoolExecutor | None = None
        self._pool_ready: Future[Any] = Future()
        self._done = self._all = 0

    @property
    def title(self) -> str:
        """The cores."""
        return f"this machine, {self.tasks} cores"

    @property
    def one_machine(self) -> bool:
        """It is one machine's."""
        return True

    def cores_for(self, size: int) -> int:
        """One for what is little."""
        return 1 if size < POOL_BYTES else self.tasks

    def prewarm(self, size: int) -> None:
        """Start the processes of the pool, if so much will be dealt to them."""
        if self.cores_for(size) > 1:
            self._started()

    def progress(self) -> tuple[int, int] | None:
        """The hands of the present work, as far as they are known."""
        return (self._done, self._all) if self._all else None

    def ready(self) -> None:
        """Wait until the processes of the pool have started; who does not, works meanwhile in this one."""
        self._started()
        self._pool_ready.result()

    def close(self) -> None:
        """End the processes of the pool."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def each(self, work: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """In this process, if it is one item; else in the pool."""
        return self._in_order(work, items, alone=self.tasks < 2 or len(items) < 2)

    def answer(self, warehouse: Warehouse, sql: str, rows: Rows, apart: Sequence[str] = ()) -> pa.Table:
        """By DuckDB."""
        return answer(warehouse, sql, rows, apart, self._memory, self.tasks)

    def map_partitions(
        self,
        warehouse: Warehouse,
        parts: Sequence[Rows],
        by: Partitioning,
        work: Work,
        adding: Adding = NOTHING,
    ) -> list[DataFile]:
        """One sort; each hand of it is some keys whole."""
        with database_in(self._memory, self.tasks) as (database, scratch):
            batches = spooled(in_order(database, scratch, warehouse, parts, by), by.key, scratch)
            first = [*islice(batches, POOL_HANDS)]
            alone = self.tasks < 2 or len(first) < POOL_HANDS
            results = self._in_order(BatchFile(work, warehouse.root), chain(first, batches), alone=alone)
        return adding.commit(warehouse, chain.from_iterable(results))

    def _in_order(self, work: Callable[[Item], Answer], items: Iterable[Item], *, alone: bool) -> list[Answer]:
        """What ``work`` came to on each item; not more of them are begun than the pool can soon take.

        Until its processes have started a thread of this one does one item after the other.
        """
        self._done = self._all = 0
        if alone:
            return [work(item) for item in items]
        pool, ready = self._started(), self._pool_ready
        here: Future[Answer] = Future()
        futures: list[Future[Answer]] = []
        open_ones: set[Future[Answer]] = set()
        try:
            for item in items:
                self._all += 1
                if here in open_ones:
                    wait((here, ready), return_when=FIRST_COMPLETED)
                while len(open_ones) > 2 * self.tasks or (here in open_ones and here.done()):
                    open_ones = self._waited(open_ones)
                if ready.done():
                    futures.append(pool.submit(work, item))
                else:
                    futures.append(here := in_thread(work, item))
                open_ones.add(futures[-1])
            while open_ones:
                open_ones = self._waited(open_ones)
            return [future.result() for future in futures]
        except BrokenProcessPool:
            self.close()
            raise JobError("a process of this run was killed, perhaps for want of memory: run it again") from None
        except BaseException:
            self.close()
            raise

    def _waited(self, open_ones: set[Future[Answer]]) -> set[Future[Answer]]:
        """Those that go on, once one is done. Raises what it raised."""
        ended, going_on = wait(open_ones, return_when=FIRST_COMPLETED)
        for future in ended:
            future.result()
        self._done += len(ended)
        return going_on

    def _started(self) -> ProcessPoolExecutor:
        """The pool. Its processes come from a server that has no threads: what is forked beside threads may hang."""
        if self._pool is None:
            context = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload([__name__, *self._preload])
            self._pool = ProcessPoolExecutor(self.tasks, context, begin_process)
            self._pool_ready = Future()
            Thread(target=begin_pool, args=(self._pool, self.tasks, self._pool_ready), daemon=True).start()
        return self._pool


def begin_pool(pool: ProcessPoolExecutor, count: int, ready: Future[None]) -> None:
    """Start so many processes of a pool. Those that cannot be started show with the next hand."""
    try:
        with suppress(BrokenProcessPool, RuntimeError):  # it was closed meanwhile
            wait([pool.submit(int) for _ in range(count)])
    finally:
        ready.set_result(None)


def in_thread(work: Callable[[Item], Answer], item: Item) -> Future[Answer]:
    """Work on an item in a thread that nobody waits for when this process ends."""
    future: Future[Answer] = Future()

    def worked() -> None:
        try:
            future.set_result(work(item))
        except BaseException as error:  # noqa: BLE001 - whoever asks for the result gets it
            future.set_exception(error)

    Thread(target=worked, daemon=True).start()
    return future


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def begin_process() -> None:
    """Make a process of the pool ready: it ends with the one that it works for, and leaves Ctrl-C to that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepare_worker()
    Thread(target=end_with_parent, daemon=True).start()


def end_with_parent() -> None:
    """End this process when its parent is gone, however that ended."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


class BatchFile:
    """``work`` on the record batches of a file, which is removed then."""

    def __init__(self, work: Work, root: str) -> None:
        self._work, self._root = work, root

    def __call__(self, file: str) -> list[DataFile]:
        """The data files of what it told."""
        with pa.OSFile(file) as source, pa.ipc.open_stream(source) as batches:
            written = write_data_files(self._work(iter(batches)), self._root)
        Path(file).unlink()
        return written


def spooled(batches: pa.RecordBatchReader, key: Sequence[str], folder: Path) -> Iterator[str]:
    """Sorted batches as files of at least :data:`HAND_ROWS` rows, those of one key in one file; none if no row is."""
    file = _Spool(folder, batches.schema)
    last: tuple[object, ...] = ()
    for batch in batches:
        begin = 0
        for start in key_starts(batch, key, last):
            if file.rows + start - begin >= HAND_ROWS:
                yield file.finished(batch.slice(begin, start - begin))
                file, begin = _Spool(folder, batches.schema), start
        if batch.num_rows > begin:
            file.add(batch.slice(begin))
            last = key_at(batch, key, batch.num_rows - 1)
    if file.rows:
        yield file.finished()


class _Spool:
    """A file of record batches that is being written."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self._path, self._schema = str(folder / f"{uuid4()}.arrows"), schema
        self._writer: pa.RecordBatchStreamWriter | None = None
        self.rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Write one more batch."""
        if self._writer is None:
            self._writer = pa.ipc.new_stream(self._path, self._schema)
        self._writer.write_batch(batch)
        self.rows += batch.num_rows

    def finished(self, *rest: pa.RecordBatch) -> str:
        """Where the file stands, after the ``rest`` of its rows."""
        for batch in rest:
            if batch.num_rows:
                self.add(batch)
        if self._writer is not None:
            self._writer.close()
        return self._path


def key_starts(batch: pa.RecordBatch, key: Sequence[str], last: tuple[object, ...]) -> list[int]:
    """Where another key begins in a batch that follows a row of the key ``last``."""
    if not batch.num_rows:
        return []
    columns = [batch.column(name) for name in key]
    changed = reduce(pc.or_, (pc.not_equal(column.slice(1), column.slice(0, len(column) - 1)) for column in columns))
    later = [number + 1 for number in pc.indices_nonzero(changed).to_pylist()]
    return later if key_at(batch, key, 0) == last else [0, *later]


def key_at(batch: pa.RecordBatch, key: Sequence[str], row: int) -> tuple[object, ...]:
    """The key of a row."""
    return tuple(batch.column(name)[row].as_py() for name in key)
