"""What the systems declare of their lines: the one door through which the fold asks the dialects.

What is replayed knows no dialect: it reads kinds of events. What a kind does its system's table says.
"""

from functools import lru_cache

from election_replay.election_core.dialects.system import System
from election_replay.election_core.dialects.systems import SYSTEMS, kinds_that
from election_replay.election_core.model.deeds import Deed

__all__ = ["SYSTEMS", "Deed", "kinds_that", "system_that_writes", "systems_by_kind"]


@lru_cache(maxsize=4096)
def system_that_writes(stream: str) -> System | None:
    """The system whose process writes files of that name; ``None`` for one without a row."""
    return next((system for system in SYSTEMS if system.writes(stream)), None)


def systems_by_kind(deed: Deed) -> dict[str, System]:
    """The system of each kind of events that does something."""
    return {kind: system for system in SYSTEMS for kind in system.does[deed]}
