"""Explains one finding: its evidence, what would refute it, and what limits it."""

from dataclasses import dataclass
from typing import Any

from election_replay.election_core.judge.timing import timing_from
from election_replay.election_core.model.facts import SettingPrinted, TimeoutConfigured
from election_replay.election_core.model.timing import in_force
from election_replay.jobs import JobError
from election_replay.jobs.reading.clocks import Clocks, clocks_of, in_words
from election_replay.jobs.reading.incident import evidence
from election_replay.jobs.reading.next_steps import with_warehouse
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import Row, certainty
from election_replay.jobs.runbook.rules import Rule, catalogue

LIMITS = ("CLOCK_SKEW", "IDENTITY_CONTRADICTION", "LOG_GAP", "NOT_JUDGED", "UNKNOWN_VERSION")
"""Rules whose findings limit every other verdict on the same group."""

FINDING_SHAPE = "SELECT * FROM findings WHERE starts_with(finding_id, ?) ORDER BY finding_id LIMIT 6"
SETTINGS = "SELECT * FROM facts WHERE cluster = ? AND replica_group = ? AND protocol = ? AND kind IN (?, ?)"
ECHOES = (
    "WITH RECURSIVE following AS (SELECT finding_id FROM findings WHERE implied_by = ? "
    "UNION SELECT echo.finding_id FROM findings AS echo JOIN following ON echo.implied_by = following.finding_id) "
    "SELECT finding_id, rule, severity, certainty, summary FROM findings "
    "WHERE finding_id IN (SELECT finding_id FROM following) ORDER BY start_time, finding_id"
)
"""SELECT of the findings implied by a finding, directly or through others."""
COVERAGE = "SELECT * FROM rule_coverage WHERE cluster = ? AND replica_group = ? AND rule = ? ORDER BY protocol"
LIMITING = (
    "SELECT rule, summary, start_time, end_time FROM findings WHERE cluster = ? AND replica_group = ? "
    "AND rule IN (SELECT unnest(?)) AND finding_id <> ? AND start_time <= coalesce(?, start_time) "
    "AND coalesce(end_time >= ?, true) ORDER BY start_time, finding_id"
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A finding with everything that a reviewer needs.

    Its times and those of its lines (``at``) are corrected by ``clocks`` for clocks that are proven wrong.
    """

    finding: Row
    clocks: Clocks
    evidence: list[Row]
    coverage: list[Row]
    limits: list[Row]
    implied_by: Row | None
    echoes: list[Row]
    times: list[Row]

    @property
    def rule(self) -> Rule:
        """Return the rule of the finding."""
        return catalogue()[self.finding["rule"]]

    @property
    def as_json(self) -> dict[str, Any]:
        """Return the explanation as plain data."""
        rule = self.rule
        return {
            "finding": {name: value for name, value in self.finding.items() if name != "next_steps"},
            "certainty": certainty(self.finding),
            "rule": {
                "meaning": rule.meaning,
                "severity": rule.severity,
                "needs": rule.needs,
                "source": rule.source,
                "refuted_by": rule.refuted_by,
            },
            "clocks": in_words(self.clocks, raw=False),
            "evidence": self.evidence,
            "coverage": self.coverage,
            "limits": self.limits,
            "times": self.times,
            "next_steps": self.finding["next_steps"],
            "implied_by": self.implied_by,
            "implies": self.echoes,
        }


def explain(published: Published, finding_id: str) -> Explanation:
    """Return the explanation of the finding whose id begins with ``finding_id``.

    Raises :class:`JobError` if none or several ids do.
    """
    named = the_finding(published, finding_id.strip().lower())
    cluster, group_name = named["cluster"], named["replica_group"]
    clocks = clocks_of(published, cluster, group_name)
    finding = with_warehouse(named, published.place)
    group = [finding["cluster"], finding["replica_group"]]
    cause = published.rows(FINDING_SHAPE, [finding["implied_by"]]) if finding["implied_by"] else []
    return Explanation(
        finding=finding,
        clocks=clocks,
        evidence=evidence(published, cluster, [finding]).get(finding["finding_id"], []),
        coverage=published.rows(COVERAGE, [*group, finding["rule"]]),
        limits=published.rows(
            LIMITING, [*group, list(LIMITS), finding["finding_id"], finding["end_time"], finding["start_time"]]
        ),
        implied_by=cause[0] if cause else None,
        echoes=published.rows(ECHOES, [finding["finding_id"]]),
        times=times(published, finding),
    )


def times(published: Published, finding: Row) -> list[Row]:
    """Return the configurable timeouts of a finding's protocol, in ms, with their values in its group."""
    about = [finding["cluster"], finding["replica_group"], finding["protocol"]]
    facts = published.rows(SETTINGS, [*about, SettingPrinted.kind, TimeoutConfigured.kind])
    printed = [(row["source_node"], row["name"], row["value"]) for row in facts if row["kind"] == SettingPrinted.kind]
    configured = ((row["name"], row["value"]) for row in facts if row["kind"] == TimeoutConfigured.kind)
    return [
        {
            "name": time.timeout.name.lower(),
            "shortest_ms": time.shortest_ms,
            "longest_ms": time.longest_ms,
            "origin": time.origin,
            "meaning": time.timeout.value.meaning,
        }
        for time in in_force(timing_from(printed, configured), finding["protocol"])
    ]


def the_finding(published: Published, beginning: str) -> Row:
    """Return the finding whose id begins with ``beginning``. Raises :class:`JobError` if none or several do."""
    found = published.rows(FINDING_SHAPE, [beginning]) if beginning else []
    if not found:
        raise JobError(
            f"no finding has an id that begins with {beginning or 'nothing'}: list them with "
            '`election-replay sql --warehouse DIR "SELECT finding_id, rule, cluster, summary FROM findings"`'
        )
    if len(found) > 1:
        known = ", ".join(f"{row['finding_id'][: len(beginning) + 4]} ({row['rule']})" for row in found)
        raise JobError(f"several findings begin with {beginning}: give more of the id; there are {known}")
    return found[0]
