"""Each line of the RocketMQ runs that a ``run.json`` names as proof becomes an event of the kind that its words mean.

The runs of ZooKeeper and etcd are checked by the tests of their dialects.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from election_replay.election_core.dialects import Record
from election_replay.election_core.dialects.rocketmq.dialect import ROCKETMQ

PLACE = re.compile(
    r"nodes/(?P<folder>[\w-]+)/\S+/(?P<path>[\w.-]+\.log):(?P<no>\d+)"
    r"|\b(?P<node>[\w-]+) (?P<file>[\w.-]+\.log):(?P<line>\d+)"
    r"|(?<= ):(?P<same>\d+)\b"
)
"""``nodes/n1/logs/rocketmqlogs/broker.log:17``, ``broker-1 store.log:12``, and ``:14`` of the same file after that."""

WORDS = {
    "[BUG] currTerm": "DL_TWO_LEADERS",
    "[ChangeRoleToCandidate]": "DL_TO_CANDIDATE",
    "[ChangeRoleToFollower]": "DL_TO_FOLLOWER",
    "[ChangeRoleToLeader]": "DL_TO_LEADER",
    "[GetVoteResponse]": "DL_VOTE_REPLY",
    "[HeartBeatTimeOut]": "DL_HB_TIMEOUT",
    "[INCREASE_TERM]": "DL_TERM_UP",
    "[PARSE_VOTE_RESULT]": "DL_VOTE_PARSED",
    "[TRUNCATE]": "DL_STORE_TRUNCATE",
    "[VOTE_RESULT] has been elected": "DL_ELECTED",
    "][CANDIDATE] term=": "DL_STATUS_FSM",
    "Begin handling broker role change": "DLB_ROLE_BEGIN",
    "Begin to change to master": "BRK_MASTER_BEGIN",
    "Begin to change to slave": "BRK_SLAVE_BEGIN",
    "] to SYNC_MASTER, newMasterBrokerId": "BRK_ROLE_DONE",
    "Change ha to master success": "HA_MASTER",
    "Controller Manager received broker inactive event": "CTL_INACTIVE",
    "Elect a new master in broker-set": "CTL_ELECT_DONE",
    "Elect new master": "CTL_ELECT_OK",
    "Error happen when change SyncStateSet": "BRK_SSS_ALTER_ERR",
    "Event queue run event": "CTL_EVENT",
    "Failed to elect a new master": "CTL_ELECT_NONE",
    "Failed to register current broker to name server": "BRK_REG_NS_FAILED",
    "Failed to truncate slave log": "HA_CLIENT_CUT_ERR",
    "Notify the syncStateSet has been changed": "HA_SSS_WANTED",
    "Parse heartbeat responses": "DL_HB_PARSED",
    "Register state change to: REGISTERED": "BRK_REG_DONE",
    "Registering Broker conflicts with the existed one": "NS_REG_CONFLICT",
    "Rejecting alter syncStateSet request because the current leader": "CTL_SSS_NOT_MASTER",
    "Send vote request failed": "DL_RPC_VOTE_SEND_ERR",
    "State not matched, masterState": "HA_SIGN",
    "SyncStateSet changed from": "BRK_SSS_CHANGED",
    "The ControllerManager boot success": "SRV_SIGN",
    "The appending entry's lastEpoch or endOffset": "EPOCH_APPEND_ERR",
    "The broker with brokerId": "CTL_SIGN",
    "The old master": "CTL_SIGN",
    "elect master, request": "JR_ELECT",
    "is not align, truncate failed": "HA_SIGN",
    "is not online": "DL_PREF_OFFLINE",
    "local epoch entries is": "HA_CLIENT_EPOCHS_LOCAL",
    "maxPhyOffsetOfConsumeQueue": "STORE_QUEUES_CUT",
    "no need to truncate files": "HA_SIGN",
    "process event: term": "JR_EVENT",
    "truncate dirty files": "HA_SIGN",
    "truncateOffset is": "HA_CLIENT_CUT_AT",
}
"""What the words of a quoted line mean."""


def places(run: Path) -> Iterator[tuple[Path, int, str]]:
    """The lines that the run's notes name: file, line number, and the note."""
    described = json.loads(run.read_text())
    for note in (*described["notes"], *described["expected"]):
        file: Path | None = None
        for found in PLACE.finditer(note):
            if node := found["folder"] or found["node"]:
                [file] = (run.parent / "nodes" / node).rglob(found["path"] or found["file"])
            if file is not None:
                yield file, int(found["no"] or found["line"] or found["same"]), note


@cache
def lines_of(file: Path) -> list[str]:
    return file.read_text(errors="replace").splitlines()


def kind_of(file: Path, line_no: int) -> tuple[str, str | None]:
    """A line and the kind of the event that its record is."""
    lines = lines_of(file)
    following = (at for at in range(line_no, len(lines)) if re.match(ROCKETMQ.record_start, lines[at]))
    record = Record(lines[line_no - 1], tuple(lines[line_no : next(following, len(lines))][:20]), file.name, 480)
    event = ROCKETMQ.parse(record)
    return record.text, event.kind if event else None


def test_each_line_that_is_named_as_proof_is_an_event_of_its_kind(corpora: Path) -> None:
    named = 0
    for run in sorted(corpora.glob("rocketmq-*/*/run.json")):
        for file, line_no, note in places(run):
            named += 1
            line, kind = kind_of(file, line_no)
            meant = {WORDS[words] for words in WORDS if words in line}
            assert meant == {kind}, (run.parent.name, file.name, line_no, line, note)
    assert named > 180
