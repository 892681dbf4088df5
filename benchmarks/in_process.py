"""A run of a real cluster landed and judged in this process, without Spark and without tables."""

from itertools import chain, groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.inventory import Inventory
from election_replay.election_core.model.rows import Row
from election_replay.election_core.replay.arrow_passes import fold
from election_replay.election_core.replay.group_judge import rows_of_group
from election_replay.jobs.landing.event_lines import in_batches
from election_replay.jobs.landing.ledger import NOTHING_LANDED
from election_replay.jobs.landing.listing import log_files
from election_replay.jobs.landing.one_file import land_task
from election_replay.jobs.landing.plan import tasks_of
from election_replay.jobs.replaying.introducing import introduced_members
from election_replay.jobs.replaying.source_delta import INTRODUCING
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.data_files import with_all_columns
from election_replay.schemas import TABLES

EVENTS = TABLES["events"]
ORDER = ("cluster", "source_node", "is_snapshot", "stream", "file_order", "fingerprint", "line_no")
"""The order in which the fold wants the events."""


def judged(run: Path) -> list[Row]:
    """The rows of all groups of a run, whose node folders lie in ``<run>/nodes``."""
    return verdicts(events_of(run))


def verdicts(events: pa.Table) -> list[Row]:
    """The rows of all groups of which events speak that are in the order of the fold."""
    introducing = pc.is_in(events["kind"], pa.array(sorted(INTRODUCING), events["kind"].type))
    inventory = Inventory(introduced=introduced_members(events.filter(introducing)))
    facts = [fact for fact in fold(events.to_batches(max_chunksize=5000), inventory) if isinstance(fact, Fact)]
    facts.sort(key=lambda fact: fact.replica_group)
    groups = groupby(facts, key=lambda fact: fact.replica_group)
    return [row for _, of_group in groups for row in rows_of_group(list(of_group))]


def events_of(run: Path) -> pa.Table:
    """The events of a run, in the order of the fold."""
    landing, config = str(run), Config()
    files = log_files(landing, config.layout, config.metadata_layout)
    tasks = tasks_of(files, NOTHING_LANDED, landing, config, 1)
    found = in_batches(chain.from_iterable(land_task(task, landing) for task in tasks))
    batches = [
        with_all_columns(EVENTS, rows) for table, rows in found if table == EVENTS.name and not isinstance(rows, tuple)
    ]
    return ordered(pa.Table.from_batches(batches).cast(EVENTS.arrow_schema()))


def ordered(events: pa.Table) -> pa.Table:
    """Events of any order in that of the fold."""
    events = events.append_column("is_snapshot", pc.match_substring(events["stream"], "/"))
    events = events.append_column("file_order", pc.fill_null(events["file_time"].cast(pa.int64()), -1))
    return events.sort_by([(name, "ascending") for name in ORDER]).combine_chunks()
