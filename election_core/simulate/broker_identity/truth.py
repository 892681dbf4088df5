"""The findings about broker ids that the logs prove, by the real changes of files and records.

Findings name brokers by their ids, which two brokers or none may have; truths here do so too.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.controller.tables import ID_INVALID, NOT_REGISTERED
from election_replay.election_core.simulate.controller.record import APPLIED, CLEANED, MOVED, Decision, decisions
from election_replay.election_core.simulate.truth import Claim, Truth, clocks_agree, lines_of, overlap_us
from election_replay.election_core.simulate.world import DOWN, SECOND, Line, World

SURE_US = 6 * SECOND
FOR_GOOD_US = 10 * SECOND
_NOT_SUPPORTED = 3


def truths(world: World) -> list[Truth]:
    """Return everything that a reviewer should be told about the ids of a world."""
    return [*(truth for part in _PARTS for truth in part(world)), *_unacknowledged(world)]


def _unacknowledged(world: World) -> Iterator[Truth]:
    """Yield brokers that waited in vain for acknowledgements, from the first such write to the last line about it.
    Which of the lines belong to one episode is left open."""
    waited: dict[str, list[int]] = {}
    for line in lines_of(world, "HA_ACK_TIMEOUT"):
        waited.setdefault(line.node, []).append(line.true_us)
    if waited:
        begin, end = min(map(min, waited.values())), max(map(max, waited.values()))
        longest_us = max(max(times) - min(times) for times in waited.values()) + Timeout.CONTROLLER_ACK.us + SECOND
        words = f"{', '.join(waited)} waited in vain for acknowledgements."
        yield Truth("WRITES_REFUSED", tuple(waited), (), begin, end, False, words, _no_longer_than(longest_us))


def _no_longer_than(longest_us: int) -> Claim:
    return lambda finding: (finding.duration_min_ms or 0) * 1000 <= longest_us


@dataclass(frozen=True, slots=True)
class Owned:
    """A broker that owns an id by its own line; ``shown``: both the proposal with its code and the line are kept."""

    node: str
    broker_id: str
    code: str | None
    line: Line
    shown: bool


def _owned(world: World) -> list[Owned]:
    found = []
    proposed: dict[str, Line] = {}
    for line in lines_of(world, "BRK_REG_TEMP", "BRK_REG_APPLIED"):
        identity = line.value("identity")
        if line.kind == "BRK_REG_TEMP":
            proposed[line.node] = line
            continue
        before = proposed.get(line.node)
        of: Any = before.value("identity") if before else None
        fits = before is not None and of.broker_id == identity.broker_id
        shown = line.kept and fits and before is not None and before.kept
        found.append(Owned(line.node, str(identity.broker_id), of.code if fits else None, line, shown))
    return found


def _truth(rule: str, nodes: tuple[str, ...], line: Line, provable: bool, words: str) -> Truth:
    return Truth(rule, nodes, (), line.true_us, None, provable, words, lambda finding: {*finding.nodes} == {*nodes})


def _removed(world: World, broker_id: str) -> bool:
    """Return True when an operator removed an id, or the whole set."""
    gone = (decision.event["brokerIdSetToClean"] for decision in decisions(world) if decision.outcome == CLEANED)
    return any(ids is None or broker_id in map(str, ids) for ids in gone)


# -- identities that are lost -----------------------------------------------------------------------------------


def _lost_files(world: World) -> Iterator[Truth]:
    """Yield brokers that owned one id and later own another."""
    by_node: dict[str, list[Owned]] = {}
    for owned in _owned(world):
        by_node.setdefault(owned.node, []).append(owned)
    for of_node in by_node.values():
        for before, after in pairwise(of_node):
            if before.broker_id != after.broker_id:
                words = f"{after.node} lost its identity {before.broker_id} and came back as {after.broker_id}."
                provable = before.line.kept and after.line.kept
                nodes = (before.broker_id, after.broker_id)
                yield _truth("BROKER_IDENTITY_RESET", nodes, after.line, provable, words)


def _new_ids(world: World) -> Iterator[Truth]:
    """Yield second ids for a broker at one address."""
    by_address: dict[str, list[Decision]] = {}
    for decision in decisions(world):
        if decision.outcome == APPLIED:
            by_address.setdefault(decision.event["brokerAddress"], []).append(decision)
    for address, of_address in by_address.items():
        for before, after in combinations(of_address, 2):
            ids = (str(before.event["newBrokerId"]), str(after.event["newBrokerId"]))
            if ids[0] != ids[1]:
                words = f"The broker at {address}, {ids[0]} before, was given the id {ids[1]}."
                yield _truth("BROKER_IDENTITY_RESET", ids, after.line, False, words)


def _lost_answers(world: World) -> Iterator[Truth]:
    """Yield accepted ids that their broker gave up because the answer was lost."""
    accepted = {made.event["registerCheckCode"]: made for made in decisions(world) if made.outcome == APPLIED}
    proposed: dict[str, Line] = {}
    for line in lines_of(world, "BRK_REG_TEMP", "BRK_REG_RESET"):
        if line.kind == "BRK_REG_TEMP":
            proposed[line.node] = line
            continue
        before = proposed.pop(line.node, None)
        of: Any = before.value("identity") if before else None
        decision = accepted.get(of.code) if of else None
        if before is not None and decision is not None:
            words = f"{line.node} did not hear that it owns the id {of.broker_id}."
            provable = line.kept and before.kept and decision.line.kept
            yield _truth("BROKER_IDENTITY_RESET", (str(of.broker_id),), line, provable, words)


def _forgotten(world: World) -> Iterator[Truth]:
    """Yield brokers whose id the controllers do not know, and that never register."""
    for node in world.names():
        refused = [line for line in lines_of(world, "BRK_REG_SEND_ERR") if line.node == node]
        refused = [line for line in refused if line.value("code") == NOT_REGISTERED]
        done = [line.true_us for line in lines_of(world, "BRK_REG_DONE") if line.node == node]
        since = max((time for time in done if refused and time < refused[-1].true_us), default=0)
        row = [line for line in refused if line.true_us > since]
        if not row or any(time > row[-1].true_us for time in done):
            continue
        lasted = row[-1].wall_us - row[0].wall_us
        if lasted > FOR_GOOD_US - SECOND:
            words = f"The controllers do not know {node}, which tried for {lasted / SECOND:.1f} s."
            provable = lasted > FOR_GOOD_US + SECOND and all(line.kept for line in row)
            claim = _names(node)
            yield Truth("BROKER_IDENTITY_RESET", (node,), (), row[0].true_us, None, provable, words, claim)


def _names(node: str) -> Claim:
    return lambda finding: f"({node})" in finding.summary or finding.nodes == (node,)


# -- ids that are two brokers' ---------------------------------------------------------------------------------------


def _two_at_once(world: World) -> Iterator[Truth]:
    """Yield two processes that run with one id at once."""
    ran = list(_runs(world))
    for (process, id_, *first, shown), (second_process, same, *second, also) in combinations(ran, 2):
        lasted = overlap_us((first[0], first[1]), (second[0], second[1]))
        if process.node != second_process.node and id_ == same and lasted > 0:
            words = f"{process.node} and {second_process.node} both ran as broker {id_} for {lasted / SECOND:.1f} s."
            provable = lasted > SURE_US and shown and also and clocks_agree(world)
            yield _truth("BROKER_ID_CONFLICT", (id_,), second_process, provable, words)


def _runs(world: World) -> Iterator[tuple[Line, str, int, int, bool]]:
    """Yield ``(first line with its id, id, since, until, shown)`` of every process of a broker that took a role."""
    seen: set[tuple[str, int]] = set()
    for line in lines_of(world, "BRK_ROLE_DONE", "BRK_SLAVE_BEGIN"):
        ends = [phase.begin_us for phase in world.phases if phase.node == line.node and phase.condition == DOWN]
        end = min((time for time in ends if time > line.true_us), default=world.now_us)
        if (line.node, end) not in seen:
            seen.add((line.node, end))
            yield line, str(line.value("node")), line.true_us, end, line.kept


def _owned_twice(world: World) -> Iterator[Truth]:
    """Yield two brokers that own one id, each with a code of its own."""
    for earlier, later in combinations(_owned(world), 2):
        codes = {earlier.code, later.code}
        if earlier.broker_id == later.broker_id and len(codes) == 2 and None not in codes:
            words = f"{earlier.node} and {later.node} both own the id {earlier.broker_id}."
            provable = earlier.shown and later.shown and not _removed(world, earlier.broker_id)
            yield _truth("BROKER_ID_CONFLICT", (earlier.broker_id,), later.line, provable, words)


def _accepted_twice(world: World) -> Iterator[Truth]:
    """Yield ids that the controllers gave to two codes of different brokers."""
    accepted = [earlier for earlier in decisions(world) if earlier.outcome == APPLIED]
    for earlier, later in combinations(accepted, 2):
        same = earlier.event["newBrokerId"] == later.event["newBrokerId"]
        moved = earlier.event["brokerAddress"] != later.event["brokerAddress"]
        if same and moved and earlier.event["registerCheckCode"] != later.event["registerCheckCode"]:
            broker_id = str(earlier.event["newBrokerId"])
            words = f"The id {broker_id} was given twice."
            provable = earlier.line.kept and later.line.kept and not _removed(world, broker_id)
            yield _truth("BROKER_ID_CONFLICT", (broker_id,), later.line, provable, words)


def _back_and_forth(world: World) -> Iterator[Truth]:
    """Yield ids whose address changes to another one and back."""
    addresses: dict[str, list[Decision]] = {}
    for decision in decisions(world):
        if decision.outcome in (APPLIED, MOVED):
            broker_id = str(decision.event.get("newBrokerId") or decision.event.get("brokerId"))
            known = addresses.setdefault(broker_id, [])
            if not known or known[-1].event["brokerAddress"] != decision.event["brokerAddress"]:
                known.append(decision)
    for broker_id, changes in addresses.items():
        for three in zip(changes, changes[1:], changes[2:], strict=False):
            if three[0].event["brokerAddress"] == three[2].event["brokerAddress"]:
                words = f"The address of broker {broker_id} went away and back."
                provable = all(change.line.kept for change in three)
                yield _truth("BROKER_ID_CONFLICT", (broker_id,), three[2].line, provable, words)


# -- single lines ------------------------------------------------------------------------------------------------------


def _refused(world: World) -> Iterator[Truth]:
    """Yield ids applied for with another code than their owner's; the refusal is an error, which is never dropped."""
    proposed: dict[str, Line] = {}
    for line in lines_of(world, "BRK_REG_TEMP", "BRK_REG_APPLY_ERR"):
        if line.kind == "BRK_REG_TEMP":
            proposed[line.node] = line
        elif line.value("code") == ID_INVALID:
            before = proposed.get(line.node)
            broker_id = str(line.value("value"))
            words = f"{line.node} applied for the id {broker_id} and was refused."
            provable = before is not None and before.kept
            yield _truth("REGISTER_CODE_MISMATCH", (broker_id,), line, provable, words)


def _single_lines(world: World) -> Iterator[Truth]:
    """Yield rules that one line breaks, for each broker the first line; they are errors, which are never dropped."""
    seen: set[tuple[str, str]] = set()
    for line in lines_of(world, "BRK_REG_FILE_INVALID", "BRK_REG_NEXT_ERR"):
        other = line.kind == "BRK_REG_NEXT_ERR" and line.value("code") != _NOT_SUPPORTED
        if other or (line.node, line.kind) in seen:
            continue
        seen.add((line.node, line.kind))
        rule, words = _SAYS[line.kind]
        yield _truth(rule, (line.node,), line, line.kept, words.format(line.node))


_SAYS = {
    "BRK_REG_FILE_INVALID": ("BROKER_ID_CONFLICT", "The identity of {} is of another broker set."),
    "BRK_REG_NEXT_ERR": ("INCOMPATIBLE_VERSIONS", "The controllers do not know what {} asks."),
}

_PARTS: tuple[Callable[[World], Iterable[Truth]], ...] = (
    *(_lost_files, _new_ids, _lost_answers, _forgotten),
    *(_two_at_once, _owned_twice, _accepted_twice, _back_and_forth),
    *(_refused, _single_lines),
)
