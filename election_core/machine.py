"""The words of an executable protocol: what a machine is told, and what it does about it.

A protocol that can run is a pure function ``step(member, state, now_ms, told) -> (state, acts)`` over plain,
hashable data. It knows no network, no disk and no randomness: it asks for them by its acts, and whoever drives it
grants them: a world of :mod:`election_core.simulate`, or the search of :mod:`election_core.simulate.explore`. A timer
is asked for with a range, because real protocols draw their pauses at random; the driver draws.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

# -- what a machine is told ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Heard:
    """A message of another member arrived."""

    sender: str
    message: Hashable


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A request got no answer: ``refused`` at once by a machine without the process, or lost on the way."""

    to: str
    message: Hashable
    refused: bool


@dataclass(frozen=True, slots=True)
class Closed:
    """The process at the other end of a connection ended: its kernel closed the connection."""

    peer: str


@dataclass(frozen=True, slots=True)
class Fired:
    """A timer went off."""

    timer: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A client or an operator asks for something."""

    request: Hashable


Told = Heard | Unanswered | Closed | Fired | Asked

# -- what a machine does -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message; a request is given up after ``answer_within_ms``, a notice (``None``) is not waited for."""

    to: str
    message: Hashable
    answer_within_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer the request that is being handled."""

    message: Hashable


@dataclass(frozen=True, slots=True)
class Wait:
    """Set a timer, in place of an earlier one of its name, to go off in ``[at_least_ms, below_ms)``.

    ``by_clock``: it waits for a time of day, so that it comes earlier or later when somebody sets the clock.
    """

    timer: str
    at_least_ms: int
    below_ms: int
    by_clock: bool = True


@dataclass(frozen=True, slots=True)
class Store:
    """Write a file; what a process forgets with its death and its files keep is what ``Store`` decides."""

    file: str
    content: Hashable


@dataclass(frozen=True, slots=True)
class Say:
    """Write a line to the log. ``by`` tells which part of the process speaks; the values are columns of an event."""

    kind: str
    by: str
    values: tuple[tuple[str, Any], ...]


Act = Send | Answer | Wait | Store | Say

State = TypeVar("State")
Member = TypeVar("Member", contravariant=True)


class Machine(Protocol[Member, State]):
    """A protocol that can run."""

    def start(self, member: Member, stored: Mapping[str, Any], now_ms: int) -> tuple[State, tuple[Act, ...]]:
        """The process begins, with the files that its disk holds."""

    def step(self, member: Member, state: State, now_ms: int, told: Told) -> tuple[State, tuple[Act, ...]]:
        """One thing happens. ``now_ms`` is the machine's own clock in milliseconds: since 1970, or of a monotonic clock
        where the protocol's processes measure time by that."""
