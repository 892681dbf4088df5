"""What must become of offsets, topics and groups when an acting master hands over.

While a slave acts, consumers commit to it, and topics and groups are created there. The broker that serves next should
go on from there. Versions do not tell whether it does: a DataVersion moves only every so many commits, so a complete
pre-online may take nothing over, and the larger counter may have the smaller offsets. So the tables are compared.

Only hand-overs from a living acting master are judged: a slave that takes over from a dead or lost master has its last
copy, up to a copying interval old, by design (``SlaveSynchronize``). An offset that goes back without a hand-over is a
client's late commit (``ConsumerOffsetManager#commitOffset`` "less than store").

Sources: RocketMQ ``BrokerPreOnlineService#syncMetadataReverse``, ``#prepareForSlaveOnline``, ``BrokerController#start``
(skipPreOnline), ``DataVersion#compare``, RIP-32.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from election_replay.election_core.fold.identity import UNIDENTIFIED
from election_replay.election_core.judge.clock import Clocks, Moment, copier_of
from election_replay.election_core.judge.coverage import coverage
from election_replay.election_core.judge.group import Group, group_of, since, until
from election_replay.election_core.judge.wording import name_of
from election_replay.election_core.model.catalogue import DEFINITE, INFO, POSSIBLE, WARNING, RuleId
from election_replay.election_core.model.facts import Alive, Fact
from election_replay.election_core.model.rows import Finding, MetadataVersion, Row, RuleCoverage
from election_replay.election_core.model.terms import is_larger
from election_replay.election_core.model.timing import US_PER_MS, Timeout
from election_replay.election_core.protocols.metadata.data_version import Version, is_taken_over, order
from election_replay.election_core.protocols.metadata.facts import (
    ActedAsMaster,
    BeganToServe,
    NameDropped,
    OffsetCopied,
    ReverseSynced,
    TableCopied,
    VersionSeen,
)
from election_replay.election_core.protocols.metadata.log import (
    ALONE,
    NO_MASTER,
    NOT_NEEDED,
    PRE_ONLINE,
    PROTOCOL,
    SKIPPED,
    SMALLER_ID,
)

__all__ = ["PROTOCOL", "judge"]


OFFSETS = {"consumer_offset": "Consumer offsets", "delay_offset": "Delay offsets"}
NAMES = {"topic_config": "topic", "subscription_group": "consumer group"}

FLUSHES = {"consumer_offset": Timeout.CONSUMER_OFFSET_FLUSH, "delay_offset": Timeout.DELAY_OFFSET_FLUSH}
"""How often a broker writes each table to its file."""
SHOWN = 8
"""At most this many queues, and this many names, are listed."""

_OWN_NAMES = ("%", "rmq_sys_", "RMQ_SYS_", "CID_RMQ_SYS_", "SCHEDULE_TOPIC_XXXX")
"""Beginnings of names that brokers create for themselves, also again (TopicValidator#isSystemTopic, MixAll)."""

_HOW = {
    SKIPPED: "it had skipped pre-online",
    NO_MASTER: "it started while no master was there and took nothing over",
    ALONE: "its name servers showed no other member, so it took nothing over",
    NOT_NEEDED: "it is the only replica by its configuration, and took nothing over",
    PRE_ONLINE: "its pre-online is not seen to have taken them over",
}
_WITHOUT = {
    SKIPPED: "without pre-online",
    ALONE: "with a pre-online that found no other member at the name servers,",
    NOT_NEEDED: "without pre-online, as the only replica by its configuration,",
}
"""How a master came back without asking anybody, for a sentence."""

Key = tuple[str | None, str | None, int | None]
"""Topic, consumer group, queue; for a delay level only the level."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table of one broker, as it was when its file was copied."""

    taken: Moment
    version: Version
    names: frozenset[str]
    offsets: dict[Key, OffsetCopied]

    def offset(self, key: Key) -> int | None:
        """Return the next message of ``key``; ``None``: unknown. A delay level without an entry is delivered from its
        beginning (``ScheduleMessageService#start``). A consumer group without an entry for a queue decides itself where
        it begins (``ConsumeFromWhere``)."""
        entry = self.offsets.get(key)
        if entry is not None:
            return entry.offset
        _, group, _ = key
        return 0 if group is None else None


@dataclass(frozen=True, slots=True)
class HandOver:
    """An acting master (``left``) lives to see a broker with a smaller id (``node`` at ``source``) take its place.

    ``returned`` is where that broker began to serve. It is ``None`` if no line shows it: then the broker had never
    stopped, unless it was ``restarted`` meanwhile. Its process was ``started``, and the former one ``died`` (last
    sign), both in us on its own clock. ``reversed`` are its reverse syncs.
    """

    group: Group
    left: ActedAsMaster
    node: str
    source: str
    returned: BeganToServe | None
    started: int | None
    died: int | None
    restarted: bool
    reversed: tuple[ReverseSynced, ...]

    @property
    def name(self) -> str:
        """Return the name of the broker that took over, with its folder where that differs."""
        return name_of(self.node, self.source)

    @property
    def left_name(self) -> str:
        """Return the name of the acting master, with its folder where that differs."""
        return name_of(self.left.node, self.left.source_node)

    @property
    def taken(self) -> frozenset[str]:
        """Return the tables that a reverse sync took over."""
        return frozenset(name for fact in self.reversed for name in fact.tables)

    @property
    def end(self) -> Moment:
        """Return when the acting master heard of the hand-over."""
        return until(self.left) or since(self.left)

    def finding(self, rule: RuleId, *key: object, **columns: Any) -> Finding:
        """Return a finding about the hand-over; ``key`` distinguishes it within its rule."""
        left = self.left
        kind, *more = key
        whole = (kind, left.source_node, self.source, left.since, left.until, *more)
        nodes = sorted({left.who, self.node})
        return self.group.finding(rule, whole, nodes=nodes, **{"when": self.end.at} | columns)

    def how(self, kind: str) -> str:
        """Return how the new master came to its table, for a sentence."""
        if kind in self.taken:
            return "its pre-online had taken over from each member what was not older by its version"
        if self.returned is None:
            return "its log does not say how it came back" if self.restarted else "it had never stopped"
        return _HOW.get(self.returned.cause or "", "its log does not say what it had taken over")


@dataclass(slots=True)
class Loss:
    """Entries that went back: the entry before, the offset afterwards and its entry (``None``: it had none)."""

    entries: list[tuple[OffsetCopied, int | None, OffsetCopied | None]] = field(default_factory=list)
    proven: bool = True
    healed: bool = True

    @property
    def size(self) -> int:
        """Return by how many messages, over all queues with a known offset."""
        return sum(entry.offset - after for entry, after, _ in self.entries if after is not None)

    @property
    def missing(self) -> bool:
        """Return True when the new master has no offset of these queues."""
        return all(after is None for _, after, _ in self.entries)


@dataclass(slots=True)
class Verdicts:
    """How often a rule held or was broken, and why it could not be judged."""

    rule: RuleId
    conforms: int = 0
    violates: int = 0
    why: list[str] = field(default_factory=list)

    def count(self, certainty: str, why: str, times: int = 1) -> None:
        """Count ``times`` a finding: as violated, or as undecidable where it is only possible."""
        if certainty == POSSIBLE:
            self.why += [why] * times
        else:
            self.violates += times

    def row(self, group: Group) -> Iterator[RuleCoverage]:
        """Yield the coverage of the rule, if it was judged at all."""
        if self.conforms or self.violates or self.why:
            why = "; ".join(sorted(set(self.why)))
            yield coverage(group, self.rule, self.conforms, self.violates, len(self.why), why)


class Tables:
    """The copied tables of a group, by broker and kind."""

    def __init__(self, group: Group) -> None:
        offsets: dict[tuple[str, str, int], list[OffsetCopied]] = {}
        for entry in group.of(OffsetCopied):
            offsets.setdefault((entry.source_node, entry.table_name, entry.since), []).append(entry)
        self.clocks = group.clocks
        self._of: dict[tuple[str, str], list[Table]] = {}
        for copied in group.of(TableCopied):
            entries = offsets.get((copied.source_node, copied.table_name, copied.since), [])
            by_key = {(entry.topic, entry.consumer_group, entry.queue_id): entry for entry in entries}
            table = Table(self._taken(copied), _version(copied), frozenset(copied.names or ()), by_key)
            self._of.setdefault((copied.source_node, copied.table_name), []).append(table)

    def before(self, source: str, kind: str, moment: Moment) -> Table | None:
        """Return the last table that is surely older than ``moment``, or ``None``."""
        older = [table for table in self._of.get((source, kind), []) if self.in_order(table.taken, moment)]
        return older[-1] if older else None

    def after(self, source: str, kind: str, moment: Moment) -> Table | None:
        """Return the first table that is surely younger than ``moment``, or ``None``."""
        return next((table for table in self._of.get((source, kind), []) if self.in_order(moment, table.taken)), None)

    def last(self, source: str, kind: str) -> Table | None:
        """Return the last table, or ``None``."""
        tables = self._of.get((source, kind), [])
        return tables[-1] if tables else None

    def seen_after(self, source: str, moment: Moment) -> bool:
        """Return True when any table of the broker was copied after ``moment``: unchanged files may not be."""
        return any(self.in_order(moment, tables[-1].taken) for (of, _), tables in self._of.items() if of == source)

    def _taken(self, copied: TableCopied) -> Moment:
        """Return when a file was copied: by the clock of its broker, unless the copier's is known to be another one."""
        taken, source = since(copied), copied.source_node
        return taken if self.clocks.copies_itself(source) else replace(taken, source=copier_of(source))

    def in_order(self, earlier: Moment, later: Moment) -> bool:
        """Return True when ``earlier`` surely came first. On one machine the order of whole seconds is enough; across
        machines the bounds of the clocks count."""
        if earlier.source == later.source:
            return earlier.at <= later.at
        return self.clocks.elapsed(earlier, later)[0] >= 0


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one broker set. Brokers whose set no line names are of no common set: none took over from
    another one."""
    group = group_of(facts, clocks)
    yield from versions(group)
    tables = Tables(group)
    skipped, stale, rollback = (
        Verdicts(RuleId.PRE_ONLINE_SKIPPED),
        Verdicts(RuleId.STALE_REVERSE_SYNC),
        Verdicts(RuleId.METADATA_ROLLBACK),
    )
    for hand_over in hand_overs(group) if facts[0].replica_group != UNIDENTIFIED else ():
        offsets = list(_lost_offsets(hand_over, tables, group, stale, rollback))
        names = list(_lost_names(hand_over, tables, group, rollback))
        root = next(_skipped(hand_over, group, lost=bool(offsets or names), verdicts=skipped), None)
        older = dict(_by_version(hand_over, tables, stale))
        yield from (*older.values(), *((root,) if root is not None else ()))
        yield from (_implied(name, root) for name in names)
        for kind, taken_over, went_back in offsets:
            if taken_over is not None:
                yield _implied(taken_over, older.get(kind))
            yield _implied(went_back, taken_over or root)
    for verdicts in (rollback, skipped, stale):
        yield from verdicts.row(group)


def versions(group: Group) -> Iterator[MetadataVersion]:
    """Yield every version that was seen."""
    for fact in group.of(VersionSeen):
        timestamp = fact.version_timestamp
        yield MetadataVersion(
            **group.names,
            node=fact.who,
            source_node=fact.source_node,
            kind=fact.table_name,
            observed_time=fact.since,
            state_version=fact.state_version,
            timestamp=timestamp * 1000 if timestamp is not None and 0 <= timestamp < _YEAR_3000 else None,
            counter=fact.counter,
            event_id=fact.since_event or "",
        )


_YEAR_3000 = 32_503_680_000_000
"""In ms; a larger timestamp of a version is invalid."""


def hand_overs(group: Group) -> Iterator[HandOver]:
    """Yield every end of an acting period by a smaller id, for each broker that has this id."""
    for left in group.of(ActedAsMaster):
        if left.end_cause != SMALLER_ID or left.peer is None:
            continue
        for source in sorted({fact.source_node for fact in group.of(Alive) if fact.node == left.peer}):
            returned = _return_within(left, source, group)
            started, died = _life_before(returned, source, group)
            begun = started if started is not None else (returned.since if returned else 0)
            taken = tuple(
                fact
                for fact in group.of(ReverseSynced)
                if fact.source_node == source and returned is not None and begun <= fact.since <= returned.since_by
            )
            restarted = any(_meanwhile(left, fact, group) for fact in group.of(Alive) if fact.source_node == source)
            yield HandOver(group, left, left.peer, source, returned, started, died, restarted, taken)


def _meanwhile(left: ActedAsMaster, run: Alive, group: Group) -> bool:
    """Return True when a process may have begun during the acting period."""
    end = until(left) or since(left)
    return group.clocks.elapsed(since(left), since(run))[1] > 0 and group.clocks.elapsed(since(run), end)[1] > 0


def _return_within(left: ActedAsMaster, source: str, group: Group) -> BeganToServe | None:
    """Return where the broker began to serve during the acting period, or ``None``."""
    end = until(left) or since(left)
    found = None
    for fact in group.of(BeganToServe):
        if fact.source_node != source:
            continue
        _, after_begin = group.clocks.elapsed(since(left), since(fact))
        least, most = group.clocks.elapsed(since(fact), end)
        if after_begin > 0 and most >= 0 and least <= Timeout.REGISTERS.us:
            found = fact
    return found


def _life_before(returned: BeganToServe | None, source: str, group: Group) -> tuple[int | None, int | None]:
    """Return when the returning process was started, and when the one before it was last seen."""
    if returned is None:
        return None, None
    alive = [fact for fact in group.of(Alive) if fact.source_node == source and fact.since <= returned.since]
    started = alive[-1].since if alive else None
    return started, alive[-2].until if len(alive) > 1 else None


# -- offsets ---------------------------------------------------------------------------------------------------


def _lost_offsets(
    hand_over: HandOver, tables: Tables, group: Group, stale: Verdicts, rollback: Verdicts
) -> Iterator[tuple[str, Finding | None, Finding]]:
    """Yield what went back: the kind of table, the finding that it was taken over so (or ``None``), the rollback
    finding. Nothing counts as kept if the first copy may show offsets that consumers have committed again."""
    for kind in OFFSETS:
        before = _at_the_end(hand_over, tables, kind)
        if before is None:
            rollback.why.append(f"no copy of the acting master's {kind} table")
            continue
        verdicts = stale if kind in hand_over.taken else rollback
        losses = _losses(hand_over, tables, group, kind, before)
        if losses is None and before.offsets:
            verdicts.why.append(f"no copy of the {kind} table of the one that took over")
            continue
        if not losses and before.offsets and not _seen_in_time(hand_over, tables, group, kind):
            verdicts.why.append(f"the first copy of the {kind} table came after it was written anew")
            continue
        if not losses:
            verdicts.conforms += 1
            continue
        for loss in losses:
            lower = _offset_finding(hand_over, kind, loss, stale.rule) if verdicts is stale else None
            went_back = _offset_finding(hand_over, kind, loss, rollback.rule)
            for count in {RuleId.METADATA_ROLLBACK: rollback, verdicts.rule: verdicts}.values():
                count.count(went_back.certainty, f"whether the last copy of the {kind} table is what was read")
            yield kind, lower, went_back


def _seen_in_time(hand_over: HandOver, tables: Tables, group: Group, kind: str) -> bool:
    """Return True when copies show the offsets with which the new master began, before it wrote new commits."""
    _, exact = _stored(hand_over, tables, kind)
    if exact and _takes_nothing(hand_over):
        return True
    after = _first_after(hand_over, tables, group, kind)
    begin = since(hand_over.returned) if hand_over.returned is not None else hand_over.end
    flush = group.timing.us(FLUSHES[kind]) + Timeout.FLUSH_TAKES.us
    # A master that never stopped shows nothing before its first flush after the hand-over.
    wait = flush if hand_over.returned is not None else 2 * flush
    return after is not None and group.clocks.elapsed(begin, after.taken)[0] <= wait


def _at_the_end(hand_over: HandOver, tables: Tables, kind: str) -> Table | None:
    """Return the acting master's table when it handed over. A later copy still shows it if its version was made before
    the end and is not the new master's: copying a table from the master copies its version
    (SlaveSynchronize#syncConsumerOffset)."""
    source, end = hand_over.left.source_node, hand_over.end
    earlier, later = tables.before(source, kind, end), tables.after(source, kind, Moment(end.by, end.by, end.source))
    if (
        kind in hand_over.taken
        or later is None
        or later.version[1] is None
        or later.taken.at > end.by + Timeout.STILL_OWN_TABLE.us
    ):
        return earlier
    new = [tables.after(hand_over.source, kind, end), tables.before(hand_over.source, kind, end)]
    if later.version[1] * 1000 <= end.by and all(table is None or table.version != later.version for table in new):
        return later
    return earlier


def _losses(hand_over: HandOver, tables: Tables, group: Group, kind: str, before: Table) -> list[Loss] | None:
    """Return what went back, by topic and group (all delay levels together); ``None``: it cannot be known."""
    after = _first_after(hand_over, tables, group, kind)
    stored, exact = _stored(hand_over, tables, kind)
    if after is None and not (stored is not None and exact and _takes_nothing(hand_over)):
        return None
    lost: dict[tuple[str | None, str | None, bool], Loss] = {}
    for key, entry in sorted(before.offsets.items(), key=lambda item: tuple(str(part) for part in item[0])):
        now = None if after is None else after.offset(key)
        behind = is_larger(entry.offset, now)
        began = _began_with(hand_over, kind, behind, exact)
        shown = _lowest(key, [after if behind else None, stored if began else None])
        missing = shown is None and now is None and (after is not None or began)
        missing |= shown is None and began and stored is not None
        if not missing and (shown is None or shown[0] >= entry.offset):
            continue
        topic, consumers, _ = key
        loss = lost.setdefault((topic, consumers, missing), Loss())
        loss.entries.append((entry, shown[0], shown[1].offsets.get(key)) if shown else (entry, None, None))
        loss.proven &= not missing and (behind or exact)
        loss.healed &= now is not None and not behind
    return sorted(lost.values(), key=lambda loss: -loss.size)


def _began_with(hand_over: HandOver, kind: str, behind: bool, exact: bool) -> bool:
    """Return True when the stored table shows where the new master began."""
    if kind in hand_over.taken:
        return False
    return exact if behind else _takes_nothing(hand_over)


def _lowest(key: Key, tables: Iterable[Table | None]) -> tuple[int, Table] | None:
    """Return the least offset of the tables for ``key``, with its table."""
    known = ((table.offset(key), table) for table in tables if table is not None)
    return min(
        ((offset, table) for offset, table in known if offset is not None), key=lambda pair: pair[0], default=None
    )


def _takes_nothing(hand_over: HandOver) -> bool:
    """Return True when the log shows that the new master cannot have taken anything over."""
    if hand_over.returned is None:
        return not hand_over.restarted
    return hand_over.returned.cause in {*_WITHOUT, NO_MASTER}


def _first_after(hand_over: HandOver, tables: Tables, group: Group, kind: str) -> Table | None:
    """Return the first table of the new master. One that never stopped must have written its file since the hand-over.
    If it took nothing over, a copy of the second in which it began to serve shows what it began with, on either side of
    that line."""
    if hand_over.returned is not None:
        served = hand_over.returned.since
        if not _takes_nothing(hand_over):  # copies have the time of the collector's clock
            served = hand_over.returned.since_by + hand_over.returned.bound_ms * US_PER_MS
        return tables.after(hand_over.source, kind, Moment(served, served, hand_over.source))
    end, wait = hand_over.end, group.timing.us(FLUSHES[kind]) + Timeout.FLUSH_TAKES.us
    return tables.after(hand_over.source, kind, Moment(end.at + wait, end.by + wait, end.source))


def _stored(hand_over: HandOver, tables: Tables, kind: str) -> tuple[Table | None, bool]:
    """Return the table with which the new master began, and whether that is certain.

    It begins with its own file, as its last process left it (ConfigManager#load). A copy from before the death of that
    process may be older than the file. A master that never stopped goes on with its own table, of which only a copy
    from the acting period tells anything.
    """
    if hand_over.returned is None:
        found = tables.before(hand_over.source, kind, hand_over.end)
        acting = Moment(hand_over.left.since_by, hand_over.left.since_by, hand_over.left.source_node)
        meanwhile = found is not None and tables.in_order(acting, found.taken)
        return found if meanwhile else None, False
    if hand_over.started is None:
        return None, False
    start = Moment(hand_over.started, hand_over.started, hand_over.source)
    found = tables.before(hand_over.source, kind, start)
    exact = found is not None and hand_over.died is not None and found.taken.at >= hand_over.died
    return found, exact


def _offset_finding(hand_over: HandOver, kind: str, loss: Loss, rule: RuleId) -> Finding:
    first = loss.entries[0][0]
    farthest = max(loss.entries, key=lambda item: item[0].offset - (item[1] or 0))
    of = f" of {first.consumer_group} on {first.topic}" if first.consumer_group else ""
    unit = "queue" if first.consumer_group else "level"
    listed = [
        f"{unit} {entry.queue_id}: {entry.offset} to {'none' if after is None else after}"
        for entry, after, _ in loss.entries
    ]
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    healed = "; by the first copy of its file consumers had committed their offsets again" if loss.healed else ""
    repeated = "delivered" if kind == "delay_offset" else "consumed"
    verb = "went back" if rule == RuleId.METADATA_ROLLBACK else "were taken over although they were lower"
    return hand_over.finding(
        rule,
        kind,
        first.topic,
        first.consumer_group,
        *(["none"] if loss.missing else []),
        severity=INFO if loss.healed else WARNING,
        certainty=DEFINITE if loss.proven else POSSIBLE,
        summary=f"{OFFSETS[kind]}{of} {verb} when {hand_over.name} took over from the acting "
        f"master {hand_over.left_name} ({hand_over.how(kind)}): {', '.join(listed[:SHOWN])}{more}. "
        f"{_then(loss, repeated)}{healed}.",
        evidence=_evidence(hand_over, [item for entry, _, shown in loss.entries[:SHOWN] for item in (entry, shown)]),
        messages_repeated=None if loss.missing else loss.size,
        offset_before=farthest[0].offset,
        offset_after=farthest[1],
    )


def _then(loss: Loss, repeated: str) -> str:
    """Return what consumers do then. One without an offset gets 0 while the broker has that message in memory, else
    none (``ConsumerManageProcessor#queryConsumerOffset``)."""
    if loss.missing:
        return "Its consumers begin at the first message or, by their own setting (consumeFromWhere), at the last one"
    return f"{_so_many_messages(loss.size)} may be {repeated} again"


# -- versions ----------------------------------------------------------------------------------------------------


def _by_version(hand_over: HandOver, tables: Tables, stale: Verdicts) -> Iterator[tuple[str, Finding]]:
    """Yield findings by table: a table is taken over only if its version is not smaller than the own one."""
    taken: set[str] = set()
    for fact in hand_over.reversed:
        if fact.address is not None and fact.address == hand_over.left.address:
            for kind in sorted(OFFSETS):
                yield from _sync_by_version(hand_over, tables, stale, fact, kind, kind in taken)
        taken |= set(fact.tables)


def _sync_by_version(
    hand_over: HandOver, tables: Tables, stale: Verdicts, sync: ReverseSynced, kind: str, replaced: bool
) -> Iterator[tuple[str, Finding]]:
    """Yield the finding of one reverse sync, if the version that was read is smaller. A slave copies nothing while it
    acts, so its versions only grow: two copies bound the version that was read."""
    left = hand_over.left
    held, exact = _stored(hand_over, tables, kind)
    least, most = (look(left.source_node, kind, since(sync)) for look in (tables.before, tables.after))
    if most is not None and not _made_while_acting(tables.clocks, hand_over, most, least):
        most = None
    took = kind in sync.tables
    if replaced or held is None or not exact:
        stale.why.append("no copy of the table that the returning master compared with the acting one's")
        return
    older = most is not None and not is_taken_over(held.version, most.version)
    not_older = least is not None and is_taken_over(held.version, least.version)
    if took and older and most is not None:
        stale.violates += 1
        yield kind, _older_finding(hand_over, kind, held, most)
    elif not_older if took else older:
        stale.conforms += 1
    else:
        stale.why.append("the version that the acting master had, or the line that it was taken over, is not known")


def _made_while_acting(clocks: Clocks, hand_over: HandOver, table: Table, before: Table | None) -> bool:
    """Return True when a copy shows a version that the acting master made, or had before it acted. A copy after the
    hand-over may have the new master's version."""
    if before is not None and before.version == table.version:
        return True
    made_ms = table.version[1]
    since_us, by_us = clocks.reading(since(hand_over.left))[0], clocks.reading(hand_over.end)[1]
    return made_ms is not None and since_us <= made_ms * 1000 <= by_us


def _older_finding(hand_over: HandOver, kind: str, held: Table, read: Table) -> Finding:
    versions = " and ".join(
        f"{whose} state version {state}, counter {counter}, timestamp {timestamp}"
        for whose, (state, counter, timestamp) in (("own", order(held.version)), ("taken", order(read.version)))
    )
    return hand_over.finding(
        RuleId.STALE_REVERSE_SYNC,
        kind,
        "version",
        severity=WARNING,
        certainty=DEFINITE,
        summary=f"{hand_over.name} took over the {OFFSETS[kind].lower()} of the acting master "
        f"{hand_over.left_name} although their version is smaller than its own: {versions}.",
        evidence=[*_evidence(hand_over, []), held.taken.event_id, read.taken.event_id],
    )


# -- topics and groups -------------------------------------------------------------------------------------------


def _lost_names(hand_over: HandOver, tables: Tables, group: Group, rollback: Verdicts) -> Iterator[Finding]:
    """Yield topics and groups created on the acting master and missing later: no reverse sync takes them."""
    left = hand_over.left
    for kind, noun in NAMES.items():
        at_end = tables.before(left.source_node, kind, hand_over.end)
        at_begin = tables.before(left.source_node, kind, since(left))
        now = tables.last(hand_over.source, kind)
        if at_end is None or at_begin is None or now is None or not tables.seen_after(hand_over.source, hand_over.end):
            rollback.why.append(f"no copies of the {kind} tables of both brokers around the hand-over")
            continue
        lost = sorted(name for name in at_end.names - at_begin.names - now.names if not name.startswith(_OWN_NAMES))
        if not lost:
            rollback.conforms += 1
            continue
        rollback.violates += 1
        dropped = [
            fact
            for fact in group.of(NameDropped)
            if fact.source_node == left.source_node
            and fact.since >= hand_over.end.at
            and (fact.topic if kind == "topic_config" else fact.consumer_group) in lost
        ]
        yield _name_finding(hand_over, kind, noun, lost, [at_begin, at_end, now], dropped)


def _name_finding(
    hand_over: HandOver, kind: str, noun: str, lost: list[str], shown: list[Table], dropped: list[NameDropped]
) -> Finding:
    made = f"{len(lost)} {noun}{'' if len(lost) == 1 else 's'} made"
    listed = ", ".join(lost[:SHOWN]) + (f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else "")
    copied = "dropped" if dropped else "drops"
    return hand_over.finding(
        RuleId.METADATA_ROLLBACK,
        kind,
        severity=WARNING,
        certainty=DEFINITE,
        summary=f"{made} on the acting master {hand_over.left_name} went missing: "
        f"{hand_over.name}, which took over, does not have {listed}. The former acting master "
        f"{copied} what the new one lacks with its next copy of the tables.",
        evidence=[
            hand_over.left.until_event,
            *(table.taken.event_id for table in shown),
            *(fact.since_event for fact in dropped[:SHOWN]),
        ],
    )


# -- pre-online --------------------------------------------------------------------------------------------------


def _skipped(hand_over: HandOver, group: Group, *, lost: bool, verdicts: Verdicts) -> Iterator[Finding]:
    """Yield ``PRE_ONLINE_SKIPPED``: a broker served while another one acted, without asking it. Reasons: skipPreOnline,
    totalReplicas=1 (BrokerController#start), or name servers that did not show the other one
    (BrokerPreOnlineService)."""
    left, returned = hand_over.left, hand_over.returned
    if returned is None:
        return
    if returned.cause is None:
        verdicts.why.append("the log does not say how the returning broker came online")
        return
    if returned.cause not in _WITHOUT:
        verdicts.conforms += 1
        return
    least, _ = group.clocks.elapsed(since(left), since(returned))
    certainty = DEFINITE if least > 0 else POSSIBLE
    verdicts.count(certainty, "whether the broker returned after the other one began to act the clocks do not tell")
    went_back = "other findings tell what went back" if lost else "nothing is seen to have gone back"
    yield hand_over.finding(
        RuleId.PRE_ONLINE_SKIPPED,
        "",
        severity=WARNING if lost else INFO,
        certainty=certainty,
        when=(returned.since, max(returned.since, hand_over.end.at)),
        summary=f"{hand_over.name} came back {_WITHOUT[returned.cause]} while "
        f"{hand_over.left_name} acted as master, so nothing was taken over from it; {went_back}.",
        evidence=_evidence(hand_over, []),
    )


# -- parts -------------------------------------------------------------------------------------------------------


def _evidence(hand_over: HandOver, entries: Iterable[Fact | None]) -> list[str | None]:
    left, returned = hand_over.left, hand_over.returned
    found = [left.since_event, left.until_event, *(returned.evidence if returned else ())]
    found += [event for fact in hand_over.reversed for event in fact.evidence]
    return [*found, *(entry.since_event for entry in entries if entry is not None)]


def _implied(finding: Finding, by: Finding | None) -> Finding:
    return replace(finding, implied_by=None if by is None else by.finding_id)


def _so_many_messages(number: int) -> str:
    return "One message" if number == 1 else f"Up to {number} messages"


def _version(fact: TableCopied) -> Version:
    return fact.state_version, fact.version_timestamp, fact.counter
