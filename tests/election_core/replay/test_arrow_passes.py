"""Events in batches of Arrow are folded as they stand in the log, however they are cut, each source for itself."""

from collections import Counter
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

from benchmarks.in_process import events_of, verdicts
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.replay.arrow_passes import fold

RUN = Path(__file__).parents[3] / "examples" / "landing" / "old-copy-497"


@cache
def events() -> pa.Table:
    return events_of(RUN)


def facts(rows: int) -> list[Fact]:
    return [fact for fact in fold(events().to_batches(max_chunksize=rows)) if isinstance(fact, Fact)]


@pytest.mark.parametrize("rows", [3, 100])
def test_where_batches_end_changes_nothing(rows: int) -> None:
    assert Counter(map(repr, facts(rows))) == Counter(map(repr, facts(100_000)))


def test_each_source_tells_of_itself() -> None:
    assert {fact.source_node for fact in facts(100)} >= {"n0", "n1", "n2"}
    kinds = Counter(type(fact).__name__ for fact in facts(100))
    assert kinds["Role"] > 30
    assert kinds["SettingPrinted"] > 10


def test_lines_of_all_kinds_that_rules_read_come_to_the_fold() -> None:
    rules = {row.rule for row in verdicts(events()) if isinstance(row, Finding)}
    assert {"SPLIT_BRAIN_SAME_TERM", "SPLIT_BRAIN_OVERLAP", "DOUBLE_VOTE", "TERM_REGRESSION"} <= rules
