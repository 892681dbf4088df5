"""Quorum arithmetic against counting."""

from hypothesis import given
from hypothesis import strategies as st

from election_replay.election_core.model.quorum import is_majority, majority


@given(members=st.integers(1, 50), votes=st.integers(0, 50))
def test_a_majority_is_more_than_the_rest(members: int, votes: int) -> None:
    """Votes decide when those who did not vote cannot outnumber or match them."""
    assert is_majority(votes, members) == (votes > members - votes)


@given(members=st.integers(1, 50))
def test_two_majorities_share_a_member(members: int) -> None:
    """Which is why one term has one leader."""
    assert 2 * majority(members) > members
