"""The rows of a broker set: elections, master epochs and SyncStateSets."""

from collections.abc import Iterator
from dataclasses import replace

from election_replay.election_core.judge.fates import with_former
from election_replay.election_core.judge.group import Group, Tenure, since
from election_replay.election_core.judge.role_rows import terms_by_hearsay
from election_replay.election_core.judge.term_rows import term_held
from election_replay.election_core.model.catalogue import POSSIBLE, PROVEN
from election_replay.election_core.model.rows import Election, SyncStateSet, Term
from election_replay.election_core.protocols.controller.causes import cause
from election_replay.election_core.protocols.controller.checks import ELECTED, NOBODY_ELECTED
from election_replay.election_core.protocols.controller.decision_rules import SetVersion, record_lost
from election_replay.election_core.protocols.controller.facts import Decision
from election_replay.election_core.protocols.controller.record import elections_of

UNKNOWN_EPOCH = 0
"""Stands for an unknown epoch in a row that must have one; the first master's epoch is 1."""


def terms(group: Group, decided: list[Decision]) -> Iterator[Term]:
    """Yield one row for each master epoch: by the brokers' own logs, else by the decision."""
    yield from with_former(group, _terms(group, decided))


def _terms(group: Group, decided: list[Decision]) -> Iterator[Term]:
    held: dict[tuple[int, str], list[Tenure]] = {}
    for tenure in group.tenures:
        held.setdefault((tenure.term, tenure.node), []).append(tenure)
    elected = elections_of(decided)
    for (epoch, master), tenures in held.items():
        yield _term_held(group, epoch, master, tenures, elected)
    seen = {epoch for epoch, _ in held}
    heard = {(row.term, row.leader): row for row in terms_by_hearsay(group, seen)}
    late = _printed_late(group, decided, elected)
    for number, fact in enumerate(elected):
        if fact.term is None or fact.term in seen or (fact.since_event in late and fact.raft_index is not None):
            continue
        seen.add(fact.term)
        after = elected[number + 1].since if number + 1 < len(elected) else None
        row = Term(
            **group.names,
            term=fact.term,
            leader=fact.node if fact.decision == ELECTED else None,
            start_time=fact.since,
            end_time=after,
            cause=cause(group, fact.term, fact),
            certainty=PROVEN if fact.committed else POSSIBLE,
            start_event_id=fact.since_event,
            end_event_id=None,
        )
        yield _as_followed(row, heard.get((row.term, row.leader)))
    yield from (row for (epoch, _), row in heard.items() if epoch not in seen)


def _printed_late(group: Group, decided: list[Decision], elected: list[Decision]) -> set[str | None]:
    """Return the ids of elections printed when a larger epoch had surely begun; empty after a lost record. A JRaft
    controller that starts prints all decisions of its log again, without the time at which they were made."""
    begins = [(role.term, since(role)) for role in group.roles if role.term is not None and role.leader is not None]
    begins += [(fact.term, since(fact)) for fact in elected if fact.term is not None]
    late, first = set[str | None](), None
    for _, begin in sorted(begins, key=lambda begun: begun[0], reverse=True):
        if first is not None and group.clocks.elapsed(first, begin)[0] > 0:
            late.add(begin.event_id)
        first = begin if first is None else min(first, begin)
    return set() if record_lost(decided) else late


def _as_followed(row: Term, heard: Term | None) -> Term:
    """Move a decided epoch's begin to when its master was first followed, if earlier: decisions may be reprints."""
    if heard is None or heard.start_time >= row.start_time:
        return row
    return replace(
        row,
        start_time=heard.start_time,
        start_event_id=heard.start_event_id,
        end_time=heard.end_time,
        end_event_id=heard.end_event_id,
    )


def _term_held(group: Group, epoch: int, master: str, tenures: list[Tenure], elected: list[Decision]) -> Term:
    decision = next((fact for fact in elected if fact.term == epoch), None)
    return term_held(group, epoch, master, tenures, cause(group, epoch, decision))


def elections(decided: list[Decision], group: Group, sets: list[SetVersion]) -> Iterator[Election]:
    """Yield one row for each election by the controllers, with or without a winner."""
    by_epoch = {version.epoch: version for version in sets}
    for fact in elections_of(decided):
        before = None if fact.set_epoch is None else by_epoch.get(fact.set_epoch - 1)
        yield Election(
            **group.names,
            term=fact.term,
            candidate=fact.node,
            start_time=fact.since,
            end_time=fact.since,
            outcome=_outcome(fact, before),
            rounds=1,
            voters=before.members if before else (),
            decided_by=fact.source_node,
            start_event_id=fact.since_event,
            end_event_id=fact.since_event,
        )


def _outcome(fact: Decision, before: SetVersion | None) -> str:
    if fact.decision == NOBODY_ELECTED:
        return "no_candidate"
    if before is not None and fact.node not in before.members:
        return "won_unclean"
    return "won"


def sync_state_sets(group: Group, sets: list[SetVersion]) -> Iterator[SyncStateSet]:
    """Yield one row for each value of the SyncStateSet."""
    for number, version in enumerate(sets):
        after = sets[number + 1].decision.since if number + 1 < len(sets) else None
        yield SyncStateSet(
            **group.names,
            master_epoch=UNKNOWN_EPOCH if version.master_epoch is None else version.master_epoch,
            sync_state_set_epoch=version.epoch,
            master=version.master,
            members=version.members,
            start_time=version.decision.since,
            end_time=after,
            start_event_id=version.decision.since_event,
        )
