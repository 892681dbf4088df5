"""What a replay would change: the warehouse as it is, judged anew in a copy, and compared with what is published.

The copy shares its data files with the warehouse by hard links where the disk can: such files are never changed once
they are written. Nothing is written into the warehouse.
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
    """What a replay of the selection would publish otherwise than what is published; ``None`` where it does nothing.

    Raises :class:`JobError` for a warehouse that is not on a disk of this machine, or that publishes nothing.
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
    """A copy of a warehouse for as long as it is needed: beside it, or where temporary files are if nothing can be
    written there."""
    folder = Path(warehouse)
    if not folder.is_dir():
        raise JobError(f"{warehouse} is no folder of this machine, and a plan needs a copy of it: plan on a backup")
    beside = str(folder.resolve().parent)
    with tempfile.TemporaryDirectory(
        prefix="election-replay-plan-", dir=beside if os.access(beside, os.W_OK) else None
    ) as scratch:
        shutil.copytree(folder, f"{scratch}/warehouse", copy_function=_linked)
        yield f"{scratch}/warehouse"


def _linked(source: str, target: str) -> None:
    """A data file as a second name of it, if the disk can, all else as a copy: Delta's log has files that it renews."""
    if source.endswith(".parquet") and "_delta_log" not in source:
        try:
            os.link(source, target)
        except OSError:
            pass
        else:
            return
    shutil.copy2(source, target)
