"""Verdicts stand while all comparisons with the ends of logs come out the same: judging again gives the same rows."""

import operator
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, groupby, product
from operator import attrgetter
from pathlib import Path

import pytest

from election_replay.election_core.judge.open_ends import Comparisons, EndOfLog, Standing, noted_of, with_ends
from election_replay.election_core.model.facts import Alive, Fact
from election_replay.election_core.replay.group_judge import rows_and_comparisons, rows_of_group
from election_replay.election_core.simulate.catalogue import SCENARIOS
from election_replay.election_core.simulate.judged import facts_of
from election_replay.election_core.simulate.scenario import played
from tests.election_core import story
from tests.proving import amount

STORIES = sorted((Path(__file__).parents[2] / "scenarios").rglob("*.txt"))
CUTS, NIGHTS = amount((0.5, 1.0), (0.2, 0.4, 0.6, 0.8, 1.0)), amount(5, 10)
"""At which parts of a world its logs are cut; how many nights follow."""
HOUR = 3_600_000_000
STRETCHES_US = (0, 1_000, 700_000, 4_000_000, 40_000_000, HOUR, 24 * HOUR)
"""How much longer a log may go on, and how far apart logs may end."""


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
    """The groups of all stories of rules."""
    for path in STORIES:
        facts = sorted(story.facts_of(story.parse(path.read_text())), key=attrgetter("replica_group"))
        yield from ((path.name, list(of_group)) for _, of_group in groupby(facts, key=attrgetter("replica_group")))


def moved(facts: list[Fact], ends: Mapping[str, EndOfLog]) -> list[Fact]:
    """The same facts after nights of mere signs of life."""
    return [
        replace(fact, until=ends[fact.source_node][0], until_by=ends[fact.source_node][1]) if fact.moves else fact
        for fact in facts
    ]


def longer(ends: Mapping[str, EndOfLog], chance: random.Random) -> dict[str, EndOfLog]:
    """Ends of logs that went on by about as much; in one of four cases some did not."""
    together, apart = chance.choice(STRETCHES_US), chance.choice(STRETCHES_US[:5])
    stay = chance.random() < 0.25
    found = {}
    for source, (at, by) in sorted(ends.items()):
        more = 0 if stay and chance.random() < 0.3 else together + chance.randint(0, apart)
        found[source] = at + more, by + more
    return found


def unlike(where: str, facts: list[Fact], count: Counter[str]) -> Iterator[str]:
    """Where a group is taken for judged and is not; how often its verdicts stand is counted.

    First all logs go on for an hour. What does not stand is judged again, as a night does it.
    """
    chance, standing, ends = random.Random(where), Standing("", ()), noted_of(facts).ends
    for night in range(NIGHTS if ends else 0):
        ends = longer(ends, chance) if night else {source: (at + HOUR, by + HOUR) for source, (at, by) in ends.items()}
        facts = moved(facts, ends)
        stands = standing.hold(ends)
        count["stands" if stands else "judged again"] += 1
        rows, noted = rows_and_comparisons(facts)
        now = Standing.of(rows, noted)
        if rows != list(rows_of_group(facts)):
            yield f"{where}, night {night}: ends that note what they are compared with change the rows"
        if stands and now.rows != standing.rows:
            yield f"{where}, night {night}: other rows with {ends} than with {standing.ends}"
        if not stands:
            text = now.after(standing).as_text()
            standing = Standing.from_text(text) if text is not None else Standing("", ())


def test_verdicts_that_stand_are_those_of_another_judgement(record_property: Callable[[str, object], None]) -> None:
    """All scenarios of all protocols, cut at several moments, and all stories of rules."""
    count = Counter[str]()
    groups = chain(groups_of_worlds([*SCENARIOS][:: amount(3, 1)]), groups_of_stories())
    wrong = [complaint for where, facts in groups for complaint in unlike(where, facts, count)]
    for name, number in count.items():
        record_property(f"ends moved: {name}", number)
    assert not wrong, "\n".join(wrong[:20])
    assert 4 * count["stands"] > count["judged again"], count


def ended_at(**ends: int) -> tuple[Comparisons, list[int]]:
    """Ends of logs that note what they are compared with, and their record."""
    facts = [
        Alive(*("c", "g", "p", node, node, 0, 0, None, end, end + 1, None, 0, 0, None), stopped=False, goes_on=True)
        for node, end in ends.items()
    ]
    noted = noted_of(facts)
    return noted, [fact.until for fact in with_ends(facts, noted) if fact.until is not None]


ASKED: Mapping[str, Callable[[int, int], object]] = {
    "a < b": operator.lt,
    "a <= b": operator.le,
    "a > b": operator.gt,
    "a >= b": operator.ge,
    "a == b": operator.eq,
    "a != b": operator.ne,
    "a < 2": lambda a, _: a < 2,
    "2 <= a": lambda a, _: a >= 2,
    "b == 2": lambda _, b: b == 2,
    "which is last": lambda a, b: max([(a, "a"), (b, "b")])[1],
    "a - b, if it is positive": lambda a, b: a - b > 0,
    "whether they are two apart": lambda a, b: abs(a - b) < 2,
    "twice b after a": lambda a, b: b + b - a >= 1,
    "how they lie around 2": lambda a, b: [name for _, name in sorted([(a, "a"), (b, "b"), (2, "2")])],
    "whether a and b differ": lambda a, b: bool(a - b),
    "whether 3 - a is negative": lambda a, _: -a + 3 < 0,
    "in a dictionary": lambda a, b: {a: "a", a + 1: "b"}[a] + str(a + 1 in {a + 1: b}),
}


@pytest.mark.parametrize("question", ASKED)
def test_while_a_record_holds_the_answer_is_the_same(question: str) -> None:
    asked, held, times = ASKED[question], 0, range(5)
    for a, b in product(times, times):
        noted, ends = ended_at(a=a, b=b)
        answer = asked(*ends)
        assert answer == asked(a, b)
        for other_a, other_b in product(times, times):
            if noted.hold({"a": (other_a, other_a + 1), "b": (other_b, other_b + 1)}):
                held += 1
                assert asked(other_a, other_b) == answer, (a, b, other_a, other_b)
    assert held >= 25, "with the same ends at least"


@pytest.mark.parametrize("unknown", [lambda a: a * 2, lambda a: a // 2, str, lambda a: f"{a}", lambda a: a % 2])
def test_what_cannot_be_written_down_voids_the_record(unknown: Callable[[int], object]) -> None:
    noted, [end] = ended_at(a=4)
    assert not noted.void
    unknown(end)
    assert noted.void
    assert not noted.hold({})
    assert Standing.of([], noted).as_text() is None


def test_a_log_with_two_ends_voids_the_record() -> None:
    facts = [
        Alive(*("c", "g", "p", "n", "n", 0, 0, None, end, end, None, 0, 0, None), stopped=False, goes_on=True)
        for end in (3, 4)
    ]
    assert noted_of(facts).void
