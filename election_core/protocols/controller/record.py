"""The controllers' record of a broker set, from all their logs: its elections and its SyncStateSets."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from election_replay.election_core.fold.roles import LEADER
from election_replay.election_core.judge.group import Group, by_address
from election_replay.election_core.model.facts import Fact, Role
from election_replay.election_core.protocols.controller import decision_rules
from election_replay.election_core.protocols.controller.checks import ELECTED, NOBODY_ELECTED
from election_replay.election_core.protocols.controller.controller_log import SET_CHANGED
from election_replay.election_core.protocols.controller.decision_rules import SetVersion
from election_replay.election_core.protocols.controller.facts import Decision, RegisterCode, SetRefused


def named(facts: list[Fact]) -> list[Fact]:
    """Fill in broker ids in the facts, by the addresses that other members know.

    That concerns brokers whose own log lacks their id, and facts that name a broker by its address, as releases up to
    5.1.0 do. Where nobody knows the id, the address stays the name.
    """
    ids = by_address(facts)
    addresses: dict[str, set[str]] = {}
    for fact in facts:
        if isinstance(fact, Role) and fact.node is None and fact.address is not None:
            addresses.setdefault(fact.source_node, set()).add(fact.address)
    names = {source: {ids.get(address, address) for address in of_source} for source, of_source in addresses.items()}
    known = {source: next(iter(candidates)) for source, candidates in names.items() if len(candidates) == 1}
    return [_with_ids(_with_name(fact, known), ids) for fact in facts]


def _with_name(fact: Fact, known: Mapping[str, str]) -> Fact:
    name = known.get(fact.source_node) if fact.node is None else None
    if name is None or isinstance(fact, Decision | RegisterCode):
        return fact
    if isinstance(fact, Role) and fact.role == LEADER:
        return replace(fact, node=name, leader=name)
    return replace(fact, node=name)


def _with_ids(fact: Fact, ids: Mapping[str, str]) -> Fact:
    if fact.node is not None and fact.node in ids:
        fact = replace(fact, node=ids[fact.node])
    if isinstance(fact, Role) and fact.leader is not None and fact.leader in ids:
        return replace(fact, leader=ids[fact.leader])
    if isinstance(fact, Decision | SetRefused) and fact.members and not ids.keys().isdisjoint(fact.members):
        return replace(fact, members=tuple(sorted(ids.get(name, name) for name in fact.members)))
    return fact


def decisions(group: Group) -> list[Decision]:
    """Return the elections and set changes that took effect, each once, in the order of the controllers.

    JRaft controllers print each decision on every node, and again when they re-read their log: the index in the Raft
    log identifies it. A decision that was not confirmed counts if a broker acted on it.
    """
    adopted = {tenure.term for tenure in group.tenures}
    once: dict[object, Decision] = {}
    for fact in group.of(Decision):
        if fact.decision not in (ELECTED, NOBODY_ELECTED, SET_CHANGED):
            continue
        if fact.committed is False and fact.term not in adopted:
            continue
        key: object = (
            fact.since_event if fact.raft_index is None else (fact.raft_index, *decision_rules.decision_key(fact))
        )
        once.setdefault(key, fact)
    return list(once.values())


def elections_of(decided: Iterable[Decision]) -> list[Decision]:
    """Return the elections among the decisions, with or without a winner."""
    return [fact for fact in decided if fact.decision in (ELECTED, NOBODY_ELECTED)]


def set_versions(decided: list[Decision]) -> list[SetVersion]:
    """Return the SyncStateSets in order of their epochs; after an election the winner is the only member."""
    versions: dict[int, SetVersion] = {}
    master: Decision | None = None
    last = 0
    lost = decision_rules.record_lost(decided)
    for epoch, fact in _numbered(decided, lost=lost):
        if fact.decision == ELECTED:
            master = fact
        elif epoch != last + 1 and (lost or epoch != last):
            # A decision is missing in between, which may have been an election.
            master = None
        last = epoch
        members = (fact.node,) if fact.decision == ELECTED and fact.node else fact.members
        if members is None or epoch in versions:
            continue
        versions[epoch] = SetVersion(
            epoch,
            master.term if master else None,
            master.node if master else None,
            tuple(sorted(members)),
            fact,
        )
    return [versions[epoch] for epoch in sorted(versions)]


def _numbered(decided: list[Decision], *, lost: bool) -> list[tuple[int, Decision]]:
    """Return decisions with their set epochs, in order of these; after a lost record in each controller's own order."""
    numbered = [(fact.set_epoch, fact) for fact in decided if fact.set_epoch is not None]
    if not lost:
        return sorted(numbered, key=_by_set_epoch)
    return [
        (fact.set_epoch, fact)
        for decisions in decision_rules.by_source(f for _, f in numbered).values()
        for fact in decisions
        if fact.set_epoch is not None
    ]


def _by_set_epoch(numbered: tuple[int, Decision]) -> tuple[int, bool, str]:
    """Sort by epoch; of two decisions with one epoch the confirmed one counts, and the other is a lost proposal. Two
    confirmed ones break a rule; the choice between them must not depend on clocks."""
    epoch, fact = numbered
    return (epoch, fact.committed is not True, repr(decision_rules.decision_key(fact)))
