"""What an event costs: CPU seconds of one core to land it and to replay it, and bytes in each table.

Lands logs and puts them through the core in this one process, without Spark, so that other work on the machine changes
little. Prints one line of JSON for each kind of logs: the bundled real runs, dense with elections, and a busy broker's
log, of which one line in a hundred is of interest.

    python -m benchmarks.sizes
"""

import argparse
import io
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.in_process import ordered
from benchmarks.landing import make_zone
from benchmarks.printed import say
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.replay import arrow_passes as core
from election_replay.election_core.replay.fact_rows import rows_of
from election_replay.jobs.landing.ledger import NOTHING_LANDED
from election_replay.jobs.landing.listing import log_files
from election_replay.jobs.landing.one_file import land_tasks
from election_replay.jobs.landing.plan import tasks_of
from election_replay.jobs.replaying.first_seen import FINDING_COLUMNS
from election_replay.jobs.replaying.judging import judge
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.data_files import record_batch, with_all_columns
from election_replay.jobs.warehouse.table_sets import EVIDENCE_LINES
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from tests.archives import unpack

CORPORA = Path(__file__).parents[1] / "tests" / "corpora"


def real_runs(zone: Path) -> None:
    """Fill a landing zone with all bundled real runs."""
    for archive in sorted(CORPORA.glob("*.tar.xz")):
        unpack(archive, zone / archive.name)


def landed(zone: Path, root: Path) -> tuple[dict[str, Any], pa.Table]:
    """What landing a zone cost, and its events."""
    config = Config()
    warehouse = Warehouse(str(root))
    warehouse.create()
    files = log_files(str(zone), config.layout)
    tasks = tasks_of(files, NOTHING_LANDED, str(zone), config, 1)
    began = time.process_time()
    done = land_tasks(tasks, str(zone), str(root))
    data_files, sums = done.data_files, done.sums
    seconds = time.process_time() - began
    stored: Counter[str] = Counter()
    for one in data_files:
        stored[one.table] += one.size
    [events] = [one.path for one in data_files if one.table == "events"]
    size = sum(file.size for file in files) / 1e6
    said = {
        "megabytes": round(size, 1),
        "lines": sums["lines_total"],
        "events": sums["lines_event"],
        "landing_mb_a_cpu_second": round(size / seconds, 1),
        "bytes_an_event": {name: round(stored[name] / sums["lines_event"], 1) for name in sorted(stored)},
    }
    return said, pq.read_table(f"{warehouse.location('events')}/{events}")


def replayed(events: pa.Table) -> Iterator[tuple[str, Any]]:
    """What replaying events costs, and the bytes of an event in the tables that it makes."""
    rows = ordered(events)
    began = time.process_time()
    of_group = attrgetter("cluster", "replica_group")
    facts = sorted((one for one in core.fold(rows.to_batches()) if isinstance(one, Fact)), key=of_group)
    batches: list[pa.RecordBatch] = []
    verdicts: dict[str, list[tuple[Any, ...]]] = {}
    for _, group in groupby(facts, key=of_group):
        told = [with_all_columns(TABLES["facts"], rows) for rows in rows_of(group, TABLES["facts"].arrow_schema())]
        batches += told
        for table, values in judge(map(without_sightings, told), "benchmark", datetime.now(UTC)):
            verdicts.setdefault(table, []).append(values)
    yield "replay_events_a_cpu_second", round(events.num_rows / (time.process_time() - began))
    tables = {name: [record_batch(TABLES[name], rows)] for name, rows in verdicts.items() if name != EVIDENCE_LINES}
    tables["facts"] = batches
    yield "bytes_an_event", {name: round(parquet_bytes(own) / events.num_rows, 1) for name, own in tables.items()}


def without_sightings(facts: pa.RecordBatch) -> pa.RecordBatch:
    """Facts of a group of which no finding is known."""
    for name in FINDING_COLUMNS:
        facts = facts.append_column(name, pa.nulls(facts.num_rows, TABLES["findings"].arrow_schema().field(name).type))
    return facts


def parquet_bytes(rows: list[pa.RecordBatch]) -> int:
    """How large rows are as one Parquet file, written as Spark writes it."""
    file = io.BytesIO()
    pq.write_table(pa.Table.from_batches(rows).combine_chunks(), file)
    return file.tell()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200)
    megabytes = parser.parse_args().megabytes
    for name, fill in (("real runs", real_runs), ("busy broker", lambda zone: make_zone(zone, megabytes))):
        folder = Path(tempfile.mkdtemp(prefix="bench-sizes-"))
        try:
            fill(folder / "zone")
            said, events = landed(folder / "zone", folder / "warehouse")
            again = dict(replayed(events))
            said["bytes_an_event"] |= again.pop("bytes_an_event")
            say(name, **said, **again)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
