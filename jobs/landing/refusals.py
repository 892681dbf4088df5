"""Tell which files no landing may read as they are: their order, or their mixture, would make it say what is false.

A look puts such files right and lands what it wrote; a nightly run must be given the logs as they were written.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from election_replay.election_core.dialects import Dialect
from election_replay.jobs.landing.landing_zone import LandingZone
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.processes import in_turn, members_of
from election_replay.jobs.landing.recognising import texts_of
from election_replay.jobs.landing.written_times import stamp

SAMPLE = 500
"""How many lines are looked at to tell whether times go forwards or back."""

FEWEST_STEPS = 8
"""Fewer changes of time from line to line tell nothing."""

MIXED_BYTES = 16 << 20
"""A larger file is not searched for several processes of Redis."""

NEWEST_FIRST = (
    "its lines come with the newest first, and order is what the verdict rests on: none is read; give it with the "
    "oldest first (tac FILE), or look into it with election-replay look"
)
MIXED = (
    "it holds the lines of {} servers or sentinels of Redis, and no line says whose it is: none is read; give each its "
    "log, or look into it with election-replay look"
)


def falls(times: Sequence[Any]) -> bool:
    """Return True when times mostly go back from line to line."""
    steps = [(before, after) for before, after in pairwise(times) if before != after]
    return len(steps) >= FEWEST_STEPS and sum(after < before for before, after in steps) > 0.9 * len(steps)


def newest_first(beginning: bytes) -> str | None:
    """Return why a log that begins with ``beginning`` is not read, where its newest line stands first; else None."""
    lines = texts_of(beginning)[:SAMPLE]
    first, last = (next(filter(None, map(stamp, each)), None) for each in (lines, lines[::-1]))
    if first and last and last < first and falls([found for line in lines if (found := stamp(line)) is not None]):
        return NEWEST_FIRST
    return None


def mixed(file: LogFile, dialect: Dialect | None, zone: LandingZone) -> str | None:
    """Return why a log of Redis is not read, where several servers wrote it at the same time; else None."""
    if dialect is None or dialect.system != "redis" or file.size > MIXED_BYTES:
        return None
    members, left_out = members_of(file, zone)
    return None if not members or in_turn(members, left_out) else MIXED.format(len(members))
