"""Tests of this checkout, and of copies of it in which something was changed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
COPIED = (
    *("pyproject.toml", "election_replay", "election_core", "schemas", "jobs", "conf"),
    *("tests", "benchmarks", "proof", "texts", "docs"),
)
"""What a copy of the checkout needs for its tests."""
TESTS_FAILED = 1
"""What pytest ends with when tests ran and some failed."""


def copy_into(folder: Path) -> None:
    """Copy what tests need of this checkout into an empty folder."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)


def run(root: Path, arguments: Iterable[str], output: IO[bytes] | int) -> int:
    """The exit code of Python with these arguments in a checkout, whose code comes before what is installed.

    Tests of this checkout do all that they can; those of a copy, in which something is broken, what they always do.
    """
    environment = os.environ | {"PYTHONPATH": str(root)} | ({"PROVE": "1"} if root == ROOT else {})
    done = subprocess.run(
        [sys.executable, *arguments], cwd=root, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False
    )
    return done.returncode


def pytest_run(root: Path, tests: Iterable[str], output: IO[bytes] | int, *options: str) -> int:
    """The exit code of pytest over ``tests`` in a checkout."""
    return run(root, ["-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *tests], output)


def is_caught(folder: Path, tests: Iterable[str]) -> bool:
    """Whether one of these tests fails in the copy of the checkout that lies in ``folder``."""
    return pytest_run(folder, tests, subprocess.DEVNULL, "-x") == TESTS_FAILED
