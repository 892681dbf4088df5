"""No verdict on a real cluster contradicts itself, whatever was done to it."""

from pathlib import Path

import pytest

from election_replay.election_core.judge.consistency import CONTRADICTS
from election_replay.election_core.model.rows import Finding
from tests.conftest import ARCHIVES
from tests.election_core.story import run_rows

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("system", sorted(archive.name.partition(".")[0] for archive in ARCHIVES.glob("*.tar.xz")))
def test_no_verdict_contradicts_itself(corpora: Path, system: str) -> None:
    runs = sorted((corpora / system).glob("*/run.json"))
    told = [
        f"{run.parent.name}: {row.summary}"
        for run in runs
        for row in run_rows(run.parent)
        if isinstance(row, Finding) and row.summary.startswith(CONTRADICTS)
    ]
    assert runs
    assert not told, "\n".join(told)
