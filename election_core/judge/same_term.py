"""``SPLIT_BRAIN_SAME_TERM``: two nodes led one term, by their own logs.

    n0   [====== leads term 2 ======]
    n2              [====== leads term 2 ======]
    or   [== n0, term 2 ==]      [== n2, term 2 ==]     the same finding: one term has one leader, at any time

It follows from terms alone, whatever the clocks were. One member in two logs is an exception: where one ended surely
before the other began, it moved to another machine; else the logs may be of two clusters, and the finding is possible.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from election_replay.election_core.judge.clock import UNBOUNDED
from election_replay.election_core.judge.group import Group, Tenure
from election_replay.election_core.judge.overlap import at_once
from election_replay.election_core.judge.wording import between
from election_replay.election_core.model.catalogue import CRITICAL, POSSIBLE, PROVEN, WARNING, RuleId
from election_replay.election_core.model.rows import Finding


def same_term(group: Group, word: str) -> Iterator[Finding]:
    """Yield ``SPLIT_BRAIN_SAME_TERM`` for each pair of sources that led one term; ``word`` is "term" or "epoch"."""
    by_term: dict[int, list[Tenure]] = {}
    for tenure in group.tenures:
        by_term.setdefault(tenure.term, []).append(tenure)
    for term, tenures in sorted(by_term.items()):
        for tenures_here, tenures_there in _pairs_of_sources(tenures):
            finding = _same_term_pair(group, term, tenures_here, tenures_there, word)
            if finding is not None:
                yield finding


def _pairs_of_sources(tenures: Sequence[Tenure]) -> Iterator[tuple[list[Tenure], list[Tenure]]]:
    by_source: dict[str, list[Tenure]] = {}
    for tenure in tenures:
        by_source.setdefault(tenure.source, []).append(tenure)
    for source, other in combinations(sorted(by_source), 2):
        yield by_source[source], by_source[other]


_OF_TWO = " Two machines with one identity, or logs of two clusters."
_UNSURE = "the clocks do not tell whether at the same time"


def _same_term_pair(group: Group, term: int, here: list[Tenure], there: list[Tenure], word: str) -> Finding | None:
    """Return the finding about two sources that led one term; ``None`` for one member that moved."""
    measured = [(at_once(group.clocks, a, b), a, b) for a in here for b in there]
    (least, most), a, b = max(measured, key=lambda m: (m[0][1], m[0][0]))
    one_member = a.node == b.node
    if one_member and most <= 0:
        # One member that moved to another machine, one after the other: not two leaders.
        return None
    names = sorted({_name(a, b), _name(b, a)})
    shown = max(least, 0), max(min(most, UNBOUNDED), 0)
    together = f"both at once for {between(*shown)}" if shown[0] else _UNSURE if shown[1] else "one after the other"
    return group.finding(
        RuleId.SPLIT_BRAIN_SAME_TERM,
        (term, *names),
        severity=WARNING if one_member else CRITICAL,
        certainty=POSSIBLE if one_member else PROVEN,
        nodes=names,
        terms=(term,),
        when=(
            max(min(t.begin.at for t in tenures) for tenures in (here, there)),
            min(max(t.end.at for t in tenures) for tenures in (here, there)),
        ),
        summary=f"{a.name} and {b.name} both led {word} {term}: {together}.{_OF_TWO if one_member else ''}",
        evidence=(event for tenure in (*here, *there) for event in tenure.evidence),
        together=shown,
    )


def _name(tenure: Tenure, other: Tenure) -> str:
    return tenure.node if tenure.node != other.node else f"{tenure.node} ({tenure.source})"
