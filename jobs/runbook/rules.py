"""The catalogue of rules: the meaning of each rule, what it needs, and what would refute its findings."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from election_replay.jobs.runbook.texts import text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One entry of the catalogue, as ``rules.yaml`` describes its fields."""

    rule: str
    severity: str
    meaning: str
    source: str
    needs: str
    refuted_by: str
    proven_by: str = "its lines say so themselves"


@cache
def catalogue() -> Mapping[str, Rule]:
    """Return all rules by id, in the order of ``rules.yaml``."""
    return {rule: Rule(rule=rule, **entry) for rule, entry in text_of("rules.yaml").items()}
