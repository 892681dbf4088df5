"""A wrong clock in a set with a configured master is told as what it is, and nothing worse is told because of it."""

from collections.abc import Iterable
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import pytest

from election_replay.election_core.fold.roles import LEADER
from election_replay.election_core.judge.clock import Message
from election_replay.election_core.model.facts import Alive, Fact, Role, SettingPrinted, Silence
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import SECOND
from election_replay.election_core.protocols.acting_master.causality import causal_pairs
from election_replay.election_core.protocols.metadata.causality import causal_pairs as of_versions
from election_replay.election_core.protocols.metadata.facts import VersionSeen
from election_replay.election_core.protocols.metadata.log import PROTOCOL as METADATA
from tests.election_core import story
from tests.proving import amount

RUNS = "rocketmq-acting-master"
CHAIN = f"{RUNS}/chain-two-down"
"""The master of broker-a dies, then the slave that acted for it; both come back. Two name servers tell of them."""


@cache
def of_run(
    run: Path, node: str = "", seconds: int = 0, *, copies_itself: bool = True, since: int = 0
) -> tuple[Fact, ...]:
    """The facts of a run where the clock of one machine is ahead, all the time or in lines from ``since`` us on.

    It shows in that machine's lines and in the versions that it made, wherever they were copied to; and in the times of
    the copies of its files, if it ``copies_itself``.
    """
    made = story.versions_made(story.run_facts(run), node)
    facts: list[Fact] = []
    for name, lines in story.run_lines(run).items():
        told = []
        for line in lines:
            ahead = name == node and (copies_itself or not copied(line)) and line.time >= since
            shown = _later(line, seconds * SECOND) if ahead else line
            event = shown.event
            known = copied(line) and event is not None and (event.version_timestamp, event.counter) in made
            if known and event is not None and 1000 * (event.version_timestamp or 0) >= since:
                timestamp = (event.version_timestamp or 0) + seconds * 1000
                shown = replace(shown, event=replace(event, version_timestamp=timestamp))
            told.append(shown)
        facts += story.folder_facts(run.name, name, told)
    return tuple(facts)


def copied(line: story.Seen) -> bool:
    """Whether a line is a record of a copied metadata file."""
    return "/" in line.stream


def _later(line: story.Seen, us: int) -> story.Seen:
    event = line.event and replace(line.event, at=line.event.at + us, by=line.event.by + us)
    return replace(line, time=line.time + us, by=line.by + us, event=event)


def alarms(facts: tuple[Fact, ...]) -> set[tuple[str, str, tuple[str, ...]]]:
    """What is told above info, of whom."""
    found = (row for row in story.judge(facts) if isinstance(row, Finding))
    return {(row.rule, row.severity, tuple(sorted(row.nodes))) for row in found if row.severity != "info"}


@pytest.mark.parametrize(
    ("node", "seconds"),
    [("broker-a-0", 25), ("broker-a-0", 70), ("broker-a-0", -70), ("broker-a-1", -70), ("broker-a-2", 25)],
)
def test_the_wrong_clock_is_named_and_nothing_else_is_told(corpora: Path, node: str, seconds: int) -> None:
    new = alarms(of_run(corpora / CHAIN, node, seconds)) - alarms(of_run(corpora / CHAIN))
    assert ("CLOCK_SKEW", "warning", (node,)) in new
    assert {(rule, severity) for rule, severity, _ in new if rule != "LOCK_DOUBLE_HOLD"} == {("CLOCK_SKEW", "warning")}
    assert "critical" not in {severity for _, severity, _ in new}


@pytest.mark.parametrize("node", ["broker-a-0", "broker-a-1"])
@pytest.mark.parametrize("seconds", [70, 300])
def test_a_clock_that_was_set_forward_before_a_start_is_named(corpora: Path, node: str, seconds: int) -> None:
    """The broker logs that each of its runs was registered: registrations need not keep its rhythm."""
    lives = [fact for fact in of_run(corpora / CHAIN) if isinstance(fact, Alive) and fact.source_node == node]
    *_, last = sorted({fact.since for fact in lives})
    facts = of_run(corpora / CHAIN, node, seconds, copies_itself=False, since=last)
    uncopied = tuple(fact for fact in facts if fact.protocol != METADATA)
    (found,) = (row for row in story.judge(uncopied) if isinstance(row, Finding) and row.rule == "CLOCK_SKEW")
    assert found.nodes == (node,)
    assert seconds * 1000 - 31_500 <= (found.clock_least_ms or 0) <= seconds * 1000 <= (found.clock_most_ms or 0)
    others = [row.summary for row in story.judge(facts) if isinstance(row, Finding) and row.rule == "LEADERLESS"]
    assert others
    assert not [summary for summary in others if "kept running" in summary]


@pytest.mark.parametrize("seconds", [25, -70])
def test_no_wrong_clock_makes_a_lock_held_twice(corpora: Path, seconds: int) -> None:
    runs = sorted(path.parent for path in (corpora / RUNS).glob("*/run.json"))
    for run in runs[amount(int(seconds > 0), 0) :: amount(2, 1)]:
        true = {alarm for alarm in alarms(of_run(run)) if alarm[1] == "critical"}
        for node in story.run_lines(run):
            told = {alarm for alarm in alarms(of_run(run, node, seconds)) if alarm[1] == "critical"}
            assert told <= true, (run.name, node)


def test_true_clocks_are_found_wrong_nowhere(corpora: Path) -> None:
    for run in sorted((corpora / RUNS).iterdir()):
        if (run / "run.json").exists():
            assert "CLOCK_SKEW" not in {rule for rule, _, _ in alarms(of_run(run))}, run.name


def test_one_registration_more_than_lives_ties_nothing(corpora: Path) -> None:
    """A connection that broke while the broker lived looks like a death; the rows do not agree then."""
    facts = [fact for fact in of_run(corpora / CHAIN) if fact.replica_group == "broker-a"]
    told = [fact for fact in facts if fact.kind == "BROKER_REGISTERED" and fact.source_node == "ns-1"]
    ties = {pair.cause.source for pair in causal_pairs(facts)}
    assert ties == {"broker-a-0", "broker-a-1", "broker-a-2", "ns-1", "ns-2"}
    first = min((fact for fact in told if str(fact.address).startswith("10.82.1.20:")), key=lambda fact: fact.since)
    again = replace(first, since=first.since + 9 * SECOND, since_by=first.since_by + 9 * SECOND)
    assert "broker-a-0" not in {pair.cause.source for pair in causal_pairs([*facts, again])}


# -- versions of metadata ----------------------------------------------------------------------------------------


def without_name_servers(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """The facts of a set whose name servers' logs are missing: nothing but versions ties a clock then."""
    return tuple(fact for fact in facts if not fact.source_node.startswith("ns"))


@pytest.mark.parametrize(
    "run", ["chain-two-down", "delay-escape", "failover-preonline-clean", "skip-preonline-no-repeat"]
)
@pytest.mark.parametrize("seconds", [90, -70])
def test_versions_show_a_masters_wrong_clock_to_another_machine(corpora: Path, run: str, seconds: int) -> None:
    """A machine with a right clock copies all files; whether it is that one or the master's nothing else says."""
    place = corpora / RUNS / run
    wrong = without_name_servers(of_run(place, "broker-a-0", seconds, copies_itself=False))
    new = alarms(wrong) - alarms(without_name_servers(of_run(place)))
    assert new == {("CLOCK_SKEW", "warning", ("broker-a-0", "broker-a-0/metadata"))}


def test_name_servers_and_versions_name_the_one_wrong_clock(corpora: Path) -> None:
    """Both ways to copy: the machine's clock is told once, never that of its own copies besides."""
    for copies_itself in (True, False):
        told = of_run(corpora / CHAIN, "broker-a-1", -70, copies_itself=copies_itself)
        skews = [row for row in story.judge(told) if isinstance(row, Finding) and row.rule == "CLOCK_SKEW"]
        assert [row.nodes for row in skews] == [("broker-a-1",)]
        assert [(row.clock_least_ms, row.clock_most_ms) for row in skews] == [(-71_500, -68_500)]


def ties(facts: Iterable[Fact]) -> list[Message]:
    """What versions tie, of one broker set."""
    return list(of_versions([fact for fact in facts if fact.replica_group == "broker-a"]))


def test_a_version_that_two_may_have_made_ties_nothing(corpora: Path) -> None:
    facts = without_name_servers(of_run(corpora / CHAIN))
    assert {tie.cause.source for tie in ties(facts)} > {"broker-a-0", "broker-a-1"}
    master = next(fact for fact in facts if isinstance(fact, Role) and fact.source_node == "broker-a-0")
    always = replace(master, source_node="broker-a-9", role=LEADER, since=0, since_by=0, until=None, until_by=None)
    assert ties([*facts, always]) == []


def test_a_master_that_did_not_run_wrote_no_file(corpora: Path) -> None:
    """A copy without a version comes before that was written, but for a master that hung in between."""
    facts = without_name_servers(of_run(corpora / CHAIN))
    before = [tie for tie in ties(facts) if tie.effect.source == "broker-a-0"]
    assert before
    one = next(fact for fact in facts if isinstance(fact, VersionSeen))
    first, last = min(tie.effect.at for tie in before), max(tie.effect.by for tie in before)
    said = {field.name: getattr(one, field.name) for field in fields(Fact)}
    hung = replace(
        Silence(**said, noticed=False), source_node="broker-a-0", since=first, since_by=first, until=last, until_by=last
    )
    assert not [tie for tie in ties([*facts, hung]) if tie.effect.source == "broker-a-0"]


def test_a_master_that_died_may_not_have_written_what_it_had(corpora: Path) -> None:
    """Killed before it flushed, it comes back with an older file, and takes its own version from a slave again."""
    facts = without_name_servers(of_run(corpora / CHAIN))
    first = min(tie.effect.at for tie in ties(facts) if tie.effect.source == "broker-a-0")

    def killed(fact: Fact) -> Fact:
        led = isinstance(fact, Role) and fact.source_node == "broker-a-0" and fact.role == LEADER
        return replace(fact, until=first - 1, until_by=first) if led and fact.since < first else fact

    left = {tie.effect.at for tie in ties(map(killed, facts)) if tie.effect.source == "broker-a-0"}
    assert first not in left


def test_how_often_a_table_is_flushed_must_be_known(corpora: Path) -> None:
    """Where no log prints it, nothing follows from a copy without a version; topics are written when they change."""
    facts = without_name_servers(of_run(corpora / CHAIN))
    unprinted = [fact for fact in facts if not isinstance(fact, SettingPrinted)]
    both = {fact.since_event: fact.table_name for fact in facts if isinstance(fact, VersionSeen)}
    told = [
        {both[tie.effect.event_id] for tie in ties(one) if tie.effect.source == "broker-a-0"}
        for one in (facts, unprinted)
    ]
    assert told == [{"consumer_offset", "topic_config"}, {"topic_config"}]
