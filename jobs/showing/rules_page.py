"""The catalogue of findings as text: for a terminal, and as the page docs/rules.md."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from election_replay import election_core
from election_replay.jobs.reading.words import paragraph
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


@dataclass(frozen=True, slots=True)
class Example:
    """One finding of a real run."""

    cluster: str
    replica_group: str
    severity: str
    certainty: str
    summary: str


def examples_of(published: "Published") -> dict[str, Example]:
    """For each rule its gravest published finding."""
    found: dict[str, Example] = {}
    for row in published.query(EXAMPLE).to_pylist():
        rule = row.pop("rule")
        found.setdefault(rule, Example(**row))
    return found


def plain(examples: Mapping[str, Example]) -> Iterator[str]:
    """For a terminal."""
    for rule in catalogue().values():
        yield rule.rule
        yield from paragraph(rule.meaning, "  ")
        about = [
            ("severity", rule.severity),
            ("needs", rule.needs),
            ("refuted by", rule.refuted_by),
            ("source", rule.source),
        ]
        if example := examples.get(rule.rule):
            about.append(("example", f"{example.summary} ({example.cluster} / {example.replica_group})"))
        for name, text in about:
            yield from paragraph(text, f"  {name}: ", "    ")


def page(examples: Mapping[str, Example]) -> Iterator[str]:
    """As Markdown."""
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


def entries(rule: Rule, example: Example | None) -> Iterator[str]:
    """What the page says of a rule besides its meaning."""
    yield f"Severity: {rule.severity}"
    yield f"Needs: {rule.needs}"
    yield f"Refuted by: {rule.refuted_by}"
    yield f"Source: {rule.source}"
    yield f"Judged in: {', '.join(f'`{path}`' for path in judged_in(rule))}"
    if example is None:
        yield "Example: none in the bundled real runs; see the scenarios in `tests/scenarios/`"
    else:
        where = f"`{example.cluster}` / `{example.replica_group}`"
        yield f"Example ({where}, {example.severity}, {example.certainty}): {example.summary}"


def judged_in(rule: Rule) -> list[str]:
    """The files that judge a rule, from the root of the repository: those that name its id."""
    return sorted(path for path, text in _judges().items() if f"RuleId.{rule.rule}" in text or f'"{rule.rule}"' in text)


@cache
def _judges() -> Mapping[str, str]:
    core = Path(election_core.__file__).parent
    files = [path for pattern in JUDGES for path in core.glob(pattern)]
    return {f"{core.name}/{path.relative_to(core).as_posix()}": path.read_text(encoding="utf-8") for path in files}
