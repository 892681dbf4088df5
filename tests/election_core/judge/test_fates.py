"""What had become of a leader: nobody is called cut off whose log shows only that it gave up late; and when a process
ended by what the others heard of it."""

from pathlib import Path

import pytest

from election_replay.election_core.judge.clock import Clocks, Moment
from election_replay.election_core.judge.group import Tenure, group_of
from election_replay.election_core.judge.moments import Step
from election_replay.election_core.model.catalogue import WARNING, RuleId
from election_replay.election_core.model.facts import Alive, ContactLost, Fact, QuietLog
from election_replay.election_core.model.rows import Finding, RoleInterval, Term
from election_replay.election_core.model.timing import SECOND
from election_replay.election_core.protocols.redis.facts import SentinelSaid
from election_replay.election_core.protocols.redis.losses import missed_for
from election_replay.election_core.protocols.redis.sentinel_log import DOWN
from tests.election_core import story
from tests.election_core.judge.test_leaderless import during, led_by

SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.mark.parametrize(
    ("path", "term"),
    [
        ("kraft/frozen_leader_gives_up_when_it_wakes", 17),
        ("redis/master_frozen", 1),
        ("raft/silent_for_less_than_either_shows", 3),
    ],
)
def test_who_may_have_been_frozen_is_not_called_cut_off(path: str, term: int) -> None:
    rows = story.scenario_rows(SCENARIOS / f"{path}.txt")
    (next_one,) = (row for row in rows if isinstance(row, Term) and row.term == term)
    assert next_one.former_leader_state not in (None, "cut_off")
    fates = {row.former_leader_fate for row in rows if isinstance(row, Finding) and term in row.terms}
    assert fates <= {None, "unknown", "died"}


def test_a_master_that_is_elected_again_as_it_wakes_was_frozen() -> None:
    path = SCENARIOS / "controller/master_frozen_and_elected_again.txt"
    rows = story.scenario_rows(path)
    (again,) = (row for row in rows if isinstance(row, Term) and row.term == 5)
    assert again.former_leader_state == "frozen"
    (without,) = (row for row in rows if isinstance(row, Finding) and row.rule == RuleId.LEADERLESS)
    assert (without.severity, without.former_leader_fate) == (WARNING, "frozen")


def state_at(path: str, term: int, *, more: str = "") -> str | None:
    """What the leader before a term was when it began; ``more`` lines stand at the end of the last log."""
    text = (SCENARIOS / f"{path}.txt").read_text().split(story.RULE)[0]
    rows = story.judge(story.facts_of(story.parse(text.rstrip() + "\n" + more)))
    (row,) = (row for row in rows if isinstance(row, Term) and row.term == term)
    return row.former_leader_state


def test_who_may_have_slept_by_a_log_without_a_rhythm_is_not_told_to_have_heard_at_once() -> None:
    assert state_at("controller/excerpt_of_a_broker", 8) == "unknown"


LEARNS = "02:00:{}00000 I | raft: raft.node: {} elected leader {} at term {}"


def old_leader(
    logs: dict[str, list[tuple[str, str, str, int]]], more: dict[str, list[str]] | None = None
) -> str | None:
    """What the leader of term 2 was when that of term 3 began, by logs in which members learn, each at a time, who
    leads, and by ``more`` lines behind these."""
    text = [
        line
        for log, lines in logs.items()
        for line in (f"[{log} etcd.log]", *(LEARNS.format(*of) for of in lines), *(more or {}).get(log, ()))
    ]
    rows = story.judge(story.facts_of(story.parse("\n".join(text))))
    (row,) = (row for row in rows if isinstance(row, Term) and row.term == 3)
    return row.former_leader_state


def test_who_alone_tells_when_it_heard_of_the_next_leader_is_not_told_to_have_heard_at_once() -> None:
    """It may have slept, or started again, when the next one began: who learns of a leader knew none."""
    old = [("00.1", "a1", "a1", 2), ("05.1", "a1", "b2", 3)]
    assert old_leader({"n1": old}) == "unknown"
    assert old_leader({"n1": old, "n2": [("05.0", "b2", "b2", 3)]}) == "unknown"


def test_who_changes_its_leader_as_the_next_one_begins_heard_at_once() -> None:
    """Its line says that it knew itself as leader until then."""
    changes = "02:00:05.100000 I | raft: raft.node: a1 changed leader from a1 to b2 at term 3"
    logs = {"n1": [("00.1", "a1", "a1", 2)], "n2": [("05.0", "b2", "b2", 3)]}
    assert old_leader(logs, more={"n1": [changes]}) == "reachable"


def test_who_changes_its_leader_some_seconds_after_the_next_one_began_may_have_slept() -> None:
    changes = "02:00:07.400000 I | raft: raft.node: a1 changed leader from a1 to b2 at term 3"
    logs = {"n1": [("00.1", "a1", "a1", 2)], "n2": [("05.0", "b2", "b2", 3)]}
    assert old_leader(logs, more={"n1": [changes]}) == "unknown"


def test_a_member_that_speaks_under_another_id_had_started_again() -> None:
    """The lines with "leader" of two members; the data of the first, which leads, were lost, and it was added anew."""
    logs = {"n1": [("00.1", "a1", "a1", 2), ("40.1", "d4", "b2", 3)], "n2": [("30.0", "b2", "b2", 3)]}
    assert old_leader(logs) == "died"


SAYS = "02:00:{} [myid:2] - INFO  [QuorumPeer[myid=2](plain=0.0.0.0:2181)(secure=disabled):{}] - {}"
BEFORE = (
    ("00,000", "QuorumPeer@1566", "LEADING"),
    (
        *("00,100", "Leader@1511"),
        "Have quorum of supporters, sids: [[1, 2],[1, 2]]; starting up and setting last processed zxid: 0x100000000",
    ),
)
AFTER = (
    ("40,000", "QuorumPeerMain@152", "Starting quorum peer, myid=2"),
    ("40,400", "QuorumPeer@1442", "LOOKING"),
    (
        *("40,450", "FastLeaderElection$Messenger$WorkerReceiver@391"),
        "Notification: my state:LOOKING; n.sid:3, n.state:LEADING, n.leader:3, n.round:0x2, n.peerEpoch:0x2, "
        "n.zxid:0x100000029, message format version:0x2, n.config version:0x0",
    ),
    ("40,500", "QuorumPeer@1554", "FOLLOWING"),
    ("40,600", "Learner@814", "Set the current epoch to 2"),
)


def test_who_starts_again_in_another_file_is_not_called_cut_off() -> None:
    """Before and after a restart, in files of two names: its first life was over when the second began."""
    logs = {"before": BEFORE, "after": AFTER}
    text = [
        line for log, says in logs.items() for line in (f"[{log} zookeeper.log]", *(SAYS.format(*of) for of in says))
    ]
    rows = story.judge(story.facts_of(story.parse("\n".join(text))))
    assert [row.former_leader_state for row in rows if isinstance(row, Term)] == [None, "silent"]


def test_a_frozen_master_is_told_so_although_another_clock_was_set() -> None:
    """It hears of the next one in the second in which it wakes: that comes after the hole in its log."""
    beats = (f"10:0{at // 60}:{at % 60:02} INFO AutoSwitchHAClient - Slave report current offset 1000" for at in BACK)
    set_back = "\n".join(beats)
    assert state_at("controller/frozen_master", 2) == "frozen"
    assert state_at("controller/frozen_master", 2, more=set_back) == "frozen"


BACK = range(30, 100, 5)
"""Seconds after ten, at which a member writes again whose clock was set back."""


def end_of_first_life(*losses: Fact) -> tuple[int | None, int | None]:
    """The last sign of a process, and what came surely after its end, in seconds: its log says nothing from 10 on, and
    it starts again at 100."""
    facts = [
        QuietLog(*during("a", 0, 0)),
        Alive(*during("a", 0, 10), stopped=False),
        Alive(*during("a", 100, 200), stopped=False),
        led_by("a", 0, 10, 0, 1, "died"),
        *(Alive(*during(source, 0, 200), stopped=False) for source in "bc"),
        *losses,
    ]
    group = group_of(facts, Clocks(dict.fromkeys("abc", 1), []))
    life = min((life for life in group.of(Alive) if life.source_node == "a"), key=lambda life: life.since)
    at, by = (None if us is None else round(us / SECOND) for us in (life.until, life.until_by))
    return at, by


def lost(source: str, since: int, by: int, until: int | None, *, closed: bool = True) -> ContactLost:
    """A source lost contact with the first process between two seconds."""
    head = list(during(source, since, until or 0))
    head[3], head[6] = "a", (by + 1) * SECOND
    if until is None:
        head[8:11] = [None, None, None]
    return ContactLost(*head, closed=closed)


def test_a_wide_loss_before_a_narrow_one_still_tells_the_end() -> None:
    late = lost("c", 50, 51, None, closed=False)  # one that did not run hears late what was sent before
    at, _ = end_of_first_life(lost("b", 5, 15, 101), lost("b", 7, 7, None, closed=False), late)
    assert at is not None
    assert at <= 16


def test_a_connection_that_was_closed_after_the_next_start_is_of_the_next_life() -> None:
    assert end_of_first_life(lost("b", 98, 103, 104)) == end_of_first_life()


def missed_by(source: str, since: int, until: int) -> SentinelSaid:
    """A watcher's word that it missed ``a``."""
    head = list(during(source, since, until))
    head[3] = "a"
    return SentinelSaid(*head, message=DOWN, term=None, peer=source)


def test_a_spell_in_which_a_master_was_missed_long_ago_makes_no_heartbeats_of_what_is_lost_now() -> None:
    group = group_of([missed_by("s", 0, 10)], Clocks({"s": 1, "b": 1}, []))
    begin = Moment(300 * SECOND, 300 * SECOND, "b")
    stale, newer = (Tenure(node, node, 1, begin, begin, None, ()) for node in "ab")
    assert missed_for(group, stale, newer) == 0


def test_a_clock_that_was_set_too_often_does_not_say_when_a_master_was_missed() -> None:
    """Another watcher missed it after the change: it was not cut off before."""
    steps = [Step("t", at * SECOND, 0, SECOND) for at in range(0, 200, 20)]
    words = [missed_by("s", 302, 400), missed_by("t", 10, 400)]
    group = group_of(words, Clocks({"s": 1, "t": 1, "b": 1}, [], steps))
    begin = Moment(300 * SECOND, 300 * SECOND, "b")
    stale, newer = (Tenure(node, node, 1, begin, begin, None, ()) for node in "ab")
    assert missed_for(group, stale, newer) == 0


SLOW_START = """
[n0 controller.log]
10:00:00 INFO DLedgerControllerRoleChangeHandler_1 - Controller n0 change role to leader, try process a initial proposal
10:01:00 INFO main - Server is running in TLS permissive mode
10:01:17 INFO main - SSLContext created for server
10:01:20 INFO DLedgerControllerRoleChangeHandler_1 - Controller n0 change role to Follower, leaderId:n2
[n0 dledger.log]
09:59:59 INFO main - [n0] [ChangeRoleToLeader] from term: 1 and currTerm: 1
10:01:17 INFO main - listen the port: 9878
10:01:19 INFO main - [n0][ChangeRoleToFollower] from term: 2 leaderId: n2 and currTerm: 2
"""


def test_a_controller_that_starts_slowly_had_died_before_its_first_line() -> None:
    """What it says first is of its next life, however long the lines after it take."""
    rows = story.judge(story.facts_of(story.parse(SLOW_START)))
    ends = {row.end_time for row in rows if isinstance(row, RoleInterval) and row.role == "leader" and row.node == "n0"}
    restarts = {row.start_time for row in rows if isinstance(row, RoleInterval) and row.start_cause == "start"}
    assert (len(ends), [(start - end) // SECOND for end in ends for start in restarts]) == (1, [60])
