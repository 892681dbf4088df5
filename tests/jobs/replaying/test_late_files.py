"""Files of one log that come in any order, night by night, through landing, plan, fold and judge."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.nights import ALL, content, night
from tests.jobs.replaying.test_checkpoints import restless, rolled
from tests.jobs.zone import Zone
from tests.proving import amount

NIGHTS = 4


@pytest.mark.parametrize("seed", range(amount(1, 4)))
def test_rolled_files_that_come_in_any_order_give_the_tables_of_one_run(
    local: LocalEngine, zone: Zone, tmp_path: Path, seed: int, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random(f"late {seed}")
    parts = [
        (name.replace(".log", f".{number}.log"), part)
        for name, text in restless(chance).items()
        for number, part in enumerate(rolled(text, chance))
    ]
    chance.shuffle(parts)
    record_property("files in any order", len(parts))
    by_nights, once = Warehouse(str(tmp_path / "nights")), Warehouse(str(tmp_path / "once"))
    for number in range(NIGHTS):
        for name, part in parts[number::NIGHTS]:
            zone.write(name, part)
        night(local, zone.root, by_nights)
    night(local, zone.root, once)
    wanted, found = content(once, ALL), content(by_nights, ALL)
    for table in ALL:
        assert found[table] == wanted[table], table
