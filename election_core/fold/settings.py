"""A source's printed settings that change a time-out, as its own log shows them at every start."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import Speaker
from election_replay.election_core.model import digits
from election_replay.election_core.model.facts import Fact, SettingPrinted, TimeoutConfigured
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import SETTINGS, Values

LONGEST = 86_400_000
"""A day in ms: larger values are cut to it, since no replay waits longer."""

AS_DURATION = {
    "ETCD_BOOT": "election-timeout",
    "ETCD_ELECTION_TIMEOUT": "election-timeout",
    "KAFKA_STATE": "controller.quorum.fetch.timeout.ms",
}
"""Kinds of lines that print one setting as a duration, without its name in a column."""


@dataclass(slots=True)
class PrintedSettings:
    """Each value of each setting, with the first line that prints it."""

    first: dict[tuple[str, int], FoldEvent] = field(default_factory=dict)

    def on(self, event: FoldEvent) -> None:
        """Take an event with a ``setting`` or of :data:`AS_DURATION`; other values than positive numbers are
        ignored."""
        name, value = event.setting, event.value
        if name is None:
            name = AS_DURATION.get(event.kind)
            value = None if name is None or event.duration_ms is None else str(event.duration_ms)
        printed = digits.number(value) if name in SETTINGS else None
        if name is not None and printed is not None:
            self._note(name, min(printed, LONGEST), event)

    def values(self) -> Values:
        """Return the printed values by the name of the setting."""
        found: dict[str, frozenset[int]] = {}
        for name, value in self.first:
            found[name] = found.get(name, frozenset()) | {value}
        return found

    def facts(self, speaker: Speaker, facts: Iterable[Fact]) -> Iterator[Fact]:
        """Yield the settings as facts about each group that the source has facts about."""
        about = dict.fromkeys((fact.replica_group, fact.protocol) for fact in facts)
        for group, protocol in about:
            emit = speaker.about(group, protocol, "", lambda _: None)
            for (name, value), event in sorted(self.first.items(), key=lambda item: item[0]):
                yield SettingPrinted(*emit.at(event), name=name, value=value)
            for timeout, ms in sorted(emit.timing.configured.items(), key=lambda item: item[0].name):
                yield TimeoutConfigured(*emit.during(None, 0, 0, None), name=timeout.name, value=ms)

    def _note(self, name: str, value: int, event: FoldEvent) -> None:
        known = self.first.get((name, value))
        if value and (known is None or (event.at, event.event_id) < (known.at, known.event_id)):
            self.first[name, value] = event
