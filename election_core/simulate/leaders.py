"""What is true of the leaders of a world, whatever the protocol: two of a term, two at once, lines that break rules."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from election_replay.election_core.model.rows import Finding
from election_replay.election_core.simulate.truth import (
    Claim,
    Truth,
    clocks_agree,
    ends_at,
    kept,
    overlap_us,
    pairs_of_reigns,
    value,
)
from election_replay.election_core.simulate.world import SECOND, Leadership, Line, World

_AT_ONCE_US = SECOND // 10
"""A line is said in the step in which the thing happens."""


@dataclass(frozen=True, slots=True)
class Signs:
    """The kinds of lines in which a member says that it begins to lead, and that it leads no more.

    ``silent_while_leading``: nothing shows that it goes on leading, so that a log without an end proves nothing after
    its last line.
    """

    begins: tuple[str, ...]
    ends: tuple[str, ...]
    silent_while_leading: bool = False

    def shows_begin(self, world: World, reign: Leadership) -> bool:
        """Whether a kept line says when a reign began."""
        return any(abs(line.true_us - reign.begin_us) < _AT_ONCE_US for line in kept(world, reign.node, *self.begins))

    def shows_end(self, world: World, reign: Leadership) -> bool:
        """Whether a kept line says when a reign ended, unless it lasts to the end; a killed leader says nothing."""
        if reign.end_us is None:
            return True
        return any(abs(line.true_us - reign.end_us) < _AT_ONCE_US for line in kept(world, reign.node, *self.ends))


def about(nodes: Iterable[str], terms: Iterable[int]) -> Claim:
    """A finding is about just these nodes and terms."""
    wanted = (set(nodes), set(terms))
    return lambda finding: (set(finding.nodes), set(finding.terms)) == wanted


def same_term(world: World, signs: Signs, word: str) -> Iterator[Truth]:
    """``SPLIT_BRAIN_SAME_TERM``: two members led one term or epoch (``word``)."""
    pairs: dict[tuple[int, str, str], bool] = {}
    shown = {id(reign): signs.shows_begin(world, reign) for reign in world.reigns}
    for left, right in pairs_of_reigns(world):
        if left.term == right.term:
            first, second = sorted((left.node, right.node))
            both = shown[id(left)] and shown[id(right)]
            pairs[left.term, first, second] = pairs.get((left.term, first, second), False) or both
    for (term, first, second), provable in pairs.items():
        begin = min(reign.begin_us for reign in world.reigns if reign.term == term)
        words = f"{first} and {second} both led {word} {term}."
        covers = about((first, second), (term,))
        yield Truth("SPLIT_BRAIN_SAME_TERM", (first, second), (term,), begin, None, provable, words, covers)


def overlaps(world: World, signs: Signs, word: str, sure_us: int, bound_us: int) -> Iterator[Truth]:
    """``SPLIT_BRAIN_OVERLAP``: two leaders of different terms at once; what is longer than ``sure_us`` shows."""
    for stale, newer in pairs_of_reigns(world):
        ends = (ends_at(world, stale), ends_at(world, newer))
        lasted = overlap_us((stale.begin_us, ends[0]), (newer.begin_us, ends[1]))
        if stale.term == newer.term or lasted == 0:
            continue
        committed = any(time > newer.begin_us for time in stale.grew)
        shown = all(signs.shows_begin(world, reign) and signs.shows_end(world, reign) for reign in (stale, newer))
        ends_unseen = (
            signs.silent_while_leading and stale.end_us is None
        )  # a quiet log tells of a leader up to its last line alone
        shown = shown and not ends_unseen
        agree = clocks_agree(world, bound_us)
        old, new = f"{stale.node} ({word} {stale.term})", f"{newer.node} ({word} {newer.term})"
        yield Truth(
            "SPLIT_BRAIN_OVERLAP",
            (stale.node, newer.node),
            (stale.term, newer.term),
            newer.begin_us,
            newer.begin_us + lasted,
            lasted > sure_us and shown and agree,
            f"{old} and {new} led at once for {lasted / SECOND:.1f} s.",
            _overlap_of(stale, newer, committed, (lasted, 0 if ends_unseen else lasted), agree),
        )


def _overlap_of(
    stale: Leadership, newer: Leadership, committed: bool, lasted_us: tuple[int, int], agree: bool
) -> Claim:
    """A claim must have the right length, and be critical only where the stale leader committed.

    ``lasted_us`` is the true length, and the shortest ``most`` that a claim may have (0: any).
    """
    covers_both = about((stale.node, newer.node), (stale.term, newer.term))

    def covers(finding: Finding) -> bool:
        least, most = (finding.overlap_min_ms or 0) * 1000, (finding.overlap_max_ms or 0) * 1000
        fits = not agree or (least <= lasted_us[0] and lasted_us[1] <= most)
        return covers_both(finding) and fits and (committed or finding.severity == "info")

    return covers


def double_votes(given: Iterable[tuple[str, int, str, Line]]) -> Iterator[Truth]:
    """``DOUBLE_VOTE``: of votes as lines say them, each ``(voter, term, candidate, line)``."""
    votes: dict[tuple[str, int], dict[str, bool]] = {}
    first: dict[tuple[str, int], int] = {}
    for voter, term, candidate, line in given:
        heard = votes.setdefault((voter, term), {})
        heard[candidate] = heard.get(candidate, False) or line.kept
        first.setdefault((voter, term), line.true_us)
    for (voter, term), heard in votes.items():
        if len(heard) > 1:
            yield Truth(
                "DOUBLE_VOTE",
                (voter, *sorted(heard)),
                (term,),
                first[voter, term],
                None,
                sum(heard.values()) > 1,
                f"{voter} voted in term {term} for {' and for '.join(sorted(heard))}.",
                _vote_of(voter, term),
            )


def _vote_of(voter: str, term: int) -> Claim:
    return lambda finding: finding.nodes[0] == voter and finding.terms == (term,)


def line_breaks(rule: str, line: Line, words: str) -> Truth:
    """A rule that one line breaks."""
    term = value(line, "term")
    terms = (term,) if isinstance(term, int) else ()
    return Truth(*(rule, (line.node,), terms, line.true_us, line.true_us, line.kept, words), about((line.node,), terms))
