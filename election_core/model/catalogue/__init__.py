"""The catalogue of rules: a closed enumeration, one entry a rule, one file a theme.

One search for a rule's id leads to its entry here, to the modules that judge it, and to its tests.
"""

from election_replay.election_core.model.catalogue.acting_master import ACTING_MASTER
from election_replay.election_core.model.catalogue.availability import AVAILABILITY
from election_replay.election_core.model.catalogue.controller import CONTROLLER
from election_replay.election_core.model.catalogue.elections import ELECTIONS
from election_replay.election_core.model.catalogue.identity import IDENTITY
from election_replay.election_core.model.catalogue.limits import LIMITS
from election_replay.election_core.model.catalogue.locks import LOCKS
from election_replay.election_core.model.catalogue.losses import LOSSES
from election_replay.election_core.model.catalogue.rule import (
    CRITICAL,
    DEFINITE,
    INFO,
    POSSIBLE,
    PROVEN,
    TWO_LEADERS,
    WARNING,
    WENT_BACK,
    Rule,
    RuleId,
    finding_id,
)

__all__ = [
    "CATALOGUE",
    "CRITICAL",
    "DEFINITE",
    "INFO",
    "POSSIBLE",
    "PROVEN",
    "RULES",
    "TWO_LEADERS",
    "WARNING",
    "WENT_BACK",
    "Rule",
    "RuleId",
    "finding_id",
]

_ENTRIES = (*ELECTIONS, *LOSSES, *AVAILABILITY, *CONTROLLER, *IDENTITY, *ACTING_MASTER, *LOCKS, *LIMITS)

RULES: dict[str, Rule] = {entry.rule: entry for entry in _ENTRIES}
"""The entries by their ids."""

CATALOGUE: tuple[Rule, ...] = tuple(RULES[rule] for rule in RuleId)
"""All entries, in the order of the enumeration."""
