"""What is counted of a rule is what is told of it, on all real runs, stories, and worlds of every protocol."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from election_replay.election_core.model.catalogue import INFO, POSSIBLE
from election_replay.election_core.model.rows import Finding, Row, RuleCoverage
from election_replay.election_core.simulate.catalogue import PROTOCOLS, SCENARIOS
from election_replay.election_core.simulate.judged import rows_of
from election_replay.election_core.simulate.scenario import played
from tests.election_core import story

WORLDS = 12
"""So many worlds of each protocol."""

SCENARIO_FILES = sorted((Path(__file__).parents[2] / "scenarios").glob("*/*.txt"))

Key = tuple[str, str, str]
"""Group, protocol and rule."""


def wrongly_counted(rows: Iterable[Row]) -> Iterator[str]:
    """Where coverage and findings do not say the same."""
    found: dict[Key, list[Finding]] = defaultdict(list)
    counted: dict[Key, list[RuleCoverage]] = defaultdict(list)
    for row in rows:
        if isinstance(row, Finding):
            found[row.replica_group, row.protocol, row.rule].append(row)
        elif isinstance(row, RuleCoverage):
            counted[row.replica_group, row.protocol, row.rule].append(row)
    for key in sorted(found.keys() | counted.keys()):
        told, of_rule = found[key], counted[key]
        if min((min(row.conforms, row.violates, row.undecidable) for row in of_rule), default=0) < 0:
            yield f"{key}: fewer than none"
        violates = sum(row.violates for row in of_rule)
        sure = [row for row in told if row.severity != INFO and row.certainty != POSSIBLE]
        if told and not of_rule:
            yield f"{key}: {len(told)} findings, and nothing is counted"
        unclear = sum(row.undecidable for row in of_rule)
        if any(row.severity != INFO for row in told) and not violates + unclear:
            yield f"{key}: an alarm, and nothing is broken or in doubt"
        if violates and not told:
            yield f"{key}: {violates} violations without a finding"
        if violates < len(sure):
            yield f"{key}: {violates} violations, but findings about {len(sure)}"


@pytest.mark.parametrize("path", SCENARIO_FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_stories(path: Path) -> None:
    wrong = list(wrongly_counted(story.judge(story.facts_of(story.parse(path.read_text())))))
    assert not wrong, "\n".join(wrong)


def test_real_runs(corpora: Path) -> None:
    runs = sorted(path.parent for path in corpora.glob("*/*/run.json"))
    wrong = [f"{run.name} {one}" for run in runs for one in wrongly_counted(story.run_rows(run))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_worlds(protocol: str) -> None:
    names = sorted(scenario.name for scenario in PROTOCOLS[protocol].scenarios)
    for number in range(WORLDS):
        name, seed = names[number % len(names)], 100 + number
        wrong = list(wrongly_counted(rows_of(played(SCENARIOS[name], seed), name)))
        assert not wrong, f"{name} {seed}: " + "\n".join(wrong)
