"""A night and its upkeep are killed before each of their commits in turn: readers see the state before or after, and
the next night makes it good."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from deltalake.table import DeltaTable, TableAlterer, TableOptimizer

import election_replay.jobs.warehouse.warehouse
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.nights import ALL, GOLD, SecondNight, content, night_after_rest, second_night, whole_night
from tests.jobs.zone import Zone
from tests.proving import amount

pytestmark = pytest.mark.slow

WRITERS: tuple[tuple[Any, str], ...] = (
    (DeltaTable, "create"),
    (DeltaTable, "create_write_transaction"),
    (DeltaTable, "delete"),
    (DeltaTable, "vacuum"),
    (TableAlterer, "add_columns"),
    (TableAlterer, "set_table_properties"),
    (TableOptimizer, "compact"),
    (election_replay.jobs.warehouse.warehouse, "write_deltalake"),
)
"""All that writes to Delta's logs, or removes files."""

STEP = amount(41, 1)
"""Which of the commits are tried: ``make prove`` tries each of them, and a night after a quiet one too."""


class Killed(BaseException):
    """The process ends here; nothing handles it."""


class Writes:
    """Counts what writes, and ends the process before number ``last``."""

    def __init__(self, last: int | None) -> None:
        self.count, self.last = 0, last

    def counted(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any, **options: Any) -> Any:
            if self.count == self.last:
                raise Killed
            self.count += 1
            return write(*arguments, **options)

        return counting


@contextmanager
def killed_before(last: int | None) -> Iterator[Writes]:
    """Whatever writes is counted, and the one with the number ``last`` does not happen."""
    writes = Writes(last)
    with pytest.MonkeyPatch.context() as patch:
        for place, name in WRITERS:
            patch.setattr(place, name, writes.counted(getattr(place, name)))
        yield writes


@pytest.mark.parametrize("story_of", amount([second_night], [second_night, night_after_rest]))
def test_a_kill_before_any_commit_is_made_good(
    local: LocalEngine,
    zone: Zone,
    tmp_path: Path,
    story_of: Callable[[LocalEngine, Zone, Path], SecondNight],
    record_property: Callable[[str, object], None],
) -> None:
    story = story_of(local, zone, tmp_path)
    number, ended = amount(STEP, 0), False
    while not ended:
        folder = tmp_path / f"killed {number}"
        shutil.copytree(story.start, folder)
        with killed_before(number) as writes:
            try:
                whole_night(local, zone.root, Warehouse(str(folder)))
            except Killed:
                pass
            else:
                ended = True
        assert content(Warehouse(str(folder)), GOLD) in (story.before, story.after), (
            f"half a night after {writes.count} writes"
        )
        whole_night(local, zone.root, Warehouse(str(folder)))
        assert content(Warehouse(str(folder)), ALL) == story.wanted, f"killed after {writes.count} writes"
        shutil.rmtree(folder)
        number += STEP
        record_property("kills before a commit", 1)
    assert number > len(ALL), "a night commits to every table"
