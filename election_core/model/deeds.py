"""Deeds: the meanings of a line that a row of a system's table may declare, besides its content. The packages that need
such a meaning ask for its kinds (:mod:`election_core.fold.declared`), so a new system needs only its table."""

from enum import StrEnum


class Deed(StrEnum):
    """A meaning that a row may declare; a row may declare several."""

    STARTS = "starts"
    """A process writes it once, at its start. It may be lost; a second one of its kind is a second start."""
    FIRST_LINE = "first line"
    """The first line of a program: it starts, and lines long before it belong to an earlier run."""
    STARTED = "started"
    """The last line of a start: later start lines belong to the next start."""
    STOPS = "stops"
    """A clean shutdown begins, or goes on."""
    NAMES_WRITER = "names its writer"
    """``node`` is the member that wrote the line; it separates lines of several members in one file."""
    NAMES_ITSELF = "names itself"
    """A process names itself (``node``); two names are a contradiction."""
    TELLS_RELEASE = "tells its release"
    """``value`` holds the release of the program that wrote the line."""
