"""The catalogue of rules as text for a terminal, and as the page docs/rules.md."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from election_replay import election_core
from election_replay.jobs.reading.words import Row, paragraph, spoken
from election_replay.jobs.runbook.rules import Rule, catalogue
from election_replay.jobs.showing.markdown import prose

if TYPE_CHECKING:
    from election_replay.jobs.reading.published import Published

HEAD = (
    "Every finding that a replay can make, from `election-replay rules --markdown --warehouse W`. The examples are "
    "findings of real runs; `gold.rule_coverage` says for each group how often a rule could be judged."
)

EXAMPLE = """
    SELECT rule, cluster, replica_group, severity, certainty, summary FROM findings
    ORDER BY
        rule,
        CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END,
        cluster, start_time, finding_id
"""


JUDGES = ("judge/*.py", "protocols/**/*.py", "replay/*.py")
"""The modules of the core that judge."""


def examples_of(published: "Published") -> dict[str, Row]:
    """Return the gravest published finding of each rule."""
    found: dict[str, Row] = {}
    for row in published.rows(EXAMPLE):
        found.setdefault(row["rule"], row)
    return found


def plain(examples: Mapping[str, Row]) -> Iterator[str]:
    """Yield the lines for a terminal."""
    for rule in catalogue().values():
        yield rule.rule
        yield from paragraph(rule.meaning, "  ")
        for name in ("severity", "needs", "refuted_by", "source"):
            yield from paragraph(getattr(rule, name), f"  {spoken(name)}: ", "    ")
        if example := examples.get(rule.rule):
            place = f"({example['cluster']} / {example['replica_group']})"
            yield from paragraph(f"{example['summary']} {place}", "  example: ", "    ")


def page(examples: Mapping[str, Row]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# Rules"
    yield ""
    yield from prose(HEAD)
    for rule in catalogue().values():
        yield ""
        yield f"## {rule.rule}"
        yield ""
        yield from prose(rule.meaning)
        yield ""
        for entry in entries(rule, examples.get(rule.rule)):
            yield from prose(entry, "- ")


def entries(rule: Rule, example: Row | None) -> Iterator[str]:
    """Yield the entries of a rule besides its meaning."""
    for name in ("severity", "needs", "refuted_by", "source"):
        yield f"{spoken(name).capitalize()}: {getattr(rule, name)}"
    yield f"Judged in: {', '.join(f'`{path}`' for path in judged_in(rule))}"
    if example is None:
        yield "Example: none in the bundled real runs; see the scenarios in `tests/scenarios/`"
    else:
        where = f"`{example['cluster']}` / `{example['replica_group']}`"
        yield f"Example ({where}, {example['severity']}, {example['certainty']}): {example['summary']}"


def judged_in(rule: Rule) -> list[str]:
    """The files that judge a rule, from the root of the repository: those that name its id."""
    return sorted(path for path, text in _judges().items() if f"RuleId.{rule.rule}" in text or f'"{rule.rule}"' in text)


@cache
def _judges() -> Mapping[str, str]:
    core = Path(election_core.__file__).parent
    files = [path for pattern in JUDGES for path in core.glob(pattern)]
    return {f"{core.name}/{path.relative_to(core).as_posix()}": path.read_text(encoding="utf-8") for path in files}
