"""A fault of this software in one log or one group is said, and stops nothing else."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.model.facts import Fact, ReplayFailed
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.rows import Finding, Row
from election_replay.election_core.protocols.controller.log import BrokerLog
from election_replay.election_core.protocols.log_quality.rules import PROTOCOL as SOURCES
from election_replay.election_core.replay import arrow_passes as replay
from election_replay.election_core.replay import group_judge
from election_replay.election_core.replay.checkpoint import NewRows
from election_replay.election_core.replay.failures import FAULT, failed
from election_replay.election_core.replay.source_fold import SourceLog
from tests.election_core.story import facts_of, facts_of_node, parse

SCENARIOS = Path(__file__).parents[2] / "scenarios"

COLUMNS = {
    "cluster": pa.string(),
    "source_node": pa.string(),
    "stream": pa.string(),
    "fingerprint": pa.string(),
    "clock_bound_ms": pa.int64(),
    "event_time": pa.int64(),
    "time_resolution_ms": pa.int64(),
    "event_id": pa.string(),
    "kind": pa.string(),
}


def batch(*nodes: str) -> pa.RecordBatch:
    """One sign of life of each node."""
    rows = [("c", node, "broker.log", "f", 500, 1_000_000, 1000, f"{node}-1", "TICK") for node in nodes]
    arrays = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), COLUMNS.values(), strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=list(COLUMNS))


def as_batch(facts: list[Fact]) -> pa.RecordBatch:
    """Facts as the judge gets them."""
    names = ["kind", *ReplayFailed.__match_args__]
    return pa.RecordBatch.from_pylist([{name: getattr(fact, name) for name in names} for fact in facts])


def test_one_bad_log_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = SourceLog.seen

    def breaking(self: SourceLog, stream: str, time: int, by: int, event_id: str | None = None, file: str = "") -> None:
        if self.source_node == "bad":
            raise ZeroDivisionError("no such thing")
        whole(self, stream, time, by, event_id, file)

    monkeypatch.setattr(SourceLog, "seen", breaking)
    (fact,) = replay.fold([batch("bad", "good"), batch("good")])
    assert isinstance(fact, ReplayFailed)
    assert (fact.source_node, fact.error) == ("bad", "ZeroDivisionError: no such thing")
    (row,) = replay.judge([as_batch([fact])])
    assert isinstance(row, Finding)
    assert (row.rule, row.nodes) == ("NOT_JUDGED", ("bad",))


BROKEN = (SCENARIOS / "controller" / "cut_off_master_never_rejoins.txt").read_text()
"""A broker set with a split brain that its controllers' protocol tells, and metadata that another one reads."""


def whole() -> list[Fact]:
    """The facts of the story where nothing fails."""
    return facts_of(parse(BROKEN))


def with_a_fault_in(breaks: str) -> list[Fact]:
    """The facts of the story where the controller's machine of a broker raises in ``breaks``."""

    def raising(*_: object) -> None:
        raise ZeroDivisionError("no such thing")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BrokerLog, breaks, raising)
        facts_of_node.cache_clear()
        facts = facts_of(parse(BROKEN))
    facts_of_node.cache_clear()
    return facts


@pytest.mark.parametrize("breaks", ["on", "facts"])
def test_what_fails_in_a_log_is_what_one_protocol_reads_there(breaks: str) -> None:
    found = with_a_fault_in(breaks)
    told = [fact for fact in found if isinstance(fact, ReplayFailed)]
    brokers = {fact.source_node for fact in told}
    assert brokers == {"x", "y", "z"}
    assert {(fact.failed_protocol, fact.error) for fact in told} == {("controller", "ZeroDivisionError: no such thing")}
    assert {fact.replica_group for fact in told} == {"b"}
    assert all(fact.since > 0 for fact in told)
    kept = [fact for fact in whole() if fact.source_node not in brokers or fact.protocol not in ("controller", SOURCES)]
    assert len(kept) > len(told)
    assert {fact for fact in found if fact.protocol not in (FAULT, SOURCES)} == {
        fact for fact in kept if fact.protocol != SOURCES
    }


def test_rules_that_fail_take_no_other_protocol_of_the_group_along(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = [fact for fact in whole() if fact.replica_group == "b"]
    rows = [*group_judge.rows_of_group(facts)]
    others = [row for row in rows if getattr(row, "protocol", None) != "order_lock"]
    locks = [replace(facts[0], protocol="order_lock")]

    def failing(_: list[Fact], __: Clocks) -> Iterator[Row]:
        yield from []
        raise KeyError("x")

    monkeypatch.setitem(group_judge.JUDGES, "order_lock", failing)
    told = [*group_judge.rows_of_group([*facts, *locks])]
    (finding,) = [row for row in told if isinstance(row, Finding) and row.rule == "NOT_JUDGED"]
    assert finding.summary.startswith("The rules of order_lock in the group b could not be judged (KeyError: 'x').")
    assert finding.start_time > 0
    assert [row for row in told if row != finding] == others
    assert any(isinstance(row, Finding) and row.rule == "SPLIT_BRAIN_OVERLAP" for row in told)


def test_what_failed_stays_so_for_the_nights_to_come() -> None:
    """The checkpoint goes on for all other protocols; whatever it keeps, the one that failed is not read again."""
    source = SourceLog("c", "n", 500)
    source.recall_failure("dledger", "KeyError: 'x'")
    said = FoldEvent("e", "broker_default.log", "DL_TO_LEADER", 1_000_000, 2_000_000, node="n1", replica_group="g")
    source.seen(said.stream, said.at, said.by, said.event_id)
    source.on(said)
    facts = [*source.facts()]
    assert not [fact for fact in facts if fact.protocol == "dledger"]
    assert [fact.failed_protocol for fact in facts if isinstance(fact, ReplayFailed)] == ["dledger"]


def test_the_checkpoint_names_the_protocol_that_failed() -> None:
    rows = NewRows()
    rows.failure("c", "n", "KeyError: 'x'", "dledger")
    (kept, *_) = [row for row in rows.batches(None) if isinstance(row, pa.RecordBatch)]
    assert [(row["kind"], row["node"], row["value"]) for row in kept.to_pylist()] == [
        ("FAILED", "dledger", "KeyError: 'x'")
    ]


def test_one_bad_group_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = group_judge.rows_of_group

    def breaking(facts: list[Fact]) -> object:
        if isinstance(facts[0], ReplayFailed) and facts[0].error == "break":
            raise KeyError("x")
        return whole(facts)

    monkeypatch.setattr(group_judge, "rows_of_group", breaking)
    facts: list[Fact] = [failed("c", group, "n", error) for group, error in (("a", "break"), ("b", "E: plain"))]
    rows = list(replay.judge([as_batch(facts)]))
    assert [(row.replica_group, row.rule) for row in rows if isinstance(row, Finding)] == [
        ("a", "NOT_JUDGED"),
        ("b", "NOT_JUDGED"),
    ]
