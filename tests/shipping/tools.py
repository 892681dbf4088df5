"""The programs that ship logs, run for real, with the configurations that stand in docs/shipping.md."""

import os
import re
import shutil
import socket
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "shipping.md"
JARS = ROOT / "build" / "shipping-jars"

_BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENV = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}


def block(first: str) -> str:
    """The configuration on the page whose first line holds ``first``."""
    [found] = [text for text in _BLOCK.findall(PAGE.read_text(encoding="utf-8")) if first in text.partition("\n")[0]]
    return str(found)


def needs(tool: str) -> str:
    """The path of a program; a test without it is skipped, loudly."""
    found = shutil.which(tool, path=f"{ENV['PATH']}:/lib/systemd:/usr/lib/systemd")
    if found is None:
        skipped(f"NOT RUN FOR WANT OF {tool}: `make shipping-test` installs it and runs this")
    return str(found)


def skipped(why: str) -> None:
    """Skip a test, loudly; where all shippers must be there, that is a failure."""
    assert "ALL_SHIPPERS" not in os.environ, why
    warnings.warn(why, stacklevel=2)
    pytest.skip(why)


def listens(port: int) -> bool:
    """Whether somebody takes connections at a port of this machine."""
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def run(*command: str, data: bytes = b"") -> bytes:
    """What a program prints; it must succeed."""
    done = subprocess.run(command, input=data, capture_output=True, env=ENV, check=False, timeout=60)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program that runs meanwhile."""
    process = subprocess.Popen(command, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(what: Callable[[], bool], seconds: float = 30) -> bool:
    """Whether something comes true in time."""
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.1)
    return what()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def lines_in(path: Path) -> int:
    """How many whole lines a file has by now."""
    return path.read_bytes().count(b"\n") if path.exists() else 0
