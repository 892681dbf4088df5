"""Quiescent groups are judged as by their logs as they end, whatever the night, and stand while nothing is new."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path

import pytest

from election_replay.election_core.judge.quiescent import (
    FIRST_END,
    LAGGING,
    SECOND_END,
    Quiescent,
    ended,
    may_be_quiescent,
    quiescent_since,
)
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.facts import Alive, Committed, Fact, KnownCommitted, Role
from election_replay.election_core.model.rows import Row, RuleCoverage
from election_replay.election_core.replay.group_judge import as_ended, judged
from election_replay.election_core.simulate.catalogue import SCENARIOS
from election_replay.election_core.simulate.judged import facts_of
from election_replay.election_core.simulate.scenario import played
from tests.election_core import story
from tests.proving import amount

STORIES = sorted((Path(__file__).parents[2] / "scenarios").rglob("*.txt"))
CUTS = amount((0.6, 1.0), (0.2, 0.4, 0.6, 0.8, 1.0))
"""At which parts of a world its logs are cut."""
SECOND = 1_000_000
HOUR = 3_600 * SECOND
NIGHTS_US = (SECOND_END // 2, SECOND_END + 2 * LAGGING, HOUR, 24 * HOUR, 40 * 24 * HOUR)
"""How far the logs go on, after what happened in the world."""


def groups_of_worlds(names: Iterable[str]) -> Iterator[tuple[str, list[Fact]]]:
    """The groups of simulated worlds whose logs are cut, with where they come from."""
    for name in names:
        world = played(SCENARIOS[name], 0)
        lines, began = world.lines, world.began_us
        for part in CUTS:
            until = began + part * (world.now_us - began)
            world.lines = [line for line in lines if line.true_us <= until]
            yield from ((f"{name} up to {part}", facts) for facts in facts_of(world, name))


def groups_of_stories() -> Iterator[tuple[str, list[Fact]]]:
    """The groups of stories of rules; `make prove` takes all."""
    for path in STORIES[:: amount(6, 1)]:
        facts = sorted(story.scenario_facts(path), key=attrgetter("replica_group"))
        yield from ((path.name, list(of_group)) for _, of_group in groupby(facts, key=attrgetter("replica_group")))


def gone_on(facts: list[Fact], more: int, chance: random.Random) -> list[Fact]:
    """The same facts when the logs have gone on for so long; sometimes one of them stops on the way."""
    stops = {source: chance.random() < 0.05 for source in sorted({fact.source_node for fact in facts})}
    found = []
    for fact in facts:
        end = more // 2 if stops[fact.source_node] else more + chance.randint(0, 3 * SECOND)
        if fact.end_provisional and fact.until is not None and fact.until_by is not None:
            found.append(replace(fact, until=fact.until + end, until_by=fact.until_by + end))
        elif isinstance(fact, Committed | KnownCommitted) and fact.value_provisional:
            found.append(grown(fact, fact.since + end, (fact.to_index or 0) + end // SECOND))
        else:
            found.append(fact)
    return found


def grown(fact: Committed | KnownCommitted, later: int, index: int) -> Fact:
    """What the fact says after a later line, by which its index has gone on."""
    since = later if isinstance(fact, Committed) else later + SECOND
    went_on = replace(fact, since=since, since_by=later + 2 * SECOND, since_event=f"e{later}", to_index=index + 1)
    return replace(went_on, from_index=index) if isinstance(went_on, Committed) else went_on


def told(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows, but for how many clocks are compared: what a leader commits now compares some more."""
    for row in rows:
        if not (isinstance(row, RuleCoverage) and row.rule == RuleId.CLOCK_SKEW.value):
            yield row


def unlike(where: str, facts: list[Fact], count: Counter[str]) -> Iterator[str]:
    """Where a quiescent group is judged otherwise than by its logs as they end, or otherwise than the night before."""
    chance, before = random.Random(where), None
    for more in NIGHTS_US:
        now = gone_on(facts, more, chance)
        found = judged(now)
        count["quiescent" if found.quiescent else "not quiescent"] += 1
        if [*told(found.rows)] != [*told(as_ended(now)[0])]:
            yield f"{where}, {more / HOUR:.1f} h later: other rows than those of logs that end there"
        if before is not None and before.quiescent is not None:
            stands = before.quiescent.holds([fact for fact in now if fact.is_open])
            count["stands" if stands else "judged again"] += 1
            if stands and (found.rows != before.rows or found.quiescent != before.quiescent):
                yield f"{where}, {more / HOUR:.1f} h later: other rows than the night before"
        before = found


def test_quiescent_groups_are_judged_as_their_logs_say(record_property: Callable[[str, object], None]) -> None:
    """All scenarios of all protocols, cut at several moments, and all stories of rules."""
    count = Counter[str]()
    groups = chain(groups_of_worlds([*SCENARIOS][:: amount(6, 1)]), groups_of_stories())
    wrong = [complaint for where, facts in groups for complaint in unlike(where, facts, count)]
    for name, number in count.items():
        record_property(f"groups: {name}", number)
    assert not wrong, "\n".join(wrong[:20])
    assert 2 * count["quiescent"] > count["not quiescent"], count
    assert count["stands"] > count["judged again"] > 0, count


def alive(node: str, until: int) -> Alive:
    """A life that goes on."""
    return Alive(
        *("c", "g", "p", node, node, 0, 0, None, until, until + 1, None, 0, 0, None), stopped=False, goes_on=True
    )


def committed(since: int, *, goes_on: bool = True, term: int = 3) -> Committed:
    """A growth of the commit index."""
    about = ("c", "g", "p", "n1", "n1", since, since + 3, f"e{since}", None, None, None, 0, 0, None)
    return Committed(*about, term=term, from_index=since, to_index=since + 1, goes_on=goes_on)


LONG = SECOND_END + LAGGING


def test_what_happened_shortly_before_the_end_is_not_quiescent() -> None:
    assert quiescent_since([alive("n1", LONG - 1)]) is None
    assert quiescent_since([alive("n1", LONG)]) == 0
    assert quiescent_since([alive("n1", LONG + 5), replace(alive("n2", 5), goes_on=False)]) is None
    assert quiescent_since([alive("n1", LONG + 6), replace(alive("n2", 5), goes_on=False)]) == 6


def test_a_log_that_stays_behind_ended_there() -> None:
    behind = LONG + HOUR - LAGGING
    assert quiescent_since([alive("n1", LONG + HOUR), alive("n2", behind + 1)]) == 0
    assert quiescent_since([alive("n1", LONG + HOUR), alive("n2", behind)]) is None


def test_a_growth_is_nothing_that_happened_while_it_goes_on() -> None:
    assert quiescent_since([alive("n1", LONG), committed(LONG - 9)]) == 0
    assert quiescent_since([alive("n1", LONG), committed(LONG - 9, goes_on=False)]) is None


def test_who_commits_in_an_older_term_is_no_quiescent_leader() -> None:
    older = replace(committed(5), term=2)
    assert may_be_quiescent([older])
    about = ("c", "g", "p", "n2", "n2", 0, 0, None, None, None, None, 0, 0, None)
    newer = Role(*about, role="leader", term=3, leader="n2", address=None, end_cause=None, cause=None)
    assert not may_be_quiescent([newer, older])
    assert may_be_quiescent([replace(newer, protocol="q"), older])


def test_facts_end_where_the_logs_are_taken_to_end() -> None:
    [life, growth] = ended([alive("n1", HOUR), committed(HOUR)], FIRST_END)
    assert (life.until, life.until_by) == (FIRST_END, FIRST_END + 1)
    assert isinstance(growth, Committed)
    assert (growth.since, growth.since_by, growth.since_event) == (FIRST_END, FIRST_END, None)
    assert (growth.from_index, growth.to_index) == (None, None)
    early = [alive("n1", 5), committed(5)]
    assert ended(early, FIRST_END) == early


@pytest.mark.parametrize("night", [HOUR, 30 * HOUR])
def test_a_quiescent_group_stays_so_until_a_log_stays_behind(night: int) -> None:
    facts = [alive("n1", LONG), alive("n2", LONG), committed(LONG - 9)]
    quiescent = Quiescent.of(0, facts)
    assert quiescent.holds([alive("n1", night), alive("n2", night + 5), committed(night)])
    assert not quiescent.holds([alive("n1", night), alive("n2", night - LAGGING), committed(night)])
    assert not quiescent.holds([alive("n1", night), alive("n2", night)]), "nobody commits"
    assert not quiescent.holds([alive("n1", night), alive("n2", night), alive("n3", night), committed(night)])
