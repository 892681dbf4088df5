"""Tell which files no landing may read as they are: their order, or their mixture, would make it say what is false.

A look puts such files right and lands what it wrote; a nightly run must be given the logs as they were written.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from election_replay.election_core.dialects import Dialect
from election_replay.jobs.landing.landing_zone import LandingZone
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.processes import members_of, one_after_another
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


def refusal(
    file: LogFile, beginning: bytes, dialect: Dialect | None, zone: LandingZone, namesakes: Mapping[str, int]
) -> str | None:
    """Return why a log that begins with ``beginning`` is not read as it is; None: it is. ``namesakes`` counts the files
    of each name."""
    if file.below or dialect is None:
        return None
    lines = texts_of(beginning)[:SAMPLE]
    first, last = (next(filter(None, map(stamp, each)), None) for each in (lines, lines[::-1]))
    if first and last and last < first and falls([found for line in lines if (found := stamp(line)) is not None]):
        return NEWEST_FIRST
    if dialect.system != "redis" or file.size > MIXED_BYTES:
        return None
    members, left_out = members_of(file, zone)
    of_one = namesakes[PurePosixPath(file.path).name] > 1 and one_after_another(members, left_out)
    return None if not members or of_one else MIXED.format(len(members))
