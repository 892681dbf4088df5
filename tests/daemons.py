"""Servers that a test starts and kills, each the leader of a process group, as if on a machine of its own."""

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVERS = range(15_000, 32_000)
"""Ports below those that Linux gives to connections by itself."""

given: set[int] = set()
"""Ports that a server of this process was given: it may not have begun to listen yet."""


@dataclass(frozen=True)
class Daemon:
    """A server, and where what it says is kept."""

    process: "subprocess.Popen[bytes]"
    log: Path

    def kill(self) -> None:
        """End it and all that it started at once, as a machine ends."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def wait_for(self, done: Callable[[], Any], seconds: int = 120) -> None:
        """Wait until it does what is expected of it."""
        wait_until(lambda: self.process.poll() is not None or done(), seconds)
        assert self.process.poll() is None, f"{self.log} ended: {self.log.read_text(errors='replace')[-2000:]}"


def started(command: Sequence[Any], log: Path, environment: Mapping[str, str]) -> Daemon:
    """A server whose working directory is that of its log."""
    with log.open("w") as out:
        process = subprocess.Popen(
            list(map(str, command)), env=environment, cwd=log.parent, stdout=out, stderr=out, start_new_session=True
        )
    return Daemon(process, log)


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on. No connection begins at one of them, as one might before its server has started."""
    ports: list[int] = []
    for port in random.sample(sorted(set(SERVERS) - given), len(SERVERS) - len(given)):
        if len(ports) == count:
            break
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            ports.append(port)
    given.update(ports)
    return ports


def wait_until(done: Callable[[], Any], seconds: int = 120) -> None:
    """Wait for something that servers do."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.3)
