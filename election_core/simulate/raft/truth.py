"""The findings that the logs of an etcd world prove."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from election_replay.election_core.model.quorum import is_majority, majority
from election_replay.election_core.protocols.raft.tables import VOTE, is_behind
from election_replay.election_core.simulate.leaders import Signs, double_votes, line_breaks, two_leaders, went_back
from election_replay.election_core.simulate.raft.voice import IDS
from election_replay.election_core.simulate.truth import (
    Claim,
    Gap,
    Truth,
    all_is_shown,
    clocks_agree,
    in_names,
    kept,
    leaderless,
    lines_of,
    log_gaps,
    skews,
    storms,
)
from election_replay.election_core.simulate.world import SECOND, Line, World

_SIGNS = Signs(("RAFT_TO_LEADER",), ("RAFT_TO_FOLLOWER",), "term", 2 * SECOND, silent_while_leading=True)
"""Lines have milliseconds: only the bounds of two clocks blur the ends of two tenures."""
_OWN_TERM = ("RAFT_START", "RAFT_TO_PRE_CANDIDATE", "RAFT_TO_CANDIDATE", "RAFT_TO_FOLLOWER", "RAFT_TO_LEADER")
_SURE_GAP_US = 4 * SECOND
"""The same for the end of one tenure and the begin of the next, and up to a second until a death is noticed."""
_SURE_FREEZE_MS = 10_000

_NAMES = {member: name for name, member in IDS.items()}


def truths(world: World) -> list[Truth]:
    """Return everything that a reviewer should be told about a world."""
    parts = (_regressions, _expired_grants, _without_quorum, _stale_votes, _lost_commits, _log_gaps, storms)
    found = [truth for part in parts for truth in part(world)]
    found += two_leaders(world, _SIGNS)
    found += double_votes(_votes(world))
    found += leaderless(world, lambda gap: _gap_shows(world, gap), by_majority=True)
    found += skews(world, _causal_pairs(world))
    return sorted(in_names(found, _NAMES), key=lambda truth: (truth.begin_us, truth.rule, truth.nodes, truth.terms))


# -- votes and terms ---------------------------------------------------------------------------------------------------


def _votes(world: World) -> Iterator[tuple[str, int, str, Line]]:
    """Votes as voters give them and as candidates hear them; a candidate votes for itself."""
    for line in lines_of(world, "RAFT_VOTE_CAST", "RAFT_VOTE_GRANTED", "RAFT_TO_CANDIDATE"):
        kind, peer, term = line.kind, str(line.value("peer")), line.number("term")
        if kind == "RAFT_TO_CANDIDATE":
            yield line.node, term, line.node, line
        elif kind == "RAFT_VOTE_CAST" and line.value("request") == VOTE:
            yield line.node, term, peer, line
        elif line.value("request") == f"{VOTE}Resp":
            yield peer, term, line.node, line


def _regressions(world: World) -> Iterator[Truth]:
    for node in world.names():
        largest, shown = -1, -1
        for line in lines_of(world, *_OWN_TERM):
            if line.node != node:
                continue
            term = line.number("term")
            if term < largest:
                words = f"{node} had been in term {largest} and was in term {term} after its restart."
                yield went_back(node, (largest, term), line, shown=term < shown, words=words)
            largest = term
            shown = term if line.kept else shown


def _expired_grants(world: World) -> Iterator[Truth]:
    """Yield ``WRONG_VOTE_RESULT``: a vote of a term below one that the voter had reached before the candidate asked."""
    reached: dict[str, list[Line]] = {}
    asked: dict[tuple[str, int], list[Line]] = {}
    seen: dict[tuple[str, str, int], bool] = {}
    for line in lines_of(world, *_OWN_TERM):
        reached.setdefault(line.node, []).append(line)
        if line.kind == "RAFT_TO_CANDIDATE":
            asked.setdefault((line.node, line.number("term")), []).append(line)
    for voter, term, candidate, line in _votes(world):
        began = [earlier for earlier in asked.get((candidate, term), []) if earlier.true_us <= line.true_us]
        larger = [
            earlier
            for earlier in reached[voter]
            if began and earlier.true_us < began[-1].true_us and earlier.number("term") > term
        ]
        if voter == candidate or not larger:
            continue
        shown = [earlier for earlier in larger if earlier.kept and earlier.kind == "RAFT_TO_CANDIDATE"]
        early = any(earlier.true_us < began[-1].true_us - 3 * SECOND for earlier in shown)
        provable = line.kept and began[-1].kept and early and clocks_agree(world)
        seen[voter, candidate, term] = seen.get((voter, candidate, term), False) or provable
    for (voter, candidate, term), provable in seen.items():
        words = f"{voter} voted for {candidate} in term {term}, below one that it had reached."
        claim = _vote_of((voter, candidate), term)
        yield Truth("WRONG_VOTE_RESULT", (voter, candidate), (term,), world.began_us, None, provable, words, claim)


def _vote_of(nodes: tuple[str, str], term: int) -> Claim:
    return lambda finding: finding.nodes == nodes and term in finding.terms


def _stale_votes(world: World) -> Iterator[Truth]:
    for line in lines_of(world, "RAFT_VOTE_CAST"):
        voters_end = (line.number("ledger_end_term"), line.number("ledger_end"))
        theirs = (line.number("peer_ledger_end_term"), line.number("peer_ledger_end"))
        if line.value("request") == VOTE and is_behind(theirs, voters_end):
            words = f"{line.node} voted for {line.value('peer')}, whose log is behind its own."
            yield line_breaks("STALE_LOG_VOTE", line, words)


def _lost_commits(world: World) -> Iterator[Truth]:
    """Yield ``COMMITTED_ENTRY_LOST``: a leader whose log ends below the commit index with which a member had
    started."""
    starts = list(lines_of(world, "RAFT_START"))
    asked = [line for line in lines_of(world, "RAFT_VOTE_SENT") if line.value("request") == VOTE]
    back = any(True for _ in _regressions(world))
    for won in lines_of(world, "RAFT_TO_LEADER"):
        term = won.number("term")
        sent = [line for line in asked if (line.node, line.number("term")) == (won.node, term)]
        known = [line for line in starts if line.number("term") < term]
        most = max(known, key=lambda line: line.number("committed"), default=None)
        if not sent or most is None or most.number("committed") <= sent[-1].number("ledger_end"):
            continue
        begun = [line for line in kept(world, won.node, "RAFT_TO_CANDIDATE") if line.number("term") == term]
        provable = bool(begun) and all(line.kept for line in (won, sent[-1], most)) and not back
        words = f"{won.node} led term {term} without entries that {most.node} had known to be committed."
        nodes, claim = (won.node, most.node), _led_without(won.node, term)
        yield Truth("COMMITTED_ENTRY_LOST", nodes, (term,), won.true_us, None, provable, words, claim)


def _led_without(leader: str, term: int) -> Claim:
    return lambda finding: finding.nodes[0] == leader and finding.terms[-1] == term


def _without_quorum(world: World) -> Iterator[Truth]:
    """Yield leaders with fewer votes than a majority; it must be found if the refusals left no majority."""
    for node in world.names():
        votes: dict[str, Line] = {}
        for line in world.lines:
            kind = line.kind if line.node == node else ""
            if kind == "RAFT_TO_CANDIDATE":
                votes = {}
            elif kind in ("RAFT_VOTE_GRANTED", "RAFT_VOTE_REFUSED") and line.value("request") == f"{VOTE}Resp":
                votes.setdefault(str(line.value("peer")), line)
            elif kind == "RAFT_TO_LEADER":
                yield from _won_without(world, line, votes.values())


def _won_without(world: World, line: Line, votes: Iterable[Line]) -> Iterator[Truth]:
    members = len(world.names())
    granted = [vote for vote in votes if vote.kind == "RAFT_VOTE_GRANTED"]
    if is_majority(len(granted), members):
        return
    refused = [vote for vote in votes if vote not in granted and vote.kept]
    about_it = kept(world, line.node, "RAFT_TO_CANDIDATE")
    asked = any(vote.number("term") == line.number("term") for vote in about_it)
    shown = members - len(refused) < majority(members) and asked and _shows_members(world, line)
    words = f"{line.node} led with {len(granted)} of {majority(members)} votes."
    yield replace(line_breaks("LEADER_WITHOUT_QUORUM", line, words), provable=line.kept and shown)


def _shows_members(world: World, line: Line) -> bool:
    """Return True when the configuration in force at a line is printed in the same process."""
    earlier = [
        shown for shown in lines_of(world, "RAFT_MEMBERS") if shown.node == line.node and shown.true_us < line.true_us
    ]
    return bool(earlier) and earlier[-1].kept


# -- leaders and clocks --------------------------------------------------------------------------------------------


def _gap_shows(world: World, gap: Gap) -> bool:
    """Return True when lines prove a gap: the next leader's begin is logged, and the last one's end logged or
    noticed."""
    if gap.after is None or gap.lasted_us < _SURE_GAP_US or not all_is_shown(world):
        return False
    if gap.before.end_us != gap.begin_us:
        return _shows_freeze(world, gap.before.node, gap.end_us)
    return gap.before.how_ended == "stepped down" or any(_missed(line, gap) for line in world.lines)


def _missed(line: Line, gap: Gap) -> bool:
    """Return True when a peer noticed at once that a leader's process had ended."""
    printed = line.kind == "ETCD_PEER_LOST" and line.value("peer") == gap.before.node
    return printed and line.value("result") == "unexpected EOF" and 0 <= line.true_us - gap.begin_us < SECOND


def _log_gaps(world: World) -> Iterable[Truth]:
    return log_gaps(world, lambda node, _, end_us: _shows_freeze(world, node, end_us, SECOND))


def _shows_freeze(world: World, node: str, since_us: int, within_us: int | None = None) -> bool:
    """Return True when a leader's line about late heartbeats shows a freeze; nothing else does in a quiet log."""
    late = kept(world, node, "ETCD_HEARTBEAT_LATE")
    printed = (line for line in late if line.true_us >= since_us)
    long = (line for line in printed if line.number("duration_ms") >= _SURE_FREEZE_MS)
    return any(within_us is None or line.true_us < since_us + within_us for line in long)


def _causal_pairs(world: World) -> Iterator[tuple[Line, Line]]:
    """Yield kept lines of (cause, effect): a member heard of a term from the one that raised it."""
    raised: dict[tuple[str, int], Line] = {}
    higher: dict[str, Line] = {}
    for line in lines_of(world, "RAFT_TO_CANDIDATE", "RAFT_TERM_HIGHER", "RAFT_TO_FOLLOWER"):
        kind, term = line.kind, line.number("term")
        if kind == "RAFT_TO_CANDIDATE" and line.kept:
            raised.setdefault((line.node, term), line)
        elif kind == "RAFT_TERM_HIGHER":
            higher[line.node] = line
        elif kind == "RAFT_TO_FOLLOWER" and line.node in higher:
            heard = higher.pop(line.node)
            cause = raised.get((str(heard.value("peer")), term))
            if cause is not None and heard.kept and line.kept and heard.number("term") == term:
                yield cause, line
