"""The network of a world: delay, loss that TCP repairs late, cuts in one or both directions.

A lost packet delays a message; only a cut, or the death of a process, loses one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import permutations
from random import Random

HELD_US = 15_000_000
"""TCP retries through a cut for this long (us): messages sent before are delivered late, or never."""
RESENT_US = (200_000, 3_000_000)
"""The range of the delay in us of a message whose packets were lost once or more."""


@dataclass(slots=True)
class Network:
    """``delay_us`` is the range of a delay; the fraction ``lost`` of messages is sent again.

    The fraction ``doubled`` arrives twice, as after a request whose answer was lost. A message that meets a cut is
    retried for ``held_us``: some systems close a silent connection sooner than TCP does.
    """

    rng: Random
    delay_us: tuple[int, int] = (500, 6000)
    lost: float = 0.0
    doubled: float = 0.0
    held_us: int = HELD_US
    cuts: set[tuple[str, str]] = field(default_factory=set)

    def delay(self) -> int:
        """Return the time in us that a message takes."""
        resent = self.lost > 0 and self.rng.random() < self.lost
        return self.rng.randrange(*(RESENT_US if resent else self.delay_us))

    def copies(self) -> int:
        """Return how often a message arrives."""
        return 2 if self.doubled > 0 and self.rng.random() < self.doubled else 1

    def passes(self, sender: str, to: str) -> bool:
        """Return True when messages pass from one member to the other now."""
        return (sender, to) not in self.cuts

    def cut_between(self, group: Iterable[str], others: Iterable[str]) -> None:
        """Cut all links between two sides."""
        others = list(others)
        for name in group:
            for other in others:
                self.cuts |= {(name, other), (other, name)}

    def cut_all(self, names: Iterable[str]) -> None:
        """Cut all links."""
        self.cuts |= set(permutations(names, 2))
