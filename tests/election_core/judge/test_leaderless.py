"""Times without a leader: found by looking at few tenures, as if at all of them."""

from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from election_replay.election_core.fold.fact_writer import FactHeader
from election_replay.election_core.judge import leaderless
from election_replay.election_core.judge.alive_times import AliveTimes
from election_replay.election_core.judge.by_time import ByTime
from election_replay.election_core.judge.clock import Clocks, Moment
from election_replay.election_core.judge.group import Group, Tenure, group_of
from election_replay.election_core.judge.leaderless import Gap, gaps
from election_replay.election_core.judge.outages import severity_of
from election_replay.election_core.judge.overlap import at_once, overlaps
from election_replay.election_core.model.facts import Alive, Fact, Role, Silence
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import SECOND
from tests.election_core import story

NODES = ("a", "b", "c")

tenures = st.lists(
    st.tuples(
        st.sampled_from(NODES),
        st.integers(0, 60),  # how long after the beginning of the one before it
        st.integers(0, 90),  # how long it lasts
        st.integers(0, 5),  # how long its end is unknown
        st.sampled_from(["stopped", "died", "silent", "quorum_lost", None]),
    ),
    min_size=1,
    max_size=12,
)
heard_at = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES), st.integers(0, 300)), max_size=12)
holes = st.lists(st.tuples(st.sampled_from(NODES), st.integers(0, 300), st.integers(10, 60)), max_size=3)


def during(source: str, since: int, until: int, blur: int = 0) -> FactHeader:
    """The beginning of a fact of a log, with times in seconds."""
    start = (since * SECOND, (since + 1) * SECOND, f"{source}-{since}")
    end = (until * SECOND, (until + 1 + blur) * SECOND, None)
    return ("c", "g", "raft", source, source, *start, *end, 0, 0, None)


def led_by(source: str, since: int, until: int, blur: int, term: int, end_cause: str | None) -> Role:
    """A leader of a term."""
    when = during(source, since, until, blur)
    return Role(*when, role="leader", term=term, leader=None, address=None, end_cause=end_cause, cause=None)


def group(led: list[tuple[str, int, int, int, str | None]], silent: list[tuple[str, int, int]], bound: int) -> Group:
    """A group in which members led one after the other, some longer than they should have."""
    told: list[Fact] = []
    at = 0
    for term, (node, after, lasted, blur, end) in enumerate(led):
        at += after
        told.append(led_by(node, at, at + lasted, blur, term, end))
    told += [Alive(*during(node, 0, at + 100), stopped=False) for node in NODES]
    told += [Silence(*during(node, since, since + lasts)) for node, since, lasts in silent]
    return group_of(told, Clocks(dict.fromkeys(NODES, bound), []))


def looking_at_all(group: Group, heard: list[tuple[str, Moment]]) -> Iterator[Gap]:
    """The gaps, each by the ends of all tenures before it."""
    known, unseen, alive_times = (
        ByTime((node, moment, moment) for node, moment in heard),
        leaderless._led_without_log(group),
        AliveTimes(group),
    )
    for number in range(1, len(group.tenures) + 1):
        after = group.tenures[number] if number < len(group.tenures) else None
        target = after.begin if after else group.end
        ends = [leaderless._effective_end(group, one, target, known) for one in group.tenures[:number]]
        targets = [*(later.begin for later in group.tenures[number:]), group.end]
        soonest = min(targets, key=attrgetter("at"))
        gap = leaderless._gap(group, ends, (after, target, soonest), unseen, alive_times)
        if gap is not None:
            yield gap


def pairs_at_once(group: Group) -> set[tuple[Tenure, Tenure]]:
    """The pairs of tenures that may have been at once."""
    return {
        (one, other)
        for one in group.tenures
        for other in group.tenures
        if (one.term, one.begin) < (other.term, other.begin)
        and one.source != other.source
        and at_once(group.clocks, one, other)[1] > 0
    }


@settings(max_examples=300)
@given(led=tenures, heard=heard_at, silent=holes, bound=st.sampled_from([0, 500_000, 20 * SECOND]))
def test_few_tenures_tell_as_much_as_all(
    led: list[tuple[str, int, int, int, str | None]],
    heard: list[tuple[str, str, int]],
    silent: list[tuple[str, int, int]],
    bound: int,
) -> None:
    own = group(led, silent, bound)
    moments = [(node, Moment(at * SECOND, (at + 1) * SECOND, by)) for node, by, at in heard]
    assert list(gaps(own, moments)) == list(looking_at_all(own, moments))
    assert {(one.stale, one.newer) for one in overlaps(own)} == pairs_at_once(own)


def test_a_history_ten_times_as_long_takes_about_ten_times_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, count = Clocks.elapsed, [0]

    def counting(self: Clocks, earlier: Moment, later: Moment) -> tuple[int, int]:
        count[0] += 1
        return whole(self, earlier, later)

    monkeypatch.setattr(Clocks, "elapsed", counting)
    took = []
    for length in (20, 200):
        own = group([(NODES[number % 3], 60, 50, 3, "died") for number in range(length)], [], 500_000)
        heard = [
            (NODES[number % 3], Moment(number * 60 * SECOND, number * 60 * SECOND, "a")) for number in range(length)
        ]
        count[0] = 0
        assert len(list(gaps(own, heard))) > length / 2
        assert not list(overlaps(own))
        took.append(count[0])
    assert took[1] < 12 * took[0]


@pytest.mark.parametrize(
    ("seconds", "planned", "expected"),
    [(1, False, "info"), (2, False, "warning"), (29, True, "info"), (30, True, "warning"), (30, False, "warning")],
)
def test_how_grave_an_outage_is_depends_on_its_length(seconds: int, planned: bool, expected: str) -> None:
    assert severity_of(seconds * SECOND, planned=planned) == expected


def test_who_learns_late_that_its_followers_left_may_have_lost_them_before() -> None:
    """A frozen leader tells of closed connections when it goes on; where no line says who votes, the loss is as wide."""
    path = Path(__file__).parents[2] / "scenarios/zab/frozen_leader_after_a_reconfiguration.txt"
    learns = "02:20:12,000 [myid:3]"
    other_voters = "02:12:00,000 [myid:3] - WARN  [QuorumPeer[myid=3]:QuorumPeer@1] - Restarting Leader Election"
    text = path.read_text().replace(learns, f"{other_voters}\n{learns}")
    rows = story.judge(story.facts_of(story.parse(text)))
    outage = next(row for row in rows if isinstance(row, Finding) and row.rule == "LEADERLESS")
    assert (outage.duration_min_ms or 0) <= 14_500 <= (outage.duration_max_ms or 0), outage.summary
