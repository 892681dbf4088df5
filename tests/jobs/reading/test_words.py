"""Losses in words, of one and of several."""

from typing import Any

from election_replay.jobs.reading.words import LOSSES, lost

NOTHING: dict[str, Any] = dict.fromkeys((*(column for column, _, _ in LOSSES), "lost_from", "messages_repeated"))


def test_one_of_a_kind_is_no_plural() -> None:
    assert [*lost(NOTHING | {"messages_lost": 1, "messages_repeated": 1})] == [
        "1 message was cut off",
        "1 message may be consumed again",
    ]
    assert [*lost(NOTHING | {"messages_lost": 2, "lost_from": "queues"})] == ["2 messages are in no queue"]
    assert [*lost(NOTHING | {"entries_lost": 1})] == ["1 committed entry was lost"]
