"""Times: one table for all; a group has what its logs print, else what the settings say, else the default."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from election_replay.election_core.judge.timing import timing_of
from election_replay.election_core.model.facts import Fact, SettingPrinted, TimeoutConfigured
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import (
    CONFIGURED,
    DEFAULT,
    PRINTED,
    USED_BY,
    Timeout,
    Timing,
    TimingRule,
    in_force,
)
from election_replay.election_core.replay.source_fold import INTERESTING, SourceLog
from election_replay.jobs.showing import timing_page

ROOT = Path(__file__).parents[3]
ROOMS = ("fold", "judge", "protocols", "replay")


def bare_times(tree: ast.AST) -> Iterator[int]:
    """Lines with a time that stands there as a number."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.LShift) and _is_bare(node.left, node.right):
            yield node.lineno
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, (ast.Add, ast.Sub))
            and _is_second(node.left, node.right)
        ):
            yield node.lineno
        if isinstance(node, ast.Compare) and any(
            _large(one) or _is_second(one) for one in (node.left, *node.comparators)
        ):
            yield node.lineno
        if isinstance(node, ast.Assign) and any(_is_time(target) for target in node.targets) and _number(node.value):
            yield node.lineno


def _is_bare(left: ast.expr, right: ast.expr) -> bool:
    named = {node.id for node in (left, right) if isinstance(node, ast.Name)}
    numbers = [node for node in (left, right) if _number(node)]
    return bool("SECOND" in named and numbers) or len(numbers) > 1 or any(map(_large, numbers))


def _is_second(*nodes: ast.expr) -> bool:
    """A second as a width or a limit: how exactly a line tells its time, the line says, and limits are in the table."""
    plain = [node.operand if isinstance(node, ast.UnaryOp) else node for node in nodes]
    return any(isinstance(node, ast.Name) and node.id == "SECOND" for node in plain)


def _number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _large(node: ast.expr) -> bool:
    """More than the 1000 that makes microseconds of milliseconds."""
    return _number(node) and isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value > 1000


def _is_time(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id.endswith(("_MS", "_US", "_S"))


@pytest.mark.parametrize(
    ("line", "bare"),
    [
        ("POLL = 5 * SECOND", True),
        ("if lasted > POLL + 3 * SECOND: pass", True),
        ("TIMEOUT_MS = 10_000", True),
        ("if event.at - at > 1_000_000: pass", True),
        ("late = at + 2_000_000", True),
        ("life = 60 * 1000", True),
        ("us = fact.bound_ms * 1000", False),
        ("second = at // SECOND", False),
        ("end = at + SECOND", True),
        ("if least >= SECOND: pass", True),
        ("if least > -SECOND: pass", True),
        ("us = (minutes * 60 + seconds) * SECOND + fraction", False),
        ("late = 2 * timing.us(Timeout.BRIEF)", False),
        ("CODE = 2004", False),
    ],
)
def test_a_bare_time_is_seen(line: str, bare: bool) -> None:
    assert bool(list(bare_times(ast.parse(line)))) == bare


def test_no_rule_counts_with_a_time_of_its_own() -> None:
    files = [path for room in ROOMS for path in (ROOT / "election_core" / room).rglob("*.py")]
    found = {
        str(path.relative_to(ROOT / "election_core")): lines
        for path in files
        if (lines := sorted(set(bare_times(ast.parse(path.read_text(encoding="utf-8"))))))
    }
    assert found == {}


def test_a_time_that_clusters_change_is_asked_of_the_group() -> None:
    """``Timeout.X.us`` is the default; what a group has, its :class:`Timing` says."""
    for path in (path for room in ROOMS for path in (ROOT / "election_core" / room).rglob("*.py")):
        by_default = re.findall(r"Timeout\.([A-Z_]+)\.us\b", path.read_text(encoding="utf-8"))
        assert not [name for name in by_default if Timeout[name].settable], path


def test_each_time_of_the_table_is_counted_with() -> None:
    texts = [
        path.read_text(encoding="utf-8") for room in ROOMS for path in (ROOT / "election_core" / room).rglob("*.py")
    ]
    named = set(re.findall(r"Timeout\.([A-Z_]+)", " ".join(texts)))
    assert {timeout.name for timeout in Timeout if not timeout.settable} <= named


def test_the_page_is_up_to_date() -> None:
    assert timing_page.PAGE.read_text(encoding="utf-8") == timing_page.page(), (
        "run python -m election_replay.jobs.showing.timing_page"
    )


def test_each_time_that_a_cluster_changes_is_shown_for_a_protocol() -> None:
    shown = {timeout for timeouts in USED_BY.values() for timeout in timeouts}
    assert shown == {timeout for timeout in Timeout if timeout.settable}


def test_defaults_of_factors_give_the_default() -> None:
    for timeout in Timeout:
        entry = timeout.value
        if entry.unprinted:
            assert len(entry.unprinted) == len(entry.settings)
            one = {"n1": {entry.settings[-1]: frozenset({entry.unprinted[-1]})}}
            assert Timing(one).us(timeout) == timeout.us


def printed(**by_source: Mapping[str, int]) -> Timing:
    return Timing({source: {k: frozenset({v}) for k, v in values.items()} for source, values in by_source.items()})


def test_members_differ_and_the_rule_takes_a_side() -> None:
    timing = printed(b1={"syncBrokerMetadataPeriod": 30_000}, b2={"syncBrokerMetadataPeriod": 5_000}, b3={})
    poll = Timeout.CONTROLLER_POLL
    assert timing.us(poll) == 30_000_000
    assert timing.shortest_us(poll) == 5_000_000
    assert timing.us(poll, "b2") == 5_000_000
    assert timing.us(poll, "b3") == 30_000_000, "what a member does not print may be what any other one has"
    assert timing.us(poll, "ctl-1") == 30_000_000


def test_a_limit_in_ticks_is_a_product() -> None:
    limit = Timeout.ZK_SYNC_LIMIT
    assert printed(zk1={"tickTime": 500, "syncLimit": 4}).us(limit) == 2_000_000
    assert printed(zk1={"tickTime": 500}).us(limit) == 2_500_000, "releases that do not print syncLimit"
    assert printed(zk1={}).us(limit) == 10_000_000


def test_what_is_printed_comes_before_what_is_configured_and_that_before_the_default() -> None:
    poll, life = Timeout.CONTROLLER_POLL, Timeout.LOCK_LIFE
    timing = Timing({"b1": {"syncBrokerMetadataPeriod": frozenset({7_000})}}, {poll: 9_000, life: 120_000})
    assert (timing.us(poll), timing.origin(poll)) == (7_000_000, PRINTED)
    assert (timing.us(life), timing.origin(life)) == (120_000_000, CONFIGURED)
    assert (timing.us(Timeout.CONTROLLER_SCAN), timing.origin(Timeout.CONTROLLER_SCAN)) == (5_000_000, DEFAULT)
    assert [one.origin for one in in_force(timing, "order_lock")] == [CONFIGURED, DEFAULT]


def setting(name: str, value: str, at: int, kind: str = "CFG_ITEM") -> FoldEvent:
    return FoldEvent(f"{name}@{at}", "broker.log", kind, at, at + 1_000_000, setting=name, value=value)


def facts_of(events: list[FoldEvent], *rules: TimingRule) -> list[Fact]:
    source = SourceLog("c1", "b1", 500, timing_rules=rules)
    boot = FoldEvent("boot", "broker.log", "BRK_MASTER_BEGIN", 5_000_000, 6_000_000, replica_group="broker-a", term=1)
    for event in (*events, boot):
        source.seen(event.stream, event.at, event.by, event.event_id)
        source.on(event)
    return list(source.facts())


def test_a_source_tells_its_settings_to_each_group_it_speaks_of() -> None:
    events = [setting("syncBrokerMetadataPeriod", text, at) for at, text in enumerate(("30000", "30000", "5000"))]
    own = [fact for fact in facts_of(events) if isinstance(fact, SettingPrinted)]
    assert {(fact.name, fact.value, fact.since_event) for fact in own} == {
        ("syncBrokerMetadataPeriod", 30_000, "syncBrokerMetadataPeriod@0"),
        ("syncBrokerMetadataPeriod", 5_000, "syncBrokerMetadataPeriod@2"),
    }
    assert {fact.replica_group for fact in own} == {"broker-a"}
    assert timing_of(own).us(Timeout.CONTROLLER_POLL) == 30_000_000


@pytest.mark.parametrize("text", ["", "0", "-1", "soon", "1e9", "٣", "9" * 4000])
def test_what_is_no_time_is_passed_over(text: str) -> None:
    assert not [f for f in facts_of([setting("syncBrokerMetadataPeriod", text, 0)]) if isinstance(f, SettingPrinted)]


def test_a_time_beyond_a_day_is_a_day() -> None:
    [fact] = [f for f in facts_of([setting("syncBrokerMetadataPeriod", "9" * 18, 0)]) if isinstance(f, SettingPrinted)]
    assert fact.value == 86_400_000


def test_what_the_settings_of_the_pipeline_say_is_a_fact_about_the_groups_that_fit() -> None:
    rules = (
        TimingRule("*", "*", ((Timeout.LOCK_LIFE, 90_000),)),
        TimingRule("c1", "broker-*", ((Timeout.LOCK_LIFE, 120_000),)),
        TimingRule("c2", "*", ((Timeout.LOCK_LIFE, 1),)),
    )
    own = [fact for fact in facts_of([], *rules) if isinstance(fact, TimeoutConfigured)]
    assert {(fact.name, fact.value) for fact in own} == {("LOCK_LIFE", 120_000)}
    assert timing_of(own).origin(Timeout.LOCK_LIFE) == CONFIGURED


def test_lines_that_print_settings_are_kept_for_later_nights() -> None:
    """A setting counts in every night after the start that prints it."""
    assert {"CFG_ITEM", "CFG_REPLACE", "ZK_SETTING", "ETCD_BOOT", "ETCD_ELECTION_TIMEOUT"} <= INTERESTING
