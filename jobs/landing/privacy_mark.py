"""Record in the warehouse what its landings hashed and under which key, and refuse landings that hash otherwise.

The record is a table property of ``bronze.landed_files``. It is set before the first landing writes even its data
files, because a landing that is killed leaves names in them. Reading it takes only Delta's log, however many files
were landed.
"""

from deltalake import DeltaTable

from election_replay.jobs import JobError
from election_replay.jobs.landing.pseudonyms import Pseudonyms
from election_replay.jobs.warehouse.warehouse import Warehouse

PROPERTY = "election_replay.privacy"
TABLE = "landed_files"
NOTHING = "nothing"
"""The recorded value of landings that hash nothing."""


def refuse_other_privacy(warehouse: Warehouse, pseudonyms: Pseudonyms | None) -> None:
    """Raise :class:`JobError` when earlier landings recorded another mark: other kinds of values, or another key."""
    now = mark_of(pseudonyms)
    before = recorded_mark(warehouse)
    if before is not None and before != now:
        raise JobError(
            f"{warehouse.root} was landed with {hashed(before)}, and the settings ask for {hashed(now)}: one machine "
            "would have two names. Land with the settings and the key of before, or into a new warehouse"
        )


def remember_privacy(warehouse: Warehouse, pseudonyms: Pseudonyms | None) -> None:
    """Record in a warehouse, whose tables must exist, what is hashed; a record that is there already stays.

    Raises :class:`JobError` when the record differs, or when another landing writes at the same time.
    """
    table = DeltaTable(warehouse.location(TABLE))
    refuse_other_privacy(warehouse, pseudonyms)
    if PROPERTY in table.metadata().configuration:
        return
    mark = {PROPERTY: mark_of(pseudonyms)}
    with warehouse.committing(TABLE):
        warehouse.retry_hdfs(lambda: table.alter.set_table_properties(mark, raise_if_not_exists=False))


def recorded_mark(warehouse: Warehouse) -> str | None:
    """Return the recorded mark of what landings hash; None before the first landing."""
    if warehouse.version(TABLE) is None:
        return None
    mark: str | None = warehouse.opened(TABLE).metadata().configuration.get(PROPERTY)
    return mark


def mark_of(pseudonyms: Pseudonyms | None) -> str:
    """Return the mark to record for landings with these pseudonyms; None stands for no hashing."""
    return pseudonyms.mark if pseudonyms else NOTHING


def hashed(mark: str) -> str:
    """Return the words of an error message for a mark."""
    return "nothing hashed" if mark == NOTHING else f"a hash of {mark}"
