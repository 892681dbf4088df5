"""A fault of this software in one log or one group is said, and stops nothing else."""

import pyarrow as pa
import pytest

from election_replay.election_core.model.facts import Fact, ReplayFailed
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.replay import arrow_passes as replay
from election_replay.election_core.replay import group_judge
from election_replay.election_core.replay.source_fold import SourceLog

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


def test_one_bad_group_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = group_judge.rows_of_group

    def breaking(facts: list[Fact]) -> object:
        if isinstance(facts[0], ReplayFailed) and facts[0].error == "break":
            raise KeyError("x")
        return whole(facts)

    monkeypatch.setattr(group_judge, "rows_of_group", breaking)
    facts: list[Fact] = [
        group_judge.failed("c", group, "n", error) for group, error in (("a", "break"), ("b", "E: plain"))
    ]
    rows = list(replay.judge([as_batch(facts)]))
    assert [(row.replica_group, row.rule) for row in rows if isinstance(row, Finding)] == [
        ("a", "NOT_JUDGED"),
        ("b", "NOT_JUDGED"),
    ]
