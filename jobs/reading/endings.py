"""The ends of members' processes in sentences: how each ended, when it started again, and which died at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from election_replay.election_core.dialects import SYSTEMS
from election_replay.jobs.reading.incident import Incident
from election_replay.jobs.reading.words import Row, clock, listed, times

ENDED = {
    "died": "dies",
    "ended": "is killed or stopped",
    "stopped": "is stopped",
    "removed": "is removed",
    "ended_itself": "ends by itself",
    "silent": "falls silent: its log just stops",
}
"""Phrases for the end of a member's process."""

STAYS_AWAY = frozenset({"removed", "silent"})
"""Ends after which nobody waits for another start in the same log."""

NO_FAREWELL = frozenset(
    spoken.protocol for system in SYSTEMS if not system.says_farewell for spoken in system.protocols
)
"""Protocols whose processes print nothing when they are stopped, so that a vanished process may have been stopped."""

BLURRED = timedelta(seconds=1)
"""A death that is known less precisely than this is given as a range."""

AT_ONCE_FROM = 3
"""Members that may have died at one moment are one entry from this number on: a loss of power, a kill of all."""

FOLDED_FROM = 4
"""Equal consecutive ends of one member are one entry from this number on."""


@dataclass(frozen=True, slots=True)
class EndingEntry:
    """One entry of the story: the time of the first end, the members and sources that ended, and sentences."""

    at: datetime
    nodes: tuple[str, ...]
    sources: tuple[str | None, ...]
    sentence: str


def endings_in_words(incident: Incident) -> Iterator[EndingEntry]:
    """Yield an entry for each end of a member; for several if they died at once, or if one ended again and again."""
    at_once = died_at_once(incident.course.endings)
    for deaths in at_once:
        yield entry_of(deaths, deaths_in_words(incident, deaths))
    single = [ending for ending in incident.course.endings if not any(ending in deaths for deaths in at_once)]
    for ending, count, last in repeated_endings(single):
        yield entry_of([ending], ending_in_words(incident, ending, count, last))


def entry_of(endings: Sequence[Row], sentence: str) -> EndingEntry:
    """Return the entry of ``endings``, of which the first one is the earliest."""
    nodes, sources = (tuple(ending[name] for ending in endings) for name in ("node", "source_node"))
    return EndingEntry(endings[0]["end_time"], nodes, sources, sentence)


def died_at_once(endings: Sequence[Row]) -> list[list[Row]]:
    """Return the groups of deaths of different members whose possible times have a moment in common, sorted by time."""
    groups: list[list[Row]] = []
    deaths = [ending for ending in endings if ending["end_cause"] == "died" and ending["starts_again"]]
    for death in sorted(deaths, key=lambda death: (death["end_time"], death["node"])):
        last = groups[-1] if groups else []
        others = {other["node"] for other in last}
        if last and death["node"] not in others and death["end_time"] <= min(map(dead_by, last)):
            last.append(death)
        else:
            groups.append([death])
    return [group for group in groups if len(group) >= AT_ONCE_FROM]


def dead_by(death: Row) -> datetime:
    """Return the latest time at which a member can have died: the first at which others knew, or its next start."""
    by: datetime = death["end_time"] + timedelta(milliseconds=death["end_uncertainty_ms"] or 0)
    return min(by, death["starts_again"] or by)


def deaths_in_words(incident: Incident, deaths: Sequence[Row]) -> str:
    """Return the sentences about members that may have died at one moment, and about the return of each."""
    named = [(death["starts_again"], incident.called(death["node"], death["source_node"])) for death in deaths]
    how = "are killed or stopped" if ended("died", deaths[0]["protocol"]) == "ended" else "die"
    first, last = clock(deaths[0]["end_time"]), clock(deaths[-1]["end_time"])
    signs = f"the last sign of each is of {first}" if first == last else f"their last signs are of {first} to {last}"
    known = f"by {clock(min(map(dead_by, deaths)))} the first of them was known to be gone"
    starts = listed([f"{name} at {clock(back)}" for back, name in sorted(named)])
    return (
        f"{listed([name for _, name in named])} {how}, perhaps all at once: {signs}, and {known}. Restarts: {starts}."
    )


def repeated_endings(endings: Sequence[Row]) -> Iterator[tuple[Row, int, Row]]:
    """Yield (first, count, last) of equal consecutive ends of a member; count is 1 below :data:`FOLDED_FROM`."""
    for _, run in groupby(endings, key=lambda ending: (ending["node"], ending["source_node"], ending["end_cause"])):
        same = list(run)
        if len(same) < FOLDED_FROM:
            yield from ((ending, 1, ending) for ending in same)
        else:
            yield same[0], len(same), same[-1]


AS_ANOTHER = "; its process starts again as another member, or in another group"
"""The phrase for a death without a return: only a later start in the same log shows a death, so that is of another
member."""


def ending_in_words(incident: Incident, ending: Row, count: int, last: Row) -> str:
    """Return the sentence about the end of a member and its return; ``count`` equal ends up to ``last`` are one."""
    who = incident.called(ending["node"], ending["source_node"])
    often = f" {times(count)}, to {clock(last['end_time'])}" if count > 1 else ""
    back, died = last["starts_again"], last["end_cause"] == "died"
    starts = (
        f"; it starts again at {clock(back)}" if back else AS_ANOTHER if died else "; no line says that it starts again"
    )
    how = ENDED[ended(ending["end_cause"], ending["protocol"])]
    at, by = ending["end_time"], dead_by(ending)
    if count == 1 and died and by - at > BLURRED:
        return f"{who} {how} between {clock(at)} and {clock(by)}{starts}."
    expected = ending["end_cause"] not in STAYS_AWAY
    return f"{who} {how}{often}{starts if back or expected else ''}."


def ended(state: str, protocol: str) -> str:
    """Return the known end of a process: ``ended`` for a death in a protocol of :data:`NO_FAREWELL`."""
    return "ended" if state == "died" and protocol in NO_FAREWELL else state
