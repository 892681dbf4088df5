"""A warehouse remembers what is hashed, from before its first row on, and takes nothing else."""

from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from election_replay.jobs import JobError
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.landing.privacy_mark import NOTHING, recorded_mark, refuse_other_privacy, remember_privacy
from election_replay.jobs.landing.pseudonyms import Pseudonyms, pseudonyms_of
from election_replay.jobs.settings.config import Config, Privacy
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.tables import blank
from tests.jobs.warehouse.test_data_files import files_of
from tests.jobs.zone import Zone, leads

KEY = "a key of at least sixteen"
BOTH = Privacy(("address", "client_id"))


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return blank(tmp_path / "warehouse")


@pytest.fixture
def pseudonyms(monkeypatch: pytest.MonkeyPatch) -> Pseudonyms:
    monkeypatch.setenv(BOTH.key_env, KEY)
    found = pseudonyms_of(BOTH)
    assert found
    return found


def test_a_new_warehouse_takes_either(tmp_path: Path, pseudonyms: Pseudonyms) -> None:
    nowhere = Warehouse(str(tmp_path / "nowhere"))
    for one in (None, pseudonyms):
        refuse_other_privacy(nowhere, one)
    assert not (tmp_path / "nowhere").exists()


def test_what_the_first_landing_hashed_counts_before_it_has_a_row(
    warehouse: Warehouse, pseudonyms: Pseudonyms, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember_privacy(warehouse, pseudonyms)
    assert warehouse.count("landed_files") == 0
    remember_privacy(warehouse, pseudonyms)
    for refused in (refuse_other_privacy, remember_privacy):
        with pytest.raises(JobError, match=r"a hash of address, client_id; key .*nothing hashed: one machine"):
            refused(warehouse, None)
    monkeypatch.setenv(BOTH.key_env, KEY[::-1])
    with pytest.raises(JobError, match="or into a new warehouse"):
        refuse_other_privacy(warehouse, pseudonyms_of(BOTH))
    with pytest.raises(JobError, match="the settings ask for a hash of address; key"):
        refuse_other_privacy(warehouse, pseudonyms_of(Privacy(("address",))))


def test_that_nothing_is_hashed_is_remembered_too(warehouse: Warehouse, pseudonyms: Pseudonyms) -> None:
    remember_privacy(warehouse, None)
    assert recorded_mark(warehouse) == NOTHING
    with pytest.raises(JobError, match="was landed with nothing hashed, and the settings ask for a hash of"):
        remember_privacy(warehouse, pseudonyms)


def test_it_is_not_read_from_the_rows(
    warehouse: Warehouse, pseudonyms: Pseudonyms, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember_privacy(warehouse, pseudonyms)
    monkeypatch.setattr(Warehouse, "dataset", lambda *_: pytest.fail("the rows were read"))
    refuse_other_privacy(warehouse, pseudonyms)


def test_no_commit_of_a_landing_or_of_upkeep_forgets_it(warehouse: Warehouse, pseudonyms: Pseudonyms) -> None:
    remember_privacy(warehouse, pseudonyms)
    warehouse.replace(files_of(warehouse, 1, lines=1), "landed_files", ["1"], "landing 1")
    warehouse.replace(files_of(warehouse, 2, lines=1), "landed_files", ["2"], "landing 2")
    warehouse.create()
    table = warehouse.location("landed_files")
    DeltaTable(table).optimize.compact()
    assert DeltaTable(table).metadata().configuration["election_replay.privacy"] == pseudonyms.mark


def test_of_two_first_landings_at_once_one_stops(
    warehouse: Warehouse, pseudonyms: Pseudonyms, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(*_: Any) -> None:
        monkeypatch.undo()
        remember_privacy(warehouse, None)

    monkeypatch.setattr("election_replay.jobs.landing.privacy_mark.refuse_other_privacy", meanwhile)
    with pytest.raises(JobError, match="run it again"):
        remember_privacy(warehouse, pseudonyms)
    assert recorded_mark(warehouse) == NOTHING


def test_a_landing_is_refused_before_a_file_is_listed(
    warehouse: Warehouse, pseudonyms: Pseudonyms, tmp_path: Path
) -> None:
    zone = Zone(tmp_path / "zone")
    zone.write("broker_default.log", leads(0))
    remember_privacy(warehouse, pseudonyms)
    with pytest.raises(JobError, match="one machine would have two names"):
        new_files(str(zone.root), warehouse, Config())
    assert new_files(str(zone.root), Warehouse(str(tmp_path / "other")), Config())
