"""Two leaders at once, in groups whose members vote for a leader of a term.

SPLIT_BRAIN_SAME_TERM by hearsay: members heard the heartbeats of two leaders of one term
SPLIT_BRAIN_OVERLAP:  stale, term 1   [============ end]       normal for as long as its time-outs allow
                      newer, term 2            [==========     an alarm if the stale one commits after this begin
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from election_replay.election_core.fold.roles import FOLLOWER, TRANSFER
from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.group import Group, since
from election_replay.election_core.judge.outages import change_of
from election_replay.election_core.judge.overlap import Overlap, overlap_finding, overlaps
from election_replay.election_core.judge.wording import between, seconds
from election_replay.election_core.model.catalogue import CRITICAL, DEFINITE, INFO, POSSIBLE, WARNING, RuleId
from election_replay.election_core.model.facts import Committed, Fact
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.protocols.raft_family.facts import TwoLeaders


@dataclass(frozen=True, slots=True)
class _LeaderClaim:
    """Proof that a node led a term: its own log, or that of members that heard its heartbeat."""

    by_itself: bool
    moment: Moment
    evidence: tuple[str, ...]


def _leader_claims(group: Group) -> dict[int, dict[str, _LeaderClaim]]:
    """Return ``term -> leader -> claim``. Only a leader of a term sends its heartbeats (``maintainAsLeader``). A
    heartbeat may arrive after its sender lost the role: it proves that the sender led the term, not when."""
    led: dict[int, dict[str, _LeaderClaim]] = {}
    for tenure in group.tenures:
        led.setdefault(tenure.term, {}).setdefault(tenure.node, _LeaderClaim(True, tenure.begin, tenure.evidence))
    for role in group.roles:
        if role.term is not None and role.leader is not None and (role.role, role.cause) == (FOLLOWER, "heartbeat"):
            led.setdefault(role.term, {}).setdefault(role.leader, _heard(role))
    for meeting in group.of(TwoLeaders):
        for leader in (meeting.other, meeting.known):
            if leader is not None:
                led.setdefault(meeting.term, {}).setdefault(leader, _heard(meeting))
    return led


def _heard(fact: Fact) -> _LeaderClaim:
    return _LeaderClaim(False, since(fact), (fact.since_event,) if fact.since_event else ())


def split_by_hearsay(group: Group) -> Iterator[Finding]:
    """Yield ``SPLIT_BRAIN_SAME_TERM`` where the own log of one of the leaders is missing or lacks the line."""
    named = {role.node for role in group.roles if role.node is not None}
    unnamed = {role.source_node for role in group.roles} - {r.source_node for r in group.roles if r.node is not None}
    for term, leaders in sorted(_leader_claims(group).items()):
        for leader, other in combinations(sorted(leaders), 2):
            words = leaders[leader], leaders[other]
            # A source that never prints its id may be a node named by others, unless that node has its own log.
            may_be_same = not unnamed.isdisjoint((leader, other)) and not named.issuperset({leader, other} - unnamed)
            if not may_be_same and not all(word.by_itself for word in words):
                yield _split_heard(group, term, (leader, other), words)
        if len(leaders) == 1:
            yield from _split_denied(group, term, next(iter(leaders)))


def _split_heard(group: Group, term: int, names: tuple[str, str], words: tuple[_LeaderClaim, _LeaderClaim]) -> Finding:
    heard = " and ".join(name for name, word in zip(names, words, strict=True) if not word.by_itself)
    return group.finding(
        RuleId.SPLIT_BRAIN_SAME_TERM,
        (term, *names),
        severity=CRITICAL,
        nodes=names,
        terms=(term,),
        when=(min(word.moment.at for word in words), max(word.moment.at for word in words)),
        summary=f"{names[0]} and {names[1]} both led term {term}: members heard the heartbeats of {heard}, which only "
        "a leader sends. These lines do not tell whether both led at the same time.",
        evidence=[event for word in words for event in word.evidence],
    )


def _split_denied(group: Group, term: int, leader: str) -> Iterator[Finding]:
    """Yield a split by INCONSISTENT_LEADER, a member's answer that it knows another leader of the same term."""
    denied = [f for f in group.of(TwoLeaders) if f.term == term and f.other is None]
    if denied:
        yield group.finding(
            RuleId.SPLIT_BRAIN_SAME_TERM,
            (term, leader),
            severity=CRITICAL,
            nodes=(leader,),
            terms=(term,),
            when=(denied[0].since, denied[-1].since),
            summary=f"{leader} led term {term}, and a member refused its heartbeat because it knew another leader of "
            "that term, whom no log names.",
            evidence=[fact.since_event for fact in denied],
        )


def overlap_findings(group: Group, clock: str = "term") -> Iterator[Finding]:
    """Yield ``SPLIT_BRAIN_OVERLAP``: definite overlaps of tenures of different terms. ``clock``: "term" or "epoch"."""
    for overlap in overlaps(group):
        if overlap.stale.term != overlap.newer.term and overlap.least > 0:
            yield _of_overlap(group, overlap, clock)


def _of_overlap(group: Group, overlap: Overlap, clock: str) -> Finding:
    stale, newer = overlap.stale, overlap.newer
    commit = commit_after(group, overlap)
    # A leader whose log shows no later role may have lost this one, or restarted, in lines that are missing.
    severity, certainty = INFO, POSSIBLE if stale.ends_with_its_process else DEFINITE
    if commit is not None:
        entries = f"entries {commit.from_index} to {commit.to_index}"
        silence = _unshown_silence(group, overlap, commit)
        if _committed_after_us(group, overlap, commit) > silence:
            severity, certainty = CRITICAL, DEFINITE
            why = f"{stale.name} committed {entries} after {newer.name} had been elected"
        else:
            severity, certainty = WARNING, POSSIBLE
            why = (
                f"{stale.name} committed {entries} after its log had been silent for {seconds(silence)}; that was "
                f"after {newer.name} had been elected, unless the clock of {stale.name} was set forward in the silence"
            )
    elif overlap.frozen:
        why = f"{stale.name} was frozen meanwhile and committed nothing"
    elif stale.end_cause == TRANSFER:
        why = f"{stale.name} was handing over to it and committed nothing more"
    else:
        why = f"{stale.name} had lost its quorum and committed nothing"
    old = stale.with_detail(f"{clock} {stale.term}, stale")
    new = newer.with_detail(f"{clock} {newer.term}")
    return overlap_finding(
        group,
        overlap,
        severity,
        f"{old} and {new} both called themselves leader for {between(overlap.least, overlap.most)}; {why}.",
        (commit.since_event,) if commit else (),
        certainty=certainty,
        **change_of(group, stale, newer, newer.begin),
    )


def commit_after(group: Group, overlap: Overlap) -> Committed | None:
    """Return the stale leader's commit growth that certainly came after the newer election; None without one."""
    for progress in group.of(Committed):
        if progress.source_node != overlap.stale.source or progress.term != overlap.stale.term:
            continue
        if _committed_after_us(group, overlap, progress) > 0:
            return progress
    return None


def _committed_after_us(group: Group, overlap: Overlap, progress: Committed) -> int:
    """Return the least time in us from the newer election to the growth of the commit index."""
    return group.clocks.elapsed(overlap.newer.begin, _growth_begin(progress))[0]


def _unshown_silence(group: Group, overlap: Overlap, progress: Committed) -> int:
    """Return for how long, in us, the stale leader's log was silent before the growth without a check on its clock. A
    clock set forward looks like a silent log: the growth may have been earlier by that much."""
    begin, end, sure = overlap.newer.begin, _growth_begin(progress), group.clocks.surely_before_though_set
    holes = [hole for hole in overlap.stale.silences if hole.begin.at <= progress.since]
    return sum(hole.length for hole in holes if not sure(begin, end, hole.end))


def _growth_begin(progress: Committed) -> Moment:
    """Return the earliest moment of a growth: the status line that still showed the old index."""
    return Moment(progress.since, progress.since, progress.source_node, progress.since_event)
