"""What is counted of a rule is what is told of it, on all real runs, stories, and worlds of every protocol."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from election_replay.election_core.model.catalogue import POSSIBLE
from election_replay.election_core.model.rows import Finding, Row, RuleCoverage
from election_replay.election_core.simulate.catalogue import PROTOCOLS, SCENARIOS
from election_replay.election_core.simulate.judged import rows_of
from election_replay.election_core.simulate.scenario import played
from tests.election_core import story
from tests.proving import amount

WORLDS = 12
"""So many worlds of each protocol."""

SCENARIO_FILES = sorted((Path(__file__).parents[2] / "scenarios").glob("*/*.txt"))

SEVERAL_IN_ONE = {
    "LOCK_DOUBLE_HOLD": "locks of many queues that are held twice by the same clients are one finding",
    "WRONG_ELECTION": "JRaft controllers print one decision at every node and again: it is told once",
}
"""Rules whose findings tell of several breaches, each of which is counted. Of all others, findings are counted."""

Key = tuple[str, str, str]
"""Group, protocol and rule."""


def wrongly_counted(rows: Iterable[Row]) -> Iterator[str]:
    """Where coverage and findings do not say the same.

    Whatever is told for sure, even as information, is counted as broken; what is told as possible is in doubt; and
    nothing is broken of which no finding tells.
    """
    found: dict[Key, list[Finding]] = defaultdict(list)
    counted: dict[Key, list[RuleCoverage]] = defaultdict(list)
    for row in rows:
        if isinstance(row, Finding):
            found[row.replica_group, row.protocol, row.rule].append(row)
        elif isinstance(row, RuleCoverage):
            counted[row.replica_group, row.protocol, row.rule].append(row)
    for key in sorted(found.keys() | counted.keys()):
        of_rule = counted[key]
        if min((min(row.conforms, row.violates, row.undecidable) for row in of_rule), default=0) < 0:
            yield f"{key}: fewer than none"
        violates = sum(row.violates for row in of_rule)
        unclear = sum(row.undecidable for row in of_rule)
        possible = sum(row.certainty == POSSIBLE for row in found[key])
        sure = len(found[key]) - possible
        merged = key[2] in SEVERAL_IN_ONE and violates > sure > 0
        if violates != sure and not merged:
            yield f"{key}: {violates} broken, but findings about {sure}"
        if unclear < possible:
            yield f"{key}: {unclear} in doubt, but {possible} findings that are possible"
        if any(row.undecidable and not row.why_undecidable for row in of_rule):
            yield f"{key}: in doubt, and nothing says why"


@pytest.mark.parametrize("path", SCENARIO_FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_stories(path: Path) -> None:
    wrong = list(wrongly_counted(story.scenario_rows(path)))
    assert not wrong, "\n".join(wrong)


def test_real_runs(corpora: Path) -> None:
    runs = sorted(path.parent for path in corpora.glob("*/*/run.json"))
    wrong = [f"{run.name} {one}" for run in runs for one in wrongly_counted(story.run_rows(run))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_worlds(protocol: str) -> None:
    names = sorted(scenario.name for scenario in PROTOCOLS[protocol].scenarios)
    for number in range(0, WORLDS, amount(2, 1)):
        name, seed = names[number % len(names)], 100 + number
        wrong = list(wrongly_counted(rows_of(played(SCENARIOS[name], seed), name)))
        assert not wrong, f"{name} {seed}: " + "\n".join(wrong)


def test_what_is_known_of_a_groups_times_is_counted(corpora: Path) -> None:
    """Servers of ZooKeeper 3.7 print tickTime and syncLimit, and with it initLimit; brokers print no life of a lock."""
    rows = list(story.run_rows(corpora / "zookeeper" / "isolate-leader-372-tick3000"))
    assert {_origins(row) for row in _counted(rows, "zab")} == {(3, 0, 0)}
    rows = list(story.run_rows(corpora / "rocketmq-acting-master" / "locks-strict-cut"))
    assert {_origins(row) for row in _counted(rows, "order_lock")} == {(0, 0, 2)}


def _counted(rows: Iterable[Row], protocol: str) -> Iterator[RuleCoverage]:
    return (row for row in rows if isinstance(row, RuleCoverage) and row.protocol == protocol)


def _origins(row: RuleCoverage) -> tuple[int | None, int | None, int | None]:
    """How many times the logs print, the settings of the pipeline give, and nobody says."""
    return row.times_printed, row.times_configured, row.times_assumed
