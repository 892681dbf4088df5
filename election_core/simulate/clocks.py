"""The clock of a simulated machine."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class WallClock:
    """A clock: true time plus ``offset_us``, gaining ``drift_ppm`` us per second; ``steps`` are manual settings in
    us."""

    offset_us: int = 0
    drift_ppm: int = 0
    steps: list[int] = field(default_factory=list)
    _since_us: int = 0

    def at(self, true_us: int) -> int:
        """Return the clock's reading."""
        return true_us + self.ahead(true_us)

    def ahead(self, true_us: int) -> int:
        """Return how far the clock is ahead of true time, in us."""
        return self.offset_us + (true_us - self._since_us) * self.drift_ppm // 1_000_000

    def monotonic(self, true_us: int) -> int:
        """Return the reading of a clock on the same machine that nobody can set."""
        return self.at(true_us) - sum(self.steps)

    def range_ahead(self, true_us: int) -> tuple[int, int]:
        """Return the (least, most) us by which the clock has been ahead so far."""
        last = self.ahead(true_us)
        seen = [last - sum(self.steps[number:]) for number in range(len(self.steps) + 1)]
        return min(seen), max(seen)

    def begin(self, true_us: int) -> None:
        """Start the drift at this moment."""
        self._since_us = true_us

    def step(self, by_us: int) -> None:
        """Set the clock."""
        self.offset_us += by_us
        self.steps.append(by_us)
