"""The network of a world: delay, loss, cuts in one or both directions."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import permutations
from random import Random

HELD_US = 15_000_000
"""How long TCP keeps trying through a cut: what was sent before is delivered late, or never."""


@dataclass(slots=True)
class Network:
    """``delay_us`` is the range of a delay; one in ``1/slow`` takes up to a second, one in ``1/loss`` never arrives."""

    rng: Random
    delay_us: tuple[int, int] = (500, 6000)
    slow: float = 0.0
    loss: float = 0.0
    cuts: set[tuple[str, str]] = field(default_factory=set)

    def delay(self) -> int | None:
        """The time that a message takes, in microseconds, or ``None`` for one that is lost."""
        if self.loss and self.rng.random() < self.loss:
            return None
        if self.slow and self.rng.random() < self.slow:
            return self.rng.randrange(self.delay_us[1], 1_000_000)
        return self.rng.randrange(*self.delay_us)

    def passes(self, sender: str, to: str) -> bool:
        """Whether anything gets from one to the other now."""
        return (sender, to) not in self.cuts

    def cut_between(self, group: Iterable[str], others: Iterable[str]) -> None:
        """Nothing passes between the two sides."""
        others = list(others)
        for one in group:
            for other in others:
                self.cuts |= {(one, other), (other, one)}

    def cut_all(self, names: Iterable[str]) -> None:
        """Nothing passes at all."""
        self.cuts |= set(permutations(names, 2))
