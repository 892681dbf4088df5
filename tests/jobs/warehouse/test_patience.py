"""What a machine of HDFS does not take is written once more; everything else fails at once."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from deltalake.exceptions import DeltaError
from deltalake.table import TableAlterer, TableOptimizer

from election_replay.jobs import JobError
from election_replay.jobs.landing.privacy_mark import NOTHING, recorded_mark, remember_privacy
from election_replay.jobs.publishing.runs import revert_clusters
from election_replay.jobs.warehouse import patience
from election_replay.jobs.warehouse import warehouse as warehouse_module
from election_replay.jobs.warehouse.patience import WAITS, retry_hdfs
from election_replay.jobs.warehouse.tidying import set_retention, tidy
from election_replay.jobs.warehouse.warehouse import FORM, KEEP_DAYS, Warehouse

DOWN = "Generic HdfsObjectStore error\n ↳ IO error occurred while communicating with HDFS\n ↳ Connection refused"

TAKEN_BACK = (
    "Generic HdfsObjectStore error: RPC error: org.apache.hadoop.hdfs.protocol.RecoveryInProgressException Failed to "
    "CREATE_FILE /warehouse/silver/facts/_delta_log/.00000000000000000000.json.tmp.1 because lease recovery is in "
    "progress. Try again later."
)
"""What the NameNode said of the file of a first commit, as its writer had lost a DataNode."""


class Flaky:
    """A write that fails so many times before it is taken, and the seconds that were waited for it."""

    def __init__(self, failures: int, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
        self.failures, self.error = failures, error
        self.waited: list[int] = []
        monkeypatch.setattr(patience, "time", SimpleNamespace(sleep=self.waited.append))  # threads of others sleep too

    def __call__(self, *_: object, **__: object) -> str:
        if self.failures:
            self.failures -= 1
            raise self.error
        return "written"


@pytest.mark.parametrize("error", [OSError(DOWN), DeltaError(DOWN), OSError(TAKEN_BACK)])
def test_a_machine_that_is_down_is_waited_for(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Flaky(3, error, monkeypatch)
    assert retry_hdfs(write) == "written"
    assert write.waited == [*WAITS[:3]]


def test_what_a_writer_left_that_is_gone_is_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what commits leave, and only in the warehouse: a message of a store is no order to delete anything else."""
    tables = Warehouse(str(tmp_path / "w"))
    log = Path(tables.location("facts"), "_delta_log")
    log.mkdir(parents=True)
    left, commit = log / f".{0:020}.json.tmp.1", log / f"{0:020}.json"
    elsewhere = tmp_path / "_delta_log" / left.name
    elsewhere.parent.mkdir()
    for file in (left, commit, elsewhere):
        file.touch()
        said = TAKEN_BACK.replace("/warehouse/silver/facts/_delta_log/.00000000000000000000.json.tmp.1", str(file))
        assert tables.retry_hdfs(Flaky(1, OSError(said), monkeypatch)) == "written"
    assert [file.exists() for file in (left, commit, elsewhere)] == [False, True, True]


def test_one_that_stays_down_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    write = Flaky(len(WAITS) + 1, OSError(DOWN), monkeypatch)
    with pytest.raises(OSError, match="communicating with HDFS"):
        retry_hdfs(write)
    assert sum(write.waited) == sum(WAITS) > 40, "the NameNode may go on naming a dead machine for as long"


def test_what_is_refused_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    write = Flaky(1, PermissionError("Permission denied: user=reader"), monkeypatch)
    with pytest.raises(PermissionError):
        retry_hdfs(write)
    assert write.waited == []


@pytest.mark.parametrize(
    ("kind", "method", "commit"),
    [
        (TableAlterer, "set_table_properties", Warehouse.create),
        (TableAlterer, "set_table_properties", lambda tables: remember_privacy(tables, None)),
        (TableAlterer, "set_table_properties", lambda tables: set_retention(tables, "terms", KEEP_DAYS + 1)),
        (TableOptimizer, "compact", lambda tables: tidy(tables, "events", [], False, 0)),
        (warehouse_module, "write_deltalake", lambda tables: revert_clusters(tables, ["payments"], "a run")),
    ],
    ids=["create", "remember_privacy", "set_retention", "tidy", "hold_back"],
)
def test_every_commit_is_patient(
    kind: type | ModuleType,
    method: str,
    commit: Callable[[Warehouse], object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = Warehouse(str(tmp_path / "w"))
    if commit is not Warehouse.create:
        tables.create()
    write, taken = Flaky(2, OSError(DOWN), monkeypatch), getattr(kind, method)
    monkeypatch.setattr(kind, method, lambda *args, **kwargs: write() and taken(*args, **kwargs))
    commit(tables)
    assert write.waited[:2] == [*WAITS[:2]]
    assert tables.form() == FORM
    assert recorded_mark(tables) in {None, NOTHING}


def test_of_two_that_create_a_warehouse_one_is_told_to_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Warehouse(str(tmp_path / "w")), Warehouse(str(tmp_path / "w"))
    taken = TableAlterer.set_table_properties

    def after_the_first(self: TableAlterer, *args: object, **kwargs: object) -> None:
        monkeypatch.setattr(TableAlterer, "set_table_properties", taken)
        first.create()
        taken(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(TableAlterer, "set_table_properties", after_the_first)
    with pytest.raises(JobError, match=r"another job has written to .*gold/runs since this one began: run it again"):
        second.create()
    second.create()
