"""Quorum arithmetic, alone."""


def majority(members: int) -> int:
    """The smallest number of votes that is more than half of ``members``.

    Source: DLedger ``MemberState.isQuorum``, Raft section 5.2. Dead and unknown members count in the number.

    >>> [majority(n) for n in (1, 2, 3, 4, 5)]
    [1, 2, 2, 3, 3]
    """
    return members // 2 + 1


def is_majority(votes: int, members: int) -> bool:
    """Whether ``votes`` out of ``members`` decide."""
    return votes >= majority(members)
