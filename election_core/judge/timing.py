"""The times of one group: what its members print of their settings, and what the settings of the pipeline say."""

from collections.abc import Iterable

from election_replay.election_core.model.facts import Fact, SettingPrinted, TimeoutConfigured
from election_replay.election_core.model.timing import Timeout, Timing


def timing_of(facts: Iterable[Fact]) -> Timing:
    """The times of the group that the ``facts`` are about."""
    of_timing = [fact for fact in facts if isinstance(fact, (SettingPrinted, TimeoutConfigured))]
    printed = [(fact.source_node, fact.name, fact.value) for fact in of_timing if isinstance(fact, SettingPrinted)]
    return timing_from(printed, ((fact.name, fact.value) for fact in of_timing if isinstance(fact, TimeoutConfigured)))


def timing_from(printed: Iterable[tuple[str, str, int]], configured: Iterable[tuple[str, int]]) -> Timing:
    """The times of a group whose sources printed settings (source, name, value) and for which the settings of the
    pipeline give times (name, ms). Names of no time that is known here count for nothing."""
    found: dict[str, dict[str, set[int]]] = {}
    for source, name, value in printed:
        found.setdefault(source, {}).setdefault(name, set()).add(value)
    by_source = {
        source: {name: frozenset(numbers) for name, numbers in values.items()} for source, values in found.items()
    }
    return Timing(by_source, {Timeout[name]: ms for name, ms in configured if name in Timeout.__members__})
