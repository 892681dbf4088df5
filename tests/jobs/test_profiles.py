"""The profiles for Spark: what their commands say, and that none of them runs without settings."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from election_replay.jobs.cli.app import main
from tests.printed import in_comments
from tests.proving import amount

ROOT = Path(__file__).parents[2]
PROFILES = ROOT / "conf/spark"
PAGES = (
    *sorted(PROFILES.glob("*.conf")),
    ROOT / "Containerfile",
    ROOT / "docs/operations.md",
    ROOT / "docs/clusters.md",
    ROOT / "README.md",
)
SUBMIT = Path(pyspark.__file__).parent / "bin/spark-submit"
CLUSTERS = {"k8s": "k8s://https://127.0.0.1:1", "yarn": "yarn", "standalone": "spark://127.0.0.1:1"}
"""The profiles for clusters, and a master for each at which nobody listens."""

JOBS = {
    "run.py": ("--landing", "L", "--warehouse", "W"),
    "land.py": ("--landing", "L", "--warehouse", "W"),
    "replay.py": ("--warehouse", "W"),
}


def commands(page: Path) -> list[list[str]]:
    """The commands of a page that run in a cluster or a container and read settings, word by word."""
    text = re.sub(r"(?m)^#", "", page.read_text(encoding="utf-8"))
    joined = re.sub(r"\\\n\s*", " ", text)
    lines = re.findall(r"(?m)^\s*((?:spark-submit|podman run) .+)$", joined)
    return [words for words in map(shlex.split, lines) if {"--landing", "jobs/replay.py"} & {*words}]


def at_home(words: list[str]) -> bool:
    """Whether a command runs where it is typed, in one process."""
    return words[0] == "spark-submit" and "conf/spark/local.conf" in words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_printed_command_for_a_cluster_or_a_container_names_its_settings(page: Path) -> None:
    for words in commands(page):
        if not at_home(words) or "s3a://logs/zone" in words:
            assert words.index("--config") > words.index("--landing"), " ".join(words)


def test_there_are_such_commands() -> None:
    found = [words for page in PAGES for words in commands(page) if not at_home(words)]
    for name in CLUSTERS:
        assert any(f"conf/spark/{name}.conf" in words for words in found), name
    assert sum(words[0] == "podman" for words in found) >= 2


def test_a_profile_for_a_cluster_is_tried_here() -> None:
    assert {path.stem for path in PROFILES.glob("*.conf")} == {*CLUSTERS, "local"}


@pytest.mark.parametrize("profile", CLUSTERS)
def test_a_profile_for_a_cluster_can_be_looked_into_and_brings_what_executors_need(profile: str) -> None:
    lines = (PROFILES / f"{profile}.conf").read_text(encoding="utf-8").splitlines()
    settings = dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    assert settings["spark.ui.enabled"] == settings["spark.eventLog.enabled"] == "true"
    assert settings["spark.eventLog.dir"]
    assert int(settings["spark.sql.shuffle.partitions"]) > int(settings["spark.databricks.delta.snapshotPartitions"])
    if profile == "k8s":
        assert "spark.archives" not in settings, "the image brings Python"
    else:
        assert settings["spark.archives"].endswith("environment.tar.gz#environment")
    if profile != "standalone":  # whose workers count the JVM's memory alone
        assert settings["spark.dynamicAllocation.enabled"] == "true"
        assert settings.keys() & {"spark.executor.memoryOverhead", "spark.kubernetes.memoryOverheadFactor"}


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "master"), [*CLUSTERS.items()][: amount(1, len(CLUSTERS))])
def test_without_settings_the_command_of_a_profile_ends_before_it_asks_its_cluster(
    profile: str, master: str, tmp_path: Path
) -> None:
    """As its driver would, with a JVM and before there is a session. What Python says, Spark prints.

    ``make test`` does so with one of them: the next test has each master, and each profile's settings are looked into.
    """
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/pipeline.yaml").write_text("")
    [command] = [one for one in in_comments(PROFILES / f"{profile}.conf") if one.startswith("spark-submit ")]
    done = subprocess.run(
        without_settings(command, master),
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 2, done.stderr[-2000:]
    assert done.stdout.rstrip() == (
        f"error: no settings are named, and Spark's master is {master}: give --config FILE or set "
        "ELECTION_REPLAY_CONFIG; --config none means the defaults, which hash no address"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["conf"], "nothing was written"


def without_settings(command: str, master: str) -> list[str]:
    """A printed command without its settings, which fetches nothing, and whose driver runs here."""
    named, _, settings = command.partition(" --config ")
    assert settings
    words = shlex.split(re.sub(r" --(master|packages|files) \S+", "", named).replace("conf/spark", str(PROFILES)))
    place = next(number for number, word in enumerate(words) if word.endswith("jobs/run.py"))
    here = {"spark.jars.packages": "", "spark.archives": "", "spark.pyspark.python": sys.executable}
    here["spark.pyspark.driver.python"] = sys.executable
    return [
        *(str(SUBMIT), *words[1:place], "--master", master, "--deploy-mode", "client"),
        *(word for name, value in here.items() for word in ("--conf", f"{name}={value}")),
        *(str(ROOT / "jobs/run.py"), *words[place + 1 :]),
    ]


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("master", CLUSTERS.values())
def test_so_does_every_job_by_the_master_that_it_is_given(
    job: str, master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ELECTION_REPLAY_CONFIG", "ELECTION_REPLAY_CONFIG_REQUIRED", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)
    words = (job.removesuffix(".py"), *JOBS[job])
    assert main([*words, "--master", master]) == 2
    assert f"Spark's master is {master}" in capsys.readouterr().err


def environment() -> dict[str, str]:
    """An environment that names no settings and no other Spark."""
    dropped = {"ELECTION_REPLAY_CONFIG", "ELECTION_REPLAY_CONFIG_REQUIRED", "SPARK_HOME", "SPARK_CONF_DIR"}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    hadoop = {"HADOOP_CONF_DIR": str(PROFILES), "SPARK_LOCAL_IP": "127.0.0.1"}
    return kept | python | hadoop
