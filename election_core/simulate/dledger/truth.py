"""The findings that the logs of a DLedger world prove."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations

from election_replay.election_core.model.quorum import majority
from election_replay.election_core.protocols.dledger.tables import (
    ACCEPT,
    ALREADY_HAS_LEADER,
    ALREADY_VOTED,
    HEARTBEAT_INTERVAL_MS,
    PASSED,
    REVOTE_IMMEDIATELY,
    TERM_NOT_READY,
    WAIT_TO_VOTE_NEXT,
)
from election_replay.election_core.simulate.leaders import Signs, double_votes, line_breaks, two_leaders, went_back
from election_replay.election_core.simulate.truth import (
    Claim,
    Gap,
    Truth,
    clocks_agree,
    ends_at,
    kept,
    leaderless,
    lines_of,
    log_gaps,
    lossless,
    of_node,
    skews,
    storms,
)
from election_replay.election_core.simulate.world import MILLISECOND, SECOND, Line, World

_SIGNS = Signs(("DL_TO_LEADER",), ("DL_TO_CANDIDATE",), "term", 5 * SECOND)
"""Whole seconds at both ends of two tenures, and the bounds of two clocks, blur less than this."""
_OWN_TERM = ("DL_TERM_UP", "DL_TO_LEADER", "DL_TO_FOLLOWER", "DL_TO_CANDIDATE")
_SURE_GAP_US = 5 * SECOND
"""The same, for the end of one tenure and the begin of the next."""
_ROUNDS = 5
"""A member that gives its leader up more often than this cannot join."""


def truths(world: World) -> list[Truth]:
    """Return everything that a reviewer should be told about a world."""
    parts = (
        *(_regressions, _without_quorum, _wrong_rounds, _wrong_answers, _both_ways, _impatience, _never_stays),
        *(_kept_roles, _lost_commits, _kept_terms, _wrong_transfers, _unknown_releases, _shipped_twice),
    )
    found = [truth for part in (*parts, _log_gaps, storms) for truth in part(world)]
    found += two_leaders(world, _SIGNS)
    found += double_votes(_votes(world))
    found += leaderless(world, lambda gap: _gap_shows(world, gap), by_majority=True)
    found += skews(world, _causal_pairs(world))
    return sorted(found, key=lambda truth: (truth.begin_us, truth.rule, truth.nodes, truth.terms))


# -- leaders --------------------------------------------------------------------------------------------------------


def _gap_shows(world: World, gap: Gap) -> bool:
    """Return True when lines prove a gap: the next leader's begin is logged, and the last one was alive and logging
    before."""
    if gap.after is None or not clocks_agree(world) or gap.lasted_us < _SURE_GAP_US:
        return False
    followed = any(line.kept and line.value("peer") == gap.before.node for line in lines_of(world, "DL_HB_TIMEOUT"))
    alive = gap.before.how_ended == "stepped down" or followed
    return alive and lossless(world, gap.before.node, gap.after.node)


# -- votes and terms ---------------------------------------------------------------------------------------------------


def _votes(world: World) -> Iterator[tuple[str, int, str, Line]]:
    """Votes as candidates heard them."""
    for line in lines_of(world, "DL_VOTE_REPLY"):
        if line.value("answer") == ACCEPT:
            yield str(line.value("voter")), line.number("term"), line.node, line


def _regressions(world: World) -> Iterator[Truth]:
    for node in world.names():
        largest, shown_largest, begun = -1, -1, False
        for line in lines_of(world, "DL_LISTEN", *_OWN_TERM):
            if line.node != node:
                continue
            if line.kind == "DL_LISTEN":
                begun = largest >= 0
                continue
            term = line.number("from_term" if line.kind == "DL_TERM_UP" else "term")
            if begun and term < largest:
                words = f"{node} had been in term {largest} and was in term {term} after its restart."
                yield went_back(node, (largest, term), line, shown=term < shown_largest, words=words)
                largest = shown_largest = -1
            begun = False
            largest = max(largest, line.number("term"))
            shown_largest = max(shown_largest, line.number("term")) if line.kept else shown_largest


def _rounds(world: World, result: str) -> Iterator[tuple[Line, int, int, int]]:
    """Yield the rounds with this result: line, votes accepted, not ready, and needed for a majority."""
    for line in lines_of(world, "DL_VOTE_PARSED"):
        of = line.values
        if of["result"] == result:
            yield line, of["accepted"], of["not_ready"], majority(of["member_count"])


def _without_quorum(world: World) -> Iterator[Truth]:
    for line, accepted, _, needed in _rounds(world, PASSED):
        if accepted < needed:
            yield line_breaks("LEADER_WITHOUT_QUORUM", line, f"{line.node} passed with {accepted} of {needed} votes.")


def _wrong_rounds(world: World) -> Iterator[Truth]:
    for line, accepted, not_ready, needed in _rounds(world, REVOTE_IMMEDIATELY):
        if accepted + not_ready < needed:
            yield line_breaks("WRONG_ROUND_RESULT", line, f"{line.node} asked again without a chance.")


def _wrong_answers(world: World) -> Iterator[Truth]:
    for line in lines_of(world, "DL_VOTE_REPLY"):
        if line.value("voter") == line.node and line.value("answer") == TERM_NOT_READY:
            yield line_breaks("WRONG_VOTE_RESULT", line, f"{line.node} told itself that it is not ready for its term.")


def _both_ways(world: World) -> Iterator[Truth]:
    """Yield voters that gave one candidate their vote in a term and refused it as given to another."""
    answers: dict[tuple[str, str, int], dict[bool, Line]] = {}
    for line in world.lines:
        answer = line.value("answer")
        if answer not in (ACCEPT, ALREADY_VOTED, ALREADY_HAS_LEADER):
            continue
        voter, candidate, term = key = (str(line.value("voter")), line.node, line.number("term"))
        before = answers.setdefault(key, {})
        if (answer == ACCEPT) not in before and before:
            provable = line.kept and all(earlier.kept for earlier in before.values())
            words = f"{voter} gave {candidate} its vote of term {term} and refused it."
            at = line.true_us
            yield Truth("WRONG_VOTE_RESULT", (voter,), (term,), at, at, provable, words, _vote_in(voter, term))
        before.setdefault(answer == ACCEPT, line)


def _vote_in(voter: str, term: int) -> Claim:
    return lambda finding: voter in finding.nodes and term in finding.terms


def _impatience(world: World) -> Iterator[Truth]:
    for line in lines_of(world, "DL_HB_TIMEOUT"):
        waited_ms = line.wall_us // MILLISECOND - (line.value("last_heartbeat_ms") or 0)
        if waited_ms < 2 * HEARTBEAT_INTERVAL_MS - 1000:
            yield line_breaks("HEARTBEAT_RULE", line, f"{line.node} gave its leader up after {waited_ms} ms.")


def _never_stays(world: World) -> Iterator[Truth]:
    """Yield members that give one leader up too early again and again, and return to it each time."""
    early: dict[tuple[str, ...], list[Truth]] = {}
    for truth in _impatience(world):
        early.setdefault(truth.nodes, []).append(truth)
    for nodes, given_up in early.items():
        if len(given_up) > _ROUNDS:
            words = f"{nodes[0]} gave its leader up {len(given_up)} times."
            provable = all(truth.provable for truth in given_up)
            begin, end = given_up[0].begin_us, given_up[-1].end_us
            yield Truth("MEMBER_CANNOT_JOIN", nodes, (), begin, end, provable, words, of_node(nodes[0]))


def _kept_roles(world: World) -> Iterator[Truth]:
    """Yield leaders that stay although their heartbeat rounds fail for more than twelve seconds."""
    for tenure in world.tenures:
        failed = [
            line
            for line in kept(world, tenure.node, "DL_HB_PARSED")
            if line.value("term") == tenure.term
            and tenure.begin_us <= line.true_us <= ends_at(world, tenure)
            and _since_quorum_us(line) > 7 * SECOND
        ]
        longest = max((_since_quorum_us(line) for line in failed), default=0)
        if longest > 12 * SECOND:
            words = f"{tenure.node} led term {tenure.term} for {longest / SECOND:.1f} s without a quorum."
            who, provable = ((tenure.node,), (tenure.term,)), longest > 14 * SECOND and len(failed) > 3
            yield Truth("LEADER_KEPT_WITHOUT_QUORUM", *who, tenure.begin_us, tenure.end_us, provable, words)


def _lost_commits(world: World) -> Iterator[Truth]:
    """Yield later leaders without entries that a former, rule-breaking one had called committed."""
    of: dict[tuple[str, int], list[Line]] = {}
    for line in lines_of(world, "DL_STATUS"):
        of.setdefault((line.node, line.number("term")), []).append(line)
    for before, after in combinations(sorted(world.tenures, key=lambda tenure: tenure.term), 2):
        called = [line.number("committed") for line in of.get((before.node, before.term), ())]
        ends = [line.number("ledger_end") for line in of.get((after.node, after.term), ())]
        if not called or not ends or max(called) <= ends[0] or before.node == after.node:
            continue
        nodes, terms = (before.node, after.node), (before.term, after.term)
        words = f"{after.node} led term {after.term} without entries that {before.node} had called committed."
        claim = _lost_by({*nodes}, after.term)
        yield Truth("COMMITTED_ENTRY_LOST", nodes, terms, after.begin_us, None, False, words, claim)


def _lost_by(nodes: set[str], term: int) -> Claim:
    return lambda finding: set(finding.nodes) == nodes and term in finding.terms


def _kept_terms(world: World) -> Iterator[Truth]:
    """Yield terms raised to themselves, and further rounds in a term after one that nobody could win."""
    last: dict[str, Line] = {}
    for line in world.lines:
        term = line.number("term")
        if line.kind == "DL_TO_FOLLOWER":
            last.pop(line.node, None)
        elif line.kind == "DL_TERM_UP" and term <= line.number("from_term"):
            yield line_breaks("TERM_RULE", line, f"{line.node} raised its term {term} to itself.")
        elif line.kind == "DL_VOTE_PARSED":
            before = last.get(line.node)
            again = before is not None and before.value("result") == WAIT_TO_VOTE_NEXT
            if before is not None and again and before.number("term") == term:
                words = f"{line.node} asked for votes in term {term} again, which nobody could win."
                true = line_breaks("TERM_RULE", line, words)
                shown = before.kept and line.wall_us - before.wall_us < 3 * SECOND
                yield replace(true, provable=true.provable and shown)
            last[line.node] = line


def _wrong_transfers(world: World) -> Iterator[Truth]:
    """Yield members that took over and report that they did not."""
    for line in lines_of(world, "DL_TAKE_DONE"):
        if line.value("role") != "FOLLOWER" and line.value("code") != 200:
            yield line_breaks("TRANSFER_RULE", line, f"{line.node} took over and says that it failed.")


def _unknown_releases(world: World) -> Iterator[Truth]:
    """Yield unknown releases; the configuration dump prints the release, and its INFO lines may be lost."""
    for node in world.names():
        dumps = [
            line for line in world.lines if line.node == node and "rocketmqHome=" in line.text and "6.1" in line.text
        ]
        if dumps:
            shown = any(line.kept for line in dumps)
            words = f"{node} is of a release that nobody knows."
            yield Truth("UNKNOWN_VERSION", (node,), (), dumps[0].true_us, None, shown, words)


def _shipped_twice(world: World) -> Iterator[Truth]:
    """One log in two folders."""
    for folder, node in world.shipped.items():
        words = f"{folder} holds the log of {node}."
        yield Truth("IDENTITY_CONTRADICTION", (node, folder), (), world.began_us, None, True, words)


def _since_quorum_us(line: Line) -> int:
    last_ms = line.number("last_heartbeat_ms")
    return line.wall_us - last_ms * MILLISECOND if last_ms >= 0 else 0


def _log_gaps(world: World) -> Iterable[Truth]:
    """Yield log gaps: periodic lines show every freeze that is long enough, once the member has led or followed."""

    def shows(node: str, begin_us: int, end_us: int) -> bool:
        lines = kept(world, node, "DL_TO_LEADER", "DL_TO_FOLLOWER")
        return end_us - begin_us >= 16 * SECOND and any(line.true_us < begin_us for line in lines)

    return log_gaps(world, shows)


def _causal_pairs(world: World) -> Iterator[tuple[Line, Line]]:
    """Yield kept lines of (cause, effect): leader and follower, voter and candidate."""
    led: dict[tuple[str, int], Line] = {}
    raised: dict[tuple[str, int], Line] = {}
    for line in lines_of(world, "DL_TO_LEADER", "DL_TERM_UP", "DL_TO_FOLLOWER", "DL_VOTE_REPLY"):
        term = line.number("term")
        if not line.kept:
            continue
        if line.kind == "DL_TO_LEADER":
            led.setdefault((line.node, term), line)
        elif line.kind == "DL_TERM_UP":
            raised.setdefault((line.node, term), line)
        elif line.kind == "DL_TO_FOLLOWER" and (line.value("peer"), term) in led:
            yield led[line.value("peer"), term], line
        elif line.value("answer") == ACCEPT and (line.value("voter"), term) in raised:
            yield raised[line.value("voter"), term], line
