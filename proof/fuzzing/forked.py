"""libFuzzer over one target after the other, each in a fork of this process, which imported the code with probes."""

import os
import sys
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import atheris

READ_BY = [
    "election_replay.election_core.dialects",
    "election_replay.election_core.envelopes",
    "election_replay.jobs.landing",
    "election_replay.jobs.warehouse.data_files",
]
"""What reads a file that is landed."""

with redirect_stderr(StringIO()), atheris.instrument_imports(include=READ_BY):
    from proof.fuzzing.targets import HERE, Target, targets, try_one

__all__ = ["HERE", "Target", "libfuzzer", "targets"]


def libfuzzer(target: Target, options: list[str], log: Path) -> bool:
    """Whether libFuzzer ends well over a target; its words go into ``log``."""
    sys.stdout.flush()
    if not (child := os.fork()):
        with log.open("wb") as file:
            for stream in (sys.stdout, sys.stderr):
                os.dup2(file.fileno(), stream.fileno())
        atheris.Setup([sys.argv[0], *options], lambda data: try_one(target, data))
        atheris.Fuzz()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return status == 0
