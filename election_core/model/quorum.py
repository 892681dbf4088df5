"""Quorums: who votes, as far as that is known, and whether the members present may decide.

    five voters by name, two gone       3 of 5 may be present: they decide
    three to five voters, two gone      of five three are left, of three one: unknown
    voters=(1 2 3)&&(1 4 5), 2, 3 gone  a change of members needs a majority of both sets: lost

Nothing here knows a protocol or a time. An electorate that no line names is empty, and its answer is *unknown*.
"""

from collections import Counter
from collections.abc import Collection, Set
from dataclasses import dataclass

WON = "won"
LOST = "lost"
UNKNOWN = "unknown"


def majority(members: int) -> int:
    """The smallest number of votes that is more than half of ``members``.

    Source: DLedger ``MemberState.isQuorum``, Raft section 5.2. Dead and unknown members count in the number.

    >>> [majority(n) for n in (1, 2, 3, 4, 5)]
    [1, 2, 2, 3, 3]
    """
    return members // 2 + 1


def is_majority(votes: int, members: int) -> bool:
    """Return True when ``votes`` out of ``members`` decide."""
    return votes >= majority(members)


@dataclass(frozen=True, slots=True)
class Voters:
    """Voters of which a majority decides: ``names`` are known, and their number is ``least`` to ``most``. ``most`` is
    ``None`` where nothing bounds it. A complete list has as many names as voters."""

    names: frozenset[str]
    least: int
    most: int | None

    @staticmethod
    def listed(names: Collection[str]) -> "Voters":
        """Return voters that are all known by name."""
        return Voters(frozenset(names), len(names), len(names))

    @property
    def needed(self) -> int | None:
        """Return how many votes decide; ``None`` where that is unknown."""
        if self.most is None or not self.least <= self.most or majority(self.least) != majority(self.most):
            return None
        return majority(self.most)

    def decide(self, there: Set[str], gone: Set[str]) -> str:
        """Return WON if a majority is ``there``, LOST if too many are ``gone`` for one, else UNKNOWN."""
        if self.most is None or max(self.least, len(self.names)) > self.most:
            return UNKNOWN
        # With ``most`` voters the largest number may be left, and the largest number is needed.
        if not is_majority(self.most - len(self.names & gone), self.most):
            return LOST
        return WON if is_majority(len(self.names & there), self.most) else UNKNOWN


@dataclass(frozen=True, slots=True)
class Groups:
    """Voters with weights, in groups: a quorum is more than half of the weight, in more than half of the groups.
    ``weights`` are (voter, group, weight). Source: ZooKeeper ``QuorumHierarchical#containsQuorum``; a group without
    weight does not count, and weights without groups are one group."""

    weights: tuple[tuple[str, str, int], ...]

    def decide(self, there: Set[str], gone: Set[str]) -> str:
        """As :meth:`Voters.decide`."""
        if self._is_quorum(there):
            return WON
        return UNKNOWN if self._is_quorum({voter for voter, _, _ in self.weights} - gone) else LOST

    def _is_quorum(self, voters: Set[str]) -> bool:
        every, present = Counter[str](), Counter[str]()
        for voter, group, weight in self.weights:
            every[group] += weight
            present[group] += weight if voter in voters else 0
        counting = [group for group, weight in every.items() if weight > 0]
        return is_majority(sum(2 * present[group] > every[group] for group in counting), len(counting))


Electorate = tuple[Voters | Groups, ...]
"""Sets of voters that must all decide: one, two while a change of members is in force, none where nothing is known."""


def decide(electorate: Electorate, there: Set[str], gone: Set[str]) -> str:
    """Return WON if a quorum is ``there``, LOST if too many are ``gone`` for one, else UNKNOWN."""
    answers = [voters.decide(there, gone) for voters in electorate]
    if LOST in answers:
        return LOST
    return WON if answers and all(answer == WON for answer in answers) else UNKNOWN
