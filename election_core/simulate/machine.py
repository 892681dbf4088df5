"""The interface of an executable protocol: the inputs of a machine, and its acts.

An executable protocol is a pure function ``step(member, state, now_ms, incoming) -> (state, acts)`` over plain,
hashable data. It has no network, disk or randomness: its acts request them from its driver, which is a world of
:mod:`election_core.simulate`, or the tests' search of all interleavings. A timer has a range, because real protocols
draw their pauses at random; the driver draws.
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
    """A request got no answer: ``refused`` at once by a machine without the process, or lost."""

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
    """A client adds ``count`` entries."""

    count: int


@dataclass(frozen=True, slots=True)
class Transfer:
    """An operator asks the leader to hand over."""

    to: str


Input = Heard | Unanswered | Closed | Fired | Asked

# -- what a machine does -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message; a request is given up after ``answer_within_ms``, a notice (None) gets no answer."""

    to: str
    message: Hashable
    answer_within_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer the request being handled."""

    message: Hashable


@dataclass(frozen=True, slots=True)
class Wait:
    """Set a timer, replacing an earlier one of its name, to fire in ``[at_least_ms, below_ms)``. ``by_clock``: it waits
    for a time of day, so it fires earlier or later when somebody sets the clock."""

    timer: str
    at_least_ms: int
    below_ms: int
    by_clock: bool = True


@dataclass(frozen=True, slots=True)
class Store:
    """Write a file, which outlives the process."""

    file: str
    content: Hashable


@dataclass(frozen=True, slots=True)
class Say:
    """Write a log line. ``by`` is the part of the process that writes; the values are columns of an event."""

    kind: str
    by: str
    values: tuple[tuple[str, Any], ...]


Act = Send | Answer | Wait | Store | Say

State = TypeVar("State")
Member = TypeVar("Member", contravariant=True)


class Machine(Protocol[Member, State]):
    """An executable protocol."""

    def start(self, member: Member, stored: Mapping[str, Any], now_ms: int) -> tuple[State, tuple[Act, ...]]:
        """Start the process with the files on its disk; return its state and first acts."""

    def step(self, member: Member, state: State, now_ms: int, incoming: Input) -> tuple[State, tuple[Act, ...]]:
        """Handle one input; ``now_ms`` is the machine's own clock: ms since 1970, or of a monotonic clock."""


Of = TypeVar("Of", bound=Any)
In = TypeVar("In", bound=Any)


class Turn(Generic[Of, In]):
    """One step under construction, of a member in a state: the new state and the acts so far.

    ``by`` is the part of the process that acts, unless an act names another. A protocol sets for all its steps:
    ``by_clock``, timers wait for a time of day; ``jitter_ms``, the most delay of a timer without a range;
    ``names_itself``, every line names the member.
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
        """Replace values of the state."""
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
        """Return the new state and the acts."""
        return self.state, tuple(self.acts)
