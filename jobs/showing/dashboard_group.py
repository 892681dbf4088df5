"""The page of one group: its interactive picture, its story, its findings."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from election_replay.jobs import JobError
from election_replay.jobs.reading.incident import KNOWN, Incident, incident
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.story import outcome, story_by_host, unseen
from election_replay.jobs.reading.votes import votes_of
from election_replay.jobs.reading.words import Row, leader_word, moment, role_word, seconds, spoken, term_word, when
from election_replay.jobs.showing.dashboard_beside import another, in_markdown, in_sql, others
from election_replay.jobs.showing.dashboard_frame import SHOWN, Here, NotThere, Page, near
from election_replay.jobs.showing.picture import Links, picture
from election_replay.jobs.showing.raw_lines import raw_lines
from election_replay.jobs.showing.report import ends

VOTES_SHOWN = 300

LINES_SHOWN = 300
"""The maximum number of log lines on one page; a zoom shows those of a shorter time."""


BAR = """
    SELECT role.*, begun.source_file AS start_path, begun.line_no AS start_line, first_line.text AS start_text,
        ended.source_file AS end_path, ended.line_no AS end_line, last_line.text AS end_text
    FROM role_intervals AS role
    LEFT JOIN events AS begun ON begun.event_id = role.start_event_id AND begun.cluster = role.cluster
    LEFT JOIN events AS ended ON ended.event_id = role.end_event_id AND ended.cluster = role.cluster
    LEFT JOIN log_lines AS first_line ON first_line.event_id = begun.event_id AND first_line.cluster = role.cluster
    LEFT JOIN log_lines AS last_line ON last_line.event_id = ended.event_id AND last_line.cluster = role.cluster
    WHERE role.cluster = ? AND role.replica_group = ? AND role.start_event_id = ?
    ORDER BY role.node, role.source_node, role.start_time LIMIT 3
"""


@dataclass(frozen=True, slots=True)
class ChosenRole:
    """The role of a clicked bar: its name, (title, text) details, and the row with its lines."""

    name: str
    details: list[tuple[str, str]]
    row: Row


def group_page(published: Published, here: Here) -> Page:
    """Return the page of the group in the address."""
    found = group_of(published, here)
    votes = votes_of(published, found, VOTES_SHOWN) if here.asked("votes") else []
    values: dict[str, Any] = {
        "found": found,
        "outcome": [found.by_host(sentence) for sentence in outcome(found)],
        "span": found.span_in_words(),
        "edge": edge,
        "others": others(published, found),
        "drawn": picture(found, links_of(here), votes),
        "beside": another(published, found, here),
        "roles": chosen_roles(published, found, here.asked("bar")),
        "lines": raw_lines(published, found).lines if here.asked("lines") else None,
        "lines_shown": LINES_SHOWN,
        "entries": story_by_host(found),
        "ends": ends(found),
        "findings": [pair for root in found.roots for pair in found.tree(root)],
        "shown": SHOWN,
        "unseen": list(unseen(found)),
        "sql": in_sql(found),
        "markdown": "\n".join(in_markdown(found, here)),
    }
    return Page("group.html.j2", f"{found.cluster} / {found.group}", values, here.link("fleet"))


def group_of(published: Published, here: Here) -> Incident:
    """Return the incident of the group and window in the address. Raises :class:`NotThere` for an unknown group."""
    cluster, group = here.asked("cluster"), here.asked("group")
    window = moment(here.asked("from") or None), moment(here.asked("to") or None)
    if here.asked("clock") not in {"", "raw", "adjusted"}:
        raise JobError(f"there is no clock {here.asked('clock')}; there is adjusted, raw")
    known = [f"{row['cluster']} / {row['replica_group']}" for row in published.rows(KNOWN)]
    if f"{cluster} / {group}" not in known:
        raise NotThere(f"there is no group {cluster} / {group}", *near(f"{cluster} / {group}", known))
    return incident(published, cluster, group, *window, at_most=SHOWN + 1, raw=here.asked("clock") == "raw")


def links_of(here: Here) -> Links:
    """Return the links of a group's picture."""

    def of_bar(bar: Row) -> str | None:
        if bar["n"] > 1:
            return here.again(**{"from": edge(bar["left_edge"]), "to": edge(bar["right_edge"]), "bar": None})
        return here.again(bar=bar["start_event_id"]) + "#bar" if bar["start_event_id"] else None

    def of_findings(findings: list[Row]) -> str:
        if len(findings) == 1:
            return here.finding(findings[0])
        begin, end = (
            findings[0]["start_time"],
            max(finding["end_time"] or finding["start_time"] for finding in findings),
        )
        return here.again(**{"from": edge(begin), "to": edge(end)})

    return Links(of_bar, of_findings)


def edge(at: datetime) -> str:
    """Return an end of a window for an address, in ms precision."""
    return at.isoformat(timespec="milliseconds").removesuffix("+00:00")


def chosen_roles(published: Published, found: Incident, event_id: str) -> list[ChosenRole]:
    """Return the roles that an event begins."""
    rows = published.rows(BAR, [found.cluster, found.group, event_id]) if event_id else []
    return [chosen_role(found, row) for row in rows]


def chosen_role(found: Incident, row: Row) -> ChosenRole:
    """Return one role as text."""
    source, protocol = row["source_node"], row["protocol"]
    shifted = dict(row)
    if found.raw:
        shifted |= {name: row[f"{name}_logged"] or row[name] for name in ("start_time", "end_time")}
    term = "" if row["term"] is None else f" in {term_word(protocol)} {row['term']}"
    details = [("When", when(shifted))]
    late = {end: row[f"{end}_uncertainty_ms"] for end in ("start", "end")}
    details += [(f"Uncertainty of the {end}", f"up to {seconds(ms)} later") for end, ms in late.items() if ms]
    if row["leader"] and row["role"] == "follower":
        details.append((leader_word(protocol).capitalize(), row["leader"]))
    details.append(("Why it begins", spoken(row["start_cause"] or "not known")))
    details.append(("Why it ends", spoken(row["end_cause"] or ("not known" if row["end_time"] else "it does not"))))
    if source is None:
        details.append(("Source", "no log of it: others speak of it"))
    return ChosenRole(f"{found.called(row['node'], source)}: {role_word(row['role'], protocol)}{term}", details, row)
