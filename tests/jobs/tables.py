"""Published tables that a test fills row by row, without Spark."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from election_replay.election_core.model.rows import Finding
from election_replay.jobs.runbook import of_finding as runbook
from election_replay.jobs.runbook.steps import ANY
from election_replay.jobs.warehouse.pointer import commit_pointer
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
GROUP_KEY = ("cluster", "replica_group")
GROUP = {"cluster": "c1", "replica_group": "g1", "protocol": "dledger"}


def at(seconds: float) -> datetime:
    """A time, ``seconds`` after noon."""
    return NOON + timedelta(seconds=seconds)


@cache
def _template() -> Path:
    """A warehouse whose tables are empty, made once a process."""
    made = Path(tempfile.mkdtemp(prefix="election-replay-tests-")) / "w"
    Warehouse(str(made)).create()
    atexit.register(shutil.rmtree, made.parent, ignore_errors=True)
    return made


def copied(template: str | Path, folder: str | Path) -> Warehouse:
    """A warehouse like another one, for a test to spoil."""
    shutil.copytree(template, folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
    return Warehouse(str(folder))


def blank(folder: str | Path) -> Warehouse:
    """A warehouse whose tables are empty."""
    return copied(_template(), folder)


def put(warehouse: Warehouse, table: str, *rows: dict[str, Any]) -> None:
    """Write rows of which only some columns are given."""
    schema = TABLES[table].arrow_schema()
    of_run = {"run_id": "r1"} if TABLES[table].by_run else {}
    full = [dict.fromkeys(schema.names) | of_run | row for row in rows]
    write_deltalake(warehouse.location(table), pa.Table.from_pylist(full, schema), mode="append")


def publish(warehouse: Warehouse) -> None:
    """Quote the lines of all findings, as a replay does, and write the row that makes all that is written visible."""
    put(warehouse, "evidence_lines", *quoted(warehouse))
    name_published(warehouse)
    run = {
        "run_id": "r1",
        "started_at": NOON,
        "published_at": NOON,
        "status": "published",
        "batch": 1,
        "nights": [],
        "clusters": 1,
        "versions": list(warehouse.versions().items()),
        "counts": [],
        "code_version": "1",
        "rules_version": "1",
        "inventory_version": "",
    }
    put(warehouse, "runs", run)


def name_published(warehouse: Warehouse, run_id: str = "r1", *groups: tuple[str, str]) -> None:
    """Let the pointers name the rows of a run, in some groups, by default in all that have any."""
    of_run = [name for name, table in TABLES.items() if table.by_run]
    every = {(row["cluster"], row["replica_group"]) for name in of_run for row in warehouse.rows(name, GROUP_KEY)}
    said = {"run_id": run_id, "judged_at": NOON, "verdicts_hash": "", "counts": []}
    rows = [said | dict(zip(GROUP_KEY, group, strict=True)) for group in groups or sorted(every)]
    for name in ("judged", "published"):
        schema = TABLES[name].arrow_schema()
        full = [dict.fromkeys(schema.names) | row for row in rows]
        commit_pointer(warehouse, name, pa.Table.from_pylist(full, schema), run_id)


def role(node: str, role: str, start: float, end: float | None, **more: Any) -> dict[str, Any]:
    """A row of ``role_intervals``; times are seconds after noon, both known to the second."""
    return (
        GROUP
        | {"node": node, "source_node": node, "role": role, "start_time": at(start), "start_uncertainty_ms": 1000}
        | ({} if end is None else {"end_time": at(end), "end_uncertainty_ms": 1000})
        | more
    )


def term(number: int, leader: str | None, start: float, end: float | None, **more: Any) -> dict[str, Any]:
    """A row of ``terms``."""
    when = {"start_time": at(start), "end_time": None if end is None else at(end)}
    return GROUP | {"term": number, "leader": leader, "certainty": "proven"} | when | more


def finding(finding_id: str, rule: str, start: float, end: float | None, **more: Any) -> dict[str, Any]:
    """A row of ``findings``, with what to do about it, as a replay writes it."""
    when = {"start_time": at(start), "end_time": None if end is None else at(end)}
    said = {"severity": "warning", "certainty": "definite", "nodes": [], "terms": [], "evidence": [], "cause": ANY}
    row = GROUP | {"finding_id": finding_id, "rule": rule, "summary": f"{rule}."} | said | when | more
    return {"next_steps": next_steps(row)} | row


def next_steps(finding: dict[str, Any], *addresses: tuple[str, str]) -> list[dict[str, Any]] | None:
    """What to do about a row of ``findings``, of a group whose members have these addresses."""
    known = {field.name: finding[field.name] for field in fields(Finding) if field.name in finding}
    known["start_time"] = (finding["start_time"] - runbook.EPOCH) // timedelta(microseconds=1)
    filled = runbook.next_steps(Finding(**known), finding["cause"] or ANY, runbook.KnownOfGroup(addresses))
    names = ("kind", "text", "command", "source")
    return filled and [dict(zip(names, step, strict=True)) for step in filled]


def log_line(event_id: str, path: str, line_no: int, text: str, **more: Any) -> dict[str, Any]:
    """A row of ``log_lines``."""
    where = {"cluster": "c1", "source_node": "n1", "stream": "broker.log", "fingerprint": "f", "batch": 1}
    return where | {"event_id": event_id, "path": path, "line_no": line_no, "text": text} | more


def event(event_id: str, source: str, seconds: float, **more: Any) -> dict[str, Any]:
    """A row of ``events``."""
    where = {"cluster": "c1", "source_node": source, "stream": "broker.log", "fingerprint": "f", "batch": 1}
    said = {"source_file": "x", "line_no": 1, "kind": "TICK", "file_time": at(0), "clock_bound_ms": 0}
    return where | said | {"event_id": event_id, "event_time": at(seconds), "time_resolution_ms": 1000} | more


def quoted(warehouse: Warehouse) -> Iterator[dict[str, Any]]:
    """The rows of ``evidence_lines`` for all findings."""
    lines = {(row["cluster"], row["event_id"]): row for row in warehouse.rows("log_lines")}
    times = {(row["cluster"], row["event_id"]): row["event_time"] for row in warehouse.rows("events")}
    for one in warehouse.rows("findings"):
        of = {name: one[name] for name in ("finding_id", "cluster", "replica_group", "protocol", "rule")}
        for position, event_id in enumerate(one["evidence"], 1):
            event = one["cluster"], event_id
            line = {name: lines.get(event, {}).get(name) for name in ("source_node", "path", "line_no", "text")}
            yield of | line | {"position": position, "event_id": event_id, "event_time": times.get(event)}
