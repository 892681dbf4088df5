"""A finding about a DLedger group: proven unless said otherwise, its evidence in order and without gaps."""

from election_core.judge.group import Group
from election_core.model.catalogue import PROVEN
from election_core.model.rows import Finding


def finding(
    group: Group,
    rule: str,
    what: tuple[object, ...],
    *,
    severity: str,
    nodes: tuple[str, ...],
    terms: tuple[int, ...],
    start: int,
    end: int,
    summary: str,
    evidence: list[str | None],
    certainty: str = PROVEN,
    implied_by: str | None = None,
) -> Finding:
    """A finding; ``what`` tells it from others of its rule."""
    return group.finding(
        rule,
        what,
        severity=severity,
        certainty=certainty,
        nodes=nodes,
        terms=terms,
        start_time=start,
        end_time=end,
        summary=summary,
        evidence=tuple(dict.fromkeys(e for e in evidence if e)),
        implied_by=implied_by,
    )
