"""What a line of a log does, beside what it says: the meaning that a row of a system's table declares for its text.

The rooms that need the meaning of a kind ask for the kinds that do it (:mod:`election_core.fold.declared`), so that a
new system is known to all of them by its table alone.
"""

from enum import StrEnum


class Deed(StrEnum):
    """A meaning that a row may declare; a row may declare several."""

    STARTS = "starts"
    """A process writes it once, when it starts. It may be lost; a second one of its kind is a second start."""
    FIRST_LINE = "first line"
    """With it a program begins to write: it starts, and what stands long before it is another life's."""
    STARTED = "started"
    """The last line of a start: what comes after it belongs to the next one."""
    STOPS = "stops"
    """A clean shutdown begins, or goes on."""
    NAMES_WRITER = "names its writer"
    """``node`` is the member that wrote the line: lines of several members in one file are told apart by it."""
    NAMES_ITSELF = "names itself"
    """A process says who it is (``node``); one that says two names is a contradiction."""
    TELLS_RELEASE = "tells its release"
    """``value`` holds the release of the program that wrote the line."""
