"""The engine of one machine: what it reads, how it deals rows to processes, and what is left when it is killed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

from election_replay.jobs import JobError
from election_replay.jobs.cli.log import log_as
from election_replay.jobs.cli.stages import advise
from election_replay.jobs.engines import duckdb_rows, local_engine
from election_replay.jobs.engines.duckdb_rows import ReadAsAsked, are_few, database_in, in_order
from election_replay.jobs.engines.engine import After, AfterOwn, Among, Engine, OneOf, Partitioning, Rows, Simple, UpTo
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.engines.spark_engine import LITTLE_SETTING, SparkEngine
from election_replay.jobs.warehouse.data_files import Row, write_data_files
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from tests.jobs.nights import ALL, content, night
from tests.jobs.replaying.test_checkpoints import NIGHTS, RUNS, STORIES, copy_nodes, deliver, write_story
from tests.jobs.tables import blank, put
from tests.jobs.zone import Zone, leads, line, noise
from tests.proving import PROVING, amount

EVERY = (*ALL, "fold_checkpoints", "source_watermarks")


@pytest.fixture
def local() -> Iterator[LocalEngine]:
    with closing(LocalEngine(cores=2, preload=["election_replay.jobs.replaying.judging"])) as engine:
        yield engine


# -- reading -----------------------------------------------------------------------------------------------------------

PLACE = {"source_node": "n", "stream": "s", "fingerprint": "f", "path": "p"}
CHOICES: tuple[Simple | Among, ...] = (
    OneOf("cluster", ("c1", "it's", "no\\such")),
    OneOf("cluster", ()),
    OneOf("batch", (2, 3)),
    After("batch", 1),
    UpTo("line_no", 1),
    AfterOwn("batch", "cluster", {"c1": 1, "it's": 2}),
    AfterOwn("batch", "cluster", {}),
    Among(("cluster", "reason"), frozenset({("c1", "a"), ("it's", "b")})),
    Among(("cluster", "reason"), frozenset({("c1", "a")}), wanted=False),
    Among(("cluster",), frozenset()),
    Among(("cluster",), frozenset(), wanted=False),
)


def lines(tmp_path: Path) -> Warehouse:
    """A table with rows of several clusters, landings and reasons."""
    warehouse = blank(tmp_path / "warehouse")
    for batch in (1, 2, 3):
        for cluster in ("c1", "it's"):
            told = [PLACE | {"cluster": cluster, "batch": batch, "line_no": n, "reason": "ab"[n % 2]} for n in range(3)]
            put(warehouse, "quarantine", *(row | {"text": "x", "text_length": 1} for row in told))
    return warehouse


def many_lines(tmp_path: Path, count: int) -> Warehouse:
    """A landing of few lines, and one of so many, in no order."""
    warehouse = blank(tmp_path / "warehouse")
    table = TABLES["quarantine"]
    for batch, rows in ((1, 10), (2, count)):
        numbers = random.Random(batch).sample(range(rows), rows)
        given = {
            "source_node": [f"n{8 * number // rows}" for number in numbers],
            "line_no": numbers,
            "text": [f"{number:0300}" for number in numbers],
            "text_length": [300] * rows,
            "batch": [batch] * rows,
        }
        columns = [pa.array(given.get(column.name, [""] * rows), column.type.arrow) for column in table.columns]
        whole = pa.RecordBatch.from_arrays(columns, names=list(table.names))
        warehouse.replace(write_data_files([(table.name, whole)], warehouse.root), table.name, [str(batch)], "landing")
    return warehouse


def test_more_rows_than_memory_holds_are_sorted_though_few_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 300_000
    warehouse = many_lines(tmp_path, count)
    monkeypatch.setattr(duckdb_rows, "HELD", 40_000)
    monkeypatch.setattr(duckdb_rows, "WRITTEN_ROWS", 5_000)
    parts = [Rows("quarantine").where(OneOf("batch", (batch,))) for batch in (1, 2)]
    key = ("cluster", "source_node")
    with database_in("100MB", 2) as (database, scratch):
        rows = in_order(database, scratch, warehouse, parts, Partitioning(key, (*key, "batch", "line_no")))
        columns = ["source_node", "batch", "line_no"]
        found = pa.Table.from_batches(list(rows)).select(columns).to_pylist()
    told = [tuple(row.values()) for row in found]
    wanted = sorted(
        (f"n{8 * number // rows}", batch, number) for batch, rows in ((1, 10), (2, count)) for number in range(rows)
    )
    assert sorted(told) == wanted
    assert len([*groupby(told, itemgetter(0))]) == 8, "those of a key stand together"
    assert told == [*chain.from_iterable(sorted(of_key) for _, of_key in groupby(told, itemgetter(0)))]


def test_a_question_about_each_source_is_answered_though_all_rows_are_more_than_memory_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, key = 600_000, ("cluster", "source_node")
    warehouse = many_lines(tmp_path, count)
    monkeypatch.setattr(duckdb_rows, "HELD_NARROW", 40_000)
    monkeypatch.setattr(duckdb_rows, "WRITTEN_ROWS", 5_000)
    sql = """
        SELECT source_node, count(*) AS n, sum(length(before)) AS long, max(alike) AS alike, max(after) AS after
        FROM (SELECT *, count(*) OVER (PARTITION BY cluster, source_node, text_length) AS alike,
                  lag(text) OVER (PARTITION BY cluster, source_node ORDER BY batch, line_no) AS before,
                  lag(line_no) OVER (PARTITION BY cluster, source_node ORDER BY line_no DESC) AS after FROM {rows})
        GROUP BY source_node"""
    rows = Rows("quarantine").where(OneOf("batch", (2,)))
    found = duckdb_rows.answer(warehouse, sql, rows, key, "110MB", 2).sort_by("source_node").to_pylist()
    each = count // 8
    of_node = {"n": each, "long": 300 * (each - 1), "alike": each}
    last = [each * (node + 1) - 1 for node in range(8)]
    assert found == [{"source_node": f"n{node}"} | of_node | {"after": last[node]} for node in range(8)]
    none = rows.where(Among(key, frozenset({("", "none")})))
    assert not len(duckdb_rows.answer(warehouse, sql, none, key, "110MB", 2))


def test_a_database_that_is_used_again_knows_nothing_of_who_used_it_before(tmp_path: Path) -> None:
    with database_in("123MB", 1) as (first, scratch):
        first.execute("CREATE TABLE mine AS SELECT 1")
        first.register("given", pa.table({"a": [1]}))
        first.execute(f"ATTACH '{tmp_path / 'file.duckdb'}' AS file")
        first.execute("SET memory_limit = '1GB'; SET threads = 2")
        with database_in("123MB", 1) as (beside, _):
            assert beside.sql("SHOW TABLES").fetchall() == []
    assert not scratch.exists()
    with database_in("123MB", 1) as (again, _):
        assert again.sql("SHOW ALL TABLES").fetchall() == []
        settings = "SELECT current_setting('threads'), current_setting('memory_limit'), current_setting('TimeZone')"
        assert again.sql(settings).fetchall() == [(1, "117.3 MiB", "UTC")]
        mine = 1
        with pytest.raises(duckdb.CatalogException):
            again.sql("SELECT * FROM mine")
        assert mine
    assert len(duckdb_rows._IDLE_DATABASES["123MB", 1]) == 2


def test_where_memory_is_too_little_for_two_threads_one_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []

    class Scarce:
        def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
            self.database = database

        def __getattr__(self, name: str) -> Any:
            return getattr(self.database, name)

        def sql(self, asked: str) -> duckdb.DuckDBPyRelation:
            [[threads]] = self.database.sql("SELECT current_setting('threads')").fetchall()
            held.append(threads)
            if threads > 1:
                raise duckdb.OutOfMemoryException("failed to pin block")
            return self.database.sql(asked)

    @contextmanager
    def scarce(memory: str, threads: int) -> Iterator[tuple[Scarce, Path]]:
        with database_in(memory, threads) as (database, scratch):
            yield Scarce(database), scratch

    monkeypatch.setattr(duckdb_rows, "database_in", scarce)
    monkeypatch.setattr(duckdb_rows, "HELD_NARROW", 9)
    sql = "SELECT source_node, count(*) AS n FROM {rows} GROUP BY source_node"
    found = duckdb_rows.answer(lines(tmp_path), sql, Rows("quarantine"), ("cluster", "source_node"))
    assert sum(found.column("n").to_pylist()) == 18
    assert held == [2, *[1] * (len(held) - 1)], "one turn failed; it and all others have one thread then"


def test_duckdb_scans_by_what_reads_as_it_is_asked_also_where_rows_are_filtered(tmp_path: Path) -> None:
    scans = []

    class Seen(ReadAsAsked):
        def scanner(self, *arguments: Any, **options: Any) -> ds.Scanner:
            scans.append(options)
            return super().scanner(*arguments, **options)

    with database_in("100MB", 2) as (database, _):
        rows = Seen.of(lines(tmp_path).dataset("quarantine"))
        for found, count in ((rows, 18), (rows.filter(pc.field("batch") == 0), 0)):
            database.register("found", found)
            for _ in range(2):
                assert database.sql("SELECT count(*) FROM found WHERE line_no >= 0").fetchall() == [(count,)]
                assert found.count_rows() == count
    assert len(scans) == 8


def test_where_many_rows_may_be_meant_and_none_is_there_is_nothing_to_sort(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse, key = lines(tmp_path), ("cluster", "source_node")
    monkeypatch.setattr(duckdb_rows, "HELD", 1)
    none = Rows("quarantine").where(Among(("cluster", "reason"), frozenset({("c1", "aa")})))
    assert duckdb_rows.at_most(warehouse, none, 1) > 1
    with database_in("100MB", 2) as (database, scratch):
        rows = in_order(database, scratch, warehouse, [none], Partitioning(key, key))
        assert rows.schema.names == list(TABLES["quarantine"].names)
        assert list(rows) == []


def answers(engine: Engine, warehouse: Warehouse) -> list[list[tuple[object, ...]]]:
    """What an engine reads under each condition."""
    sql = "SELECT cluster, batch, line_no, reason, text, more FROM {rows} ORDER BY cluster, batch, line_no"
    found = []
    for condition in CHOICES:
        rows = (
            Rows("quarantine")
            .where(condition)
            .select(["cluster", "batch", "line_no", "reason", "text"], {"more": "CAST(NULL AS STRING)"})
        )
        answer = engine.answer(warehouse, sql, rows)
        assert all(field.nullable for field in answer.schema), "the answer of another engine may stand behind it"
        found.append([tuple(row.values()) for row in answer.to_pylist()])
    return found


def test_conditions_mean_what_they_say(local: LocalEngine, tmp_path: Path) -> None:
    counts = [len(rows) for rows in answers(local, lines(tmp_path))]
    assert counts == [18, 0, 12, 12, 12, 9, 0, 9, 12, 0, 18]


@pytest.mark.slow
def test_both_engines_read_alike(
    spark: SparkEngine, local: LocalEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark itself, and the driver in its place."""
    warehouse = lines(tmp_path)
    wanted = answers(local, warehouse)
    assert answers(spark, warehouse) == wanted
    monkeypatch.setattr("election_replay.jobs.engines.spark_engine.are_few", lambda *_: False)
    assert answers(spark, warehouse) == wanted


def test_the_driver_answers_only_what_is_little(tmp_path: Path) -> None:
    rows = Rows("quarantine")
    warehouse = lines(tmp_path)
    assert are_few(warehouse, [rows], 18)
    assert not are_few(warehouse, [rows], 6)
    assert not are_few(warehouse, [rows, rows], 18)
    assert are_few(warehouse, [rows.where(After("batch", 2))], 6)
    assert are_few(warehouse, [rows.where(Among(("cluster", "reason"), frozenset({("none", "a")})))], 0)


def test_above_a_size_the_local_engine_advises_spark(local: LocalEngine, capsys: pytest.CaptureFixture[str]) -> None:
    log_as("text")
    advise(local, 4 << 30)
    assert not capsys.readouterr().out
    advise(local, 9_900_000_000)
    assert "9.9 GB of new logs are more than the 4.3 GB" in capsys.readouterr().out


# -- dealing -----------------------------------------------------------------------------------------------------------


def test_rows_of_one_key_come_to_one_hand_whatever_the_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_engine, "BATCH_FILE_ROWS", 10)
    chance = random.Random(5)
    for _ in range(50):
        keys = sorted((f"c{chance.randint(0, 4)}", f"n{chance.randint(0, 3)}") for _ in range(chance.randint(0, 90)))
        table = pa.table(
            {"cluster": [one for one, _ in keys], "node": [two for _, two in keys], "at": range(len(keys))}
        )
        table = table.cast(pa.schema({"cluster": pa.string(), "node": pa.string(), "at": pa.int64()}))
        batches, begin = [], 0
        while begin < len(table):
            batches += table.slice(begin, size := chance.randint(1, 12)).combine_chunks().to_batches()
            begin += size
        reader = pa.RecordBatchReader.from_batches(table.schema, batches)
        batches = [
            pa.ipc.open_stream(file).read_all()
            for file in local_engine.batch_files(reader, ["cluster", "node"], tmp_path)
        ]
        assert [row["at"] for batch in batches for row in batch.to_pylist()] == list(range(len(keys)))
        own = [{(row["cluster"], row["node"]) for row in batch.to_pylist()} for batch in batches]
        assert sum(map(len, own)) == len(set().union(*own)), "no key is in two hands"
        assert all(len(batch) >= 10 for batch in batches[:-1])


def tell_who(batches: Iterator[pa.RecordBatch]) -> Iterator[Row]:
    """Which process read which cluster's rows, as rows of quarantine."""
    for batch in batches:
        for row in batch.to_pylist():
            who = {
                **dict.fromkeys(TABLES["quarantine"].names),
                **PLACE,
                "text": "x",
                "text_length": 1,
                **row,
                "reason": str(os.getpid()),
            }
            yield "quarantine", tuple(who[name] for name in TABLES["quarantine"].names)


def test_what_is_much_goes_to_other_processes_and_what_is_little_stays(
    local: LocalEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = lines(tmp_path)
    parts = [Rows("quarantine").select(["cluster", "batch", "line_no"])]
    partitioning = Partitioning(("cluster", "line_no"), ("cluster", "line_no"))
    local.ready()
    for rows, other in ((6, False), (3, True)):
        monkeypatch.setattr(local_engine, "BATCH_FILE_ROWS", rows)
        files = local.map_partitions(warehouse, parts, partitioning, tell_who)
        warehouse.replace(files, "quarantine", None, "test")
        found = warehouse.rows("quarantine")
        assert len(found) == 18
        assert ({int(row["reason"]) for row in found} != {os.getpid()}) is other


def meet(item: tuple[str, int, int]) -> int:
    """In the process ``here`` wait for a file that every other one makes; in which process that was."""
    file, _, here = item
    if os.getpid() != here:
        Path(file).touch()
    while not Path(file).exists():
        time.sleep(0.01)
    return os.getpid()


def test_while_its_processes_start_this_one_works_and_holds_nobody_up(local: LocalEngine, tmp_path: Path) -> None:
    first, *others = local.each(meet, [(f"{tmp_path}/met", number, os.getpid()) for number in range(4)])
    assert first == os.getpid()
    assert {*others}.isdisjoint({0, os.getpid()})


@pytest.mark.slow
def test_spark_leaves_to_its_driver_what_is_little(spark: SparkEngine, tmp_path: Path) -> None:
    warehouse = lines(tmp_path)
    parts = [Rows("quarantine").select(["cluster", "batch", "line_no"])]
    partitioning = Partitioning(("cluster", "line_no"), ("cluster", "line_no"))
    try:
        for little, other in ((18, False), (17, True)):
            spark.session.conf.set(LITTLE_SETTING, little)
            files = SparkEngine(spark.session).map_partitions(warehouse, parts, partitioning, tell_who)
            warehouse.replace(files, "quarantine", None, "test")
            found = warehouse.rows("quarantine")
            assert len(found) == 18
            assert ({int(row["reason"]) for row in found} != {os.getpid()}) is other
    finally:
        spark.session.conf.set(LITTLE_SETTING, 0)


def die(_: object) -> None:
    """End this process as the kernel does for want of memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_is_told_in_a_sentence_and_the_next_work_goes_on(local: LocalEngine) -> None:
    local.ready()
    with pytest.raises(JobError, match="process of this run was killed"):
        local.each(die, [1, 2])
    assert local.each(abs, [-1, -2]) == [1, 2]


def fail(number: int) -> int:
    """Refuse a number."""
    if number == 3:
        raise ValueError("three")
    return number


def test_what_goes_wrong_in_another_process_goes_wrong_here(local: LocalEngine) -> None:
    for _ in range(2):  # while the processes start, and when they are there
        with pytest.raises(ValueError, match="three"):
            local.each(fail, [1, 2, 3, 4])
        local.ready()


def threads_of_polars(_: object) -> int:
    """How many it has in this process."""
    import polars as pl

    return pl.thread_pool_size()


def test_a_process_of_the_pool_has_one_thread_of_polars() -> None:
    """In a command of its own: the processes of all pools of one come from the same server."""
    code = f"""
from contextlib import closing
from election_replay.jobs.cli.stages import PRELOAD
from {LocalEngine.__module__} import LocalEngine
from {__name__} import threads_of_polars
with closing(LocalEngine(cores=2, preload=PRELOAD)) as engine:
    engine.ready()
    print(engine.each(threads_of_polars, [1, 2]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[1, 1]\n"


@pytest.mark.slow
def test_an_executor_has_one_thread_of_polars(spark: SparkEngine) -> None:
    assert spark.each(threads_of_polars, [1, 2]) == [1, 1]


def test_processes_are_started_early_where_much_is_expected(local: LocalEngine) -> None:
    local.prewarm(local_engine.POOL_BYTES - 1)
    assert local._pool is None
    local.prewarm(local_engine.POOL_BYTES)
    assert local._pool is not None


# -- nights ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_engines_take_turns_night_by_night(
    spark: SparkEngine, local: LocalEngine, corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files grow, come late or at the end; the nights are written by one engine or the other."""
    monkeypatch.setattr(local_engine, "BATCH_FILE_ROWS", 2_000)
    monkeypatch.setattr("election_replay.jobs.engines.spark_engine.are_few", lambda *_: False)
    chance = random.Random(12)
    stories = {tmp_path / "stories" / name.partition("/")[0]: name for name in STORIES[:: amount(2, 1)]}
    runs = [*(corpora / run for run in RUNS[:: amount(3, 1)]), *stories]
    for run, name in stories.items():
        write_story(name, run)
    zone = tmp_path / "landing"
    by_turns, by_local, at_once = (Warehouse(str(tmp_path / name)) for name in ("turns", "local", "once"))
    for number in range(NIGHTS):
        for run in runs:
            deliver(run, zone / run.name, number, chance)
        night((local, spark)[number % 2], zone, by_turns)
        if PROVING:  # test_quiet_nights and test_late_files have nights of the local engine alone
            night(local, zone, by_local)
    night(local, zone, at_once)
    wanted = content(at_once, ALL)
    assert sum(map(len, wanted.values())) > 1_000
    for warehouse in (by_turns, by_local) if PROVING else (by_turns,):
        found = content(warehouse, ALL)
        for table in ALL:
            assert found[table] == wanted[table], table
        assert warehouse.last_run()["held"] is None


def test_a_source_that_is_read_anew_replaces_its_checkpoints_and_no_others(
    local: LocalEngine, zone: Zone, tmp_path: Path
) -> None:
    """A late file shows that a process began before what is known of it: the other node's checkpoints stay."""
    other = zone.root / "c1" / "nodes" / "n2" / "logs" / "broker_default.log"
    other.parent.mkdir(parents=True)
    start = "The broker[broker-a, 127.0.0.1:10911] boot success. serializeType=JSON"
    zone.write("broker_default.log", leads(900) + noise(950))
    other.write_text(leads(905, 2, "n2") + noise(930))
    by_nights, once = Warehouse(str(tmp_path / "nights")), Warehouse(str(tmp_path / "once"))
    night(local, zone.root, by_nights)
    zone.write("broker.log", line(100, start, "main") + noise(130))
    night(local, zone.root, by_nights)
    other.write_text(leads(905, 2, "n2") + noise(930) + leads(1_000, 3, "n2"))
    night(local, zone.root, by_nights)
    night(local, zone.root, once)
    assert content(by_nights, ALL) == content(once, ALL)


# -- kills -------------------------------------------------------------------------------------------------------------


def test_a_run_may_be_killed_at_any_moment(local: LocalEngine, corpora: Path, zone: Zone, tmp_path: Path) -> None:
    """The killed run leaves no process behind, and the next one makes its tables those of an undisturbed run."""
    copy_nodes(corpora / "rocketmq-dledger/old-copy-497", zone.root / "c2")
    killed, once, chance = Warehouse(str(tmp_path / "killed")), Warehouse(str(tmp_path / "once")), random.Random(3)
    night(local, zone.root, once)
    code = (
        "import sys; import election_replay.jobs.engines.local_engine as e; e.BATCH_FILE_ROWS, e.POOL_BYTES = 100, 0\n"
        "from election_replay.jobs.cli.app import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [
        sys.executable,
        "-c",
        code,
        "run",
        "--engine",
        "local",
        "--landing",
        zone.root,
        "--warehouse",
        killed.root,
    ]
    began = time.monotonic()
    subprocess.run([*command[:-1], tmp_path / "undisturbed"], check=True, capture_output=True)
    whole = time.monotonic() - began
    for _ in range(amount(2, 10)):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(chance.uniform(0.2, 1) * whole)
        child.kill()
        child.wait()
        assert gone(child.pid), "a process of the pool outlives the run"
    night(local, zone.root, killed)
    assert content(killed, ALL) == content(once, ALL)


def gone(session: int, seconds: float = 600) -> bool:
    """Whether the processes of a session end (Linux); a process that waits for somebody never does."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(session_of(one) == session for one in Path("/proc").glob("[0-9]*")):
            return True
        time.sleep(0.1)
    return False


def session_of(process: Path) -> int:
    """The session of a process that lives; 0 for what is gone."""
    try:
        state, _, _, session = (process / "stat").read_text().rpartition(")")[2].split()[:4]
    except OSError:
        return 0
    return 0 if state == "Z" else int(session)
