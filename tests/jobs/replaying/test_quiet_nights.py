"""Nights in which logs say nothing new, of all protocols: what is not folded and not judged is as if it had been.

Worlds and real logs are cut into nights. Nights of mere signs of life, and of periodic lines that repeat themselves,
stand between and after them; some of their files roll, come late, or bring something new after all.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import election_replay.jobs.replaying.judging
from benchmarks.years import of_table
from election_replay.election_core.fold.identity import is_snapshot
from election_replay.election_core.replay.registry import PERIODIC
from election_replay.election_core.replay.source_fold import INTERESTING
from election_replay.election_core.simulate.catalogue import SCENARIOS
from election_replay.jobs.engines.engine import Rows
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.replay import replay
from election_replay.jobs.replaying.judging import Keys, changed_sources, groups_to_judge, rows_of
from election_replay.jobs.replaying.plan import Work
from election_replay.jobs.replaying.source_delta import (
    CHECKPOINTS,
    WATERMARKS,
    CheckpointedSource,
    UpdatedSource,
    known_sources,
    with_last_files,
)
from election_replay.jobs.warehouse.data_files import write_data_files
from election_replay.jobs.warehouse.table_sets import FACT_TABLES
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.events import SOURCE
from tests.jobs.nights import GOLD, content
from tests.jobs.replaying.test_checkpoints import RUNS, copy_nodes, write_world
from tests.jobs.zone import Zone
from tests.proving import amount

pytestmark = pytest.mark.slow

EVERY_SCENARIO = amount(30, 1)
"""One of so many scenarios is played."""
ANOTHER_LEADER = ("dledger-kill-leader", "dledger-transfer", "dledger-rolling-restart")
"""Played in any case: who commits in a quiet night leads no more after the next ones."""
JUDGED = (*GOLD, *FACT_TABLES)
EVENTS = TABLES["events"].arrow_schema()
PLACE = ("cluster", "source_node", "stream", "source_file", "fingerprint", "file_time")
PLACE_OF_LINE = ("source_node", "stream", "fingerprint", "line_no")
QUIET = amount(4, 6)
"""So many quiet nights come after each half of a story."""
NIGHT = timedelta(seconds=400)
"""So long is one; two of them make a group quiescent."""
BETWEEN = timedelta(hours=1)
"""So much later the second half happens, for the quiet nights between."""

SPOKEN = "SELECT DISTINCT cluster, replica_group FROM {rows}"

Row = dict[str, Any]


@dataclass
class Log:
    """The lines of one stream of a source, and how it goes on."""

    rows: list[Row]

    def says(self, now: datetime, again: Row | None) -> Row:
        """The next line: what another one said, or a mere sign of life."""
        last = self.rows[-1]
        number = last["line_no"] + 1
        tick = dict.fromkeys(EVENTS.names) | {name: last[name] for name in ("time_resolution_ms", "protocol")}
        if again and again["committed"] is not None and number % 3:
            again = again | {"committed": again["committed"] + number % 7}
        row = (again or tick | {"kind": "TICK"}) | {column.name: last[column.name] for column in SOURCE}
        ident = sha256("/".join(map(str, (*(row[name] for name in PLACE), number))).encode()).hexdigest()
        self.rows.append(row | {"event_time": now, "line_no": number, "event_id": ident})
        return self.rows[-1]

    def rolls(self, now: datetime) -> None:
        """The next line stands in a new file."""
        name = f"{self.rows[-1]['fingerprint'][:16]} {now:%d %H:%M:%S}"
        self.rows.append(self.rows[-1] | {"fingerprint": name, "source_file": name, "file_time": now, "line_no": 0})

    def periodic(self) -> list[Row]:
        """The last line of each kind that comes again and again."""
        return [*{row["kind"]: row for row in self.rows if row["kind"] in PERIODIC}.values()]


@dataclass
class Source:
    """The logs of one node."""

    logs: list[Log]
    late: list[Row] = field(default_factory=list)
    gone: bool = False

    def night(self, chance: random.Random, count: Counter[str]) -> list[Row]:
        """What comes in a quiet night; what it says itself may come with the next one."""
        now = max(row["event_time"] for log in self.logs for row in log.rows)
        rows, until, updated = [], now + NIGHT, chance.random() < 0.05
        if chance.random() < 0.1:
            chance.choice(self.logs).rolls(now + timedelta(seconds=1))
            count["files rolled"] += 1
        self.gone = self.gone or chance.random() < 0.06
        count["logs that stop"] += self.gone
        while now < until and not self.gone:
            now += timedelta(seconds=chance.randint(3, 9))
            log = chance.choice(self.logs)
            known = [row for row in log.rows if row["kind"] in INTERESTING] if updated else log.periodic()
            again = chance.choice(known) if known and chance.random() < 0.5 else None
            count["news in a quiet night"] += updated and again is not None
            updated = updated and again is None
            rows.append(log.says(now, again))
        late, self.late = self.late, []
        if chance.random() < 0.08:
            count["late by a night"] += 1
            self.late, rows = rows, []
        return [*late, *rows]


def sources_of(rows: list[Row]) -> list[Source]:
    """The nodes whose logs may go on."""
    order = ("cluster", "source_node", "stream", "file_time", "fingerprint", "line_no")
    lines = [row for row in rows if "/" not in row["stream"]]
    lines.sort(key=lambda row: tuple((row[name] is not None, row[name]) for name in order))
    return [
        Source([Log([*of_log]) for _, of_log in groupby(of_source, key=itemgetter("stream"))])
        for _, of_source in groupby(lines, key=itemgetter("cluster", "source_node"))
    ]


def nights(events: list[Row], chance: random.Random, count: Counter[str]) -> Iterator[list[Row]]:
    """The events of a cluster in two halves, with quiet nights after each.

    Lines are numbered with room between them for the quiet nights' own.
    """
    moment = chance.choice(sorted(row["event_time"] for row in events))
    halves: tuple[list[Row], list[Row]] = ([], [])
    place = itemgetter("source_node", "stream", "fingerprint")
    for _, lines in groupby(sorted(events, key=itemgetter(*PLACE_OF_LINE)), key=place):
        later = False
        for row in lines:
            later = later or row["event_time"] > moment
            more = {"line_no": 10_000 * row["line_no"]}
            if later:
                more["event_time"] = row["event_time"] + BETWEEN
                begins = row["file_time"] is not None and row["file_time"] > moment
                more |= {"file_time": row["file_time"] + BETWEEN} if begins else {}
            halves[later].append(row | more)
    told: list[Row] = []
    for half in halves:
        yield half
        sources = sources_of(told := told + half)
        for _ in range(QUIET):
            yield (night := [row for source in sources for row in source.night(chance, count)])
            told = told + night
        yield (left := [row for source in sources for row in source.late])
        told = told + left


def land(warehouse: Warehouse, rows: list[Row], batch: int, landed: Counter[tuple[Any, ...]]) -> None:
    """Land events as if their files held nothing else; of each file ``landed`` says how much is landed before."""
    of_files = Counter(tuple(row[name] for name in PLACE) for row in rows)
    landed.update(of_files)
    files = [
        dict(zip(PLACE, file, strict=True))
        | {"path": file[3], "head": file[4], "status": "landed", "lines_total": lines, "lines_event": lines}
        | {"lines_landed": landed[file], "batch": batch}
        for file, lines in of_files.items()
    ]
    lines = [row | {"path": row["source_file"], "text": "a line", "batch": batch} for row in rows]
    for table, found in (("events", lines), ("log_lines", lines), ("landed_files", files)):
        shape = TABLES[table]
        here = pa.schema([f for f in shape.arrow_schema().remove_metadata() if found and f.name in found[0]])
        told = pa.Table.from_pylist(found, here).combine_chunks().to_batches()
        data = write_data_files(((table, of_table(table, part)) for part in told), warehouse.root)
        warehouse.replace(data, table, [str(batch)], f"landing {batch}", warehouse.version(table))


def content_but_for(held: Collection[str], warehouse: Warehouse) -> dict[str, list[str]]:
    """What is judged, without the clusters that are held back."""
    return {
        table: [row for row in rows if json.loads(row)["cluster"] not in held]
        for table, rows in content(warehouse, JUDGED).items()
    }


def known_by_ends(engine: LocalEngine, warehouse: Warehouse, night: list[Row]) -> None:
    """Check that the ends of sources tell of each checkpoint what its own rows do."""
    folds, ends = (Rows(table.name, warehouse.version(table.name)) for table in (CHECKPOINTS, WATERMARKS))
    updated = [
        UpdatedSource(*source, 1, (), None) for source in {(row["cluster"], row["source_node"]) for row in night}
    ]
    wanted, found = (
        {known.source: as_logs_end(known) for known in with_last_files(engine, warehouse, rows, known_by, updated)}
        for rows, known_by in ((rows, known_sources(engine, warehouse, rows)) for rows in (folds, ends))
    )
    assert found == wanted


def as_logs_end(known: CheckpointedSource) -> tuple[CheckpointedSource, bool]:
    """What is known of a source's logs, and whether there are copies of its metadata: one end stands for all copies."""
    logs = {stream: file for stream, file in known.last_files.items() if not is_snapshot(stream)}
    return replace(known, last_files=logs, facts_hash=None), len(logs) < len(known.last_files)


@pytest.fixture(scope="module")
def stories(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[Row]]:
    """The events of simulated worlds of all protocols, and of real runs, cluster by cluster."""
    zone = Zone(tmp_path_factory.mktemp("zone"))
    for name in {*[*SCENARIOS][::EVERY_SCENARIO], *ANOTHER_LEADER}:
        write_world(name, 0, zone.root / name)
    for run in RUNS[:: amount(6, 1)]:
        copy_nodes(corpora / run, zone.root / run.replace("/", "-"))
    rows = sorted(zone.land()["events"], key=itemgetter("cluster"))
    return {cluster: [*of_cluster] for cluster, of_cluster in groupby(rows, key=itemgetter("cluster"))}


@pytest.mark.parametrize("seed", range(amount(1, 3)))
def test_quiet_nights_give_the_tables_of_one_run(
    local: LocalEngine,
    stories: Mapping[str, list[Row]],
    seed: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    count = Counter[str]()

    def changed(work: Work, files: Any) -> Keys:
        found = changed_sources(work, files)
        count["sources with news"] += len(work.extent.touched)
        count["sources that changed nothing"] += len(work.extent.touched) - len(found)
        return found

    def judged(work: Work, of: Keys) -> tuple[Keys, Keys]:
        groups, sources = groups_to_judge(work, of)
        count["groups that were judged"] += len(groups)
        count["groups with news"] += len(
            {
                *rows_of(
                    work,
                    SPOKEN,
                    (
                        work.newest(name, work.extent.partly)
                        .where(work.of_sources())
                        .select(("cluster", "replica_group"))
                        for name in FACT_TABLES
                    ),
                )
            }
        )
        return groups, sources

    monkeypatch.setattr(election_replay.jobs.replaying.judging, "changed_sources", changed)
    monkeypatch.setattr(election_replay.jobs.replaying.judging, "groups_to_judge", judged)
    by_nights, once = Warehouse(str(tmp_path / "nights")), Warehouse(str(tmp_path / "once"))
    for warehouse in (by_nights, once):
        warehouse.create()
    every: list[Row] = []
    landed = Counter[tuple[Any, ...]]()
    clusters = [nights(events, random.Random(f"{cluster} {seed}"), count) for cluster, events in stories.items()]
    for batch, night in enumerate(zip(*clusters, strict=True), 1):
        rows = [row for of_cluster in night for row in of_cluster]
        every += rows
        land(by_nights, rows, batch, landed)
        held = replay(local, by_nights).held
        known_by_ends(local, by_nights, rows)
    land(once, every, 1, Counter())
    assert replay(local, once).held == held, "a story that is cut may be told in no order at all"
    assert len(held) < len(stories) / 10
    for name, number in count.items():
        record_property(name, number)
    wanted, found = (content_but_for(held, warehouse) for warehouse in (once, by_nights))
    for table in JUDGED:
        assert found[table] == wanted[table], table
    assert count["sources that changed nothing"] > count["sources with news"] / 4, count
    assert count["groups that were judged"] < count["groups with news"], count
