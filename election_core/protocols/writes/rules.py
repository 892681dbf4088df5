"""Brokers that answer writes too slowly, and keep their role. No election is at fault, and none follows: heartbeats and
registrations are small and get through. It is reported because clients see the same as in a time without a leader."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from election_replay.election_core.fold.roles import FOLLOWER, OBSERVER
from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.judge.coverage import coverage
from election_replay.election_core.judge.group import Group, group_of, since, until
from election_replay.election_core.judge.outages import writes_refused
from election_replay.election_core.judge.wording import name_of, seconds
from election_replay.election_core.model.catalogue import INFO, RuleId
from election_replay.election_core.model.facts import Fact, RefusedWrites
from election_replay.election_core.model.measures import Refusal
from election_replay.election_core.model.rows import Finding, RoleInterval, Row
from election_replay.election_core.model.timing import US_PER_MS, Timeout
from election_replay.election_core.protocols.writes.facts import AnsweredTooLate
from election_replay.election_core.protocols.writes.log import PROTOCOL

__all__ = ["PROTOCOL", "downgrade_refusals_of_followers", "judge"]


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one broker set."""
    group = group_of(facts, clocks)
    every = list(group.of(AnsweredTooLate))
    found = [fact for fact in every if _says_something(group, fact)]
    yield from (_finding(group, fact) for fact in found)
    yield coverage(group, RuleId.WRITES_UNANSWERED, len(every) - len(found), len(found))
    refused = list(group.of(RefusedWrites))
    outages = [finding for fact in refused for finding in _refused(group, fact)]
    yield from outages
    yield coverage(group, RuleId.WRITES_REFUSED, len(refused) - len(outages), len(outages))


def _refused(group: Group, fact: RefusedWrites) -> Iterator[Finding]:
    """Yield ``WRITES_REFUSED`` for one fact; a single late acknowledgement is none. A full disk is logged once, and so
    is its end: nothing is known beyond the end of the file that logs it."""
    end = until(fact)
    least, _ = group.clocks.elapsed(since(fact), end or group.written.get(fact.source_node, group.end))
    _, most = group.clocks.elapsed(since(fact), end or group.end)
    if fact.why == Refusal.UNACKNOWLEDGED and fact.count == 1:
        return
    yield from writes_refused(
        group,
        (fact.source_node, fact.why, fact.since),
        name_of(fact.node, fact.source_node),
        [fact],
        (least, most),
        (fact.since, end.at if end else None),
        nodes=(fact.who,),
        evidence=[*fact.evidence, fact.since_event, fact.until_event],
        former_leader=fact.who,
    )


def downgrade_refusals_of_followers(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield a group's rows; a refusal of writes by a follower becomes information, since no client writes to it."""
    every = list(rows)
    roles = [row for row in every if isinstance(row, RoleInterval)]
    for row in every:
        if isinstance(row, Finding) and _of_a_broker(row) and _followed(row, roles):
            summary = f"{row.summary} It followed at that time, and no client writes to a follower."
            row = replace(row, severity=INFO, summary=summary)  # noqa: PLW2901
        yield row


def _of_a_broker(finding: Finding) -> bool:
    return (finding.rule, finding.protocol) == (RuleId.WRITES_REFUSED, PROTOCOL)


def _followed(refused: Finding, roles: Iterable[RoleInterval]) -> bool:
    """Return True when a member was a follower for the whole time of a finding, by its own log. A broker that prints no
    id is named by its log."""
    begin = refused.start_time
    end = begin if refused.end_time is None else refused.end_time
    return any(
        role.source_node is not None
        and (role.node in refused.nodes or role.source_node in refused.nodes)
        and role.role in (FOLLOWER, OBSERVER)
        and role.start_time <= begin
        and (role.end_time is None or end <= role.end_time)
        for role in roles
    )


def _says_something(group: Group, fact: AnsweredTooLate) -> bool:
    """Return True when a fact shows a slow broker; a single answer may have missed a client that just left."""
    return fact.slowest_ms is not None or (fact.count > 1 and _lasted(group, fact)[1] >= Timeout.BLURRED_END.us)


def _lasted(group: Group, fact: AnsweredTooLate) -> tuple[int, int]:
    return group.clocks.elapsed(since(fact), until(fact) or since(fact))


def _finding(group: Group, fact: AnsweredTooLate) -> Finding:
    name, end = fact.who, until(fact)
    who = name_of(name, fact.source_node)
    least, most = _lasted(group, fact)
    writes = "a write" if fact.count == 1 else f"{fact.count} writes"
    of_them = "" if fact.count == 1 else f"{fact.unconfirmed} of them "
    parts = [f"{of_them}without the flush or the copies that were asked for"] if fact.unconfirmed else []
    parts += [f"a put took up to {seconds(fact.slowest_ms * US_PER_MS)}"] if fact.slowest_ms is not None else []
    details = f" ({'; '.join(parts)})" if parts else ""
    slow = {0: "it was", fact.count: "its disk or its slaves were"}.get(fact.unconfirmed, "it, or its slaves, were")
    refused = f" It refused {fact.refused} more, as late." if fact.refused else ""
    return group.finding(
        RuleId.WRITES_UNANSWERED,
        (fact.source_node, fact.since),
        severity=INFO,
        nodes=(name,),
        when=(since(fact).at, end.at if end else None),
        summary=f"Within {seconds(most)} {who} stored {writes}{details} and answered after the clients had given "
        f"up: {slow} too slow for them. A client that tries again stores its message twice.{refused}",
        evidence=[fact.since_event, *fact.evidence, fact.until_event],
        lasted=(least, most),
    )
