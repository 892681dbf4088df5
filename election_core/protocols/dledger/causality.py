"""Causal pairs of DLedger members: lines of one that follow from lines of another, which tie their clocks.

Only what holds for incomplete logs counts. A line may have been dropped and a log may begin anywhere, so the first line
found is not always the first one written: a node may win one term twice, and a node that lost its ``currterm`` file, or
got an old copy of it, raises itself to one term twice.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from election_replay.election_core.fold.roles import FOLLOWER, LEADER, TRANSFER
from election_replay.election_core.judge.clock import Message, Moment
from election_replay.election_core.judge.group import since
from election_replay.election_core.model.facts import (
    Alive,
    Committed,
    Fact,
    KnownCommitted,
    LeaderLog,
    Role,
    VoteGranted,
)
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.dledger.log import PROTOCOL
from election_replay.election_core.protocols.raft_family.causality import (
    Raises,
    forgotten,
    of_two_machines,
    raises,
)

ProcessRuns = Mapping[str, Sequence[tuple[int, int]]]
"""The (begin, latest end) of each run of each process, in us of its own clock."""


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """Yield the pairs: a follower follows, and knows commits, after its leader reached the term; votes follow the
    voter's.

    A voter grants a vote only in a term that it reached before (``handleVote``: REJECT_TERM_NOT_READY first).
    """
    facts = list(facts)
    raised = raises(facts)
    led = _led(facts, raised)
    process_runs = _process_runs(facts)
    for fact in facts:
        if isinstance(fact, Role) and fact.role == FOLLOWER and fact.cause == "heartbeat":
            cause = led.get((fact.leader, fact.term))
        elif isinstance(fact, VoteGranted):
            cause = raised.get((fact.voter, fact.term))
        else:
            continue
        if cause is not None and not _of_an_earlier_run(fact, cause, process_runs):
            yield Message(cause, since(fact))
    yield from _commits_from_leaders(facts, process_runs)


def _process_runs(facts: Iterable[Fact]) -> ProcessRuns:
    """Return all runs; one that just ends may have gone on for as long as a log may be silent."""
    process_runs: dict[str, set[tuple[int, int]]] = {}
    for fact in facts:
        if isinstance(fact, Alive) and fact.protocol == PROTOCOL:
            last = fact.until_by if fact.until_by is not None else fact.since_by
            end = last if fact.stopped else last + Timeout.SILENCE.us
            process_runs.setdefault(fact.source_node, set()).add((fact.since, end))
    return {source: sorted(spans) for source, spans in process_runs.items()}


def _commits_from_leaders(facts: Sequence[Fact], process_runs: ProcessRuns) -> Iterator[Message]:
    """Yield pairs from a leader's commit index to a follower that knows a larger one, which only the leader can send.

    Source: ``DLedgerEntryPusher``: followers take the index from the pushes of the leader, which has committed it
    first. A node that leads a term again after a restart may know less than before, but nothing beyond the end of the
    log it then led with. Two leaders of one term do not share commits: such terms tie nothing.
    """
    terms = [fact for fact in facts if isinstance(fact, Role) and fact.protocol == PROTOCOL and fact.leader is not None]
    named = Counter(term for term, _ in {(fact.term, fact.leader) for fact in terms})
    ends_led_with: dict[tuple[str, int | None], dict[int, int]] = {}
    known: dict[int, list[KnownCommitted]] = {}
    for fact in facts:
        if fact.protocol != PROTOCOL or not isinstance(fact, KnownCommitted | LeaderLog | Role):
            continue
        if isinstance(fact, KnownCommitted):
            known.setdefault(fact.term, []).append(fact)
        elif isinstance(fact, LeaderLog) or fact.role == LEADER:
            life = _runs_begun(process_runs, fact.source_node, fact.since)
            ends = ends_led_with.setdefault((fact.source_node, fact.term), {})
            ends[life] = max(ends.get(life, -1), fact.to_index if isinstance(fact, LeaderLog) else -1)
    for grown in facts:
        if not isinstance(grown, Committed) or grown.protocol != PROTOCOL or grown.from_index is None:
            continue
        ends = ends_led_with.get((grown.source_node, grown.term), {})
        life = _runs_begun(process_runs, grown.source_node, grown.since)
        again = min(ends, default=life) < life
        if named[grown.term] != 1 or (again and ends.get(life, -1) < 0):
            continue
        cause = Moment(grown.since, grown.since, grown.source_node, grown.since_event)
        index = max(grown.from_index, ends[life] if again else -1)
        for knows in known.get(grown.term, []):
            knows_more = knows.to_index > index and knows.source_node != grown.source_node
            if knows_more and not _of_an_earlier_run(knows, cause, process_runs):
                yield Message(cause, since(knows))


def _of_an_earlier_run(effect: Fact, cause: Moment, process_runs: ProcessRuns) -> bool:
    """Return True when the effect belongs to an earlier run of the process that logged the cause, and does not lie
    between two of them. A process that lost its ``currterm`` file reaches a term again, and the lines of the first time
    may be missing."""
    of_source = process_runs.get(cause.source, [])
    earlier = of_source[: max(_runs_begun(process_runs, cause.source, cause.at) - 1, 0)]
    return any(begin <= effect.since_by and effect.since <= end for begin, end in earlier)


def _runs_begun(process_runs: ProcessRuns, source: str, time: int) -> int:
    """Return how many runs of a process began by a time."""
    return bisect_right(process_runs.get(source, []), time, key=itemgetter(0))


def _led(facts: list[Fact], raised: Raises) -> Raises:
    """Return when each leader of each term can first have sent heartbeats: at its election, if that was its first. Raft
    proper (JRaft) raises the term for every election, so none is won twice but by a member that forgot it; DLedger does
    not."""
    led, doubled, forgot = dict(raised), of_two_machines(facts), forgotten(facts)
    for fact in facts:
        if not isinstance(fact, Role) or fact.role != LEADER or fact.cause not in ("elected", TRANSFER):
            continue
        if fact.node in doubled:
            continue
        key = (fact.node, fact.term)
        won_once = fact.protocol != PROTOCOL and (fact.term or 0) > forgot.get(fact.node or "", -1)
        if won_once or _at_once(raised.get(key), fact):
            led[key] = since(fact)
    return led


def _at_once(raised: Moment | None, elected: Role) -> bool:
    return (
        raised is not None
        and raised.source == elected.source_node
        and 0 <= elected.since - raised.at <= Timeout.DLEDGER_AT_ONCE.us
    )
