"""The image, as far as it can be checked without building it: what it copies, and what its containers start."""

import fnmatch
import os
import re
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

ROOT = Path(__file__).parent.parent
CONTAINERFILE = (ROOT / "Containerfile").read_text(encoding="utf-8")
ENTRYPOINT = ROOT / "conf/spark/entrypoint.sh"
EXECUTOR = {
    "SPARK_JAVA_OPT_0": "-Da=b c",
    "SPARK_JAVA_OPT_1": "-Dd=e",
    "SPARK_EXECUTOR_MEMORY": "4g",
    "SPARK_DRIVER_URL": "spark://driver:7078",
    "SPARK_EXECUTOR_ID": "1",
    "SPARK_EXECUTOR_CORES": "2",
    "SPARK_APPLICATION_ID": "app",
    "SPARK_EXECUTOR_POD_IP": "10.0.0.9",
    "SPARK_RESOURCE_PROFILE_ID": "0",
    "SPARK_EXECUTOR_POD_NAME": "pod",
    "SPARK_CONF_DIR": "/opt/spark/conf",
}
"""What Spark on Kubernetes sets for an executor."""


def test_what_it_copies_is_there_and_not_kept_from_it() -> None:
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    sources = [source for words in re.findall(r"(?m)^COPY (.+)$", CONTAINERFILE) for source in words.split()[:-1]]
    assert {"jobs", "conf", "pyproject.toml"} <= set(sources)
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(fnmatch.fnmatch(source, pattern) for pattern in kept), source


def test_what_it_links_is_part_of_pyspark() -> None:
    [parts] = re.findall(r"for part in ([^;]+);", CONTAINERFILE)
    for part in parts.split():
        assert (Path(pyspark.__file__).parent / part).is_dir(), part
    assert (Path(pyspark.__file__).parent / "bin/spark-submit").is_file()
    assert list((Path(pyspark.__file__).parent / "jars").glob("spark-kubernetes_*.jar"))


def test_its_entrypoint_is_where_it_says_and_can_be_run() -> None:
    [place] = re.findall(r'ENTRYPOINT \["/opt/election-replay/(.+)"\]', CONTAINERFILE)
    assert ROOT / place == ENTRYPOINT
    assert os.access(ENTRYPOINT, os.X_OK)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH with a ``tini`` that says what it would start, word by word."""
    tini = tmp_path / "tini"
    tini.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    tini.chmod(0o755)
    return f"{tmp_path}{os.pathsep}{os.environ['PATH']}"


def starts(path: str, *words: str, **environment: str) -> list[str]:
    """What a container starts."""
    done = subprocess.run(
        [ENTRYPOINT, *words],
        env={"PATH": path, "SPARK_HOME": "/opt/spark", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("-s\n--\n")
    return done.stdout.splitlines()[2:]


def test_a_container_is_a_command_of_ours(path: str) -> None:
    assert starts(path, "run", "--landing", "a b") == ["election-replay", "run", "--landing", "a b"]
    assert starts(path) == ["election-replay"]


def test_or_the_driver_of_spark(path: str) -> None:
    given = ("--properties-file", "/opt/spark/conf/spark.properties", "--class", "org.apache.spark.deploy.PythonRunner")
    started = starts(path, "driver", *given, SPARK_DRIVER_BIND_ADDRESS="10.0.0.8")
    assert started[:3] == ["/opt/spark/bin/spark-submit", "--deploy-mode", "client"]
    assert "spark.driver.bindAddress=10.0.0.8" in started
    assert tuple(started[-4:]) == given


def test_or_an_executor(path: str) -> None:
    started = starts(path, "executor", **EXECUTOR)
    assert started[:5] == ["java", "-Da=b c", "-Dd=e", "-Xms4g", "-Xmx4g"]
    assert started[5:7] == ["-cp", "/opt/spark/conf:/opt/spark/jars/*"]
    main, *words = started[7:]
    assert main.endswith(".KubernetesExecutorBackend")
    assert dict(zip(words[::2], words[1::2], strict=True)) == {
        "--driver-url": "spark://driver:7078",
        "--executor-id": "1",
        "--cores": "2",
        "--app-id": "app",
        "--hostname": "10.0.0.9",
        "--resourceProfileId": "0",
        "--podName": "pod",
    }


def test_a_container_without_settings_ends_with_a_line_that_says_so(tmp_path: Path) -> None:
    [(name, value)] = re.findall(r'(?m)^ENV (ELECTION_REPLAY_CONFIG_REQUIRED)="(.+)"$', CONTAINERFILE)
    environment = {**os.environ, name: value, "PYTHONPATH": str(ROOT)}
    environment.pop("ELECTION_REPLAY_CONFIG", None)
    for words in (("run", "--landing", "logs"), ("land", "--landing", "logs"), ("replay",)):
        command = [sys.executable, "-m", "election_replay.jobs.cli", *words, "--warehouse", "warehouse"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: no settings are named, and {name} is set (the container image): give")
    assert not list(tmp_path.iterdir())


def test_the_profile_for_kubernetes_names_what_is_in_the_image() -> None:
    profile = (ROOT / "conf/spark/k8s.conf").read_text(encoding="utf-8")
    assert (ROOT / re.findall(r"local:///opt/election-replay/(\S+)", profile)[0]).is_file()
    assert "spark.jars" not in profile, "who submits would have to fetch them"
    assert re.search(r"cp \S+/jars/\*\.jar /opt/spark/jars/", CONTAINERFILE)
    [events] = re.findall(r"(?m)^spark\.eventLog\.dir +file://(.+)$", profile)
    assert re.search(rf"install --directory --owner=replay .*{events}$", CONTAINERFILE, re.MULTILINE)
