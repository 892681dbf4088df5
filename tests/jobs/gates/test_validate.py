"""Gates: sound tables pass, every seeded defect is stopped by its own gate, and the failing rows are named."""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import great_expectations as gx
import pyarrow as pa
import pytest
from deltalake import DeltaTable

import election_replay.jobs.cli.pipeline
from election_replay.election_core.judge.consistency import CONTRADICTS
from election_replay.jobs import JobError
from election_replay.jobs.cli.app import main
from election_replay.jobs.engines.duckdb_rows import database_in
from election_replay.jobs.gates import checks
from election_replay.jobs.gates.checks import (
    MEMORY,
    THREADS,
    Newest,
    as_json,
    blocked_clusters,
    check,
    chosen_tables,
    columns_read,
    expectations_of,
    failure_text,
    record,
)
from election_replay.jobs.gates.data_docs import data_docs
from election_replay.jobs.replay import Replay
from election_replay.jobs.warehouse.data_files import write_data_files
from election_replay.jobs.warehouse.table_sets import JUDGED, LANDED
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from tests.jobs.tables import blank, name_published
from tests.jobs.zone import EPOCH, Zone, leads, noise

Row = dict[str, Any]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with two landed log files of one node and what a replay might make of them."""
    root = tmp_path_factory.mktemp("sound")
    zone = Zone(root / "landing")
    zone.write("broker_default.log", leads(0, 1) + noise(1) + leads(60, 2) + leads(120, 3))
    zone.write("broker.log", leads(5, 1))
    made = zone.land()
    warehouse = blank(root / "w")
    for table, rows in made.items():
        warehouse.append(rows, table)
    first, second, third, *_ = sorted(
        row["event_id"] for row in made["events"] if row["stream"] == "broker_default.log"
    )
    leader = role(0, 60, 1, start_event_id=first, end_event_id=second)
    warehouse.append([leader, role(60, None, 2, start_event_id=second)], "role_intervals")
    warehouse.append([finding("f1", [first, third]), finding("f2", [second], implied_by="f1")], "findings")
    quotes = [line("f1", 1, first), line("f1", 2, third), line("f2", 1, second)]
    warehouse.append(quotes, "evidence_lines")
    name_published(warehouse)
    return root / "w"


@pytest.fixture
def warehouse(sound: Path, tmp_path: Path) -> Warehouse:
    """A copy of the sound one, for a test to spoil."""
    shutil.copytree(sound, tmp_path / "w")
    return Warehouse(str(tmp_path / "w"))


def row_of(table: str, values: Mapping[str, Any]) -> Row:
    """A row of a gold table; what is not given has a value where it needs one."""
    plain = {"STRING": "x", "BIGINT": 0, "ARRAY<STRING>": ["x"], "ARRAY<BIGINT>": [1], "TIMESTAMP": EPOCH}
    needed = {one.name: plain[one.type.sql] for one in TABLES[table].columns if not one.nullable}
    of_group = {"cluster": "c1", "protocol": "dledger", "run_id": "r1"}
    return dict.fromkeys(TABLES[table].names) | needed | of_group | values


def role(start: int, end: int | None, term: int, **values: Any) -> Row:
    """A role of n1, from second to second."""
    times = {"start_time": at(start), "end_time": None if end is None else at(end)}
    return row_of(
        "role_intervals", {"node": "n1", "source_node": "n1", "role": "leader", "term": term} | times | values
    )


def finding(finding_id: str, evidence: list[str], **values: Any) -> Row:
    sure = {"rule": "LEADERLESS", "severity": "warning", "certainty": "definite"}
    return row_of("findings", {"finding_id": finding_id, "evidence": evidence} | sure | values)


def line(finding_id: str, position: int, event_id: str) -> Row:
    """A line that proves a finding."""
    return row_of("evidence_lines", {"finding_id": finding_id, "position": position, "event_id": event_id})


def at(second: int) -> Any:
    return EPOCH + timedelta(seconds=second)


def failing(warehouse: Warehouse) -> set[tuple[str, str]]:
    return {(one.table, one.expectation.name) for one in check(warehouse) if not one.holds}


def test_sound_tables_pass(warehouse: Warehouse) -> None:
    checks = check(warehouse)
    assert not any(one.failed for one in checks)
    assert {one.table for one in checks} == {*LANDED, *JUDGED}
    assert {one.table: one.rows for one in checks}["events"] >= 4


def test_tables_without_rows_pass(tmp_path: Path) -> None:
    empty = blank(tmp_path / "w")
    assert failing(empty) == set()


def change(table: str, update: Callable[[Row], Row], **chosen: Any) -> Callable[[Warehouse], None]:
    """A defect: in the rows with these values some others are changed."""

    def apply(warehouse: Warehouse) -> None:
        rows = warehouse.rows(table)
        DeltaTable(warehouse.location(table)).delete()
        fits = [all(row[name] == value for name, value in chosen.items()) for row in rows]
        assert any(fits)
        warehouse.append([row | update(row) if fit else row for row, fit in zip(rows, fits, strict=True)], table)

    return apply


def remove(table: str, where: str) -> Callable[[Warehouse], None]:
    """A defect: rows are gone."""

    def apply(warehouse: Warehouse) -> None:
        DeltaTable(warehouse.location(table)).delete(where)

    return apply


def twice(table: str) -> Callable[[Warehouse], None]:
    """A defect: one row is there twice."""

    def apply(warehouse: Warehouse) -> None:
        warehouse.append(warehouse.rows(table)[:1], table)

    return apply


def add(table: str, *rows: Row) -> Callable[[Warehouse], None]:
    """A defect: rows that must not be."""

    def apply(warehouse: Warehouse) -> None:
        warehouse.append(rows, table)

    return apply


DEFECTS = {
    "an event twice": (twice("events"), {("events", "one_row_a_key"), ("landed_files", "events_are_there")}),
    "a line twice": (twice("log_lines"), {("log_lines", "one_row_a_key"), ("landed_files", "lines_are_there")}),
    "a file's count is missing": (
        remove("landed_files", "stream = 'broker.log'"),
        {("landed_files", "events_are_there"), ("landed_files", "lines_are_there")},
    ),
    "counts that do not add up": (
        change("landed_files", lambda row: {"lines_ignored": row["lines_ignored"] + 1}, stream="broker.log"),
        {("landed_files", "counts_add_up")},
    ),
    "a landing is missing": (
        change("landed_files", lambda row: {"lines_landed": row["lines_landed"] + 7}, stream="broker.log"),
        {("landed_files", "no_landing_is_missing")},
    ),
    "a kind that is none": (
        change("events", lambda _: {"kind": "no kind"}, line_no=1),
        {("events", "kind_in_capitals")},
    ),
    "a line number that cannot be": (
        change("log_lines", lambda _: {"line_no": 0}, line_no=1),
        {("log_lines", "least_line_no")},
    ),
    "a line is lost": (
        remove("log_lines", "stream = 'broker.log'"),
        {("events", "one_line_an_event"), ("landed_files", "lines_are_there")},
    ),
    "an event is lost": (
        remove("events", "stream = 'broker.log'"),
        {("log_lines", "one_event_a_line"), ("landed_files", "events_are_there")},
    ),
    "overlapping intervals": (add("role_intervals", role(30, 50, 1)), {("role_intervals", "no_overlap")}),
    "two open intervals": (
        add("role_intervals", role(90, None, 2)),
        {("role_intervals", "one_open_interval"), ("role_intervals", "no_overlap")},
    ),
    "a falling term": (
        change("role_intervals", lambda _: {"term": 0}, term=2),
        {("role_intervals", "terms_never_fall")},
    ),
    "a role that ends before it begins": (
        change("role_intervals", lambda _: {"end_time": at(-1)}, term=1),
        {("role_intervals", "in_order")},
    ),
    "an unknown role": (
        change("role_intervals", lambda _: {"role": "king"}, term=1),
        {("role_intervals", "known_role")},
    ),
    "a proof that is nowhere": (
        change("role_intervals", lambda _: {"start_event_id": "gone"}, term=1),
        {("role_intervals", "proofs_exist")},
    ),
    "evidence that is nowhere": (
        add("findings", finding("f3", ["gone"])),
        {("findings", "proofs_exist"), ("evidence_lines", "every_proof_is_quoted")},
    ),
    "a cause that is nowhere": (
        change("findings", lambda _: {"implied_by": "gone"}, finding_id="f2"),
        {("findings", "causes_exist")},
    ),
    "an unknown rule": (
        change("findings", lambda _: {"rule": "NO_RULE"}, finding_id="f1"),
        {("findings", "known_rule")},
    ),
    "a proof without its line": (
        remove("evidence_lines", "finding_id = 'f2'"),
        {("evidence_lines", "every_proof_is_quoted")},
    ),
    "a line that proves nothing": (
        add("evidence_lines", line("f9", 1, "gone")),
        {("evidence_lines", "finding_exists")},
    ),
    "a finding twice": (twice("findings"), {("findings", "one_row_a_key")}),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_stopped_by_its_gate(warehouse: Warehouse, defect: str) -> None:
    spoil, gates = DEFECTS[defect]
    spoil(warehouse)
    checks = check(warehouse)
    assert {(one.table, one.expectation.name) for one in checks if one.stops} == gates
    assert blocked_clusters(checks, ["c1", "c2"]) == {"c1"}
    for one in checks:
        assert one.holds or (one.examples["c1"] and '"cluster": "c1"' in one.examples["c1"][0])


CONTRADICTIONS = {
    "no_contradictions": {"rule": "NOT_JUDGED", "summary": f"{CONTRADICTS}: LEADERLESS: 9 s are part of at most 7 s."},
    "one_root_a_cut": {"rule": "UNCLEAN_ELECTION", "cut_node": "1", "cut_from": 3, "cut_to": 9, "unit": "bytes"},
}
"""What a verdict that contradicts itself says, by the gate that warns of it."""


@pytest.mark.parametrize("gate", CONTRADICTIONS)
def test_a_night_warns_of_a_verdict_that_contradicts_itself(warehouse: Warehouse, gate: str) -> None:
    said = CONTRADICTIONS[gate]
    first = finding("f3", [], **said)
    others = [finding("f4", [], **said)] if gate == "one_root_a_cut" else []
    warehouse.append([first | {"rule": "SPLIT_BRAIN_OVERLAP"} if others else first, *others], "findings")
    found = [one for one in check(warehouse) if not one.holds]
    assert [(one.expectation.name, one.stops, set(one.failed)) for one in found] == [(gate, False, {"c1"})]


def test_of_lines_only_those_of_landings_since_then_are_looked_at(warehouse: Warehouse) -> None:
    twice("log_lines")(warehouse)
    wrong = {("log_lines", "one_row_a_key"), ("landed_files", "lines_are_there")}
    assert failing(warehouse) == wrong
    checks = check(warehouse, since=1)
    assert {(one.table, one.expectation.name) for one in checks if not one.holds} & wrong == set()
    assert {one.table: one.rows for one in checks} | {"log_lines": 0} == {one.table: one.rows for one in checks}
    assert all(one.rows for one in checks if one.table in {"landed_files", "findings"})


@pytest.mark.parametrize("held", [0, checks.HELD_ROWS], ids=["many events", "few"])
@pytest.mark.parametrize("table", ["findings", "role_intervals"])
def test_what_was_not_published_proves_nothing(
    warehouse: Warehouse, table: str, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A finding whose proof is nowhere is stopped, unless it was published and had passed this gate then."""
    monkeypatch.setattr(checks, "HELD_ROWS", held)
    change("findings", lambda _: {"evidence": ["nowhere"]}, finding_id="f2")(warehouse)
    run = {"versions": {name: warehouse.version(name) for name in (table, "published")}, "batch": 1}
    monkeypatch.setattr(Warehouse, "published", lambda _: run)
    failed = {(one.table, one.expectation.name) for one in check(warehouse, JUDGED) if not one.holds}
    assert (("findings", "proofs_exist") in failed) is (table != "findings")


def test_a_file_that_was_not_understood_is_a_warning_until_it_is(warehouse: Warehouse) -> None:
    change("landed_files", lambda _: {"problem": "not understood: it is UTF-16 text"}, stream="broker.log")(warehouse)
    [found] = [one for one in check(warehouse) if one.expectation.name == "understood"]
    assert not found.stops
    assert set(found.failed) == {"c1"}


def test_a_falling_term_that_a_finding_tells_passes(warehouse: Warehouse) -> None:
    change("role_intervals", lambda _: {"term": 0}, term=2)(warehouse)
    warehouse.append([finding("f3", [], rule="TERM_REGRESSION")], "findings")
    assert failing(warehouse) == set()


def test_a_falling_term_in_a_new_life_passes(warehouse: Warehouse) -> None:
    change("role_intervals", lambda _: {"term": 0}, term=2)(warehouse)
    change("role_intervals", lambda _: {"end_cause": "died"}, term=1)(warehouse)
    assert failing(warehouse) == set()


def test_only_the_clusters_asked_for_are_looked_at(warehouse: Warehouse) -> None:
    twice("events")(warehouse)
    assert all(one.holds and not one.rows for one in check(warehouse, clusters=["c2"]))
    assert blocked_clusters(check(warehouse, clusters=["c1"]), ["c1"]) == {"c1"}


def test_rows_of_a_killed_landing_do_not_count(warehouse: Warehouse) -> None:
    rows = [row | {"batch": 9, "event_id": "new"} for row in warehouse.rows("events")[:1]]
    warehouse.append(rows, "events")
    assert failing(warehouse) == set()


@pytest.mark.parametrize(("batch", "failed"), [(20, set()), (15, set()), (1, set()), (21, {"proofs_exist"})])
def test_a_proof_is_found_in_whichever_landing_its_line_lies(
    warehouse: Warehouse, batch: int, failed: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a new one, in one shortly before, in an old one; in one that was killed it is not."""
    monkeypatch.setattr(checks, "HELD_ROWS", 0)  # of few events all are searched
    landed(warehouse, 20, 10, 0)
    [line] = [row["event_id"] for row in warehouse.rows("events") if row["stream"] == "broker.log"]
    published = {"batch": 18, "versions": warehouse.versions()}
    change("events", lambda _: {"batch": batch}, event_id=line)(warehouse)
    warehouse.append([finding("f3", [line])], "findings")
    assert unproven(warehouse, published) == failed


def test_what_published_rows_prove_is_not_looked_for_again(warehouse: Warehouse) -> None:
    """It has passed this gate, and what is asked of a new night is what is new in it."""
    published = {"batch": 1, "versions": warehouse.versions()}
    line = warehouse.rows("findings")[0]["evidence"][0]
    change("events", lambda _: {"event_id": "another"}, event_id=line)(warehouse)
    for known, failed in ((published, set()), (None, {"proofs_exist"})):
        assert unproven(warehouse, known) == failed


def unproven(warehouse: Warehouse, published: Mapping[str, Any] | None) -> set[str]:
    """What does not hold for the findings of c1, where ``published`` ones have passed."""
    with database_in(MEMORY, THREADS) as (database, _):
        newest = Newest(database, warehouse, ["c1"], columns=columns_read(JUDGED), searched=True)
        newest.keep_proofs_of(JUDGED, published)
        return {one.expectation.name for one in newest.checks("findings") if one.failed}


@pytest.mark.parametrize(("memory", "within"), [("50MB", True), ("5MB", False)])
def test_many_rows_are_looked_at_in_little_memory_and_those_that_need_more_in_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: str, within: bool
) -> None:
    warehouse, limits = Warehouse(str(tmp_path / "w")), []
    warehouse.create()
    for table in ("log_lines", "events"):
        warehouse.replace(write_data_files([(table, many(table, 400_000))], warehouse.root), table, None, "landing")

    @contextmanager
    def opened(_: str, threads: int) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
        def limit() -> object:
            return database.execute("SELECT current_setting('memory_limit')").fetchall()

        with database_in(memory, threads) as (database, scratch):
            limits.append(limit())
            yield database, scratch
            limits.append(limit())

    monkeypatch.setattr(checks, "database_in", opened)
    monkeypatch.setattr(Warehouse, "last_batch", lambda _: 1)
    assert {(one.rows, one.holds) for one in check(warehouse, ["log_lines"])} == {(400_000, True)}
    before, after = limits
    assert (before == after) is within


def many(table: str, count: int) -> pa.RecordBatch:
    """So many rows of a table, in the order of no key."""
    ids = pa.array(f"{7919 * number % count:064}" for number in range(count))
    shape, plain = TABLES[table].arrow_schema(), {pa.string(): "x", pa.int64(): 1}
    columns = [
        ids
        if field.name == "event_id"
        else pa.nulls(count, field.type)
        if field.nullable
        else pa.repeat(pa.scalar(plain.get(field.type, EPOCH), field.type), count)
        for field in shape
    ]
    return pa.RecordBatch.from_arrays(columns, schema=shape)


def test_a_failing_row_is_shown_with_columns_that_no_expectation_reads(warehouse: Warehouse) -> None:
    assert "read_as" not in columns_read(LANDED)["landed_files"]
    change("landed_files", lambda _: {"lines_total": 99, "read_as": "rocketmq"}, stream="broker.log")(warehouse)
    [found] = [one for one in check(warehouse, LANDED) if one.expectation.name == "counts_add_up"]
    assert json.loads(found.examples["c1"][0])["read_as"] == "rocketmq"


def test_a_failing_row_is_shown_with_times_as_iso_and_without_nulls() -> None:
    shown = as_json({"at": EPOCH, "none": None, "path": Path("a/b")})
    assert json.loads(shown) == {"at": "1970-01-01T00:00:00+00:00", "path": "a/b"}


def landed(warehouse: Warehouse, batch: int, lines: int, second: int, node: str = "n1") -> None:
    """One more landing of a file, without any event."""
    [row] = [row for row in warehouse.rows("landed_files") if row["stream"] == "broker.log" and row["batch"] == 1]
    new = {
        "batch": batch,
        "source_node": node,
        "stream": f"s{batch}",
        "lines_total": lines,
        "lines_ignored": lines,
        "lines_event": 0,
        "lines_landed": lines,
        "last_line_time": row["last_line_time"] + timedelta(seconds=second),
    }
    warehouse.append([row | new], "landed_files")


def test_a_source_that_falls_behind_is_said_but_stops_nothing(warehouse: Warehouse) -> None:
    landed(warehouse, 2, 10, 27 * 3600, node="n2")
    checks = check(warehouse)
    assert {one.expectation.name for one in checks if not one.holds} == {"fresh"}
    assert blocked_clusters(checks, ["c1"]) == set()
    [late] = [one for one in checks if one.failed]
    assert failure_text(late, *late.failed).startswith("warning bronze/landed_files fresh")


def test_all_sources_may_be_behind_the_night(warehouse: Warehouse) -> None:
    [last] = {row["last_line_time"] for row in warehouse.rows("landed_files") if row["stream"] == "broker.log"}
    for hours, names in ((25, set()), (27, {"fresh"})):
        checks = check(warehouse, as_of=last + timedelta(hours=hours))
        assert {one.expectation.name for one in checks if not one.holds} == names


@pytest.mark.parametrize(("lines", "names"), [(100, set()), (5, {"usual_volume"}), (9999, {"usual_volume"})])
def test_an_unusual_volume_is_said(warehouse: Warehouse, lines: int, names: set[str]) -> None:
    for batch in range(2, 8):
        landed(warehouse, batch, 100, 0)
    landed(warehouse, 8, lines, 0)
    assert {one.expectation.name for one in check(warehouse) if not one.holds} == names


def test_a_night_reads_of_the_ledger_what_is_new_and_some_landings_before(warehouse: Warehouse) -> None:
    """A wrong row of long ago is found by a full validation; the landings of lately tell what is usual."""
    change("landed_files", lambda _: {"lines_ignored": 99}, stream="broker.log")(warehouse)
    for batch in range(50, 58):
        landed(warehouse, batch, 9999 if batch == 57 else 100, 0)
    assert ("landed_files", "counts_add_up") in failing(warehouse)
    checks = [one for one in check(warehouse, LANDED, since=56) if one.table == "landed_files"]
    assert {one.expectation.name for one in checks if not one.holds} == {"usual_volume"}
    assert {one.rows for one in checks} == {8}


@pytest.mark.parametrize(("lines_landed", "held"), [(107, False), (108, True)])
def test_of_a_file_that_grew_a_night_reads_all_landings(warehouse: Warehouse, lines_landed: int, held: bool) -> None:
    """Whether one is missing shows in their sum alone."""
    [first] = [row for row in warehouse.rows("landed_files") if row["stream"] == "broker.log"]
    grown = {"batch": 90, "status": "grown", "lines_total": 50, "lines_ignored": 50, "lines_event": 0}
    later = first | grown | {"lines_landed": first["lines_landed"] + 50}
    warehouse.append([later], "landed_files")
    last = later | {"batch": 91, "lines_total": 57, "lines_ignored": 57}
    last["lines_landed"] = first["lines_landed"] + lines_landed
    warehouse.append([last], "landed_files")
    checks = [one for one in check(warehouse, LANDED, since=90) if one.table == "landed_files"]
    assert {one.expectation.name for one in checks if one.stops} == ({"no_landing_is_missing"} if held else set())
    assert {one.rows for one in checks} == {3}


def test_results_are_rows_of_their_table(warehouse: Warehouse) -> None:
    twice("events")(warehouse)
    checks = check(warehouse)
    name = record(warehouse, checks)
    rows = warehouse.rows("validations")
    assert len(rows) == len(checks)
    assert {row["validation_id"] for row in rows} == {name}
    failed = [row for row in rows if not row["success"]]
    assert {(row["table_name"], row["cluster"], row["rows_failed"]) for row in failed} == {
        ("events", "c1", 1),
        ("landed_files", "c1", 1),
    }
    assert all(row["examples"] for row in failed)


def test_the_command_names_the_rows_and_writes_pages(warehouse: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--warehouse", warehouse.root]) == 0
    twice("events")(warehouse)
    capsys.readouterr()
    assert main(["validate", "--warehouse", warehouse.root]) == 3
    said = capsys.readouterr().out
    assert "failed silver/events one_row_a_key, cluster c1: 1 rows" in said
    assert '"source_file": "c1/nodes/n1/logs/broker' in said
    pages = list(Path(warehouse.root, "data_docs", "validations").rglob("*.html"))
    assert len(pages) == len({*LANDED, *JUDGED})
    [page] = [page for page in pages if "silver.events" in str(page)]
    assert "No two rows have the same event_id" in page.read_text()
    first = Path(warehouse.root, "data_docs", "index.html")
    assert "c1/nodes/n1/logs/broker" in first.read_text()
    assert page.relative_to(first.parent).as_posix().replace(" ", "%20") in first.read_text()
    assert first.read_text().count('class="failed"') == 2, "silver.events, and bronze.landed_files that counts them"
    for one in first.parent.rglob("*.html"):
        assert not re.search(r"<script|<(link|img)[^>]*(https?:)?//", one.read_text()), f"{one} is not alone"
    assert main(["validate", "--warehouse", warehouse.root, "--layer", "gold", "--no-docs"]) == 0


def test_machines_get_a_failing_gate_as_an_object(warehouse: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    twice("events")(warehouse)
    command = ["validate", "--warehouse", warehouse.root, "--layer", "silver", "--no-docs", "--log-format", "json"]
    assert main(command) == 3
    out, err = capsys.readouterr()
    assert out == ""
    failed, last = map(json.loads, err.splitlines())
    assert {"time", "level", "message", "command"} <= set(failed) & set(last)
    assert (failed["level"], failed["table"], failed["expectation"]) == ("error", "events", "one_row_a_key")
    assert (failed["cluster"], failed["rows_failed"]) == ("c1", 1)
    assert "c1/nodes/n1/logs/broker" in failed["message"]
    assert last["validation_id"] in last["message"]


@pytest.mark.parametrize(("options", "code"), [((), 3), (("--unpublished",), 0)])
def test_a_step_that_holds_a_cluster_back_fails_unless_others_are_to_be_published(
    warehouse: Warehouse,
    options: tuple[str, ...],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """``validate`` fails in the place of ``replay --unpublished``, so that ``publish`` comes to its turn."""
    twice("events")(warehouse)
    done = Replay(None, held=("c1",), checks=tuple(check(warehouse)))
    monkeypatch.setattr(election_replay.jobs.cli.pipeline, "engine_of", lambda *_, **__: nullcontext())
    monkeypatch.setattr(election_replay.jobs.cli.pipeline, "replay_stage", lambda *_, **__: done)
    assert main(["replay", "--warehouse", warehouse.root, *options]) == code
    said = capsys.readouterr().out
    assert "failed silver/events one_row_a_key, cluster c1" in said
    assert "Not published: the newest events of c1" in said


def test_nothing_landed_is_said(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="nothing is landed"):
        chosen_tables(Warehouse(str(tmp_path)), ())


@pytest.mark.slow
def test_great_expectations_counts_the_rows_that_the_gates_count(warehouse: Warehouse) -> None:
    twice("events")(warehouse)
    change("role_intervals", lambda _: {"role": "boss"}, term=1)(warehouse)
    remove("evidence_lines", "position = 2")(warehouse)
    checks = check(warehouse)
    pages = data_docs(warehouse, checks)
    assert pages is not None
    counted = {(one.table, one.expectation.name): sum(one.failed.values()) for one in checks}
    assert pages.unexpected == counted
    assert sum(map(bool, counted.values())) > 3


@pytest.mark.slow
def test_suites_of_the_user_are_run_too(warehouse: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--warehouse", warehouse.root, "--layer", "silver"]) == 0
    project = gx.get_context(mode="file", project_root_dir=warehouse.root)
    whole = project.data_sources.get("election_replay").get_asset("silver.events").get_batch_definition("whole table")
    mine = gx.expectations.ExpectColumnDistinctValuesToBeInSet(column="cluster", value_set=["c2"])
    suite = project.suites.add(gx.ExpectationSuite(name="mine", expectations=[mine]))
    project.validation_definitions.add(gx.ValidationDefinition(name="my clusters", data=whole, suite=suite))
    assert main(["validate", "--warehouse", warehouse.root]) == 3
    assert "failed my clusters: a validation definition of your own" in "".join(capsys.readouterr())
    assert main(["validate", "--warehouse", warehouse.root, "--layer", "gold"]) == 0, "it looks at some tables alone"


def test_no_pages_where_there_is_no_folder() -> None:
    assert data_docs(Warehouse("s3://bucket/warehouse"), []) is None


@pytest.mark.parametrize("table", [*LANDED, *JUDGED])
def test_expectations_have_a_name_and_a_sentence_each(table: str) -> None:
    found = expectations_of(table)
    assert len({one.name for one in found}) == len(found)
    assert all(one.says.endswith(".") and one.severity in {"critical", "warning"} for one in found)
