"""Additions to the page of a group: another group on the same axis, and Markdown and SQL to copy."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from election_replay.jobs.reading.incident import KNOWN, Incident, incident
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.story import story_by_host
from election_replay.jobs.reading.words import clock, surely, when
from election_replay.jobs.showing.dashboard_frame import SHOWN, Here
from election_replay.jobs.showing.picture import Links, Picture, picture
from election_replay.jobs.showing.report import ends


@dataclass(frozen=True, slots=True)
class Beside:
    """Another group on the same axis of time."""

    name: str
    address: str
    drawn: Picture


def others(published: Published, found: Incident) -> list[str]:
    """Return the other groups that can be shown beside this one, those of its cluster first."""
    pairs = [(row["cluster"], row["replica_group"]) for row in published.rows(KNOWN)]
    pairs = sorted((p for p in pairs if p != (found.cluster, found.group)), key=lambda p: p[0] != found.cluster)
    return [" / ".join(pair) for pair in pairs[:SHOWN]]


def another(published: Published, found: Incident, here: Here) -> Beside | None:
    """Return the chosen other group, or ``None``. Its bars have no links, as its own page has them."""
    if not here.asked("with"):
        return None
    cluster, _, group = here.asked("with").partition(" / ")
    other = incident(published, cluster, group, found.begin, found.end, at_most=SHOWN + 1, raw=found.raw)
    address = here.link("group", cluster=cluster, group=group, **{name: here.asked(name) for name in ("from", "to")})
    links = Links(lambda _: None, lambda findings: here.finding(findings[0]))
    return Beside(f"{cluster} / {group}", address, picture(other, links))


def in_sql(found: Incident) -> dict[str, str]:
    """Return, by title, SQL queries for the contents of the shown window.

    There are none for raw clocks, as the tables are in common time.
    """
    if found.raw:
        return {}
    begin, end = (f"TIMESTAMPTZ '{at.isoformat(sep=' ')}'" for at in (found.begin, found.end))
    group = f"cluster = {quoted(found.cluster)} AND replica_group = {quoted(found.group)}"
    inside = f"start_time <= {end}\n    AND (end_time IS NULL OR end_time >= {begin})\nORDER BY start_time"
    sources = {member["source_node"] for member in found.members} - {None}
    speakers = f" AND source_node IN ({', '.join(map(quoted, sorted(sources)))})" if sources else ""
    half = (found.end - found.begin) / 2
    around = f"{quoted(found.cluster)}, {begin} + INTERVAL {half // timedelta(microseconds=1)} MICROSECOND"
    return {
        "Findings": f"SELECT severity, certainty, rule, start_time, end_time, summary FROM findings\n"
        f"WHERE {group}\n    AND {inside}",
        "Roles": f"SELECT node, source_node, role, term, start_time, end_time, start_cause, end_cause\n"
        f"FROM role_intervals WHERE {group}\n    AND {inside}",
        "Log lines": f"SELECT happened_at, source_node, text, path, line_no\n"
        f"FROM events_around({around}, {ceil(half.total_seconds())})\n"
        f"WHERE happened_at BETWEEN {begin} AND {end}{speakers}\nORDER BY happened_at, source_node, line_no",
    }


def quoted(text: str) -> str:
    """Return a text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def in_markdown(found: Incident, here: Here) -> Iterator[str]:
    """Yield the lines of the Markdown: story, findings, damage, and the address of the page."""
    yield f"## {found.cluster} / {found.group}"
    yield f"\n{found.span_in_words()}\n"
    yield from (f"- {entry.at:%Y-%m-%d} {clock(entry.at)} {escaped(entry.sentence)}" for entry in story_by_host(found))
    yield from (f"- {escaped(sentence)}" for sentence in ends(found))
    if found.findings:
        yield f"\n### Findings: {found.numbers_by_severity()}\n"
    for finding in (finding for root in found.roots for _, finding in found.tree(root)):
        words = escaped(found.summary(finding))
        yield f"- **{surely(finding)} {finding['rule']}** {when(finding)}: {words} `{finding['finding_id']}`"
    yield f"\n{here.link(here.path.lstrip('/'), **here.query)}"


def escaped(text: str) -> str:
    """Return a sentence with Markdown characters escaped."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>#|" else sign for sign in text)
