"""What systems declare about their lines: the only access of the fold to the dialects. The fold knows no dialect; it
reads kinds of events. The table of a system says what a kind does."""

from functools import lru_cache

from election_replay.election_core.dialects.system import System
from election_replay.election_core.dialects.systems import SYSTEMS, kinds_that
from election_replay.election_core.model.deeds import Deed

__all__ = ["SYSTEMS", "Deed", "kinds_that", "system_that_writes", "systems_by_kind"]


@lru_cache(maxsize=4096)
def system_that_writes(stream: str) -> System | None:
    """Return the system whose process writes files of that name; ``None`` if no system claims it."""
    return next((system for system in SYSTEMS if system.writes(stream)), None)


def systems_by_kind(deed: Deed) -> dict[str, System]:
    """Return the system of each kind of events with this deed."""
    return {kind: system for system in SYSTEMS for kind in system.does[deed]}
