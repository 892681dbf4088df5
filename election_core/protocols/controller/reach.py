"""The controllers that a broker lost contact with (``ReplicasManager#scanAvailableControllerAddresses``).

A broker checks every few seconds which controllers it can connect to, and prints each one that it loses, once.
"""

from collections.abc import Iterable, Iterator

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import Fact, Unreached
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import Timeout


def unreached(emit: FactWriter, lost: Iterable[FoldEvent]) -> Iterator[Fact]:
    """Yield the times in which a broker lost most of the controllers that it ever names as lost, in quick
    succession."""
    runs: list[list[FoldEvent]] = []
    for event in sorted(lost, key=lambda event: (event.at, event.event_id)):
        if runs and event.at - runs[-1][-1].by <= Timeout.CONTROLLERS_LOST.us:
            runs[-1].append(event)
        else:
            runs.append([event])
    known = {event.peer_address for run in runs for event in run}
    for run in runs:
        first, last = run[0], run[-1]
        if 2 * len({event.peer_address for event in run}) > len(known):
            end = last.at, last.by, last.event_id
            yield Unreached(*emit.during(emit.node_at(first.at), first.at, first.by, first.event_id, *end))
