"""An explained finding as text for a terminal."""

from collections.abc import Iterator

from election_replay.election_core.model.timing import CONFIGURED, DEFAULT, PRINTED
from election_replay.jobs.reading.clocks import in_words
from election_replay.jobs.reading.explain import Explanation
from election_replay.jobs.reading.next_steps import steps_of
from election_replay.jobs.reading.repetitions import folded
from election_replay.jobs.reading.words import (
    certainty,
    measures,
    paragraph,
    spoken,
    spoken_ms,
    surely,
    undecidable,
    when,
)
from election_replay.jobs.showing.incident_text import alike, command_lines, place


def explanation_text(explanation: Explanation) -> Iterator[str]:
    """Yield the lines of the text, with evidence verbatim."""
    finding = explanation.finding
    rule = explanation.rule
    yield f"{surely(finding).upper()} {finding['rule']}  {finding['cluster']} / {finding['replica_group']}"
    yield from paragraph(f"{when(finding)} (UTC, {in_words(explanation.clocks, raw=False)})")
    yield f"finding {finding['finding_id']}"
    yield ""
    yield from paragraph(finding["summary"])
    yield ""
    for name, text in (
        ("How sure", certainty(finding)),
        ("Rule", rule.meaning),
        ("Severity", rule.severity),
        ("Source", rule.source),
        ("Judged by", rule.needs),
        *(("Measured", f"{name}: {value}") for name, value in measures(finding)),
        *links(explanation),
    ):
        yield from paragraph(text, f"{name:<11}", " " * 11)
    yield ""
    if explanation.times:
        yield "Times of this group (docs/timing.md says what they mean)"
        yield from (f"  {text}" for text in times(explanation))
        yield ""
    if steps := [*steps_of(finding)]:
        yield "What to do next"
        for step in steps:
            yield from paragraph(step.text, f"  {step.heading:<13}", " " * 15)
            yield from command_lines(step, " " * 15)
        yield ""
    yield "What would refute it"
    yield from paragraph(rule.refuted_by, "  ")
    yield ""
    yield "What limits it"
    yield from (line for text in limits(explanation) for line in paragraph(text, "  ", "    "))
    yield ""
    yield f"Evidence ({len(explanation.evidence)} lines of logs, word for word, in order of time)"
    for row, count in folded(explanation.evidence):
        yield f"  {place(row)}{alike(count)}" if row["path"] else f"  event {row['event_id']} (not kept as a line)"
        yield from (f"    {line}" for line in (row["text"] or "").splitlines())
    if not explanation.evidence:
        yield "  none: the finding is about what is missing"


def links(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """Yield (title, text) of the finding that implies this one, and of those that it implies."""
    if explanation.implied_by:
        cause = explanation.implied_by
        yield "Follows", f"from {surely(cause)} {cause['rule']} {cause['finding_id']}: {cause['summary']}"
    for echo in explanation.echoes:
        yield "Implies", f"{surely(echo)} {echo['rule']} {echo['finding_id']}: {echo['summary']}"


ORIGINS = {
    PRINTED: "as its logs print",
    CONFIGURED: "as the settings of the pipeline say",
    DEFAULT: "by default: no log prints it",
}
"""Phrases for the origin of a timeout's value."""


def times(explanation: Explanation) -> Iterator[str]:
    """Yield lines about the protocol's timeouts and the origins of their values."""
    for row in explanation.times:
        longest = spoken_ms(row["longest_ms"])
        span = longest if row["shortest_ms"] == row["longest_ms"] else f"{spoken_ms(row['shortest_ms'])} to {longest}"
        yield f"{row['name']}: {span}, {ORIGINS[row['origin']]}"


def limits(explanation: Explanation) -> Iterator[str]:
    """Yield sentences about how often the rule could be judged in this group, and about problems of its logs."""
    for row in explanation.coverage:
        yield f"In this group ({spoken(row['protocol'])}) {undecidable(row)}"
    if not explanation.coverage:
        yield "How often this rule could be judged in this group is not counted."
    for row in explanation.limits:
        yield f"{row['rule']} {when(row)}: {row['summary']}"
