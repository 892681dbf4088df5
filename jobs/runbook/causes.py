"""The cause of a finding, as far as it decides the next steps: in most cases the fate of the old leader.

It is determined from all rows of one group.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.measures import Fate, Scope, Standing
from election_replay.election_core.model.rows import Finding, Row, Term
from election_replay.jobs.runbook.steps import (
    ANY,
    CUT_OFF,
    DIED,
    FROZEN,
    LARGER_TERM,
    LOST,
    MEMBERS_DIED,
    OVERLOADED,
    REACHABLE,
    WAS_SET,
)

MS = 1000
"""Microseconds in a millisecond."""

NEAR_MS = 1000
"""By how much a time logged in whole seconds may be too early, in ms."""

CAUSE_OF_STATE: dict[str, str] = {
    Standing.DIED: DIED,
    Standing.STOPPED: DIED,
    Standing.ENDED_ITSELF: DIED,
    Standing.SILENT: DIED,
    Standing.CUT_OFF: CUT_OFF,
    Standing.FROZEN: FROZEN,
    Standing.OVERLOADED: OVERLOADED,
    Standing.MEMBERS_DIED: MEMBERS_DIED,
    Standing.TOPPLED: LARGER_TERM,
    Standing.NOT_TOLD: REACHABLE,
    Standing.REACHABLE: REACHABLE,
}
"""The cause by the state of the old leader at the change."""

_CAUSE_OF_FATE = {
    Fate.DIED: DIED,
    Fate.STOPPED: DIED,
    Fate.CUT_OFF: CUT_OFF,
    Fate.FROZEN: FROZEN,
    Fate.OVERLOADED: OVERLOADED,
}
"""The cause by the old leader's fate in the finding itself, for fates that alone decide."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of leadership: when the new leader began (ms by its clock), both terms, and the old leader's state."""

    at: int
    old_term: int
    new_term: int
    old_leader_state: str


def causes(rows: Iterable[Row]) -> dict[str, str]:
    """Return the cause, one of :data:`CAUSES`, of each finding among the rows of a group, by its id."""
    rows = list(rows)
    findings = [row for row in rows if isinstance(row, Finding)]
    changes = list(changes_of(rows)) if findings else []
    return {finding.finding_id: cause_of(finding, changes) for finding in findings}


def cause_of(finding: Finding, changes: Iterable[Change]) -> str:
    """Return the cause of a finding, given the changes of leadership of its group."""
    if (finding.bytes_lost or 0) > 0 or (finding.messages_lost or 0) > 0:
        return LOST
    if finding.rule == RuleId.CLOCK_SKEW:
        least, most = finding.clock_least_ms or 0, finding.clock_most_ms or 0
        return WAS_SET if finding.clock_set_by_ms is not None and least <= 0 <= most else ANY
    of_finding = None if finding.former_leader_fate is None else _CAUSE_OF_FATE.get(finding.former_leader_fate)
    if of_finding is not None and finding.implied_by is None:
        return of_finding
    if finding.scope == Scope.UNREACHABLE and len({*finding.terms}) == 1:
        return ANY  # no change of leadership ended it
    states: list[str] = []
    if finding.rule == RuleId.LEADERLESS and finding.implied_by is None:
        near = [change for change in changes if is_near(change, finding)]
        states = [max(near, key=lambda change: (change.at, change.new_term)).old_leader_state] if near else []
    elif finding.rule == RuleId.SPLIT_BRAIN_OVERLAP:
        states = [
            change.old_leader_state for change in changes if {change.old_term, change.new_term} <= {*finding.terms}
        ]
    known = (state for state in states if state in CAUSE_OF_STATE)
    return CAUSE_OF_STATE.get(max(known, default=ANY), ANY)


def is_near(change: Change, finding: Finding) -> bool:
    """Return True if a leader began during the finding, with :data:`NEAR_MS` of tolerance at both ends."""
    if change.at < finding.start_time // MS - NEAR_MS:
        return False
    return finding.end_time is None or change.at <= finding.end_time // MS + NEAR_MS


def changes_of(rows: Iterable[Row]) -> Iterator[Change]:
    """Yield the changes of leadership of a group, protocol by protocol, in the order of terms."""
    led = (row for row in rows if isinstance(row, Term) and row.leader is not None)
    in_order = sorted(led, key=lambda term: (term.protocol, term.term, term.start_time))
    for _, terms in groupby(in_order, key=lambda term: term.protocol):
        for old, new in pairwise(terms):
            yield Change(new.start_time // MS, old.term, new.term, new.former_leader_state or Standing.UNKNOWN)
