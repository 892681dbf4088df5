"""The times of one group: what its members print of their settings, and what the settings of the pipeline say."""

from collections.abc import Iterable

from election_core.model.facts import Fact, SettingPrinted, TimeoutConfigured
from election_core.model.timing import Timeout, Timing


def timing_of(facts: Iterable[Fact]) -> Timing:
    """The times of the group that the ``facts`` are about."""
    own = [fact for fact in facts if isinstance(fact, (SettingPrinted, TimeoutConfigured))]
    printed = [(fact.source_node, fact.name, fact.value) for fact in own if isinstance(fact, SettingPrinted)]
    return timing_from(printed, ((fact.name, fact.value) for fact in own if isinstance(fact, TimeoutConfigured)))


def timing_from(printed: Iterable[tuple[str, str, int]], configured: Iterable[tuple[str, int]]) -> Timing:
    """The times of a group whose sources printed settings (source, name, value) and for which the settings of the
    pipeline give times (name, ms). Names of no time that is known here count for nothing."""
    found: dict[str, dict[str, set[int]]] = {}
    for source, name, value in printed:
        found.setdefault(source, {}).setdefault(name, set()).add(value)
    own = {source: {name: frozenset(said) for name, said in values.items()} for source, values in found.items()}
    return Timing(own, {Timeout[name]: ms for name, ms in configured if name in Timeout.__members__})
