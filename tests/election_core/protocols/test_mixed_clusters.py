"""Logs of two clusters in one group prove nothing about either; members that moved to other hosts are one cluster."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.protocols.log_quality.facts import SpeaksFor
from tests.election_core import story

PAIRS = (
    ("zookeeper/kill-leader-384", "zookeeper/pause-leader-384"),
    ("rocketmq-dledger/kill-leader-533", "rocketmq-dledger/kill-two-497"),
    ("kafka-kraft/kill-active", "kafka-kraft/rolling"),
)
OF_LOGS = {"IDENTITY_CONTRADICTION", "UNKNOWN_VERSION", "LOG_GAP"}


def moved(facts: Iterable[Fact], cluster: str, prefix: str, by: int) -> list[Fact]:
    """Facts of other hosts in another cluster, ``by`` us later."""
    times = ("since", "since_by", "until", "until_by")
    return [
        replace(
            fact,
            cluster=cluster,
            source_node=f"{prefix}{fact.source_node}",
            **{name: at + by for name in times if (at := getattr(fact, name)) is not None},
        )
        for fact in facts
    ]


def findings(facts: Iterable[Fact]) -> list[Finding]:
    return [row for row in story.judge(facts) if isinstance(row, Finding)]


def span(facts: Iterable[Fact]) -> tuple[int, int]:
    times = [fact.since for fact in facts]
    return min(times), max(times)


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("at_once", [True, False])
def test_nothing_is_sure_of_two_clusters(corpora: Path, pair: tuple[str, str], at_once: bool) -> None:
    blue, green = (story.run_facts(corpora / run) for run in pair)
    (first, last), (other, _) = span(blue), span(green)
    green = moved(green, blue[0].cluster, "green-", (first if at_once else last + 600_000_000) - other)
    found = findings([*blue, *green])
    assert any("two clusters" in finding.summary for finding in found if finding.rule == "IDENTITY_CONTRADICTION")
    sure = [finding for finding in found if finding.certainty != "possible" and finding.rule not in OF_LOGS]
    assert [f"{finding.rule} {finding.summary}" for finding in sure] == []
    assert not any(finding.severity == "critical" for finding in found)


def with_other_ids(facts: Iterable[Fact]) -> list[Fact]:
    """Facts of a cluster whose members have other ids."""
    every = list(facts)
    members = {fact.node for fact in every if isinstance(fact, SpeaksFor)}

    def renamed(value: object) -> object:
        if isinstance(value, tuple):
            return tuple(map(renamed, value))
        return f"10{value}" if isinstance(value, str) and value in members else value

    return [replace(fact, **{name: renamed(getattr(fact, name)) for name in fact.__match_args__}) for fact in every]


@pytest.mark.slow
def test_nothing_is_sure_of_two_clusters_whose_members_have_other_ids(corpora: Path) -> None:
    blue, green = (story.run_facts(corpora / run) for run in PAIRS[0])
    green = with_other_ids(moved(green, blue[0].cluster, "green-", 0))
    found = findings([*blue, *green])
    assert [finding.rule for finding in found if "never name each other" in finding.summary] == [
        "IDENTITY_CONTRADICTION"
    ]
    assert {finding.rule for finding in found if finding.certainty != "possible"} <= OF_LOGS


@pytest.mark.slow
@pytest.mark.parametrize("run", [pair[0] for pair in PAIRS])
def test_hosts_that_were_renamed_are_one_cluster(corpora: Path, run: str) -> None:
    """A collector ships all hosts under other names from some time on, while they run."""
    facts = story.run_facts(corpora / run)
    first, last = span(facts)
    at = first + (last - first) // 2
    old = story.run_facts(corpora / run, lambda line: line.time < at)
    new = moved(story.run_facts(corpora / run, lambda line: line.time >= at), facts[0].cluster, "new-", 0)
    assert not any("two clusters" in finding.summary for finding in findings([*old, *new]))
