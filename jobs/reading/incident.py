"""One incident: all that is published about one replica group between two times, and its story in sentences.

``incident_text`` and ``report`` show it. The order across nodes is a presentation: clocks of different nodes may
disagree by what the findings say.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from jobs import JobError
from jobs.reading.published import Published
from jobs.reading.words import SEVERITIES, Row, clock, leader_word, listed, some, spoken, term_word, undecidable

FOREVER = (datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC))

GROUP = "cluster = ? AND replica_group = ?"
OVERLAPPING = f"{GROUP} AND start_time <= ? AND coalesce(end_time, ?) >= ?"
MEMBERS = f"""
    SELECT node, arg_min(source_node, start_time) AS source_node, count(*) AS roles FROM role_intervals
    WHERE {OVERLAPPING} GROUP BY node ORDER BY node
"""
ROLES = f"""
    SELECT node, source_node, protocol, role, term, start_time, end_time, start_uncertainty_ms, end_uncertainty_ms,
        start_cause, end_cause
    FROM role_intervals WHERE {OVERLAPPING} ORDER BY node, start_time, end_time, role
"""
SERVICES = f"""
    SELECT node, role, start_time, end_time, end_cause FROM role_intervals
    WHERE {OVERLAPPING} AND role IN ('leader', 'acting_leader') AND term IS NULL ORDER BY start_time, node LIMIT ?
"""
SILENCES = f"""
    SELECT node, start_time FROM role_intervals
    WHERE {OVERLAPPING} AND role = 'unknown' AND start_cause = 'silent' ORDER BY node, start_time LIMIT ?
"""
FINDINGS = f"SELECT {{columns}} FROM findings WHERE {OVERLAPPING} ORDER BY start_time, finding_id"
TOLD_OF_FINDINGS = "finding_id, implied_by, protocol, rule, severity, summary, start_time, end_time"
FIRST = f"""
    SELECT protocol, start_time AS changed_at, term AS new_term, leader AS new_leader FROM terms
    WHERE {GROUP} AND start_time BETWEEN ? AND ? AND leader IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM leadership_changes AS change
        WHERE change.cluster = terms.cluster AND change.replica_group = terms.replica_group
            AND change.protocol = terms.protocol AND change.new_term = terms.term
            AND change.new_leader = terms.leader)
    ORDER BY start_time, term, leader LIMIT ?
"""
CHANGES = f"""
    SELECT * FROM leadership_changes WHERE {GROUP} AND changed_at BETWEEN ? AND ?
    ORDER BY changed_at, new_term, new_leader LIMIT ?
"""
NOW = f"SELECT * FROM current WHERE {GROUP} ORDER BY protocol, term, leader"
MOMENTS = "SELECT * FROM incident_timeline(?, ?, ?, ?) WHERE kind <> 'finding'"
EXTENT = f"""
    SELECT min(happened_at) AS first, max(happened_at) AS last FROM (
        SELECT happened_at FROM ({MOMENTS}) UNION ALL
        SELECT unnest([start_time, end_time]) FROM role_intervals WHERE {OVERLAPPING} UNION ALL
        SELECT unnest([start_time, end_time]) FROM findings WHERE {OVERLAPPING}
    )
"""
EVIDENCE = (
    "SELECT finding_id, path, line_no, text FROM evidence_lines WHERE cluster = ? AND replica_group = ? "
    "AND finding_id IN (SELECT unnest(?)) ORDER BY finding_id, position"
)
KNOWN = (
    "SELECT DISTINCT cluster, replica_group FROM role_intervals UNION "
    "SELECT DISTINCT cluster, replica_group FROM terms UNION "
    "SELECT DISTINCT cluster, replica_group FROM findings ORDER BY ALL"
)

BECAUSE = {
    "first_leader": "the first one",
    "first_master": "the first one",
    "election_timeout": "the heartbeats of {old} did not arrive any more",
    "elected_again": "the controllers had taken {old} for dead and elected it again",
    "heartbeat_timeout": "the heartbeats of {old} did not arrive any more",
    "leader_lost": "{old} was lost",
    "leadership_transfer": "it was handed over",
    "master_inactive": "the controllers had lost the heartbeats of {old}",
    "master_lost": "{old} was gone",
    "master_silent": "{old} did not answer",
    "master_stopped": "{old} had been stopped",
    "preferred_leader": "it is the preferred one and was back",
    "quorum_lost": "a leader had lost its quorum",
    "requested": "somebody asked for it",
}
"""Why an election began, in words."""

MEANWHILE = {
    "died": "{old} had died.",
    "stopped": "{old} had been shut down.",
    "silent": "The log of {old} just stops.",
    "frozen": "{old} was frozen: its log is silent over the change{until}.",
    "without_quorum": "{old} had given up by itself, for want of a quorum.",
    "cut_off": "{old} was alive but cut off, and led on{until}.",
    "reachable": "{old} was alive and heard of it at once: nothing but the election itself ended its role.",
    "unknown": "What {old} was then, the logs do not say.",
}
"""What had become of the old leader, in words."""


ROLE_WORDS = {"leader": "leads", "acting_leader": "acts as leader"}


@dataclass(frozen=True, slots=True)
class Incident:
    """What is known of one group in one window of time; ``begin`` and ``end`` are where there is something to see.

    ``members`` are the nodes with the folders whose logs speak for them (null: none does) and the number of their
    roles, ``names`` says what to call each. ``services`` are the times of masters, and of those who act for them, that
    have no term; ``silences`` the roles in which a log just stops.
    """

    run_id: str
    cluster: str
    group: str
    begin: datetime
    end: datetime
    members: list[Row]
    names: dict[str, str]
    roles: list[Row]
    services: list[Row]
    silences: list[Row]
    findings: list[Row]
    evidence: dict[str, list[Row]]
    changes: list[Row]
    now: list[Row]
    moments: list[Row]
    coverage: list[Row]
    log_ends: dict[str, datetime]
    quarantined: int

    @property
    def roots(self) -> list[Row]:
        """Findings that follow from no other one that is shown; the gravest first."""
        shown = {finding["finding_id"] for finding in self.findings}
        roots = [finding for finding in self.findings if finding["implied_by"] not in shown]
        return sorted(roots, key=lambda finding: SEVERITIES.index(finding["severity"]))

    def echoes(self, finding: Row) -> list[Row]:
        """The findings that follow from ``finding``."""
        return [other for other in self.findings if other["implied_by"] == finding["finding_id"]]

    def counted(self) -> str:
        """How many findings of each severity there are, in words."""
        counts = Counter(finding["severity"] for finding in self.findings)
        return ", ".join(f"{counts[one]:,} {one}" for one in SEVERITIES if counts[one]) or "none"


def incident(
    published: Published,
    cluster: str,
    group: str,
    since: datetime | None = None,
    until: datetime | None = None,
    *,
    at_most: int | None = None,
) -> Incident:
    """What is known of a group between two times.

    With ``at_most`` it is what a screen can show at once: the first so many changes, services and silences, of findings
    what a list tells of them, and neither roles, moments nor evidence.

    Raises :class:`JobError` for an unknown cluster or group, and for a window that ends before it begins.
    """
    refuse_unknown(published, cluster, group)
    if since and until and since > until:
        raise JobError(f"--from {since:%Y-%m-%dT%H:%M:%S} is after --to {until:%Y-%m-%dT%H:%M:%S}")
    whole = at_most is None
    window = [cluster, group, since or FOREVER[0], until or FOREVER[1]]
    overlapping = [cluster, group, window[3], window[3], window[2]]
    members = published.rows(MEMBERS, overlapping)
    findings = published.rows(FINDINGS.format(columns="*" if whole else TOLD_OF_FINDINGS), overlapping)
    log_ends = {
        row["source_node"]: row["log_end"]
        for row in published.rows("SELECT source_node, log_end FROM log_ends WHERE cluster = ?", [cluster])
        if row["log_end"] is not None
    }
    evidence = published.rows(EVIDENCE, [*window[:2], [one["finding_id"] for one in findings]]) if whole else []
    begin, end = since, until
    if begin is None or end is None:
        known = published.rows(EXTENT, [*window, *overlapping, *overlapping])[0]
        ends = [end for source, end in log_ends.items() if source in {one["source_node"] for one in members}]
        begin = begin or known["first"] or FOREVER[0]
        end = end or max([*([known["last"]] if known["last"] else []), *ends], default=FOREVER[1])
    quarantined = published.rows("SELECT count(*) AS n FROM quarantine WHERE cluster = ?", [cluster])
    return Incident(
        run_id=published.run["run_id"],
        cluster=cluster,
        group=group,
        begin=begin,
        end=end,
        members=members,
        names={one["node"]: name_of(one["node"], one["source_node"]) for one in members},
        roles=published.rows(ROLES, overlapping) if whole else [],
        services=published.rows(SERVICES, [*overlapping, at_most]),
        silences=published.rows(SILENCES, [*overlapping, at_most]),
        findings=findings,
        evidence={one: list(lines) for one, lines in groupby(evidence, key=lambda row: row["finding_id"])},
        changes=published.rows(FIRST, [*window, at_most]) + published.rows(CHANGES, [*window, at_most]),
        now=[] if until else published.rows(NOW, window[:2]),
        moments=published.rows(MOMENTS, window) if whole else [],
        coverage=published.rows("SELECT * FROM blind_spots WHERE cluster = ? AND replica_group = ?", window[:2]),
        log_ends=log_ends,
        quarantined=quarantined[0]["n"],
    )


def name_of(node: str, source: str | None) -> str:
    """A member's name, with the folder whose logs say it where that is another."""
    return node if source in (None, node) else f"{node} ({source})"


def refuse_unknown(published: Published, cluster: str, group: str) -> None:
    """Raise :class:`JobError`, naming what there is, unless the group is known."""
    known = published.rows(KNOWN)
    groups = sorted(row["replica_group"] for row in known if row["cluster"] == cluster)
    if not groups:
        raise JobError(f"no cluster {cluster}; there is {some(sorted({row['cluster'] for row in known}))}")
    if group not in groups:
        raise JobError(f"no group {group} in {cluster}; there is {some(groups)}")


Told = tuple[datetime, str, Row | None]
"""When, what in one sentence or two, and the finding that says so, if it is one."""


def story(told: Incident) -> list[Told]:
    """Who led and why that changed, and what went wrong, in order of time."""
    said: list[Told] = [(change["changed_at"], change_in_words(told, change), None) for change in told.changes]
    said += [(role["start_time"], service_in_words(told, role), None) for role in told.services]
    roots = {one["finding_id"] for one in told.roots if one["severity"] != "info"}
    grave = [one for one in told.findings if one["severity"] == "critical" or one["finding_id"] in roots]
    said += [(one["start_time"], one["summary"], one) for one in grave]
    return sorted(said, key=lambda one: (one[0], one[2] is not None, one[1]))


def change_in_words(told: Incident, change: Row) -> str:
    """One change of leadership."""
    called = told.names
    leader, word = leader_word(change["protocol"]), term_word(change["protocol"])
    who = f"{called.get(change['new_leader'], change['new_leader'])} becomes {leader} ({word} {change['new_term']})"
    if "old_leader" not in change:  # it is the first one: FIRST has no such column
        return f"{who}, the first one that is seen."
    old = called.get(change["old_leader"], change["old_leader"])
    cause = change["cause"] or ""
    why = f": {BECAUSE.get(cause, spoken(cause)).format(old=old)}" if cause else ""
    until = f" until {clock(change['old_leader_end'])}" if change["old_leader_end"] else ""
    return f"{who}{why}. {MEANWHILE[change['old_leader_state']].format(old=old, until=until)}"


def service_in_words(told: Incident, role: Row) -> str:
    """One time of service of a master, or of a slave that acts for it."""
    what = "serves as master" if role["role"] == "leader" else "acts as master, read only"
    ended = {"died": " it died", "stopped": " it was stopped", "silent": " its log just stops"}
    end = role["end_time"]
    until = f", until {clock(end)}{':' + ended[role['end_cause']] if role['end_cause'] in ended else ''}" if end else ""
    return f"{told.names[role['node']]} {what}{until}."


def outcome(told: Incident) -> Iterator[str]:
    """Who leads at the end of the logs, and who else is there."""
    called = told.names
    for row in told.now:
        said = [
            f"{listed([called.get(node, node) for node in nodes])} {one if len(nodes) == 1 else many}"
            for nodes, one, many in (
                (row["followers"], "follows", "follow"),
                (row["others"], "does neither", "do neither"),
            )
            if nodes
        ]
        leader = called.get(row["leader"], row["leader"])
        who = f"{leader} {ROLE_WORDS[row['role']]}" if leader else "nobody leads"
        as_of = f" ({clock(row['as_of'])})" if row["as_of"] else ""
        yield f"At the end of the logs{as_of} {', '.join([who, *said])}."


def unseen(told: Incident) -> Iterator[str]:
    """What the logs do not show, so that nothing is concluded from it."""
    for row in told.coverage:
        yield undecidable(row)
    for member in told.members:
        if member["source_node"] is None:
            yield f"No log of {told.names[member['node']]} is here: others speak of it."
    for role in told.silences:
        yield f"The log of {told.names[role['node']]} just stops at {clock(role['start_time'])} while others go on."
    if told.quarantined:
        yield f"{told.quarantined:,} lines of {told.cluster} could not be read: table quarantine says which, and why."
    if not told.coverage and not told.quarantined:
        yield "Every rule that was judged here could be decided."


def collapsed(moments: list[Row]) -> Iterator[tuple[Row, int, Any]]:
    """Moments without repetitions: each with how often it comes in a row, and when for the last time."""
    for _, run in groupby(moments, key=lambda one: (one["kind"], one["node"], one["what"])):
        alike = list(run)
        yield alike[0], len(alike), alike[-1]["happened_at"]
