"""One log shipped under two folders: it shows everything twice, and must be judged once.

A host gets another name, a log folder is restored beside the old one, a collector ships a machine under two names: the
folders then hold the same lines. The logs of two members never agree like that: for the whole time that both cover,
each line about the member itself has the same second in both.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from election_replay.election_core.fold.process_runs import SILENCE
from election_replay.election_core.model.facts import (
    Alive,
    Committed,
    Fact,
    KnownCommitted,
    QuorumLost,
    Role,
    RuleChecked,
    SettingPrinted,
    Silence,
    TimeoutConfigured,
    VotersStated,
    Written,
)
from election_replay.election_core.protocols.acting_master.facts import TopicPermission
from election_replay.election_core.protocols.log_quality.facts import LogCopied
from election_replay.election_core.protocols.log_quality.log import PROTOCOL
from election_replay.election_core.protocols.raft_family.facts import LeaderKeptRole

ENOUGH = 3
"""This many facts must begin alike, and none may differ. Fewer may be chance: two processes under one name that started
together and heard of the same election in the same second."""

_START_UP = SILENCE
"""A log that begins in the middle is compared only after this time: a status line comes every few seconds."""
_COUNTS = (
    *(RuleChecked, Committed, KnownCommitted, QuorumLost, LeaderKeptRole, TopicPermission, Alive, Silence),
    *(SettingPrinted, TimeoutConfigured, VotersStated, Written),
)
"""Facts that sum up a log, or that tell a state when it is first seen; they depend on where it begins and ends."""


@dataclass(frozen=True)
class Shipped:
    """The facts of one folder about one group; times in us on its own clock."""

    source: str
    facts: tuple[Fact, ...]

    @cached_property
    def first(self) -> int:
        """Return the first sign of life."""
        return min((fact.since for fact in self.facts if isinstance(fact, Alive)), default=0)

    @cached_property
    def first_by(self) -> int:
        """Return the latest possible time of the first sign of life."""
        return min((fact.since_by for fact in self.facts if isinstance(fact, Alive)), default=0)

    @cached_property
    def last(self) -> int:
        """Return the last sign of life."""
        alive = (fact for fact in self.facts if isinstance(fact, Alive))
        return max((fact.since if fact.until is None else fact.until for fact in alive), default=0)

    @cached_property
    def member(self) -> frozenset[str]:
        """Return the names of the member that wrote the log."""
        return frozenset(fact.node for fact in self.facts if isinstance(fact, Role) and fact.node is not None)

    def began(self, begin: int, end: int) -> frozenset[tuple[object, ...]]:
        """Return the keys of the facts that began in ``[begin, end)``, without the log's name for its own member."""
        selves = self.member | {self.source}
        return frozenset(
            tuple(None if value in selves else value for value in _key(fact))
            for fact in self.facts
            if not isinstance(fact, _COUNTS) and begin <= fact.since < end
        )


def deduplicate_logs(of_group: Iterable[Fact]) -> list[Fact]:
    """Return the facts of one group with each log once, and a ``LogCopied`` fact for each folder with a copy. Where the
    copy goes on after its original ends, as after a change of the host's name, its later facts are kept as the
    original's: it is one log."""
    by_source: dict[str, list[Fact]] = {}
    for fact in of_group:
        by_source.setdefault(fact.source_node, []).append(fact)
    logs = {source: Shipped(source, tuple(of_source)) for source, of_source in by_source.items()}
    copied: list[Fact] = []
    for earlier, later in combinations(sorted(logs.values(), key=lambda log: (log.first, -log.last, log.source)), 2):
        if earlier.source in logs and later.source in logs and _same_log(logs[earlier.source], later):
            copied.append(_copied(logs[earlier.source], later))
            logs[earlier.source] = _joined(logs[earlier.source], logs.pop(later.source))
    return [fact for log in logs.values() for fact in log.facts] + copied


def _copied(original: Shipped, copy: Shipped) -> Fact:
    """Return the fact that ``copy`` holds the log of ``original``."""
    first = min((fact for fact in copy.facts if isinstance(fact, Role)), key=lambda fact: (fact.since, fact.ordinal))
    return LogCopied(
        cluster=first.cluster,
        replica_group=first.replica_group,
        protocol=PROTOCOL,
        node=first.node,
        source_node=copy.source,
        since=copy.first,
        since_by=copy.first_by,
        since_event=first.since_event,
        until=None,
        until_by=None,
        until_event=None,
        bound_ms=first.bound_ms,
        ordinal=0,
        speaker=None,
        original=original.source,
        evidence=tuple(line for line in (first.since_event,) if line),
    )


def _key(fact: Fact) -> tuple[object, ...]:
    """Return the content of a fact and its beginning."""
    values = (getattr(fact, name) for name in fact.KNOWN_AT_START)
    return (fact.protocol, fact.kind, fact.node, fact.since, fact.since_by, *values)


def _same_log(log: Shipped, other: Shipped) -> bool:
    if not log.member & other.member:
        return False
    begin = log.first if log.first == other.first else max(log.first, other.first) + _START_UP
    end = min(log.last, other.last)
    shared = log.began(begin, end)
    return len(shared) >= ENOUGH and shared == other.began(begin, end)


def _joined(original: Shipped, copy: Shipped) -> Shipped:
    """Return the facts of the original to its end, and those of the copy from there on."""
    if copy.last <= original.last:
        return original
    going_on = {_key(fact): fact for fact in copy.facts if (fact.until or copy.last) >= original.last}
    kept = [going_on.pop(_key(fact), fact) for fact in original.facts]
    kept += [fact for fact in going_on.values() if fact.since > original.last]
    return Shipped(original.source, tuple(_spoken_by(original.source, fact) for fact in kept))


def _spoken_by(source: str, fact: Fact) -> Fact:
    node = source if fact.node == fact.source_node else fact.node
    return replace(fact, source_node=source, node=node)
