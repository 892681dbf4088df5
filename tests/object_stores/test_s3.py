"""A night from and into an S3-compatible store, through Spark's connector, Arrow and Delta's own reader."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.request import Request, urlopen

import pyspark
import pytest
from pyarrow import fs

from tests.acceptance.published import election_replay

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SPARK = Path(pyspark.__file__).parent
CLUSTER = "kill-leader-533"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """A store with two buckets; the environment in which everybody finds it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with (tmp_path / "store.log").open("w") as log:
        process = subprocess.Popen(
            [os.environ["MOTO_SERVER"], "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log
        )
    end = time.monotonic() + 120
    while socket.socket().connect_ex(("127.0.0.1", port)):
        assert time.monotonic() < end, "the store did not start"
        time.sleep(0.2)
    for bucket in ("logs", "tables"):
        with urlopen(Request(f"{address}/{bucket}", method="PUT")):  # noqa: S310 - our own store
            pass
    who = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_REGION": "us-east-1"}
    yield who | {"AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": address, "AWS_ALLOW_HTTP": "true"}
    process.terminate()
    process.wait()


def test_a_night_from_and_into_a_store(store: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in store.items():
        monkeypatch.setenv(name, value)
    system, _ = fs.FileSystem.from_uri("s3://logs/zone")
    fs.copy_files(str(ROOT / "examples/landing" / CLUSTER), f"logs/zone/{CLUSTER}", destination_filesystem=system)
    settings = {"endpoint": store["AWS_ENDPOINT_URL"], "endpoint.region": "us-east-1", "path.style.access": "true"}
    done = subprocess.run(
        [
            *(SPARK / "bin/spark-submit", "--properties-file", ROOT / "conf/spark/local.conf"),
            *("--packages", packages(), "--exclude-packages", "software.amazon.awssdk:bundle"),
            *(word for name, value in settings.items() for word in ("--conf", f"spark.hadoop.fs.s3a.{name}={value}")),
            *(ROOT / "jobs/run.py", "--landing", "s3a://logs/zone", "--warehouse", "s3a://tables/w"),
        ],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "1 clusters, 1 replica groups" in done.stdout
    ask = ("SELECT rule, summary FROM findings ORDER BY ALL", "--format", "json")
    found = json.loads(election_replay("sql", "--warehouse", "s3://tables/w", *ask))
    assert any(row["rule"] == "LEADERLESS" and "n1 (term 1) died" in row["summary"] for row in found)
    assert "expectations of 13 tables hold" in election_replay("validate", "--warehouse", "s3a://tables/w")
    again = election_replay("run", "--landing", "s3a://logs/zone", "--warehouse", "s3a://tables/w")
    assert "Nothing new has come" in again


def packages() -> str:
    """The packages that docs/operations.md names."""
    found = re.search(r"--packages (\S+)", (ROOT / "docs/operations.md").read_text(encoding="utf-8"))
    assert found
    return found[1]
