"""Imports the modules that the local engine's processes need, once: they fork from a process that imports this."""

import os
from importlib import import_module

from election_replay.jobs import ONE_THREAD, POLARS_THREADS
from election_replay.jobs.cli.arrow_alone import skip_pandas

os.environ.setdefault(POLARS_THREADS, ONE_THREAD)
skip_pandas()
for _module in ("land", "replaying.judging"):
    import_module(f"election_replay.jobs.{_module}")
