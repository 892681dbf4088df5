"""Which findings the logs of a DLedger world prove, by what really happened in it."""

from collections.abc import Iterable, Iterator

from election_core.protocols.dledger.decisions import (
    ACCEPT,
    ALREADY_HAS_LEADER,
    ALREADY_VOTED,
    HEARTBEAT_INTERVAL_MS,
    PASSED,
    REVOTE_IMMEDIATELY,
    TERM_NOT_READY,
)
from election_core.quorum import majority
from election_core.rows import Finding
from election_core.simulate.truth import (
    Claim,
    Gap,
    Truth,
    clocks_agree,
    ends_at,
    kept,
    leaderless,
    log_gaps,
    overlap_us,
    pairs_of_reigns,
    skews,
    storms,
    value,
)
from election_core.simulate.world import MILLISECOND, SECOND, Line, Reign, World

BOUND_US = SECOND // 2
"""The clock bound with which worlds are judged."""

_OWN_TERM = ("DL_TERM_UP", "DL_TO_LEADER", "DL_TO_FOLLOWER", "DL_TO_CANDIDATE")
_SURE_OVERLAP_US = 5 * SECOND
"""Whole seconds at both ends of two tenures, and the bounds of two clocks, blur less than this."""
_SURE_GAP_US = 5 * SECOND
"""The same, for the end of one tenure and the begin of the next."""


def truths(world: World) -> list[Truth]:
    """Everything that a reviewer should hear of a world."""
    parts = (
        *(
            _same_term,
            _overlaps,
            _double_votes,
            _regressions,
            _without_quorum,
            _wrong_rounds,
            _wrong_answers,
            _both_ways,
        ),
        *(_impatience, _kept_roles, _log_gaps, storms),
    )
    found = [one for part in parts for one in part(world)]
    found += leaderless(world, lambda gap: _gap_shows(world, gap))
    found += skews(world, _messages(world), BOUND_US)
    return sorted(found, key=lambda one: (one.begin_us, one.rule, one.nodes, one.terms))


def _about(nodes: Iterable[str], terms: Iterable[int]) -> Claim:
    wanted = (set(nodes), set(terms))
    return lambda finding: (set(finding.nodes), set(finding.terms)) == wanted


# -- leaders --------------------------------------------------------------------------------------------------------


def _shows_begin(world: World, reign: Reign) -> bool:
    """Whether a kept line says that a reign began, to the second."""
    return any(abs(line.true_us - reign.begin_us) < SECOND // 10 for line in kept(world, reign.node, "DL_TO_LEADER"))


def _shows_end(world: World, reign: Reign) -> bool:
    """Whether a kept line says that a reign ended, to the second; a killed leader says nothing."""
    if reign.end_us is None:
        return True
    lines = kept(world, reign.node, "DL_TO_CANDIDATE")
    return any(abs(line.true_us - reign.end_us) < SECOND // 10 for line in lines)


def _shows(world: World, reign: Reign) -> bool:
    """Whether any kept line says that the node led that term."""
    lines = kept(world, reign.node, "DL_TO_LEADER", "DL_STATUS")
    said = (line for line in lines if value(line, "role") in (None, "LEADER") and value(line, "term") == reign.term)
    return any(reign.begin_us <= line.true_us for line in said)


def _same_term(world: World) -> Iterator[Truth]:
    pairs: dict[tuple[int, str, str], bool] = {}
    for one, other in pairs_of_reigns(world):
        if one.term == other.term:
            first, second = sorted((one.node, other.node))
            shown = _shows_begin(world, one) and _shows_begin(world, other)
            pairs[one.term, first, second] = pairs.get((one.term, first, second), False) or shown
    for (term, first, second), provable in pairs.items():
        begin = min(reign.begin_us for reign in world.reigns if reign.term == term)
        words = f"{first} and {second} both led term {term}."
        yield Truth(
            "SPLIT_BRAIN_SAME_TERM",
            (first, second),
            (term,),
            begin,
            None,
            provable,
            words,
            _about((first, second), (term,)),
        )


def _overlaps(world: World) -> Iterator[Truth]:
    for stale, newer in pairs_of_reigns(world):
        ends = (ends_at(world, stale), ends_at(world, newer))
        lasted = overlap_us((stale.begin_us, ends[0]), (newer.begin_us, ends[1]))
        if stale.term == newer.term or lasted == 0:
            continue
        committed = any(time > newer.begin_us for time in stale.grew)
        shown = _shows_begin(world, newer) and _shows_begin(world, stale) and _shows_end(world, stale)
        provable = lasted > _SURE_OVERLAP_US and shown and _shows_end(world, newer) and clocks_agree(world, BOUND_US)
        old, new = f"{stale.node} (term {stale.term})", f"{newer.node} (term {newer.term})"
        words = f"{old} and {new} led at once for {lasted / SECOND:.1f} s."
        yield Truth(
            "SPLIT_BRAIN_OVERLAP",
            (stale.node, newer.node),
            (stale.term, newer.term),
            newer.begin_us,
            newer.begin_us + lasted,
            provable,
            words,
            _overlap_of(stale, newer, committed, lasted, clocks_agree(world, BOUND_US)),
        )


def _overlap_of(stale: Reign, newer: Reign, committed: bool, lasted_us: int, agree: bool) -> Claim:
    """A claim must have the right length, and be critical only where the stale leader committed."""
    about = _about((stale.node, newer.node), (stale.term, newer.term))

    def covers(finding: Finding) -> bool:
        least, most = (finding.overlap_min_ms or 0) * 1000, (finding.overlap_max_ms or 0) * 1000
        fits = not agree or least <= lasted_us <= most
        return about(finding) and fits and (committed or finding.severity == "info")

    return covers


def _gap_shows(world: World, gap: Gap) -> bool:
    """Whether lines prove a gap: the next leader says when it began, the last one was alive and logging before."""
    if gap.after is None or not clocks_agree(world, BOUND_US) or gap.lasted_us < _SURE_GAP_US:
        return False
    lost = any(not line.kept and line.node in (gap.before.node, gap.after.node) for line in world.lines)
    followed = any(
        value(line, "peer") == gap.before.node for node in world.names() for line in kept(world, node, "DL_HB_TIMEOUT")
    )
    return not lost and (gap.before.how_ended == "stepped down" or followed)  # fmt: skip


# -- votes and terms ---------------------------------------------------------------------------------------------------


def _double_votes(world: World) -> Iterator[Truth]:
    given: dict[tuple[str, int], dict[str, bool]] = {}
    first: dict[tuple[str, int], int] = {}
    for line in world.lines:
        if line.said and line.said.kind == "DL_VOTE_REPLY" and value(line, "answer") == ACCEPT:
            key = (str(value(line, "voter")), _term(line))
            heard = given.setdefault(key, {})
            heard[line.node] = heard.get(line.node, False) or line.kept
            first.setdefault(key, line.true_us)
    for (voter, term), heard in given.items():
        if len(heard) > 1:
            provable = sum(heard.values()) > 1
            words = f"{voter} voted in term {term} for {' and for '.join(sorted(heard))}."
            yield Truth(
                "DOUBLE_VOTE",
                (voter, *sorted(heard)),
                (term,),
                first[voter, term],
                None,
                provable,
                words,
                _vote_of(voter, term),
            )


def _vote_of(voter: str, term: int) -> Claim:
    return lambda finding: finding.nodes[0] == voter and finding.terms == (term,)


def _term(line: Line) -> int:
    term = value(line, "term")
    return term if isinstance(term, int) else -1


def _regressions(world: World) -> Iterator[Truth]:
    for node in world.names():
        largest, shown_largest, begun = -1, -1, False
        for line in world.lines:
            if line.node != node or line.said is None:
                continue
            if line.said.kind == "DL_LISTEN":
                begun = largest >= 0
                continue
            if line.said.kind not in _OWN_TERM:
                continue
            from_term = value(line, "from_term") if line.said.kind == "DL_TERM_UP" else None
            term = from_term if isinstance(from_term, int) else _term(line)
            if begun and term < largest:
                provable = line.kept and term < shown_largest
                words = f"{node} had been in term {largest} and was in term {term} after its restart."
                yield Truth(
                    "TERM_REGRESSION",
                    (node,),
                    (largest, term),
                    line.true_us,
                    None,
                    provable,
                    words,
                    lambda finding, node=node: finding.nodes == (node,),  # type: ignore[misc]
                )
                largest = shown_largest = -1
            begun = False
            largest = max(largest, _term(line))
            shown_largest = max(shown_largest, _term(line)) if line.kept else shown_largest


def _rounds(world: World, result: str) -> Iterator[tuple[Line, int, int, int]]:
    """Rounds with this result: accepted, not ready, and the votes that a majority needs."""
    for line in world.lines:
        if line.said and line.said.kind == "DL_VOTE_PARSED" and value(line, "result") == result:
            of = dict(line.said.values)
            yield line, of["accepted"], of["not_ready"], majority(of["member_count"])


def _without_quorum(world: World) -> Iterator[Truth]:
    for line, accepted, _, needed in _rounds(world, PASSED):
        if accepted < needed:
            yield _line_breaks("LEADER_WITHOUT_QUORUM", line, f"{line.node} passed with {accepted} of {needed} votes.")


def _wrong_rounds(world: World) -> Iterator[Truth]:
    for line, accepted, not_ready, needed in _rounds(world, REVOTE_IMMEDIATELY):
        if accepted + not_ready < needed:
            yield _line_breaks("WRONG_ROUND_RESULT", line, f"{line.node} asked again without a chance.")


def _wrong_answers(world: World) -> Iterator[Truth]:
    for line in world.lines:
        own = line.said and line.said.kind == "DL_VOTE_REPLY" and value(line, "voter") == line.node
        if own and value(line, "answer") == TERM_NOT_READY:
            yield _line_breaks("WRONG_VOTE_RESULT", line, f"{line.node} told itself that it is not ready for its term.")


def _both_ways(world: World) -> Iterator[Truth]:
    """A voter that told one candidate in one term both that it has its vote and that another has it."""
    told: dict[tuple[str, str, int], dict[bool, Line]] = {}
    for line in world.lines:
        answer = value(line, "answer")
        if line.said is None or answer not in (ACCEPT, ALREADY_VOTED, ALREADY_HAS_LEADER):
            continue
        voter, candidate, term = key = (str(value(line, "voter")), line.node, _term(line))
        before = told.setdefault(key, {})
        if (answer == ACCEPT) not in before and before:
            provable = line.kept and all(earlier.kept for earlier in before.values())
            words = f"{voter} gave {candidate} its vote of term {term} and refused it."
            at = line.true_us
            yield Truth("WRONG_VOTE_RESULT", (voter,), (term,), at, at, provable, words, _vote_in(voter, term))
        before.setdefault(answer == ACCEPT, line)


def _vote_in(voter: str, term: int) -> Claim:
    return lambda finding: voter in finding.nodes and term in finding.terms


def _impatience(world: World) -> Iterator[Truth]:
    for line in world.lines:
        if line.said and line.said.kind == "DL_HB_TIMEOUT":
            heard_ms = value(line, "last_heartbeat_ms")
            waited_ms = line.wall_us // MILLISECOND - (heard_ms if isinstance(heard_ms, int) else 0)
            if waited_ms < 2 * HEARTBEAT_INTERVAL_MS - 1000:
                words = f"{line.node} gave its leader up after {waited_ms} ms."
                yield _line_breaks("HEARTBEAT_RULE", line, words)


def _line_breaks(rule: str, line: Line, words: str) -> Truth:
    """A rule that one line breaks."""
    term = value(line, "term")
    terms = (term,) if isinstance(term, int) else ()
    return Truth(
        *(rule, (line.node,), terms, line.true_us, line.true_us, line.kept, words), _about((line.node,), terms)
    )


def _kept_roles(world: World) -> Iterator[Truth]:
    """A leader that stays although its rounds of heartbeats fail for more than twelve seconds."""
    for reign in world.reigns:
        failed = [
            line
            for line in kept(world, reign.node, "DL_HB_PARSED")
            if value(line, "term") == reign.term
            and reign.begin_us <= line.true_us <= ends_at(world, reign)
            and _since_quorum_us(line) > 7 * SECOND
        ]
        longest = max((_since_quorum_us(line) for line in failed), default=0)
        if longest > 12 * SECOND:
            words = f"{reign.node} led term {reign.term} for {longest / SECOND:.1f} s without a quorum."
            yield Truth(
                "LEADER_KEPT_WITHOUT_QUORUM",
                (reign.node,),
                (reign.term,),
                reign.begin_us,
                reign.end_us,
                longest > 14 * SECOND and len(failed) > 3,
                words,
                _about((reign.node,), (reign.term,)),
            )


def _since_quorum_us(line: Line) -> int:
    last_ms = value(line, "last_heartbeat_ms")
    return line.wall_us - last_ms * MILLISECOND if isinstance(last_ms, int) and last_ms >= 0 else 0


def _log_gaps(world: World) -> Iterable[Truth]:
    """A log with periodic lines shows every freeze that is long enough, once the member has led or followed."""

    def shows(node: str, begin_us: int, end_us: int) -> bool:
        lines = kept(world, node, "DL_TO_LEADER", "DL_TO_FOLLOWER")
        return end_us - begin_us >= 16 * SECOND and any(line.true_us < begin_us for line in lines)

    return log_gaps(world, shows)


def _messages(world: World) -> Iterator[tuple[Line, Line]]:
    """Kept lines of which the first caused the second: of leader and follower, of voter and candidate."""
    led: dict[tuple[str, int], Line] = {}
    raised: dict[tuple[str, int], Line] = {}
    for line in world.lines:
        if line.said is None or not line.kept:
            continue
        if line.said.kind == "DL_TO_LEADER":
            led.setdefault((line.node, _term(line)), line)
        elif line.said.kind == "DL_TERM_UP":
            raised.setdefault((line.node, _term(line)), line)
        elif line.said.kind == "DL_TO_FOLLOWER" and (str(value(line, "peer")), _term(line)) in led:
            yield led[str(value(line, "peer")), _term(line)], line
        elif line.said.kind == "DL_VOTE_REPLY" and value(line, "answer") == ACCEPT:
            cause = raised.get((str(value(line, "voter")), _term(line)))
            if cause is not None:
                yield cause, line
