"""One incident: everything published about one replica group between two times.

``story`` renders it in sentences; ``incident_text``, ``report`` and ``dashboard`` show it. Times of a clock that is
proven wrong are corrected, unless the reader asks for raw ones.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby

from election_replay.election_core.model.catalogue import RuleId
from election_replay.jobs import JobError
from election_replay.jobs.reading.clocks import Clocks, clocks_of, in_words
from election_replay.jobs.reading.course import Course, course_of, with_notices
from election_replay.jobs.reading.hosts import by_host
from election_replay.jobs.reading.lanes import Lane, Lanes, extent, lane_of, lanes, named
from election_replay.jobs.reading.next_steps import with_warehouse
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.window import OVERLAPPING, InWindow, Window
from election_replay.jobs.reading.words import FOREVER, SEVERITIES, Row, name_of, shifted, some, span

MARGIN = timedelta(seconds=10)
"""The time before and after a finding that is shown with it."""

MEMBERS = f"""
    SELECT node, source_node, count(*) AS roles FROM role_intervals
    WHERE {OVERLAPPING} GROUP BY node, source_node ORDER BY node, source_node
"""
OTHERS = """
    SELECT DISTINCT node, source_node FROM role_intervals
    WHERE cluster = ? AND replica_group <> ? AND length(node) >= 12 AND source_node IS NOT NULL
        AND node NOT IN (SELECT node FROM role_intervals WHERE cluster = ? AND replica_group = ?)
"""
"""SELECT of members of other groups of the cluster that are known by long ids: the lines of this group name them."""
ROLES = f"""
    SELECT node, source_node, protocol, role, term, leader, start_time, end_time, start_uncertainty_ms,
        end_uncertainty_ms, start_cause, end_cause, start_event_id
    FROM role_intervals WHERE {OVERLAPPING} ORDER BY node, source_node, start_time, end_time, role
"""
FINDINGS = f"SELECT {{columns}} FROM findings WHERE {OVERLAPPING} ORDER BY start_time, finding_id"
DAMAGE = "SELECT finding_id, damage FROM losses WHERE cluster = ? AND replica_group = ? AND damage > 0"
COLUMNS_OF_A_LIST = (
    "finding_id, implied_by, protocol, rule, severity, certainty, summary, start_time, end_time, nodes, terms, "
    "messages_lost, bytes_lost, entries_lost, lost_from, cut_node, cut_from, cut_to, messages_repeated, "
    "overlap_min_ms, overlap_max_ms, duration_min_ms, duration_max_ms"
)
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
class Incident:
    """Everything known of one group in one window; ``begin`` and ``end`` bound what there is to see.

    ``run`` is the row of the run that published it. ``members`` are the lanes: nodes with the folders of their logs
    (null: none) and the number of their roles. ``others`` are members of other groups of the cluster. ``names`` are the
    display names of nodes, ``drawn`` is the picture. Times are corrected by ``clocks``, or, if ``raw``, as the nodes
    logged them.
    """

    run: Row
    cluster: str
    group: str
    begin: datetime
    end: datetime
    clocks: Clocks
    raw: bool
    members: list[Row]
    others: list[Row]
    names: dict[str, str]
    drawn: Lanes
    course: Course
    findings: list[Row]
    echoes_of: dict[str, list[Row]]
    coverage: list[Row]
    log_ends: dict[str, datetime]
    quarantined: int
    roles: list[Row] = field(default_factory=list)
    moments: list[Row] = field(default_factory=list)
    evidence: dict[str, list[Row]] = field(default_factory=dict)

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
        return by_host(by_host(sentence, self.members, finding=finding), self.others)

    def summary(self, finding: Row) -> str:
        """Return the sentence of a finding with members named by their hosts."""
        return self.by_host(finding["summary"], finding=True)

    def numbers_by_severity(self) -> str:
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
    course = course_of(published, window, inside, at_most, to_the_end=not until)
    put_right = None if raw else proven
    course = with_notices(published, window, inside, course, members, findings, put_right, all_lines=at_most is None)
    picture = None if story_alone else lanes(published, cluster, group, (begin, end), members, clocks, log_ends)
    shown = Incident(
        run=published.run,
        cluster=cluster,
        group=group,
        begin=begin,
        end=end,
        clocks=proven,
        raw=raw,
        members=members,
        others=published.rows(OTHERS, [cluster, group, cluster, group]),
        names=names_of(published.rows(MEMBERS, ever)),
        drawn=picture or named(members),
        course=course,
        findings=findings,
        echoes_of=echoes_of(findings),
        coverage=published.rows("SELECT * FROM blind_spots WHERE cluster = ? AND replica_group = ?", [cluster, group]),
        log_ends=log_ends,
        quarantined=published.rows("SELECT count(*) AS n FROM quarantine WHERE cluster = ?", [cluster])[0]["n"],
    )
    return with_details(published, window, inside, shown) if at_most is None and not story_alone else shown


def with_details(published: Published, window: Window, inside: InWindow, shown: Incident) -> Incident:
    """Return an incident with its roles, moments and evidence."""
    moments = published.rows(MOMENTS_AND_SOURCES, [*window.values, window.cluster])
    return replace(
        shown,
        roles=inside.spans(inside.roles(published.rows(ROLES, window.overlapping))),
        moments=inside.points(moments, "happened_at"),
        evidence=evidence(published, window.cluster, shown.findings, raw=shown.raw),
    )


def with_damage(published: Published, window: Window, findings: list[Row]) -> list[Row]:
    """Return findings with their ``damage`` by the view ``losses``, and with filled commands of next steps."""
    rows = published.rows(DAMAGE, [window.cluster, window.group]) if findings else []
    counted = {row["finding_id"]: row for row in rows}
    return [
        with_warehouse(finding, published.place) | {"damage": None} | counted.get(finding["finding_id"], {})
        for finding in findings
    ]


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
