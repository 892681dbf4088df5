"""The clock of a simulated machine."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class WallClock:
    """True time plus ``offset_us``, and gains ``drift_ppm`` microseconds a second; ``steps`` were made by hand."""

    offset_us: int = 0
    drift_ppm: int = 0
    steps: list[int] = field(default_factory=list)
    _since_us: int = 0

    def at(self, true_us: int) -> int:
        """What the clock shows."""
        return true_us + self.ahead(true_us)

    def ahead(self, true_us: int) -> int:
        """How far the clock is ahead of true time."""
        return self.offset_us + (true_us - self._since_us) * self.drift_ppm // 1_000_000

    def monotonic(self, true_us: int) -> int:
        """What a clock of the same machine shows that nobody can set."""
        return self.at(true_us) - sum(self.steps)

    def range_ahead(self, true_us: int) -> tuple[int, int]:
        """The least and the most that the clock has been ahead, up to now."""
        last = self.ahead(true_us)
        seen = [last - sum(self.steps[number:]) for number in range(len(self.steps) + 1)]
        return min(seen), max(seen)

    def begin(self, true_us: int) -> None:
        """Drift counts from here on."""
        self._since_us = true_us

    def step(self, by_us: int) -> None:
        """Somebody sets the clock."""
        self.offset_us += by_us
        self.steps.append(by_us)
