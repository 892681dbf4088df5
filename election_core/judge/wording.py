"""Phrases for members, counts and durations in sentences."""

from collections.abc import Iterable

from election_replay.election_core.judge.difference_constraints import UNBOUNDED
from election_replay.election_core.model.timing import SECOND

NO_BOUND = 1 << 55
"""A duration in us, about a thousand years, that stands for "unbounded": only an unknown clock makes it possible."""


def name_of(node: str | None, source: str | None) -> str:
    """Return a member's name in the group, with the folder of its logs in brackets where that differs."""
    return f"{node} ({source})" if node and source and node != source else node or source or "?"


def listed(names: Iterable[object]) -> str:
    """Return names as a phrase: ``a``, ``a and b``, ``a, b and c``."""
    *most, last = list(map(str, names)) or ["nobody"]
    return f"{', '.join(most)} and {last}" if most else last


def number_of(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 round``, ``1,200 messages``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def seconds(us: int) -> str:
    """Return a duration as a phrase: ``8 s``, ``1.5 s``, ``2 min 5 s``; ``any time`` where it has no bound."""
    if us >= NO_BOUND:
        return "any time"
    total = us / SECOND
    if total >= 120:
        return f"{int(total // 60)} min {int(total % 60)} s"
    return f"{total:.1f}".removesuffix(".0") + " s"


def between(least_us: int, most_us: int) -> str:
    """Return a range of durations as a phrase: ``6 s to 8 s``, or ``at least 6 s`` where clocks cannot be compared."""
    least, most = seconds(max(least_us, 0)), seconds(most_us)
    if most_us >= UNBOUNDED:
        return f"at least {least}"
    return least if least == most else f"{least} to {most}"
