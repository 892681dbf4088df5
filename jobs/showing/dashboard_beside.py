"""What stands beside the picture of a group: another group on the same axis, log lines, and Markdown to copy."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from election_replay.jobs.reading.incident import KNOWN, Incident, incident
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.story import beyond, damage, outcome, story
from election_replay.jobs.reading.words import clock, counted, when
from election_replay.jobs.showing.dashboard_frame import SHOWN, Here, labelled
from election_replay.jobs.showing.markup import Child, tag
from election_replay.jobs.showing.picture import Links, legend, picture
from election_replay.jobs.showing.raw_lines import raw_lines
from election_replay.jobs.showing.report import span

LINES_SHOWN = 300
"""Log lines that one page shows; a zoom shows those of a shorter time."""


def choice(published: Published, found: Incident, here: Here) -> Child:
    """The other groups, to choose one that is shown beside this one; first those of its cluster."""
    pairs = [(row["cluster"], row["replica_group"]) for row in published.rows(KNOWN)]
    others = sorted(
        (pair for pair in pairs if pair != (found.cluster, found.group)), key=lambda p: p[0] != found.cluster
    )
    if not others:
        return None
    names = ["", *(" / ".join(pair) for pair in others[:SHOWN])]
    chosen = here.asked("with")
    options = (tag("option", name, selected="selected" if name and name == chosen else None) for name in names)
    return labelled("Beside it", tag("select", options, id="window-with", name="with"))


def another(published: Published, found: Incident, here: Here) -> Iterator[Child]:
    """The group that is chosen, on the same axis of time."""
    if not here.asked("with"):
        return
    cluster, _, group = here.asked("with").partition(" / ")
    other = incident(published, cluster, group, found.begin, found.end, at_most=SHOWN + 1, raw=found.raw)

    def of_bar(_: object) -> None:
        """A bar of the other group leads nowhere: its page has it."""

    address = here.link("group", cluster=cluster, group=group, **{name: here.asked(name) for name in ("from", "to")})
    yield tag("h2", tag("a", f"{cluster} / {group}", href=address))
    drawn = picture(other, Links(of_bar, lambda findings: here.finding(findings[0])), [])
    yield tag("div", drawn, class_="picture")
    yield legend(other)


def log_lines(published: Published, found: Incident, here: Here) -> Iterator[Child]:
    """The log lines of all members in the window, merged, where they are asked for."""
    if not here.asked("lines"):
        return
    lines = raw_lines(published, found).lines
    yield tag("h2", "Log lines of all members", id="lines")
    cut = f"The first {LINES_SHOWN} of {counted(len(lines), 'line')}; zoom to see the rest."
    if len(lines) > LINES_SHOWN:
        yield tag("p", cut, class_="muted")
    text: list[Child] = []
    for line in lines[:LINES_SHOWN]:
        text += [f"{clock(line.at)} ", tag("b", line.node), f"  {line.text}\n"]
    yield tag("pre", text or "none that is kept", tabindex=0, class_="merged")


def markdown(found: Incident, here: Here) -> Element:
    """The story as Markdown, in a field to copy it from."""
    return tag(
        "details",
        tag("summary", "Markdown for a post-mortem"),
        tag("textarea", "\n".join(in_markdown(found, here)), readonly="readonly", rows=14, aria_label="Markdown"),
    )


def in_markdown(found: Incident, here: Here) -> Iterator[str]:
    """The lines of the Markdown: story, findings, damage, and which page has the rest."""
    yield f"## {found.cluster} / {found.group}"
    yield f"\n{span(found)}\n"
    yield from (f"- {entry.at:%Y-%m-%d} {clock(entry.at)} {escaped(entry.sentence)}" for entry in story(found))
    yield from (f"- {escaped(sentence)}" for sentence in (*beyond(found), *damage(found), *outcome(found)))
    if found.findings:
        yield f"\n### Findings: {found.counted()}\n"
    for finding in (finding for root in found.roots for _, finding in found.tree(root)):
        sure = f"{finding['severity']} ({finding['certainty']})"
        yield f"- **{sure} {finding['rule']}** {when(finding)}: {escaped(finding['summary'])} `{finding['finding_id']}`"
    yield f"\n{here.link(here.path.lstrip('/'), **here.query)}"


def escaped(text: str) -> str:
    """A sentence in which nothing is markup."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>#|" else sign for sign in text)
