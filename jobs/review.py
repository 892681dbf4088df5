"""Review: marks that people set on findings, and regression cases cut from logs.

Marks are rows of ``side/reviews``, one for each mark: none is overwritten, and judging does not read them. An exported
finding becomes a regression case: the lines without which it is not found, with names in place of addresses.
"""

import getpass
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import pyarrow as pa

from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.inventory import NO_INVENTORY
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.replay import arrow_passes as core
from election_replay.election_core.replay.fact_rows import rows_of
from election_replay.jobs import JobError
from election_replay.jobs.landing.pseudonyms import Pseudonyms
from election_replay.jobs.reading.explain import the_finding
from election_replay.jobs.reading.published import Published
from election_replay.jobs.settings.config import ADDRESS, CLIENT_ID
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.reviews import STATES

FACTS = TABLES["facts"]
TRIES = 400
"""The maximum number of times that a case is judged while it is made smaller."""

Row = dict[str, Any]


def mark(
    warehouse: Warehouse, finding_id: str, state: str, ticket: str | None, note: str | None, reviewer: str | None = None
) -> Row:
    """Mark the published finding whose id begins with ``finding_id``, and return the new row.

    Raises :class:`~jobs.JobError` if there is no such finding or state, or if the state ``ticket`` lacks a ticket.
    """
    if state not in STATES:
        raise JobError(f"{state} is no mark: give one of {', '.join(STATES)}")
    if state == "ticket" and not ticket:
        raise JobError("name the ticket: --ticket NAME")
    found = the_finding(Published(warehouse), finding_id.strip().lower())
    row = {name: found[name] for name in ("finding_id", "cluster", "replica_group", "rule")} | {
        "reviewed_at": warehouse.next_timestamp("reviews", "reviewed_at"),
        "state": state,
        "ticket": ticket,
        "note": note,
        "reviewer": reviewer or operator(),
    }
    warehouse.append([row], "reviews")
    return row


def operator() -> str:
    """Return the name of the current user. Raises :class:`~jobs.JobError` if the system does not know it."""
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):
        raise JobError("the system knows no name of the user of this session: set LOGNAME") from None


# -- regression cases --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """A finding and the lines that show it, as ``(source_node, stream, text)`` in program order."""

    finding: Row
    lines: tuple[tuple[str, str, str], ...]
    lines_before: int


EVENTS = f"""
    SELECT {", ".join(core.FOLD_COLUMNS)} FROM events
    WHERE cluster = ? AND NOT contains(stream, '/')
    ORDER BY cluster, source_node, stream, file_time, fingerprint, line_no
"""  # noqa: S608 - our own names
TEXTS = "SELECT event_id, source_node, stream, text FROM log_lines WHERE cluster = ?"


def case_of(published: Published, finding_id: str) -> Case:
    """Return the smallest case found for a finding: first nodes are left out, then lines.

    Raises :class:`~jobs.JobError` if the stored lines alone do not show the finding, because it rests on metadata
    snapshots, on an inventory, or on the absence of lines.
    """
    finding = the_finding(published, finding_id.strip().lower())
    [batch] = published.query_with(EVENTS, [finding["cluster"]]).combine_chunks().to_batches() or [None]
    if batch is None or not shows(batch, range(batch.num_rows), finding):
        raise JobError(
            "the lines that are kept do not show this finding by themselves: it rests on metadata snapshots, on the "
            "settings, or on lines of no interest; export the whole logs of the cluster instead"
        )
    kept = shrunk(batch, finding)
    texts = {row["event_id"]: row for row in published.rows(TEXTS, [finding["cluster"]])}
    ids = batch.column("event_id").to_pylist()
    rows = [texts[ids[number]] for number in kept]
    return Case(finding, tuple((row["source_node"], row["stream"], row["text"]) for row in rows), batch.num_rows)


def shrunk(batch: pa.RecordBatch, finding: Row) -> list[int]:
    """Return the rows that still show the finding after leaving out nodes, then halves, quarters, ... single rows."""
    left, tries = list(range(batch.num_rows)), 0
    by_node = [list(rows) for _, rows in groupby(left, key=batch.column("source_node").to_pylist().__getitem__)]
    for node in by_node:
        without = [row for row in left if row not in set(node)]
        if without and shows(batch, without, finding):
            left = without
    size = max(len(left) // 2, 1)
    while size and tries < TRIES:
        at = 0
        while at < len(left) and tries < TRIES:
            without = left[:at] + left[at + size :]
            tries += 1
            if without and shows(batch, without, finding):
                left = without
            else:
                at += size
        size //= 2
    return left


def shows(batch: pa.RecordBatch, rows: Sequence[int], finding: Row) -> bool:
    """Return True if the events ``rows`` give a finding of the same group, rule, severity and members."""
    chosen = batch.take(pa.array(rows, pa.int64()))
    facts = [row for row in core.fold([chosen], NO_INVENTORY) if isinstance(row, Fact)]
    of_group = attrgetter("cluster", "replica_group")
    for _, group in groupby(sorted(facts, key=of_group), key=of_group):
        judged = core.judge(rows_of(group, FACTS.arrow_schema()))
        if any(isinstance(row, Finding) and alike(row, finding) for row in judged):
            return True
    return False


def alike(row: Finding, finding: Row) -> bool:
    """Return True if two findings have the same group, rule, severity and members."""
    same = ("replica_group", "rule", "severity")
    return all(getattr(row, name) == finding[name] for name in same) and set(row.nodes) == set(finding["nodes"])


def export(case: Case, note: str | None, into: Path) -> list[Path]:
    """Write a case as a landing zone of one cluster, ``case``, with ``case.json`` about its finding; return the logs.

    Addresses and client ids are replaced by names under a key that is not kept. Raises :class:`~jobs.JobError` if the
    folder is not empty.
    """
    if into.exists() and any(into.iterdir()):
        raise JobError(f"{into} holds something already: give a new folder")
    names = Pseudonyms((ADDRESS, CLIENT_ID), os.urandom(32))
    written = []
    for (node, stream), lines in groupby(case.lines, key=lambda line: line[:2]):
        file = into / "case" / "nodes" / node / "logs" / stream
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{names.in_text(text)}\n" for _, _, text in lines), encoding="utf-8")
        written.append(file)
    columns = ("rule", "severity", "certainty", "protocol", "replica_group", "nodes")
    about = {name: case.finding[name] for name in columns} | {
        "summary": names.in_text(case.finding["summary"]),
        "note": names.in_text(note) if note else None,
        "lines": len(case.lines),
        "lines_before": case.lines_before,
    }
    (into / "case.json").write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return written


def found_again(findings: Iterable[Row], finding: Row) -> Iterator[Row]:
    """Yield those of ``findings`` with the rule and severity of an exported finding."""
    for row in findings:
        if (row["rule"], row["severity"]) == (finding["rule"], finding["severity"]):
            yield row
