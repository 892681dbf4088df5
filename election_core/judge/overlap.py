"""``SPLIT_BRAIN_OVERLAP``: two nodes acted as leader at the same time, in different terms.

    stale, term 1   [begin ============ end]
    newer, term 2            [begin ============== end]
    overlap                  |<- min(ends) - max(begins) ->|   measured as least and most of true time

A claim is *definite* when it holds for every reading of the clocks inside their bounds (:mod:`.clock`), and *possible*
when only for some. Two lines with the same second alone claim nothing. What an overlap means for the data is up to each
protocol.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from election_replay.election_core.judge.clock import UNBOUNDED, Clocks, Moment
from election_replay.election_core.judge.coverage import counted
from election_replay.election_core.judge.group import Group, Tenure
from election_replay.election_core.model.catalogue import DEFINITE, POSSIBLE, RuleId
from election_replay.election_core.model.rows import Finding, RuleCoverage


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two tenures that overlap, by ``least`` to ``most`` us of true time. ``asleep`` is the part in us in which the
    stale leader's log is silent: it was frozen, or its lines are missing. ``unseen``: only other lines of its process
    follow the newer one's begin, the log in which it tells its roles ends before."""

    stale: Tenure
    newer: Tenure
    least: int
    most: int
    asleep: int
    unseen: bool = False

    @property
    def awake_least(self) -> int:
        """Return for how many us, at least, the stale leader was awake."""
        return max(self.least - self.asleep, 0)

    @property
    def frozen(self) -> bool:
        """Return True when the stale leader's log is silent for part of the overlap."""
        return self.asleep > 0

    @property
    def certainty(self) -> str:
        """POSSIBLE if the stale leader's log shows no role later, and is silent: it may have been restarted."""
        return POSSIBLE if self.unseen or (self.frozen and self.stale.ends_with_its_process) else DEFINITE


def overlaps(group: Group) -> Iterator[Overlap]:
    """Yield all pairs of tenures of different sources that may overlap."""
    for tenure, other in _perhaps_at_once(group):
        if tenure.source == other.source:
            continue
        stale, newer = (tenure, other) if tenure.term <= other.term else (other, tenure)
        least, most = at_once(group.clocks, stale, newer)
        if most > 0:
            shown = max(min(least, _shown(group, stale, newer)), 0)
            asleep = min(_asleep(group.clocks, stale, newer), most)
            yield Overlap(stale, newer, shown, most, asleep, unseen=shown <= 0 < least)


def _shown(group: Group, stale: Tenure, newer: Tenure) -> int:
    """Return for how long in us the stale leader's log surely shows that it led after the newer one began. Where no
    line ends its role, that is at most until the last line in which its log could show that."""
    written = group.written.get(stale.source)
    if written is None or not stale.ends_with_its_process:
        return UNBOUNDED
    return group.clocks.elapsed(newer.begin, written)[0]


def _perhaps_at_once(group: Group) -> list[tuple[Tenure, Tenure]]:
    """Return the pairs of tenures that are no further apart than any clock can be wrong."""
    pairs: list[tuple[int, int]] = []
    running: list[int] = []
    for number in sorted(range(len(group.tenures)), key=lambda number: group.tenures[number].begin.at):
        reach = group.tenures[number].begin.at - group.clocks.widest
        running = [second for second in running if group.tenures[second].end.by > reach]
        pairs.extend((min(number, second), max(number, second)) for second in running)
        running.append(number)
    return [(group.tenures[first], group.tenures[second]) for first, second in sorted(pairs)]


def at_once(clocks: Clocks, tenure: Tenure, other: Tenure) -> tuple[int, int]:
    """Return the (least, most) of ``min(ends) - max(begins)`` in us, negative when the tenures are apart."""
    return together(clocks, (tenure.begin, tenure.end), (other.begin, other.end))


def together(clocks: Clocks, span: tuple[Moment, Moment], other: tuple[Moment, Moment]) -> tuple[int, int]:
    """Return the (least, most) of ``min(ends) - max(begins)`` of two spans in us, negative when they are apart."""
    pairs = [clocks.elapsed(begin, end) for begin in (span[0], other[0]) for end in (span[1], other[1])]
    return min(least for least, _ in pairs), min(most for _, most in pairs)


def _asleep(clocks: Clocks, stale: Tenure, newer: Tenure) -> int:
    total = 0
    for gap in stale.silences:
        _, from_begin = clocks.elapsed(newer.begin, gap.end)
        if from_begin > 0:
            total += min(from_begin, gap.length)
    return total


def overlap_finding(
    group: Group, overlap: Overlap, severity: str, summary: str, evidence: Iterable[str | None] = (), **columns: Any
) -> Finding:
    """Return ``SPLIT_BRAIN_OVERLAP`` with the protocol's words; ``columns`` replace the default ones."""
    stale, newer = overlap.stale, overlap.newer
    common: dict[str, Any] = {
        "key": (stale.node, stale.term, newer.term, stale.begin.at),
        "certainty": overlap.certainty,
        "led": (stale, newer),
        "when": (newer.begin.at, stale.end.at),
        "together": (overlap.least, overlap.most),
        "severity": severity,
        "summary": summary,
        "evidence": (*stale.evidence, *newer.evidence, *evidence),
    }
    return group.finding(RuleId.SPLIT_BRAIN_OVERLAP, **common | columns)


def overlap_coverage(group: Group, found: Iterable[Finding]) -> RuleCoverage:
    """Return the coverage of overlaps: successive tenures that are apart, overlap, or cannot be decided."""
    pairs = [overlap for overlap in overlaps(group) if overlap.stale.term != overlap.newer.term]
    return counted(
        group,
        RuleId.SPLIT_BRAIN_OVERLAP,
        found,
        max(len(pairs), len(group.tenures) - 1),
        "ends and beginnings lie within the resolution and bounds of the clocks, or a log just stops",
        unclear=sum(1 for overlap in pairs if overlap.least <= 0),
    )
