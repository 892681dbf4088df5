"""A fold and a judge are told the same without the columns of which no row has a value."""

from pathlib import Path

import pyarrow as pa
import pytest

from benchmarks.in_process import events_of
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.replay.arrow_passes import NEEDED_COLUMNS, fold, judge
from election_replay.election_core.replay.checkpoint import FROM_CHECKPOINT
from election_replay.election_core.replay.fact_rows import rows_of
from election_replay.schemas import TABLES
from tests.election_core.replay.test_prefilter import as_new, told

EXAMPLES = Path(__file__).parents[3] / "examples" / "landing"
FACTS = TABLES["facts"]
RUNS = sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir())


def without_null_columns(rows: pa.Table, needed: tuple[str, ...]) -> pa.Table:
    return rows.select([n for n in rows.schema.names if n in needed or rows[n].null_count < rows.num_rows])


@pytest.mark.parametrize("run", RUNS)
def test_the_fold(run: str) -> None:
    every = as_new(events_of(EXAMPLES / run))
    fewer = without_null_columns(every, (*NEEDED_COLUMNS, FROM_CHECKPOINT))
    assert fewer.num_columns < every.num_columns
    assert told(fewer, 500) == told(every, 500)


@pytest.mark.parametrize("run", RUNS)
def test_the_judge(run: str) -> None:
    facts = [fact for fact in fold(events_of(EXAMPLES / run).to_batches()) if isinstance(fact, Fact)]
    some = [pa.Table.from_batches([batch]) for batch in rows_of(facts, FACTS.arrow_schema())]
    every = pa.concat_tables(some, promote_options="permissive").sort_by(
        [("cluster", "ascending"), ("replica_group", "ascending")]
    )
    lacking = [name for name in FACTS.names if name not in every.schema.names]
    assert lacking
    whole = every
    for name in lacking:
        whole = whole.append_column(name, pa.nulls(every.num_rows, FACTS.arrow_schema().field(name).type))
    assert [*judge(every.to_batches())] == [*judge(whole.to_batches())]
