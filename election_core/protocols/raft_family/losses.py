"""What a Raft group lost of what had been committed: a later leader without entries that somebody knew committed.

An etcd member prints its commit index when it starts, which is that of its term or of an earlier one, and as a
candidate where its log ends; a KRaft voter prints both as offsets. What a member itself lost, its own log says.
"""

from collections.abc import Iterable, Iterator

from election_replay.election_core.judge.completeness import (
    KnownCommit,
    Lack,
    LogEnd,
    committed_entries,
    completeness_tallies,
    finding_of,
    lacks,
)
from election_replay.election_core.judge.coverage import RuleTally
from election_replay.election_core.judge.group import Group
from election_replay.election_core.model.facts import KnownCommitted, LeaderLog
from election_replay.election_core.model.measures import Unit
from election_replay.election_core.model.rows import Finding


def leader_ends(group: Group) -> list[LogEnd]:
    """Where the logs of leaders ended when they were elected."""
    return [LogEnd(led.who, led.term, led.to_index, led.since, led.since_event) for led in group.of(LeaderLog)]


def known_commits(group: Group) -> list[KnownCommit]:
    """What members knew to be committed."""
    return [KnownCommit(fact.who, fact.term, fact.to_index, fact.since_event) for fact in group.of(KnownCommitted)]


def tallies(group: Group) -> Iterator[RuleTally]:
    """How many leaders had what was committed before them."""
    yield from completeness_tallies(group, leader_ends(group), known_commits(group), _lacks(group))


def _lacks(group: Group) -> Iterator[Lack]:
    return lacks(group, leader_ends(group), known_commits(group))


def losses(group: Group, breaches: Iterable[Finding]) -> Iterator[Finding]:
    """``COMMITTED_ENTRY_LOST`` by the logs of two members; ``breaches`` are those of the rules of voting."""
    found = list(breaches)
    for lack in _lacks(group):
        leader, commit = lack.leader, lack.commit
        summary = (
            f"{leader.node} led term {leader.term} with a log that ended at entry {leader.index} when it was "
            f"elected, although {commit.node} had known entries up to {commit.index} to be committed in term "
            f"{commit.term}: {committed_entries(commit.index - leader.index)} lost."
        )
        yield finding_of(group, lack, summary, commit.index - leader.index, Unit.ENTRIES, found)
