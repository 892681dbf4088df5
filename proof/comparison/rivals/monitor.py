"""Monitors as P's PObserve runs them: one process, all events in the order of their times, one state machine a rule.

python -m proof.comparison.rivals.monitor EVENTS

Each monitor is a safety rule of the system's specification, and tells its first violation. It looks neither ahead nor
back, and believes the time stamps.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from proof.comparison.questions import Question
from proof.comparison.rivals.claims import claim, event_files

Line = dict[str, Any]
COLUMNS = [
    *("kind", "event_time", "file_order", "line_no", "source_node", "stream", "replica_group", "term", "node", "peer"),
    *("request", "result", "consumer_group", "topic", "queue_id", "client_id"),
]
LOCK_S = 60.0
"""How long a lock lives that is not renewed (RebalanceLockManager.REBALANCE_LOCK_MAX_LIVE_TIME)."""


class OneLeaderOfATerm:
    """A term has one leader."""

    question = Question.SAME_TERM
    WON = ("DL_TO_LEADER", "RAFT_TO_LEADER", "ZK_ESTABLISHED", "JR_BECOME_LEADER", "BRK_MASTER_BEGIN")

    def __init__(self) -> None:
        self.leaders: dict[tuple[str, int], str] = {}

    def broken_by(self, line: Line) -> bool:
        """Whether the line names a second leader of its term."""
        if line["kind"] not in self.WON or line["term"] is None:
            return False
        return bool(self.leaders.setdefault((group_of(line), line["term"]), line["source_node"]) != line["source_node"])


class OneVoteOfATerm:
    """A member gives its vote of a term to one candidate."""

    question = Question.DOUBLE_VOTE

    def __init__(self) -> None:
        self.votes: dict[tuple[str, int, str], str] = {}

    def broken_by(self, line: Line) -> bool:
        """Whether the line shows a second vote."""
        if line["kind"] == "DL_VOTE_REPLY" and line["result"] == "ACCEPT" and line["peer"]:
            voter, candidate = line["peer"], line["node"]
        elif line["kind"] == "RAFT_VOTE_CAST" and line["request"] == "MsgVote":
            voter, candidate = line["node"], line["peer"]
        else:
            return False
        return bool(self.votes.setdefault((group_of(line), line["term"], voter), candidate) != candidate)


class OneHolderOfALock:
    """A queue is locked by one client."""

    question = Question.DOUBLE_LOCK

    def __init__(self) -> None:
        self.held: dict[tuple[Any, ...], dict[str, Any]] = {}

    def broken_by(self, line: Line) -> bool:
        """Whether the line gives a lock that another client holds at another broker."""
        if line["kind"] not in ("LOCK_NEW", "LOCK_TAKEN_EXPIRED", "LOCK_RELEASED"):
            return False
        queue = tuple(line[name] for name in ("replica_group", "consumer_group", "topic", "queue_id"))
        holders = self.held.setdefault(queue, {})
        holders.pop(line["source_node"], None)
        if line["kind"] == "LOCK_RELEASED":
            return False
        others = [one for one in holders.values() if (line["event_time"] - one["event_time"]).total_seconds() < LOCK_S]
        holders[line["source_node"]] = line
        return any(one["client_id"] != line["client_id"] for one in others)


MONITORS: tuple[Callable[[], OneLeaderOfATerm | OneVoteOfATerm | OneHolderOfALock], ...] = (
    OneLeaderOfATerm,
    OneVoteOfATerm,
    OneHolderOfALock,
)


def group_of(line: Line) -> str:
    """The group that a line is about: brokers and controllers of one kind of line may share a folder."""
    kind = str(line["kind"]).partition("_")[0]
    if kind == "BRK":
        return str(line["replica_group"])
    return kind + (" brokers" if "broker_default" in line["stream"] else "")


def broken(events: Path) -> Iterator[Question]:
    """The rules that the events of a run break."""
    lines = pq.read_table(events, columns=COLUMNS).sort_by([(name, "ascending") for name in ("event_time", "line_no")])
    monitors = [monitor() for monitor in MONITORS]
    for batch in lines.to_batches():
        for line in batch.to_pylist():
            for monitor in [monitor for monitor in monitors if monitor.broken_by(line)]:
                yield monitor.question
                monitors.remove(monitor)


def main(folder: Path) -> None:
    """Print what the monitors claim of the runs whose events lie below ``folder``."""
    for run, file in event_files(folder):
        for question in broken(file):
            claim(run, question)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
