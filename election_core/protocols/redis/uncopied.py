"""Writes of a master that died before any replica had them.

    redis-1   [=== master ===]                                            takes over after it
    redis-3                     [= master, history 7283... =] killed      nobody copied that history
    redis-1                                                     [== master, goes on from an older history ====

A master that is elected prints the id of the history it goes on from. Where that is not the last history of the master
before it, the new one has nothing of what that master took, and whoever follows it throws the rest away.
"""

from collections.abc import Iterator, Sequence

from election_replay.election_core.fold.roles import DIED
from election_replay.election_core.judge.group import Group, Tenure
from election_replay.election_core.judge.overlap import at_once
from election_replay.election_core.judge.wording import between
from election_replay.election_core.model.catalogue import POSSIBLE, WARNING, RuleId
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.redis.facts import DataHeld
from election_replay.election_core.protocols.redis.losses import goes_on_from, in_succession, leads_again_with_its_data
from election_replay.election_core.protocols.redis.server_log import BEGAN, GOES_ON


def lost_with_their_master(group: Group) -> Iterator[Finding]:
    """Yield ``POSSIBLE_DATA_LOSS``: a master died, and its successor went on from a history older than its own. No
    line says whether clients wrote to it."""
    in_turn = in_succession(group)
    for tenure in in_turn:
        successor = _successor(group, tenure, in_turn)
        if tenure.end_cause != DIED or successor is None or at_once(group.clocks, tenure, successor)[0] > 0:
            continue
        begun, older = _begun_in(group, tenure), goes_on_from(group, successor)
        lasted = group.clocks.elapsed(tenure.begin, tenure.end)
        if not begun or older is None or lasted[1] < Timeout.MIN_REPORTED.us:
            continue
        foreign = {fact.other or fact.ids for fact in begun}.isdisjoint(_held_by(group, successor))
        if foreign and leads_again_with_its_data(group, tenure) is None:
            yield _lost(group, tenure, successor, lasted, (begun[-1], older))


def _successor(group: Group, tenure: Tenure, in_turn: Sequence[Tenure]) -> Tenure | None:
    """Return the master on another server that surely began next after a tenure; None if that is not certain."""
    elapsed = group.clocks.elapsed
    later = [each for each in in_turn if each is not tenure and elapsed(tenure.begin, each.begin)[1] > 0]
    first = min(later, key=lambda each: each.begin.at, default=None)
    if first is None or first.source == tenure.source:
        return None
    sure = elapsed(tenure.begin, first.begin)[0] > 0
    return first if sure and all(elapsed(first.begin, each.begin)[1] > 0 for each in later if each != first) else None


def _begun_in(group: Group, tenure: Tenure) -> list[DataHeld]:
    """Return the histories that a master began in its tenure, in order."""
    return sorted(
        (
            fact
            for fact in group.of(DataHeld)
            if fact.source_node == tenure.source
            and fact.message in (GOES_ON, BEGAN)
            and abs(min(fact.since - tenure.begin.at, 0)) < Timeout.REDIS_NEW_HISTORY.us
            and fact.since <= tenure.end.at
        ),
        key=lambda fact: (fact.since, fact.ordinal),
    )


def _held_by(group: Group, successor: Tenure) -> set[str | None]:
    """Return the ids of all histories that the log of a master names until it took over."""
    of_source = (fact for fact in group.of(DataHeld) if fact.source_node == successor.source)
    return {fact.ids for fact in of_source if fact.since - successor.begin.by < Timeout.REDIS_NEW_HISTORY.us}


def _lost(
    group: Group, tenure: Tenure, successor: Tenure, lasted: tuple[int, int], shown: tuple[DataHeld, DataHeld]
) -> Finding:
    return group.finding(
        RuleId.POSSIBLE_DATA_LOSS,
        ("uncopied", tenure.source, tenure.begin.at),
        severity=WARNING,
        certainty=POSSIBLE,
        nodes=(tenure.node, successor.node),
        terms=(tenure.term, successor.term),
        when=(tenure.begin.at, successor.begin.at),
        summary=f"{tenure.with_detail(f'epoch {tenure.term}')} was master for {between(max(lasted[0], 0), lasted[1])} "
        f"and died, and {successor.name} had copied nothing of that when it took over: what clients wrote to "
        f"{tenure.node} then is lost, and no line says whether any did.",
        evidence=[*tenure.evidence, *(fact.since_event for fact in shown), successor.begin.event_id],
    )
