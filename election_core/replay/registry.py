"""The registry of protocols. A new protocol is one folder in ``protocols/`` and one row here. A row names the state
machines that fold the protocol's lines, the kinds of facts that they make, the rules that judge the facts of a group,
the causal pairs between its members' clocks, and its periodic lines."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType

from election_replay.election_core.fold.declared import system_that_writes
from election_replay.election_core.fold.identity import BROKER, SNAPSHOTS, process_of
from election_replay.election_core.fold.periodic import Periodic
from election_replay.election_core.judge.clock import Clocks, Message
from election_replay.election_core.model import facts as shared_facts
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.introductions import Introduce
from election_replay.election_core.model.rows import Row
from election_replay.election_core.protocols.acting_master import causality as acting_master_causality
from election_replay.election_core.protocols.acting_master import facts as acting_master_facts
from election_replay.election_core.protocols.acting_master import log as acting_master_log
from election_replay.election_core.protocols.acting_master import rules as acting_master
from election_replay.election_core.protocols.broker_identity import facts as broker_identity_facts
from election_replay.election_core.protocols.broker_identity import log as broker_identity_log
from election_replay.election_core.protocols.broker_identity import rules as broker_identity
from election_replay.election_core.protocols.controller import causality as controller_causality
from election_replay.election_core.protocols.controller import controller_log as controllers_log
from election_replay.election_core.protocols.controller import facts as controller_facts
from election_replay.election_core.protocols.controller import log as controller_log
from election_replay.election_core.protocols.controller import rules as controller
from election_replay.election_core.protocols.described import log as described_log
from election_replay.election_core.protocols.described import rules as described
from election_replay.election_core.protocols.dledger import causality as dledger_causality
from election_replay.election_core.protocols.dledger import facts as dledger_facts
from election_replay.election_core.protocols.dledger import log as dledger_log
from election_replay.election_core.protocols.dledger import rules as dledger
from election_replay.election_core.protocols.highest_id import causality as highest_id_causality
from election_replay.election_core.protocols.highest_id import facts as highest_id_facts
from election_replay.election_core.protocols.highest_id import log as highest_id_log
from election_replay.election_core.protocols.highest_id import rules as highest_id
from election_replay.election_core.protocols.highest_id.tables import BULLY, RING
from election_replay.election_core.protocols.kraft import causality as kraft_causality
from election_replay.election_core.protocols.kraft import facts as kraft_facts
from election_replay.election_core.protocols.kraft import partition_log, partition_rules, quorum_log, quorum_rules
from election_replay.election_core.protocols.log_quality import facts as log_quality_facts
from election_replay.election_core.protocols.log_quality import log as log_quality_log
from election_replay.election_core.protocols.log_quality import rules as log_quality
from election_replay.election_core.protocols.metadata import causality as metadata_causality
from election_replay.election_core.protocols.metadata import facts as metadata_facts
from election_replay.election_core.protocols.metadata import log as metadata_log
from election_replay.election_core.protocols.metadata import rules as metadata
from election_replay.election_core.protocols.order_lock import facts as order_lock_facts
from election_replay.election_core.protocols.order_lock import log as order_lock_log
from election_replay.election_core.protocols.order_lock import rules as order_lock
from election_replay.election_core.protocols.raft import causality as raft_causality
from election_replay.election_core.protocols.raft import facts as raft_facts
from election_replay.election_core.protocols.raft import jraft_log
from election_replay.election_core.protocols.raft import log as raft_log
from election_replay.election_core.protocols.raft import rules as raft
from election_replay.election_core.protocols.raft_family import facts as raft_family_facts
from election_replay.election_core.protocols.redis import causality as redis_causality
from election_replay.election_core.protocols.redis import facts as redis_facts
from election_replay.election_core.protocols.redis import kin as redis_kin
from election_replay.election_core.protocols.redis import rules as redis
from election_replay.election_core.protocols.redis import sentinel_log, server_log
from election_replay.election_core.protocols.writes import facts as writes_facts
from election_replay.election_core.protocols.writes import log as writes_log
from election_replay.election_core.protocols.writes import rules as writes
from election_replay.election_core.protocols.zab import causality as zab_causality
from election_replay.election_core.protocols.zab import facts as zab_facts
from election_replay.election_core.protocols.zab import log as zab_log
from election_replay.election_core.protocols.zab import rules as zab
from election_replay.election_core.replay.protocol_log import Fold


def each_stream(stream: str) -> str | None:
    """Return the stream itself: one state machine per stream."""
    return stream


def whole_broker(stream: str) -> str | None:
    """Return one name for all streams of a broker, ``None`` for others: one state machine per broker."""
    return "broker.log" if process_of(stream) == BROKER else None


def broker_or_stream(stream: str) -> str | None:
    """Return one name for all streams of a broker, and the stream itself for others."""
    return whole_broker(stream) or stream


def whole_process(stream: str) -> str | None:
    """Return one name for all streams of a process, whatever its files are called."""
    system = system_that_writes(stream)
    one_file = None if system is None or system.process is None else system.stream
    return one_file or broker_or_stream(stream)


def broker_and_snapshots(stream: str) -> str | None:
    """Return one name for all streams of a broker and the copies of its metadata files, ``None`` for others."""
    return "metadata" if process_of(stream) in {BROKER, SNAPSHOTS} else None


Judge = Callable[[list[Fact], Clocks], Iterator[Row]]
CausalPairs = Callable[[Iterable[Fact]], Iterator[Message]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """One protocol. ``name`` is the ``protocol`` of its facts and rows.

    ``causal_pairs`` returns pairs of lines on two machines of which one caused the other, from facts of this protocol
    or of its kinds; with ``ties_others`` also from facts of other protocols. ``periodic`` are its kinds of periodic
    lines. ``introducing`` are the kinds of lines from which ``introduce`` finds, over all logs of a cluster, the member
    that each log speaks for.
    """

    name: str
    judge: Judge
    folds: tuple[Fold, ...] = ()
    facts: tuple[type[Fact], ...] = ()
    causal_pairs: CausalPairs | None = None
    ties_others: bool = False
    periodic: Mapping[str, Periodic] = field(default_factory=dict)
    introducing: frozenset[str] = frozenset()
    introduce: Introduce | None = None


def _kinds_in(module: ModuleType) -> tuple[type[Fact], ...]:
    """Return the kinds of facts that a module defines, in its order."""
    classes = (kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Fact))
    return tuple(kind for kind in classes if kind.kind and kind.__module__ == module.__name__)


PROTOCOLS: tuple[Protocol, ...] = (
    Protocol(
        name=dledger.PROTOCOL,
        folds=(
            Fold(
                dledger_log.DledgerLog,
                dledger_log.KINDS,
                broker_or_stream,
                tells_roles=dledger_log.TELLS_ROLES,
            ),
        ),
        facts=(*_kinds_in(raft_family_facts), *_kinds_in(dledger_facts)),
        judge=dledger.judge,
        causal_pairs=dledger_causality.causal_pairs,
        ties_others=True,  # its pairs of leaders and followers hold in every Raft
        periodic=dledger_log.PERIODIC,
    ),
    Protocol(
        name=raft.PROTOCOL,
        folds=(
            Fold(jraft_log.JraftLog, jraft_log.KINDS, each_stream),
            Fold(jraft_log.JraftLibraryLog, jraft_log.LIBRARY_KINDS, each_stream),
            Fold(jraft_log.JraftElections, jraft_log.ELECTION_KINDS, each_stream),
            Fold(raft_log.RaftLog, raft_log.KINDS, each_stream),
        ),
        facts=_kinds_in(raft_facts),
        judge=raft.judge,
        causal_pairs=raft_causality.causal_pairs,
    ),
    Protocol(
        name=zab.PROTOCOL,
        folds=(Fold(zab_log.ZabLog, zab_log.KINDS, each_stream),),
        facts=_kinds_in(zab_facts),
        judge=zab.judge,
        causal_pairs=zab_causality.causal_pairs,
    ),
    Protocol(
        name=quorum_log.PROTOCOL,
        folds=(Fold(quorum_log.QuorumLog, quorum_log.KINDS, whole_process, tells_roles=quorum_log.TELLS_ROLES),),
        judge=quorum_rules.judge,
        causal_pairs=kraft_causality.causal_pairs,
    ),
    Protocol(
        name=partition_log.PROTOCOL,
        folds=(
            Fold(
                partition_log.PartitionLog,
                partition_log.KINDS,
                whole_process,
                tells_roles=partition_log.TELLS_ROLES,
            ),
        ),
        facts=_kinds_in(kraft_facts),
        judge=partition_rules.judge,
    ),
    *(
        Protocol(
            name=table.protocol,
            folds=(
                Fold(
                    partial(highest_id_log.CoordinatorLog, table.protocol, table.moves),
                    frozenset(table.moves),
                    each_stream,
                ),
            ),
            facts=_kinds_in(highest_id_facts),
            judge=partial(highest_id.judge, table),
            causal_pairs=highest_id_causality.causal_pairs,
        )
        for table in (BULLY, RING)
    ),
    Protocol(
        name=controller.PROTOCOL,
        folds=(
            Fold(
                controller_log.BrokerLog,
                controller_log.BROKER_KINDS,
                whole_broker,
                tells_roles=controller_log.TELLS_ROLES,
            ),
            Fold(
                controllers_log.ControllerLog,
                controllers_log.CONTROLLER_KINDS,
                each_stream,
                tells_roles=controllers_log.TELLS_ROLES,
            ),
        ),
        facts=_kinds_in(controller_facts),
        judge=controller.judge,
        causal_pairs=controller_causality.causal_pairs,
        periodic=controller_log.PERIODIC,
    ),
    Protocol(
        name=metadata.PROTOCOL,
        folds=(Fold(metadata_log.MetadataLog, metadata_log.KINDS, broker_and_snapshots),),
        facts=_kinds_in(metadata_facts),
        judge=metadata.judge,
        causal_pairs=metadata_causality.causal_pairs,
    ),
    Protocol(
        name=order_lock.PROTOCOL,
        folds=(Fold(order_lock_log.LockLog, order_lock_log.KINDS, whole_broker),),
        facts=_kinds_in(order_lock_facts),
        judge=order_lock.judge,
    ),
    Protocol(
        name=broker_identity.PROTOCOL,
        folds=(
            Fold(broker_identity_log.BrokerLog, broker_identity_log.BROKER_KINDS, whole_broker),
            Fold(broker_identity_log.ControllerLog, broker_identity_log.CONTROLLER_KINDS, each_stream),
        ),
        facts=_kinds_in(broker_identity_facts),
        judge=broker_identity.judge,
    ),
    Protocol(
        name=acting_master.PROTOCOL,
        folds=(
            Fold(
                acting_master_log.BrokerLog,
                acting_master_log.BROKER_KINDS,
                whole_broker,
                tells_roles=acting_master_log.TELLS_ROLES,
            ),
            Fold(acting_master_log.NameServerLog, acting_master_log.NAME_SERVER_KINDS, each_stream),
        ),
        facts=_kinds_in(acting_master_facts),
        judge=acting_master.judge,
        causal_pairs=acting_master_causality.causal_pairs,
        periodic=acting_master_log.PERIODIC,
    ),
    Protocol(
        name=writes.PROTOCOL,
        folds=(Fold(writes_log.WritesLog, writes_log.KINDS, whole_broker, tells_roles=frozenset({writes_log.DISK})),),
        facts=_kinds_in(writes_facts),
        judge=writes.judge,
    ),
    Protocol(
        name=redis.PROTOCOL,
        folds=(
            Fold(server_log.ServerLog, server_log.KINDS, each_stream),
            Fold(sentinel_log.SentinelLog, sentinel_log.SENTINEL_KINDS, each_stream),
        ),
        facts=_kinds_in(redis_facts),
        judge=redis.judge,
        causal_pairs=redis_causality.causal_pairs,
        introducing=redis_kin.KINDS,
        introduce=redis_kin.introduce,
    ),
    *(
        Protocol(
            name=protocol,
            folds=(Fold(partial(described_log.DescribedLog, protocol), kinds, each_stream),),
            judge=judge,
        )
        for protocol, kinds, judge in (
            (described_log.PROTOCOL, described_log.KINDS, described.judge),
            (described_log.HASHICORP, described_log.HASHICORP_KINDS, described.judge_raft),
        )
    ),
    # Log quality has no fold of its own: source_fold runs it beside every protocol.
    Protocol(name=log_quality.PROTOCOL, facts=_kinds_in(log_quality_facts), judge=log_quality.judge),
)

FOLDS: tuple[Fold, ...] = tuple(fold for protocol in PROTOCOLS for fold in protocol.folds)
"""The state machines of all protocols."""

PROTOCOL_OF: tuple[str, ...] = tuple(protocol.name for protocol in PROTOCOLS for _ in protocol.folds)
"""The protocol of each entry of :data:`FOLDS`."""

FOLDS_OF: Mapping[str, tuple[int, ...]] = {
    kind: tuple(number for number, fold in enumerate(FOLDS) if kind in fold.kinds)
    for kind in frozenset[str]().union(*(fold.kinds for fold in FOLDS))
}
"""The indexes in :data:`FOLDS` of the state machines that read a kind of events."""

FACT_KINDS: Mapping[str, type[Fact]] = {
    kind.kind: kind for kind in (*_kinds_in(shared_facts), *(kind for protocol in PROTOCOLS for kind in protocol.facts))
}
"""The class of each kind of fact."""

PERIODIC: Mapping[str, Periodic] = {
    kind: periodic for protocol in PROTOCOLS for kind, periodic in protocol.periodic.items()
}
"""Kinds of lines that repeat while nothing happens."""

RHYTHM_KINDS: frozenset[str] = frozenset(kind for kind, periodic in PERIODIC.items() if periodic.rhythm)
"""Periodic kinds that come every few seconds while a process runs."""

PERIODIC_FIELDS: tuple[str, ...] = tuple(sorted({name for periodic in PERIODIC.values() for name in periodic.reads}))
"""The fields that the fold reads of periodic lines."""

LINE_KINDS: frozenset[str] = frozenset().union(log_quality_log.KINDS, *(fold.kinds for fold in FOLDS))
"""The kinds of events that some protocol reads."""
