"""What the core says of a world can be published: its rows pass the gates, so that no cluster is held back."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from election_replay.election_core.fold.process_runs import Incarnation
from election_replay.election_core.fold.roles import CANDIDATE, DOWN, LEADER, Step, spans
from election_replay.election_core.model.rows import TABLE_OF
from election_replay.election_core.model.timing import SECOND
from election_replay.election_core.simulate.catalogue import SCENARIOS
from election_replay.election_core.simulate.judged import rows_of
from election_replay.election_core.simulate.scenario import played
from election_replay.jobs.gates.checks import expectations_of
from election_replay.schemas import TABLES
from tests.proving import amount

FEW = ("raft-restart-all", "raft-any-faults-lost-lines", "zab-old-copies")


def held(names: Iterable[str], seed: int) -> Iterator[tuple[str, str, object]]:
    """The critical expectations that worlds break, and of which; proofs are looked for where events are landed.

    The run names itself in its rows where it writes them.
    """
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for name in names:
        for row in rows_of(played(SCENARIOS[name], seed), name):
            rows[TABLE_OF[type(row)]].append(asdict(row) | {"run_id": "a run"})
    assert rows["role_intervals"]
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        for name, table in TABLES.items():
            database.register(name, pa.Table.from_pylist(rows[name], table.arrow_schema()))
        for table_name in TABLE_OF.values():
            for one in expectations_of(table_name):
                if one.severity == "critical" and one.name != "proofs_exist":
                    broken = database.sql(one.failing).project("cluster").distinct().order("cluster").fetchall()
                    yield from ((table_name, one.name, cluster) for (cluster,) in broken)


def test_rows_of_some_worlds_pass_the_gates() -> None:
    assert list(held(FEW, 1)) == []


@pytest.mark.slow
def test_rows_of_worlds_of_all_protocols_pass_the_gates() -> None:
    assert list(held(islice(SCENARIOS, 0, None, amount(6, 1)), 1)) == []


def step(at_us: int, role: str, by_us: int | None = None) -> Step:
    return Step(at_us, at_us + SECOND if by_us is None else by_us, role, 1, None, None)


def life(**of: int | None) -> Incarnation:
    whole: dict[str, Any] = {
        **dict.fromkeys(("start", "start_event", "stop", "stop_event", "next_start", "next_start_event")),
        "first_seen": 0,
        "last_seen": 0,
        "first_by": 0,
        "last_by": 0,
        "silences": (),
    }
    return Incarnation(**(whole | of))


def test_a_process_is_down_after_its_last_role_within_one_second() -> None:
    """The last line is known by its second, the role by its millisecond."""
    steps = [step(4_234_000, LEADER, 4_235_000)]
    found = list(spans(steps, [life(last_seen=4 * SECOND, next_start=9 * SECOND, ended_by=9 * SECOND)], CANDIDATE))
    assert [(one.step.role, one.step.at, one.until) for one in found] == [
        (LEADER, 4_234_000, 4_234_000),
        (DOWN, 4_234_000, 9 * SECOND),
    ]


def test_roles_follow_one_another_where_lines_stand_out_of_order() -> None:
    """Whole seconds of several threads, or files that were rolled within one second."""
    steps = [step(0, LEADER), step(SECOND, CANDIDATE), step(0, LEADER), step(2 * SECOND, CANDIDATE)]
    found = list(spans(steps, [life(last_seen=5 * SECOND)], CANDIDATE))
    assert [(one.step.at, one.until) for one in found] == [
        (0, SECOND),
        (SECOND, SECOND),
        (SECOND, 2 * SECOND),
        (2 * SECOND, None),
    ]


def test_a_role_that_comes_later_in_the_log_begins_later() -> None:
    steps = [step(100 * SECOND, LEADER), step(40 * SECOND, CANDIDATE)]
    found = list(spans(steps, [life(last_seen=100 * SECOND)], CANDIDATE))
    assert [one.step.at for one in found] == [100 * SECOND, 100 * SECOND]
