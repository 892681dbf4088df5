"""However the logs of real clusters come in, night by night, the tables are those of one run over all of them."""

import random
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from election_core import replay as core
from election_core.facts import Fact
from election_core.memory import LIVED
from jobs.map_partitions import row_type, struct_of
from jobs.warehouse import Warehouse
from schemas import TABLES
from tests.jobs.nights import ALL, content, night
from tests.jobs.zone import Zone

RUNS = (
    "rocketmq-dledger/old-copy-497",
    "rocketmq-controller/identity-lost-and-moved",
    "rocketmq-controller/embedded",
    "rocketmq-acting-master/locks-strict-cut",
    "rocketmq-acting-master/failover-preonline-clean",
    "etcd/members-34",
    "zookeeper/rolling-restart-380",
)
"""All protocols that have real logs."""

STATES = TABLES["replay_states"]
NIGHTS = 4
ORDER = ("cluster", "source_node", "is_snapshot", "stream", "file_order", "fingerprint", "line_no")


# -- the fold alone ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def events(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, pa.Table]:
    """The events of each run, landed without Spark, in the columns of a state."""
    found = {}
    for run in RUNS:
        zone = Zone(tmp_path_factory.mktemp("zone"))
        copy_nodes(corpora / run, zone.root / "c1")
        rows = zone.land()["events"]
        found[run] = as_rows(pa.Table.from_pylist(rows, TABLES["events"].arrow_schema()))
    return found


def copy_nodes(run: Path, cluster: Path) -> None:
    """Deliver everything."""
    for path in sorted((run / "nodes").rglob("*")):
        if path.is_file():
            target = cluster / path.relative_to(run)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())


def as_rows(rows: pa.Table) -> pa.Table:
    """Rows in the columns of a state."""
    batches = [struct_of(STATES, batch) for batch in rows.combine_chunks().to_batches()]
    return pa.Table.from_struct_array(pa.chunked_array(batches, row_type(STATES)))


def folded(state: pa.Table, new: pa.Table) -> tuple[set[Fact], pa.Table]:
    """The facts of a night, and the state after it."""
    parts = [
        rows.append_column(core.REMEMBERED, pa.array([old] * rows.num_rows, pa.bool_()))
        for rows, old in ((state, True), (new, False))
    ]
    rows = pa.concat_tables(parts)
    rows = rows.append_column("is_snapshot", pa.compute.match_substring(rows["stream"], "/"))
    rows = rows.append_column("file_order", pa.compute.fill_null(rows["file_time"].cast(pa.int64()), -1))
    rows = rows.sort_by([(name, "ascending") for name in ORDER]).combine_chunks()
    told = list(core.fold(rows.to_batches(max_chunksize=700)))
    added = [
        as_rows(pa.Table.from_batches([batch]))
        for batch in told
        if isinstance(batch, pa.RecordBatch) and batch.num_rows
    ]
    return {fact for fact in told if isinstance(fact, Fact)}, pa.concat_tables([state, *added])


def nights_of(events: pa.Table, nights: int, chance: random.Random) -> Iterator[pa.Table]:
    """The events night by night, as files grow: a line comes with all lines of its file before it."""
    times = events["event_time"].cast(pa.int64()).to_pylist()
    cuts = sorted(chance.sample(sorted(set(times)), nights - 1))
    files = list(
        zip(*(events[name].to_pylist() for name in ("source_node", "stream", "fingerprint", "line_no")), strict=True)
    )
    night_of = [0] * len(times)
    for _, lines in groupby(sorted(range(len(times)), key=lambda line: files[line]), key=lambda line: files[line][:3]):
        came = 0
        for line in lines:
            came = max(came, sum(cut <= times[line] for cut in cuts))
            night_of[line] = came
    for number in range(nights):
        yield events.filter(pa.array([came == number for came in night_of]))


@pytest.mark.parametrize("run", RUNS)
def test_a_state_and_what_is_new_give_the_facts_of_everything(events: Mapping[str, pa.Table], run: str) -> None:
    everything, first = folded(events[run].slice(0, 0), events[run])
    assert everything
    assert first.num_rows < events[run].num_rows or LIVED in first["kind"].to_pylist()
    for seed in range(3):
        chance = random.Random(f"{run} {seed}")
        state = events[run].slice(0, 0)
        facts: set[Fact] = set()
        for new in nights_of(events[run], chance.randint(2, 6), chance):
            facts, state = folded(state, new)
        assert facts == everything, f"seed {seed}"


# -- whole runs --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_any_nights_and_late_files_give_the_tables_of_one_run(
    spark: SparkSession, corpora: Path, tmp_path: Path
) -> None:
    """Files grow, come a night late, or come at the end; one cluster begins late, one says nothing new in a night."""
    chance = random.Random(11)
    once, zone = Warehouse(str(tmp_path / "once")), tmp_path / "landing"
    by_nights = Warehouse(str(tmp_path / "nights"))
    for number in range(NIGHTS):
        for run in RUNS:
            deliver(corpora / run, zone / Path(run).name, number, chance)
        night(spark, zone, by_nights)
    night(spark, zone, once)
    wanted, found = content(once, ALL), content(by_nights, ALL)
    for table in ALL:
        assert found[table] == wanted[table], table


def deliver(run: Path, cluster: Path, number: int, chance: random.Random) -> None:
    """What one night brings of a cluster: of each file nothing yet, more, or in the last night all of it.

    Some nights bring nothing of a cluster, or something of one of its nodes alone.
    """
    nodes = sorted(path.name for path in (run / "nodes").iterdir())
    if number < NIGHTS - 1:
        nodes = chance.choice([[], [chance.choice(nodes)], nodes, nodes])
    for node in nodes:
        for path in sorted((run / "nodes" / node).rglob("*")):
            if path.is_file():
                grow(path, cluster / path.relative_to(run), chance, last=number == NIGHTS - 1)


def grow(path: Path, target: Path, chance: random.Random, *, last: bool) -> None:
    """Deliver more of a log, or all of another file; perhaps neither, before the last night."""
    data, begin = path.read_bytes(), target.stat().st_size if target.exists() else 0
    end = len(data)
    if not last and path.suffix == ".log":
        end = whole_records(data, chance.randint(begin, len(data)))
    if last or chance.random() < 0.6:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data[: max(begin, end)])


def whole_records(data: bytes, end: int) -> int:
    """``end``, or the next place where a dated line begins: a record that is cut keeps the lines that it had."""
    begins = data.find(b"\n20", max(end - 1, 0))
    return begins + 1 if begins >= 0 else len(data)
