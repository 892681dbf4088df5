"""An explained finding as text for a terminal."""

from collections.abc import Iterator

from jobs.reading.explain import Explanation
from jobs.reading.words import certainty, measures, paragraph, spoken, undecidable, when


def explanation(told: Explanation) -> Iterator[str]:
    """The lines of the text; evidence stands in it word for word."""
    finding = told.finding
    rule = told.rule
    yield f"{finding['severity'].upper()} {finding['rule']}  {finding['cluster']} / {finding['replica_group']}"
    yield f"{when(finding)} (UTC), finding {finding['finding_id']}"
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
        *links(told),
    ):
        yield from paragraph(text, f"{name:<11}", " " * 11)
    yield ""
    yield "What would refute it"
    yield from paragraph(rule.refuted_by, "  ")
    yield ""
    yield "What limits it"
    yield from (line for text in limits(told) for line in paragraph(text, "  ", "    "))
    yield ""
    yield f"Evidence ({len(told.evidence)} lines of logs, word for word)"
    for row in told.evidence:
        yield f"  {row['path']}:{row['line_no']}" if row["path"] else f"  event {row['event_id']} (not kept as a line)"
        yield from (f"    {line}" for line in (row["text"] or "").splitlines())
    if not told.evidence:
        yield "  none: the finding is about what is missing"


def links(told: Explanation) -> Iterator[tuple[str, str]]:
    """Which finding this one follows from, and which follow from it."""
    if told.implied_by:
        yield "Follows", f"from {told.implied_by['rule']} {told.implied_by['finding_id']}: {told.implied_by['summary']}"
    for echo in told.echoes:
        yield "Implies", f"{echo['rule']} {echo['finding_id']}: {echo['summary']}"


def limits(told: Explanation) -> Iterator[str]:
    """What the logs of this group do not say about this rule, and what is wrong with the logs themselves."""
    for row in told.coverage:
        yield f"In this group ({spoken(row['protocol'])}) {undecidable(row)}"
    if not told.coverage:
        yield "How often this rule could be judged in this group is not counted."
    for row in told.limits:
        yield f"{row['rule']} {when(row)}: {row['summary']}"
