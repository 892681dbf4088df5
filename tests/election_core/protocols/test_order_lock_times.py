"""How long two locks lived at once."""

from types import SimpleNamespace
from typing import Any

from election_replay.election_core.judge.clock_segments import Moment
from election_replay.election_core.protocols.order_lock.rules import _least

BLUR = 4


class Clocks:
    """Clocks that may be off by some microseconds."""

    def elapsed(self, begin: Moment, end: Moment) -> tuple[int, int]:
        return end.at - begin.by - BLUR, end.by - begin.at + BLUR


def lock(begin: int, surely_begun: int, sure: int) -> Any:
    moments = {"begin": begin, "surely_begun": surely_begun, "sure": sure}
    return SimpleNamespace(**{name: Moment(at, at + 1, "n1") for name, at in moments.items()})


def test_the_end_of_the_logs_bounds_what_two_locks_surely_had_in_common_from_either_side() -> None:
    group: Any = SimpleNamespace(clocks=Clocks(), end=Moment(100, 101, "n1"))
    early, late = lock(0, 10, 200), lock(80, 90, 200)
    assert _least(group, early, late) == _least(group, late, early) == 100 - 91 - BLUR
