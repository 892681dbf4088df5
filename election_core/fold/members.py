"""Whose line it is: logs of several members in one source, as a collector or a shared folder merges them.

Lines of ZooKeeper, etcd and DLedger name the member that wrote them. Where two members speak in the same time, each is
read by itself. Where a machine is given to another member, the new one speaks after the old one, and the old one no
more: that is one log, one life after the other.

A broker of the controller mode and a controller on JRaft name themselves in few of their lines. Where such a name comes
back after another one, and no process has started in between, the log is that of several, and most of its lines could
be anybody's. So it is where a broker becomes the slave of an address under which it was master in the same life, and
where slaves may act as master, in which mode a broker keeps its configured id: the id changes and no process was told
to stop, or the process starts at one address, at another, and at the first again.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise

from election_replay.election_core.fold.declared import Deed, kinds_that
from election_replay.election_core.fold.identity import ELECTED_MODE_SETTINGS, Identity, NamedId
from election_replay.election_core.fold.process_runs import Incarnation, incarnation_at
from election_replay.election_core.model.fold_event import FoldEvent

_NAME_SPEAKER = ("CTL_APPLIED", "CTL_CANDIDATE", "CTL_FOLLOWER", "CTL_LEADER_BEGIN", "DL_", "ETCD_", "RAFT_", "ZK_")
"""How the kinds begin whose ``node`` is the member that wrote the line."""
_NAME_ANOTHER = frozenset({"DL_TAKE_DONE"})
"""The candidate that was told to take the leadership over."""
_DECLARED = kinds_that(Deed.NAMES_WRITER)


def speaker_of(event: FoldEvent) -> str | None:
    """The member that wrote the line, where the line names it."""
    return named_speaker(event.kind, event.node)


def named_speaker(kind: str, node: str | None) -> str | None:
    """The member that wrote a line of this kind which names this ``node``, where that is so."""
    return node if _names_speaker(kind) else None


@cache
def _names_speaker(kind: str) -> bool:
    return (kind.startswith(_NAME_SPEAKER) and kind not in _NAME_ANOTHER) or kind in _DECLARED


def name_at(time: int, names: Sequence[tuple[int, str]], incarnations: list[Incarnation]) -> str | None:
    """The name that a process gives itself in the life of a time, or had given itself before: a machine may change
    hands. Each of ``names`` comes with the time of the first line that has it."""
    life = incarnation_at(incarnations, time)
    known = [name for at, name in names if incarnation_at(incarnations, at) <= life]
    return known[-1] if known else names[0][1] if names else None


def interleaved_names(named: Iterable[NamedId], incarnations: list[Incarnation]) -> tuple[NamedId, ...]:
    """A first line of a member, one of another, and one of the first again in the same life of the process.

    Empty where no name comes back but with a start.
    """
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
    """Lines of several brokers of a set in which slaves act as master; empty where one may have written all.

    In that mode a process keeps the id that it was configured with, and one that was not told to stop does not come
    back with another. Only where the log shows the mode, and no other beside it: a broker that is elected has the id 0
    as master, and its own again after that (``BrokerController#changeToMaster``).
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
    """A start at one address, one at another, and one at the first again; a machine that moves does not come back."""
    first: dict[str, NamedId] = {}
    for before, boot in pairwise(sorted(boots, key=lambda line: line.at)):
        first.setdefault(before.node, before)
        if boot.node in first and boot.node != before.node:
            return first[boot.node], before, boot
    return ()


def slave_of_itself(identity: Identity, incarnations: list[Incarnation]) -> tuple[NamedId, ...]:
    """The line of a master, and that of its slave, in one life of a process; empty where none is slave of itself."""
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
