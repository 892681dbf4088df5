"""No scratch folder stays behind when a process is stopped while it removes one."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

STOPPED_WHILE_IT_REMOVES = """
import shutil
from election_replay.jobs.engines.duckdb_rows import database_in

remove = shutil.rmtree

def stopped(*_, **__):
    raise KeyboardInterrupt

try:
    with database_in("100MB", 1) as (_, scratch):
        (scratch / "rows").write_text("1")
        shutil.rmtree = stopped
except KeyboardInterrupt:
    shutil.rmtree = remove
    print("stopped")
"""


def test_a_process_that_is_stopped_while_it_removes_a_folder_leaves_none(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_WHILE_IT_REMOVES],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "stopped\n"
    assert [*tmp_path.iterdir()] == []
