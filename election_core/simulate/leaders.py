"""Truths about leaders in any protocol: two of one term, two at once, lines that break rules."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from election_replay.election_core.model.catalogue import INFO
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.simulate.truth import (
    Claim,
    Truth,
    clocks_agree,
    ends_at,
    kept,
    of_node,
    overlap_us,
    pairs_of_tenures,
)
from election_replay.election_core.simulate.world import SECOND, Line, Tenure, World

_AT_ONCE_US = SECOND // 10
"""A line is written in the step in which the event happens."""


@dataclass(frozen=True, slots=True)
class Signs:
    """The kinds of lines with which a member begins and ends to lead.

    ``word`` is the protocol's name for a term. ``sure_us``: two leaders overlapping for longer certainly show.
    ``silent_while_leading``: a leader prints nothing while it leads, so an open end proves nothing after its last line.
    ``unwritten`` are the possible severities if the older leader committed nothing.
    """

    begins: tuple[str, ...]
    ends: tuple[str, ...]
    word: str
    sure_us: int
    silent_while_leading: bool = False
    unwritten: tuple[str, ...] = (INFO,)

    def shows_begin(self, world: World, tenure: Tenure) -> bool:
        """Return True when a kept line shows the begin of a leadership."""
        return any(near(line, tenure.begin_us) for line in kept(world, tenure.node, *self.begins))

    def shows_end(self, world: World, tenure: Tenure) -> bool:
        """Return True when a kept line shows the end of a leadership, or it lasts to the end; a killed leader prints
        nothing."""
        if tenure.end_us is None:
            return True
        return any(near(line, tenure.end_us) for line in kept(world, tenure.node, *self.ends))


def near(line: Line, time_us: int) -> bool:
    """Return True when a line was written in the step in which something happened."""
    return abs(line.true_us - time_us) < _AT_ONCE_US


def two_leaders(world: World, signs: Signs) -> Iterator[Truth]:
    """Two leaders of one term, and of two terms at once."""
    yield from _same_term(world, signs)
    yield from _overlaps(world, signs)


def _same_term(world: World, signs: Signs) -> Iterator[Truth]:
    """``SPLIT_BRAIN_SAME_TERM``: two members led one term or epoch."""
    pairs: dict[tuple[int, str, str], bool] = {}
    shown = {id(tenure): signs.shows_begin(world, tenure) for tenure in world.tenures}
    for left, right in pairs_of_tenures(world):
        if left.term == right.term:
            first, second = sorted((left.node, right.node))
            both = shown[id(left)] and shown[id(right)]
            pairs[left.term, first, second] = pairs.get((left.term, first, second), False) or both
    for (term, first, second), provable in pairs.items():
        begin = min(tenure.begin_us for tenure in world.tenures if tenure.term == term)
        words = f"{first} and {second} both led {signs.word} {term}."
        yield Truth("SPLIT_BRAIN_SAME_TERM", (first, second), (term,), begin, None, provable, words)


def _overlaps(world: World, signs: Signs) -> Iterator[Truth]:
    """``SPLIT_BRAIN_OVERLAP``: two leaders of different terms at once."""
    for stale, newer in pairs_of_tenures(world):
        ends = (ends_at(world, stale), ends_at(world, newer))
        lasted = overlap_us((stale.begin_us, ends[0]), (newer.begin_us, ends[1]))
        if stale.term == newer.term or lasted == 0:
            continue
        shown = all(signs.shows_begin(world, tenure) and signs.shows_end(world, tenure) for tenure in (stale, newer))
        # A quiet log shows a leader only up to its last line.
        ends_unseen = signs.silent_while_leading and stale.end_us is None
        agree = clocks_agree(world)
        old, new = f"{stale.node} ({signs.word} {stale.term})", f"{newer.node} ({signs.word} {newer.term})"
        yield Truth(
            "SPLIT_BRAIN_OVERLAP",
            (stale.node, newer.node),
            (stale.term, newer.term),
            newer.begin_us,
            newer.begin_us + lasted,
            lasted > signs.sure_us and shown and not ends_unseen and agree,
            f"{old} and {new} led at once for {lasted / SECOND:.1f} s.",
            _overlap_of(stale, newer, signs, (lasted, 0 if ends_unseen else lasted), agree),
        )


def _overlap_of(stale: Tenure, newer: Tenure, signs: Signs, lasted_us: tuple[int, int], agree: bool) -> Claim:
    """Return a claim of the right length that is grave only if the stale leader committed. ``lasted_us`` is the true
    length, and the shortest ``most`` that a claim may have (0: any)."""
    nodes, terms = {stale.node, newer.node}, {stale.term, newer.term}
    committed = any(time > newer.begin_us for time in stale.grew)

    def covers(finding: Finding) -> bool:
        least, most = (finding.overlap_min_ms or 0) * 1000, (finding.overlap_max_ms or 0) * 1000
        of_both = (set(finding.nodes), set(finding.terms)) == (nodes, terms)
        fits = not agree or (least <= lasted_us[0] and lasted_us[1] <= most)
        return of_both and fits and (committed or finding.severity in signs.unwritten)

    return covers


def double_votes(given: Iterable[tuple[str, int, str, Line]]) -> Iterator[Truth]:
    """Yield ``DOUBLE_VOTE`` among the votes in lines, each ``(voter, term, candidate, line)``."""
    votes: dict[tuple[str, int], dict[str, bool]] = {}
    first: dict[tuple[str, int], int] = {}
    for voter, term, candidate, line in given:
        heard = votes.setdefault((voter, term), {})
        heard[candidate] = heard.get(candidate, False) or line.kept
        first.setdefault((voter, term), line.true_us)
    for (voter, term), heard in votes.items():
        if len(heard) > 1:
            nodes, begin, provable = (voter, *sorted(heard)), first[voter, term], sum(heard.values()) > 1
            words = f"{voter} voted in term {term} for {' and for '.join(sorted(heard))}."
            yield Truth("DOUBLE_VOTE", nodes, (term,), begin, None, provable, words, _vote_of(voter, term))


def _vote_of(voter: str, term: int) -> Claim:
    return lambda finding: finding.nodes[0] == voter and finding.terms == (term,)


def went_back(node: str, terms: tuple[int, int], line: Line, *, shown: bool, words: str) -> Truth:
    """Return ``TERM_REGRESSION``: by a line a member is in a smaller term than before."""
    return Truth("TERM_REGRESSION", (node,), terms, line.true_us, None, line.kept and shown, words, of_node(node))


def line_breaks(rule: str, line: Line, words: str) -> Truth:
    """Return the truth of a rule that one line breaks."""
    term = line.value("term")
    terms = (term,) if isinstance(term, int) else ()
    return Truth(rule, (line.node,), terms, line.true_us, line.true_us, line.kept, words)
