"""The times of one group: what its members print of their settings, and what the settings of the pipeline say."""

from collections.abc import Iterable

from election_core.model.facts import Fact, SettingPrinted, TimeoutConfigured
from election_core.model.timing import Timeout, Timing


def timing_of(facts: Iterable[Fact]) -> Timing:
    """The times of the group that the ``facts`` are about. Those of no time that is known here count for nothing."""
    printed: dict[str, dict[str, set[int]]] = {}
    configured: dict[Timeout, int] = {}
    for fact in facts:
        if isinstance(fact, SettingPrinted):
            printed.setdefault(fact.source_node, {}).setdefault(fact.name, set()).add(fact.value)
        elif isinstance(fact, TimeoutConfigured) and fact.name in Timeout.__members__:
            configured[Timeout[fact.name]] = fact.value
    own = {source: {name: frozenset(said) for name, said in values.items()} for source, values in printed.items()}
    return Timing(own, configured)
