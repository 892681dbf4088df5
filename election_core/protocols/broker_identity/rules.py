"""Whether each broker of a set kept the id that the controllers gave it, and no other broker had it.

An id is allocated once: ``nextAssignBrokerId`` only grows, so the larger of two ids is the later one, whatever the
clocks show. A broker's identity file proves its identity; the registerCheckCode only guards the allocation. So a lost
file makes the same machine a new replica and leaves the old id as a dead one, and a copied file makes two machines one
replica, which the controllers cannot tell from a change of address.

A change of address of a known id is normal (containers) and no finding. The logs cannot show the reason of a refused
applyBrokerId or registerBroker, and a proposal that was not committed reads like one that was.

Sources: RocketMQ ``ReplicasManager``, ``ReplicasInfoManager``; the design of persistent broker ids and its table of
compatible versions (rocketmq docs, ``controller/persistent_unique_broker_id``).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from election_replay.election_core.fold.identity import BROKER, CONTROLLER
from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.judge.coverage import counted, coverage
from election_replay.election_core.judge.group import Group, group_of, least_together, since, until
from election_replay.election_core.judge.wording import seconds
from election_replay.election_core.model import digits
from election_replay.election_core.model.catalogue import CRITICAL, DEFINITE, INFO, POSSIBLE, PROVEN, WARNING, RuleId
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Finding, Row, RuleCoverage
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.broker_identity.facts import (
    IdentityDecision,
    IdentityStep,
    IdentityVersion,
    OwnId,
)
from election_replay.election_core.protocols.broker_identity.log import (
    ADDRESS_CHANGED,
    FORGOTTEN,
    ID_APPLIED,
    IDS_CLEANED,
    NOT_SUPPORTED,
    OF_ANOTHER,
    OWNED,
    PROTOCOL,
    REFUSED,
    REGISTERED,
    RESET,
)

__all__ = ["PROTOCOL", "judge"]


@dataclass(frozen=True, slots=True)
class Proof:
    """The time of a finding, from ``begin`` to ``end`` (us), and its lines."""

    begin: int
    end: int | None
    evidence: tuple[str, ...]


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one broker set."""
    group = group_of(facts, clocks)
    decided = _decisions(group)
    resets = [*_lost_files(group, decided), *_lost_answers(group, decided), *_forgotten(group)]
    resets += _same_address(group, decided, {finding.nodes[0] for finding in resets})
    conflicts = [*_two_at_once(group), *_owned_twice(group, decided)]
    echoes = [*_accepted_twice(group, decided), *_back_and_forth(group, decided)]
    conflicts += [_echo(finding, conflicts) for finding in echoes]
    conflicts += _of_another(group)
    refused = list(_refused(group, decided))
    versions = list(_versions(group))
    yield from [*resets, *conflicts, *refused, *versions]
    yield from _coverage(group, decided, resets, conflicts, refused, versions)


def _finding(
    group: Group, rule: RuleId, severity: str, certainty: str, nodes: Iterable[str], summary: str, proof: Proof
) -> Finding:
    named = tuple(dict.fromkeys(nodes))
    return group.finding(
        rule,
        (named, proof.evidence),
        severity=severity,
        certainty=certainty,
        nodes=named,
        when=(proof.begin, proof.end),
        summary=summary,
        evidence=proof.evidence,
    )


def _echo(finding: Finding, causes: list[Finding]) -> Finding:
    """Return the finding, implied by one about the same id if there is one."""
    cause = next((other for other in causes if other.nodes == finding.nodes), None)
    return replace(finding, implied_by=cause.finding_id) if cause is not None else finding


def _lines(*found: Fact | None) -> tuple[str, ...]:
    ids = (event for fact in found if fact is not None for event in (fact.since_event, fact.until_event))
    return tuple(dict.fromkeys(event for event in ids if event))


# -- facts in order ---------------------------------------------------------------------------------------------


def _decisions(group: Group) -> list[IdentityDecision]:
    """Return the controllers' decisions, each once: JRaft controllers repeat them on every node and at starts."""
    once: dict[object, IdentityDecision] = {}
    for fact in group.of(IdentityDecision):
        key: object = fact.since_event if fact.raft_index is None else (fact.raft_index, fact.decision)
        once.setdefault(key, fact)
    return list(once.values())


def _applied(decided: list[IdentityDecision]) -> dict[str, list[IdentityDecision]]:
    """Return the accepted allocations of each id; a repeated request with the same code counts once."""
    found: dict[str, dict[str | None, IdentityDecision]] = {}
    for fact in decided:
        if fact.decision == ID_APPLIED and fact.node is not None:
            found.setdefault(fact.node, {}).setdefault(fact.register_code, fact)
    return {node: list(by_code.values()) for node, by_code in found.items()}


def _steps(group: Group, *steps: str) -> dict[str, list[IdentityStep]]:
    """Return the given steps of each broker in program order."""
    found: dict[str, list[IdentityStep]] = {}
    for fact in group.of(IdentityStep):
        if fact.step in steps:
            found.setdefault(fact.source_node, []).append(fact)
    return found


def _cleaned(decided: list[IdentityDecision], node: str | None) -> bool:
    """Return True when an operator removed the id, or the whole set (no ids named)."""
    return any(fact.decision == IDS_CLEANED and (not fact.members or node in fact.members) for fact in decided)


# -- identity lost ----------------------------------------------------------------------------------------------


def _lost_files(group: Group, decided: list[IdentityDecision]) -> Iterator[Finding]:
    """Yield ``BROKER_IDENTITY_RESET``: a broker that owned an id owns another one later."""
    applied = _applied(decided)
    for source, owned in sorted(_steps(group, OWNED).items()):
        for before, after in pairwise(owned):
            if before.node is None or after.node is None or before.node == after.node:
                continue
            cleaned = _cleaned(decided, before.node)
            rest = "an operator had removed it" if cleaned else f"{before.node} stays as a dead replica"
            yield _finding(
                group,
                RuleId.BROKER_IDENTITY_RESET,
                INFO if cleaned else WARNING,
                PROVEN,
                (before.node, after.node),
                f"Broker {before.node} ({source}) lost its identity file and came back as the new replica "
                f"{after.node}; {rest}.",
                Proof(after.since, None, _lines(before, after, *applied.get(after.node, [])[:1])),
            )


def _same_address(group: Group, decided: list[IdentityDecision], known: set[str]) -> Iterator[Finding]:
    """Yield resets known from controllers only: a second id for an address whose first id was not seen elsewhere."""
    by_address: dict[str, dict[str, IdentityDecision]] = {}
    for node, accepted in _applied(decided).items():
        for fact in accepted:
            if fact.address is not None and digits.number(node) is not None:
                by_address.setdefault(fact.address, {}).setdefault(node, fact)
    moved = {fact.node for fact in decided if fact.decision == ADDRESS_CHANGED}
    for address, ids in sorted(by_address.items()):
        for before, after in pairwise(sorted(ids, key=int)):
            # An address may go to another container; the first broker then appears under a new one.
            if before in moved or before in known or _cleaned(decided, before):
                continue
            yield _finding(
                group,
                RuleId.BROKER_IDENTITY_RESET,
                WARNING,
                POSSIBLE,
                (before, after),
                f"The broker at {address}, id {before} before, was given the new id {after}; {before} was not heard of "
                "at another address and stays as a dead replica.",
                Proof(ids[after].since, None, _lines(ids[before], ids[after])),
            )


def _lost_answers(group: Group, decided: list[IdentityDecision]) -> Iterator[Finding]:
    """Yield allocations that the controllers accepted and the broker gave up, because the answer was lost."""
    applied = _applied(decided)
    for source, resets in sorted(_steps(group, RESET).items()):
        for reset in resets:
            accepted = [fact for fact in applied.get(reset.node or "", []) if fact.register_code == reset.register_code]
            if reset.node is None or reset.register_code is None or not accepted:
                continue
            yield _finding(
                group,
                RuleId.BROKER_IDENTITY_RESET,
                WARNING,
                DEFINITE,
                (reset.node,),
                f"The controllers accepted id {reset.node} for the broker in {source}, which did not hear of it and "
                f"started over; {reset.node} stays as a dead replica.",
                Proof(reset.since, None, _lines(accepted[0], reset)),
            )


def _forgotten(group: Group) -> Iterator[Finding]:
    """Yield brokers with an id that the controllers do not know: refused (2010) again and again, they never serve."""
    registered = _steps(group, REGISTERED)
    for source, refusals in sorted(_steps(group, FORGOTTEN).items()):
        for refused in refusals:
            end = refused.since if refused.until is None else refused.until
            later = any(fact.since >= refused.since for fact in registered.get(source, []))
            if later or end - refused.since < group.timing.us(Timeout.IDENTITY_FOR_GOOD):
                continue
            node = _id_at(group, source, refused.since) or source
            yield _finding(
                group,
                RuleId.BROKER_IDENTITY_RESET,
                WARNING,
                PROVEN,
                (node,),
                f"The controllers do not know the identity of broker {node} ({source}): its registration was refused "
                f"{refused.count} times in {seconds(end - refused.since)} and never accepted after. The process runs, "
                "but it is no replica and serves nobody.",
                Proof(refused.since, None, _lines(refused)),
            )


def _id_at(group: Group, source: str, time: int) -> str | None:
    claims = [fact for fact in group.of(OwnId) if fact.source_node == source and fact.since <= time]
    return claims[-1].node if claims else None


# -- two with one id --------------------------------------------------------------------------------------------


def _two_at_once(group: Group) -> Iterator[Finding]:
    """Yield ``BROKER_ID_CONFLICT``: two machines with one id at once, by a copied identity."""
    by_id: dict[str, list[OwnId]] = {}
    for fact in group.of(OwnId):
        by_id.setdefault(fact.node or "", []).append(fact)
    seen: set[tuple[str, ...]] = set()
    for node, spoken in sorted(by_id.items()):
        for claim, other in combinations(spoken, 2):
            who = (node, *sorted((claim.source_node, other.source_node)))
            least = least_together(group.clocks, claim, other)
            if claim.source_node == other.source_node or least <= 0 or who in seen:
                continue
            seen.add(who)
            yield _finding(
                group,
                RuleId.BROKER_ID_CONFLICT,
                CRITICAL,
                DEFINITE,
                (node,),
                f"{claim.source_node} and {other.source_node} both ran as broker {node} for at least {seconds(least)}: "
                "the controllers and name servers take them for one broker that changes its address.",
                Proof(max(claim.since, other.since), None, _lines(claim, other)),
            )


def _owned_twice(group: Group, decided: list[IdentityDecision]) -> Iterator[Finding]:
    """Yield ids that the controllers confirmed to two brokers, each with a code of its own."""
    owners: dict[str, dict[str, IdentityStep]] = {}
    for owned in _steps(group, OWNED).values():
        for fact in owned:
            if fact.node is not None and fact.register_code is not None:
                owners.setdefault(fact.node, {}).setdefault(fact.register_code, fact)
    for node, by_code in sorted(owners.items()):
        if len(by_code) < 2 or _cleaned(decided, node):
            continue
        both = sorted(by_code.values(), key=lambda fact: (fact.since, fact.source_node))[:2]
        yield _finding(
            group,
            RuleId.BROKER_ID_CONFLICT,
            CRITICAL,
            PROVEN,
            (node,),
            f"Id {node} was allocated twice: to {both[0].source_node} with the code {both[0].register_code} and to "
            f"{both[1].source_node} with {both[1].register_code}.",
            Proof(both[1].since, None, _lines(*both)),
        )


def _accepted_twice(group: Group, decided: list[IdentityDecision]) -> Iterator[Finding]:
    """Yield ids that one controller gave to two brokers. A DLedger controller prints what it proposes, and the first
    proposal may have been lost; a JRaft controller prints what is committed. A broker that tries again after a lost
    answer has the same address and another code."""
    for node, accepted in _applied(decided).items():
        for code, other in combinations(accepted, 2):
            committed = code.raft_index is not None and other.raft_index is not None
            if code.address == other.address or not (committed or code.source_node == other.source_node):
                continue
            if None in (code.register_code, other.register_code) or _cleaned(decided, node):
                continue
            yield _finding(
                group,
                RuleId.BROKER_ID_CONFLICT,
                CRITICAL if committed else WARNING,
                PROVEN if committed else POSSIBLE,
                (node,),
                f"The controllers gave id {node} to the code {code.register_code} and to {other.register_code}: two "
                "brokers may believe that it is theirs.",
                Proof(other.since, None, _lines(code, other)),
            )
            break


def _back_and_forth(group: Group, decided: list[IdentityDecision]) -> Iterator[Finding]:
    """Yield ids whose address returns to a former one: two machines that register in turn, or one that moved back."""
    addresses: dict[str, list[IdentityDecision]] = {}
    for fact in decided:
        if fact.decision in (ID_APPLIED, ADDRESS_CHANGED) and fact.node is not None and fact.address is not None:
            known = addresses.setdefault(fact.node, [])
            if not known or known[-1].address != fact.address:
                known.append(fact)
    for node, changes in sorted(addresses.items()):
        back = next((three for three in zip(changes, changes[1:], changes[2:], strict=False) if _returns(three)), None)
        if back is None:
            continue
        yield _finding(
            group,
            RuleId.BROKER_ID_CONFLICT,
            WARNING,
            POSSIBLE,
            (node,),
            f"The address of broker {node} went from {back[0].address} to {back[1].address} and back: two machines "
            "with one identity, or one that moved there and back.",
            Proof(back[1].since, back[2].since, _lines(*back)),
        )


def _returns(changes: tuple[IdentityDecision, IdentityDecision, IdentityDecision]) -> bool:
    """Return True when one controller decided on an address, another, and the first again. Decisions of two controllers
    have no common order except by their clocks."""
    return changes[0].address == changes[2].address and changes[1].source_node == changes[2].source_node


def _of_another(group: Group) -> Iterator[Finding]:
    """Yield brokers that refuse to register, with the identity files of another broker set."""
    for source, found in sorted(_steps(group, OF_ANOTHER).items()):
        yield _finding(
            group,
            RuleId.BROKER_ID_CONFLICT,
            WARNING,
            PROVEN,
            (source,),
            f"The identity files of {source} name another cluster or broker set than its configuration: it does not "
            "register.",
            Proof(found[0].since, None, _lines(found[0])),
        )


# -- refused codes, versions ------------------------------------------------------------------------------------


def _refused(group: Group, decided: list[IdentityDecision]) -> Iterator[Finding]:
    """Yield ``REGISTER_CODE_MISMATCH``: an id that was applied for belongs to another register code."""
    applied = _applied(decided)
    for source, refusals in sorted(_steps(group, REFUSED).items()):
        for refused in refusals:
            if refused.node is None:
                continue
            holders = [fact for fact in applied.get(refused.node, []) if fact.register_code != refused.register_code]
            owner = f" It is held with {holders[0].register_code}." if holders else ""
            yield _finding(
                group,
                RuleId.REGISTER_CODE_MISMATCH,
                INFO,
                PROVEN,
                (refused.node,),
                f"{source} applied for id {refused.node} with the code {refused.register_code} and was refused: the id "
                f"has another code.{owner} It starts over with the next id.",
                Proof(refused.since, None, _lines(refused, *holders[:1])),
            )


def _versions(group: Group) -> Iterator[Finding]:
    """Yield ``INCOMPATIBLE_VERSIONS``: brokers and controllers of which only one side knows persistent ids."""
    for source, found in sorted(_steps(group, NOT_SUPPORTED).items()):
        yield _finding(
            group,
            RuleId.INCOMPATIBLE_VERSIONS,
            WARNING,
            PROVEN,
            (source,),
            f"The controllers do not know the request for a broker id of {source}: they are older than 5.1.1, and the "
            "broker cannot come online.",
            Proof(found[0].since, None, _lines(found[0])),
        )
    versions = list(group.of(IdentityVersion))
    for broker in (fact for fact in versions if fact.process == BROKER):
        for controller in (
            fact for fact in versions if fact.process == CONTROLLER and fact.by_address != broker.by_address
        ):
            if not _at_once(group, broker, controller):
                continue
            old, new = ("broker", "controllers") if broker.by_address else ("controllers", "broker")
            then = "no master can be elected, and the broker cannot come online again after a restart"
            yield _finding(
                group,
                RuleId.INCOMPATIBLE_VERSIONS,
                WARNING,
                POSSIBLE,
                (broker.source_node,),
                f"{broker.source_node}: the {old} knew brokers by their address (5.1.0 or older), the {new} by "
                f"persistent ids (5.1.1 or later): {then if broker.by_address else 'the broker cannot come online'}.",
                Proof(max(broker.since, controller.since), None, _lines(broker, controller)),
            )


def _at_once(group: Group, fact: Fact, other: Fact) -> bool:
    """Return True when both facts hold at one moment, for every clock inside its bounds."""
    one_end, other_end = until(fact), until(other)
    if one_end is None or other_end is None:
        return False
    return group.clocks.elapsed(since(fact), other_end)[0] > 0 and group.clocks.elapsed(since(other), one_end)[0] > 0


# -- coverage ---------------------------------------------------------------------------------------------------


def _coverage(
    group: Group,
    decided: list[IdentityDecision],
    resets: list[Finding],
    conflicts: list[Finding],
    refused: list[Finding],
    versions: list[Finding],
) -> Iterator[RuleCoverage]:
    applied = _applied(decided)
    owned = {fact.node for fact in group.of(OwnId)}
    unseen = len(set(applied) - owned)
    disputed = {node for finding in conflicts for node in finding.nodes}
    reset = {node for finding in resets for node in finding.nodes[:1]}
    why = "the controllers gave an id to a broker whose own log does not say it, or which of two had it then"
    for rule, found, concerned in (
        (RuleId.BROKER_ID_CONFLICT, conflicts, disputed),
        (RuleId.BROKER_IDENTITY_RESET, resets, reset),
    ):
        yield counted(group, rule, found, len(owned - concerned) + len(found) + unseen, why, untold=unseen)
    codes = {(node, fact.register_code) for node, accepted in applied.items() for fact in accepted}
    steps = [fact for of_broker in _steps(group, OWNED).values() for fact in of_broker]
    matched = sum(1 for fact in steps if (fact.node, fact.register_code) in codes)
    yield coverage(
        group,
        RuleId.REGISTER_CODE_MISMATCH,
        matched,
        len(refused),
        len(steps) - matched,
        "the request with its code, or the controllers' answer to it, is not in the logs",
    )
    kinds = {(fact.process, fact.by_address) for fact in group.of(IdentityVersion)}
    both = {process for process, _ in kinds} == {BROKER, CONTROLLER}
    yield counted(
        group,
        RuleId.INCOMPATIBLE_VERSIONS,
        versions,
        max(len(versions), 1),
        untold=int(not both and not versions),
        why="no line tells for sure the version of the broker, or none that of the controllers",
    )
