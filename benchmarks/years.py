"""Years of nights, and fleets of clusters: what a night costs when much was landed before it.

``years``: one cluster of some hundred groups speaks every night, one group of twenty elects, a file comes late now and
then, and every seventh night ends with upkeep. ``fleet``: very many small clusters, of which few have news in the night
that is measured. ``late``: one file comes late in a cluster of eighty files. The tables are filled as a landing would
leave them, by DuckDB, so that most of the time is the replay's. Prints one line of JSON for each measurement.

The nights of ``years`` that are measured are whole: files of ``--lines`` lines a node are landed and replayed, with all
gates. What the replay takes of it is told besides. They and the two nights before each are as long as ``--events``
says; all others are of some minutes, so that a year of them can be made at all: they leave the same elections, and
fewer signs of life between them.

A night that is measured runs in a process of its own, as a scheduled one does; its start is not counted. Of the others
as many as ``--together`` says are replayed at once, which leaves the same rows, and less entries in Delta's logs.
Upkeep keeps no run but the newest: else a year of nights that takes minutes would end with all its entries of Delta's
logs, of which upkeep keeps those of thirty days.

    python -m benchmarks.years years --groups 250 --nights 365
    python -m benchmarks.years fleet --clusters 20000
    python -m benchmarks.years late --engine spark
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from benchmarks.load import STREAM, TERMS_A_STORY, Calendar, told_of
from benchmarks.night_logs import NightLogs
from benchmarks.printed import say
from election_replay.election_core.model.events import Event
from election_replay.election_core.simulate.scenario import BEGAN_US
from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.land import land
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.replay import Replay, replay
from election_replay.jobs.settings.config import Config
from election_replay.jobs.upkeep import upkeep
from election_replay.jobs.warehouse.data_files import write_data_files
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.events import MEANING

TABLES_WRITTEN = ("events", "log_lines", "landed_files")
PRELOAD = ("election_replay.jobs.replaying.judging",)


@dataclass(frozen=True, slots=True)
class Fleet:
    """``clusters`` of ``groups`` each, with ``members`` nodes of so many lines a night, and what they say in it."""

    clusters: int = 1
    groups: int = 250
    members: int = 3
    calendar: Calendar = field(default_factory=lambda: Calendar(80))
    electing: int = 20
    lines_a_node: int = 0


@dataclass(slots=True)
class Cost:
    """What a night took: seconds, CPU seconds of all processes, the driver's largest memory, Spark jobs, files."""

    seconds: float = 0.0
    cpu_s: float = 0.0
    driver_mb: int = 0
    spark_jobs: int | None = None
    files: dict[str, int] = field(default_factory=dict)


# -- nights that are landed ----------------------------------------------------------------------------------------


class Nights:
    """Lands nights of a fleet into a warehouse without reading a file."""

    def __init__(self, warehouse: Warehouse, fleet: Fleet) -> None:
        self._warehouse, self._fleet, self._known = warehouse, fleet, set[int]()
        self._database = duckdb.connect()
        for setting in ("TimeZone = 'UTC'", "memory_limit = '2GB'"):
            self._database.execute(f"SET {setting}")
        self._database.execute("SET temp_directory = ?", [f"{warehouse.root}-scratch"])
        self._members = sorted(fleet.calendar.told(1).lives)
        warehouse.create()

    def _let_know(self, night: int) -> tuple[str, str]:
        """The tables of what is said in a night, by groups that elect and by those that live."""
        events, told = self._fleet.calendar.events(night), self._fleet.calendar.told(night)
        names = f"elects_{events}", f"lives_{events}"
        if events not in self._known:
            self._known.add(events)
            for name, of_members in zip(names, (told.elects, told.lives), strict=True):
                self._database.register(name, story_rows(of_members, self._fleet.members))
        return names

    def write(self, zone: Path, night: int, logs: NightLogs, late: frozenset[str] = frozenset()) -> int:
        """The files of the night in place of those of another one, but for some ``late`` nodes; how many lines."""
        shutil.rmtree(zone, ignore_errors=True)
        lines = 0
        for number in range(self._fleet.groups):
            since = max(1, night - (number + night) % self._fleet.electing)
            for member in self._members:
                node = f"g{number}-{member}"
                if node not in late:
                    folder = zone / "c0" / "nodes" / node / "logs"
                    lines += logs.write(folder, member, f"G{number}", night, since)
        return lines

    def land(self, night: int, where: str = "true", batch: int | None = None) -> int:
        """The night, counted from 1, of the sources for which the SQL ``where`` holds; how many events it has."""
        batch = batch or night
        self._database.execute("DROP TABLE IF EXISTS landed")
        self._database.execute(f"CREATE TEMP TABLE landed AS {self._events(night, batch)} WHERE {where}")
        [(count,)] = self._database.sql("SELECT count(*) FROM landed").fetchall()
        versions = {table: self._warehouse.version(table) for table in TABLES_WRITTEN}
        of_files = FILES.format(lines=f"greatest({self._fleet.lines_a_node}, count(*))")
        for table, sql in (("events", "SELECT * FROM landed"), ("log_lines", LINES), ("landed_files", of_files)):
            rows = self._database.sql(sql).to_arrow_reader(50_000)
            told = ((table, of_table(table, one)) for one in rows if one.num_rows)
            files = write_data_files(told, self._warehouse.root)
            self._warehouse.replace(files, table, [str(batch)], f"landing {batch}", versions[table])
        return int(count)

    def _events(self, night: int, batch: int) -> str:
        fleet = self._fleet
        began, (elects, lives) = fleet.calendar.began_us(night), self._let_know(night)
        every = fleet.clusters * fleet.groups
        shifted = ("term", "from_term", "max_term", "ledger_end_term", "peer_ledger_end_term")
        of = {
            "cluster": f"'c' || (id // {fleet.groups})",
            "source_node": "'g' || id || '-' || member",
            "stream": f"'{STREAM}'",
            "fingerprint": f"'night-{night}-' || id || '-' || member",
            "file_time": f"make_timestamptz({began})",
            "source_file": f"'night-{night}/' || id || '/' || member || '/{STREAM}'",
            "clock_bound_ms": "500",
            "event_time": f"make_timestamptz(event_time - {BEGAN_US} + {began})",
            "replica_group": "CASE WHEN replica_group IS NOT NULL THEN 'G' || id END",
            "event_id": f"md5(id || '/' || member || '/{night}/' || line_no)",
            "batch": str(batch),
            **{term: f"{term} + since * {TERMS_A_STORY}" for term in shifted},
        }
        columns = ", ".join(f"{of.get(name, name)} AS {name}" for name in TABLES["events"].names)
        since = f"greatest(1, {night} - (id + {night}) % {fleet.electing})"
        groups = f"(SELECT id, {since} AS since FROM range({every}) AS g(id))"
        electing = f"(SELECT * FROM {groups} CROSS JOIN {elects} WHERE since = {night})"
        living = f"(SELECT * FROM {groups} CROSS JOIN {lives} WHERE since < {night})"
        both = f"({electing} UNION ALL BY NAME {living})"
        return f"SELECT * FROM (SELECT {columns} FROM {both} ORDER BY id, member, line_no)"


LINES = (
    "SELECT event_id, cluster, source_node, stream, fingerprint, line_no, source_file AS path, 'a line' AS text, batch "
    "FROM landed"
)
FILES = (
    "SELECT batch, cluster, source_node, stream, source_file AS path, fingerprint, fingerprint AS head, "
    "'landed' AS status, {lines} AS lines_total, count(*) AS lines_event, {lines} - count(*) AS lines_ignored, "
    "{lines} AS lines_landed, 'dledger' AS protocol, file_time FROM landed GROUP BY ALL"
)


def story_rows(told: dict[str, list[Event]], members: int) -> pa.Table:
    """The columns of events that hold the meaning, ``member`` and ``line_no``; further members only follow."""
    last = max(told)
    more = {f"n{number}": told[last] for number in range(len(told), members)}
    rows = [
        {"member": member, "line_no": number} | meaning(event if member in told else quiet(event, member))
        for member, events in {**told, **more}.items()
        for number, event in enumerate(events, 1)
    ]
    types = {column.name: pa.int64() if column.type.sql == "TIMESTAMP" else column.type.arrow for column in MEANING}
    return pa.Table.from_pylist(rows, pa.schema({"member": pa.string(), "line_no": pa.int64(), **types}))


def quiet(event: Event, member: str) -> Event:
    """A mere line in place of what another member says."""
    return replace(event, node=member) if event.kind == "DL_STATUS" else replace(TICK, event_time=event.event_time)


TICK = next(event for events in told_of(80).lives.values() for event in events if event.kind == "TICK")


def meaning(event: Event) -> dict[str, Any]:
    """The fields of an event."""
    told = asdict(event)
    return {column.name: told[column.name] for column in MEANING}


def of_table(table: str, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows with all columns of a table; counts that are not given are 0."""
    here, columns = set(rows.schema.names), []
    for column in TABLES[table].columns:
        if column.name in here:
            columns.append(rows.column(column.name).cast(column.type.arrow))
        elif column.nullable:
            columns.append(pa.nulls(rows.num_rows, column.type.arrow))
        else:
            empty = pa.scalar("" if column.type.sql == "STRING" else 0).cast(column.type.arrow)
            columns.append(pa.repeat(empty, rows.num_rows))
    return pa.RecordBatch.from_arrays(columns, names=list(TABLES[table].names))


# -- what it costs -------------------------------------------------------------------------------------------------


@contextmanager
def measured(cost: Cost) -> Iterator[None]:
    """Fills ``cost`` with what its block takes (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")
    began, cpu = time.monotonic(), cpu_seconds()
    yield
    cost.seconds, cost.cpu_s = round(time.monotonic() - began, 2), round(cpu_seconds() - cpu, 2)
    status = Path("/proc/self/status").read_text().splitlines()
    cost.driver_mb = next(int(line.split()[1]) >> 10 for line in status if line.startswith("VmHWM"))


def cpu_seconds() -> float:
    """The CPU seconds of this process and all that it began, the ended ones too."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            after = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        stats[int(path.parent.name)] = int(after[1]), sum(map(int, after[11:15]))
    own, found = [os.getpid()], 0
    while own:
        one = own.pop()
        found += stats[one][1] if one in stats else 0
        own += [pid for pid, (parent, _) in stats.items() if parent == one]
    return found / os.sysconf("SC_CLK_TCK")


def whole_night_cost(engine: Engine, warehouse: Warehouse, zone: str) -> tuple[Cost, Cost]:
    """A night of real files, and its replay alone."""
    landing = Cost()
    with measured(landing):
        land(engine, new_files(zone, warehouse, Config()), zone, warehouse, Config())
    replaying = night_cost(engine, warehouse)
    whole = replace(replaying, seconds=round(landing.seconds + replaying.seconds, 2))
    whole.cpu_s = round(landing.cpu_s + replaying.cpu_s, 2)
    whole.driver_mb = max(landing.driver_mb, replaying.driver_mb)
    return whole, replaying


def night_cost(engine: Engine, warehouse: Warehouse) -> Cost:
    """A replay of what is new, with all gates."""
    cost, before = Cost(), jobs_of(engine)
    with measured(cost):
        done: Replay = replay(engine, warehouse)
    if done.held or not done.run_id:
        raise RuntimeError(f"nothing was published: {[check for check in done.checks if check.stops]}")
    after = jobs_of(engine)
    cost.spark_jobs = None if before is None or after is None else after - before
    cost.files = {name: len(warehouse.opened(name).file_uris()) for name in warehouse.versions()}
    return cost


def cost_apart(engine: str, warehouse: Warehouse) -> Cost:
    """The same in a process of its own."""
    return costs_apart(engine, warehouse)[0]


def costs_apart(engine: str, warehouse: Warehouse, *zone: str) -> list[Cost]:
    """A replay, or a night of the files in a ``zone`` and its replay, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.years", "night", "--engine", engine, "--folder", warehouse.root]
    done = subprocess.run([*command, *(f"--zone={one}" for one in zone)], check=True, stdout=subprocess.PIPE, text=True)
    return [Cost(**cost) for cost in json.loads(done.stdout.splitlines()[-1])]


def jobs_of(engine: Engine) -> int | None:
    """How many jobs Spark began so far; none if it is not Spark."""
    session = getattr(engine, "session", None)
    if session is None:
        return None
    return len(list(session.sparkContext.statusTracker().getJobIdsForGroup(None)))


# -- measurements --------------------------------------------------------------------------------------------------

EVENTS_A_NODE = {"years": 2_000, "fleet": 40, "late": 800}
"""So many events a node has in a night: of a hundred minutes, of a few, and of most of an hour."""

SHORT = 160
"""So many in a night of ``years`` that is short: of eight minutes."""

LONG_BEFORE = 2
"""So many nights before one that is measured are as long as that one."""

MEASURED = (1, 2, 8, 30, 90, 180, 270)
"""The nights of ``years`` that are measured, besides the last."""

RATIOS = ("cpu_s", "seconds", "driver_mb")
"""What of the last night is held against the second one."""


def years(engine: str, folder: Path, fleet: Fleet, nights: int, together: int) -> None:
    """The last night over the second one, and over the eighth: in the second all groups have just elected."""
    warehouse, zone = Warehouse(str(folder / "years")), folder / "zone"
    landing, logs = Nights(warehouse, fleet), NightLogs(fleet.calendar, fleet.lines_a_node)
    costs, waiting, apart = dict[int, list[Cost]](), 0, {*MEASURED, nights}
    with closing(LocalEngine(preload=PRELOAD)) as others:
        for night in range(1, nights + 1):
            late = night % 30 == 0
            waiting += 1
            if night in apart:
                written = landing.write(zone, night, logs, frozenset({"g0-n1"} if late else ()))
                costs[night] = costs_apart(engine, warehouse, str(zone))
                whole, alone = costs[night]
                of_replay = {name: getattr(alone, name) for name in RATIOS}
                say("night", night=night, lines=written, **asdict(whole), replay_alone=of_replay)
            else:
                landing.land(night, "source_node <> 'g0-n1'" if late else "true", 2 * night)
                if not (waiting >= together or late or night + 1 in apart):
                    continue
                replay(others, warehouse)
            if late:
                landing.land(night, "source_node = 'g0-n1'", 2 * night + 1)
                replay(others, warehouse)
            if waiting > 1 or night % 7 == 0:
                upkeep(warehouse, keep_days=0, grace_hours=0)
            waiting = 0
    whole, alone = (ratios(first, last) for first, last in zip(costs[2], costs[nights], strict=True))
    of: dict[str, Any] = {"nights": nights, "groups": fleet.groups, "lines": fleet.lines_a_node, "together": together}
    of["over_night_8"] = ratios(costs[8][0], costs[nights][0])
    say("night365_vs_night2", value=whole["cpu_s"], **of, whole_night=whole, replay_alone=alone)


def long_nights(nights: int) -> frozenset[int]:
    """Those of ``years`` that are not short."""
    return frozenset(night - before for night in (*MEASURED, nights) for before in range(LONG_BEFORE + 1))


def ratios(first: Cost, last: Cost) -> dict[str, float]:
    """How many times as much the last night took."""
    return {name: round(getattr(last, name) / getattr(first, name), 2) for name in RATIOS}


def fleets(engine: str, folder: Path, fleet: Fleet) -> None:
    """A night with news in one of twenty of very many clusters."""
    warehouse = Warehouse(str(folder / "fleet"))
    landing = Nights(warehouse, fleet)
    events = landing.land(1)
    say("fleet_first_night", events=events, clusters=fleet.clusters, **asdict(cost_apart(engine, warehouse)))
    events = landing.land(2, "hash(cluster) % 20 = 0")
    cost = cost_apart(engine, warehouse)
    more = {"clusters": fleet.clusters, "nodes": fleet.clusters * fleet.groups * fleet.members, "events": events}
    say("fleet_driver_mb", value=cost.driver_mb, unit="MB", **more)
    say("fleet_night_s", value=cost.seconds, unit="s", **more, **asdict(cost))


def late(engine: str, folder: Path, fleet: Fleet) -> None:
    """One late file in a cluster of some eighty over the first night of that cluster."""
    warehouse = Warehouse(str(folder / "late"))
    landing = Nights(warehouse, fleet)
    landing.land(1, "source_node <> 'g0-n1'")
    first = cost_apart(engine, warehouse)
    landing.land(1, "source_node = 'g0-n1'", 2)
    cost = cost_apart(engine, warehouse)
    say("late_file_vs_first_night", value=round(cost.seconds / first.seconds, 2), first=asdict(first), **asdict(cost))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", nargs="+", choices=("years", "fleet", "late", "night"))
    parser.add_argument("--groups", type=int, default=250, help="groups of the one cluster of years")
    parser.add_argument("--clusters", type=int, default=20_000, help="clusters of fleet")
    usual = ", ".join(f"{name} {count}" for name, count in EVENTS_A_NODE.items())
    parser.add_argument("--events", type=int, default=None, help=f"events of a node in a night: {usual}")
    parser.add_argument("--lines", type=int, default=4_000, help="lines of a node in a night of years that is measured")
    parser.add_argument("--nights", type=int, default=365, help="nights of years: more than 8")
    parser.add_argument("--together", type=int, default=1, help="nights of years that are replayed at once")
    parser.add_argument("--engine", choices=("local", "spark"), default="local")
    parser.add_argument("--zone", default="", help="night: the files that are landed first")
    parser.add_argument("--folder", type=Path, default=None, help="where the warehouses are made; night: the warehouse")
    chosen = parser.parse_args()
    if "night" in chosen.which:
        used, warehouse = engine_named(chosen.engine), Warehouse(str(chosen.folder))
        found = whole_night_cost(used, warehouse, chosen.zone) if chosen.zone else (night_cost(used, warehouse),)
        print(json.dumps([asdict(cost) for cost in found]))  # noqa: T201 - the result
        return
    events = {name: chosen.events or usual for name, usual in EVENTS_A_NODE.items()}
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="bench-years-"))
    try:
        if "years" in chosen.which:
            calendar = Calendar(events["years"], SHORT, long_nights(chosen.nights))
            fleet = Fleet(1, chosen.groups, 3, calendar, lines_a_node=chosen.lines)
            years(chosen.engine, folder, fleet, chosen.nights, chosen.together)
        if "fleet" in chosen.which:
            fleets(chosen.engine, folder, Fleet(chosen.clusters, 1, 5, Calendar(events["fleet"])))
        if "late" in chosen.which:
            late(chosen.engine, folder, Fleet(1, 27, 3, Calendar(events["late"])))
    finally:
        if chosen.folder is None:
            shutil.rmtree(folder)


def engine_named(name: str) -> Engine:
    """An engine that is ready."""
    if name == "local":
        return LocalEngine(preload=PRELOAD)
    from election_replay.jobs.engines.spark_engine import SparkEngine
    from election_replay.jobs.engines.spark_session import spark_session

    return SparkEngine(spark_session("bench-years", master="local[2]", quiet=True))


if __name__ == "__main__":
    main()
