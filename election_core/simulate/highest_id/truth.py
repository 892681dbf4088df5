"""Which findings the events of a Bully group or a ring prove, by what really happened in its world.

Elections have numbers in every world; where the events do not tell them, a finding's terms mean nothing, and its nodes
and times say what it is about.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from election_replay.election_core.model.catalogue import POSSIBLE
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.protocols.highest_id.id_order import higher, highest, rank
from election_replay.election_core.simulate.highest_id.play import EventVoice
from election_replay.election_core.simulate.truth import (
    Claim,
    Gap,
    Truth,
    clocks_agree,
    ends_at,
    gaps,
    overlap_us,
    pairs_of_reigns,
    skews,
    spans,
    up_during,
)
from election_replay.election_core.simulate.world import DOWN, SECOND, Leadership, Line, World

BOUND_US = SECOND // 2
"""The clock bound with which worlds are judged."""
AT_ONCE_US = SECOND // 10
"""A line is said in the step in which the thing happens."""
SURE_US = 7 * SECOND // 2
"""Two bounds and the resolutions of ends blur less than this."""


@dataclass(frozen=True, slots=True)
class Signs:
    """How a protocol speaks: the rule about its leader, and what its lines say.

    ``leads`` and ``follows``: whether a line says that its node is the leader, or follows another one; ``asks``: that
    the node takes part in an election, ``passes_by``: that one goes round and
    passes by it. ``suspects`` is the kind that says that a leader is missed, ``sent`` and
    ``received`` are those of messages that are written down at both ends.
    """

    rule: str
    leads: Callable[[Line], bool]
    follows: Callable[[Line], bool]
    asks: Callable[[Line], bool]
    passes_by: Callable[[Line], bool]
    suspects: str
    sent: tuple[str, ...]
    received: tuple[str, ...]


def truths(world: World, signs: Signs) -> list[Truth]:
    """Everything that a reviewer should hear of a world."""
    shown = _Shown(world, signs)
    parts = (
        shown.same_term,
        shown.overlaps,
        shown.ends_unseen,
        shown.not_highest,
        shown.contradicted,
        shown.leaderless,
        shown.storms,
    )
    found = [truth for part in parts for truth in part()]
    found += skews(world, shown.causal_pairs(), BOUND_US)
    return sorted(found, key=lambda truth: (truth.begin_us, truth.rule, truth.nodes, truth.terms))


def says(line: Line, name: str) -> Any:
    """A value that a line says."""
    return dict(line.say.values).get(name) if line.say else None


class _Shown:
    """A world with its reigns as its events can tell them: what they do not number, they do not tell apart."""

    def __init__(self, world: World, signs: Signs) -> None:
        self.world, self.signs = world, signs
        self.numbered = isinstance(world.voice, EventVoice) and world.voice.numbered
        self.agree = clocks_agree(world, BOUND_US)
        self.reigns = list(world.reigns if self.numbered else _joined(world.reigns))
        self.spoken = [line for line in world.lines if line.say is not None]
        self.kept = [line for line in self.spoken if line.kept]

    # -- what lines show ---------------------------------------------------------------------------------------------

    def near(self, node: str, time_us: int, says_so: Callable[[Line], bool]) -> bool:
        """Whether a kept line of a node says a thing at a moment."""
        near = (line for line in self.kept if line.node == node and abs(line.true_us - time_us) < AT_ONCE_US)
        return any(says_so(line) for line in near)

    def shows_begin(self, reign: Leadership) -> bool:
        return self.near(reign.node, reign.begin_us, self.signs.leads)

    def sure_until(self, reign: Leadership) -> int:
        """The last moment at which lines show that a leader led."""
        end = ends_at(self.world, reign)
        if reign.how_ended == "stepped down" and (
            self.near(reign.node, end, self.signs.follows)
            or (self.numbered and self.near(reign.node, end, self.signs.leads))
        ):
            return end
        # A leader whom an election passed by and made leader again need not have led until then.
        lines = [line for line in self.kept if line.node == reign.node and reign.begin_us <= line.true_us <= end]
        asked = min((line.true_us for line in lines if self.signs.passes_by(line)), default=end + 1)
        again = (line.true_us for line in lines if self.signs.leads(line) and line.true_us < asked)
        return max(again, default=reign.begin_us)

    def about(self, nodes: Iterable[str], terms: Iterable[int]) -> Claim:
        """A finding is about these nodes and, where they are told, these elections."""
        names, numbers = set(nodes), set(terms)
        return lambda finding: set(finding.nodes) == names and (not self.numbered or set(finding.terms) == numbers)

    # -- leaders -----------------------------------------------------------------------------------------------------

    def same_term(self) -> Iterator[Truth]:
        pairs: dict[tuple[int, str, str], list[tuple[Leadership, Leadership]]] = {}
        for earlier, later in pairs_of_reigns(self.world) if self.numbered else ():
            if earlier.term == later.term:
                first, second = sorted((earlier.node, later.node))
                pairs.setdefault((earlier.term, first, second), []).append((earlier, later))
        for (term, first, second), both in pairs.items():
            provable = any(self.shows_begin(earlier) and self.shows_begin(later) for earlier, later in both)
            begin = min(reign.begin_us for pair in both for reign in pair)
            words = f"{first} and {second} both led election {term}."
            covers = self.about((first, second), (term,))
            yield Truth("SPLIT_BRAIN_SAME_TERM", (first, second), (term,), begin, None, provable, words, covers)

    def overlaps(self) -> Iterator[Truth]:
        for number, reign in enumerate(self.reigns):
            for other in self.reigns[number + 1 :]:
                stale, newer = (reign, other) if reign.term <= other.term else (other, reign)
                if reign.node != other.node and (reign.term != other.term or not self.numbered):
                    yield from self._overlap(stale, newer)

    def _overlap(self, stale: Leadership, newer: Leadership) -> Iterator[Truth]:
        spans_of = [(reign.begin_us, ends_at(self.world, reign)) for reign in (stale, newer)]
        lasted = overlap_us(*spans_of)
        if lasted == 0:
            return
        newer_until = ends_at(self.world, newer) if newer.end_us is None else self.sure_until(newer)
        sure = min(self.sure_until(stale), newer_until) - max(newer.begin_us, stale.begin_us)
        shown = self.shows_begin(stale) and self.shows_begin(newer) and stale.begin_us <= newer.begin_us
        words = f"{stale.node} and {newer.node} both led for {lasted / SECOND:.1f} s."
        about = self.about((stale.node, newer.node), (stale.term, newer.term))

        def covers(finding: Finding) -> bool:
            least, most = (finding.overlap_min_ms or 0) * 1000, (finding.overlap_max_ms or 0) * 1000
            return about(finding) and (not self.agree or least <= lasted <= most)

        begin = max(stale.begin_us, newer.begin_us)
        yield Truth(
            "SPLIT_BRAIN_OVERLAP", (stale.node, newer.node), (stale.term, newer.term), begin, begin + lasted,
            sure > SURE_US and shown and self.agree, words, covers,
        )  # fmt: skip

    def ends_unseen(self) -> Iterator[Truth]:
        """A leader whose line about its end was lost seems to lead on, or to fall silent: both are possible."""
        for reign in self.reigns:
            end = ends_at(self.world, reign)
            if reign.how_ended == "stepped down" and not self.near(reign.node, end, self.signs.follows):
                words = f"The line is lost in which {reign.node} gave way."
                for rule, covers in (("SPLIT_BRAIN_OVERLAP", _is_possible), ("LEADERLESS", _may_be_none)):
                    yield Truth(rule, (reign.node,), (reign.term,), end, None, False, words, covers(reign.node))

    # -- the highest -------------------------------------------------------------------------------------------------

    def not_highest(self) -> Iterator[Truth]:
        """A winner below a member whose process was there from before its election until after it."""
        for reign in self.reigns:
            begin = self._began(reign)
            above = [
                name
                for name in higher(reign.node, self.world.names())
                if not any(overlap_us((begin, reign.begin_us + 1), down[1:]) for down in spans(self.world, DOWN, name))
            ]
            if not above:
                continue
            provable = self.agree and self.shows_begin(reign) and any(self._seen_around(n, begin, reign) for n in above)
            words = f"{reign.node} won election {reign.term} while {', '.join(above)} lived."
            yield Truth(
                self.signs.rule, (reign.node, *above), (reign.term,), begin, reign.begin_us, provable, words,
                self._below(reign, above),
            )  # fmt: skip

    def _below(self, reign: Leadership, above: list[str]) -> Claim:
        def covers(finding: Finding) -> bool:
            if finding.end_time is None or finding.nodes[0] != reign.node:
                return False
            when = not self.agree or abs(finding.end_time - reign.begin_us) < 2 * SECOND
            return (
                when and set(finding.nodes[1:]) <= set(above) and (not self.numbered or finding.terms == (reign.term,))
            )

        return covers

    def _began(self, reign: Leadership) -> int:
        """When the election began in which a node won, by its own lines, kept or not."""
        lines = [line for line in self.spoken if line.node == reign.node and line.true_us <= reign.begin_us]
        numbered = [line.true_us for line in lines if self.signs.asks(line) and says(line, "term") == reign.term]
        asked = min(numbered, default=reign.begin_us)
        for line in reversed(lines):
            if self.signs.asks(line):
                asked = min(asked, line.true_us)
            elif line.true_us < reign.begin_us - AT_ONCE_US and (self.signs.leads(line) or self.signs.follows(line)):
                break
        return asked

    def _seen_around(self, name: str, begin: int, reign: Leadership) -> bool:
        """Whether a member's lines show that it lived, surely before an election and after it, in one life."""
        downtimes = [(start, end) for _, start, end in spans(self.world, DOWN, name)]
        seen = [line.true_us for line in self.world.lines if line.node == name and line.kept]
        before = [time for time in seen if time < begin - SURE_US]
        after = [time for time in seen if time > reign.begin_us + SURE_US]
        return any(
            not any(first < down and up < last for down, up in downtimes) for first in before for last in after
        )  # fmt: skip

    def contradicted(self) -> Iterator[Truth]:
        """A result that names a leader below an id in its own list."""
        found: dict[tuple[str, str, int], list[Line]] = {}
        for line in self.spoken:
            members, leader, term = says(line, "members"), says(line, "value"), says(line, "term")
            listed = isinstance(members, tuple) and isinstance(leader, str) and isinstance(term, int)
            if listed and rank(highest(members)) > rank(leader):
                found.setdefault((members[0], leader, term), []).append(line)
        for (starter, leader, term), lines in found.items():
            first = lines[0]
            provable = any(line.kept for line in lines)
            words = f"{starter} named {leader}, though a higher id took part."
            covers = self.about((starter,), (term,))
            yield Truth(self.signs.rule, (starter,), (term,), first.true_us, None, provable, words, covers)

    # -- availability ------------------------------------------------------------------------------------------------

    def leaderless(self) -> Iterator[Truth]:
        for gap in gaps(self.world):
            up_us = up_during(self.world, gap.begin_us, gap.end_us)
            if up_us:
                both = [gap.before, *([gap.after] if gap.after else [])]
                words = f"Nobody led for {gap.lasted_us / SECOND:.1f} s after {gap.before.node}."
                yield Truth(
                    "LEADERLESS", tuple(r.node for r in both), tuple(r.term for r in both), gap.begin_us,
                    gap.end_us, up_us >= 5 * SECOND and self._gap_shows(gap), words, self._as_long_as(gap),
                )  # fmt: skip

    def _as_long_as(self, gap: Gap) -> Claim:
        nodes = {gap.before.node, gap.after.node if gap.after else gap.before.node}
        terms = {gap.before.term, gap.after.term if gap.after else gap.before.term}
        about = self.about(nodes, terms)

        def covers(finding: Finding) -> bool:
            least, most = (finding.duration_min_ms or 0) * 1000, finding.duration_max_ms
            fits = least <= gap.lasted_us and (most is None or gap.lasted_us <= most * 1000)
            return about(finding) and (not self.agree or fits)

        return covers

    def _gap_shows(self, gap: Gap) -> bool:
        """Whether lines prove a gap: the last leader stopped or was missed, and the next one says when it began."""
        if gap.after is None or not self.agree or gap.lasted_us < 5 * SECOND or not self.shows_begin(gap.after):
            return False
        nodes = (gap.before.node, gap.after.node)
        lost = any(not line.kept and line.node in nodes for line in self.world.lines)
        missed = {
            says(line, "peer")
            for line in self.kept
            if line.say and line.say.kind == self.signs.suspects and gap.begin_us <= line.true_us <= gap.end_us
        }
        # Who is missed in between was followed in between: somebody may have led of whom no line says so.
        if lost or missed - {gap.before.node}:
            return False
        return gap.before.how_ended == "stopped" or (gap.before.how_ended == "killed" and bool(missed))

    def storms(self) -> Iterator[Truth]:
        """Changes of the leader that no stop and no return of a higher member brought, one after the other."""
        ordered = sorted(self.reigns, key=lambda reign: reign.begin_us)
        begins = [
            after.begin_us
            for before, after in pairwise(ordered)
            if before.node != after.node and before.how_ended != "stopped"
        ]
        if len(begins) >= 3:
            words = f"{len(begins)} changes of the leader."
            provable = self._storm_shows(ordered)
            yield Truth("ELECTION_STORM", (), (), begins[0], begins[-1], provable, words, lambda _: True)

    def _storm_shows(self, ordered: list[Leadership]) -> bool:
        """Whether three leaders died one after the other, apart, and their successors say so."""
        deaths = [
            after.begin_us
            for before, after in pairwise(ordered)
            if before.how_ended == "killed" and before.node != after.node and self.shows_begin(after)
        ]
        apart = deaths[:1]
        for begin in deaths[1:]:
            if begin - apart[-1] >= 13 * SECOND:
                apart.append(begin)
        near = all(later - earlier <= 280 * SECOND for earlier, later in pairwise(apart))
        return len(apart) >= 3 and near and not any(not line.kept for line in self.world.lines)

    # -- clocks ------------------------------------------------------------------------------------------------------

    def causal_pairs(self) -> Iterator[tuple[Line, Line]]:
        """What was sent with a number and came with it, each once by the lines that are kept."""
        if not self.numbered:
            return
        sent: dict[tuple[object, ...], list[Line]] = {}
        received: dict[tuple[object, ...], list[Line]] = {}
        for line in self.kept:
            kind = line.say.kind if line.say else ""
            content = (kind.rpartition("_")[0], *(says(line, name) for name in ("term", "value", "members")))
            if kind in self.signs.sent:
                sent.setdefault((line.node, says(line, "peer"), *content), []).append(line)
            elif kind in self.signs.received:
                received.setdefault((says(line, "peer"), line.node, *content), []).append(line)
        for key, effects in received.items():
            causes = sent.get(key, [])
            if len(causes) == len(effects) == 1:
                yield causes[0], effects[0]


def _is_possible(node: str) -> Claim:
    return lambda finding: node in finding.nodes and finding.certainty == POSSIBLE


def _may_be_none(node: str) -> Claim:
    return lambda finding: node in finding.nodes and not finding.duration_min_ms


def _joined(reigns: Iterable[Leadership]) -> Iterator[Leadership]:
    """Reigns of one node without a break between them are one."""
    last: dict[str, Leadership] = {}
    joined: list[Leadership] = []
    for reign in reigns:
        before = last.get(reign.node)
        if before is not None and before.end_us == reign.begin_us:
            merged = replace(before, end_us=reign.end_us, how_ended=reign.how_ended)
            joined[joined.index(before)] = merged
        else:
            merged = reign
            joined.append(reign)
        last[reign.node] = merged
    return iter(joined)
