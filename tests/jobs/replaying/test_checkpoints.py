"""However logs come in, night by night, the tables are those of one run over all of them."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from election_replay.election_core.fold.process_runs import START_KINDS
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.protocols.metadata import log as metadata_log
from election_replay.election_core.replay import arrow_passes as core
from election_replay.election_core.replay.checkpoint import FROM_CHECKPOINT, LIVED
from election_replay.election_core.simulate.catalogue import PROTOCOLS, SCENARIOS
from election_replay.election_core.simulate.landing import files
from election_replay.election_core.simulate.scenario import played
from election_replay.jobs.engines.spark_engine import SparkEngine
from election_replay.jobs.replaying import source_delta
from election_replay.jobs.replaying.source_delta import (
    FILE,
    CheckpointedSource,
    UpdatedSource,
    end_of_streams,
    first_line_of,
    late_sources,
)
from election_replay.jobs.warehouse.data_files import with_all_columns
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from tests.election_core import story
from tests.jobs.nights import ALL, content, night
from tests.jobs.zone import Zone, leads, line, noise
from tests.proving import amount, only_when_proving

RUNS = (
    "rocketmq-dledger/old-copy-497",
    "rocketmq-controller/identity-lost-and-moved",
    "rocketmq-controller/embedded",
    "rocketmq-acting-master/locks-strict-cut",
    "redis-sentinel/failover-planned",
    "rocketmq-acting-master/failover-preonline-clean",
    "zookeeper/rolling-restart-380",
    "etcd/members-34",
    "kafka-kraft/isolate-active",
    "redis-cluster/kill-a-master",
)
"""All protocols that have real logs; every second one of them is of another system."""
STORIES = ("bully/walk_through", "token_ring/walk_through")
"""Stories of those that have none."""

Count = Callable[[str, object], None]
"""Records what a test counted."""

STATES = TABLES["fold_checkpoints"]
NIGHTS = amount(3, 4)
BROKER_LOG, DLEDGER_LOG = "broker.log", "broker_default.log"
NEVER = datetime.min.replace(tzinfo=UTC)
ORDER = ("cluster", "source_node", "is_snapshot", "stream", "file_order", "fingerprint", "line_no")


# -- the fold alone ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def events(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, pa.Table]:
    """The events of each run, landed without Spark, in the columns of a state."""
    found = {}
    for run in RUNS:
        zone = Zone(tmp_path_factory.mktemp("zone"))
        copy_nodes(corpora / run, zone.root / "c1")
        found[run] = landed(zone)
    return found


def copy_nodes(run: Path, cluster: Path) -> None:
    """Deliver everything."""
    for path in sorted((run / "nodes").rglob("*")):
        if path.is_file():
            deliver_file(cluster / path.relative_to(run), path.read_bytes())


def deliver_file(target: Path, data: bytes) -> None:
    """Deliver a file, whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def landed(zone: Zone) -> pa.Table:
    """What is landed of a zone, in the columns of a state."""
    return as_rows(pa.Table.from_pylist(zone.land()["events"], TABLES["events"].arrow_schema()))


def as_rows(rows: pa.Table) -> pa.Table:
    """Rows in the columns of a state."""
    batches = [with_all_columns(STATES, batch) for batch in rows.combine_chunks().to_batches()]
    return pa.Table.from_batches(batches, pa.schema([field.with_nullable(True) for field in STATES.arrow_schema()]))


def folded(state: pa.Table, new: pa.Table) -> tuple[set[Fact], pa.Table]:
    """The facts of a night, and the state after it."""
    parts = [
        rows.append_column(FROM_CHECKPOINT, pa.array([old] * rows.num_rows, pa.bool_()))
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
    return {fact for fact in told if isinstance(fact, Fact)}, pa.concat_tables([state.slice(0, 0), *added])


def nights_of(events: pa.Table, nights: int, chance: random.Random) -> Iterator[pa.Table]:
    """The events night by night, as files grow: a line comes with all lines of its file before it.

    Some files come late, by as many nights as chance will have it.
    """
    times = events["event_time"].cast(pa.int64()).to_pylist()
    cuts = sorted(chance.sample(sorted(set(times)), nights - 1))
    place = list(columns(events, "source_node", "stream", "fingerprint", "line_no"))
    in_files = sorted(range(len(times)), key=lambda number: place[number])
    night_of = [0] * len(times)
    for _, numbers in groupby(in_files, key=lambda number: place[number][:3]):
        late = chance.choice((0, 0, 0, 1, nights - 1))
        came = 0
        for number in numbers:
            came = max(came, min(late + sum(cut <= times[number] for cut in cuts), nights - 1))
            night_of[number] = came
    for number in range(nights):
        yield events.filter(pa.array([came == number for came in night_of]))


def after_nights(events: pa.Table, nights: int, chance: random.Random) -> set[Fact]:
    """The facts after a split of the events into nights, each folded from the states before it as a replay does."""
    state, past = events.slice(0, 0), events.slice(0, 0)
    facts: set[Fact] = set()
    for new in nights_of(events, nights, chance):
        late = pa.array([node for _, node in late_sources(updated_in(new), known_of(state))], pa.string())
        again = pa.compute.is_in(past["source_node"], late)
        goes_on = state.filter(pa.compute.invert(pa.compute.is_in(state["source_node"], late)))
        facts, state = folded(goes_on, pa.concat_tables([new, past.filter(again)]))
        past = pa.concat_tables([past, new])
    return facts


def updated_in(new: pa.Table) -> list[UpdatedSource]:
    """The sources of new events, as :mod:`jobs.replaying.source_delta` knows them."""
    count: Counter[str] = Counter()
    lines: dict[str, list[dict[str, Any]]] = {}
    starts: dict[str, list[datetime]] = {}
    for node, kind, time, stream in columns(new, "source_node", "kind", "event_time", "stream"):
        count[node] += 1
        lines.setdefault(node, []).append({"stream": stream, "first_line": time})
        starts.setdefault(node, []).extend([time] if kind in START_KINDS else [])
    files = files_of(new)
    return [
        UpdatedSource(
            "c1",
            node,
            events,
            (),
            min(starts[node], default=None),
            first_line_of(lines[node]),
            end_of_streams(files[node], min),
        )
        for node, events in count.items()
    ]


def files_of(rows: pa.Table) -> Mapping[str, list[dict[str, Any]]]:
    """The files of each node, as :mod:`jobs.replaying.source_delta` reads them."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows.select(["source_node", *FILE, "line_no"]).to_pylist():
        found.setdefault(row["source_node"], []).append(row)
    return found


def known_of(state: pa.Table) -> list[CheckpointedSource]:
    """The sources of states, as :mod:`jobs.replaying.source_delta` knows them."""
    until = dict.fromkeys(state["source_node"].to_pylist(), NEVER)
    for node, end in columns(state, "source_node", "until"):
        until[node] = max(until[node], end or NEVER)
    files = files_of(state)
    was_set = {node for node, kind, steps in columns(state, "source_node", "kind", "count") if kind == LIVED and steps}
    return [
        CheckpointedSource("c1", node, 1, end, end_of_streams(files[node], max), was_set=node in was_set)
        for node, end in until.items()
    ]


def columns(rows: pa.Table, *names: str) -> Iterator[tuple[Any, ...]]:
    """Some columns, row by row."""
    return zip(*(rows[name].to_pylist() for name in names), strict=True)


def unlike(events: pa.Table, name: str, splits: int, count: Count) -> list[str]:
    """Where a split into nights gives other facts than everything at once; each split is counted."""
    everything, _ = folded(events.slice(0, 0), events)
    assert everything
    found = []
    for seed in range(splits):
        chance = random.Random(f"{name} {seed}")
        count("logs split into nights", 1)
        facts = after_nights(events, chance.randint(2, 6), chance)
        if facts != everything:
            found.append(f"{name}, split {seed}: {sorted(map(str, facts ^ everything))[:4]}")
    return found


@pytest.mark.parametrize("run", RUNS)
def test_a_state_and_what_is_new_give_the_facts_of_everything(
    events: Mapping[str, pa.Table], run: str, record_property: Count
) -> None:
    _, state = folded(events[run].slice(0, 0), events[run])
    assert state.num_rows < events[run].num_rows or LIVED in state["kind"].to_pylist()
    wrong = unlike(events[run], run, splits=3, count=record_property)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("run", ["rocketmq-dledger/old-copy-497", "etcd/members-34", "zookeeper/rolling-restart-380"])
def test_members_in_one_file(events: Mapping[str, pa.Table], run: str, record_property: Count) -> None:
    """The lines of all members by time, as a collector merges them."""
    wrong = unlike(in_one_file(events[run]), f"{run} in one file", splits=6, count=record_property)
    assert not wrong, "\n".join(wrong)


def in_one_file(events: pa.Table) -> pa.Table:
    """The events of all nodes as if they stood in one file a stream, by their times."""
    rows = [row for row in events.to_pylist() if "/" not in row["stream"]]
    rows.sort(key=lambda row: (row["event_time"], row["source_node"], row["stream"], row["line_no"]))
    together = [
        row | {"source_node": "all", "fingerprint": row["stream"], "file_time": None, "line_no": number}
        for number, row in enumerate(rows, 1)
    ]
    return pa.Table.from_pylist(together, events.schema)


@pytest.mark.parametrize("seed", range(amount(6, 16)))
def test_hasty_restarts_status_lines_and_clocks_put_back(seed: int, zone: Zone, record_property: Count) -> None:
    """A broker dies and is back within seconds, a clock goes back: what a state may forget, and what it may not."""
    for name, text in restless(random.Random(f"restless {seed}")).items():
        zone.write(name, text)
    wrong = unlike(landed(zone), f"restless {seed}", splits=2, count=record_property)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("seed", range(amount(5, 12)))
def test_a_file_that_comes_late_between_two_quiet_ones(seed: int, zone: Zone, record_property: Count) -> None:
    """Logs roll every few lines; what a checkpoint forgot of a quiet time holds only as long as nothing stood in it."""
    chance = random.Random(f"rolled {seed}")
    for name, text in restless(chance).items():
        for number, part in enumerate(rolled(text, chance)):
            zone.write(name.replace(".log", f".{number}.log"), part)
    wrong = unlike(landed(zone), f"rolled {seed}", splits=amount(2, 4), count=record_property)
    assert not wrong, "\n".join(wrong)


def rolled(text: str, chance: random.Random) -> Iterator[str]:
    """A log in files of some lines each."""
    lines = text.splitlines(keepends=True)
    while lines:
        count = chance.randint(5, 40)
        yield "".join(lines[:count])
        lines = lines[count:]


def restless(chance: random.Random) -> Mapping[str, str]:
    """Two logs of a broker; only one of them says that it starts, and some roles show in status lines alone."""
    logs, now, term = {BROKER_LOG: "", DLEDGER_LOG: ""}, 100, 0
    for number in range(40):
        what = chance.choice(("on", "on", "status", "status", "hole", "start", "lead", "back"))
        if what == "on":
            for _ in range(chance.randint(3, 30)):
                now += 1
                logs[chance.choice((BROKER_LOG, DLEDGER_LOG))] += noise(now)
        elif what == "status":
            term = chance.choice((term, term, number))
            logs[DLEDGER_LOG] += (said := statuses(now, term, chance))
            now += said.count("\n")
        elif what == "lead":
            term = number
            logs[DLEDGER_LOG] += leads(now, term)
        elif what == "back":
            now = max(now - chance.randint(5, 60), 0)
        else:
            now += chance.randint(3, 12)
        if what == "start":
            logs[DLEDGER_LOG] += noise(now)
            now += chance.randint(0, 8)
            logs[BROKER_LOG] += line(now, "The broker[broker-a, 10.0.0.1:10911] boot success. serializeType=JSON")
    return logs


def statuses(now: int, term: int, chance: random.Random) -> str:
    """A line a second: status lines of one role, some with a new index, errors and other lines between them."""
    role, committed, lines = chance.choice(("LEADER", "LEADER", "FOLLOWER")), chance.randint(0, 50), ""
    for second in range(now, now + chance.randint(1, 40)):
        what = chance.choice(("status", "status", "grown", "fallen", "error", "noise"))
        committed += {"grown": 5, "fallen": -9}.get(what, 0)
        if what == "noise":
            lines += noise(second)
        elif what == "error":
            info = f"group={chance.choice('ab')},term={term},code=200,local=n1,remote=n2,leader=n1"
            lines += line(second, f"Send heartBeat request failed, info[{info}]")
        else:
            said = f"term={term} ledgerBegin=0 ledgerEnd={committed} committed={committed} watermarks={{}}"
            lines += line(second, f"[n1][{role}] {said}", "StateMaintainer")
    return lines


def write_world(name: str, seed: int, cluster: Path) -> None:
    """Deliver all files of a simulated world."""
    for path, data in files(played(SCENARIOS[name], seed)):
        deliver_file(cluster / path, data)


def write_story(name: str, cluster: Path) -> None:
    """Deliver all logs of a story of tests/scenarios."""
    text = (Path(__file__).parents[2] / "scenarios" / f"{name}.txt").read_text()
    for (node, stream), lines in story.parse(text).items():
        deliver_file(cluster / "nodes" / node / "logs" / stream, "".join(f"{line}\n" for line in lines).encode())


def some_scenarios(protocol: str, count: int) -> list[str]:
    """So many scenarios of a protocol, from the first to the last."""
    names = [scenario.name for scenario in PROTOCOLS[protocol].scenarios]
    return names[:: max(len(names) // count, 1)]


@pytest.mark.parametrize("name", [name for protocol in PROTOCOLS for name in some_scenarios(protocol, 2)])
def test_nights_of_a_simulated_world(name: str, zone: Zone, record_property: Count) -> None:
    write_world(name, 0, zone.root / "c1")
    wrong = unlike(landed(zone), name, splits=1, count=record_property)
    assert not wrong, "\n".join(wrong)


@pytest.fixture
def settled_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is given up after a day is given up after some seconds; a log that comes later is late."""
    for module in (metadata_log, source_delta):
        monkeypatch.setattr(module, "SETTLES", 40_000_000)


@pytest.mark.usefixtures("settled_soon")
@pytest.mark.parametrize("seed", range(amount(3, 8)))
def test_tables_that_no_rule_looks_at_are_given_up(seed: int, zone: Zone, record_property: Count) -> None:
    copied(random.Random(f"copied {seed}"), zone)
    events = landed(zone)
    _, state = folded(events.slice(0, 0), events)
    entries = [kinds.to_pylist().count("META_SNAPSHOT_OFFSET") for kinds in (state["kind"], events["kind"])]
    assert entries[0] < entries[1] * 0.8
    wrong = unlike(events, f"copied {seed}", splits=amount(3, 60), count=record_property)
    assert not wrong, "\n".join(wrong)


def copied(chance: random.Random, zone: Zone) -> None:
    """A broker that may act as master, of whose offsets a copy is taken every ten seconds; seldom something happens."""
    boot = "The broker[broker-a, 10.0.0.1:10911] boot success. serializeType=JSON"
    logs = {BROKER_LOG: line(0, boot, "main") + line(0, "enableSlaveActingMaster=true", "main"), "store.log": ""}
    now = 0
    for _ in range(60):
        what = chance.choice((*["on"] * 14, "hole", "start", "serves", "smallest", "trouble"))
        if what == "on":
            for _ in range(chance.randint(10, 40)):
                now += 1
                logs["store.log"] += noise(now)
            continue
        now += chance.randint(12, 20) if what == "hole" else 1
        logs[BROKER_LOG] += {
            "hole": noise(now),
            "start": line(now, boot, "main"),
            "serves": line(now, "broker-a start service, min broker id is 1, min broker addr: 10.0.0.2:10911"),
            "smallest": line(now, f"Min broker changed, old: 0-10.0.0.1:1, new {chance.randint(0, 2)}-10.0.0.2:1"),
            "trouble": line(now, "sync BrokerMemberGroup error."),
        }[what]
    for name, text in logs.items():
        zone.write(name, text)
    for second in range(5, now, 10):
        offsets = ",".join(f"{queue}:{second + queue}" for queue in range(3))
        version = f'"dataVersion":{{"counter":{second},"stateVersion":0,"timestamp":{second}}}'
        stamp = datetime(2026, 3, 1, 9, second // 60, second % 60, tzinfo=UTC)
        file = zone.logs.parent / "metadata" / f"{stamp:%Y%m%dT%H%M%SZ}" / "consumerOffset.json"
        file.parent.mkdir(parents=True)
        file.write_text(f'{{{version},"offsetTable":{{"t@g":{{{offsets}}}}}}}', encoding="utf-8")


# -- whole runs --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@only_when_proving("two minutes")
def test_any_nights_and_late_files_give_the_tables_of_one_run(
    spark: SparkEngine, corpora: Path, tmp_path: Path
) -> None:
    """Files grow, come a night late, or come at the end; one cluster begins late, one says nothing new in a night."""
    chance = random.Random(11)
    stories = {tmp_path / "stories" / name.partition("/")[0]: name for name in STORIES}
    runs = [*(corpora / run for run in RUNS), *stories]
    for run, name in stories.items():
        write_story(name, run)
    once, zone = Warehouse(str(tmp_path / "once")), tmp_path / "landing"
    by_nights = Warehouse(str(tmp_path / "nights"))
    for number in range(NIGHTS):
        for run in runs:
            deliver(run, zone / run.name, number, chance)
        night(spark, zone, by_nights)
    night(spark, zone, once)
    wanted, found = content(once, ALL), content(by_nights, ALL)
    for table in ALL:
        assert found[table] == wanted[table], table
    assert by_nights.last_run()["held"] is None


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
        deliver_file(target, data[: max(begin, end)])


def whole_records(data: bytes, end: int) -> int:
    """``end``, or the next place where a dated line begins: a record that is cut keeps the lines that it had."""
    begins = data.find(b"\n20", max(end - 1, 0))
    return begins + 1 if begins >= 0 else len(data)
