"""The corpus as a data set: what its card says of it is so, and its loader gives labels with the logs."""

import importlib.util
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def loader() -> ModuleType:
    """The script, as somebody would load it who has nothing else of this project."""
    spec = importlib.util.spec_from_file_location("load", ROOT / "tests" / "corpora" / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_card_counts_what_is_there(loader: ModuleType) -> None:
    card = (ROOT / "docs" / "dataset.md").read_text("utf-8")
    counted: Counter[tuple[str, str]] = Counter()
    lines = files = 0
    for run in loader.runs(ROOT / "tests" / "corpora"):
        counted[run.split, run.name.partition("/")[0]] += 1
        files += len(run.logs)
        lines += sum(data.count(b"\n") for data in run.logs.values())
        assert run.label["expected"] is not None
        assert run.logs
    rows = re.findall(r"^\| (train|test) \| (.+) \| (\d+) \| [\d,]+ \| [\d,]+ \|$", card, re.MULTILINE)
    said = {(split, archive): int(runs) for split, archives, runs in rows for archive in [archives]}
    redis = counted.pop(("train", "redis-sentinel")) + counted.pop(("train", "redis-cluster"))
    assert said == {**counted, ("train", "redis-sentinel, redis-cluster"): redis}
    assert f"{sum(said.values())} real clusters" in card
    assert f"{files:,} log files, {lines:,} lines" in card


def test_a_run_has_its_truth(loader: ModuleType) -> None:
    runs = {run.name: run for run in loader.runs_of(ROOT / "tests" / "corpora" / "kafka-kraft.tar.xz")}
    run = runs["kafka-kraft/kill-active"]
    assert run.split == "train"
    assert run.lines("truth.jsonl")
    assert run.lines("observed.jsonl")
    assert all("/logs/" in path for path in run.logs)
