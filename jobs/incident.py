"""One incident as readable text: findings with their evidence, then everything in order of time.

The order across nodes is a presentation: clocks of different nodes may disagree by what the findings say.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jobs import JobError
from jobs.published import Published

FOREVER = (datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC))
SEVERITIES = ("critical", "warning", "info")
EVIDENCE_SHOWN = 20
"""Lines of evidence that are shown of one finding."""

WITHIN = "cluster = ? AND replica_group = ? AND start_time <= ? AND coalesce(end_time, ?) >= ?"


@dataclass(frozen=True, slots=True)
class Window:
    """What is asked for."""

    cluster: str
    group: str
    since: datetime
    until: datetime

    @property
    def values(self) -> tuple[Any, ...]:
        """The values of :data:`WITHIN`."""
        return (self.cluster, self.group, self.until, self.until, self.since)


def incident(
    published: Published,
    cluster: str,
    group: str,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Iterator[str]:
    """The lines of the text. Raises :class:`JobError` for an unknown cluster or group."""
    refuse_unknown(published, cluster, group)
    window = Window(cluster, group, since or FOREVER[0], until or FOREVER[1])
    findings = sorted(
        rows_within(published, "findings", window), key=lambda row: (row["start_time"], row["finding_id"])
    )
    moments = sorted(timeline(published, window), key=lambda moment: moment[:3])
    yield f"{cluster} / {group}"
    yield f"Run {published.run['run_id']}. Times are UTC, by the clock of the node that logged them."
    yield ""
    yield from finding_lines(published, findings)
    yield "Timeline"
    where = places(published, [moment[3] for moment in moments if moment[3]])
    day = None
    for at, node, what, event_id in moments:
        if at.date() != day:
            day = at.date()
            yield f"  {day}"
        place = where.get(event_id or "")
        yield f"  {clock(at)}  {node:<8} {what}" + (f"   [{place['path']}:{place['line_no']}]" if place else "")
    if not moments:
        yield "  nothing in this time"


def rows_within(published: Published, table: str, window: Window) -> list[dict[str, Any]]:
    """The rows of a table that overlap the window."""
    return published.rows(f"SELECT * FROM {table} WHERE {WITHIN}", window.values)  # noqa: S608 - our own names


def refuse_unknown(published: Published, cluster: str, group: str) -> None:
    """Raise :class:`JobError`, naming what there is, unless the group is known."""
    known = published.rows(
        "SELECT DISTINCT cluster, replica_group FROM role_intervals UNION "
        "SELECT DISTINCT cluster, replica_group FROM terms UNION "
        "SELECT DISTINCT cluster, replica_group FROM findings ORDER BY ALL"
    )
    groups = sorted(row["replica_group"] for row in known if row["cluster"] == cluster)
    if not groups:
        clusters = sorted({row["cluster"] for row in known})
        raise JobError(f"no cluster {cluster}; there is {listed(clusters)}")
    if group not in groups:
        raise JobError(f"no group {group} in {cluster}; there is {listed(groups)}")


def listed(names: list[str]) -> str:
    """Names as one text, not too many of them."""
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return (", ".join(names[:20]) + more) or "nothing"


def finding_lines(published: Published, findings: list[dict[str, Any]]) -> Iterator[str]:
    """Each finding with the lines that prove it."""
    counts = {one: sum(finding["severity"] == one for finding in findings) for one in SEVERITIES}
    yield "Findings: " + (", ".join(f"{n} {one}" for one, n in counts.items() if n) or "none")
    yield ""
    for finding in sorted(findings, key=lambda one: SEVERITIES.index(one["severity"])):
        end = clock(finding["end_time"]) if finding["end_time"] else "still so"
        yield f"  {finding['severity'].upper()} {finding['rule']} ({finding['certainty']}), id {finding['finding_id']}"
        yield f"    {finding['start_time']:%Y-%m-%d} {clock(finding['start_time'])} to {end}"
        yield f"    {finding['summary']}"
        if finding["implied_by"]:
            yield f"    follows from {finding['implied_by']}"
        yield from evidence_lines(published, finding["evidence"])
        yield ""


def evidence_lines(published: Published, event_ids: list[str]) -> Iterator[str]:
    """The log lines behind a finding, word for word, with file and line number."""
    found = places(published, event_ids)
    for event_id in event_ids[:EVIDENCE_SHOWN]:
        if place := found.get(event_id):
            yield f"    {place['path']}:{place['line_no']}"
            yield from (f"      {line}" for line in place["text"].splitlines())
    if len(event_ids) > EVIDENCE_SHOWN:
        yield f"    and {len(event_ids) - EVIDENCE_SHOWN} lines more: see column evidence of findings"


def places(published: Published, event_ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Event id -> file, line number and text."""
    wanted = sorted(set(event_ids))
    query = "SELECT event_id, path, line_no, text FROM log_lines WHERE event_id IN (SELECT unnest(?))"
    return {row["event_id"]: row for row in published.rows(query, [wanted])} if wanted else {}


Moment = tuple[datetime, str, str, str | None]
"""When, which node, what happened, and the event that says so."""


def timeline(published: Published, window: Window) -> Iterator[Moment]:
    """All that begins or ends in the window."""
    for moment in (
        *(m for row in rows_within(published, "terms", window) for m in term_moments(row)),
        *(m for row in rows_within(published, "elections", window) for m in election_moments(row)),
        *(m for row in rows_within(published, "role_intervals", window) for m in role_moments(row)),
        *(m for row in rows_within(published, "sync_state_sets", window) for m in set_moments(row)),
    ):
        if window.since <= moment[0] <= window.until:
            yield moment


def term_moments(row: dict[str, Any]) -> Iterator[Moment]:
    """A term begins; its leader ends."""
    who = f"led by {row['leader']}" if row["leader"] else "nobody leads"
    why = f", because: {spoken(row['cause'])}" if row["cause"] else ""
    yield row["start_time"], "", f"TERM {row['term']}: {who} ({row['certainty']}{why})", row["start_event_id"]
    if row["end_time"] and row["leader"]:
        yield row["end_time"], "", f"TERM {row['term']}: {row['leader']} leads no more", row["end_event_id"]


def election_moments(row: dict[str, Any]) -> Iterator[Moment]:
    """A candidate asks for a term."""
    votes = "" if row["votes_granted"] is None else f", {row['votes_granted']} votes"
    needed = "" if row["votes_needed"] is None else f" of {row['votes_needed']} needed"
    by = f", decided by {row['decided_by']}" if row["decided_by"] else ""
    what = f"election for term {row['term']}: {spoken(row['outcome'])}{votes}{needed}{by}"
    yield row["start_time"], row["candidate"] or "", what, row["start_event_id"]


def role_moments(row: dict[str, Any]) -> Iterator[Moment]:
    """A node takes a role."""
    of = "" if row["term"] is None else f" in term {row['term']}"
    leader = f" of {row['leader']}" if row["leader"] and row["role"] == "follower" else ""
    cause = f" ({spoken(row['start_cause'])})" if row["start_cause"] else ""
    yield row["start_time"], row["node"], f"{spoken(row['role'])}{leader}{of}{cause}", row["start_event_id"]


def set_moments(row: dict[str, Any]) -> Iterator[Moment]:
    """The SyncStateSet changes."""
    members = ", ".join(row["members"])
    what = f"SyncStateSet {row['sync_state_set_epoch']} of epoch {row['master_epoch']}: {members}"
    yield row["start_time"], "", what, row["start_event_id"]


def spoken(code: str) -> str:
    """A code as words."""
    return code.replace("_", " ")


def clock(at: datetime) -> str:
    """The time of day, with milliseconds where there are any."""
    return f"{at:%H:%M:%S}" + (f".{at.microsecond // 1000:03d}" if at.microsecond else "")
