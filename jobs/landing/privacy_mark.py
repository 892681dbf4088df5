"""What a warehouse remembers of the landings before: what they hashed, and under which key.

It stands as a property of ``bronze.landed_files`` before the first row of the first landing is written, even before its
data files are: a landing that was killed has left names in them. The property is read from Delta's log, whatever the
number of landed files; only where an earlier release landed are their rows asked.
"""

import pyarrow.compute as pc
from deltalake import DeltaTable

from election_replay.jobs import JobError
from election_replay.jobs.landing.pseudonyms import Pseudonyms
from election_replay.jobs.warehouse.warehouse import Warehouse

PROPERTY = "election_replay.privacy"
TABLE = "landed_files"
NOTHING = "nothing"
"""The mark of landings that hash nothing."""


def refuse_other_privacy(warehouse: Warehouse, pseudonyms: Pseudonyms | None) -> None:
    """Raise :class:`JobError` when what is landed already has other names for addresses and clients, or none."""
    now = mark_of(pseudonyms)
    for other in sorted(marks(warehouse) - {now}):
        raise JobError(
            f"{warehouse.root} was landed with {hashed(other)}, and the settings ask for {hashed(now)}: one machine "
            "would have two names. Land with the settings and the key of before, or into a new warehouse"
        )


def remember_privacy(warehouse: Warehouse, pseudonyms: Pseudonyms | None) -> None:
    """Let a warehouse whose tables are there remember what is hashed.

    Raises :class:`JobError` when it remembers something else, or when another landing writes at the same time.
    """
    table = DeltaTable(warehouse.location(TABLE))
    refuse_other_privacy(warehouse, pseudonyms)
    if PROPERTY in table.metadata().configuration:
        return
    mark = {PROPERTY: mark_of(pseudonyms)}
    with warehouse.committing(TABLE):
        warehouse.retry_hdfs(lambda: table.alter.set_table_properties(mark, raise_if_not_exists=False))


def marks(warehouse: Warehouse) -> set[str]:
    """What was hashed by the landings so far: one mark, none before the first, more where tables were mixed by hand."""
    if warehouse.version(TABLE) is None:
        return set()
    mark = warehouse.opened(TABLE).metadata().configuration.get(PROPERTY)
    if mark is not None:
        return {mark}
    found: set[str | None] = set()
    for batch in warehouse.dataset(TABLE).to_batches(columns=["hashed"]):
        found.update(pc.unique(batch.column(0)).to_pylist())
    return {mark or NOTHING for mark in found}


def mark_of(pseudonyms: Pseudonyms | None) -> str:
    """What a warehouse remembers of a landing."""
    return pseudonyms.mark if pseudonyms else NOTHING


def hashed(mark: str) -> str:
    """What was hashed, for a person."""
    return "nothing hashed" if mark == NOTHING else f"a hash of {mark}"
