"""Lines that are passed over change neither a fact nor a checkpoint, and most lines of a quiet log are passed over."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.in_process import events_of, ordered
from election_replay.election_core.dialects import tick
from election_replay.election_core.fold import process_runs
from election_replay.election_core.model.events import Event
from election_replay.election_core.replay import prefilter
from election_replay.election_core.replay.arrow_passes import CHECKPOINT_COLUMNS, fold
from election_replay.election_core.replay.checkpoint import FROM_CHECKPOINT, SourceEnds
from election_replay.election_core.replay.prefilter import pass_over
from election_replay.election_core.replay.source_fold import INTERESTING
from election_replay.schemas import TABLES
from tests.proving import amount

EXAMPLES = Path(__file__).parents[3] / "examples" / "landing"
EVENTS, STATES = TABLES["events"].arrow_schema(), TABLES["fold_checkpoints"].arrow_schema()
BEGAN = 1_800_000_000_000_000
SECOND = 1_000_000


@cache
def events(run: str) -> pa.Table:
    return events_of(EXAMPLES / run)


def told(rows: pa.Table, size: int) -> Counter[str]:
    """All that a fold tells of new events and, where rows have the columns of one, of a checkpoint."""
    found: Counter[str] = Counter()
    for output in fold(rows.to_batches(max_chunksize=size)):
        if isinstance(output, SourceEnds):
            found.update(f"ends {row}" for row in in_checkpoint(output.rows))
        elif isinstance(output, pa.RecordBatch):
            found.update(f"kept {row}" for row in in_checkpoint(output))
        else:
            found.update([repr(output)])
    return found


def in_checkpoint(rows: pa.RecordBatch) -> list[dict[str, Any]]:
    """The rows of a checkpoint, in the columns of one; times as numbers."""
    times = {"event_time", "until", "until_by"}
    plain = {
        name: rows.column(name).cast(pa.int64()) if name in times else rows.column(name)
        for name in CHECKPOINT_COLUMNS
        if name in rows.schema.names
    }
    return [
        {name: value for name, value in row.items() if value is not None}
        for row in pa.RecordBatch.from_arrays([*plain.values()], names=[*plain]).to_pylist()
    ]


def as_new(rows: pa.Table) -> pa.Table:
    """Events of which a fold keeps a checkpoint."""
    for name in ("until", "until_by", "until_event"):
        rows = rows.append_column(name, pa.nulls(rows.num_rows, STATES.field(name).type))
    return rows.append_column(FROM_CHECKPOINT, pa.array([False] * rows.num_rows, pa.bool_()))


def read_all(batch: pa.RecordBatch, _: int | None) -> np.ndarray[Any, Any]:
    """No row is passed over."""
    return np.zeros(batch.num_rows, bool)


def assert_nothing_changes(rows: pa.Table, size: int, patch: pytest.MonkeyPatch) -> None:
    """The fold of ``rows`` in batches of this size tells what a fold tells that reads every row."""
    with patch.context() as patched:
        patched.setattr(process_runs, "MANY", 1)
        ours = told(rows, size)
        patched.setattr(prefilter, "_skipped", read_all)
        assert ours == told(rows, size)


RUNS = sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir())
IN_SMALL_BATCHES = amount(["old-copy-497"], RUNS)


@pytest.mark.parametrize(("run", "size"), [*product(RUNS, [100_000]), *product(IN_SMALL_BATCHES, [7])])
def test_real_logs_tell_the_same(run: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_nothing_changes(as_new(events(run)), size, monkeypatch)


def quiet(count: int, **every: Any) -> list[Event]:
    """Signs of life and status lines in turns, three seconds apart."""
    status = {"kind": "DL_STATUS", "node": "n0", "replica_group": "G", "role": "LEADER", "term": 3, "committed": 9}
    return [
        Event(event_time=BEGAN + number * 3 * SECOND, time_resolution_ms=1, **{**status, **every})
        if number % 2
        else tick(BEGAN + number * 3 * SECOND, 1)
        for number in range(count)
    ]


def as_events(said: list[Event], stream: str = "broker_default.log") -> pa.Table:
    """Events of one file, line by line."""
    rows = [
        {name: getattr(event, name, None) for name in EVENTS.names}
        | {"cluster": "c", "source_node": "n0", "stream": stream, "fingerprint": stream, "line_no": number}
        | {"event_id": f"{stream}-{number:05}", "source_file": stream, "clock_bound_ms": 500, "batch": 1}
        for number, event in enumerate(said, 1)
    ]
    columns = [pa.array([row[field.name] for row in rows], field.type) for field in EVENTS]
    return ordered(pa.Table.from_arrays(columns, schema=EVENTS))


def test_most_lines_of_a_quiet_log_are_passed_over() -> None:
    [batch] = as_events(quiet(1000)).to_batches()
    parted = pass_over(batch, None)
    assert parted.read.num_rows < 10
    assert parted.read.num_rows + len(parted.signs.event_ids) == 1000


@pytest.mark.parametrize("name", ["clock_bound_ms", "time_resolution_ms"])
def test_a_line_by_a_clock_that_is_worth_less_is_read(name: str) -> None:
    [batch] = as_events(quiet(1000)).to_batches()
    values = [2000 if number == 700 else 1 for number in range(1000)]
    column = batch.schema.get_field_index(name)
    batch = batch.set_column(column, batch.schema.field(name), pa.array(values, batch.schema.field(name).type))
    assert 2000 in pass_over(batch, None).read.column(name).to_pylist()


def test_nothing_is_passed_over_in_an_empty_batch() -> None:
    [batch] = as_events(quiet(4)).to_batches()
    assert pass_over(batch.slice(0, 0), None).before == []


@pytest.mark.parametrize("size", range(2, 9))
def test_what_a_kind_says_first_in_a_batch_may_end_the_runs_of_others(size: int) -> None:
    """The last line of each other kind is kept then."""
    of = {"node": "n0", "replica_group": "G", "role": "LEADER", "time_resolution_ms": 1}
    said = [("DL_STATUS", 3), *[("DL_RPC_HB_SEND_ERR", 3)] * 4, ("DL_STATUS", 4), *[("DL_RPC_HB_SEND_ERR", 3)] * 4]
    events = [
        Event(kind=kind, term=term, event_time=BEGAN + number * 3 * SECOND, **of)
        for number, (kind, term) in enumerate(said)
    ]
    assert_nothing_changes(as_new(as_events(events)), size, pytest.MonkeyPatch())


def test_a_member_that_says_nothing_of_interest_is_none_of_several() -> None:
    """It has no log of its own, though its lines are passed over among those of two others."""
    assert "DL_SIGN" not in INTERESTING
    said = [event for node in ("n0", "n1", "n0", "n1") for event in quiet(40, node=node)]
    times = range(BEGAN, BEGAN + len(said) * 3 * SECOND, 3 * SECOND)
    said = [replace(event, event_time=time) for event, time in zip(said, times, strict=True)]
    said[100:120] = [replace(event, kind="DL_SIGN", node="n2") for event in said[100:120]]
    assert_nothing_changes(as_new(as_events(said)), 1000, pytest.MonkeyPatch())
    assert "KeyError" not in str(told(as_new(as_events(said)), 1000))


def test_a_periodic_line_that_comes_late_begins_no_run() -> None:
    """The lines behind it are the first of theirs, though it says the same."""
    seconds = [*range(0, 90, 3), 86.7, 131.7, 134.7, 137.7, 140.7]
    [tick_of, status] = quiet(2)
    kinds = [tick_of] * 30 + [status, status, status, tick_of, status]
    said = [replace(kind, event_time=BEGAN + round(at * SECOND)) for kind, at in zip(kinds, seconds, strict=True)]
    for size in (5, 1000):
        assert_nothing_changes(as_new(as_events(said)), size, pytest.MonkeyPatch())


@pytest.mark.parametrize("size", [3, 1000])
def test_lines_that_are_passed_over_show_that_a_log_went_on(size: int) -> None:
    """Three lower lines are a step of the clock in a log that had lines since, whether they were read or not."""
    said = [tick(BEGAN + at * SECOND, 1) for at in (3, 6, 9, 1, 2, 2, 47, 50)]
    assert_nothing_changes(as_new(as_events(said)), size, pytest.MonkeyPatch())


@st.composite
def disturbed(draw: st.DrawFn) -> list[Event]:
    """A quiet log with steps of its clock, silences, other roles, terms and names, counts that grow, starts."""
    said: list[Event] = []
    time, committed = BEGAN, 5
    of = {"node": "n0", "replica_group": "G", "role": "LEADER", "term": 3}
    for _ in range(draw(st.integers(1, 60))):
        step = draw(st.sampled_from((3_000, 3_000, 3_000, 1_000, 0, 45_000, 400_000, -300, -20_000)))
        time += step * 1_000
        kinds = ("tick", "tick", "status", "status", "status", "error", "start", "role", "other", "aside")
        what = draw(st.sampled_from(kinds))
        if what == "tick":
            said.append(tick(time, 1))
            continue
        if what == "aside":
            node = draw(st.sampled_from(("n0", "n1", "n2")))
            said.append(Event(kind="DL_SIGN", event_time=time, time_resolution_ms=1, node=node))
            continue
        if what == "other":
            name = draw(st.sampled_from(("term", "role", "node")))
            of |= {
                name: draw(
                    st.sampled_from({"term": (3, 4), "role": ("LEADER", "FOLLOWER"), "node": ("n0", "n1")}[name])
                )
            }
        committed += draw(st.sampled_from((0, 0, 1, -1)))
        kind = {"error": "DL_RPC_HB_SEND_ERR", "start": "DL_LISTEN", "role": "DL_TO_LEADER"}.get(what, "DL_STATUS")
        count = {"committed": committed} if kind == "DL_STATUS" and draw(st.booleans()) else {}
        width = draw(st.sampled_from((1, 1, 1, 1000)))
        said.append(Event(kind=kind, event_time=time, time_resolution_ms=width, **of, **count))
    return said


@settings(max_examples=amount(25, 2000), deadline=None)
@given(first=disturbed(), second=disturbed(), size=st.sampled_from((1, 2, 5, 1000)))
def test_disturbed_logs_tell_the_same(first: list[Event], second: list[Event], size: int) -> None:
    """Two files of one broker, whose times lie among each other."""
    rows = pa.concat_tables([as_events(first), as_events(second, "store.log")]).combine_chunks()
    assert_nothing_changes(as_new(rows), size, pytest.MonkeyPatch())
