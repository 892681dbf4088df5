"""What a warehouse remembers of the landings before: what they hashed, and under which key.

It stands as a property of ``bronze.landed_files`` before the first row of the first landing is written, even before its
data files are: a landing that was killed has left names in them. The property is read from Delta's log, whatever the
number of landed files.
"""

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
    before = recorded_mark(warehouse)
    if before is not None and before != now:
        raise JobError(
            f"{warehouse.root} was landed with {hashed(before)}, and the settings ask for {hashed(now)}: one machine "
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


def recorded_mark(warehouse: Warehouse) -> str | None:
    """The mark of what landings have hashed; ``None`` before the first landing."""
    if warehouse.version(TABLE) is None:
        return None
    mark: str | None = warehouse.opened(TABLE).metadata().configuration.get(PROPERTY)
    return mark


def mark_of(pseudonyms: Pseudonyms | None) -> str:
    """What a warehouse remembers of a landing."""
    return pseudonyms.mark if pseudonyms else NOTHING


def hashed(mark: str) -> str:
    """What was hashed, for a person."""
    return "nothing hashed" if mark == NOTHING else f"a hash of {mark}"
