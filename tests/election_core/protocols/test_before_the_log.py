"""A leader that is known by its end alone: the log of an etcd member begins in the middle of a leadership."""

import pytest

from tests.election_core import story

STEPS_DOWN = (
    "raft: a1 stepped down to follower since quorum is not active",
    "raft: a1 became follower at term 4",
)
HEARS_A_LARGER_TERM = (
    "raft: a1 [term: 4] received a MsgVote message with higher term from b2 [term: 5]",
    "raft: a1 became follower at term 5",
)


def leaders(*lines: str) -> set[tuple[int, str, int]]:
    """Each leader of a term by its own log, and how long it led at least, in milliseconds."""
    log = [f"{story.DAY} 02:00:{number:02d}.000000 I | {line}" for number, line in enumerate(lines)]
    rows = story.judge(story.facts_of({("a", "etcd.log"): log, story.INVENTORY: ["a: a1 of cafe"]}))
    return {
        (row.term, row.node, (row.end_time - row.start_time) // 1000)
        for row in rows
        if isinstance(row, story.RoleInterval)
        and row.role == "leader"
        and row.source_node is not None
        and row.term is not None
        and row.end_time is not None
    }


@pytest.mark.parametrize(
    ("lines", "term"),
    [
        (STEPS_DOWN, 4),
        ((*STEPS_DOWN, "raft: raft.node: a1 lost leader a1 at term 4"), 4),
        ((*HEARS_A_LARGER_TERM, "raft: raft.node: a1 lost leader a1 at term 5"), 4),
        ((*HEARS_A_LARGER_TERM, "raft: raft.node: a1 changed leader from a1 to b2 at term 5"), 4),
    ],
)
def test_who_gives_up_had_led(lines: tuple[str, ...], term: int) -> None:
    assert {(found, node) for found, node, _ in leaders(*lines)} == {(term, "a1")}


def test_late_heartbeats_show_that_it_led_before() -> None:
    late = "etcdserver: failed to send out heartbeat on time (exceeded the 100ms timeout for 488.9ms)"
    assert leaders(late, "etcdserver: server is likely overloaded", *STEPS_DOWN) == {(4, "a1", 2000)}


@pytest.mark.parametrize(
    "lines",
    [
        HEARS_A_LARGER_TERM,  # it may have followed
        ("raft: a1 became follower at term 5", "raft: raft.node: a1 lost leader a1 at term 5"),  # of which term?
        (*HEARS_A_LARGER_TERM, "raft: raft.node: a1 lost leader c3 at term 5"),
        (
            "raft: newRaft a1 [peers: [], term: 4, commit: 7, applied: 0, lastindex: 9, lastterm: 4]",
            *HEARS_A_LARGER_TERM,
            "raft: raft.node: a1 lost leader a1 at term 5",
        ),
    ],
)
def test_nothing_more_is_made_of_it(lines: tuple[str, ...]) -> None:
    assert leaders(*lines) == set()


def test_a_leader_that_a_follower_loses_is_known_by_hearsay() -> None:
    lines = (*HEARS_A_LARGER_TERM, "raft: raft.node: a1 lost leader c3 at term 5")
    log = [f"{story.DAY} 02:00:{number:02d}.000000 I | {line}" for number, line in enumerate(lines)]
    rows = story.judge(story.facts_of({("a", "etcd.log"): log, story.INVENTORY: ["a: a1 of cafe"]}))
    assert [(row.term, row.leader, row.certainty) for row in rows if isinstance(row, story.Term) and row.leader] == [
        (4, "c3", "possible")
    ]


def test_who_gives_up_again_did_not_follow_all_the_time() -> None:
    """Logs of warnings only lack the lines that made it leader again."""
    log = [f"{story.DAY} 02:0{minute}:00.000000 I | {STEPS_DOWN[0]}" for minute in (0, 2)]
    rows = story.judge(story.facts_of({("a", "etcd.log"): log, story.INVENTORY: ["a: a1 of cafe"]}))
    followed = [row for row in rows if isinstance(row, story.RoleInterval) and row.role == "follower"]
    assert len(followed) == 2
