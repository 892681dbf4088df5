"""Imports what the processes of the local engine need, for all of them at once: they are forked from one that did."""

import os
from importlib import import_module

from election_replay.jobs import ONE_THREAD, POLARS_THREADS
from election_replay.jobs.cli.arrow_alone import arrow_alone

os.environ.setdefault(POLARS_THREADS, ONE_THREAD)
arrow_alone()
for _module in ("land", "replaying.judging"):
    import_module(f"election_replay.jobs.{_module}")
