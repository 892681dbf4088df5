"""An incident as one self-contained HTML file: verdict, picture, story, findings with lines, and what logs lack."""

from collections.abc import Iterator

from election_replay.jobs.reading.incident import Incident
from election_replay.jobs.reading.losses import damage
from election_replay.jobs.reading.repetitions import collapsed
from election_replay.jobs.reading.story import beyond, outcome, story_by_host, unseen
from election_replay.jobs.reading.words import Row, certainty, in_phrases, lasting, listed, lost, measures, when
from election_replay.jobs.runbook.rules import catalogue
from election_replay.jobs.showing.picture import Links, picture
from election_replay.jobs.showing.rendering import render


def page(incident: Incident) -> str:
    """Return the HTML."""
    worst = incident.roots[0] if incident.roots else None
    return render(
        "report.html.j2",
        incident=incident,
        nodes=listed(incident.called(node) for node in worst["nodes"]) if worst else "",
        damage=[sentence.removeprefix("Damage: ") for sentence in damage(incident)],
        outcome=[incident.by_host(sentence) for sentence in outcome(incident)],
        entries=story_by_host(incident),
        ends=ends(incident),
        drawn=picture(incident, Links(lambda _: None, lambda findings: anchor(findings[0]))),
        unseen=unseen(incident),
        moments=list(collapsed(incident.moments)),
        anchor=anchor,
        answers=answers,
        rules=catalogue(),
        span=incident.span_in_words(),
    )


def ends(incident: Incident) -> list[str]:
    """Return the sentences after the story."""
    return [incident.by_host(sentence) for sentence in (*beyond(incident), *damage(incident), *outcome(incident))]


def anchor(finding: Row) -> str:
    """Return the anchor of a finding in the file."""
    return f"#{finding['finding_id']}"


def answers(finding: Row) -> Iterator[tuple[str, str]]:
    """Yield (question, answer) pairs about a finding."""
    rule = catalogue()[finding["rule"]]
    yield "How sure", certainty(finding)
    yield "How long", lasting(finding) or when(finding)
    if losses := "; ".join(lost(finding)):
        yield "Lost", losses
    yield "Rule", rule.meaning
    yield "What would refute it", rule.refuted_by
    yield "Source", rule.source
    yield from measures(finding, in_phrases(finding))
