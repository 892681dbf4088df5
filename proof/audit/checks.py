"""Each finding of a real run against the records of that run, and what the records show that no finding says.

Every check compares with what somebody else wrote down, in common time: it counts as wrong only what that decides, and
passes where it says nothing. A finding is *false* where its claim cannot be true, and *misleading* where its claim is
true but a detail is not; what is *missing* was seen by clients or done to the cluster, and no finding says it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol

from benchmarks.deeds import CUT, ENDED, HELD, NEAR_S, Deed, during
from benchmarks.outages import EXPLAINING, sources_of
from election_replay.election_core.model.catalogue import TWO_LEADERS, RuleId
from election_replay.election_core.model.measures import Fate, Scope
from election_replay.election_core.model.rows import Finding, RoleInterval, Row
from proof.audit.records import NOTICED_S, Ack, Gap

FALSE, MISLEADING, MISSING = "false", "misleading", "missing"

EARLIER_S, LATER_S = 1.0, 5.0
"""Clients write once in so many seconds at the latest, and take so long to hear of a new leader."""

STEP_S = 5.0
"""A step of a clock that a finding must tell."""

WRITING = frozenset({"dledger", "controller", "acting_master", "raft", "zab", "redis"})
"""Protocols whose leaders take the clients' writes themselves."""

NO_WRITES = frozenset[str](
    {
        *EXPLAINING,
        *TWO_LEADERS,
        RuleId.WRITES_REFUSED,
        RuleId.LEADER_WITHOUT_QUORUM,
        RuleId.SYNC_STATE_SET_STALE,
        RuleId.SYNC_STATE_SET_SMALL,
        RuleId.REPLICATION_STUCK,
    }
)
"""The rules that tell of a time in which nobody could write, or why."""

LOST = frozenset[str](
    {
        RuleId.POSSIBLE_DATA_LOSS,
        RuleId.UNCLEAN_ELECTION,
        RuleId.QUEUES_CUT_AT_START,
        RuleId.COMMITTED_ENTRY_LOST,
        RuleId.SPLIT_BRAIN_OVERLAP,
        RuleId.SPLIT_BRAIN_SAME_TERM,
        RuleId.BROKER_ID_CONFLICT,
    }
)
"""The rules that tell that something was lost."""

DEED_OF = {Fate.DIED: ENDED, Fate.STOPPED: ENDED, Fate.FROZEN: HELD, Fate.CUT_OFF: CUT}
"""What must have been done to a leader of which that is told."""


@dataclass(frozen=True, slots=True)
class Breach:
    """Something that is wrong with a verdict, or missing from it."""

    check: str
    kind: str
    rule: str
    run: str
    at: float
    words: str


class Told(Protocol):
    """What somebody else wrote down of a cluster; seconds since 1970."""

    @property
    def name(self) -> str:
        """The run or world."""

    @property
    def deeds(self) -> list[Deed]:
        """What was done to it."""

    @property
    def clock_errors(self) -> dict[str, list[tuple[float, float]]]:
        """How far clocks were ahead, from each time on."""

    def acks(self, group: str, *, alone: bool) -> list[Ack]:
        """What was acknowledged."""

    def gaps(self, group: str, *, alone: bool) -> Iterator[Gap]:
        """The times in which nothing was."""

    def lost(self, group: str, *, alone: bool) -> list[Ack]:
        """What was acknowledged and is gone."""

    def leading(self) -> Iterator[tuple[str, float, float]]:
        """Who led, from when to when."""


@dataclass(frozen=True)
class Case:
    """The rows of a run beside its records."""

    records: Told
    rows: tuple[Row, ...]

    @cached_property
    def findings(self) -> list[Finding]:
        """All findings of the run."""
        return [row for row in self.rows if isinstance(row, Finding)]

    @cached_property
    def roles(self) -> list[RoleInterval]:
        """The roles of members by their own logs."""
        return [row for row in self.rows if isinstance(row, RoleInterval) and row.source_node is not None]

    @cached_property
    def groups(self) -> dict[str, bool]:
        """The groups that take writes, and whether there is no other group."""
        groups = {role.replica_group for role in self.roles if role.protocol in WRITING} - {"unidentified"}
        return {group: len(groups) == 1 for group in sorted(groups)}

    @cached_property
    def sources(self) -> dict[tuple[str, str], frozenset[str]]:
        """The folders whose logs speak for each member, by group and member."""
        return sources_of(self.rows)

    def of(self, group: str, rules: Iterable[str]) -> list[Finding]:
        """The findings of some rules about a group."""
        return [found for found in self.findings if found.replica_group == group and found.rule in rules]

    @cached_property
    def unsaid(self) -> dict[str, set[float]]:
        """How far ahead, in seconds, clocks were when they were off that no finding names alone, by source."""
        alone = [found for found in self.findings if found.rule == RuleId.CLOCK_SKEW and len(found.nodes) == 1]
        named = {
            source
            for found in alone
            for source in (*found.nodes, *self.sources.get((found.replica_group, found.nodes[0]), ()))
        }
        errors = self.records.clock_errors.items()
        return {source: {by for _, by in of_clock} - {0.0} for source, of_clock in errors if source not in named}

    def ahead(self, finding: Finding) -> list[float]:
        """How far ahead the clocks of the members that a finding names were while no finding says so."""
        named = (self.sources.get((finding.replica_group, node), frozenset()) for node in finding.nodes)
        return sorted({by for of_node in named for source in of_node for by in self.unsaid.get(source, ())})

    def breach(self, check: str, kind: str, rule: str, at: float, words: str) -> Breach:
        """Something wrong in this run."""
        return Breach(check, kind, rule, self.records.name, at, words)


def began(finding: Finding) -> float:
    """When a finding begins, in seconds since 1970."""
    return finding.start_time / 1e6


def ended(finding: Finding, never: float) -> float:
    """When it ends; one that still lasts ends ``never``."""
    return never if finding.end_time is None else finding.end_time / 1e6


def bounds(case: Case) -> Iterator[Breach]:
    """Times without a leader against the longest time without an acknowledged write that touches them."""
    for group, alone in case.groups.items():
        moments = [ack.at for ack in case.records.acks(group, alone=alone)]
        if len(moments) < 2:
            continue
        gaps = list(case.records.gaps(group, alone=alone))
        for finding in case.of(group, [RuleId.LEADERLESS]):
            if finding.scope != Scope.UNRECORDED:  # whoever ran on may have been written to
                yield from _too_long(case, finding, moments)
            yield from _too_short(case, finding, gaps)


def _too_long(case: Case, finding: Finding, moments: list[float]) -> Iterator[Breach]:
    least = (finding.duration_min_ms or 0) / 1000
    longest = _longest(finding, moments)
    if finding.end_time is None or longest >= least - EARLIER_S:
        return
    words = f"at least {least:.1f} s, and no longer than {longest:.1f} s without an acknowledgement"
    ahead = next((by for by in case.ahead(finding) if _longest(finding, moments, by) >= least - EARLIER_S), None)
    if ahead is None:
        yield case.breach("bounds", FALSE, finding.rule, began(finding), words)
    else:
        words = f"{words}; there was such a time, and its members' clocks were {ahead:+.0f} s off"
        yield case.breach("bounds", MISLEADING, finding.rule, began(finding), words)


def _longest(finding: Finding, moments: list[float], ahead: float = 0.0) -> float:
    """The longest time without an acknowledgement that touches a finding, by a clock that was so far ``ahead``."""
    begin, end = began(finding) - ahead, ended(finding, float("inf")) - ahead
    around = [min(begin, moments[0]), *moments, max(moments[-1], end if finding.end_time else begin)]
    near = (
        after - at
        for at, after in pairwise(moments if ahead else around)
        if at < end + EARLIER_S and after > begin - EARLIER_S
    )
    return max(near, default=0.0)


def _too_short(case: Case, finding: Finding, gaps: list[Gap]) -> Iterator[Breach]:
    if finding.duration_max_ms is None or finding.end_time is None:
        return
    begin, end, most = began(finding), ended(finding, 0), finding.duration_max_ms / 1000
    for gap in gaps:
        touches = gap.begin < end and gap.sure_end > begin
        if touches and gap.least > most + LATER_S and not _told_otherwise(case, finding, gap):
            words = f"at most {most:.1f} s, and nothing was acknowledged for {gap.least:.1f} s"
            yield case.breach("bounds", MISLEADING, finding.rule, begin, words)


def _told_otherwise(case: Case, finding: Finding, gap: Gap) -> bool:
    """Whether another finding tells of a part of a gap."""
    others = (found for found in case.of(finding.replica_group, NO_WRITES) if found is not finding)
    return any(began(found) < gap.sure_end and ended(found, gap.end) > gap.begin for found in others)


def untold(case: Case, group: str, gap: Gap) -> tuple[float, float]:
    """The longest part of a gap of which no finding says why nobody could write, by any named clock."""
    longest, at = (gap.begin, gap.begin), gap.begin
    spans = sorted(
        (began(found) - by - EARLIER_S, ended(found, gap.end + by) - by + LATER_S)
        for found in case.of(group, NO_WRITES)
        for by in (0.0, *case.ahead(found))
    )
    for begin, end in (*spans, (gap.sure_end, gap.sure_end)):
        longest = max(longest, (at, min(begin, gap.sure_end)), key=lambda part: part[1] - part[0])
        at = max(at, end)
    return longest


def gaps(case: Case) -> Iterator[Breach]:
    """Each time of three seconds and more in which nothing was acknowledged has a finding."""
    for group, alone in case.groups.items():
        for gap in case.records.gaps(group, alone=alone):
            begin, end = untold(case, group, gap)
            if end - begin >= NOTICED_S:
                which = "" if (begin, end) == (gap.begin, gap.sure_end) else f" {end - begin:.1f} s of"
                words = f"{group}: nothing was acknowledged for {gap.least:.1f} s, and no finding says{which or ' so'}"
                yield case.breach("gaps", MISSING, "-", begin, f"{words}{which and ' it'}")


def losses(case: Case) -> Iterator[Breach]:
    """Each acknowledged write that no member had at the end has a finding; in bytes, where clients know the place."""
    for group, alone in case.groups.items():
        found = case.of(group, LOST)
        for ack in case.records.lost(group, alone=alone):
            spans = [
                one for one in found if one.cut_from is not None and one.cut_to is not None and one.unit == "bytes"
            ]
            inside = any((one.cut_from or 0) <= (ack.place or 0) < (one.cut_to or 0) for one in spans)
            if not found or (ack.place is not None and spans and not inside):
                where = "" if ack.place is None else f" at byte {ack.place}"
                yield case.breach(
                    "losses", MISSING, "-", ack.at, f"{group}: {ack.key[1]}{where} is lost, and no finding says so"
                )


def fates(case: Case) -> Iterator[Breach]:
    """What is told of a former leader against what was done to it."""
    for finding in case.findings:
        deed = DEED_OF.get(finding.former_leader_fate) if finding.former_leader_fate else None
        named = case.sources.get((finding.replica_group, finding.former_leader or ""), frozenset())
        if deed is None or not named:
            continue
        begin, end = began(finding), ended(finding, float("inf"))
        latest = max(ended(finding, began(finding)) - (finding.duration_min_ms or 0) / 1000, begin) + 2 * NEAR_S
        until = end if deed == ENDED else min(end, latest)  # what had become of it when the next one led
        done = during(case.records.deeds, begin - 2 * NEAR_S, until)
        to_it = {one.kind for one in done if one.nodes & named}
        if deed in to_it or (deed == CUT and any(one.kind == CUT for one in done)):
            continue
        told = f"{finding.former_leader} is told as {finding.former_leader_fate}"
        if (
            deed == ENDED
            and HELD in to_it
            and any(one.kind == ENDED and one.nodes & named for one in case.records.deeds)
        ):
            words = f"{told}, and it was held when the next one led, and ended later: its log stops with the first"
            yield case.breach("fates", MISLEADING, finding.rule, begin, words)
        elif to_it & {ENDED, HELD, CUT}:
            yield case.breach("fates", FALSE, finding.rule, begin, f"{told}, and it was {' and '.join(sorted(to_it))}")
        elif deed == CUT and case.records.deeds:
            yield case.breach("fates", MISLEADING, finding.rule, begin, f"{told}, and nothing was cut")


def clocks(case: Case) -> Iterator[Breach]:
    """Each step of a clock is told, of a clock that was off, and what is told of it is how far."""
    for found in case.findings:
        named = {*found.nodes}.union(*(case.sources.get((found.replica_group, node), ()) for node in found.nodes))
        if found.rule == RuleId.CLOCK_SKEW and not named & case.records.clock_errors.keys():
            words = f"{' or '.join(found.nodes)} is told to be off, and no clock of theirs was"
            yield case.breach("clocks", FALSE, found.rule, began(found), words)
    for node, errors in case.records.clock_errors.items():
        mine = [
            found
            for found in case.findings
            if found.rule == RuleId.CLOCK_SKEW
            and any(node == name or node in case.sources.get((found.replica_group, name), ()) for name in found.nodes)
        ]
        if not any(role.source_node == node for role in case.roles):
            continue
        for (_, before), (at, after) in pairwise(errors):
            if abs(after - before) >= STEP_S and not mine:
                yield case.breach("clocks", MISSING, "-", at, f"the clock of {node} was set by {after - before:+.0f} s")
        for found in mine:
            least = float("-inf") if found.clock_least_ms is None else found.clock_least_ms / 1000 - 1.5
            most = float("inf") if found.clock_most_ms is None else found.clock_most_ms / 1000 + 1.5
            if not any(least <= error <= most for _, error in errors):
                words = f"{node} is told {least + 1.5:+.1f} to {most - 1.5:+.1f} s ahead, and never was"
                yield case.breach("clocks", FALSE, found.rule, began(found), words)


def leaders(case: Case) -> Iterator[Breach]:
    """Who told an observer again and again that it leads, leads by the verdict too, by its clock."""
    for node, first, last in case.records.leading():
        begin, end = first + LATER_S, last - LATER_S
        mine = [role for role in case.roles if role.source_node == node]
        errors = {0.0, *case.unsaid.get(node, ())}
        led = sorted(
            (role.start_time / 1e6 - by, (role.end_time or 1e18) / 1e6 + (role.end_uncertainty_ms or 0) / 1e3 - by)
            for role in mine
            if role.role in ("leader", "acting_leader", "unknown")
            for by in errors
        )
        at = begin
        for since, until in led:
            at = max(at, until) if since <= at + LATER_S else at
        if mine and begin < end and at < end - LATER_S:
            words = f"{node} told an observer that it leads until {end - at:.0f} s after its role ends"
            yield case.breach("leaders", MISLEADING, "-", max(at, begin), words)


CHECKS: dict[str, Callable[[Case], Iterator[Breach]]] = {
    "bounds": bounds,
    "gaps": gaps,
    "losses": losses,
    "fates": fates,
    "clocks": clocks,
    "leaders": leaders,
}
"""The checks by name."""


def audited(records: Told, rows: Iterable[Row]) -> list[Breach]:
    """Everything that the records of a run show to be wrong or missing in its rows."""
    case = Case(records, tuple(rows))
    return [breach for check in CHECKS.values() for breach in check(case)]
