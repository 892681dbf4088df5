"""Gives lines that are rows of a table the numbers of their places in the log that they belong to.

A landing reads the new rows of a log as a file of their own. A row that came late then stands between its neighbours.
"""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import replace

from election_replay.jobs.landing.event_lines import EventLines
from election_replay.jobs.landing.evidence import Found
from election_replay.jobs.landing.landing_zone import LandingZone
from election_replay.jobs.landing.listing import OfTable
from election_replay.schemas import TABLES

LANDED, QUARANTINE = TABLES["landed_files"], TABLES["quarantine"]


def in_place(found: Iterable[Found], of_table: OfTable, zone: LandingZone) -> Iterator[Found]:
    """Yield what a landing made of the new rows of a log as rows of that log."""
    positions = array("q")
    with zone.open(of_table.positions) as file:
        positions.frombytes(file.read())

    def place_of(line_no: int) -> int:
        return positions[min(line_no, len(positions)) - 1] if positions else line_no

    for item in found:
        if isinstance(item, EventLines):
            place = item.place
            of_log = replace(
                place,
                path=of_table.path,
                fingerprint=of_table.fingerprint or place.fingerprint,
                file_time=of_table.file_time if of_table.lines_before else place.file_time,
            )
            yield EventLines(of_log, [(place_of(number), event, text) for number, event, text in item.lines])
            continue
        table, values = item
        row = dict(zip(TABLES[table].names, values, strict=True)) | {"path": of_table.path}
        if table == QUARANTINE.name:
            row["line_no"] = place_of(row["line_no"])
        if of_table.fingerprint and row["fingerprint"]:
            row["fingerprint"] = of_table.fingerprint
        if table == LANDED.name:
            row["lines_landed"] += of_table.lines_before
            if row["last_line_no"] is not None:
                row["last_line_no"] = place_of(row["last_line_no"])
            if of_table.lines_before:
                row["file_time"] = of_table.file_time
                row["status"] = "grown" if row["status"] == "landed" else row["status"]
        yield table, tuple(row[name] for name in TABLES[table].names)
