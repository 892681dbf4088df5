"""Checks that the rows of a judged group can all be true at once, whatever happened to the cluster.

    roles of one log      [leader 3]------[follower 4]        one after the other, never two at once
    leaders of a group    [==== n0, term 3 ====]
                                 [== n1, term 4 ==]           at once only where a finding says so
    a finding             |<- at least .. at most ->|         no longer than from its start to its end
    the run               [first line ........... last line]  everything lies inside

A contradiction is a bug of this software, not of the cluster. It is reported (``NOT_JUDGED``), and the finding that it
concerns is doubted: it becomes ``possible``, its least is zero, and its rule counts it as undecidable. Only what no
reading of the clocks allows is a contradiction. The checks take one pass over facts and one over rows, besides sorting.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from operator import attrgetter

from election_replay.election_core.fold.roles import ACTING, DIED, LEADER, SEEN, STOPPED
from election_replay.election_core.judge.clock import Clocks, Moment
from election_replay.election_core.judge.group import SILENT
from election_replay.election_core.judge.wording import seconds
from election_replay.election_core.model.catalogue import (
    CRITICAL,
    INFO,
    POSSIBLE,
    PROVEN,
    TWO_LEADERS,
    WARNING,
    WENT_BACK,
    RuleId,
    finding_id,
)
from election_replay.election_core.model.facts import Alive, Fact, LogCut, OrderLost, Written
from election_replay.election_core.model.facts import Role as RoleFact
from election_replay.election_core.model.measures import Fate, Unit
from election_replay.election_core.model.rows import Election, Finding, RoleInterval, Row, RuleCoverage, Term
from election_replay.election_core.model.timing import SECOND, US_PER_MS, Timeout

CONTRADICTS = "This verdict contradicts itself"
"""How the summary of a finding about a contradiction begins."""

UNDECIDABLE = "the verdict contradicts itself"
"""The reason why a rule with a doubted finding could not be judged."""

ORDER_LOST = "lines of {} do not stand as they were written"
"""The reason where the order of the lines is lost."""

ENDED = frozenset({Fate.DIED, Fate.STOPPED, Fate.REMOVED})
"""Fates of a former leader that exclude that it still led when the next one began."""

QUIET_LEADERS = frozenset({"bully", "token_ring"})
"""Protocols whose leaders log nothing while they lead: no heartbeat, no commit."""

OF_PROCESSES = frozenset({STOPPED, DIED, SILENT})
"""End causes of roles that ended with their process: no line shows how long the role lasted."""

FAR = Timeout.FAR_FROM_A_FINDING.us
"""A line further from a finding than this many us proves it only if it has one of its terms."""

ENDLESS = 1 << 62
"""The end, in us, of what still lasts."""

_SINCE, _SINCE_BY, _BOUND_MS = attrgetter("since"), attrgetter("since_by"), attrgetter("bound_ms")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """An impossible combination of rows: ``says`` is a clause, ``at`` its time in us, ``finding`` the one at fault."""

    protocol: str
    says: str
    at: int
    finding: Finding | None = None
    nodes: tuple[str, ...] = ()
    terms: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The rows of a group by kind and protocol, and its facts in common time. ``sources`` maps (protocol, member) to
    its sources. ``slack`` is how far a clock may be off, in us. ``written`` maps (protocol, source) to the last line in
    which the source could log a role. The run lasts from ``first`` to ``last``."""

    findings: Sequence[Finding]
    roles: Mapping[str, Sequence[RoleInterval]]
    sources: Mapping[tuple[str, str | None], set[str]]
    terms: Mapping[str, Sequence[Term]]
    elections: Sequence[Election]
    facts: Sequence[Fact]
    clocks: Clocks
    slack: int
    written: Mapping[tuple[str, str], int]
    first: int
    last: int

    @classmethod
    def of(cls, rows: Iterable[Row], facts: Sequence[Fact], clocks: Clocks) -> "Verdict":
        """Return the index of the rows of one group."""
        findings, elections = list[Finding](), list[Election]()
        roles: dict[str, list[RoleInterval]] = defaultdict(list)
        sources: dict[tuple[str, str | None], set[str]] = defaultdict(set)
        terms: dict[str, list[Term]] = defaultdict(list)
        for row in rows:
            match row:
                case RoleInterval():
                    roles[row.protocol].append(row)
                    if row.source_node is not None:
                        sources[row.protocol, row.node].add(row.source_node)
                case Finding():
                    findings.append(row)
                case Term():
                    terms[row.protocol].append(row)
                case Election():
                    elections.append(row)
        slack = 1000 * max(map(_BOUND_MS, facts))
        until_by = max(fact.until_by or 0 for fact in facts)
        last = max(until_by, *map(_SINCE_BY, facts))
        written = _last_times(facts, Alive)
        of_roles = _last_times(facts, Written)
        written = {key: min(last, of_roles.get(key, last)) for key, last in written.items()}
        return cls(
            findings, roles, sources, terms, elections, facts, clocks, slack, written, min(map(_SINCE, facts)), last
        )

    def surely_at_once(self, role: RoleInterval, other: RoleInterval) -> bool:
        """Return True when two members, by their own logs, surely were in two roles at once, for any reading of their
        clocks. A role without end is shown as far as its log was written."""
        if role.source_node is None or other.source_node is None:
            return False
        if role.source_node == other.source_node or role.node == other.node:
            return False
        ends = [self._end_of(role, role.source_node), self._end_of(other, other.source_node)]
        begins = [_begin_of(role, role.source_node), _begin_of(other, other.source_node)]
        return all(self.clocks.elapsed(begin, end)[0] > 0 for begin in begins for end in ends)

    def _end_of(self, row: RoleInterval, source: str) -> Moment:
        at = min(_end(row), self.written.get((row.protocol, source), 0))
        return Moment(at, at, source)

    def around_step(self, before: RoleInterval, after: RoleInterval) -> bool:
        """Return True when a role ended, or the next one began, near a step of the clock: only lines order them."""
        source = before.source_node or ""
        ended = Moment(before.end_time or before.start_time, before.end_time or before.start_time, source)
        return any(map(self.clocks.near_step, (ended, _begin_of(after, source))))

    def may_part(self, finding: Finding) -> int:
        """Return how far apart, in us, the clocks behind a finding's times may be."""
        members = ((finding.protocol, node) for node in finding.nodes)
        sources = set[str]().union(*(self.sources.get(member, ()) for member in members))
        return max([2 * self.slack, *(self.clocks.most_ahead(*pair) for pair in product(sources, repeat=2))])

    def says(self, rules: Iterable[RuleId], *members: Iterable[str | None]) -> bool:
        """Return True when a finding of one of the rules names each member, under any of the member's names."""
        wanted = frozenset[str](rules)
        return any(
            finding.rule in wanted and all(set(names).intersection(finding.nodes) for names in members)
            for finding in self.findings
        )


def _last_times(facts: Iterable[Fact], kind: type[Fact]) -> dict[tuple[str, str], int]:
    """Return when the last fact of a kind ended, by protocol and source."""
    found: dict[tuple[str, str], int] = {}
    for fact in facts:
        if isinstance(fact, kind) and fact.until is not None:
            key = (fact.protocol, fact.source_node)
            found[key] = max(fact.until, found.get(key, 0))
    return found


def _end(row: RoleInterval | Term) -> int:
    return ENDLESS if row.end_time is None else row.end_time


def _begin_of(row: RoleInterval, source: str) -> Moment:
    return Moment(row.start_time, _begun_by(row), source)


def _begun_by(row: RoleInterval) -> int:
    return row.start_time + row.start_uncertainty_ms * 1000


def _of(finding: Finding, says: str) -> Contradiction:
    return Contradiction(finding.protocol, says, finding.start_time, finding)


# -- roles, leaders and terms ------------------------------------------------------------------------------------------


def roles_at_once(verdict: Verdict) -> Iterator[Contradiction]:
    """Yield members that have two roles at once by their own log."""
    for protocol, roles in verdict.roles.items():
        of_log: dict[tuple[str | None, str], list[RoleInterval]] = defaultdict(list)
        for role in roles:
            if role.source_node is not None:
                of_log[role.source_node, role.node].append(role)
        for (source, node), rows in of_log.items():
            for before, after in pairwise(sorted(rows, key=lambda row: (row.start_time, _end(row)))):
                if _end(before) > _begun_by(after) and not verdict.around_step(before, after):
                    says = f"{source} is {before.role} and {after.role} at once"
                    yield Contradiction(protocol, says, after.start_time, nodes=(node,))


def leaders_at_once(verdict: Verdict) -> Iterator[Contradiction]:
    """Yield pairs of leaders that led at once without a finding that says so. Leaders whose log lacks their election
    and term are left out: no rule can judge them. So are acting leaders, and leaders of protocols that log nothing
    while they lead, unless a line ended the role: its end is a single line, which may be lost."""
    for protocol, roles in verdict.roles.items():
        leading = list[RoleInterval]()
        quiet = protocol in QUIET_LEADERS
        led = (role for role in roles if _surely_led(role, quiet))
        for role in sorted(led, key=attrgetter("start_time")):
            leading = [other for other in leading if _end(other) > role.start_time]
            for other in leading:
                names = ((each.node, each.source_node) for each in (other, role))
                unknown = any(each.term is None and each.start_cause == SEEN for each in (other, role))
                if not unknown and verdict.surely_at_once(other, role) and not verdict.says(TWO_LEADERS, *names):
                    says = f"{other.node} and {role.node} lead at once, and no finding says so"
                    terms = tuple(sorted({row.term for row in (other, role) if row.term is not None}))
                    yield Contradiction(protocol, says, role.start_time, nodes=(other.node, role.node), terms=terms)
            leading.append(role)


def _surely_led(role: RoleInterval, quiet: bool) -> bool:
    """Return True when the log shows that a role led until its end."""
    if quiet or role.role == ACTING:
        return role.role in (LEADER, ACTING) and role.end_time is not None and role.end_cause not in OF_PROCESSES
    return role.role == LEADER


def _begin(row: Term, role: RoleInterval | None) -> Moment:
    """Return the beginning of a term, as wide as that of its leader's role; without a source where no log has that."""
    by = row.start_time + (0 if role is None else role.start_uncertainty_ms * US_PER_MS)
    return Moment(row.start_time, by, "" if role is None else role.source_node or "")


def terms_in_order(verdict: Verdict) -> Iterator[Contradiction]:
    """Yield terms that begin before a smaller one, and terms that go on although their leader no longer leads. Only
    leaders' own logs count. Terms that others report begin when those heard of them, and terms that were reset
    (``WENT_BACK``, or one term twice) have no order."""
    anew = verdict.says(WENT_BACK)
    slack = 2 * verdict.slack + Timeout.ROUNDED.us
    for protocol, terms in verdict.terms.items():
        led = sorted((row for row in terms if row.leader is not None), key=lambda row: (row.term, row.start_time))
        begun_anew = anew or len({row.term for row in led}) < len(led)
        of_term = {(role.node, role.term): role for role in verdict.roles.get(protocol, ())}
        unknown = {(role.node, role.term) for role in verdict.roles.get(protocol, ()) if role.start_cause == SEEN}
        for before, after in pairwise(() if begun_anew else led):
            if (before.leader, before.term) in unknown:  # its log begins amid it
                continue
            begins = [_begin(row, of_term.get((row.leader or "", row.term))) for row in (after, before)]
            if not all(begin.source for begin in begins):
                continue
            if verdict.clocks.elapsed(*begins)[0] > slack:
                says = f"term {after.term} begins before term {before.term}"
                yield Contradiction(protocol, says, after.start_time, terms=(before.term, after.term))
        ends: dict[tuple[str | None, int | None], set[bool]] = defaultdict(set)
        for role in verdict.roles.get(protocol, ()):
            # A leader that is known from followers only ends when they stop following.
            if role.source_node is not None and role.role in (LEADER, ACTING):
                ends[role.node, role.term].add(role.end_time is None)
        for term in led:
            if term.end_time is None and ends[term.leader, term.term] == {False}:
                says = f"term {term.term} goes on, and {term.leader} leads it no more"
                yield Contradiction(protocol, says, term.start_time, terms=(term.term,))


# -- times -------------------------------------------------------------------------------------------------------------


def outside_of_run(verdict: Verdict) -> Iterator[Contradiction]:
    """Yield rows that begin before the first line or end after the last one."""
    first, last = verdict.first - verdict.slack, verdict.last + verdict.slack
    for finding in verdict.findings:
        yield from _outside(finding, "it", first, last, finding)
    for roles in verdict.roles.values():
        for role in roles:
            yield from _outside(role, f"{role.node} as {role.role}", first, last)
    for election in verdict.elections:
        yield from _outside(election, f"the election of term {election.term}", first, last)
    for terms in verdict.terms.values():
        for term in terms:
            yield from _outside(term, f"term {term.term}", first, last)


def _outside(
    row: Finding | RoleInterval | Election | Term, subject: str, first: int, last: int, finding: Finding | None = None
) -> Iterator[Contradiction]:
    begin, end = row.start_time, row.end_time
    if begin < first:
        says = f"{subject} begins {seconds(first - begin)} before the first line"
    elif begin > last or (end is not None and end > last):
        says = f"{subject} lasts until {seconds(max(begin, end or 0) - last)} after the last line"
    else:
        return
    yield Contradiction(row.protocol, says, begin, finding)


def ended_before_the_next(verdict: Verdict) -> Iterator[Contradiction]:
    """Yield findings by which a leader had ended although its log shows it leading together with the next one."""
    for finding in verdict.findings:
        lasted = finding.duration_max_ms is not None and len(finding.terms) > 1
        if not lasted or finding.former_leader_fate not in ENDED:
            continue
        roles = [role for role in verdict.roles.get(finding.protocol, ()) if role.role == LEADER]
        former = [role for role in roles if (role.node, role.term) == (finding.former_leader, finding.terms[0])]
        after = [role for role in roles if (role.node, role.term) == (finding.next_leader, finding.terms[-1])]
        if any(verdict.surely_at_once(role, other) for role in former for other in after):
            ended = f"{finding.former_leader} had {_HAD[finding.former_leader_fate]} before {finding.next_leader} led"
            yield _of(finding, f"{ended}, and led on")


_HAD = {Fate.DIED: "died", Fate.STOPPED: "been stopped", Fate.REMOVED: "been removed"}


def evidence_of_its_time(verdict: Verdict) -> Iterator[Contradiction]:
    """Yield findings with a line of evidence that is neither near their time nor of one of their terms."""
    named = {event for finding in verdict.findings if finding.terms for event in finding.evidence}
    if not named:
        return
    shown: dict[str, list[Fact]] = defaultdict(list)
    for fact in verdict.facts:
        for event in {fact.since_event, fact.until_event}:
            if event is not None and event in named:
                shown[event].append(fact)
    for finding in verdict.findings:
        begin, end = finding.start_time - FAR, ENDLESS if finding.end_time is None else finding.end_time + FAR
        for event in finding.evidence if finding.terms else ():
            facts = shown.get(event, ())
            if facts and not any(_touches(fact, begin, end) or _term_of(fact) in finding.terms for fact in facts):
                yield _of(finding, "a line proves it that is of another time and another term")
                break


def _touches(fact: Fact, begin: int, end: int) -> bool:
    """Return True when a fact overlaps the interval [begin, end] in us; a role without end goes on."""
    until = fact.until if fact.until is not None else ENDLESS if isinstance(fact, RoleFact) else fact.since
    return fact.since <= end and until >= begin


def _term_of(fact: Fact) -> int | None:
    return getattr(fact, "term", None)


# -- measures ----------------------------------------------------------------------------------------------------------


def parts_in_wholes(verdict: Verdict) -> Iterator[Contradiction]:
    """Yield findings whose least exceeds their most, or the time from their start to their end. Start and end may be
    times of two machines, each as far off as its clock may be."""
    for finding in verdict.findings:
        lasts = None if finding.end_time is None else finding.end_time - finding.start_time
        for least, most in (
            (finding.duration_min_ms, finding.duration_max_ms),
            (finding.overlap_min_ms, finding.overlap_max_ms),
        ):
            if least is None:
                continue
            if most is not None and least > most:
                yield _of(finding, f"at least {seconds(least * 1000)} are at most {seconds(most * 1000)}")
            elif lasts is not None and least * 1000 > lasts + verdict.may_part(finding):
                yield _of(finding, f"at least {seconds(least * 1000)} lie in {seconds(lasts)}")
        if " s of " in finding.summary:
            yield from _shares(finding)


_SHARE = re.compile(r"(?:(\d+) min )?([\d.]+) s of (?:that|it)\b")


def _shares(finding: Finding) -> Iterator[Contradiction]:
    """Yield findings whose summary names a part of their duration that is longer than it, beyond rounding."""
    most = finding.duration_max_ms if finding.duration_max_ms is not None else finding.overlap_max_ms
    for found in _SHARE.finditer(finding.summary) if most is not None else ():
        share = (int(found[1] or 0) * 60 + float(found[2])) * SECOND
        if most is not None and share > most * 1000 + Timeout.ROUNDED.us:
            yield _of(finding, f"{seconds(int(share))} are part of at most {seconds(most * 1000)}")


def one_root_a_cut(verdict: Verdict) -> Iterator[Contradiction]:
    """Yield findings about a truncation of which no line tells, and pairs of root findings about one truncation. Two
    lines may truncate the same bytes twice, if they were replicated again in between."""
    cuts: dict[tuple[str | None, str | None], set[tuple[int | None, int | None]]] = defaultdict(set)
    for fact in verdict.facts:
        if isinstance(fact, LogCut):
            for event in (fact.since_event, *fact.evidence):
                cuts[event, fact.node].add((fact.cut_to, fact.log_end))
    roots: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    for finding in verdict.findings:
        if finding.cut_node is None:
            continue
        in_bytes = finding.unit == Unit.BYTES and finding.cut_from is not None
        cited = {cut for event in finding.evidence for cut in cuts.get((event, finding.cut_node), ())}
        if in_bytes and cited and (finding.cut_from, finding.cut_to) not in cited:
            yield _of(finding, f"no line says that a log was cut from {finding.cut_to} to {finding.cut_from}")
        if finding.root_finding_id is None:
            place = finding.cut_node, finding.cut_epoch, finding.cut_from, finding.cut_to, finding.unit
            same = next((other for other in roots[place] if {*other.evidence} & {*finding.evidence}), None)
            if same is not None:
                yield _of(finding, f"{same.rule} tells of the same cut, and neither follows from the other")
            roots[place].append(finding)


Check = Callable[[Verdict], Iterator[Contradiction]]

CHECKS: tuple[Check, ...] = (
    roles_at_once,
    leaders_at_once,
    terms_in_order,
    outside_of_run,
    ended_before_the_next,
    evidence_of_its_time,
    parts_in_wholes,
    one_root_a_cut,
)


def contradictions(rows: Iterable[Row], facts: Sequence[Fact], clocks: Clocks) -> list[Contradiction]:
    """Return all contradictions in the rows of a group; ``facts`` are in common time."""
    if not facts:
        return []
    verdict = Verdict.of(rows, facts, clocks)
    return [found for check in CHECKS for found in check(verdict)]


# -- what becomes of a breach ------------------------------------------------------------------------------------------


def consistent(rows: Iterable[Row], facts: Sequence[Fact], clocks: Clocks) -> list[Row]:
    """Return the rows of a group with contradictory findings doubted, and a finding about each contradiction."""
    every = list(rows)
    found = contradictions(every, facts, clocks)
    if not found:
        return every
    doubted = {
        breach.finding.finding_id: f"{UNDECIDABLE} ({breach.says})"
        for breach in reversed(found)
        if breach.finding is not None
    }
    faults = {row.finding_id: row for row in (_fault(breach, facts[0]) for breach in found)}
    return [*_doubted(every, doubted, UNDECIDABLE), *(faults[key] for key in sorted(faults))]


def in_lost_order(rows: Iterable[Row], facts: Iterable[Fact]) -> list[Row]:
    """Return the rows of a group; none of its findings is sure where the order of a source's lines is lost."""
    every = list(rows)
    sources = sorted({fact.source_node for fact in facts if isinstance(fact, OrderLost)})
    return none_sure(every, ORDER_LOST.format(", ".join(sources))) if sources else every


def none_sure(rows: Sequence[Row], why: str, but: Collection[str] = (RuleId.NOT_JUDGED,)) -> list[Row]:
    """Return rows with all findings doubted for the reason ``why``, ``but`` those of some rules."""
    found = (row for row in rows if isinstance(row, Finding) and row.rule not in but and row.certainty != POSSIBLE)
    return _doubted(rows, {row.finding_id: why for row in found}, why)


def _doubted(rows: Sequence[Row], doubted: Mapping[str, str], why: str) -> list[Row]:
    """Return rows; findings that are ``doubted``, each for a reason, become possible; coverage counts them as
    undecidable for the reason ``why``."""
    sure = [row for row in rows if isinstance(row, Finding) and row.finding_id in doubted and row.certainty != POSSIBLE]
    return [_in_doubt(row, doubted, sure, why) for row in rows]


def _in_doubt(row: Row, doubted: Mapping[str, str], sure: Sequence[Finding], undecidable: str) -> Row:
    if isinstance(row, Finding) and row.finding_id in doubted:
        return replace(
            row,
            certainty=POSSIBLE,
            severity=WARNING if row.severity == CRITICAL else row.severity,
            summary=f"Undecidable, as {doubted[row.finding_id]}: {row.summary}",
            duration_min_ms=row.duration_min_ms and 0,
            overlap_min_ms=row.overlap_min_ms and 0,
        )
    if isinstance(row, RuleCoverage):
        times = sum(1 for each in sure if (each.protocol, each.rule) == (row.protocol, row.rule))
        taken = min(times, row.violates)
        if taken:
            why = "; ".join(filter(None, (row.why_undecidable, undecidable)))
            return replace(row, violates=row.violates - taken, undecidable=row.undecidable + taken, why_undecidable=why)
    return row


def _fault(breach: Contradiction, any_fact: Fact) -> Finding:
    """Return a contradiction as a finding about this software."""
    about = breach.finding
    of = "" if about is None else f"{about.rule}: "
    return Finding(
        finding_id=finding_id(
            any_fact.cluster,
            any_fact.replica_group,
            RuleId.NOT_JUDGED,
            breach.protocol,
            about and about.finding_id,
            breach.says,
        ),
        cluster=any_fact.cluster,
        replica_group=any_fact.replica_group,
        protocol=breach.protocol,
        rule=RuleId.NOT_JUDGED.value,
        severity=INFO,
        certainty=PROVEN,
        nodes=breach.nodes if about is None else about.nodes,
        terms=breach.terms if about is None else about.terms,
        start_time=breach.at,
        end_time=breach.at,
        summary=f"{CONTRADICTS}: {of}{breach.says}. Please report this; it is a fault of this software.",
        evidence=() if about is None else about.evidence,
    )
