"""The differences of two runs as text for a terminal."""

from collections.abc import Iterator

from election_replay.jobs.reading.changes import Changes
from election_replay.jobs.reading.words import Row, listed, paragraph, spoken, when
from election_replay.schemas.views import APPEARED, CHANGED, VANISHED

SIGNS = {APPEARED: "+", VANISHED: "-", CHANGED: "~"}


def changes_text(found: Changes) -> Iterator[str]:
    """Yield the lines: each finding that differs, then the numbers of other rows that do."""
    for name, run in (("Before", found.before), ("After", found.after)):
        published = f"{run['published_at']:%Y-%m-%d %H:%M:%S} UTC"
        yield f"{name:<7} {run['run_id']}  published {published}, rules {run['rules_version']}"
    if found.by_rules:
        yield "        The rules changed in between: verdicts may differ although the logs do not."
    yield ""
    counts = ", ".join(f"{found.count(change):,} {change}" for change in SIGNS)
    yield f"Findings: {counts}"
    for row in found.findings:
        yield from finding_lines(row)
    yield ""
    others = {name: counts for name, counts in found.rows.items() if any(counts)}
    yield "Other rows, only before and only after" if others else "All other rows of the gold tables are the same."
    for name, (sooner, later) in others.items():
        yield f"  {name:<18} {sooner:>9,} {later:>9,}"


def finding_lines(row: Row) -> Iterator[str]:
    """Yield the lines of one finding that differs."""
    place = f"{row['cluster']} / {row['replica_group']}"
    yield ""
    yield f"{SIGNS[row['change']]} {row['severity'].upper()} {row['rule']}  {place}  {row['finding_id'][:12]}"
    yield f"    {when(row)} (UTC)"
    yield from paragraph(row["summary"], "    ")
    if row["columns"]:
        yield from paragraph(f"changed: {listed(spoken(name) for name in row['columns'])}", "    ")
    if row["severity_before"]:
        yield f"    severity before: {row['severity_before']}"
    if row["summary_before"]:
        yield from paragraph(f"before: {row['summary_before']}", "    ")
