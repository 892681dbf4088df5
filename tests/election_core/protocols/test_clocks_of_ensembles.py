"""A vote for the leader of an epoch, with that epoch, is heard only after that leader was established."""

from pathlib import Path

import pytest

from election_replay.election_core.fold.roles import LEADER
from election_replay.election_core.judge.clock import Clocks, Moment
from election_replay.election_core.model.facts import MessageReceived, MessageSent, Role
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import SECOND
from election_replay.election_core.protocols.zab.causality import causal_pairs
from election_replay.election_core.protocols.zab.passed_votes import VOTE, voted_for
from tests.election_core import story

LEADER_LOG = """
02:00:01,000 [myid:2] - INFO  [QuorumPeer[myid=2]:QuorumPeer@1] - LOOKING
02:00:01,400 [myid:2] - INFO  [QuorumPeer[myid=2]:QuorumPeer@1] - LEADING
02:00:01,410 [myid:2] - INFO  [QuorumPeer[myid=2]:Leader@1] - LEADING - LEADER ELECTION TOOK - 300 MS
02:00:30,000 [myid:2] - INFO  [QuorumPeer[myid=2]:Leader@1] - Have quorum of supporters, sids: [[1, 2]]; starting up \
and setting last processed zxid: 0x100000000
"""
"""The log of server 2: elected, and established half a minute later."""

HEARD = (
    "02:00:09,000 [myid:3] - INFO  [QuorumPeer[myid=3]:QuorumPeer@1] - LOOKING\n"
    "02:00:10,110 [myid:3] - INFO  [WorkerReceiver[myid=3]:FastLeaderElection$Messenger$WorkerReceiver@1] - "
    "Notification: my state:LOOKING; n.sid:{sid}, n.state:LOOKING, n.leader:{leader}, n.round:0x2, "
    "n.peerEpoch:0x{epoch}, n.zxid:0x{epoch}00000020, message format version:0x2, n.config version:0x0\n"
)
"""What server 3, whose log has nothing else of that epoch, heard by its own clock 20 s before."""


def behind(sid: int, leader: int, epoch: int) -> int | None:
    """By how many seconds at least the clock of server 3 is behind that of server 2; ``None``: nothing says so."""
    logs = f"[zk2 zookeeper.log]{LEADER_LOG}\n[zk3 zookeeper.log]\n{HEARD.format(sid=sid, leader=leader, epoch=epoch)}"
    facts = story.facts_of(story.parse(f"One is established, another hears a vote.\n\n{logs}"))
    clocks = Clocks({"zk2": 3600 * SECOND, "zk3": 3600 * SECOND}, causal_pairs(facts))
    at = 1_772_330_430 * SECOND
    least, _ = clocks.elapsed(Moment(at, at, "zk2"), Moment(at, at, "zk3"))
    return least // SECOND if least > -7200 * SECOND else None


def test_a_vote_with_the_epoch_of_its_leader_comes_after_it_was_established() -> None:
    assert behind(2, 2, 1) == 19
    assert behind(1, 2, 1) == 19  # whoever sends it


@pytest.mark.parametrize(("leader", "epoch"), [(2, 0), (1, 1), (2, 2)])
def test_no_other_vote_does(leader: int, epoch: int) -> None:
    """The leader's own vote before it led; a supporter had the epoch before its leader was established; another one."""
    assert behind(2, leader, epoch) is None


def test_real_votes_follow_real_establishments(corpora: Path) -> None:
    tied = 0
    for run in sorted((corpora / "zookeeper").iterdir()):
        if not (run / "run.json").exists():
            continue
        facts = story.run_facts(run)
        led = {fact.since_event for fact in facts if isinstance(fact, Role) and fact.role == LEADER}
        votes = {
            fact.since_event
            for fact in facts
            if isinstance(fact, MessageReceived) and fact.message == VOTE and voted_for(fact.ids)[1]
        }
        pairs = [pair for pair in causal_pairs(facts) if pair.cause.event_id in led and pair.effect.event_id in votes]
        tied += len(pairs)
        skews = [row for row in story.run_rows(run) if isinstance(row, Finding) and row.rule == "CLOCK_SKEW"]
        assert not skews or "chaos" in run.name, (run.name, skews)
    assert tied > 50


LATE = """
02:00:27,630 [myid:3] - INFO  [QuorumPeer[myid=3]:QuorumPeer@1] - LOOKING
02:00:27,635 [myid:3] - INFO  [QuorumPeer[myid=3]:FastLeaderElection@1] - New election. My id = 3, proposed zxid=0x0
02:00:30,847 [myid:3] - INFO  [QuorumPeer[myid=3]:QuorumPeer@1] - LOOKING
02:00:30,852 [myid:3] - INFO  [QuorumPeer[myid=3]:FastLeaderElection@1] - New election. My id = 3, proposed zxid=0x0
02:00:31,833 [myid:3] - INFO  [WorkerReceiver[myid=3]:FastLeaderElection$Messenger$WorkerReceiver@1] - Notification: \
my state:{state}; n.sid:3, n.state:LOOKING, n.leader:3, n.round:0x5, n.peerEpoch:0x0, n.zxid:0x0, message format \
version:0x2, n.config version:0x0
02:00:34,213 [myid:3] - INFO  [QuorumPeer[myid=3]:QuorumPeer@1] - LOOKING
02:00:34,218 [myid:3] - INFO  [QuorumPeer[myid=3]:FastLeaderElection@1] - New election. My id = 3, proposed zxid=0x0
02:00:34,693 [myid:3] - INFO  [WorkerReceiver[myid=3]:FastLeaderElection$Messenger$WorkerReceiver@1] - Notification: \
my state:LOOKING; n.sid:3, n.state:LOOKING, n.leader:3, n.round:0x8, n.peerEpoch:0x0, n.zxid:0x0, message format \
version:0x2, n.config version:0x0
"""
"""The log of a busy server: it prints its vote of round 5 in the election after, that of round 8 in the one after that."""


@pytest.mark.parametrize("state", ["LOOKING", "FOLLOWING"])
def test_votes_that_a_busy_server_prints_late_were_sent_since_the_first_election_without_any(state: str) -> None:
    facts = story.facts_of(story.parse(f"Its own votes.\n\n[zk3 zookeeper.log]{LATE.format(state=state)}"))
    sent = {fact.term: fact.since % (60 * SECOND) for fact in facts if isinstance(fact, MessageSent)}
    assert sent == {5: 27_635_000, 8: 27_635_000}


def test_votes_printed_in_their_election_were_sent_in_it() -> None:
    in_time = "\n".join(line for line in LATE.splitlines() if "02:00:27" not in line).format(state="LOOKING")
    facts = story.facts_of(story.parse(f"Its own votes.\n\n[zk3 zookeeper.log]\n{in_time}"))
    sent = {fact.term: fact.since % (60 * SECOND) for fact in facts if isinstance(fact, MessageSent)}
    assert sent == {5: 30_852_000, 8: 34_218_000}
