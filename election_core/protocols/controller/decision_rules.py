"""Rules that compare the controllers' decisions with one another and with the brokers' logs.

An epoch has one winner; the recorded master is not elected again; a set never changes into itself; all JRaft
controllers reach the same decision at the same entry (``ReplicasInfoManager#electMaster``, ``#alterSyncStateSet``,
``JRaftControllerStateMachine#onApply``).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from election_replay.election_core.fold.checks import CONFORMS, UNDECIDABLE, VIOLATES
from election_replay.election_core.judge.coverage import RuleTally
from election_replay.election_core.judge.group import Group, since
from election_replay.election_core.model.catalogue import CRITICAL, DEFINITE, WARNING, RuleId
from election_replay.election_core.model.facts import RuleBroken
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.terms import is_larger
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.controller.checks import ELECTED, NOBODY_ELECTED, SAID_BY_CONTROLLERS
from election_replay.election_core.protocols.controller.controller_log import IDS_CLEANED, SET_CHANGED
from election_replay.election_core.protocols.controller.facts import Decision, EpochAhead, SetRefused
from election_replay.election_core.protocols.controller.tables import (
    ALTER_FAILED,
    FENCED_MASTER_EPOCH,
    FENCED_SET_EPOCH,
    INVALID_MASTER,
)


@dataclass(frozen=True, slots=True)
class SetVersion:
    """One value of the SyncStateSet; ``epoch`` is the syncStateSetEpoch, which orders the values without any clock."""

    epoch: int
    master_epoch: int | None
    master: str | None
    members: tuple[str, ...]
    decision: Decision


def cleaned(group: Group) -> list[Decision]:
    """Return the decisions by which an operator removed the whole broker set; its epochs restart after them."""
    return [fact for fact in group.of(Decision) if fact.decision == IDS_CLEANED and fact.members is None]


# -- elections -------------------------------------------------------------------------------------------------


def wrong_elections(group: Group, decided: Iterable[Decision], split: list[Finding]) -> Iterator[Finding]:
    """Yield ``WRONG_ELECTION``: one epoch given to two brokers, or the recorded master elected again."""
    if cleaned(group):
        return
    winners = _winners(decided)
    for epoch, by_node in sorted(winners.items()):
        if len(by_node) > 1:
            names = sorted(by_node)
            implied = next((found.finding_id for found in split if epoch in found.terms), None)
            claim = f"The controllers gave master epoch {epoch} to {' and to '.join(names)}"
            yield _wrong(group, RuleId.WRONG_ELECTION, ("twice", epoch), CRITICAL, by_node.values(), claim, implied)
    for epoch, by_node in sorted(winners.items()):
        again = winners.get(epoch - 1, {}).keys() & by_node.keys()
        for node in sorted(again):
            both = (winners[epoch - 1][node], by_node[node])
            claim = (
                f"The controllers elected {node} for epoch {epoch} although it was the recorded master of {epoch - 1}"
            )
            yield _wrong(group, RuleId.WRONG_ELECTION, ("again", epoch, node), WARNING, both, claim)


def _winners(decided: Iterable[Decision]) -> dict[int, dict[str, Decision]]:
    """``epoch -> winner -> committed election``."""
    winners: dict[int, dict[str, Decision]] = {}
    for fact in decided:
        if fact.decision == ELECTED and fact.committed and fact.term is not None and fact.node is not None:
            winners.setdefault(fact.term, {}).setdefault(fact.node, fact)
    return winners


def election_verdicts(group: Group, decided: Iterable[Decision]) -> Iterator[RuleTally]:
    """Yield one verdict for each epoch with a committed election; undecidable after an operator removed the set."""
    decided = list(decided)
    winners = _winners(decided)
    if cleaned(group):
        yield (
            RuleId.WRONG_ELECTION,
            UNDECIDABLE,
            "an operator removed the broker set: its epochs began anew",
            len(winners),
        )
        return
    wrong = {finding.terms[0] for finding in wrong_elections(group, decided, [])}
    for epoch in winners:
        yield RuleId.WRONG_ELECTION, VIOLATES if epoch in wrong else CONFORMS, None, 1


def _wrong(
    group: Group,
    rule: RuleId,
    key: tuple[object, ...],
    severity: str,
    proof: Iterable[Decision | SetRefused | EpochAhead | RuleBroken],
    summary: str,
    implied_by: str | None = None,
) -> Finding:
    proof = sorted(proof, key=lambda fact: (fact.since, fact.source_node))
    term = max((fact.term for fact in proof if fact.term is not None), default=None)
    return group.finding(
        rule,
        key,
        severity=severity,
        nodes=tuple(sorted({fact.node for fact in proof if fact.node})),
        terms=(term,),
        when=(proof[0].since, proof[-1].since),
        summary=f"{summary}.",
        evidence=(fact.since_event for fact in proof if fact.since_event),
        implied_by=implied_by,
    )


def sets_before(decided: Iterable[Decision], sets: Iterable[SetVersion]) -> dict[Decision, SetVersion]:
    """Map each decision to the set that was on record when it was made, where the logs show it.

    A set's epoch identifies it, unless the controllers lost part of their record and count on from an earlier epoch:
    then only the decision that the same controller printed just before counts.
    """
    epochs = {fact: fact.set_epoch for fact in decided if fact.set_epoch is not None}
    if not record_lost(epochs):
        by_epoch = {version.epoch: version for version in sets}
        return {fact: by_epoch[epoch - 1] for fact, epoch in epochs.items() if epoch - 1 in by_epoch}
    found: dict[Decision, SetVersion] = {}
    for decisions in by_source(epochs).values():
        for last, fact in pairwise(decisions):
            members = (last.node,) if last.decision == ELECTED and last.node else last.members
            if members is not None and epochs[last] + 1 == epochs[fact]:
                found[fact] = SetVersion(epochs[last], last.term, last.node, tuple(sorted(members)), last)
    return found


def record_lost(decided: Iterable[Decision]) -> bool:
    """Return True when a controller printed a set epoch that does not exceed its last; JRaft controllers reprint
    theirs."""
    return any(
        last.raft_index is None and not is_larger(fact.set_epoch, last.set_epoch)
        for decisions in by_source(fact for fact in decided if fact.set_epoch is not None).values()
        for last, fact in pairwise(decisions)
    )


def by_source(decided: Iterable[Decision]) -> dict[str, list[Decision]]:
    """Group decisions by controller, in the order in which it printed them."""
    found: dict[str, list[Decision]] = {}
    for fact in sorted(decided, key=lambda fact: (fact.source_node, fact.ordinal)):
        found.setdefault(fact.source_node, []).append(fact)
    return found


# -- JRaft: the same entry, the same decision ---------------------------------------------------------------------


def decision_key(fact: Decision) -> tuple[object, ...]:
    """Return the content of a decision; the epoch of an election without winner is left out, as no line prints it."""
    term = None if fact.decision == NOBODY_ELECTED else fact.term
    return (fact.decision, fact.node, term, fact.set_epoch, fact.members)


def _by_index(group: Group) -> dict[int, list[Decision]] | None:
    """Return ``index in the Raft log -> decisions``; None if one controller printed two decisions at one index. Its log
    was then removed in between, so that indexes from before and after do not correspond."""
    by_index: dict[int, list[Decision]] = {}
    by_entry: dict[tuple[str, int], tuple[object, ...]] = {}
    for fact in group.of(Decision):
        if fact.raft_index is None:
            continue
        if by_entry.setdefault((fact.source_node, fact.raft_index), decision_key(fact)) != decision_key(fact):
            return None
        by_index.setdefault(fact.raft_index, []).append(fact)
    return by_index


def disagreements(group: Group) -> Iterator[Finding]:
    """Yield ``CONTROLLERS_DISAGREE``: two controllers applied the same log entry and decided differently."""
    for index, same in sorted((_by_index(group) or {}).items()):
        if len({decision_key(fact) for fact in same}) > 1:
            sources = " and ".join(sorted({fact.source_node for fact in same}))
            claim = f"At entry {index} of their log {sources} came to different decisions"
            yield _wrong(group, RuleId.CONTROLLERS_DISAGREE, (index,), CRITICAL, same, claim)


def disagreement_verdicts(group: Group) -> Iterator[RuleTally]:
    """Yield the verdicts on entries that two controllers applied; nothing for controllers on DLedger."""
    by_index = _by_index(group)
    if by_index is not None and not by_index:
        return  # controllers on DLedger print no index
    if by_index is None:
        yield RuleId.CONTROLLERS_DISAGREE, UNDECIDABLE, "a controller's log was removed: its indexes began anew", 1
        return
    wrong = sum(1 for _ in disagreements(group))
    seen_twice = sum(1 for same in by_index.values() if len({fact.source_node for fact in same}) > 1)
    yield RuleId.CONTROLLERS_DISAGREE, CONFORMS, None, seen_twice - wrong
    yield RuleId.CONTROLLERS_DISAGREE, VIOLATES, None, wrong


# -- SyncStateSets -----------------------------------------------------------------------------------------------


def wrong_sets(group: Group, decided: Iterable[Decision], sets: list[SetVersion]) -> Iterator[Finding]:
    """Yield ``WRONG_SET_CHANGE``: two sets of one epoch, a set changed into itself, a rightful master refused."""
    if not cleaned(group):
        yield from _sets_of_one_epoch(group, decided)
        yield from _unchanged(group, sets)
        yield from _masters_refused(group, decided, sets)


def sets_twice(group: Group, decided: Iterable[Decision]) -> dict[int, dict[tuple[str, ...], Decision]]:
    """Return ``epoch -> members -> decision`` for the epochs with more than one recorded set."""
    if cleaned(group):
        return {}
    by_epoch: dict[int, dict[tuple[str, ...], Decision]] = {}
    for fact in decided:
        members = (fact.node,) if fact.decision == ELECTED and fact.node else fact.members
        if fact.committed and fact.set_epoch is not None and members is not None:
            by_epoch.setdefault(fact.set_epoch, {}).setdefault(members, fact)
    return {epoch: by_members for epoch, by_members in by_epoch.items() if len(by_members) > 1}


def _sets_of_one_epoch(group: Group, decided: Iterable[Decision]) -> Iterator[Finding]:
    for epoch, by_members in sorted(sets_twice(group, decided).items()):
        shown = " and ".join(f"{{{', '.join(members)}}}" for members in sorted(by_members))
        claim = f"The controllers recorded SyncStateSet {epoch} as {shown}"
        yield _wrong(group, RuleId.WRONG_SET_CHANGE, ("twice", epoch), WARNING, by_members.values(), claim)


def _unchanged(group: Group, sets: list[SetVersion]) -> Iterator[Finding]:
    for before, version in pairwise(sets):
        if _is_next(before, version) and version.members == before.members:
            claim = f"SyncStateSet {version.epoch} is the one before it, {{{', '.join(version.members)}}}, unchanged"
            proof = (before.decision, version.decision)
            yield _wrong(group, RuleId.WRONG_SET_CHANGE, ("unchanged", version.epoch), WARNING, proof, claim)


def _is_next(before: SetVersion, version: SetVersion) -> bool:
    """Return True when ``version`` is a committed change of the committed set right before it."""
    changed = version.decision.decision == SET_CHANGED
    return (
        changed and version.epoch == before.epoch + 1 and bool(version.decision.committed and before.decision.committed)
    )


def _masters_refused(group: Group, decided: Iterable[Decision], sets: list[SetVersion]) -> Iterator[Finding]:
    if record_lost(decided):
        return
    for fact in group.of(SetRefused):
        between = _record_around(group, sets, fact)
        if fact.code in (INVALID_MASTER, FENCED_MASTER_EPOCH) and between is not None:
            yield group.finding(
                RuleId.WRONG_SET_CHANGE,
                ("refused", fact.source_node, fact.since_event),
                severity=WARNING,
                certainty=DEFINITE,
                nodes=(fact.who,),
                terms=(fact.term,),
                when=fact.since,
                summary=f"{fact.who} was refused as a master of another epoch (code {fact.code}) "
                f"while it was the recorded master of epoch {fact.term}.",
                evidence=tuple(e for e in (between[0].since_event, fact.since_event, between[1].since_event) if e),
            )


def _record_around(group: Group, sets: list[SetVersion], refused: SetRefused) -> tuple[Decision, Decision] | None:
    """Return set changes by the refused master surely (before, after) the refusal; None unless both exist.

    The refusal's line prints the epoch at the time of writing, which may be later than the request. So the master must
    have led that epoch for longer than a request lasts.
    """
    poll = group.timing.us(Timeout.CONTROLLER_POLL, refused.source_node)
    led = [t for t in group.tenures if t.source == refused.source_node and t.term == refused.term]
    if not any(group.clocks.elapsed(tenure.begin, since(refused))[0] > poll for tenure in led):
        return None
    recorded = [version.decision for version in sets if version.master_epoch == refused.term]
    before = [fact for fact in recorded if group.clocks.elapsed(since(fact), since(refused))[0] > poll]
    after = [fact for fact in recorded if group.clocks.elapsed(since(refused), since(fact))[0] > 0]
    return (before[-1], after[0]) if before and after else None


def set_verdicts(group: Group, decided: Iterable[Decision], sets: list[SetVersion]) -> Iterator[RuleTally]:
    """Yield the verdicts on set changes, and on refusals as far as the record decides them."""
    decided = list(decided)
    wrong = list(wrong_sets(group, decided, sets))
    if wrong:
        yield RuleId.WRONG_SET_CHANGE, VIOLATES, None, len(wrong)
    right = sum(1 for before, version in pairwise(sets) if _is_next(before, version)) - len(wrong)
    if right > 0:
        yield RuleId.WRONG_SET_CHANGE, CONFORMS, None, right
    for fact in group.of(SetRefused):
        if fact.code is None or _record_around(group, sets, fact) is not None:
            continue
        if _rightly_refused(fact, decided, sets):
            yield RuleId.WRONG_SET_CHANGE, CONFORMS, None, 1
        else:
            why = "what the controllers had recorded, and who was alive then, is not in the logs"
            yield RuleId.WRONG_SET_CHANGE, UNDECIDABLE, why, 1


def _rightly_refused(fact: SetRefused, decided: Iterable[Decision], sets: list[SetVersion]) -> bool:
    """Return True when the record shows the reason of a refusal, at whatever time."""
    if fact.code in (INVALID_MASTER, FENCED_MASTER_EPOCH):
        return any(
            is_larger(decision.term, fact.term)
            for decision in decided
            if decision.decision in (ELECTED, NOBODY_ELECTED)
        )
    if fact.code == FENCED_SET_EPOCH:
        return any(is_larger(version.epoch, fact.set_epoch) for version in sets)
    if fact.code == ALTER_FAILED:
        wanted = tuple(sorted(fact.members or ()))
        return any(version.members == wanted for version in sets)
    return False


# -- single lines ------------------------------------------------------------------------------------------------

_LOSES_DATA = frozenset({"HA_CLIENT_CUT_AT"})


def broken_lines(group: Group) -> Iterator[Finding]:
    """Yield the rules broken by a single line, each once: JRaft controllers print a line on every node, and again."""
    seen: set[tuple[object, ...]] = set()
    for fact in group.of(RuleBroken):
        key = (fact.line, fact.term, fact.why) if fact.line == "JR_ELECT" else (fact.line, fact.since_event)
        if key not in seen:
            seen.add(key)
            severity = CRITICAL if fact.line in _LOSES_DATA else WARNING
            words = fact.why if fact.line in SAID_BY_CONTROLLERS else f"{fact.who} {fact.why}"
            yield _wrong(group, RuleId(fact.rule), key, severity, (fact,), words)


def epochs_ahead(group: Group, implied_by: str | None) -> Iterator[Finding]:
    """Yield ``EPOCH_REGRESSION``: a store refused a role because its epoch file knows a later epoch. The controllers
    gave out an epoch for a second time: they lost their state, or an operator removed the set."""
    seen: set[tuple[str, int | None]] = set()
    for fact in group.of(EpochAhead):
        if (fact.who, fact.term) in seen or not is_ahead(fact):
            continue
        seen.add((fact.who, fact.term))
        why = ", after an operator had removed the broker set from the controllers" if cleaned(group) else ""
        claim = f"The store of {fact.who} knows epoch {fact.known_epoch} and refused a role of epoch {fact.term}{why}"
        severity = WARNING if why else CRITICAL
        yield _wrong(
            group, RuleId.EPOCH_REGRESSION, ("ahead", fact.who, fact.term), severity, (fact,), claim, implied_by
        )


def is_ahead(fact: EpochAhead) -> bool:
    """Return True when the store knew a later epoch than that of the role it refused."""
    return fact.known_epoch is not None and (fact.term is None or fact.known_epoch > fact.term)
