"""What is wrong with a warehouse or a machine is told in one line that names it and says what to do."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from election_replay.jobs import JobError
from election_replay.jobs.cli.app import main
from election_replay.jobs.faults import readable, user_message
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.tables import GROUP, NOON, blank, publish, put

Break = Callable[[list[Path]], None]


def newest(change: Callable[[bytes], bytes]) -> Break:
    """Change the newest of the files."""

    def do(files: list[Path]) -> None:
        files[-1].write_bytes(change(files[-1].read_bytes()))

    return do


LOG: dict[str, Break] = {
    "half": newest(lambda data: data[:-40]),
    "garbage": newest(lambda _: b"\x00\xffgarbage"),
    "empty": newest(lambda _: b""),
    "first missing": lambda files: files[0].unlink(),
    "all missing": lambda files: [file.unlink() for file in files],  # type: ignore[return-value]
}
DATA: dict[str, Break] = {
    "missing": lambda files: files[-1].unlink(),
    "cut": newest(lambda data: data[:50]),
}
BREAKS = [
    *(("_delta_log/*.json", name, change) for name, change in LOG.items()),
    *(("**/*.parquet", name, change) for name, change in DATA.items()),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tables = blank(tmp_path_factory.mktemp("whole") / "w")
    term = GROUP | {"term": 1, "leader": "n1", "start_time": NOON, "certainty": "proven", "start_event_id": "e1"}
    put(tables, "terms", term)
    publish(tables)
    return Path(tables.root)


@pytest.mark.parametrize("table", ["gold/terms", "gold/runs"])
@pytest.mark.parametrize(("files", "change"), [one[::2] for one in BREAKS], ids=[" ".join(one[:2]) for one in BREAKS])
def test_a_damaged_table_is_named(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, files: str, change: Break
) -> None:
    root = tmp_path / "w"
    shutil.copytree(whole, root)
    change(sorted((root / table).glob(files)))
    code = main(["sql", "--warehouse", str(root), "SELECT count(*), max(leader) FROM terms"])
    said = capsys.readouterr().err
    if (table, code) == ("gold/runs", 1) and "nothing is published" in said:
        assert not list((root / table).glob(files))  # without its log it is no table
        return
    assert code == 1
    assert said.startswith(f"error: the table {table.partition('/')[2]} at {root}/{table} is damaged: ")
    assert "Restore this folder from a backup" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "Generic LocalFileSystem error\n \x1b[31m↳\x1b[0m No space left on device (os error 28)\n",
            "the disk is full",
        ),
        ("[Errno 30] Read-only file system: '/w'", "the file system is read-only"),
        ("Traceback\nPermissionError: [Errno 13] Permission denied: '/w'", "permission is denied"),
    ],
)
def test_the_machine_is_told_from_the_pipeline(text: str, says: str) -> None:
    try:
        try:
            raise OSError(text)
        except OSError as error:
            raise JobError("Spark did not start") from error
    except JobError as error:
        found = user_message(error)
    assert found
    assert found.startswith(says)
    assert "\x1b" not in found
    assert user_message(JobError("there is no cluster c1")) is None


def test_who_was_refused_what_is_told_with_the_refusal() -> None:
    """As Delta's writer gives what the NameNode said: cut at each colon, and Java's stack trace behind it."""
    arrow = "\n          \x1b[31m↳\x1b[0m "
    denied = 'user=reader, access=WRITE, inode="/w":lander:supergroup:drwxr-xr-x\n\tat a.b.C.d(C.java:661)\n'
    error = OSError(arrow.join(["Generic HdfsObjectStore error", "RPC error", "a.b.C Permission denied", denied]))
    assert str(user_message(error)).endswith(
        '(Generic HdfsObjectStore error: RPC error: a.b.C Permission denied: user=reader, access=WRITE, inode="/w"'
        ":lander:supergroup:drwxr-xr-x)"
    )


def test_of_java_the_last_cause_is_told() -> None:
    text = "An error occurred while calling o1.\n: a.B: x\n\tat c\nCaused by: java.io.EOFException: cut off\n\tat d\n"
    assert readable(RuntimeError(text)) == "java.io.EOFException: cut off"


def test_of_a_python_worker_the_end_of_its_stack_trace_is_told() -> None:
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in b\n    c()\nValueError: three\n\n'
    text = f"Job aborted\n\tat d\nCaused by: org.apache.PythonException: {trace}\tat e.f(G.scala:1)\n\tat h"
    assert readable(RuntimeError(text)) == "ValueError: three"
    assert readable(RuntimeError(trace)) == "ValueError: three"
    assert str(user_message(RuntimeError(text.replace("ValueError: three", "MemoryError")))).endswith("(MemoryError)")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
@pytest.mark.parametrize(
    ("options", "says"), [("size=120k", "the disk is full"), ("ro", "the file system is read-only")]
)
def test_a_full_disk_and_a_read_only_one_are_told(tmp_path: Path, options: str, says: str) -> None:
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", tmp_path], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no file system may be mounted here")
    try:
        with pytest.raises(Exception, match=r".") as found:
            Warehouse(str(tmp_path / "w")).create()
    finally:
        subprocess.run(["umount", "-l", tmp_path], check=True)
    assert (user_message(found.value) or "").startswith(says)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
@pytest.mark.parametrize("command", ["upkeep", "publish", "land"])
def test_a_warehouse_that_cannot_be_written_is_told_in_one_line(whole: Path, tmp_path: Path, command: str) -> None:
    mounted = 'mount --bind $1 $2 && mount -o remount,ro,bind $2 && $3 -c "$4"'
    program = (
        "from election_replay.jobs.warehouse.warehouse import Warehouse as W; "
        f"from election_replay.jobs.upkeep import upkeep; w = W('{tmp_path}'); "
    )
    program += {"upkeep": "upkeep(w)", "publish": "w.append([], 'runs')", "land": "w.create()"}[command]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", mounted, "sh", whole, tmp_path, sys.executable, program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    if "JobError" not in done.stderr and "mount" in done.stderr:
        pytest.skip("nothing may be mounted here")
    assert done.stderr.splitlines()[-1].endswith(f"{tmp_path} cannot be written: it is read-only, or another user's")
    assert "panicked" not in done.stderr


WAITING = (
    "import election_replay.jobs.cli.app as c, election_replay.jobs.cli.pipeline as p, time; "
    "p.settings_in_force = lambda *_: print('begun', flush=True) or time.sleep(60); {}"
)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_stopped_command_ends_as_shells_expect(number: signal.Signals, code: int) -> None:
    program = WAITING.format("c.sys.exit(c.main(['land', '--landing', 'l', '--warehouse', 'w']))")
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        time.sleep(0.2)
        process.send_signal(number)
        said = process.stderr.read().decode()
        assert process.wait() == code
    assert said.lstrip() == ("error: stopped; run the same command again to go on\n" if code == 130 else "")
