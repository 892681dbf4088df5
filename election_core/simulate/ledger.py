"""A replicated log, reduced to what elections need: the stretches of entries that each leader wrote."""

from collections.abc import Iterable
from dataclasses import dataclass

ENTRY_BYTES = 239
"""The size of every simulated entry; it shows only in offsets in log lines."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Entries up to index ``last`` that ``leader`` wrote in ``term``, after the stretch before."""

    term: int
    leader: str
    last: int


Ledger = tuple[Stretch, ...]


def end_of(ledger: Ledger) -> tuple[int, int]:
    """Return term and index of the last entry; (-1, -1) for an empty log."""
    return (ledger[-1].term, ledger[-1].last) if ledger else (-1, -1)


def appended(ledger: Ledger, term: int, leader: str, count: int) -> Ledger:
    """Return the log with ``count`` more entries."""
    last = end_of(ledger)[1] + count
    if ledger and (ledger[-1].term, ledger[-1].leader) == (term, leader):
        ledger = ledger[:-1]
    return (*ledger, Stretch(term, leader, last))


def common_end(ledger: Ledger, other: Ledger) -> int:
    """Return the index of the last entry that both logs share from the beginning on; -1 for none."""
    last = -1
    for mine, theirs in zip(ledger, other, strict=False):
        if (mine.term, mine.leader) != (theirs.term, theirs.leader):
            return last
        last = min(mine.last, theirs.last)
        if mine.last != theirs.last:
            return last
    return last


def term_at(ledger: Ledger, index: int) -> int:
    """Return the term of the entry at ``index``; -1 without one."""
    return next((stretch.term for stretch in ledger if index <= stretch.last), -1) if index >= 0 else -1


def committed_index(ends: Iterable[int], quorum: int) -> int:
    """Return the largest index that ``quorum`` members hold, given the ends of their logs."""
    ordered = sorted(ends, reverse=True)
    return ordered[quorum - 1] if len(ordered) >= quorum else -1
