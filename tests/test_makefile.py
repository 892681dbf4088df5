"""The README's first command on a machine without Java."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def without_java(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine that has what make needs, and no Java."""
    for name in ("sh", "sed", "head", "rm", "echo", "make"):
        found = shutil.which(name)
        assert found
        (tmp_path / name).symlink_to(found)
    # What a make that runs these tests tells its own makes: with it this one says the folder that it enters.
    not_ours = ("JAVA_HOME", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    return {key: value for key, value in os.environ.items() if key not in not_ours} | {"PATH": str(tmp_path)}


def made(target: str, environment: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A target of our Makefile, with a command in place of ours that says how it was called."""
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / ".ready").touch()
    command = folder / ".venv" / "bin" / "election-replay"
    command.write_text('#!/bin/sh\necho "called $@"\n')
    command.chmod(0o755)
    make = ["make", "-f", str(ROOT / "Makefile"), "-o", ".venv/.ready", target]
    return subprocess.run(make, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_demo_runs_on_the_local_engine_and_says_how_to_have_spark(
    without_java: dict[str, str], tmp_path: Path
) -> None:
    done = made("demo", without_java, tmp_path / "checkout")
    assert done.returncode == 0, done.stderr
    first, called, *_ = done.stdout.splitlines()
    assert "runs on the local engine" in first
    assert "apt-get install openjdk-17-jdk-headless" in first
    assert called.startswith("called run --engine local ")


def test_what_needs_spark_says_what_to_install(without_java: dict[str, str], tmp_path: Path) -> None:
    done = made("java", without_java, tmp_path / "checkout")
    assert done.returncode != 0
    assert "Spark needs a JDK 17 or newer; found: none." in done.stderr
