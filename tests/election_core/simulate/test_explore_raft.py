"""Every interleaving of three Raft members: one leader a term, and what finds the bugs that break it."""

from collections.abc import Hashable
from dataclasses import replace

from election_replay.election_core.protocols.raft.tables import PRE_VOTE, VOTE, count, is_behind
from election_replay.election_core.simulate.raft import machine
from election_replay.election_core.simulate.raft.machine import (
    BEAT,
    CANDIDATE,
    CHECK,
    LEADER,
    LINK,
    PRE_CANDIDATE,
    READ,
    STATE_FILE,
    Append,
    Member,
    Rules,
    State,
    Vote,
    VoteAnswer,
)
from tests.election_core.simulate.explore import Model, search, told

NAMES = ("n0", "n1", "n2")
WITHOUT_CLOCK = Rules(pre_vote=False, lease_ms=-1)
"""No time passes in the search, so any lease may be over."""


def model(rules: Rules = WITHOUT_CLOCK, last_term: int = 3) -> Model[Member, State]:
    """Three members that begin in term 1 with one log, and elections in the terms 2 to ``last_term``.

    Nobody writes, so that a leader's messages can do no more than make others follow it: its heartbeats do no more
    than its first append, and a leader that gives up does no harm.
    """
    return Model(
        machine=machine,
        members={name: Member(name, NAMES, rules, connections=False) for name in NAMES},
        within=lambda state: state.term <= last_term,
        remember=lambda name, state: (state.term, name) if state.role == LEADER else None,
        broken=two_leaders,
        spent=spent,
        effort=lambda _: 0,
        most_effort=0,
        ignored=frozenset({BEAT, CHECK, LINK, READ}),
    )


def two_leaders(led: frozenset[Hashable]) -> str | None:
    terms = [term for term, _ in led]  # type: ignore[misc]
    return next((f"two leaders in term {term}" for term in sorted(terms) if terms.count(term) > 1), None)


def spent(state: State, sender: str, message: Hashable) -> bool:
    """What belongs to an older term, or was counted, means nothing any more."""
    if isinstance(message, VoteAnswer):
        asks = {CANDIDATE: VOTE, PRE_CANDIDATE: PRE_VOTE}.get(state.role)
        counted = asks != message.request or sender in dict(state.votes)
        return message.term < state.term or (message.term == state.term and counted)
    if isinstance(message, Vote):
        return message.request == VOTE and message.term < state.term
    return not isinstance(message, Append) or message.term < state.term or state.role == LEADER


def test_one_leader_a_term() -> None:
    found = search(model())
    assert found.broken is None, told(found)
    assert found.moments > 1_500, "the search must not have been cut short"


def test_one_leader_a_term_with_a_crash() -> None:
    """Term and vote are on disk before a vote is answered: a crash at any moment does no harm."""
    found = search(replace(model(last_term=2), crashes=1))
    assert found.broken is None, told(found)
    assert found.moments > 1_000


def test_a_vote_that_does_not_bind_is_found() -> None:
    """The shortest way to two leaders: two candidates, each with its own vote and the other's."""
    rules = replace(WITHOUT_CLOCK, granted=lambda ballot: not is_behind(ballot.end, ballot.own_end))
    found = search(model(rules, last_term=2))
    print(told(found))
    assert found.broken == "two leaders in term 2"
    assert len(found.trace) == 6
    assert found.trace[:2] == ("n0: election", "n1: election")


def test_a_vote_that_is_not_on_disk_is_found() -> None:
    """A voter that forgets its vote in a crash gives it again."""
    found = search(replace(model(last_term=2), crashes=1, loses=frozenset({STATE_FILE})))
    print(told(found))
    assert found.broken == "two leaders in term 2"
    assert "n2: crashes, and is back" in found.trace
    assert len(found.trace) == 7


def test_a_quorum_of_one_is_found() -> None:
    found = search(model(replace(WITHOUT_CLOCK, count=lambda answers, _: count(answers, 1))))
    print(told(found))
    assert found.broken == "two leaders in term 2"
    assert found.trace == ("n0: election", "n1: election")
