"""Both engines write the same tables of all real runs, row by row."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from election_replay.schemas import TABLES
from tests.acceptance.published import OF_THE_RUN, WITHOUT_JAVA, Warehouse, ordered, replay, replay_in
from tests.conftest import Landing
from tests.proving import PROVING, amount


@pytest.mark.slow
def test_the_local_engine_without_java_writes_what_spark_writes(
    request: pytest.FixtureRequest,
    gold: Warehouse,
    runs: dict[str, Path],
    landing: Landing,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    chosen = dict(islice(runs.items(), 0, None, amount(8, 1)))
    zone = landing(f"{path.parent.name}/{name}" for name, path in chosen.items())
    if PROVING:
        other = replay(zone, tmp_path / "other", *WITHOUT_JAVA)
    else:
        other = replay_in(request.getfixturevalue("spark"), zone, tmp_path / "other")
    assert len(other.rows(TABLES["findings"].path)) > len(chosen)
    for path in [TABLES[name].path for name in TABLES if name not in OF_THE_RUN]:
        found = ordered(other.rows(path))
        assert found == ordered(row for row in gold.rows(path) if row["cluster"] in chosen), path
        record_property("rows alike of two engines", len(found))
