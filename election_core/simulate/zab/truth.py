"""The findings that the logs of a ZooKeeper world prove."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from election_replay.election_core.model.quorum import is_majority
from election_replay.election_core.protocols.zab.tables import Vote, is_better
from election_replay.election_core.simulate.leaders import Signs, two_leaders, went_back
from election_replay.election_core.simulate.truth import (
    Claim,
    Gap,
    Truth,
    all_is_shown,
    downtime,
    in_names,
    kept,
    leaderless,
    lines_of,
    log_gaps,
    lossless,
    of_node,
    skews,
    storms,
)
from election_replay.election_core.simulate.world import SECOND, Line, World
from election_replay.election_core.simulate.zab.machine import LOG_FILE
from election_replay.election_core.simulate.zab.voice import SIDS

_SIGNS = Signs(("ZK_ESTABLISHED",), ("ZK_LEADER_SHUTDOWN",), "epoch", 2 * SECOND, silent_while_leading=True)
"""Lines have milliseconds: only the bounds of two clocks blur the ends of two tenures."""
_SURE_GAP_US = 5 * SECOND
"""The same for the end of one tenure and the begin of the next, and up to two seconds until a death is noticed."""

_NAMES = {sid: name for name, sid in SIDS.items()}


def truths(world: World) -> list[Truth]:
    """Return everything that a reviewer should be told about a world."""
    parts = (
        *(
            _regressions,
            _stores_that_went_back,
            _worse_votes,
            _left_behind,
            _lost_commits,
            _lost_by_most,
            _without_quorum,
        ),
        *(_log_gaps, _storms),
    )
    found = [truth for part in parts for truth in part(world)]
    found += two_leaders(world, _SIGNS)
    found += leaderless(world, lambda gap: _gap_shows(world, gap), by_majority=True)
    found += skews(world, _causal_pairs(world))
    return sorted(in_names(found, _NAMES), key=lambda truth: (truth.begin_us, truth.rule, truth.nodes, truth.terms))


def _is_own_vote(line: Line) -> bool:
    return (line.value("peer"), line.value("result")) == (line.node, "LOOKING")


def _vote(line: Line) -> Vote:
    return Vote(line.number("term"), line.number("zxid"), line.number("value"))


# -- votes --------------------------------------------------------------------------------------------------------


def _worse_votes(world: World) -> Iterator[Truth]:
    """``ZAB_WRONG_WINNER``: a server's own vote got worse within one round."""
    for node in world.names():
        last, shown = dict[int, Vote](), dict[int, Vote]()
        for line in lines_of(world, "ZK_START", "ZK_ELECTION", "ZK_VOTE"):
            if line.node != node:
                continue
            if line.kind != "ZK_VOTE":
                last, shown = {}, {}
            elif _is_own_vote(line):
                vote, number = _vote(line), line.number("count")
                if is_better(last.get(number, vote), vote):
                    provable = line.kept and is_better(shown.get(number, vote), vote)
                    words = f"{node} changed its vote for a worse one."
                    yield Truth("ZAB_WRONG_WINNER", (node,), (), line.true_us, line.true_us, provable, words, _of(node))
                last[number] = vote
                shown = {number: vote} if line.kept else shown


def _of(node: str) -> Claim:
    return lambda finding: finding.nodes == (node,) and finding.terms == ()


@dataclass(frozen=True, slots=True)
class _Entry:
    """The epoch and last zxid with which a server entered an election."""

    line: Line
    epoch: int
    zxid: int


def _entries(world: World) -> dict[str, list[_Entry]]:
    """Return what each server printed about itself at the begin of each election, in order."""
    entries: dict[str, list[_Entry]] = {}
    began: dict[str, Line] = {}
    for line in lines_of(world, "ZK_ELECTION", "ZK_VOTE"):
        if line.kind == "ZK_ELECTION":
            began[line.node] = line
        elif line.node in began and _is_own_vote(line):
            del began[line.node]
            entries.setdefault(line.node, []).append(_Entry(line, line.number("term"), line.number("zxid")))
    return entries


def _left_behind(world: World) -> Iterator[Truth]:
    """Yield ``ZAB_WRONG_WINNER``: an established leader is behind servers that it needs for its quorum."""
    entries = _entries(world)
    for line in lines_of(world, "ZK_ESTABLISHED"):
        supporters = line.value("members")
        with_what = {name: _last_before(entries.get(name, []), line) for name in supporters}
        winner = with_what.get(line.node)
        ahead = [name for name, ballot in with_what.items() if winner and ballot and _log(ballot) > _log(winner)]
        if ahead and not is_majority(len(supporters) - len(ahead), len(world.names())):
            epoch = line.number("zxid") >> 32
            words = f"{line.node} was established in epoch {epoch} although {' and '.join(sorted(ahead))} had more."
            provable = all_is_shown(world)
            nodes, claim = (line.node, *sorted(ahead)), _behind(line.node, epoch)
            yield Truth("ZAB_WRONG_WINNER", nodes, (epoch,), line.true_us, None, provable, words, claim)


def _lost_commits(world: World) -> Iterator[Truth]:
    """Yield ``COMMITTED_ENTRY_LOST``: a leader lacks entries with which one of an earlier epoch had been established.
    Servers that have them must then cut them off."""
    entries = _entries(world)
    back = any(True for _ in _regressions(world))
    established = [
        (line.number("zxid") >> 32, entry.zxid, line)
        for line in lines_of(world, "ZK_ESTABLISHED")
        if (entry := _last_before(entries.get(line.node, []), line)) is not None
    ]
    for epoch, zxid, line in established:
        known = [(committed, leader.node) for before, committed, leader in established if before < epoch]
        if not known or max(known)[0] <= zxid:
            continue
        words = f"{line.node} was established in epoch {epoch} without entries that {max(known)[1]} had committed."
        provable = all_is_shown(world) and not back
        claim = _lacked(line.node, epoch)
        yield Truth("COMMITTED_ENTRY_LOST", (line.node,), (epoch,), line.true_us, None, provable, words, claim)


def _lost_by_most(world: World) -> Iterator[Truth]:
    """Yield ``COMMITTED_ENTRY_LOST``: a leader lacks entries of one epoch that a majority had at elections before. It
    may be claimed; the lines that show what they had may be lost."""
    entries = _entries(world)
    for line in lines_of(world, "ZK_ESTABLISHED"):
        winner = _last_before(entries.get(line.node, []), line)
        had = [
            max((entry.zxid for entry in of_node if entry.line.true_us <= line.true_us), default=0)
            for of_node in entries.values()
        ]
        ahead = sorted(zxid for zxid in had if winner is not None and zxid > winner.zxid)
        if is_majority(len(ahead), len(world.names())) and ahead[0] >> 32 == ahead[-1] >> 32:
            epoch = line.number("zxid") >> 32
            words = f"{line.node} was established in epoch {epoch} without entries that a majority had."
            claim = _lacked(line.node, epoch)
            yield Truth("COMMITTED_ENTRY_LOST", (line.node,), (epoch,), line.true_us, None, False, words, claim)


def _lacked(leader: str, epoch: int) -> Claim:
    return lambda finding: finding.terms[-1] == epoch and leader in finding.nodes


def _last_before(entries: list[_Entry], line: Line) -> _Entry | None:
    return next((entry for entry in reversed(entries) if entry.line.true_us <= line.true_us), None)


def _log(entry: _Entry) -> tuple[int, int]:
    return entry.epoch, entry.zxid


def _behind(leader: str, epoch: int) -> Claim:
    return lambda finding: finding.nodes[0] == leader and epoch in finding.terms


def _without_quorum(world: World) -> Iterator[Truth]:
    """Yield leaders with fewer supporters than a majority; other servers show by their votes."""
    heard: dict[str, set[str]] = {}
    for line in lines_of(world, "ZK_START", "ZK_ELECTION", "ZK_VOTE", "ZK_ESTABLISHED"):
        if line.kind == "ZK_VOTE" and line.kept:
            heard.setdefault(line.node, set()).add(str(line.value("peer")))
        elif line.kind in ("ZK_START", "ZK_ELECTION"):
            heard[line.node] = set()
        elif line.kind == "ZK_ESTABLISHED":
            supporters = set(line.value("members"))
            if not is_majority(len(supporters), len(world.names())):
                yield _lonely(line, supporters, heard.get(line.node, set()) | supporters)


def _lonely(line: Line, supporters: set[str], voters: set[str]) -> Truth:
    epoch = line.number("zxid") >> 32
    provable = line.kept and not is_majority(len(supporters), len(voters))
    words = f"{line.node} began to lead epoch {epoch} with {len(supporters)} of the servers."
    return Truth("LEADER_WITHOUT_QUORUM", (line.node,), (epoch,), line.true_us, line.true_us, provable, words)


def _stores_that_went_back(world: World) -> Iterator[Truth]:
    """Yield ``STORE_WENT_BACK``: a server's data was lost or replaced by an older copy; its lines need not show it."""
    for fault in world.faults:
        lost = fault.action == "file lost" and fault.detail == LOG_FILE
        if fault.node is not None and (lost or fault.action == "old copy put back"):
            words = f"{fault.node} went on with data that end earlier."
            yield Truth("STORE_WENT_BACK", (fault.node,), (), fault.true_us, None, False, words, of_node(fault.node))


def _regressions(world: World) -> Iterator[Truth]:
    """Yield ``TERM_REGRESSION``: a server's epoch is below one that it had reached, by its votes or as leader."""
    for node in world.names():
        largest, shown = -1, -1
        begins = False
        for line in lines_of(world, "ZK_ELECTION", "ZK_VOTE", "ZK_ESTABLISHED"):
            if line.node != node:
                continue
            begins = begins or line.kind == "ZK_ELECTION"
            if line.kind == "ZK_ESTABLISHED":
                epoch = line.number("zxid") >> 32
            elif line.kind == "ZK_VOTE" and begins and _is_own_vote(line):
                epoch, begins = line.number("term"), False
            else:
                continue
            if epoch < largest:
                words = f"{node} had reached epoch {largest} and was in epoch {epoch} afterwards."
                yield went_back(node, (largest, epoch), line, shown=epoch < shown and lossless(world), words=words)
            largest = epoch
            shown = epoch if line.kept else shown


# -- leaders and clocks --------------------------------------------------------------------------------------------


def _gap_shows(world: World, gap: Gap) -> bool:
    """Return True when lines prove a gap: the last leader printed that it gave up, or a follower noticed its death at
    once."""
    if gap.after is None or gap.lasted_us < _SURE_GAP_US or not all_is_shown(world):
        return False
    gave_up = gap.before.how_ended == "stepped down" and gap.before.end_us == gap.begin_us
    return gave_up or any(_missed(line, gap) for line in world.lines)


def _missed(line: Line, gap: Gap) -> bool:
    lost = line.kind == "ZK_LEADER_LOST" and line.node != gap.before.node
    return lost and line.value("exception") == "EOFException" and 0 <= line.true_us - gap.begin_us < SECOND


def _storms(world: World) -> Iterator[Truth]:
    """Yield storms; servers do not print orderly stops, so a time in which each was down once may be planned."""
    down = {name for name in world.names() if len(downtime(world, name)) > 1}
    for storm in storms(world):
        yield replace(storm, provable=storm.provable and down != set(world.names()))


def _log_gaps(world: World) -> Iterable[Truth]:
    """Yield log gaps; a quiet log shows a freeze only if another leader was established well before its end."""

    def shows(node: str, begin_us: int, end_us: int) -> bool:
        led = any(
            tenure.node == node and tenure.begin_us < begin_us and tenure.end_us is not None and tenure.end_us >= end_us
            for tenure in world.tenures
        )
        others = (line for line in kept_by_others(world, node) if begin_us < line.true_us < end_us - 8 * SECOND)
        return led and any(others) and all_is_shown(world)

    return log_gaps(world, shows)


def kept_by_others(world: World, node: str) -> Iterator[Line]:
    """Return the kept lines in which other servers print that they are established."""
    return (line for name in world.names() if name != node for line in kept(world, name, "ZK_ESTABLISHED"))


def _causal_pairs(world: World) -> Iterator[tuple[Line, Line]]:
    """Yield kept lines of (cause, effect): a follower sees an established leader's first proposal."""
    established: dict[int, Line] = {}
    for line in lines_of(world, "ZK_ESTABLISHED", "ZK_PROPOSAL_GAP"):
        epoch = line.number("zxid") >> 32
        if not line.kept:
            continue
        if line.kind == "ZK_ESTABLISHED":
            established.setdefault(epoch, line)
        elif epoch in established:
            yield established[epoch], line
