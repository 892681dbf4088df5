"""The inbox: findings of all groups, gravest first, with implied findings and the current leaders of their groups."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from election_replay.election_core.dialects import SYSTEMS as ROWS_OF_SYSTEMS
from election_replay.jobs import JobError
from election_replay.jobs.reading.marks import marks_of
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import SEVERITIES, Row, moment, some
from election_replay.jobs.runbook.rules import catalogue

CERTAINTIES = ("proven", "definite", "possible")

SYSTEMS = {
    **{
        "etcd and other raft" if system.title == "etcd" else system.title: tuple(of.protocol for of in system.protocols)
        for system in ROWS_OF_SYSTEMS
    },
    "Bully and ring": ("bully", "token_ring"),
}
"""The protocols of each system, by the name that readers filter by."""

ROWS = 50
"""Findings on one page."""

FAMILIES = """
    WITH families AS (
        SELECT found.*, root.rule AS root_rule,
            coalesce(first.finding_id, root.finding_id, found.finding_id) AS family,
            CASE WHEN first.finding_id IS NOT NULL THEN 2 WHEN root.finding_id IS NOT NULL THEN 1 ELSE 0 END AS depth,
            CASE found.severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 2 ELSE 4 END
                + CASE found.certainty WHEN 'possible' THEN 1 ELSE 0 END AS gravity
        FROM findings AS found
        LEFT JOIN findings AS root ON root.finding_id = found.implied_by AND root.cluster = found.cluster
        LEFT JOIN findings AS first ON first.finding_id = root.implied_by AND first.cluster = root.cluster
    ),
    chosen AS (SELECT * FROM families WHERE {conditions})
"""
CHOSEN = (
    FAMILIES
    + """
    SELECT *, min(gravity) OVER (PARTITION BY family) AS gravest, max(start_time) OVER (PARTITION BY family) AS latest,
        family IN (SELECT finding_id FROM chosen) AS below_its_root
    FROM chosen ORDER BY {order}, family, depth, start_time, finding_id LIMIT $rows OFFSET $after
"""
)
COUNTS = FAMILIES + "SELECT severity, count(*) AS n FROM chosen GROUP BY severity"
ORDERS = {"gravest": "gravest, latest DESC", "newest": "latest DESC, gravest"}
LED_BY = """
    SELECT now.cluster, now.replica_group, now.role, now.term, now.as_of,
        now.leader || coalesce(' (' || nullif(lane.source_node, now.leader) || ')', '') AS leader
    FROM current AS now
    LEFT JOIN (SELECT DISTINCT cluster, replica_group, protocol, node, source_node, role, term FROM role_intervals
               WHERE end_time IS NULL) AS lane
        ON lane.cluster = now.cluster AND lane.replica_group = now.replica_group AND lane.protocol = now.protocol
            AND lane.node = now.leader AND lane.role = now.role AND lane.term IS NOT DISTINCT FROM now.term
"""
"""SELECT of each group's leader at the end of its logs, with the machine whose logs show that."""
NOW = f"""
    SELECT cluster, replica_group, leader, role, term FROM ({LED_BY})
    WHERE cluster IN (SELECT unnest($clusters)) AND replica_group IN (SELECT unnest($groups))
    ORDER BY cluster, replica_group, leader
"""


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters in an address of the inbox, all optional. Times are as typed, UTC unless they have an offset.

    ``new`` is a time: only findings first published after it. ``sort`` is one of :data:`ORDERS`.
    """

    severity: str = ""
    certainty: str = ""
    rule: str = ""
    system: str = ""
    cluster: str = ""
    group: str = ""
    since: str = ""
    until: str = ""
    new: str = ""
    find: str = ""
    sort: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Filters":
        """Parse the query of an address. Raises :class:`JobError` for an unknown value."""
        found = cls(**{field.name: query[field.name].strip() for field in fields(cls) if query.get(field.name)})
        for name, known in (
            ("severity", SEVERITIES),
            ("certainty", CERTAINTIES),
            ("rule", tuple(catalogue())),
            ("system", tuple(SYSTEMS)),
            ("sort", tuple(ORDERS)),
        ):
            if (value := getattr(found, name)) and value not in known:
                raise JobError(f"there is no {name} {value}; there is {some(list(known))}")
        for name in ("since", "until", "new"):
            moment(getattr(found, name) or None)
        return found

    @property
    def given(self) -> dict[str, str]:
        """Return the filters that are set."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name))}

    def conditions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each filter as a SQL condition on findings, and its values."""
        for name in ("severity", "certainty", "rule", "cluster"):
            if value := getattr(self, name):
                yield f"{name} = ${name}", {name: value}
        if self.group:
            yield "replica_group = $group", {"group": self.group}
        if self.system:
            yield "protocol IN (SELECT unnest($protocols))", {"protocols": list(SYSTEMS[self.system])}
        if self.since:
            yield "coalesce(end_time >= $since, true)", {"since": moment(self.since)}
        if self.until:
            yield "start_time <= $until", {"until": moment(self.until)}
        if self.new:
            is_new = "finding_id IN (SELECT finding_id FROM findings_new(CAST($new AS TIMESTAMPTZ)))"
            yield is_new, {"new": moment(self.new)}
        if self.find:
            words = "cluster || ' / ' || replica_group || ' ' || rule || ' ' || finding_id || ' ' || summary"
            yield f"contains(lower({words}), lower($find))", {"find": self.find}


@dataclass(frozen=True, slots=True)
class Inbox:
    """One page of findings. ``counts`` are the findings of all pages by severity.

    ``leaders`` are the current leaders by (cluster, group), ``marks`` the reviewers' marks by finding id.
    """

    findings: list[Row]
    counts: dict[str, int]
    leaders: dict[tuple[str, str], list[Row]]
    marks: dict[str, Row]

    @property
    def total(self) -> int:
        """Return the number of findings on all pages."""
        return sum(self.counts.values())


def inbox(published: Published, filters: Filters, after: int = 0) -> Inbox:
    """Return a page of the findings that pass ``filters``, without the first ``after``."""
    asked = list(filters.conditions())
    conditions = " AND ".join(text for text, _ in asked) or "true"
    values = {name: value for _, given in asked for name, value in given.items()}
    chosen = CHOSEN.format(conditions=conditions, order=ORDERS[filters.sort or "gravest"])
    findings = published.rows(chosen, values | {"rows": ROWS, "after": after})
    found = published.rows(COUNTS.format(conditions=conditions), values)
    return Inbox(
        findings=findings,
        counts={row["severity"]: row["n"] for row in found},
        leaders=leaders(published, findings),
        marks=marks_of(published, (finding["finding_id"] for finding in findings)),
    )


def leaders(published: Published, findings: list[Row]) -> dict[tuple[str, str], list[Row]]:
    """Return the leaders of the findings' groups at the end of their logs, by (cluster, group)."""
    groups = {(finding["cluster"], finding["replica_group"]) for finding in findings}
    given = {"clusters": [cluster for cluster, _ in groups], "groups": [group for _, group in groups]}
    found: dict[tuple[str, str], list[Row]] = {}
    for row in published.rows(NOW, given) if groups else []:
        found.setdefault((row["cluster"], row["replica_group"]), []).append(row)
    return found
