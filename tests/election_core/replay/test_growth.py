"""Twice the history of a group takes about twice the steps, to fold as to judge: groups live for years."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from election_replay.election_core.replay.group_judge import rows_of_group
from tests.election_core.story import facts_of, facts_of_node

Logs = dict[tuple[str, str], list[str]]

MOST = 2.5
"""So many times the steps, at most, of a history twice as long."""

READS_LINES = "/election_core/dialects/"

SHORT = 60
"""Elections, restarts or changes of role in the shorter history."""


def at(second: float) -> str:
    """A time of the day of stories."""
    return f"2026-03-01 {int(second // 3600):02}:{int(second // 60 % 60):02}:{second % 60:06.3f}"


def zookeeper(elections: int) -> Logs:
    """Three servers that elect the third one again and again, every minute."""
    logs: Logs = {(f"zk{server}", "zookeeper.log"): [] for server in (1, 2, 3)}
    for number in range(elections):
        begin, epoch = 3600 + 60.0 * number, number
        for server in (1, 2, 3):
            log, role = logs[f"zk{server}", "zookeeper.log"], "LEADING" if server == 3 else "FOLLOWING"

            def say(after: float, thread: str, text: str, log: list[str] = log, begin: float = begin) -> None:
                log.append(f"{at(begin + after).replace('.', ',')} [myid:] - INFO  [{thread}@1] - {text}")

            peer = f"QuorumPeer[myid={server}]:QuorumPeer"
            say(0.1, peer, "LOOKING")
            election = f"QuorumPeer[myid={server}]:FastLeaderElection"
            say(0.11, election, f"New election. My id = {server}, proposed zxid=0x{(epoch << 32) + 5 * (epoch > 0):x}")
            for voter in (1, 2, 3):
                vote = (
                    f"Notification: my state:LOOKING; n.sid:{voter}, n.state:LOOKING, n.leader:3, n.round:0x{number + 1:x}"
                    f", n.peerEpoch:0x{epoch:x}, n.zxid:0x{(epoch << 32) + 5 * (epoch > 0):x}, message format "
                    "version:0x2, n.config version:0x0"
                )
                receiver = f"WorkerReceiver[myid={server}]:FastLeaderElection$Messenger$WorkerReceiver"
                say(0.12 + voter / 100, receiver, vote)
            say(0.4, peer, role)
            say(0.41, f"QuorumPeer[myid={server}]:Leader", f"{role} - LEADER ELECTION TOOK - 300 MS")
            if server == 3:
                established = (
                    "Have quorum of supporters, sids: [[1, 2, 3]]; starting up and setting last processed zxid: "
                )
                say(0.7, f"QuorumPeer[myid={server}]:Leader", f"{established}0x{(epoch + 1) << 32:x}")
                say(50, f"QuorumPeer[myid={server}]:Leader", "Shutdown called. For the reason Not sufficient followers "
                    "synced, only synced with sids: [ [3] ]")  # fmt: skip
            else:
                say(50.5, f"QuorumPeer[myid={server}]:Follower", "shutdown Follower")
    return logs


def etcd(restarts: int) -> Logs:
    """A member that starts again and again beside two that lose its connection."""
    logs: Logs = {(node, "etcd.log"): [] for node in ("a1", "b2", "c3")}

    def say(node: str, second: float, text: str) -> None:
        logs[node, "etcd.log"].append(f"{at(second)}000 I | {text}")

    for node in ("a1", "b2"):
        say(node, 3600, f"raft: {node} became follower at term 2")
        say(node, 3601, f"raft: raft.node: {node} elected leader a1 at term 2")
    say("a1", 3601.5, "raft: a1 became leader at term 2")
    for number in range(restarts):
        begin = 3660 + 120.0 * number
        say("c3", begin, "etcdmain: etcd Version: 3.4.13")
        say("c3", begin + 0.1, "raft: c3 became follower at term 2")
        say("c3", begin + 0.2, "raft: raft.node: c3 elected leader a1 at term 2")
        for node in ("a1", "b2"):
            say(node, begin + 0.3, "rafthttp: peer c3 became active")
            say(node, begin + 60, "rafthttp: lost the TCP streaming connection with peer c3 (stream Message reader)")
            say(node, begin + 60.1, "rafthttp: peer c3 became inactive (message send to peer failed)")
    return logs


def dledger(elections: int) -> Logs:
    """Three members, of which the next one leads each minute."""
    logs: Logs = {(f"n{member}", "broker_default.log"): [] for member in range(3)}
    for number in range(elections):
        begin, term, leader = 3600 + 60 * number, number + 1, f"n{number % 3}"
        for member in range(3):
            node = f"n{member}"
            log, time = logs[node, "broker_default.log"], at(begin + 2)[:-4]
            if node == leader:
                log.append(f"{at(begin)[:-4]} INFO StateMaintainer - [{node}] [ChangeRoleToCandidate] from term: "
                           f"{term - 1} and currTerm: {term - 1}")  # fmt: skip
                log.append(f"{time} INFO StateMaintainer - [{node}] [ChangeRoleToLeader] from term: {term} and currTerm: "
                           f"{term}")  # fmt: skip
            else:
                log.append(f"{time} INFO NettyServer - [{node}][ChangeRoleToFollower] from term: {term} leaderId: {leader} "
                           f"and currTerm: {term}")  # fmt: skip
    return logs


def broker_set(changes: int) -> Logs:
    """A broker under controllers that is master and slave in turns."""
    log = [f"{at(3600)[:-4]} INFO main - The broker[b, 10.0.0.1:10911] boot success. serializeType=JSON"]
    for number in range(changes):
        time, epoch = at(3630 + 30 * number)[:-4], number + 1
        log.append(
            f"{time} INFO main - Begin to change to master, brokerName:b, replicas:10.0.0.1:10911, new Epoch:{epoch}"
            if number % 2
            else f"{time} INFO main - Begin to change to slave, brokerName=b, brokerId=1, newMasterBrokerId=2, "
            f"newMasterAddress=10.0.0.2:10911, newMasterEpoch={epoch}"
        )
    return {("x", "broker.log"): log}


HISTORIES: dict[str, Callable[[int], Logs]] = {
    "zookeeper": zookeeper,
    "etcd": etcd,
    "dledger": dledger,
    "broker set": broker_set,
}


FEW = 1000
"""A function that takes no more steps than this in a longer history is looked at by nobody."""


class Steps:
    """How many lines of Python each function ran; a comprehension runs one for each of its items."""

    def __init__(self) -> None:
        self.of = Counter[str]()

    def trace(self, frame: FrameType, event: str, _argument: Any) -> "Callable[..., Any] | None":
        """What the interpreter calls. What reads lines is as long as they are, and would hide all else."""
        if event == "call" and READS_LINES in frame.f_code.co_filename:
            return None
        if event == "line":
            self.of[f"{frame.f_code.co_filename.rpartition('/election_core/')[2]}:{frame.f_code.co_qualname}"] += 1
        return self.trace


@contextmanager
def counted() -> Iterator[Steps]:
    """Count the steps of what is done here."""
    steps, before = Steps(), sys.gettrace()
    sys.settrace(steps.trace)
    try:
        yield steps
    finally:
        sys.settrace(before)


def steps_of(logs: Logs) -> tuple[Counter[str], Counter[str]]:
    """The steps of each function to fold these logs, and to judge what comes of them."""
    facts_of_node.cache_clear()
    with counted() as folding:
        facts = facts_of(logs)
    groups = sorted({fact.replica_group for fact in facts})
    of_groups = [[fact for fact in facts if fact.replica_group == group] for group in groups]
    with counted() as judging:
        rows = [row for of_group in of_groups for row in rows_of_group(of_group)]
    assert len(rows) > len(logs)
    return folding.of, judging.of


@pytest.mark.parametrize("history", HISTORIES)
def test_twice_the_history_takes_about_twice_the_steps(history: str) -> None:
    steps_of(HISTORIES[history](4))  # what is made once
    short, long = (steps_of(HISTORIES[history](length)) for length in (SHORT, 2 * SHORT))
    for few, many in zip(short, long, strict=True):
        grown = {name: (few[name], count) for name, count in many.items() if count > max(FEW, MOST * few[name])}
        assert not grown, "steps in the shorter and in the longer history, of each function that takes too many"
