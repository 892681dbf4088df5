"""Failures of this software while it reads or judges: each is reported, and stops nothing but what it concerns. The
smallest unit that can fail is one protocol: its reading of one source's logs, or its rules in one group."""

from collections.abc import Iterator

from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.judge.group import group_of
from election_replay.election_core.model.catalogue import WARNING, RuleId
from election_replay.election_core.model.facts import Fact, ReplayFailed
from election_replay.election_core.model.rows import Row

FAULT = "fault"
"""The protocol of facts about failures of this software."""


def error_text(error: Exception) -> str:
    """Return an error as text of at most 200 characters."""
    return f"{type(error).__name__}: {error}"[:200]


def failed(
    cluster: str, group: str, source: str, error: str, *, protocol: str | None = None, since: int = 0, bound_ms: int = 0
) -> ReplayFailed:
    """Return the fact that a source, or a group (empty ``source``), failed: as a whole, or in one ``protocol``.
    ``since`` is when its log begins, in us UTC."""
    return ReplayFailed(
        cluster=cluster,
        replica_group=group,
        protocol=FAULT,
        node=None,
        source_node=source,
        since=since,
        since_by=since,
        since_event=None,
        until=None,
        until_by=None,
        until_event=None,
        bound_ms=bound_ms,
        ordinal=0,
        speaker=None,
        failed_protocol=protocol,
        error=error,
    )


def not_judged(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield a finding for each failure."""
    group = group_of(facts, clocks)
    for fact in group.of(ReplayFailed):
        yield group.finding(
            RuleId.NOT_JUDGED,
            (fact.source_node, fact.failed_protocol, fact.error),
            severity=WARNING,
            nodes=(fact.source_node,),
            when=(fact.since, None),
            summary=f"{_subject(fact)} ({fact.error}). Please report this; everything else was judged.",
            evidence=(),
        )


def _subject(fact: ReplayFailed) -> str:
    """Return what failed, as the beginning of a sentence."""
    protocol = fact.failed_protocol
    if fact.source_node:
        of = f"What the logs of {fact.source_node} say of {protocol}" if protocol else f"The logs of {fact.source_node}"
        return f"{of} could not be read"
    of = f"The rules of {protocol} in the group" if protocol else "The group"
    return f"{of} {fact.replica_group} could not be judged"
