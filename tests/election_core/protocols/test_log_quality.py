"""What logs are worth: steps of a clock against lines out of order, and whom a folder speaks for."""

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from election_replay.election_core.fold.program_order import ClockStep, FileClock, ProgramOrder
from election_replay.election_core.judge.clock import Clocks, Message, Moment, Step
from election_replay.election_core.judge.printed_times import stepped
from election_replay.election_core.model.facts import ClockSteppedBack, Fact
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import SECOND, US_PER_MS
from election_replay.election_core.replay.source_fold import SourceLog
from tests.election_core import story


def steps(seconds: list[float]) -> list[ClockStep]:
    clock = FileClock()
    found = (
        clock.seen(round(at * SECOND), round((at + 1) * SECOND), f"e{number}", "x.log")
        for number, at in enumerate(seconds)
    )
    return [step for _, step in filter(None, found)]


@pytest.mark.parametrize("seed", range(20))
def test_lines_out_of_order_are_no_step(seed: int) -> None:
    """Whole seconds, threads that are up to two seconds late, and old lines of threads that were frozen."""
    chance = random.Random(seed)
    times: list[float] = []
    at = 1000.0
    for _ in range(300):
        at += chance.choice([0, 0, 0.3, 1, 5, 60])
        times.append(int(at - chance.choice([0, 0, 0, 1, 1.9])))
        if chance.random() < 0.05:
            asleep = at
            at += chance.randint(5, 90)
            times += [int(at), *[int(asleep - chance.random())] * chance.randint(1, 6), int(at)]
    assert steps(times) == []


@pytest.mark.parametrize("size", [12, 30, 3600, 86400])
@pytest.mark.parametrize("every", [0.5, 1, 2])
def test_a_clock_that_is_put_back_is_noticed_with_both_lines(size: int, every: float) -> None:
    before = [1000 + every * n for n in range(50)]
    after = [before[-1] + every - size + every * n for n in range(50)]
    (step,) = steps(before + after)
    assert step.size == round((size - every + 1) * SECOND) + US_PER_MS, "what follows comes after the last stamp ends"
    assert (step.before, step.event_id) == ("e49", "e50")


def test_two_steps_are_two() -> None:
    times = [*range(100, 200), *range(150, 250), *range(50, 150)]
    assert [step.size // SECOND for step in steps(list(times))] == [50, 200]


@pytest.mark.parametrize(("thawed_for", "found"), [(0, []), (3, []), (9, [59])])
def test_a_burst_from_before_lines_of_several_moments_is_a_step(thawed_for: int, found: list[int]) -> None:
    """A broker is silent after it was set back: its status line comes every three seconds of its clock. Old lines of
    threads that were frozen come with the first ones after that."""
    times = [*range(100, 131, 3), *range(180, 181 + thawed_for, 3)]
    assert [step.size // SECOND for step in steps([*times, 131, 131, 132, times[-1] + 3, times[-1] + 6])] == found


@pytest.mark.parametrize(("lines", "behind"), [(1, (0, 1)), (2, (0, 1)), (3, (1, 1)), (9, (1, 1))])
def test_a_burst_that_is_too_short_to_be_a_step_lies_behind_the_one_of_another_file(
    lines: int, behind: tuple[int, int]
) -> None:
    """All in one second, and the next line comes after those before the step: the file alone shows none."""
    order = ProgramOrder()
    written = {"broker.log": [*range(100, 107), *range(72, 100, 3)], "store.log": [104, *[89] * lines, 106]}
    places: dict[str, list[int]] = {}
    for stream, seconds in written.items():
        for at in seconds:
            places.setdefault(stream, []).append(order.place)
            order.seen(stream, "1", at * SECOND, (at + 1) * SECOND, "e", order.place)
            order.waiting.append(at)
    order.settle()
    assert len(order.timeline.steps) == 1
    assert order.behind(1, places["store.log"][0], 104 * SECOND)[0] == 0
    assert order.behind(1, places["store.log"][1], 89 * SECOND) == behind
    assert order.behind(1, places["store.log"][-1], 106 * SECOND)[0] == behind[0]


def test_one_name_in_groups_that_nobody_named_is_no_contradiction() -> None:
    """Two DLedger groups, each with an n0, and no line that says which is which: they are judged as one by mistake."""
    logs = {}
    for begin, folder in enumerate(("host-a", "host-b"), 1):
        log = [f"2026-03-01 10:00:0{begin} INFO main - listen the port: 40911"]
        log += [
            f"2026-03-01 10:{at // 60:02}:{at % 60:02} INFO QuorumAckChecker-n0 - [n0][FOLLOWER] term={begin} "
            "ledgerBegin=0 ledgerEnd=1 committed=1 watermarks={}"
            for at in range(5 + begin, 120, 3)
        ]
        logs[folder, "broker_default.log"] = log
    told = story.facts_of(logs)
    assert "IDENTITY_CONTRADICTION" not in {row.rule for row in story.judge(told) if isinstance(row, Finding)}
    assert {fact.replica_group for fact in told} == {"unidentified"}


@pytest.mark.parametrize("run", ["kill-leader-533", "healthy-497", "isolate-leader-497"])
def test_a_real_clock_that_is_put_back_is_named_and_raises_no_other_alarm(corpora: Path, run: str) -> None:
    """From the middle of a real run on, one machine writes its lines under times that are 40 s too early."""
    path = corpora / "rocketmq-dledger" / run
    expected = {claim for claim in alarms(story.run_facts(path)) if claim[0] != "CLOCK_SKEW"}
    lines = story.run_lines(path)["n1"]
    middle = sorted(line.time for line in lines)[len(lines) // 2]
    source = SourceLog(run, "n1", story.BOUND_MS)
    for number, line in enumerate(lines):
        back = 40 * SECOND if line.time >= middle else 0
        source.seen(line.stream, line.time - back, line.by - back, f"{line.stream}:{number}")
        if line.event is not None:
            source.on(replace(line.event, at=line.event.at - back, by=line.event.by - back))
    others = [fact for fact in story.run_facts(path) if fact.source_node != "n1"]
    found = alarms([*others, *source.facts()])
    assert ("CLOCK_SKEW", ("n1",)) in {claim[:2] for claim in found}
    assert {claim for claim in found if claim[0] != "CLOCK_SKEW"} <= expected


def test_a_burst_in_another_file_begins_no_log_of_a_member() -> None:
    order = ProgramOrder()
    written = {"broker.log": [*range(100, 107), *range(72, 100, 3)], "store.log": [104, *[89] * 3, 106]}
    for stream, seconds in written.items():
        for at in seconds:
            order.seen(stream, "1", at * SECOND, (at + 1) * SECOND, "e", order.place)
            order.waiting.append(at)
    order.settle(lambda: {0: [(0, "n0"), (7, "n1")]})
    assert (order.joined, [step.joined for step in order.timeline.steps]) == ({"broker.log"}, [True])
    assert [order.member_at(0, place) for place in (6, 7)] == ["n0", "n1"]
    assert order.member_at(1, order.place - 1) is None


@pytest.mark.parametrize(
    "run", ["etcd/isolate-leader-34", "zookeeper/kill-leader-384", "rocketmq-dledger/old-copy-497"]
)
def test_logs_of_members_that_stand_one_behind_the_other_are_read_apart(corpora: Path, run: str) -> None:
    """No clock was put back, and no vote was cast twice: other members wrote the lines with the earlier times."""
    lines = [line for of_node in story.run_lines(corpora / run).values() for line in of_node]
    source = SourceLog("c", "all", story.BOUND_MS)
    for number, line in enumerate(sorted(lines, key=lambda line: line.stream)):
        stream = line.stream.replace("-zk1", "").replace("-zk2", "").replace("-zk3", "")
        source.seen(stream, line.time, line.by, f"{stream}:{number}")
        if line.event is not None:
            source.on(replace(line.event, stream=stream))
    found = {(rule, terms) for rule, _, terms in alarms(source.facts())}
    expected = {(rule, terms) for rule, _, terms in alarms(story.run_facts(corpora / run))}
    assert ("IDENTITY_CONTRADICTION", ()) in found
    assert found - {("IDENTITY_CONTRADICTION", ())} == expected


def alarms(facts: Iterable[Fact]) -> set[tuple[str, tuple[str, ...], tuple[int, ...]]]:
    """Findings above info."""
    rows = (row for row in story.judge(facts) if isinstance(row, Finding) and row.severity != "info")
    return {(row.rule, row.nodes, row.terms) for row in rows}


def moment(at: int, source: str) -> Moment:
    return Moment(at * SECOND, at * SECOND, source)


def test_a_clock_that_was_put_back_blames_nobody_else() -> None:
    """Without the lines that show the step, one of two clocks is wrong; with them it is known which, and where."""
    bounds = {"a": SECOND, "b": SECOND, "c": SECOND}
    messages = [Message(moment(100, "a"), moment(50, "b")), Message(moment(50, "b"), moment(51, "c"))]
    assert {wrong.source for wrong in Clocks(bounds, messages).wrong} == {"a"}
    clocks = Clocks(bounds, messages, [Step("a", 110 * SECOND, 60 * SECOND + 1, 60 * SECOND)])
    assert [(wrong.source, wrong.set_by) for wrong in clocks.wrong] == [("a", (-60 * SECOND,))]
    assert clocks.most_ahead("b", "c") <= 2 * SECOND
    assert clocks.elapsed(moment(10, "a"), moment(20, "a")) == (10 * SECOND, 10 * SECOND)
    assert clocks.elapsed(moment(200, "a"), moment(210, "a")) == (10 * SECOND, 10 * SECOND)
    assert clocks.elapsed(moment(200, "a"), moment(10, "a"))[1] <= 0, "what lies before the step came first"


def test_a_step_is_as_large_as_the_lines_show() -> None:
    path = Path(__file__).parents[2] / "scenarios" / "log_quality" / "clock_put_back.txt"
    facts = story.facts_of(story.parse(path.read_text()))
    shown = {(fact.since - 1, fact.back_ms * US_PER_MS) for fact in facts if isinstance(fact, ClockSteppedBack)}
    assert shown
    assert {(step.at, step.ahead) for step in stepped(facts)} == shown
    assert all(step.ahead - step.size == 2 * SECOND + US_PER_MS for step in stepped(facts)), "so wide are two stamps"


@pytest.mark.parametrize("seed", range(20))
def test_a_step_is_no_less_than_its_least(seed: int) -> None:
    """Whole seconds: how far a clock went back is between what the stamps on both sides allow."""
    chance = random.Random(seed)
    at, back = 1000 + chance.random(), chance.uniform(10, 60)
    [step] = steps([int(at - 1), int(at), *(int(at - back + later) for later in range(5))])
    assert step.least <= back * SECOND < step.least + 2 * SECOND
