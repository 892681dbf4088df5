"""Ids of the algorithms in which the highest one leads."""

import pytest

from election_replay.election_core.protocols.highest_id.id_order import rank


@pytest.mark.parametrize(
    ("lower", "higher"), [("P9", "P10"), ("2", "10"), ("node-1", "node-2"), ("a", "b"), ("7", "7x")]
)
def test_ids_are_ordered_by_their_numbers(lower: str, higher: str) -> None:
    assert rank(lower) < rank(higher)


def test_an_id_ranks_with_itself() -> None:
    assert rank("P3") == rank("P3")
