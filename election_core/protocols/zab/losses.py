"""Committed entries that a ZooKeeper ensemble lost.

    leader of epoch 1, established       |1 2 3 4 5 6 7|     its whole log is committed when its quorum has it
    leader of epoch 2, elected with      |1 2 3 4 5|         it must have all seven
    a learner of epoch 2, told TRUNC     |1 2 3 4 5|         a leader cuts what it does not have itself

Committed are the log with which a leader was established (``Leader#waitForNewLeaderAck``), and the last entry that an
established leader has processed when it compares its log with a learner's (``LearnerHandler#syncFollower``). A leader
tells a learner to cut its log after the last entry that both have, so the leader lacks what the learner has after that;
entries of the leader's own epoch may still come again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from election_replay.election_core.fold.checks import CONFORMS, UNDECIDABLE, VIOLATES
from election_replay.election_core.judge.completeness import (
    BEGAN_ANEW,
    KnownCommit,
    Lack,
    LogEnd,
    committed_entries,
    completeness_tallies,
    finding_of,
    indexes_began_anew,
    lacks,
    store_went_back,
)
from election_replay.election_core.judge.coverage import RuleTally
from election_replay.election_core.judge.group import Group, since
from election_replay.election_core.judge.wording import listed, number_of
from election_replay.election_core.model.catalogue import CRITICAL, DEFINITE, RuleId
from election_replay.election_core.model.facts import Candidacy, KnownCommitted, LeaderLog, LogEndedEarlier
from election_replay.election_core.model.measures import Unit
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.protocols.zab.ballots import ballot_of
from election_replay.election_core.protocols.zab.facts import A_CLIENT, DiffSkips, LearnerCompared, Truncated
from election_replay.election_core.protocols.zab.tables import COUNTER_BITS

_NO_EPOCH = "the epoch of the leader that wanted the cut, or the log's end before it, is not printed"


def _leader_ends(group: Group) -> Iterator[LogEnd]:
    for win in group.of(Candidacy):
        ballot = ballot_of(group, win, win.node) if win.outcome == "won" else None
        if ballot is not None and win.node is not None and win.term is not None:
            yield LogEnd(win.node, win.term, ballot.own_zxid, win.until or win.since, win.until_event)


def _commits(group: Group) -> Iterator[KnownCommit]:
    """Yield what was committed. The first zxid of an epoch, with counter 0, is that of ``NEWLEADER`` and of no entry: a
    server has it as its last one when a leader was established that then took nothing (``Leader#lead``)."""
    known = [KnownCommit(end.node, end.term, end.index, end.event_id) for end in _leader_ends(group)]
    known += [KnownCommit(fact.who, fact.term, fact.to_index, fact.since_event) for fact in group.of(KnownCommitted)]
    yield from (commit for commit in known if _is_entry(commit.index))


def _is_entry(zxid: int) -> bool:
    return zxid % (1 << COUNTER_BITS) > 0


def losses(group: Group, breaches: Iterable[Finding]) -> Iterator[Finding]:
    """Yield ``COMMITTED_ENTRY_LOST`` of an ensemble; ``breaches`` are the findings about broken voting rules."""
    found = list(breaches)
    for back in group.of(LogEndedEarlier):
        yield store_went_back(group, back, f"zxid {back.before:#x}", f"zxid {back.after:#x}", None)
    lacking = []
    for lack in lacks(group, _leader_ends(group), _commits(group)):
        leader, commit = lack.leader, lack.commit
        summary = (
            f"{leader.node} was established in epoch {leader.term} with a log that ended at zxid "
            f"{leader.index:#x}, although {commit.node} {_knew(commit)} entries up to zxid {commit.index:#x} in "
            f"epoch {commit.term}: {_entries(leader.index, commit.index)} lost."
        )
        finding = finding_of(group, lack, summary, _count(leader.index, commit.index), Unit.TRANSACTIONS, found)
        lacking.append(replace(finding, nodes=tuple(node for node in finding.nodes if node != A_CLIENT)))
    yield from lacking
    yield from (_forgotten(group, lack, held) for lack, held in group.once(_held_by_most))
    for cut in _cuts(group):
        if cut.lost is not None:
            yield _cut_finding(group, cut, cut.lost, lacking)


def skipped_entries(group: Group) -> Iterator[Finding]:
    """Yield ``STORES_DIFFER``: a learner that its leader brought up to date without entries that are committed.

    A leader sends what it keeps in memory (``ZKDatabase#committedLog``). What it took over while it was brought up to
    date itself is not there, and older and newer entries lie side by side (``Learner#syncWithLeader`` calls
    ``ZooKeeperServer#processTxn``).
    """
    ends: dict[int, set[int]] = {}
    for end in _leader_ends(group):
        ends.setdefault(end.term, set()).add(end.index)
    had: dict[tuple[str | None, int], set[tuple[int, str | None]]] = {}
    for compared in group.of(LearnerCompared):
        had.setdefault((compared.peer, compared.to_index), set()).add((compared.from_index, compared.since_event))
    for fact in group.of(DiffSkips):
        known = {(fact.before, None)} if fact.before is not None else had.get((fact.who, fact.to_index), set())
        begun = ends.get(fact.after >> COUNTER_BITS, set())
        if len(known) != 1 or indexes_began_anew(group):
            continue
        (last, line), *_ = known
        upto = fact.after - 1 if last >> COUNTER_BITS == fact.after >> COUNTER_BITS else max(begun, default=0)
        if upto > last and len(begun) < 2:
            yield _skipped(group, fact, last, upto, line)


def _skipped(group: Group, fact: DiffSkips, last: int, upto: int, line: str | None) -> Finding:
    leads = [tenure for tenure in group.tenures if tenure.term == fact.to_index >> COUNTER_BITS]
    least = "" if last >> COUNTER_BITS == upto >> COUNTER_BITS else "at least "
    lacks = f"{least}{number_of(_count(last, upto), 'committed transaction')}"
    return group.finding(
        RuleId.STORES_DIFFER,
        (fact.who, fact.after),
        severity=CRITICAL,
        nodes=dict.fromkeys((fact.who, *(tenure.node for tenure in leads))),
        when=(fact.since, None),
        summary=f"{fact.who} lacks {lacks}: its log ended at zxid {last:#x}, and "
        f"its leader went on with {fact.after:#x}, though the log before that reaches {upto:#x}. What a client reads "
        "depends on the server that it asks.",
        evidence=[line, fact.since_event],
    )


def _held_by_most(group: Group) -> list[tuple[Lack, Sequence[LeaderLog]]]:
    """Return the leaders whose log does not reach what a majority had held when elections began before, and who held
    it: as where several servers get older copies of their data at once, even if the same epoch is led anew. Losses that
    :func:`lacks` finds are left to it. An entry is lost once."""
    known = {(lack.leader.node, lack.leader.term) for lack in lacks(group, _leader_ends(group), _commits(group))}
    ends = {(end.node, end.event_id): end for end in _leader_ends(group)}
    logs = sorted(((since(log), log) for log in group.of(LeaderLog)), key=lambda held: held[0].by, reverse=True)
    last: dict[str, LeaderLog] = {}
    found: list[tuple[Lack, Sequence[LeaderLog]]] = []
    for tenure in sorted(group.tenures, key=lambda tenure: tenure.begin):
        while logs and group.clocks.surely_before(logs[-1][0], tenure.begin):
            _, log = logs.pop()
            last[log.who] = max(last.get(log.who, log), log, key=attrgetter("to_index"))
        end = ends.get((tenure.node, tenure.begin.event_id))
        ahead = [
            log for log in last.values() if end is not None and log.to_index > end.index and _is_entry(log.to_index)
        ]
        votes = group.electorates.needed(tenure) if ahead else None
        if end is None or votes is None:
            continue
        furthest = sorted(ahead, key=attrgetter("to_index"), reverse=True)[:votes]
        if len(furthest) < votes or len({log.term for log in furthest}) > 1:
            continue
        last = {}
        if (tenure.node, tenure.term) not in known:
            least = furthest[-1]
            lack = Lack(end, KnownCommit(least.who, least.term, least.to_index, least.since_event))
            found.append((lack, furthest))
    return found


def _forgotten(group: Group, lack: Lack, held: Sequence[LeaderLog]) -> Finding:
    """Return the loss of what the members of ``held``, a majority, had and the leader of ``lack`` had not."""
    end, last = lack.leader, lack.commit.index
    summary = (
        f"{end.node} was established in epoch {end.term} with a log that ended at zxid {end.index:#x}, although "
        f"{listed(sorted(log.who for log in held))}, a majority, had held entries up to zxid {last:#x} before: "
        f"{_entries(end.index, last)} lost."
    )
    finding = finding_of(group, lack, summary, _count(end.index, last), Unit.TRANSACTIONS)
    nodes = dict.fromkeys((end.node, *(log.who for log in held)))
    lines = [log.since_event for log in held if log.since_event is not None]
    return replace(finding, certainty=DEFINITE, nodes=tuple(nodes), evidence=(*lines, *finding.evidence[-1:]))


@dataclass(frozen=True, slots=True)
class _Cut:
    """A cut, the epoch of the leader that ordered it, and the furthest earlier commit that it removed."""

    fact: Truncated
    epoch: int | None
    lost: KnownCommit | None


def _cuts(group: Group) -> Iterator[_Cut]:
    commits = list(_commits(group))
    anew = indexes_began_anew(group)
    for fact in group.of(Truncated):
        epoch, end = _epoch_of_leader(group, fact), fact.from_index
        lost = [
            commit
            for commit in commits
            if not anew
            and epoch is not None
            and end is not None
            and commit.term < epoch
            and fact.to_index < commit.index <= end
        ]
        yield _Cut(fact, epoch, max(lost, key=lambda commit: (commit.index, commit.term), default=None))


def _epoch_of_leader(group: Group, cut: Truncated) -> int | None:
    """Return the epoch in which a learner followed when it cut its log; None unless exactly one is possible."""
    epochs = {
        role.term
        for role in group.roles
        if role.source_node == cut.source_node
        and role.leader == cut.peer
        and role.since <= cut.since_by
        and (role.until_by is None or cut.since <= role.until_by)
    }
    return next(iter(epochs)) if len(epochs) == 1 else None


def _cut_finding(group: Group, cut: _Cut, commit: KnownCommit, lacking: list[Finding]) -> Finding:
    fact = cut.fact
    return group.finding(
        RuleId.COMMITTED_ENTRY_LOST,
        (fact.who, fact.since, fact.to_index),
        severity=CRITICAL,
        nodes=(node for node in (fact.who, fact.peer, commit.node) if node and node != A_CLIENT),
        terms=(term for term in (commit.term, cut.epoch) if term is not None),
        when=fact.since,
        summary=f"{fact.who} cut its log after zxid {fact.to_index:#x}, as {fact.peer}, its leader in epoch "
        f"{cut.epoch}, wanted, although {commit.node} {_knew(commit)} entries up to zxid {commit.index:#x} in epoch "
        f"{commit.term}: {_entries(fact.to_index, commit.index)} lost.",
        evidence=[commit.event_id, fact.since_event],
        implied_by=next((finding.finding_id for finding in lacking if cut.epoch in finding.terms[1:]), None),
    )


def _knew(commit: KnownCommit) -> str:
    return "had seen" if commit.node == A_CLIENT else "had committed"


def _entries(end: int, committed: int) -> str:
    """Return the number of entries between two zxids as text."""
    least = "" if end >> COUNTER_BITS == committed >> COUNTER_BITS else "at least "
    return f"{least}{committed_entries(_count(end, committed))}"


def _count(end: int, committed: int) -> int:
    """Return how many entries lie between two zxids; across epochs at least, by the counter of the later zxid. The
    first entry of an epoch has the counter 1."""
    same_epoch = end >> COUNTER_BITS == committed >> COUNTER_BITS
    return committed - end if same_epoch else committed & ((1 << COUNTER_BITS) - 1)


def loss_tallies(group: Group) -> Iterator[RuleTally]:
    """Yield the tallies of leaders that had all earlier commits, of cuts, and of logs that ended earlier at a start."""
    yield from ((RuleId.STORE_WENT_BACK, VIOLATES, None, 1) for _ in group.of(LogEndedEarlier))
    ends, commits = list(_leader_ends(group)), list(_commits(group))
    lacking = [*lacks(group, ends, commits), *(lack for lack, _ in group.once(_held_by_most))]
    yield from completeness_tallies(group, ends, commits, lacking)
    for cut in _cuts(group):
        if cut.lost is not None:
            yield RuleId.COMMITTED_ENTRY_LOST, VIOLATES, None, 1
        elif cut.epoch is None or cut.fact.from_index is None:
            yield RuleId.COMMITTED_ENTRY_LOST, UNDECIDABLE, _NO_EPOCH, 1
        elif indexes_began_anew(group):
            yield RuleId.COMMITTED_ENTRY_LOST, UNDECIDABLE, BEGAN_ANEW, 1
        else:
            yield RuleId.COMMITTED_ENTRY_LOST, CONFORMS, None, 1
