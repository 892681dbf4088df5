"""Every verdict points at log lines that are there."""

import gzip
import re
from functools import cache
from pathlib import Path

import pytest

from tests.acceptance.published import Row, Warehouse

pytestmark = pytest.mark.slow

REFERRING = {
    "gold/role_intervals": ("start_event_id", "end_event_id"),
    "gold/terms": ("start_event_id", "end_event_id"),
    "gold/elections": ("start_event_id", "end_event_id"),
    "gold/sync_state_sets": ("start_event_id",),
    "gold/lock_holds": ("start_event_id", "end_event_id"),
    "gold/metadata_versions": ("event_id",),
}
"""The columns of each table that name events."""

RECORD = re.compile(r"offsetTable (?:(?P<key>\S+) queue|level) (?P<number>-?\d+) = (?P<offset>-?\d+)")
HEADER = re.compile(r"\w+ dataVersion .*counter=(?P<counter>\d+)")


@pytest.fixture(scope="session")
def event_ids(gold: Warehouse) -> set[str]:
    return {row["event_id"] for row in gold.rows("silver/events", "event_id")}


def test_every_finding_is_proven_by_events(gold: Warehouse, event_ids: set[str]) -> None:
    for row in gold.rows("gold/findings"):
        assert row["evidence"], f"{row['cluster']}: {row['summary']} without evidence"
        assert set(row["evidence"]) <= event_ids, row


@pytest.mark.parametrize("table", REFERRING)
def test_every_start_and_end_is_an_event(gold: Warehouse, event_ids: set[str], table: str) -> None:
    for row in gold.rows(table):
        named = {row[column] for column in REFERRING[table]} - {None}
        assert named <= event_ids, row


def test_every_event_has_its_line(gold: Warehouse, event_ids: set[str]) -> None:
    assert {row["event_id"] for row in gold.rows("bronze/log_lines", "event_id")} == event_ids


def test_every_proof_stands_in_its_file(gold: Warehouse, runs: dict[str, Path]) -> None:
    """Each piece of evidence of each finding is followed to the file of the run, without any of the code under test."""
    lines = {row["event_id"]: row for row in gold.rows("bronze/log_lines")}
    findings = gold.rows("gold/findings")
    systems = {runs[row["cluster"]].parent.name for row in findings}
    assert systems == {path.parent.name for path in runs.values()}
    snapshots = 0
    for event_id in {event_id for row in findings for event_id in row["evidence"]}:
        row = lines[event_id]
        file = runs[row["cluster"]] / Path(row["path"]).relative_to(row["cluster"])
        if "metadata" in file.parts:
            snapshots += 1
            assert _holds(_content(file), row), row
        else:
            assert row["text"].split("\n")[0] == _line(file, row["line_no"]), row
    assert snapshots > 0


@cache
def _content(file: Path) -> str:
    raw = file.read_bytes()
    return (gzip.decompress(raw) if file.suffix == ".gz" else raw).decode("utf-8", "replace")


@cache
def _lines(file: Path) -> list[str]:
    return _content(file).split("\n")


def _line(file: Path, number: int) -> str:
    return _lines(file)[number - 1].rstrip("\r")[:2000]


def _holds(content: str, row: Row) -> bool:
    """Whether a metadata file holds the record, which is told in words of its own."""
    if record := RECORD.fullmatch(row["text"]):
        entry = re.search(rf"[{{,]\s*{record['number']}:{record['offset']}\s*[,}}]", content)
        return entry is not None and (record["key"] is None or f'"{record["key"]}"' in content)
    header = HEADER.match(row["text"])
    return header is not None and re.search(rf'"counter":{header["counter"]}\b', content) is not None
