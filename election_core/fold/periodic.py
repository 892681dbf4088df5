"""Periodic lines, which a process writes again and again while nothing happens; a checkpoint keeps few of them.

A run of such lines is broken by any other line that the fold reads and by a clock that does not just go on. Within a
run, a checkpoint keeps of the lines of one kind with the same content: the first one, the last one that shows a count
to have grown with the line before it, and the last one. A fold of these gives the same facts as a fold of all lines.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from election_replay.election_core.model.fold_event import FoldEvent


@dataclass(frozen=True, slots=True)
class Periodic:
    """How a protocol reads a kind of periodic lines.

    ``says`` returns all that it reads of a line, from the fields ``reads``, except for the time and the field
    ``counts``: a number of which only the last growth matters. All lines within ``unstable_for_us`` after the first one
    of a run are kept, since its content may not be final. ``rhythm``: such lines come every few seconds while the
    process runs.
    """

    says: Callable[[FoldEvent], Hashable]
    reads: tuple[str, ...] = ()
    counts: str | None = None
    unstable_for_us: int = 0
    rhythm: bool = False

    def count(self, event: FoldEvent) -> int | None:
        """Return the number that may have grown, or ``None``."""
        number: int | None = getattr(event, self.counts) if self.counts is not None else None
        return number


PER_PEER_ADDRESS = Periodic(says=lambda event: event.peer_address, reads=("peer_address",))
"""Lines that repeat for each of several addresses, in turn."""
