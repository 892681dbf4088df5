"""Why it came to a finding, as far as that decides what to do next: mostly what had become of the old leader.

It is said of the rows of one group, once all are there. The view ``leadership_changes`` says the same of every change
of leadership in SQL; a test holds the two together.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

from election_replay.election_core.model.catalogue.rule import RuleId
from election_replay.election_core.model.next_steps.steps import ANY, CUT_OFF, DIED, FROZEN, LOST, REACHABLE, WAS_SET
from election_replay.election_core.model.rows import Finding, RoleInterval, Row, Term

MS = 1000
"""Microseconds."""

HEARD_WITHIN_MS = 3000
"""A leader that ends its role so soon after the next one began heard of it at once: it could be reached."""

NEAR_MS = 1000
"""What is logged in whole seconds may be told so much too early."""

UNKNOWN = "unknown"
CAUSE_OF_STATE = {
    "died": DIED,
    "stopped": DIED,
    "silent": DIED,
    "without_quorum": CUT_OFF,
    "cut_off": CUT_OFF,
    "frozen": FROZEN,
    "reachable": REACHABLE,
}
"""The cause by what had become of the old leader, as the view ``leadership_changes`` words it."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of leadership: when the new leader began (ms by its clock), both terms, and the old leader's state."""

    at: int
    old_term: int
    new_term: int
    old_leader_state: str


def causes(rows: Iterable[Row]) -> dict[str, str]:
    """Of all findings among the rows of a group: by their ids, one of :data:`CAUSES`."""
    rows = list(rows)
    findings = [row for row in rows if isinstance(row, Finding)]
    changes = list(changes_of(rows, findings)) if findings else []
    return {finding.finding_id: cause_of(finding, changes) for finding in findings}


def cause_of(finding: Finding, changes: Iterable[Change]) -> str:
    """The cause of a finding, among the changes of leadership of its group."""
    if (finding.bytes_lost or 0) > 0 or (finding.messages_lost or 0) > 0:
        return LOST
    if finding.rule == RuleId.CLOCK_SKEW:
        least, most = finding.clock_least_ms or 0, finding.clock_most_ms or 0
        return WAS_SET if finding.clock_set_by_ms is not None and least <= 0 <= most else ANY
    states: list[str] = []
    if finding.rule == RuleId.LEADERLESS and finding.implied_by is None:
        near = [change for change in changes if is_near(change, finding)]
        states = [max(near, key=lambda change: (change.at, change.new_term)).old_leader_state] if near else []
    elif finding.rule == RuleId.SPLIT_BRAIN_OVERLAP:
        states = [
            change.old_leader_state for change in changes if {change.old_term, change.new_term} <= {*finding.terms}
        ]
    known = (state for state in states if state in CAUSE_OF_STATE)
    return CAUSE_OF_STATE.get(max(known, default=UNKNOWN), ANY)


def is_near(change: Change, finding: Finding) -> bool:
    """Whether a leader began while nobody led, or so near that whole seconds do not tell."""
    if change.at < finding.start_time // MS - NEAR_MS:
        return False
    return finding.end_time is None or change.at <= finding.end_time // MS + NEAR_MS


def changes_of(rows: Iterable[Row], findings: Iterable[Finding]) -> Iterator[Change]:
    """The changes of leadership of a group, protocol by protocol."""
    rows, findings = list(rows), list(findings)
    leading = (row for row in rows if isinstance(row, RoleInterval) and row.role == "leader")
    tenures = {
        (role.protocol, role.node, role.term): role for role in sorted(leading, key=lambda role: role.start_time)
    }
    led = (row for row in rows if isinstance(row, Term) and row.leader is not None)
    in_order = sorted(led, key=lambda term: (term.protocol, term.term, term.start_time))
    for protocol, terms in groupby(in_order, key=lambda term: term.protocol):
        for old, new in pairwise(terms):
            tenure = tenures.get((protocol, old.leader or "", old.term))
            yield Change(new.start_time // MS, old.term, new.term, state(old, new, tenure, findings))


def state(old: Term, new: Term, tenure: RoleInterval | None, findings: Iterable[Finding]) -> str:
    """What had become of the old leader when the new one began."""
    if tenure is None:
        return UNKNOWN
    if tenure.end_cause in {"died", "stopped", "silent"}:
        return str(tenure.end_cause)
    if new.cause == "master_silent" or any(is_hole_at(found, old, new) for found in findings):
        return "frozen"
    if tenure.end_cause == "quorum_lost":
        return "without_quorum"
    at_once = (found.overlap_max_ms or 0 for found in findings if is_split(found, old.term, new.term))
    if max(at_once, default=0) > HEARD_WITHIN_MS:
        return "cut_off"
    if tenure.end_cause is None or tenure.end_time is None:
        return UNKNOWN
    heard = abs(tenure.end_time // MS - new.start_time // MS) <= HEARD_WITHIN_MS
    return "reachable" if heard else UNKNOWN


def is_hole_at(finding: Finding, old: Term, new: Term) -> bool:
    """Whether the old leader's log is silent when the new one begins."""
    return (
        finding.rule == RuleId.LOG_GAP
        and old.leader in finding.nodes
        and finding.start_time <= new.start_time
        and (finding.end_time is None or finding.end_time >= new.start_time)
    )


def is_split(finding: Finding, old_term: int, new_term: int) -> bool:
    """Whether a finding says that two terms had leaders at once."""
    split = finding.rule in {RuleId.SPLIT_BRAIN_OVERLAP, RuleId.SPLIT_BRAIN_SAME_TERM}
    return split and {old_term, new_term} <= {*finding.terms}
