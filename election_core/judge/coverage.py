"""Coverage: how often a rule was kept, broken, or could not be judged."""

from election_core.judge.group import Group
from election_core.model.rows import RuleCoverage


def coverage(
    group: Group, rule: str, conforms: int, violates: int, undecidable: int = 0, why: str | None = None
) -> RuleCoverage:
    """One row of ``rule_coverage``."""
    return RuleCoverage(
        cluster=group.cluster,
        replica_group=group.replica_group,
        protocol=group.protocol,
        rule=rule,
        conforms=conforms,
        violates=violates,
        undecidable=undecidable,
        why_undecidable=why if undecidable else None,
    )
