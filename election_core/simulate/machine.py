"""The words of an executable protocol: what a machine is told, and what it does about it.

A protocol that can run is a pure function ``step(member, state, now_ms, told) -> (state, acts)`` over plain,
hashable data. It knows no network, no disk and no randomness: it asks for them by its acts, and whoever drives it
grants them: a world of :mod:`election_core.simulate`, or the tests' search of all interleavings. A timer is asked for
with a range, because real protocols draw their pauses at random; the driver draws.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

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


# -- what clients and operators ask for in most protocols -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Write:
    """A client adds so many entries."""

    count: int


@dataclass(frozen=True, slots=True)
class Transfer:
    """An operator asks the leader to hand over."""

    to: str


Input = Heard | Unanswered | Closed | Fired | Asked

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

    def step(self, member: Member, state: State, now_ms: int, incoming: Input) -> tuple[State, tuple[Act, ...]]:
        """One thing happens. ``now_ms`` is the machine's own clock in milliseconds: since 1970, or of a monotonic clock
        where the protocol's processes measure time by that."""


Of = TypeVar("Of", bound=Any)
In = TypeVar("In", bound=Any)


class Turn(Generic[Of, In]):
    """One step in the making, of a member in a state: the state so far, and the acts so far.

    ``by`` is the part of the process that acts, where an act does not say another. A protocol says for all its steps:
    ``by_clock``, timers wait for a time of day; ``jitter_ms``, how late one goes off that has no range;
    ``names_itself``, each thing that is said names the member.
    """

    by_clock: ClassVar[bool] = False
    jitter_ms: ClassVar[int] = 1
    names_itself: ClassVar[bool] = False

    def __init__(self, member: Of, state: In, now_ms: int, by: str) -> None:
        self.member = member
        self.state = state
        self.now_ms = now_ms
        self.by = by
        self.acts: list[Act] = []

    def change(self, **values: Any) -> None:
        """The state gets other values."""
        self.state = replace(self.state, **values)

    def wait(self, timer: str, at_least_ms: int, below_ms: int | None = None) -> None:
        """Set a timer."""
        below_ms = at_least_ms + self.jitter_ms if below_ms is None else below_ms
        self.acts.append(Wait(timer, at_least_ms, below_ms, self.by_clock))

    def say(self, kind: str, by: str | None = None, **values: Any) -> None:
        """Write a line."""
        values = {"node": self.member.name, **values} if self.names_itself else values
        self.acts.append(Say(kind, by or self.by, tuple(values.items())))

    def send(self, to: str, message: Hashable, answer_within_ms: int | None = None) -> None:
        """Send a message."""
        self.acts.append(Send(to, message, answer_within_ms))

    def answer(self, message: Hashable) -> None:
        """Answer the request that is being handled."""
        self.acts.append(Answer(message))

    def store(self, file: str, content: Hashable) -> None:
        """Write a file."""
        self.acts.append(Store(file, content))

    def done(self) -> tuple[In, tuple[Act, ...]]:
        """The step."""
        return self.state, tuple(self.acts)
