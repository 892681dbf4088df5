"""Logs of several members in one folder: what breaks a rule there may be the order of two logs, and no member's own.

While a source contradicts itself about who it is (``IDENTITY_CONTRADICTION``), rules about one node's own order cannot
be judged by it: they answer *undecidable*.
"""

from collections.abc import Iterable
from dataclasses import replace

from election_core.fold.checks import UNDECIDABLE, VIOLATES
from election_core.model.facts import Fact, LineBrokeRule, RuleChecked, TermWentBack
from election_core.protocols.log_quality.facts import Claim

WHY = "logs of several members in one folder, or a machine that was given to another member"


def undoubted(facts: Iterable[Fact]) -> list[Fact]:
    """The facts from which rules follow: of a source of which it is not clear whose log it is, none about its order."""
    every = list(facts)
    names: dict[tuple[str, str, str], set[str]] = {}
    for fact in every:
        if isinstance(fact, Claim):
            names.setdefault((fact.source_node, fact.process, fact.name_kind), set()).add(fact.name)
    mixed = {source for (source, _, _), claimed in names.items() if len(claimed) > 1}
    if not mixed:
        return every
    return [
        _not_told(fact) if fact.source_node in mixed else fact
        for fact in every
        if fact.source_node not in mixed or not isinstance(fact, TermWentBack | LineBrokeRule)
    ]


def _not_told(fact: Fact) -> Fact:
    if isinstance(fact, RuleChecked) and fact.verdict == VIOLATES:
        return replace(fact, verdict=UNDECIDABLE, why=WHY)
    return fact
