"""Messages between two segments of clocks, and the bounds that they prove together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from election_replay.election_core.judge.difference_constraints import Edge, Edges, contradict, longest
from election_replay.election_core.judge.moments import Message, Moment
from election_replay.election_core.model.timing import Timeout

WANDER_US = Timeout.CLOCK_WANDER.us
"""How far two clocks may drift apart between a message that compares them and the moments that are judged by it, in us.
A clock that is kept within its bound is slewed back and forth; a free one gains or loses up to 100 us a second. Stamps
in whole seconds are less exact than that."""


@dataclass(frozen=True, slots=True, order=True)
class Placed:
    """A message between two segments."""

    message: Message
    cause: int
    effect: int
    ahead: int
    """By how many us more the timeline of the effect is ahead of its readings than that of the cause."""

    def at(self, number: int) -> int:
        """Return the time in us of the cause or effect, whichever lies in segment ``number``."""
        return self.message.cause.at if number == self.cause else self.message.effect.by

    def moment(self, number: int) -> Moment:
        """Return the cause or effect, whichever lies in segment ``number``."""
        return self.message.cause if number == self.cause else self.message.effect

    @property
    def most(self) -> int:
        """Return how far, at most, the clock of the effect is ahead of the clock of the cause, in us."""
        effect = self.message.effect
        return effect.by - self.message.cause.at - self.ahead + (WANDER_US if effect.by - effect.at < WANDER_US else 0)

    @property
    def edge(self) -> Edge:
        """Return the bound that the message proves, with the ids of its two lines."""
        return Edge(self.most, tuple(e for e in (self.message.cause.event_id, self.message.effect.event_id) if e))


def from_begin(placed: Sequence[Placed], rest: Edges) -> int:
    """Return how many of the first messages agree with each other and with ``rest``."""
    return longest(len(placed), lambda count: not contradict(tightest(placed[:count], rest)))


def to_end(placed: Sequence[Placed], rest: Edges) -> int:
    """Return how many of the last messages agree with each other and with ``rest``."""
    return longest(len(placed), lambda count: not contradict(tightest(placed[len(placed) - count :], rest)))


def tightest(placed: Iterable[Placed], others: Edges | None = None) -> Edges:
    """Return, for each ordered pair of segments, the tightest bound of the messages and of ``others``."""
    found: Edges = dict(others or {})
    for message in placed:
        pair, most = (message.cause, message.effect), message.most
        known = found.get(pair)
        if known is None or most < known.most or (most == known.most and message.edge < known):
            found[pair] = message.edge
    return found
