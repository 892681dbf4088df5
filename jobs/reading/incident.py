"""One incident: everything published about one replica group between two times.

``story`` renders it in sentences; ``incident_text``, ``report`` and ``dashboard`` show it. Times of a clock that is
proven wrong are corrected, unless the reader asks for raw ones.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from election_replay.election_core.fold.roles import SEEN
from election_replay.election_core.model.catalogue import RuleId
from election_replay.jobs import JobError
from election_replay.jobs.reading.clocks import Clocks, clocks_of, in_words
from election_replay.jobs.reading.hosts import by_host
from election_replay.jobs.reading.lanes import Lane, Lanes, extent, lane_of, lanes, named
from election_replay.jobs.reading.next_steps import with_warehouse
from election_replay.jobs.reading.notices import Notice, is_excerpt, notices_of
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import FOREVER, SEVERITIES, Row, name_of, shifted, some, span
from election_replay.jobs.runbook import notices

MARGIN = timedelta(seconds=10)
"""The time before and after a finding that is shown with it."""

GROUP = "cluster = ? AND replica_group = ?"
OVERLAPPING = f"{GROUP} AND start_time <= ? AND coalesce(end_time, ?) >= ?"
MEMBERS = f"""
    SELECT node, source_node, count(*) AS roles FROM role_intervals
    WHERE {OVERLAPPING} GROUP BY node, source_node ORDER BY node, source_node
"""
ROLES = f"""
    SELECT node, source_node, protocol, role, term, leader, start_time, end_time, start_uncertainty_ms,
        end_uncertainty_ms, start_cause, end_cause, start_event_id
    FROM role_intervals WHERE {OVERLAPPING} ORDER BY node, source_node, start_time, end_time, role
"""
SERVICES = f"""
    SELECT protocol, node, source_node, role, start_time, end_time, start_cause, end_cause FROM role_intervals
    WHERE {OVERLAPPING} AND role IN ('leader', 'acting_leader') AND term IS NULL
    ORDER BY start_time, node, source_node LIMIT ?
"""
STARTED = "CASE WHEN start_cause = 'start' THEN start_time WHEN end_cause = 'start' THEN end_time END"
"""The SQL of the start of a member, as the start or the end of a role interval."""
ENDINGS = f"""
    SELECT * FROM (
        SELECT protocol, node, source_node, end_time, end_cause, end_uncertainty_ms,
            CASE WHEN count(*) FILTER (role <> 'down') OVER later > 0
                THEN min({STARTED}) OVER later END AS starts_again,
            max(CASE WHEN start_cause = 'stopped' AND role <> 'down' THEN start_time END) OVER until_then AS stopping,
            max({STARTED}) OVER until_then AS started
        FROM role_intervals WHERE {GROUP} AND source_node IS NOT NULL
        WINDOW until_then AS (PARTITION BY protocol, node, source_node ORDER BY start_time, end_time),
            later AS (until_then ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
    ) WHERE end_cause IN ('died', 'stopped', 'removed', 'ended_itself', 'silent') AND end_time BETWEEN ? AND ?
        AND NOT (end_cause = 'stopped' AND coalesce(stopping >= coalesce(started, stopping), false))
    ORDER BY end_time, node, source_node LIMIT ?
"""
"""SELECT of the ends of process runs, by members' own logs.

A member that is told to stop and passes through other roles until it is down is stopped once. A process that starts in
the same folder as another member is not a return of the first.
"""
SILENCES = f"""
    SELECT node, source_node, start_time FROM role_intervals
    WHERE {OVERLAPPING} AND role = 'unknown' AND start_cause = 'silent' ORDER BY node, start_time LIMIT ?
"""
SEEN_ROLES = f"""
    SELECT node, source_node, protocol, role, leader, min(start_time) AS start_time,
        CASE WHEN count(*) = count(end_time) THEN max(end_time) END AS end_time, count(*) AS spans
    FROM role_intervals WHERE {OVERLAPPING} AND role <> 'unknown'
    GROUP BY ALL ORDER BY node, source_node, start_time, role, leader
"""
"""SELECT of the roles of each member, and whom it follows, with the number of intervals of each."""
FINDINGS = f"SELECT {{columns}} FROM findings WHERE {OVERLAPPING} ORDER BY start_time, finding_id"
DAMAGE = "SELECT finding_id, damage FROM losses WHERE cluster = ? AND replica_group = ? AND damage > 0"
COLUMNS_OF_A_LIST = (
    "finding_id, implied_by, protocol, rule, severity, certainty, summary, start_time, end_time, nodes, terms, "
    "messages_lost, bytes_lost, entries_lost, lost_from, cut_node, cut_from, cut_to, messages_repeated, "
    "overlap_min_ms, overlap_max_ms, duration_min_ms, duration_max_ms"
)
BEGUN_BY = """
    LEFT JOIN (SELECT DISTINCT start_event_id, source_node, start_cause, end_time, end_cause FROM role_intervals
               WHERE cluster = $cluster AND replica_group = $group AND role = 'leader') AS begun
        ON begun.start_event_id = change.start_event_id
"""
CAMPAIGNS = """
    LEFT JOIN (SELECT protocol, term, candidate, min(start_time) AS asked_first, CAST(sum(rounds) AS BIGINT) AS rounds
               FROM elections WHERE cluster = $cluster AND replica_group = $group AND decided_by IS NULL
               GROUP BY ALL) AS campaign
        ON campaign.protocol = change.protocol AND campaign.term = change.new_term
            AND campaign.candidate = change.new_leader
"""
FIRST = f"""
    SELECT change.protocol, change.changed_at, change.new_term, change.new_leader, begun.source_node, begun.start_cause,
        begun.end_time, begun.end_cause, campaign.asked_first, campaign.rounds
    FROM (
        SELECT protocol, start_time AS changed_at, term AS new_term, leader AS new_leader, start_event_id FROM terms
        WHERE cluster = $cluster AND replica_group = $group AND start_time BETWEEN $since AND $until
            AND leader IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM leadership_changes AS later
                WHERE later.cluster = terms.cluster AND later.replica_group = terms.replica_group
                    AND later.protocol = terms.protocol AND later.new_term = terms.term
                    AND later.new_leader = terms.leader)
    ) AS change {BEGUN_BY} {CAMPAIGNS}
    ORDER BY change.changed_at, change.new_term, change.new_leader LIMIT $at_most
"""
CHANGES = f"""
    SELECT change.*, begun.source_node, begun.start_cause, begun.end_time, begun.end_cause,
        campaign.asked_first, campaign.rounds
    FROM leadership_changes AS change {BEGUN_BY} {CAMPAIGNS}
    WHERE change.cluster = $cluster AND change.replica_group = $group AND change.changed_at BETWEEN $since AND $until
    ORDER BY change.changed_at, change.new_term, change.new_leader LIMIT $at_most
"""
HOLES = """
    SELECT change.protocol, change.new_term, change.new_leader, hole.source_node,
        min(hole.since) AS since, min(hole.until) AS until
    FROM leadership_changes AS change
    JOIN role_intervals AS led ON led.cluster = change.cluster AND led.replica_group = change.replica_group
        AND led.protocol = change.protocol AND led.node = change.old_leader AND led.term = change.old_term
        AND led.role = 'leader'
    JOIN facts AS hole ON hole.cluster = change.cluster AND hole.replica_group = change.replica_group
        AND hole.protocol = change.protocol AND hole.source_node = led.source_node AND hole.kind = 'SILENCE'
        AND hole.since < change.changed_at AND hole.until >= change.changed_at
    WHERE change.cluster = $cluster AND change.replica_group = $group AND change.old_leader_state = 'unknown'
    GROUP BY ALL
"""
"""SELECT of the first log gap, over a change of leader, of an old leader whose state is unknown; by its own clock."""
NOW = f"""
    SELECT *, (SELECT list(struct_pack(node := one.node, role := one.role, leader := one.leader))
               FROM role_intervals AS one
               WHERE one.cluster = current.cluster AND one.replica_group = current.replica_group
                   AND one.protocol = current.protocol AND one.end_time IS NULL) AS last_roles
    FROM current WHERE {GROUP} ORDER BY protocol, term, leader
"""
MOMENTS = "SELECT * FROM incident_timeline(?, ?, ?, ?) WHERE kind <> 'finding'"
MOMENTS_AND_SOURCES = f"""
    SELECT moment.*, line.source_node FROM ({MOMENTS}) AS moment
    LEFT JOIN events AS line ON line.event_id = moment.event_id AND line.cluster = ?
    ORDER BY happened_at, kind, node, what, moment.event_id
"""
EXTENT = f"""
    SELECT min(happened_at) AS first, max(happened_at) AS last FROM (
        SELECT happened_at FROM ({MOMENTS}) UNION ALL
        SELECT unnest([start_time, end_time]) FROM role_intervals WHERE {OVERLAPPING} UNION ALL
        SELECT unnest([start_time, end_time]) FROM findings WHERE {OVERLAPPING}
    )
"""
EVIDENCE = (
    "SELECT finding_id, path, line_no, text, event_id, event_time AS logged_at, source_node, common_time "
    "FROM evidence_lines WHERE cluster = ? AND finding_id IN (SELECT unnest(?)) ORDER BY finding_id, position"
)
KNOWN = (
    "SELECT DISTINCT cluster, replica_group FROM role_intervals UNION "
    "SELECT DISTINCT cluster, replica_group FROM terms UNION "
    "SELECT DISTINCT cluster, replica_group FROM findings ORDER BY ALL"
)


@dataclass(frozen=True, slots=True)
class Course:
    """The course of events: changes of leadership, service periods and ends of members, and the leaders ``now``.

    ``services`` are the intervals of masters, and of acting masters, that have no term. ``endings`` are members that
    died, were stopped or fell silent, with the time of their return. ``silences`` are roles in which a log just stops.
    ``notices`` are lines that no rule judges. ``seen_roles`` are the roles of each member, if no leader is known and no
    finding is grave.
    """

    changes: list[Row]
    services: list[Row]
    endings: list[Row]
    silences: list[Row]
    now: list[Row]
    notices: list[Notice] = field(default_factory=list)
    seen_roles: list[Row] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Incident:
    """Everything known of one group in one window; ``begin`` and ``end`` bound what there is to see.

    ``members`` are the lanes: nodes with the folders of their logs (null: none) and the number of their roles.
    ``names`` are the display names of nodes, ``drawn`` is the picture. Times are corrected by ``clocks``, or, if
    ``raw``, as the nodes logged them.
    """

    run_id: str
    published_at: datetime
    cluster: str
    group: str
    begin: datetime
    end: datetime
    clocks: Clocks
    raw: bool
    members: list[Row]
    names: dict[str, str]
    drawn: Lanes
    roles: list[Row]
    course: Course
    findings: list[Row]
    echoes_of: dict[str, list[Row]]
    evidence: dict[str, list[Row]]
    moments: list[Row]
    coverage: list[Row]
    log_ends: dict[str, datetime]
    quarantined: int

    @property
    def roots(self) -> list[Row]:
        """Return the findings that no shown finding implies, sorted by the gravest in their trees, then by time; those
        about clocks behind the others as grave."""
        shown = {finding["finding_id"] for finding in self.findings}
        roots = [finding for finding in self.findings if finding["implied_by"] not in shown]
        return sorted(
            roots,
            key=lambda root: (
                min(rank(finding) for _, finding in self.tree(root)),
                root["rule"] == RuleId.CLOCK_SKEW,
            ),
        )

    def echoes(self, finding: Row) -> list[Row]:
        """Return the findings that ``finding`` implies."""
        return self.echoes_of.get(finding["finding_id"], [])

    def tree(self, finding: Row, depth: int = 0) -> Iterator[tuple[int, Row]]:
        """Yield a finding and all that it implies, each with its depth: 0 for itself."""
        yield depth, finding
        for echo in self.echoes(finding):
            yield from self.tree(echo, depth + 1)

    def called(self, node: str, source: str | None = None) -> str:
        """Return the display name of a member, or of the member on the machine ``source``."""
        return self.drawn.names.get((node, source)) or self.names.get(node, node)

    def shifts(self, lane: Lane) -> list[str]:
        """Return the correction of a lane's clock as text, for each period in which the clock was wrong."""
        return [] if self.raw else [clock.shift for clock in self.clocks.wrong if clock.source == lane[1]]

    def by_host(self, sentence: str, *, finding: bool = False) -> str:
        """Return the sentence with each member named by its host alone, for texts beside lanes that show the ids."""
        return by_host(sentence, self.members, finding=finding)

    def counted(self) -> str:
        """Return the number of findings by severity, as text."""
        counts = Counter(finding["severity"] for finding in self.findings)
        return ", ".join(f"{counts[severity]:,} {severity}" for severity in SEVERITIES if counts[severity]) or "none"

    def span_in_words(self) -> str:
        """Return text about the window and the clocks of its times."""
        return f"{span(self.begin, self.end)} UTC, {self.clocks_in_words()}"

    def clocks_in_words(self) -> str:
        """Return text about the clock of all times."""
        return in_words(self.clocks, raw=self.raw)


def rank(finding: Row) -> int:
    """Return the rank of a finding's severity; 0 is the gravest."""
    return SEVERITIES.index(finding["severity"])


def incident(
    published: Published,
    cluster: str,
    group: str,
    since: datetime | None = None,
    until: datetime | None = None,
    *,
    at_most: int | None = None,
    story_alone: bool = False,
    raw: bool = False,
) -> Incident:
    """Return what is known of a group between two times; ``None`` is no bound.

    ``at_most`` limits it to one screen: that many changes, services, endings and silences, findings with the columns of
    a list, and no roles, moments or evidence. ``story_alone`` leaves out these and the picture. ``raw`` leaves the
    times of wrong clocks as logged.

    Raises :class:`JobError` for an unknown cluster or group, or a window that ends before it begins.
    """
    refuse_unknown(published, cluster, group)
    if since and until and since > until:
        raise JobError(f"--from {since:%Y-%m-%dT%H:%M:%S} is after --to {until:%Y-%m-%dT%H:%M:%S}")
    whole = at_most is None and not story_alone
    ever = [cluster, group, FOREVER[1], FOREVER[1], FOREVER[0]]
    proven = clocks_of(published, cluster, group)
    clocks = proven.as_shown if raw else Clocks()
    window = Window.asked(cluster, group, since, until, clocks)
    members = published.rows(MEMBERS, window.overlapping)
    columns = "*" if at_most is None else COLUMNS_OF_A_LIST
    found = published.rows(FINDINGS.format(columns=columns), window.overlapping)
    log_ends = ends_of_logs(published, cluster, raw=raw)
    ends = [log_ends[member["source_node"]] for member in members if member["source_node"] in log_ends]
    first, last = (since, until) if since and until else known_extent(published, window, clocks, found, ends)
    begin, end = since or first or FOREVER[0], until or last or FOREVER[1]
    inside = InWindow(clocks, begin, max(begin, end))
    findings = with_damage(published, window, inside.spans(found))
    moments = published.rows(MOMENTS_AND_SOURCES, [*window.values, cluster]) if whole else []
    happened = course(published, window, inside, at_most, to_the_end=not until)
    return Incident(
        run_id=published.run["run_id"],
        published_at=published.run["published_at"],
        cluster=cluster,
        group=group,
        begin=begin,
        end=end,
        clocks=proven,
        raw=raw,
        members=members,
        names=names_of(published.rows(MEMBERS, ever)),
        drawn=named(members)
        if story_alone
        else lanes(published, cluster, group, (begin, end), members, clocks, log_ends),
        roles=inside.spans(inside.roles(published.rows(ROLES, window.overlapping))) if whole else [],
        course=with_notices(
            published, window, inside, happened, members, findings, None if raw else proven, all_lines=at_most is None
        ),
        findings=findings,
        echoes_of=echoes_of(findings),
        evidence=evidence(published, cluster, findings, raw=raw) if whole else {},
        moments=inside.points(moments, "happened_at"),
        coverage=published.rows("SELECT * FROM blind_spots WHERE cluster = ? AND replica_group = ?", [cluster, group]),
        log_ends=log_ends,
        quarantined=published.rows("SELECT count(*) AS n FROM quarantine WHERE cluster = ?", [cluster])[0]["n"],
    )


def with_damage(published: Published, window: "Window", findings: list[Row]) -> list[Row]:
    """Return findings with their ``damage`` by the view ``losses``, and with filled commands of next steps."""
    rows = published.rows(DAMAGE, [window.cluster, window.group]) if findings else []
    counted = {row["finding_id"]: row for row in rows}
    return [
        with_warehouse(finding, published.place) | {"damage": None} | counted.get(finding["finding_id"], {})
        for finding in findings
    ]


def with_notices(
    published: Published,
    window: "Window",
    inside: "InWindow",
    happened: "Course",
    members: list[Row],
    findings: list[Row],
    put_right: Clocks | None,
    *,
    all_lines: bool,
) -> "Course":
    """Return the course with notices, unless enough is known without them; with ``all_lines`` always. Their lines bear
    the times that the clocks showed; ``put_right`` are the wrong ones, ``None`` where those times are wanted."""
    sources = {member["source_node"] for member in members if member["source_node"] is not None}
    little, excerpt = little_is_known(happened, findings), is_excerpt(published, window.cluster, sources)
    if not (little or excerpt or all_lines):
        return happened
    seen = inside.spans(inside.roles(published.rows(SEEN_ROLES, window.overlapping))) if little else []
    clocks = put_right or Clocks()
    texts = {
        **notices.ALWAYS,
        **(notices.WHERE_LITTLE_IS_KNOWN if little or excerpt else {}),
        **(notices.IN_EXCERPTS if excerpt else {}),
    }
    if happened.changes:
        texts = {kind: text for kind, text in texts.items() if kind not in notices.NAMES_A_LEADER}
    inside = replace(inside, clocks=clocks)
    found = notices_in_window(published, window.on(clocks), inside, sources, texts, beyond=little or excerpt)
    return replace(happened, notices=found, seen_roles=seen)


def little_is_known(happened: "Course", findings: list[Row]) -> bool:
    """Return True if no leader is known to have begun, and no finding is grave except a wrong clock."""
    grave = any(finding["severity"] != "info" and finding["rule"] != RuleId.CLOCK_SKEW for finding in findings)
    served = any(service["start_cause"] != SEEN for service in happened.services)
    return not (happened.changes or served or grave)


def notices_in_window(
    published: Published,
    window: "Window",
    inside: "InWindow",
    sources: Collection[str],
    texts: Mapping[str, str],
    *,
    beyond: bool,
) -> list[Notice]:
    """Return the notices of a group's sources in the window, of the kinds in ``texts``. ``beyond``: an open window also
    holds those outside the first and last roles."""
    times = window.since, window.until
    found = notices_of(published, window.cluster, sources, texts, times, inside.clocks, window.group)
    since = FOREVER[0] if beyond and window.since == FOREVER[0] else inside.begin
    until = FOREVER[1] if beyond and window.until == FOREVER[1] else inside.end
    return [notice for notice in found if notice.at <= until and notice.until >= since]


@dataclass(frozen=True, slots=True)
class Window:
    """The window of a query about one group, widened by the largest offset of its wrong clocks."""

    cluster: str
    group: str
    since: datetime
    until: datetime

    @classmethod
    def asked(
        cls, cluster: str, group: str, since: datetime | None, until: datetime | None, clocks: Clocks
    ) -> "Window":
        """Return the window between two times on correct clocks; ``None`` is no bound."""
        return cls(cluster, group, since or FOREVER[0], until or FOREVER[1]).on(clocks)

    def on(self, clocks: Clocks) -> "Window":
        """Return the window widened by the largest offset of ``clocks``, so that what they showed is in it."""
        furthest = max((abs(clock.ahead) for clock in clocks.wrong), default=timedelta(0))
        since = self.since if self.since == FOREVER[0] else shifted(self.since, -furthest)
        until = self.until if self.until == FOREVER[1] else shifted(self.until, furthest)
        return replace(self, since=since, until=until)

    @property
    def values(self) -> list[Any]:
        """Return the parameters of a query for moments in the window."""
        return [self.cluster, self.group, self.since, self.until]

    @property
    def overlapping(self) -> list[Any]:
        """Return the parameters of a query for intervals that overlap the window."""
        return [self.cluster, self.group, self.until, self.until, self.since]


def ends_of_logs(published: Published, cluster: str, *, raw: bool) -> dict[str, datetime]:
    """Return the end of the logs of each source of a cluster, in common time or, if ``raw``, as logged."""
    rows = published.rows("SELECT * FROM log_ends WHERE cluster = ? AND log_end IS NOT NULL", [cluster])
    return {row["source_node"]: row["log_end_logged" if raw else "log_end"] for row in rows}


def known_extent(
    published: Published, window: Window, clocks: Clocks, findings: list[Row], log_ends: list[datetime]
) -> tuple[datetime | None, datetime | None]:
    """Return the first and last time at which anything is known of a group, its logs' ends included, or ``None``."""
    [known] = published.rows(EXTENT, [*window.values, *window.overlapping, *window.overlapping])
    first, last = known["first"], known["last"]
    if clocks.wrong:  # their logged times are outside the window in common time
        signs = extent(published, window.cluster, window.group, last, clocks, {})
        signs += [at for finding in findings for at in (finding["start_time"], finding["end_time"]) if at is not None]
        first, last = min(signs, default=None), max(signs, default=None)
    return first, max([*([last] if last else []), *log_ends], default=None)


def course(
    published: Published, window: Window, inside: "InWindow", at_most: int | None, *, to_the_end: bool
) -> Course:
    """Return the course of events; the current leaders only if the window is open ``to_the_end`` of the logs."""
    named = {
        "cluster": window.cluster,
        "group": window.group,
        "since": window.since,
        "until": window.until,
        "at_most": at_most,
    }
    changes = published.rows(FIRST, named) + published.rows(CHANGES, named)
    if any(change.get("old_leader_state") == "unknown" for change in changes):
        rows = published.rows(HOLES, {"cluster": window.cluster, "group": window.group})
        holes = {change_key(row): row for row in rows}
        changes = [change | {"hole": holes.get(change_key(change))} for change in changes]
    return Course(
        changes=inside.points(changes, "changed_at", "asked_first", "end_time"),
        services=inside.spans(inside.roles(published.rows(SERVICES, [*window.overlapping, at_most]))),
        endings=inside.points(published.rows(ENDINGS, [*window.values, at_most]), "end_time", "starts_again"),
        silences=inside.points(published.rows(SILENCES, [*window.overlapping, at_most]), "start_time"),
        now=published.rows(NOW, [window.cluster, window.group]) if to_the_end else [],
    )


def change_key(row: Row) -> tuple[str, int, str]:
    """Return the (protocol, term, leader) key of a change of leadership."""
    return row["protocol"], row["new_term"], row["new_leader"]


@dataclass(frozen=True, slots=True)
class InWindow:
    """Corrects the times of rows by ``clocks`` and filters them by a window."""

    clocks: Clocks
    begin: datetime
    end: datetime

    def points(self, rows: list[Row], at: str, *others: str) -> list[Row]:
        """Return the rows whose time ``at`` is in the window, sorted; ``others`` are times of the same clock."""
        for row in rows:
            for name in (at, *others):
                if row.get(name) is not None:
                    row[name] = self.clocks.adjusted(row["source_node"], row[name])
        inside = [row for row in rows if self.begin <= row[at] <= self.end]
        return sorted(inside, key=lambda row: row[at])

    def roles(self, rows: list[Row]) -> list[Row]:
        """Return roles with both ends corrected."""
        for row in rows:
            row["start_time"] = self.clocks.adjusted(row["source_node"], row["start_time"])
            if row["end_time"] is not None:
                ended = self.clocks.adjusted(row["source_node"], row["end_time"])
                row["end_time"] = max(ended, row["start_time"])
        return rows

    def spans(self, rows: list[Row]) -> list[Row]:
        """Return the rows that overlap the window."""
        return [
            row
            for row in rows
            if row["start_time"] <= self.end and (row["end_time"] is None or row["end_time"] >= self.begin)
        ]


def around(finding: Row) -> tuple[datetime, datetime]:
    """Return the window in which a finding is shown."""
    return shifted(finding["start_time"], -MARGIN), shifted(finding["end_time"] or finding["start_time"], MARGIN)


def echoes_of(findings: list[Row]) -> dict[str, list[Row]]:
    """Return the implied findings by the id of the finding that implies them."""
    found: dict[str, list[Row]] = {}
    for finding in findings:
        if finding["implied_by"] is not None and finding["implied_by"] != finding["finding_id"]:
            found.setdefault(finding["implied_by"], []).append(finding)
    return found


def names_of(members: list[Row]) -> dict[str, str]:
    """Return the display name of each node, with the folder of its logs unless it has several."""
    found: dict[str, str] = {}
    for node, of_node in groupby(map(lane_of, members), key=lambda lane: lane[0]):
        sources = [source for _, source in of_node if source is not None]
        found[node] = name_of(node, sources[0]) if len(sources) == 1 else node
    return found


def evidence(published: Published, cluster: str, findings: list[Row], *, raw: bool = False) -> dict[str, list[Row]]:
    """Return the sorted lines that prove findings, by id; ``at`` is in common time or, if ``raw``, as logged."""
    rows = published.rows(EVIDENCE, [cluster, [finding["finding_id"] for finding in findings]])
    for row in rows:
        common = row.pop("common_time")
        row["at"] = row["logged_at"] if raw or common is None else common
    return {finding_id: in_order(list(lines)) for finding_id, lines in groupby(rows, key=lambda row: row["finding_id"])}


def in_order(lines: list[Row]) -> list[Row]:
    """Return lines in order of time; lines of one file keep their order, as a clock may have been set back."""
    placed: dict[str, datetime] = {}
    files = {row["path"]: number for number, row in reversed(list(enumerate(lines))) if row["path"] is not None}
    keys: list[tuple[datetime, int, int, int, Row]] = []
    for number, row in sorted(
        enumerate(lines), key=lambda numbered: (numbered[1]["path"] or "", numbered[1]["line_no"] or 0)
    ):
        path, at = row["path"] or "", row["at"] or FOREVER[1]
        placed[path] = max(at, placed.get(path, at))
        keys.append((placed[path], files.get(row["path"], len(lines)), row["line_no"] or 0, number, row))
    return [row for *_, row in sorted(keys, key=lambda key: key[:4])]


def refuse_unknown(published: Published, cluster: str, group: str) -> None:
    """Raise :class:`JobError`, with the known names, unless the group is known."""
    known = published.rows(KNOWN)
    groups = sorted(row["replica_group"] for row in known if row["cluster"] == cluster)
    if not groups:
        raise JobError(f"no cluster {cluster}; there is {some(sorted({row['cluster'] for row in known}))}")
    if group not in groups:
        raise JobError(f"no group {group} in {cluster}; there is {some(groups)}")


__all__ = ["Incident", "Lane", "evidence", "incident", "rank", "refuse_unknown"]
