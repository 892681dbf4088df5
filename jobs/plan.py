"""Shows what a replay would change: judges a copy of the warehouse anew, and compares it with what is published.

The copy shares data files with the warehouse by hard links where the disk supports them: data files never change once
written. Nothing is written into the warehouse.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from election_replay.election_core.model.inventory import Inventory
from election_replay.jobs import JobError
from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.reading.changes import Changes, changes
from election_replay.jobs.replay import replay
from election_replay.jobs.replaying.nothing_new import Selection
from election_replay.jobs.warehouse.warehouse import Warehouse


def plan(engine: Engine, warehouse: str, inventory: Inventory, selection: Selection) -> Changes | None:
    """Return the changes that a replay of the selection would publish; ``None`` if it would publish nothing.

    Raises :class:`JobError` if the warehouse is not a local folder, or if nothing is published in it.
    """
    published = Warehouse(warehouse).last_run()["run_id"]
    with copied(warehouse) as copy:
        tables = Warehouse(copy)
        done = replay(engine, tables, inventory, selection)
        if done.run_id is None:
            return None
        return changes(tables, published, done.run_id)


@contextmanager
def copied(warehouse: str) -> Iterator[str]:
    """Yield a temporary copy of a warehouse: beside it, or in the folder of temporary files if that is not writable."""
    folder = Path(warehouse)
    if not folder.is_dir():
        raise JobError(f"{warehouse} is no folder of this machine, and a plan needs a copy of it: plan on a backup")
    beside = str(folder.resolve().parent)
    with tempfile.TemporaryDirectory(
        prefix="election-replay-plan-", dir=beside if os.access(beside, os.W_OK) else None
    ) as scratch:
        shutil.copytree(folder, f"{scratch}/warehouse", copy_function=_link_or_copy)
        yield f"{scratch}/warehouse"


def _link_or_copy(source: str, target: str) -> None:
    """Hard-link a data file if the disk can, and copy all other files: Delta rewrites some files of its log."""
    if source.endswith(".parquet") and "_delta_log" not in source:
        try:
            os.link(source, target)
        except OSError:
            pass
        else:
            return
    shutil.copy2(source, target)
