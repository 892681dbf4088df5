"""The engine of one machine: this process and a pool of processes, without Spark and Java.

DuckDB reads, sorts and groups, and spills to disk past a memory limit. Little work stays in this process, as starting
others would take longer. Otherwise rows go to the pool as files of record batches. The pool takes half a second to
start, once; until then a thread of this process works.
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
from election_replay.jobs.engines.engine import NOTHING, Adding, Answer, BatchFunction, Item, Partitioning, Rows
from election_replay.jobs.engines.python_worker import prepare_worker
from election_replay.jobs.warehouse.data_files import DataFile, write_data_files
from election_replay.jobs.warehouse.warehouse import Warehouse

BATCH_FILE_ROWS = 20_000
"""The minimum number of rows of a batch file, about half a second of work; rows of one key stay in one file."""

POOL_FILES = 4
"""Fewer batch files than this are done in this process, sooner than a pool has started."""

POOL_BYTES = 24 << 20
"""Fewer bytes than this are landed in this process, sooner than a pool has started."""


class LocalEngine:
    """Moves batches on this machine. ``preload`` are modules that the pool's processes import before they fork.

    Close it after use: :func:`contextlib.closing`.
    """

    def __init__(self, cores: int | None = None, memory: str = MEMORY, preload: Sequence[str] = ()) -> None:
        self.tasks = cores or usable_cores()
        self._memory, self._preload = memory, list(preload)
        self._pool: ProcessPoolExecutor | None = None
        self._pool_ready: Future[Any] = Future()
        self._done = self._all = 0

    @property
    def title(self) -> str:
        """Return the number of cores, for a line of progress."""
        return f"this machine, {self.tasks} cores"

    @property
    def one_machine(self) -> bool:
        """Return True."""
        return True

    def cores_for(self, size: int) -> int:
        """Return one core for less than :data:`POOL_BYTES`, otherwise all."""
        return 1 if size < POOL_BYTES else self.tasks

    def prewarm(self, size: int) -> None:
        """Start the pool if work of ``size`` bytes will use it."""
        if self.cores_for(size) > 1:
            self._started_pool()

    def progress(self) -> tuple[int, int] | None:
        """Return (items done, items begun) of the running work; ``None`` if there are none."""
        return (self._done, self._all) if self._all else None

    def ready(self) -> None:
        """Start the pool and wait until it is ready; without this call, work begins in this process meanwhile."""
        self._started_pool()
        self._pool_ready.result()

    def close(self) -> None:
        """Stop the pool."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def each(self, work: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """Apply ``work`` to one item in this process, to more in the pool."""
        return self._in_order(work, items, alone=self.tasks < 2 or len(items) < 2)

    def answer(self, warehouse: Warehouse, sql: str, rows: Rows, apart: Sequence[str] = ()) -> pa.Table:
        """Return DuckDB's result."""
        return answer(warehouse, sql, rows, apart, self._memory, self.tasks)

    def map_partitions(
        self,
        warehouse: Warehouse,
        parts: Sequence[Rows],
        by: Partitioning,
        work: BatchFunction,
        adding: Adding = NOTHING,
    ) -> list[DataFile]:
        """Sort once with DuckDB, and run ``work`` on each batch file, which holds whole keys."""
        with database_in(self._memory, self.tasks) as (database, scratch):
            batches = batch_files(in_order(database, scratch, warehouse, parts, by), by.key, scratch)
            first = [*islice(batches, POOL_FILES)]
            alone = self.tasks < 2 or len(first) < POOL_FILES
            results = self._in_order(BatchFile(work, warehouse.root), chain(first, batches), alone=alone)
        return adding.commit(warehouse, chain.from_iterable(results))

    def _in_order(self, work: Callable[[Item], Answer], items: Iterable[Item], *, alone: bool) -> list[Answer]:
        """Return the results of ``work`` in order; only about twice as many items are begun as the pool has processes.

        Until the pool is ready, a thread of this process does one item after the other.
        """
        self._done = self._all = 0
        if alone:
            return [work(item) for item in items]
        pool, ready = self._started_pool(), self._pool_ready
        local: Future[Answer] = Future()
        futures: list[Future[Answer]] = []
        pending: set[Future[Answer]] = set()
        try:
            for item in items:
                self._all += 1
                if local in pending:
                    wait((local, ready), return_when=FIRST_COMPLETED)
                while len(pending) > 2 * self.tasks or (local in pending and local.done()):
                    pending = self._wait_for_one(pending)
                if ready.done():
                    futures.append(pool.submit(work, item))
                else:
                    futures.append(local := in_thread(work, item))
                pending.add(futures[-1])
            while pending:
                pending = self._wait_for_one(pending)
            return [future.result() for future in futures]
        except BrokenProcessPool:
            self.close()
            raise JobError("a process of this run was killed, perhaps for want of memory: run it again") from None
        except BaseException:
            self.close()
            raise

    def _wait_for_one(self, pending: set[Future[Answer]]) -> set[Future[Answer]]:
        """Wait until a future is done, raise its error if it has one, and return the futures that still run."""
        ended, still_running = wait(pending, return_when=FIRST_COMPLETED)
        for future in ended:
            future.result()
        self._done += len(ended)
        return still_running

    def _started_pool(self) -> ProcessPoolExecutor:
        """Return the pool. Its processes are forked by a server without threads: a fork beside threads may hang."""
        if self._pool is None:
            context = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload([__name__, *self._preload])
            self._pool = ProcessPoolExecutor(self.tasks, context, begin_process)
            self._pool_ready = Future()
            Thread(target=begin_pool, args=(self._pool, self.tasks, self._pool_ready), daemon=True).start()
        return self._pool


def begin_pool(pool: ProcessPoolExecutor, count: int, ready: Future[None]) -> None:
    """Start ``count`` processes of a pool and set ``ready``. A failure to start shows with the next item."""
    try:
        with suppress(BrokenProcessPool, RuntimeError):  # it was closed meanwhile
            wait([pool.submit(int) for _ in range(count)])
    finally:
        ready.set_result(None)


def in_thread(work: Callable[[Item], Answer], item: Item) -> Future[Answer]:
    """Run ``work`` in a daemon thread, which does not keep the process alive."""
    future: Future[Answer] = Future()

    def worked() -> None:
        try:
            future.set_result(work(item))
        except BaseException as error:  # noqa: BLE001 - raised by future.result()
            future.set_exception(error)

    Thread(target=worked, daemon=True).start()
    return future


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def begin_process() -> None:
    """Prepare a process of the pool: it ignores Ctrl-C, which its parent handles, and ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepare_worker()
    Thread(target=end_with_parent, daemon=True).start()


def end_with_parent() -> None:
    """Wait for the parent to end, however it does, and exit this process."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


class BatchFile:
    """A callable that runs ``work`` on a file of record batches, writes the output below ``root``, deletes the file."""

    def __init__(self, work: BatchFunction, root: str) -> None:
        self._work, self._root = work, root

    def __call__(self, file: str) -> list[DataFile]:
        """Return the data files of the output for ``file``."""
        with pa.OSFile(file) as source, pa.ipc.open_stream(source) as batches:
            written = write_data_files(self._work(iter(batches)), self._root)
        Path(file).unlink()
        return written


def batch_files(batches: pa.RecordBatchReader, key: Sequence[str], folder: Path) -> Iterator[str]:
    """Write sorted batches to files of at least :data:`BATCH_FILE_ROWS` rows, and yield the paths.

    Rows of one key stay in one file. Without rows there are no files.
    """
    file = _BatchFileWriter(folder, batches.schema)
    last: tuple[object, ...] = ()
    for batch in batches:
        begin = 0
        for start in key_starts(batch, key, last):
            if file.rows + start - begin >= BATCH_FILE_ROWS:
                yield file.finished(batch.slice(begin, start - begin))
                file, begin = _BatchFileWriter(folder, batches.schema), start
        if batch.num_rows > begin:
            file.add(batch.slice(begin))
            last = key_at(batch, key, batch.num_rows - 1)
    if file.rows:
        yield file.finished()


class _BatchFileWriter:
    """Writes one file of record batches; creates it with the first batch."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self._path, self._schema = str(folder / f"{uuid4()}.arrows"), schema
        self._writer: pa.RecordBatchStreamWriter | None = None
        self.rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Write a batch."""
        if self._writer is None:
            self._writer = pa.ipc.new_stream(self._path, self._schema)
        self._writer.write_batch(batch)
        self.rows += batch.num_rows

    def finished(self, *rest: pa.RecordBatch) -> str:
        """Write the ``rest`` of the rows, close the file and return its path."""
        for batch in rest:
            if batch.num_rows:
                self.add(batch)
        if self._writer is not None:
            self._writer.close()
        return self._path


def key_starts(batch: pa.RecordBatch, key: Sequence[str], last: tuple[object, ...]) -> list[int]:
    """Return the rows of a batch at which a new key begins; ``last`` is the key of the row before the batch."""
    if not batch.num_rows:
        return []
    columns = [batch.column(name) for name in key]
    changed = reduce(pc.or_, (pc.not_equal(column.slice(1), column.slice(0, len(column) - 1)) for column in columns))
    later = [number + 1 for number in pc.indices_nonzero(changed).to_pylist()]
    return later if key_at(batch, key, 0) == last else [0, *later]


def key_at(batch: pa.RecordBatch, key: Sequence[str], row: int) -> tuple[object, ...]:
    """Return the key of a row."""
    return tuple(batch.column(name)[row].as_py() for name in key)
