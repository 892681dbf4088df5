"""``--dry-run`` says what there is to do, and does nothing."""

from pathlib import Path
from typing import Any

import pytest

from election_replay.election_core import FACTS_VERSION, RULES_VERSION
from election_replay.election_core.model.inventory import NO_INVENTORY
from election_replay.jobs.cli.app import main
from election_replay.jobs.replaying.nothing_new import inventory_version
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.tables import NOON, put
from tests.jobs.zone import Zone, leads, noise


def landed(zone: Zone, warehouse: Warehouse) -> None:
    """Land what is new of the zone, without Spark."""
    warehouse.create()
    for table, rows in zone.land().items():
        warehouse.append(rows, table)


def published(warehouse: Warehouse, batch: int, held: list[str], facts_version: str | None = FACTS_VERSION) -> None:
    """Publish what is landed."""
    run: dict[str, Any] = {"run_id": f"r{batch}", "started_at": NOON, "published_at": NOON, "status": "published"}
    made_by = {"code_version": "1", "rules_version": RULES_VERSION, "facts_version": facts_version}
    made_by["inventory_version"] = inventory_version(NO_INVENTORY)
    versions = {name: version for name, version in warehouse.versions().items() if name != "runs"}
    shown = {
        "batch": batch,
        "nights": [],
        "clusters": 1,
        "held": held,
        "counts": [],
        "versions": list(versions.items()),
    }
    put(warehouse, "runs", run | made_by | shown)


def test_what_is_new_is_named_and_nothing_is_changed(
    zone: Zone, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse = Warehouse(str(tmp_path / "w"))
    both = ("--landing", str(zone.root), "--warehouse", warehouse.root, "--dry-run")

    def said(*command: str, code: int = 0) -> list[str]:
        before = warehouse.versions()
        assert main(command) == code
        assert warehouse.versions() == before
        out, err = capsys.readouterr()
        return [line for line in (err if code else out).splitlines() if not line.startswith("Settings: ")]

    zone.write("broker_default.log", leads(0) + noise(1))
    assert said("run", *both) == ["would land c1: 1 new or grown files, 0.0 MB", "would judge c1"]
    assert not Path(warehouse.root).exists()
    assert said("replay", *both[2:], code=1)[0].startswith("error: nothing is landed")

    zone.write("zookeeper.log", "10:00:00,123 [main] INFO a.b.C - LOOKING\n" * 3)
    [_, puzzle] = said("land", *both)
    assert puzzle.startswith("would not understand c1/nodes/n1/logs/zookeeper.log: none of 3 lines begins")
    (zone.logs / "zookeeper.log").unlink()

    landed(zone, warehouse)
    assert said("land", *both) == ["would land nothing: no new log file, and none has grown"]
    assert said("replay", *both[2:]) == ["would judge c1"]

    published(warehouse, 1, held=[])
    assert said("run", *both)[1] == "would judge nothing: all that is landed is published"
    assert said("replay", *both[2:], "--from", "2026-03-01", "--to", "2026-03-01") == ["would judge c1"]
    for nobody in (("--from", "2026-03-02"), ("--cluster", "c2")):
        assert said("replay", *both[2:], *nobody, code=1) == [
            "error: no event is landed of the clusters and nights that were asked for"
        ]

    zone.append("broker_default.log", leads(60, 2))
    assert said("land", *both, "--cluster", "c2") == ["would land nothing: no new log file, and none has grown"]
    assert said("run", *both) == ["would land c1: 1 new or grown files, 0.0 MB", "would judge c1"]
    landed(zone, warehouse)
    assert said("replay", *both[2:]) == ["would judge c1"]

    published(warehouse, 2, held=["c1"])
    assert said("replay", *both[2:]) == ["would judge c1"]


@pytest.mark.parametrize("older", [None, "0"])
def test_facts_of_another_version_are_made_anew(
    older: str | None, zone: Zone, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A release that had no versions of facts, or another one, wrote columns that this one does not read."""
    warehouse = Warehouse(str(tmp_path / "w"))
    zone.write("broker_default.log", leads(0) + noise(1))
    landed(zone, warehouse)
    published(warehouse, 1, held=[], facts_version=older)
    assert main(["replay", "--warehouse", warehouse.root, "--dry-run"]) == 0
    assert "would judge c1" in capsys.readouterr().out.splitlines()
