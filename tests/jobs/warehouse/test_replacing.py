"""Rows are replaced by their key: the same rows as by a dictionary, few files, and no file touched without need."""

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from election_replay.jobs import JobError
from election_replay.jobs.warehouse import replacing
from election_replay.jobs.warehouse.data_files import DataFile, write_data_files
from election_replay.jobs.warehouse.delta_form import delta_schema
from election_replay.jobs.warehouse.replacing import (
    DeletedKeys,
    RewriteTask,
    file_cuts,
    files_of,
    rewrite,
    rewrite_plan,
)
from election_replay.jobs.warehouse.tidying import compact
from election_replay.jobs.warehouse.warehouse import FORM, FORM_PROPERTY, Warehouse
from election_replay.schemas import TABLES
from tests.jobs.tables import blank, put

FACTS = TABLES["facts"]
Key = tuple[str, str]


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return blank(tmp_path / "w")


def row(key: Key, term: int) -> tuple[object, ...]:
    """A row of ``facts``, of a source."""
    given = {"cluster": key[0], "source_node": key[1], "term": term}
    plain = {"STRING": "x", "ARRAY<STRING>": ()}
    filled = {one.name: plain.get(one.type.sql, 0) for one in FACTS.columns if not one.nullable}
    return tuple((filled | given).get(name) for name in FACTS.names)


def written(warehouse: Warehouse, rows: Iterable[tuple[Key, int]]) -> list[DataFile]:
    return write_data_files(((FACTS.name, row(key, term)) for key, term in rows), warehouse.root)


def alone(work: Callable[[RewriteTask], list[DataFile]], tasks: Sequence[RewriteTask]) -> list[list[DataFile]]:
    return [work(task) for task in tasks]


def night(warehouse: Warehouse, news: dict[Key, int], deleted: DeletedKeys) -> set[str]:
    """Replace what is gone by the news; the paths of the files that went."""
    new = written(warehouse, sorted(news.items()))
    plan = rewrite_plan(warehouse, FACTS.name, deleted, new)
    files = [*(file for file in new if file not in plan.merged), *rewrite(alone, [plan])]
    warehouse.commit_rewrite(files, {file.path: file.size for file in plan.files}, FACTS.name, "night", plan.version)
    warehouse.discard(FACTS.name, (file.path for file in plan.merged))
    return {file.path for file in plan.files}


def stored(warehouse: Warehouse) -> dict[Key, int]:
    """The rows as they are; fails on a key that is there twice."""
    rows = warehouse.rows(FACTS.name, ["cluster", "source_node", "term"])
    found = {(one["cluster"], one["source_node"]): one["term"] for one in rows}
    assert len(found) == len(rows)
    return found


def paths(warehouse: Warehouse) -> list[str]:
    return pa.table(warehouse.opened(FACTS.name).get_add_actions())["path"].to_pylist()


@pytest.mark.parametrize("few", [0, 200_000])
def test_rows_are_those_of_a_dictionary_and_files_stay_few(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(replacing, "FEW_ROWS", few)
    monkeypatch.setattr(replacing, "TASK_ROWS", 60)
    chance, wanted = random.Random(5), dict[Key, int]()
    keys = [(f"c{cluster}", f"g{group}\0ü") for cluster in range(12) for group in range(cluster + 1)]
    for number in range(25):
        news = dict.fromkeys(chance.sample(keys, 9), number)
        whole = frozenset(chance.sample([cluster for cluster, _ in keys], number % 3))
        wanted = {key: term for key, term in wanted.items() if key[0] not in whole} | news
        night(warehouse, news, DeletedKeys(whole, frozenset(news)))
        assert stored(warehouse) == wanted
    assert len(paths(warehouse)) <= 2 * replacing.MOST_SMALL


def test_a_file_without_a_key_of_the_night_is_not_touched(warehouse: Warehouse) -> None:
    keys = sorted((f"c{number}", "g") for number in range(40))
    for part in (keys[:20], keys[20:]):
        night(warehouse, dict.fromkeys(part, 1), DeletedKeys())
    [first, second] = [file.path for file in sorted(files_of(warehouse, FACTS.name), key=lambda file: file.low)]
    assert night(warehouse, {keys[3]: 2}, DeletedKeys(keys=frozenset({keys[3]}))) == {first}
    assert second in paths(warehouse)
    assert night(warehouse, {keys[30]: 2}, DeletedKeys(frozenset({keys[30][0]}))) == {second}


def test_a_night_of_few_keys_leaves_most_of_a_table_alone(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "LEAST_ROWS", 20)
    chance, keys = random.Random(3), [(f"c{number}", f"g{number}") for number in range(120)]
    wanted = dict.fromkeys(keys, 0)
    night(warehouse, wanted, DeletedKeys(keys=frozenset(keys)))
    for number in range(1, 40):
        news = dict.fromkeys(chance.sample(keys, 2), number)
        touched, before = night(warehouse, news, DeletedKeys(keys=frozenset(news))), len(paths(warehouse))
        wanted |= news
        assert stored(warehouse) == wanted
        assert number == 1 or len(touched) <= 4, "those of two keys, which hardly overlap with others"
        assert 6 <= before <= 12
    of_two = pc.field("cluster").isin(["c0", "c1"]) & pc.field("source_node").isin(["g0", "g1"])
    foreign = DeltaTable(warehouse.location(FACTS.name)).to_pyarrow_dataset()
    assert len([*foreign.get_fragments(of_two)]) <= 4, "any reader skips files by what the log says of them"
    found = {(one["cluster"], one["source_node"]): one["term"] for one in foreign.to_table(filter=of_two).to_pylist()}
    assert found == {key: wanted[key] for key in keys[:2]}


def test_rows_are_cut_at_borders_and_evenly_and_those_of_one_key_stay_together() -> None:
    keys, counts = [("a", "1"), ("a", "2"), ("b", "1"), ("c", "1"), ("d", "1")], [2, 1, 4, 1, 2]
    assert file_cuts(keys, counts, [], 100) == [0, 10]
    assert file_cuts(keys, counts, [("c", "1")], 100) == [0, 7, 10]
    assert file_cuts(keys, counts, [("b", "2"), ("b", "3"), ("c", "0"), ("e", "")], 3) == [0, 2, 3, 7, 10]
    assert file_cuts(keys, counts, [], 1) == [0, 2, 3, 7, 8, 10]
    assert file_cuts([], [], [("b", "2")], 3) == []


def test_joined_files_are_sorted_and_hardly_overlap(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replacing, "LEAST_ROWS", 20)
    monkeypatch.setattr(replacing, "SMALL", 1)
    keys = [(f"c{number}", "g") for number in range(40)]
    for key in keys:
        night(warehouse, {key: 1}, DeletedKeys())
    put(warehouse, FACTS.name, dict(zip(FACTS.names, row(("d", "g"), 1), strict=True)))  # by another writer
    rows, most = stored(warehouse), len(paths(warehouse))
    assert compact(warehouse, FACTS.name) == most
    assert stored(warehouse) == rows
    assert len(paths(warehouse)) == 3
    files = sorted(files_of(warehouse, FACTS.name), key=lambda file: file.low)
    assert all(file.high < after.low for file, after in pairwise(files))
    assert len(night(warehouse, {keys[0]: 2}, DeletedKeys(keys=frozenset({keys[0]})))) == 1
    monkeypatch.setattr(replacing, "SMALL", 100)
    assert compact(warehouse, FACTS.name) == 0, "a second time there is nothing to join"


def test_two_jobs_at_once_cannot_both_exchange(warehouse: Warehouse) -> None:
    night(warehouse, {("c", "g"): 1}, DeletedKeys())
    plan = rewrite_plan(warehouse, FACTS.name, DeletedKeys(frozenset({"c"})))
    night(warehouse, {("c", "g"): 2}, DeletedKeys(frozenset({"c"})))
    deleted = {file.path: file.size for file in plan.files}
    with pytest.raises(JobError, match="another job has written"):
        Warehouse(warehouse.root).commit_rewrite([], deleted, FACTS.name, "late", plan.version)
    assert stored(warehouse) == {("c", "g"): 2}


def test_a_table_with_other_partitions_is_refused_and_not_filled_with_nulls(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path / "w"))
    events = TABLES["events"]
    DeltaTable.create(warehouse.location("events"), delta_schema(events), partition_by=["cluster"])
    with pytest.raises(JobError, match="is partitioned by cluster, not by batch"):
        warehouse.replace([DataFile("events", "1", "part.parquet", 1, 1)], "events", ["1"], "landing 1")
    assert warehouse.version("events") == 0


def test_a_warehouse_of_a_newer_release_is_refused(warehouse: Warehouse) -> None:
    newer = {FORM_PROPERTY: str(FORM + 1)}
    DeltaTable(warehouse.location("runs")).alter.set_table_properties(newer, raise_if_not_exists=False)
    for use in (Warehouse(warehouse.root).create, Warehouse(warehouse.root).published):
        with pytest.raises(JobError, match=f"has form {FORM + 1}"):
            use()
