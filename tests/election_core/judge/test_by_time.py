"""What is looked up by source and time is what looking at all of it finds."""

from hypothesis import given, settings
from hypothesis import strategies as st

from election_replay.election_core.judge.by_time import ByTime
from election_replay.election_core.judge.clock import Clocks, Message, Moment, Step
from election_replay.election_core.judge.group import group_of
from election_replay.election_core.judge.quorum_contact import LaterTerms
from election_replay.election_core.model.facts import Alive
from election_replay.election_core.model.timing import SECOND
from tests.election_core.judge.test_leaderless import NODES, during, led_by

spans = st.lists(st.tuples(st.sampled_from(NODES), st.integers(0, 50), st.integers(0, 20)))


@given(spans=spans, since=st.integers(-5, 80), lasts=st.integers(0, 30))
def test_all_that_is_near_is_found_in_its_order(spans: list[tuple[str, int, int]], since: int, lasts: int) -> None:
    every = [(node, Moment(at, at + width, node), number) for number, (node, at, width) in enumerate(spans)]
    until = since + lasts
    for node in NODES:
        found = ByTime(every).between(node, since, until)
        near = {number for of, moment, number in every if of == node and moment.by > since and moment.at <= until}
        assert found == sorted(found)
        assert near <= set(found)
        assert all(every[number][0] == node and every[number][1].at <= until for number in found)


@settings(max_examples=300)
@given(
    led=st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 60), st.integers(0, 9)), min_size=1, max_size=4),
    asked=st.tuples(st.sampled_from(NODES), st.integers(0, 70), st.integers(-1, 9)),
    stepped=st.booleans(),
)
def test_whether_a_leader_of_a_larger_term_had_begun_is_what_all_of_them_say(
    led: list[tuple[str, int, int]], asked: tuple[str, int, int], stepped: bool
) -> None:
    steps = [Step("a", 30 * SECOND, 5 * SECOND, 5 * SECOND)] if stepped else []
    moments = [[Moment(at * SECOND, at * SECOND, node) for node in "ab"] for at in (5, 55)]
    messages = [message for a, b in moments for message in (Message(a, b), Message(b, a))]
    clocks = Clocks(dict.fromkeys(NODES, SECOND), messages, steps)
    assert clocks.never_set("a") != stepped
    roles = [led_by(node, at, at + 1, 0, term, "stopped") for node, at, term in led]
    group = group_of([*roles, *(Alive(*during(node, 0, 100), stopped=False) for node in NODES)], clocks)
    node, at, term = asked
    moment = Moment(at * SECOND, at * SECOND, node)
    begun = any(other.term > term and clocks.surely_before(other.begin, moment) for other in group.tenures)
    assert group.once(LaterTerms).begun(term, moment) == begun
