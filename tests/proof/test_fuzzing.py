"""What fuzzing found worth keeping is landed again: no crash, no lost line, in bounded time."""

import time
from collections.abc import Callable

import pytest

from proof.fuzzing.targets import DIALECTS, METADATA, LinesLost, Target, check, landed, targets, try_one

LONGEST_S = 10
ALL = targets()


@pytest.mark.parametrize("target", ALL, ids=lambda target: target.name)
def test_kept_inputs_land_whole(target: Target, record_property: Callable[[str, object], None]) -> None:
    for file in sorted(target.folder.glob("*")):
        begin = time.process_time()
        try_one(target, file.read_bytes())
        assert time.process_time() - begin < LONGEST_S, file.name
        record_property("inputs that fuzzing kept", 1)


def test_every_dialect_envelope_and_metadata_file_has_inputs() -> None:
    from tests.election_core.envelopes.shippers import SHIPPERS

    names = {target.name for target in ALL if any(target.folder.glob("*"))}
    wanted = {*DIALECTS, *(f"metadata {name}" for name in METADATA)}
    wanted |= {"envelope " + name.replace(" ", "_").replace("-", "_") for name in SHIPPERS}
    assert not wanted - names


@pytest.fixture
def zone(tmp_path_factory: pytest.TempPathFactory) -> str:
    target, root = ALL[0], tmp_path_factory.mktemp("zone")
    file = root / target.file
    file.parent.mkdir(parents=True)
    file.write_bytes(next(target.folder.glob("*")).read_bytes())
    return str(root)


@pytest.mark.parametrize("table", ["events", "log_lines", "landed_files"])
def test_a_lost_row_is_noticed(zone: str, table: str) -> None:
    rows = landed(zone)
    check(rows)
    rows[table].pop()
    with pytest.raises(LinesLost):
        check(rows)
