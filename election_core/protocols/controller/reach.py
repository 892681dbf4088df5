"""What a broker says of the controllers that it does not reach (``ReplicasManager#scanAvailableControllerAddresses``).

A broker looks every few seconds which controllers it can connect to, and prints each that it loses, once.
"""

from collections.abc import Iterable, Iterator

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import Fact, Unreached
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import Timeout


def unreached(emit: FactWriter, lost: Iterable[FoldEvent]) -> Iterator[Fact]:
    """The times in which it lost most of the controllers that it knows, one soon after the other."""
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
