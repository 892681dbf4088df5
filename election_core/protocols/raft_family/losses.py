"""Committed entries that a Raft group lost: a later leader lacks entries that some member knew to be committed.

An etcd member prints its commit index when it starts, which is of its term or an earlier one, and as a candidate the
end of its log; a KRaft voter prints both as offsets. Losses of a single member are judged by its own log.
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
    """Return where the logs of leaders ended when they were elected."""
    return [LogEnd(led.who, led.term, led.to_index, led.since, led.since_event) for led in group.of(LeaderLog)]


def known_commits(group: Group) -> list[KnownCommit]:
    """Return the entries that members knew to be committed."""
    return [KnownCommit(fact.who, fact.term, fact.to_index, fact.since_event) for fact in group.of(KnownCommitted)]


def tallies(group: Group) -> Iterator[RuleTally]:
    """Yield the tallies of leaders that had all entries committed before them."""
    yield from completeness_tallies(group, leader_ends(group), known_commits(group), _lacks(group))


def _lacks(group: Group) -> Iterator[Lack]:
    return lacks(group, leader_ends(group), known_commits(group))


def losses(group: Group, breaches: Iterable[Finding]) -> Iterator[Finding]:
    """Yield ``COMMITTED_ENTRY_LOST`` by the logs of two members; ``breaches``: findings about broken voting rules."""
    found = list(breaches)
    for lack in _lacks(group):
        leader, commit = lack.leader, lack.commit
        summary = (
            f"{leader.node} led term {leader.term} with a log that ended at entry {leader.index} when it was "
            f"elected, although {commit.node} had known entries up to {commit.index} to be committed in term "
            f"{commit.term}: {committed_entries(commit.index - leader.index)} lost."
        )
        yield finding_of(group, lack, summary, commit.index - leader.index, Unit.ENTRIES, found)
