"""The time-outs of one group: printed by its members, configured in the pipeline, or defaults."""

from collections.abc import Iterable

from election_replay.election_core.model.facts import Fact, SettingPrinted, TimeoutConfigured
from election_replay.election_core.model.timing import Timeout, Timing


def timing_of(facts: Iterable[Fact]) -> Timing:
    """Return the time-outs of the group that the ``facts`` are about."""
    of_timing = [fact for fact in facts if isinstance(fact, (SettingPrinted, TimeoutConfigured))]
    printed = [(fact.source_node, fact.name, fact.value) for fact in of_timing if isinstance(fact, SettingPrinted)]
    return timing_from(printed, ((fact.name, fact.value) for fact in of_timing if isinstance(fact, TimeoutConfigured)))


def timing_from(printed: Iterable[tuple[str, str, int]], configured: Iterable[tuple[str, int]]) -> Timing:
    """Return the time-outs of a group from ``printed`` (source, name, value) and ``configured`` (name, ms). Configured
    names that are no :class:`Timeout` are ignored."""
    found: dict[str, dict[str, set[int]]] = {}
    for source, name, value in printed:
        found.setdefault(source, {}).setdefault(name, set()).add(value)
    by_source = {
        source: {name: frozenset(numbers) for name, numbers in values.items()} for source, values in found.items()
    }
    return Timing(by_source, {Timeout[name]: ms for name, ms in configured if name in Timeout.__members__})
