"""Every interleaving of three DLedger members: one leader a term, and what finds the bugs that break it."""

from collections.abc import Hashable
from dataclasses import replace

import pytest

from election_replay.election_core.protocols.dledger.tables import ALREADY_HAS_LEADER, ALREADY_VOTED, VOTE_CHECKS
from election_replay.election_core.simulate.dledger import machine
from election_replay.election_core.simulate.dledger.machine import (
    LEADER,
    PAUSE,
    PUSH,
    STATUS,
    TERM_FILE,
    HeartbeatReply,
    Member,
    Rules,
    State,
    VoteReply,
)
from tests.election_core.simulate.explore import Model, search, told
from tests.proving import only_when_proving

NAMES = ("n0", "n1", "n2")
WITHOUT_CLOCK = Rules(silence_ms=-1)
"""No time passes in the search, so any silence may be too long."""


def model(effort: int, rules: Rules = WITHOUT_CLOCK, last_term: int = 1) -> Model[Member, State]:
    """Three members, terms 0 to ``last_term``, at most ``effort`` rounds of votes and of heartbeats together.

    A pause may end at once because the loop behind it may take any time. Answers to heartbeats are lost: all that they
    can do, to make a leader step down, the end of the wait for them does as well.
    """
    return Model(
        machine=machine,
        members={name: Member(name, "G", NAMES, rules) for name in NAMES},
        within=lambda state: state.term <= last_term and state.largest_heard <= last_term,
        remember=lambda name, state: (state.term, name) if state.role == LEADER else None,
        broken=two_leaders,
        spent=spent,
        effort=lambda state: state.rounds + state.beats,
        most_effort=effort,
        ignored=frozenset({STATUS, PUSH}),
        instant=frozenset({PAUSE}),
    )


def two_leaders(led: frozenset[Hashable]) -> str | None:
    terms = [term for term, _ in led]  # type: ignore[misc]
    return next((f"two leaders in term {term}" for term in sorted(terms) if terms.count(term) > 1), None)


def spent(state: State, sender: str, message: Hashable) -> bool:
    """An answer to a round that is over, or was counted, means nothing any more."""
    if isinstance(message, VoteReply):
        voting = state.voting
        return voting is None or voting.number != message.round or sender not in voting.waiting
    return isinstance(message, HeartbeatReply)


def test_one_leader_a_term() -> None:
    found = search(model(effort=3))
    assert found.broken is None, told(found)
    assert found.moments > 11_000, "the search must not have been cut short"


@pytest.mark.slow
@only_when_proving("ten seconds")
def test_one_leader_a_term_with_more_rounds() -> None:
    """Rounds in term 0, a raise, a voter that is not ready, and the vote after it."""
    found = search(model(effort=4))
    assert found.broken is None, told(found)
    assert found.moments > 240_000


@pytest.mark.slow
def test_one_leader_a_term_with_a_crash() -> None:
    """The term file is written before a vote is answered: a crash at any moment does no harm."""
    found = search(replace(model(effort=2), crashes=1))
    assert found.broken is None, told(found)


def test_a_vote_that_does_not_bind_is_found() -> None:
    """The shortest way to two leaders: two candidates, each with its own vote and the other's."""
    checks = tuple(check for check in VOTE_CHECKS if check.answer not in (ALREADY_VOTED, ALREADY_HAS_LEADER))
    found = search(model(effort=3, rules=replace(WITHOUT_CLOCK, vote_checks=checks)))
    print(told(found))
    assert found.broken == "two leaders in term 0"
    assert len(found.trace) == 6
    assert found.trace[:2] == ("n0: maintain", "n1: maintain")


def test_a_vote_that_is_not_on_disk_is_found() -> None:
    """A voter that forgets its vote in a crash gives it again."""
    found = search(replace(model(effort=3), crashes=1, loses=frozenset({TERM_FILE})))
    print(told(found))
    assert found.broken == "two leaders in term 0"
    assert "n2: crashes, and is back" in found.trace
    assert len(found.trace) == 7


def test_a_quorum_of_one_is_found() -> None:
    found = search(model(effort=2, rules=replace(WITHOUT_CLOCK, quorum=lambda _: 1)))
    print(told(found))
    assert found.broken == "two leaders in term 0"
    assert found.trace == ("n0: maintain", "n1: maintain")
