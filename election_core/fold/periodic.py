"""Lines that a process writes again and again while nothing happens, of which a checkpoint keeps a few.

A run of them is broken by any other line of interest and by a clock that does not just go on. Within a run, the lines
of one kind that say the same are worth their first ones, the last that shows a count to have grown with the line before
it, and the last one: a fold of these gives what a fold of all gives, whatever stands before and after the run.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from election_replay.election_core.model.fold_event import FoldEvent


@dataclass(frozen=True, slots=True)
class Periodic:
    """How a protocol reads a kind of periodic lines.

    ``says`` is all that it reads, from the fields ``reads``, but for the time and for the field ``counts``: a number of
    which only the last growth matters. What the first line of a run says may be believed only so many microseconds
    after it: ``settles``. ``rhythm``: such lines come every few seconds as long as the process runs.
    """

    says: Callable[[FoldEvent], Hashable]
    reads: tuple[str, ...] = ()
    counts: str | None = None
    settles: int = 0
    rhythm: bool = False

    def count(self, event: FoldEvent) -> int | None:
        """The number that may have grown."""
        number: int | None = getattr(event, self.counts) if self.counts is not None else None
        return number


PER_PEER_ADDRESS = Periodic(says=lambda event: event.peer_address, reads=("peer_address",))
"""Lines that say the same of one address again and again, and of others in between."""
