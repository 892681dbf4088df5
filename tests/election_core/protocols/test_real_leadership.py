"""Real runs without Spark: verdicts on leadership stand when lines are lost or clocks are off."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from election_replay.election_core.judge.leaderless import MAX_INFO_GAP
from election_replay.election_core.model.catalogue import DEFINITE, PROVEN
from election_replay.election_core.model.facts import Alive, Fact, Role
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import SECOND
from election_replay.election_core.protocols.controller.facts import RegisterCode
from election_replay.election_core.protocols.metadata.facts import VersionSeen
from election_replay.election_core.protocols.order_lock.facts import LockHeld
from tests.election_core import story
from tests.proving import amount

ELECTING = ("rocketmq-dledger", "rocketmq-controller", "etcd", "zookeeper")
SYSTEMS = (*ELECTING, "rocketmq-acting-master")
PROTOCOLS = ("dledger", "controller", "raft", "zab", "order_lock", "broker_identity", "metadata", "acting_master")


def runs_of(corpora: Path, systems: tuple[str, ...] = SYSTEMS) -> Iterator[Path]:
    for system in systems:
        yield from sorted(path.parent for path in (corpora / system).glob("*/run.json"))


def in_turn(corpora: Path, first: int) -> Iterator[tuple[int, Path]]:
    """Every other run with its number; all of them in `make prove`."""
    yield from [*enumerate(runs_of(corpora))][amount(first, 0) :: amount(2, 1)]


def leadership(own: Iterable[Fact]) -> list[Fact]:
    return [fact for fact in own if fact.protocol in PROTOCOLS]


def findings(own: Iterable[Fact]) -> list[Finding]:
    return [row for row in story.judge(own) if isinstance(row, Finding)]


def alarms(own: Iterable[Fact]) -> set[tuple[str, str, tuple[str, ...], tuple[int, ...]]]:
    """Findings above info, by what they claim about whom."""
    return {(f.replica_group, f.rule, f.nodes, f.terms) for f in findings(own) if f.severity != "info"}


@pytest.mark.slow
def test_lost_info_lines_never_raise_an_alarm(corpora: Path) -> None:
    """Appenders drop INFO lines in bursts; what is missing may hide a finding, never make one."""
    seeds = (0, 1, 7)
    for number, run in in_turn(corpora, 0):
        expected = alarms(leadership(story.run_facts(run)))
        for seed in amount((seeds[number % 3],), seeds):
            thinned = leadership(story.run_facts(run, dropping(seed)))
            assert alarms(thinned) <= expected, (run.name, seed, alarms(thinned) - expected)


@pytest.mark.slow
def test_a_log_that_begins_late_or_ends_early_breaks_no_rule(corpora: Path) -> None:
    """Old files are deleted and the newest are not shipped yet, of one node or of all."""
    parts = (0.25, 0.5, 0.75)
    for number, run in in_turn(corpora, 1):
        expected = rules_broken(leadership(story.run_facts(run)))
        times = sorted(line.time for lines in story.run_lines(run).values() for line in lines)
        for part in amount((parts[number % 3],), parts):
            cut = times[int(len(times) * part)]
            for turn, node in enumerate((None, *story.run_lines(run)), number):
                keeps = (lambda line, cut=cut: line.time >= cut), (lambda line, cut=cut: line.time < cut)
                for keep in amount((keeps[turn % 2],), keeps):
                    new = rules_broken(leadership(story.run_facts(run, keep, node))) - expected
                    assert not new, (run.name, node, part, new)


def rules_broken(own: Iterable[Fact]) -> set[tuple[str, str]]:
    """Group and rule of all findings above info but those about what is known."""
    return {
        (f.replica_group, f.rule)
        for f in findings(own)
        if f.severity != "info" and f.rule not in ABOUT_WHAT_IS_KNOWN.get(f.protocol, ALWAYS)
    }


ALWAYS = {"POSSIBLE_DATA_LOSS"}
ABOUT_WHAT_IS_KNOWN = {"controller": {*ALWAYS, "LEADERLESS"}, "acting_master": {*ALWAYS, "LEADERLESS"}}
"""What these say depends on whose log there is: which replica had what, and of broker sets who led before and after."""


def dropping(seed: int) -> story.Keep:
    """Drops bursts of up to eight INFO lines, about one line in ten."""
    source = random.Random(seed)
    left = 0

    def keep(line: story.Seen) -> bool:
        nonlocal left
        if left == 0 and source.random() < 0.02:
            left = source.randint(1, 8)
        left = max(left - 1, 0)
        return left == 0 or line.level != "INFO"

    return keep


def brief(own: Iterable[Fact]) -> set[tuple[str, str, tuple[str, ...], tuple[int, ...]]]:
    """Short times without a leader: near two seconds, the reading of the clocks decides how grave they are."""
    found = (f for f in findings(own) if f.rule == "LEADERLESS" and f.severity == "info")
    return {(f.replica_group, f.rule, f.nodes, f.terms) for f in found}


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.5, 30.0])
def test_clocks_that_are_off_change_no_alarm(corpora: Path, seconds: float) -> None:
    """Inside its bound a clock changes nothing; beyond it messages prove the skew, and no false alarm follows.

    A member that only follows never causes a line elsewhere: its clock is known to be wrong one way and not the other.
    Where nobody elects no line is surely the effect of another machine's: there a bound that is wrong shows in nothing.
    """
    for run in [*runs_of(corpora, ELECTING)][amount(int(seconds > 1), 0) :: amount(2, 1)]:
        own = leadership(story.run_facts(run))
        expected = alarms(own) | brief(own)
        critical = {(f.rule, f.nodes, f.terms) for f in findings(own) if f.severity == "critical"}
        members: dict[str, set[str]] = {}
        for fact in own:
            if isinstance(fact, Role):
                members.setdefault(fact.source_node, {fact.source_node}).add(fact.node or fact.source_node)
        for source in sorted({fact.source_node for fact in own}):
            skews = set()
            for shift_us in (-int(seconds * 1e6), int(seconds * 1e6)):
                moved = findings(shifted(own, source, shift_us))
                skews |= {name for f in moved if f.rule == "CLOCK_SKEW" for name in f.nodes}
                said = {(f.replica_group, f.rule, f.nodes, f.terms) for f in moved if f.severity != "info"}
                new = {claim for claim in said - expected if claim[1] != "CLOCK_SKEW"}
                assert not new, (run.name, source, shift_us, new)
                assert critical <= {(f.rule, f.nodes, f.terms) for f in moved}, (run.name, source, shift_us)
            # a finding names the member, not the folder of its logs
            assert source not in members or members[source] & skews or seconds < 1, (run.name, source, skews)


@pytest.mark.slow
def test_clocks_inside_their_bounds_change_no_certain_finding(corpora: Path) -> None:
    """What is proven or definite, of any severity, stays so, and nothing else becomes so.

    But a time without a leader is definite from a second on: one that is hardly longer by one reading of two clocks,
    each inside its bound, may be shorter by another.
    """
    for _, run in in_turn(corpora, 0):
        own = leadership(story.run_facts(run))
        expected = certain(own)
        shifts = (-story.BOUND_MS * 1000, story.BOUND_MS * 1000)
        for number, source in enumerate(sorted({fact.source_node for fact in own})):
            for shift_us in amount((shifts[number % 2],), shifts):
                found = certain(shifted(own, source, shift_us))
                where = (run.name, source, shift_us)
                differ = {**found, **expected}
                unlike = {claim: differ[claim] for claim in found.keys() ^ expected.keys()}
                assert [claim for claim in unlike if not around_a_second(unlike[claim])] == [], where
                both = found.keys() & expected.keys()
                assert [one for one in both if not as_grave(found[one], expected[one])] == [], where


def certain(own: Iterable[Fact]) -> dict[tuple[object, ...], list[Finding]]:
    """Proven and definite findings, by what they claim about whom, in order of time."""
    claims: dict[tuple[object, ...], list[Finding]] = {}
    for found in sorted(findings(own), key=lambda found: found.start_time):
        if found.certainty in (PROVEN, DEFINITE):
            claims.setdefault((found.replica_group, found.rule, found.nodes, found.terms), []).append(found)
    return claims


def as_grave(found: list[Finding], expected: list[Finding]) -> bool:
    """Whether the same claims are as severe; a time without a leader may pass the limit of a brief one."""
    return len(found) == len(expected) and all(
        one.severity == other.severity or (one.rule == "LEADERLESS" and around_brief(one, other))
        for one, other in zip(found, expected, strict=True)
    )


def around_brief(one: Finding, other: Finding) -> bool:
    """Whether two clocks at their bounds make one length out of the other, on both sides of the limit."""
    lengths = [found.duration_min_ms or 0 for found in (one, other)]
    return abs(lengths[0] - lengths[1]) <= 2 * story.BOUND_MS and min(lengths) < MAX_INFO_GAP // 1000


def around_a_second(found: list[Finding]) -> bool:
    """Whether a clock that is off by its bound brings the length of a time without a leader below what is definite."""
    longest = SECOND // 1000 + story.BOUND_MS
    return all(one.rule == "LEADERLESS" and (one.duration_min_ms or 0) <= longest for one in found)


def shifted(own: Iterable[Fact], source: str, shift_us: int) -> list[Fact]:
    """The facts as they would be if the clock of one source had been off; its registration codes and versions too."""
    own = list(own)
    codes = [fact for fact in own if isinstance(fact, RegisterCode)]
    made = {fact.register_code for fact in codes if fact.source_node == source and not fact.accepted}
    versions = story.versions_made(own, source)
    moved = []
    for fact in own:
        if isinstance(fact, VersionSeen) and (fact.version_timestamp, fact.counter) in versions:
            fact = replace(fact, version_timestamp=(fact.version_timestamp or 0) + shift_us // 1000)  # noqa: PLW2901
        if isinstance(fact, RegisterCode) and fact.register_code in made:
            fact = replace(fact, made_ms=fact.made_ms + shift_us // 1000)  # noqa: PLW2901 - the same fact, on another clock
        if fact.source_node == source:
            until = fact.until + shift_us if fact.until is not None else None
            until_by = fact.until_by + shift_us if fact.until_by is not None else None
            since, since_by = fact.since + shift_us, fact.since_by + shift_us
            times = {"since": since, "since_by": since_by, "until": until, "until_by": until_by}
            if isinstance(fact, Alive | LockHeld) and fact.sure_until is not None:
                times["sure_until"] = fact.sure_until + shift_us
            fact = replace(fact, **times)  # noqa: PLW2901
        moved.append(fact)
    return moved
