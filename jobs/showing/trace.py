"""An incident as a trace for Perfetto and other viewers of Chromium's trace event format (JSON).

Lanes are threads of one process, roles are slices, findings are instants on a thread of their severity, votes are flows
from the voter's slice to the candidate's. Times are microseconds since 1970 UTC, on the clocks of the story.

Source: Trace Event Format, "Complete Events", "Instant Events", "Flow Events", "Metadata Events".
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from election_replay.jobs.reading.incident import Incident
from election_replay.jobs.reading.lanes import Lane, lane_of
from election_replay.jobs.reading.words import SEVERITIES, Row, certainty, role_word

PROCESS = 1
"""The process id. No thread has this number, as viewers would call that the main thread."""
MICROSECOND = 1_000_000

Event = dict[str, Any]


def trace(incident: Incident, votes: list[Row]) -> dict[str, Any]:
    """Return the trace as plain data; ``votes`` are rows of ``voter``, ``candidate``, ``term`` and ``happened_at``."""
    threads = {lane: number for number, lane in enumerate(incident.drawn.names, start=PROCESS + 1)}
    first = PROCESS + len(threads) + 1
    shelves = {severity: number for number, severity in enumerate(SEVERITIES, start=first)}
    return {
        "displayTimeUnit": "ms",
        "otherData": {
            "cluster": incident.cluster,
            "group": incident.group,
            "run": incident.run["run_id"],
            "times": f"UTC, {incident.clocks_in_words()}",
        },
        "traceEvents": [
            *names(incident, threads, shelves),
            *slices(incident, threads),
            *instants(incident, shelves),
            *flows(votes, threads),
        ],
    }


def names(incident: Incident, threads: dict[Lane, int], shelves: dict[str, int]) -> Iterator[Event]:
    """Yield the names and the order of process and threads."""
    yield metadata("process_name", 0, name=f"{incident.cluster} / {incident.group}")
    for lane, number in threads.items():
        shifts = ", ".join(incident.shifts(lane))
        shifted = f" (clock put right: {shifts})" if shifts else ""
        yield metadata("thread_name", number, name=f"{incident.drawn.names[lane]}{shifted}")
        yield metadata("thread_sort_index", number, sort_index=number)
    for severity, number in shelves.items():
        yield metadata("thread_name", number, name=f"findings: {severity}")
        yield metadata("thread_sort_index", number, sort_index=number)


def metadata(name: str, thread: int, /, **values: Any) -> Event:
    """Return a metadata event."""
    return {"ph": "M", "pid": PROCESS, "tid": thread, "name": name, "args": values}


def slices(incident: Incident, threads: dict[Lane, int]) -> Iterator[Event]:
    """Yield the roles; an open one ends with its log. Slices of one thread never overlap."""
    last: dict[Lane, int] = {}
    for role in sorted(incident.roles, key=lambda role: role["start_time"]):
        lane = lane_of(role)
        end = role["end_time"] or incident.log_ends.get(role["source_node"] or "", incident.end)
        begin = max(micros(role["start_time"]), last.get(lane, 0))
        last[lane] = until = max(micros(end), begin)
        term = "" if role["term"] is None else f" {role['term']}"
        details = {name: role[name] for name in ("term", "leader", "start_cause", "end_cause", "start_uncertainty_ms")}
        yield {
            "ph": "X",
            "pid": PROCESS,
            "tid": threads[lane],
            "ts": begin,
            "dur": until - begin,
            "cat": "role",
            "name": f"{role_word(role['role'], role['protocol'])}{term}",
            "args": {name: value for name, value in details.items() if value is not None},
        }


def instants(incident: Incident, shelves: dict[str, int]) -> Iterator[Event]:
    """Yield the findings, each at its start."""
    for finding in incident.findings:
        details = {
            "summary": finding["summary"],
            "severity": finding["severity"],
            "certainty": certainty(finding),
            "finding_id": finding["finding_id"],
            "until": finding["end_time"].isoformat() if finding["end_time"] else "the end of the logs",
            "follows_from": finding["implied_by"],
        }
        yield {
            "ph": "i",
            "s": "t",  # scope thread: viewers show events of the process on an unnamed row
            "pid": PROCESS,
            "tid": shelves[finding["severity"]],
            "ts": micros(finding["start_time"]),
            "cat": "finding",
            "name": finding["rule"],
            "args": {name: value for name, value in details.items() if value is not None},
        }


def flows(votes: list[Row], threads: dict[Lane, int]) -> Iterator[Event]:
    """Yield the votes, from voter to candidate."""
    of_node = {node: number for (node, _), number in reversed(threads.items())}
    for number, vote in enumerate(votes, start=1):
        here, there = of_node.get(vote["voter"]), of_node.get(vote["candidate"])
        if here is None or there is None or here == there:
            continue
        term = "" if vote["term"] is None else f" in term {vote['term']}"
        shared = {"pid": PROCESS, "cat": "vote", "name": f"vote{term}", "id": number}
        at = micros(vote["happened_at"])
        yield shared | {"ph": "s", "tid": here, "ts": at}
        yield shared | {"ph": "f", "bp": "e", "tid": there, "ts": at}


def micros(at: datetime) -> int:
    """Return microseconds since 1970 UTC."""
    return round(at.timestamp() * MICROSECOND)
