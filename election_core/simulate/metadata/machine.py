"""The metadata tables of one broker: pure functions over plain data, part of a simulated broker.

Sources: RocketMQ ``ConsumerOffsetManager``, ``ScheduleMessageService``, ``SlaveSynchronize``,
``BrokerPreOnlineService#syncMetadataReverse``.

A version changes only after a number of commits, so a complete pre-online may take nothing over.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from election_replay.election_core.protocols.metadata.data_version import Version, following, is_taken_over

CONSUMER_FILE, DELAY_FILE, TOPIC_FILE, GROUP_FILE = (
    *("consumerOffset.json", "delayOffset.json", "topics.json", "subscriptionGroup.json"),
)

Place = tuple[str, str, int]
"""Topic, consumer group, queue; of a delay level: two empty names and the level."""


@dataclass(frozen=True, slots=True)
class Offsets:
    """A table of offsets: the next message of each place. ``commits`` counts those since the process began."""

    version: Version = (0, 0, 0)
    of: tuple[tuple[Place, int], ...] = ()
    commits: int = 0


@dataclass(frozen=True, slots=True)
class Names:
    """A table whose names alone matter: topics, subscription groups."""

    version: Version = (0, 0, 0)
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tables:
    """All tables of one broker."""

    consumer: Offsets = field(default_factory=Offsets)
    delay: Offsets = field(default_factory=Offsets)
    topics: Names = field(default_factory=Names)
    groups: Names = field(default_factory=Names)


@dataclass(frozen=True, slots=True)
class TableRules:
    """A broker's rules of decision; a faulty one has one changed. The defaults are RocketMQ's. ``version_step``:
    commits per version (``consumerOffsetUpdateVersionStep``, ``delayOffsetUpdateVersionStep``)."""

    version_step: int = 500
    delay_step: int = 200
    is_taken_over: Callable[[Version, Version], bool] = is_taken_over


def loaded(stored: Mapping[str, object], defaults: Tables) -> Tables:
    """Return the tables of a process that begins, from its files."""
    consumer, delay = stored.get(CONSUMER_FILE), stored.get(DELAY_FILE)
    topics, groups = stored.get(TOPIC_FILE), stored.get(GROUP_FILE)
    return Tables(
        replace(consumer, commits=0) if isinstance(consumer, Offsets) else defaults.consumer,
        replace(delay, commits=0) if isinstance(delay, Offsets) else defaults.delay,
        topics if isinstance(topics, Names) else defaults.topics,
        groups if isinstance(groups, Names) else defaults.groups,
    )


def committed(table: Offsets, offsets: Iterable[tuple[Place, int]], now_ms: int, step: int) -> Offsets:
    """Return the table after clients' commits; smaller offsets are taken too (``commitOffset``)."""
    places = dict(table.of)
    version, commits = table.version, table.commits
    for place, offset in offsets:
        places[place] = offset
        commits += 1
        if commits % step == 0:
            version = following(version, now_ms)
    return Offsets(version, tuple(sorted(places.items())), commits)


def copied(offsets: Offsets, other: Offsets) -> Offsets:
    """Return the table overwritten by another broker's, with that one's version."""
    return Offsets(other.version, tuple(sorted({**dict(offsets.of), **dict(other.of)}.items())), offsets.commits)


def taken_over(tables: Tables, other: Tables, rules: TableRules) -> tuple[Tables, tuple[str, ...]]:
    """Return a returning master's tables after it read a member's, and the files that it took over."""
    taken: tuple[str, ...] = ()
    if rules.is_taken_over(tables.consumer.version, other.consumer.version):
        tables, taken = replace(tables, consumer=copied(tables.consumer, other.consumer)), (CONSUMER_FILE,)
    if rules.is_taken_over(tables.delay.version, other.delay.version):
        tables, taken = replace(tables, delay=copied(tables.delay, other.delay)), (*taken, DELAY_FILE)
    return tables, taken


def as_slave(tables: Tables, master: Tables, now_ms: int) -> tuple[Tables, tuple[str, ...], tuple[str, ...]]:
    """Return a slave's tables after it copied its master's, and the topics and groups that it dropped."""
    topics, groups = _names(tables.topics, master.topics, now_ms), _names(tables.groups, master.groups, now_ms)
    after = Tables(copied(tables.consumer, master.consumer), copied(tables.delay, master.delay), topics, groups)
    return after, _without(tables.topics, topics), _without(tables.groups, groups)


def _names(names: Names, master: Names, now_ms: int) -> Names:
    """Return a copy under a version of its own: it never equals the master's, so every copy repeats all."""
    return names if names.version == master.version else Names(following(master.version, now_ms), master.names)


def _without(before: Names, after: Names) -> tuple[str, ...]:
    return tuple(name for name in before.names if name not in after.names)


def named(table: Names, name: str, now_ms: int) -> Names:
    """Return the table with a new topic or group."""
    return Names(following(table.version, now_ms), tuple(sorted({*table.names, name})))
