"""A running ``election-replay serve``."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Served:
    """Its process, its port on this machine, and the line with which it was ready."""

    process: subprocess.Popen[str]
    port: int
    said: str

    def client(self, **settings: Any) -> Any:
        """A connection as DBeaver, Superset and notebooks make it."""
        from pyhive import hive

        return hive.connect(host="127.0.0.1", port=self.port, auth="NONE", username="reviewer", **settings)


@contextmanager
def serving(warehouse: str, *options: str) -> Iterator[Served]:
    """The endpoint before a warehouse, in a process of its own, on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = "import sys; import election_replay.jobs.cli.app; sys.exit(election_replay.jobs.cli.app.main())"
    arguments = ["serve", "--warehouse", warehouse, "--port", str(port), "--master", "local[2]", *options]
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout
    ready = (line for line in process.stdout if line.startswith(("Serving", "error")))
    try:
        yield Served(process, port, next(ready, "it ended without a word"))
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
