"""Logs of several members in one source, as a collector or a shared folder merges them.

Lines of ZooKeeper, etcd and DLedger name the member that wrote them. Where two members write in the same time, each is
read by itself. Where a machine is given to another member, the new one writes after the old one, and the old one no
more: that is one log with one process run after the other.

A broker in controller mode and a controller on JRaft name themselves in few lines. Where such a name returns after
another one without a process start in between, the log holds several members, and most of its lines cannot be
attributed. The same follows where a broker becomes the slave of an address under which it was master in the same run.
It also follows in the mode in which slaves may act as master and brokers keep their configured id: if the id changes
without a stop, or if the process starts at one address, at another, and at the first again.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from election_replay.election_core.fold.declared import Deed, kinds_that
from election_replay.election_core.fold.identity import (
    ELECTED_MODE_SETTINGS,
    NAMES_BROKER_ID,
    NAMES_CONTROLLER,
    Identity,
    NamedId,
)
from election_replay.election_core.fold.process_runs import Incarnation, incarnation_at
from election_replay.election_core.model.fold_event import FoldEvent

_NAME_SPEAKER = kinds_that(Deed.NAMES_WRITER)


def speaker_of(event: FoldEvent) -> str | None:
    """Return the member that wrote the line; ``None`` where the line does not name it."""
    return named_speaker(event.kind, event.node)


def named_speaker(kind: str, node: str | None) -> str | None:
    """Return ``node`` if lines of this kind name their writer; else ``None``."""
    return node if kind in _NAME_SPEAKER else None


def named_writer(kind: str, node: str | None) -> str | None:
    """Return ``node`` if lines of this kind name their writer, or are those in which a broker or controller names
    itself; else ``None``."""
    return node if kind in NAMES_BROKER_ID | NAMES_CONTROLLER else named_speaker(kind, node)


def name_at(time: int, names: Sequence[tuple[int, str]], incarnations: list[Incarnation]) -> str | None:
    """Return the name that a process gives itself in the run of a time, or the last one before: a machine may change
    hands. Each of ``names`` has the time of the first line with it."""
    life = incarnation_at(incarnations, time)
    known = [name for at, name in names if incarnation_at(incarnations, at) <= life]
    return known[-1] if known else names[0][1] if names else None


def interleaved_names(named: Iterable[NamedId], incarnations: list[Incarnation]) -> tuple[NamedId, ...]:
    """Return a line of a member, one of another, and one of the first again within one process run. Empty where every
    name that returns does so with a start."""
    in_order = sorted(named, key=lambda line: line.at)
    first: dict[str, NamedId] = {}
    for before, line in pairwise(in_order):
        first.setdefault(before.node, before)
        known = first.get(line.node)
        comes_back = known is not None and line.node != before.node
        if known and comes_back and incarnation_at(incarnations, before.at) == incarnation_at(incarnations, line.at):
            return known, before, line
    return ()


def set_in_one_log(identity: Identity, incarnations: list[Incarnation]) -> tuple[NamedId, ...]:
    """Return lines of several brokers of a set in which slaves act as master; empty where one broker may have written
    all.

    In that mode a process keeps its configured id, and returns with another one only after a stop. This holds only if
    the log shows that mode and no other: an elected broker has the id 0 as master, and its own again after that
    (``BrokerController#changeToMaster``).
    """
    elected = identity.ids or any(identity.setting(name) == "true" for name in ELECTED_MODE_SETTINGS)
    if elected or identity.setting("enableSlaveActingMaster") != "true":
        return ()
    in_order = sorted(identity.configured_ids, key=lambda line: line.at)
    for before, line in pairwise(in_order):
        life = incarnation_at(incarnations, before.at)
        ended = bool(incarnations) and incarnations[life].stop is not None
        if before.node != line.node and (not ended or incarnation_at(incarnations, line.at) == life):
            return before, line
    return starts_again_elsewhere(identity.boots)


def starts_again_elsewhere(boots: Iterable[NamedId]) -> tuple[NamedId, ...]:
    """Return starts at one address, at another, and at the first again: a machine that moves does not come back."""
    first: dict[str, NamedId] = {}
    for before, boot in pairwise(sorted(boots, key=lambda line: line.at)):
        first.setdefault(before.node, before)
        if boot.node in first and boot.node != before.node:
            return first[boot.node], before, boot
    return ()


def slave_of_itself(identity: Identity, incarnations: list[Incarnation]) -> tuple[NamedId, ...]:
    """Return a master's line and its slave's line within one process run; empty where no broker is its own slave."""
    masters = {
        (incarnation_at(incarnations, taken.at), taken.address): taken
        for taken in identity.roles
        if taken.kind == "BRK_MASTER_BEGIN"
    }
    for taken in identity.roles:
        master = masters.get((incarnation_at(incarnations, taken.at), taken.peer_address))
        if master is not None and taken.kind == "BRK_SLAVE_BEGIN" and None not in (taken.node, taken.peer):
            named = ((master, taken.peer or ""), (taken, taken.node or ""))
            return tuple(NamedId(line.at, line.by, node, line.event_id) for line, node in named)
    return ()
