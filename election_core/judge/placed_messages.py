"""Messages between two segments of clocks, and what many of them prove together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from election_replay.election_core.judge.difference_constraints import Edge, Edges, contradict, longest
from election_replay.election_core.judge.moments import Message, Moment
from election_replay.election_core.model.timing import Timeout

WANDER_US = Timeout.CLOCK_WANDER.us
"""How far two clocks may part between a message that compares them and the moments that are judged by it.

A clock that is kept within its bound is slewed back and forth, a free one gains or loses up to 100 us a second. Whole
seconds blur more than that.
"""


@dataclass(frozen=True, slots=True, order=True)
class Placed:
    """A message between two segments."""

    message: Message
    cause: int
    effect: int
    ahead: int
    """By how much the timeline of its effect is ahead of its readings there, more than that of its cause."""

    def at(self, number: int) -> int:
        """Its reading in one of them."""
        return self.message.cause.at if number == self.cause else self.message.effect.by

    def moment(self, number: int) -> Moment:
        """Its moment in one of them."""
        return self.message.cause if number == self.cause else self.message.effect

    @property
    def most(self) -> int:
        """By how much the clock of its effect is ahead of that of its cause, at most."""
        effect = self.message.effect
        return effect.by - self.message.cause.at - self.ahead + (WANDER_US if effect.by - effect.at < WANDER_US else 0)

    @property
    def edge(self) -> Edge:
        """What it proves."""
        return Edge(self.most, tuple(e for e in (self.message.cause.event_id, self.message.effect.event_id) if e))


def from_begin(placed: Sequence[Placed], rest: Edges) -> int:
    """How many of the first messages agree with each other and with the rest."""
    return longest(len(placed), lambda count: not contradict(tightest(placed[:count], rest)))


def to_end(placed: Sequence[Placed], rest: Edges) -> int:
    """How many of the last messages agree with each other and with the rest."""
    return longest(len(placed), lambda count: not contradict(tightest(placed[len(placed) - count :], rest)))


def tightest(placed: Iterable[Placed], others: Edges | None = None) -> Edges:
    """For each ordered pair of segments the message that says most, beside other edges."""
    found: Edges = dict(others or {})
    for message in placed:
        pair, most = (message.cause, message.effect), message.most
        known = found.get(pair)
        if known is None or most < known.most or (most == known.most and message.edge < known):
            found[pair] = message.edge
    return found
