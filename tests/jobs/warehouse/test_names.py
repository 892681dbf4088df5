"""A warehouse may have any name that a file system allows: as it stands, or as a link to a folder with a plain name."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.engines.spark_engine import read, read_files
from election_replay.jobs.reading.published import Published
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.nights import night
from tests.jobs.tables import put, role
from tests.jobs.zone import Zone, election

if TYPE_CHECKING:
    from election_replay.jobs.engines.spark_engine import SparkEngine

PLAIN = [
    "a b",
    " a ",
    "a%",
    "a%2x",
    "a#b",
    "a?b",
    "a*b",
    "a'b",
    'a"b',
    "a{b}",
    "ü",
    "日本",
    "😀",
    "a:b",
    "~",
    "a,b=c",
    "$a",
]
MISREAD = ["a%20b", "a%25b", "%2F", "%ab", "a\\b", "a[b", "a]b", "a^b", "a|b", "a\nb", "a\x7fb", "a\udcffb"]


def rows_come_back(root: Path) -> None:
    """Rows are written, read, tidied and read again, and nothing lies beside the folder."""
    warehouse = Warehouse(str(root))
    warehouse.create(["role_intervals"])
    put(warehouse, "role_intervals", role("n1", "leader", 0, 9))
    before = sorted(path.name for path in root.parent.iterdir())
    warehouse.opened("role_intervals").optimize.compact()
    warehouse.opened("role_intervals").vacuum(0, dry_run=False, enforce_retention_duration=False, full=True)
    assert [row["node"] for row in Warehouse(str(root)).rows("role_intervals")] == ["n1"]
    assert sorted(path.name for path in root.parent.iterdir()) == before
    assert root.name in before


@pytest.mark.parametrize("name", PLAIN)
def test_a_folder_of_any_of_these_names_is_read_word_for_word(name: str, tmp_path: Path) -> None:
    rows_come_back(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", MISREAD)
def test_a_link_to_a_plain_folder_may_have_any_other_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / name).symlink_to("plain")
    rows_come_back(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["plain", name])


@pytest.mark.parametrize("name", MISREAD)
@pytest.mark.parametrize("by_a_link", [False, True])
def test_a_folder_that_deltas_library_reads_otherwise_is_refused_before_anything_is_written(
    name: str, by_a_link: bool, zone: Zone, capsys: pytest.CaptureFixture[str]
) -> None:
    zone.write("broker_default.log", election(0, 1))
    root = zone.root.parent / name
    if by_a_link:
        root.mkdir()
        root = zone.root.parent / "link"
        root.symlink_to(name)
    before = sorted(zone.root.parent.rglob("*"))
    command = ["run", "--engine", "local", "--landing", str(zone.root), "--warehouse", str(root), "--config", "none"]
    assert main(command) == 1
    assert "and delta-rs, the library that reads and writes them, does not take" in capsys.readouterr().err
    assert sorted(zone.root.parent.rglob("*")) == before


@pytest.mark.slow
def test_spark_and_this_machine_write_and_read_the_same_below_such_names(
    zone: Zone, local: LocalEngine, spark: "SparkEngine"
) -> None:
    root = zone.root.parent / "w" / "".join(PLAIN)
    warehouse = Warehouse(str(root))
    engines: tuple[Engine, ...] = (local, spark)
    for number, engine in enumerate(engines):
        zone.write("broker_default.log", election(0, 1) + election(30 * number, 1 + number))
        night(engine, zone.root, warehouse)
    published = Published(warehouse)
    assert [row["term"] for row in published.rows("SELECT term FROM terms ORDER BY term")] == [1, 2]
    files = warehouse.opened("events").to_pyarrow_dataset().files
    for rows in (read(spark.session, warehouse, "events"), read_files(spark.session, warehouse, "events", files)):
        assert rows.count() == len(published.rows("SELECT 1 FROM events")) > 0
    assert [path.name for path in root.parent.iterdir()] == [root.name]
