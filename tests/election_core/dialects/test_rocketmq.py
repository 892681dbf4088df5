"""RocketMQ lines become the events that they are."""

import re

import pytest

from election_replay.election_core.dialects import DIALECTS, KINDS, TICK, Record, dialect_for, tick
from election_replay.election_core.dialects.rocketmq.dialect import ROCKETMQ, TEXTS
from election_replay.election_core.model.events import EpochEntry, Event, Unparsable
from tests.election_core.dialects.lines import entries, written

ENTRIES = list(entries("rocketmq_lines.txt"))


def parsed(line: str, stream: str = "broker.log", continuation: tuple[str, ...] = ()) -> Event:
    event = ROCKETMQ.parse(Record(line, continuation, stream, 480))
    assert event is not None, line
    return event


def test_needles_pass_few_lines_of_no_interest() -> None:
    dull = [
        "2026-03-01 10:00:07 INFO main - maxMessageSize=4194304",
        "2026-03-01 10:00:07 INFO NettyServerCodecThread_2 - NETTY SERVER PIPELINE: channelRegistered 10.0.0.3:3080",
        "2026-03-01 10:00:07 WARN PullMessageThread_3 - The broker's subscription is not latest, group: g *",
        "2026-03-01 10:00:07 INFO main - The broker dose not enable acl",
        "\tat java.base/java.lang.Thread.run(Thread.java:840)",
        "",
    ]
    assert not [line for line in dull if any(needle in line for needle in ROCKETMQ.needles)]


def test_kinds_are_documented_and_closed() -> None:
    assert all(KINDS.values())
    assert {text.kind for text in TEXTS} | {TICK} <= set(KINDS)


def test_blanks_at_the_end_of_a_line_do_not_count() -> None:
    for record, expected in ENTRIES:
        for text in (record.text.rstrip(), record.text + "  \r"):
            event = ROCKETMQ.parse(Record(text, record.continuation, record.stream, 480))
            assert event is not None
            assert written(event) == expected


def test_times_are_gmt_plus_8_and_whole_seconds_unless_the_line_says_more() -> None:
    line = "{} INFO StateMaintainer - n2_[INCREASE_TERM] from 3 to 4"
    whole, dotted, comma = (
        parsed(line.format(time))
        for time in ("2026-03-01 10:00:07", "2026-03-01 10:00:07.123", "2026-03-01 10:00:07,5")
    )
    assert (whole.event_time, whole.time_resolution_ms) == (1_772_330_407_000_000, 1000)
    assert (dotted.event_time, dotted.time_resolution_ms) == (1_772_330_407_123_000, 1)
    assert (comma.event_time, comma.time_resolution_ms) == (1_772_330_407_500_000, 1)
    assert ROCKETMQ.time_of("2026-03-01 10:00:07 INFO x", 0) == (1_772_359_207_000_000, 1000)
    assert ROCKETMQ.time_of("\tat java.lang.Thread.run", 480) is None
    assert ROCKETMQ.time_of("0000-00-00 10:00:07 INFO x", 480) is None


def test_a_record_starts_with_time_and_level() -> None:
    start = re.compile(ROCKETMQ.record_start)
    assert all(start.match(record.text) for record, _ in ENTRIES)
    assert not start.match("org.apache.rocketmq.client.exception.MQBrokerException: CODE: 2012  DESC: no")
    assert not start.match("")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0000-03-01 10:00:07 INFO x - n2_[INCREASE_TERM] from 3 to 4", "year 0"),
        ("2026-13-01 10:00:07 INFO x - n2_[INCREASE_TERM] from 3 to 4", "month"),
        ("2026-03-01 10:61:07 INFO x - n2_[INCREASE_TERM] from 3 to 4", "minute"),
        ("2026-03-01 10:00:07 INFO x - n2_[INCREASE_TERM] from 3 to 9223372036854775808", "64 bits"),
        ("2026-03-01 10:00:07 INFO x - n2_[INCREASE_TERM] from 3 to four", "whole number"),
        ("2026-03-01 10:00:07 INFO x - [n0][GetVoteResponse] {\"code\":200", "vote response"),
        ("2026-03-01 10:00:07 INFO x - [n0][GetVoteResponse] " + "[" * 100_000, "vote response"),
        ("2026-03-01 10:00:07 INFO x - SyncStateSet changed from [1, 2] to [1, ", "set"),
        ("2026-03-01 10:00:07 INFO x - local epoch entries is [EpochEntry{epoch=1, startO]", "epochs"),
        ("2026-03-01 10:00:07 INFO x - Event queue run event electMaster, get the result Control", "result"),
        ("2026-03-01 10:00:07 INFO x - ScheduleServiceStatus changed to maybe", "true nor false"),
    ],
)  # fmt: skip
def test_absurd_values_of_a_known_text_go_to_quarantine_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(Unparsable, match=reason):
        ROCKETMQ.parse(Record(text, (), "broker.log", 480))


RESULT = "2026-03-01 10:00:07 INFO EventScheduler - Event queue run event {}, get the result ControllerResult{{events=[{}], response={}}}"
NOBODY = (
    "ElectMasterResponseHeader{masterBrokerId=null, masterAddress='null', masterEpoch=null, syncStateSetEpoch=null}"
)
SECOND = (
    "ElectMasterResponseHeader{masterBrokerId=2, masterAddress='10.0.0.2:10911', masterEpoch=3, syncStateSetEpoch=4}"
)


@pytest.mark.parametrize(
    ("request_name", "events", "response", "expected"),
    [
        (
            "electMaster",
            "ElectMasterEvent{newMasterElected=true, brokerName='b', newMasterBrokerId=2}",
            SECOND,
            {"decision": "ELECTED", "replica_group": "b", "node": "2", "address": "10.0.0.2:10911", "term": 3, "sync_state_set_epoch": 4},
        ),
        (
            "electMaster",
            "ElectMasterEvent{newMasterElected=false, brokerName='b', newMasterBrokerId=null}",
            NOBODY,
            {"decision": "NOBODY_ELECTED", "replica_group": "b", "node": None, "term": None},
        ),
        ("electMaster", "", SECOND, {"decision": "MASTER_STILL_EXISTS", "node": "2", "term": 3}),
        ("electMaster", "", NOBODY, {"decision": "ELECT_REFUSED", "node": None, "replica_group": None}),
        (
            "alterSyncStateSet",
            "AlterSyncStateSetEvent{brokerName='b', newSyncStateSet=[1, 2]}",
            "AlterSyncStateSetResponseHeader{newSyncStateSetEpoch=5}",
            {"decision": "SET_CHANGED", "replica_group": "b", "members": ("1", "2"), "sync_state_set_epoch": 5},
        ),
        (
            "alterSyncStateSet",
            "",
            "AlterSyncStateSetResponseHeader{newSyncStateSetEpoch=0}",
            {"decision": "SET_REFUSED", "sync_state_set_epoch": None, "members": None},
        ),
        (
            "applyBrokerId",
            "ApplyBrokerIdEvent{clusterName='c', brokerName='b', brokerAddress='10.0.0.1:10911', registerCheckCode='10.0.0.1:10911;1709258400123', newBrokerId=1}",
            "ApplyBrokerIdResponseHeader{clusterName='c', brokerName='b'}",
            {"decision": "ID_APPLIED", "broker_id": "1", "address": "10.0.0.1:10911", "register_code": "10.0.0.1:10911;1709258400123"},
        ),
        (
            "applyBrokerId",
            "",
            "ApplyBrokerIdResponseHeader{clusterName='c', brokerName='b'}",
            {"decision": "ID_REFUSED", "replica_group": "b", "cluster_name": "c", "broker_id": None},
        ),
        (
            "getNextBrokerId",
            "",
            "GetNextBrokerIdResponseHeader{clusterName='c', brokerName='b', nextBrokerId=2}",
            {"decision": "ID_PROPOSED", "replica_group": "b", "broker_id": "2"},
        ),
        (
            "registerSuccess",
            "UpdateBrokerAddressEvent{clusterName='c', brokerName='b', brokerAddress='10.0.0.9:10911', brokerId=1}",
            "org.apache.rocketmq.RegisterBrokerToControllerResponseHeader@1b2c3d",
            {"decision": "ADDRESS_CHANGED", "replica_group": "b", "broker_id": "1", "address": "10.0.0.9:10911"},
        ),
        ("registerSuccess", "", "x.RegisterBrokerToControllerResponseHeader@1b2c3d", {"decision": "REGISTERED"}),
        (
            "cleanBrokerData",
            "CleanBrokerDataEvent{brokerName='b', brokerIdSetToClean=[2]}",
            "null",
            {"decision": "IDS_CLEANED", "replica_group": "b", "members": ("2",)},
        ),
        (
            "cleanBrokerData",
            "CleanBrokerDataEvent{brokerName='b', brokerIdSetToClean=null}",
            "null",
            {"decision": "IDS_CLEANED", "members": None},
        ),
        ("cleanBrokerData", "", "null", {"decision": "CLEAN_REFUSED"}),
        (
            "getReplicaInfo",
            "",
            "GetReplicaInfoResponseHeader{masterBrokerId=2, masterAddress='10.0.0.2:10911', masterEpoch=3}",
            {"decision": "ANSWERED", "node": "2", "address": "10.0.0.2:10911", "term": 3, "replica_group": None},
        ),
        (
            "getReplicaInfo",
            "",
            "GetReplicaInfoResponseHeader{masterBrokerId=null, masterAddress='null', masterEpoch=3}",
            {"decision": "ANSWERED", "node": None, "address": None, "term": 3},
        ),
        ("getSyncStateData", "", "null", {"decision": "NONE"}),
        # 5.0.0 and 5.1.0 know a broker by its address.
        (
            "electMaster",
            "ElectMasterEvent{isNewMasterElected=true, brokerName='b', newMasterAddress='10.0.0.2:10911', clusterName='c'}",
            "ElectMasterResponseHeader{newMasterAddress='10.0.0.2:10911', masterEpoch=2, syncStateSetEpoch=2}",
            {
                "decision": "ELECTED",
                "node": "10.0.0.2:10911",
                "address": "10.0.0.2:10911",
                "term": 2,
                "sync_state_set_epoch": 3,  # the election makes this one
            },
        ),
        (
            "registerBroker",
            "ElectMasterEvent{isNewMasterElected=true, brokerName='b', newMasterAddress='10.0.0.2:10911', clusterName='c'}",
            "RegisterBrokerResponseHeader{masterAddress='10.0.0.2:10911', masterEpoch=4, syncStateSetEpoch=5, brokerId=0}",
            {"decision": "ELECTED", "node": "10.0.0.2:10911", "term": 4, "sync_state_set_epoch": 5},
        ),
        (
            "alterSyncStateSet",
            "AlterSyncStateSetEvent{brokerName='b', newSyncStateSet=[10.0.0.1:10911, 10.0.0.2:10911]}",
            "AlterSyncStateSetResponseHeader{newSyncStateSetEpoch=5}",
            {"decision": "SET_CHANGED", "members": ("10.0.0.1:10911", "10.0.0.2:10911")},
        ),
    ],
)  # fmt: skip
def test_a_controllers_decision(request_name: str, events: str, response: str, expected: dict[str, object]) -> None:
    event = parsed(RESULT.format(request_name, events, response), "controller.log")
    assert (event.kind, event.protocol, event.request) == ("CTL_EVENT", "controller", request_name)
    assert {column: getattr(event, column) for column in expected} == expected


def test_a_committed_decision_keeps_the_term_of_the_raft_log_beside_the_epoch() -> None:
    line = "2026-03-01 10:00:07 INFO JRaft-FSMCaller-Disruptor-0 - process event: term 2, index 225, request code {} success with result ControllerResult{{events=[], response={}}}"
    elected = parsed(line.format(1002, SECOND), "controller.log")
    assert (elected.kind, elected.request, elected.raft_index) == ("JR_EVENT", "electMaster", 225)
    assert (elected.term, elected.from_term, elected.decision) == (3, 2, "MASTER_STILL_EXISTS")
    assert parsed(line.format(1018, "RaftBrokerHeartBeatEventResponse{}")).request == "request 1018"
    assert parsed(line.format(1006, "null")).term == 2


def test_the_code_of_a_refusal_comes_from_the_exception_behind_the_line() -> None:
    refused = parsed(
        "2026-03-01 10:00:07 ERROR AutoSwitchHAService_Executor_1 - Error happen when change SyncStateSet, broker:b, masterAddress:10.0.0.1:10911, masterEpoch:1, oldSyncStateSet:[1, 2, 3], newSyncStateSet:[1, 3], syncStateSetEpoch:3",
        continuation=(
            "org.apache.rocketmq.client.exception.MQBrokerException: CODE: 2002  DESC: Rejecting alter syncStateSet request because the current leader is:{2}, not {1} BROKER: 10.0.0.9:9878",
            "For more information, please visit the url, https://rocketmq.apache.org/docs/bestPractice/06FAQ",
            "\tat org.apache.rocketmq.broker.out.BrokerOuterAPI.alterSyncStateSet(BrokerOuterAPI.java:1301)",
        ),
    )
    assert (refused.kind, refused.code, refused.term) == ("BRK_SSS_ALTER_ERR", 2002, 1)
    assert (refused.members_before, refused.members) == (("1", "2", "3"), ("1", "3"))
    assert refused.result == "Rejecting alter syncStateSet request because the current leader is:{2}, not {1}"
    failed = parsed(
        "2026-03-01 10:00:07 ERROR NettyServerPublicExecutor_1 - [n0][HandleAppend] failed",
        continuation=("io.openmessaging.storage.dledger.exception.DLedgerException: [code=404,name=NOT_LEADER,desc=]",),
    )
    assert (failed.code, failed.result) == (404, "NOT_LEADER")


def test_a_vote_without_a_voter_is_a_failed_call() -> None:
    event = parsed('2026-03-01 10:00:07 INFO x - [n0][GetVoteResponse] {"code":200,"term":-1,"voteResult":"UNKNOWN"}')
    assert (event.node, event.peer, event.term, event.result) == ("n0", None, -1, "UNKNOWN")


def test_an_open_epoch_has_no_end() -> None:
    event = parsed(
        "2026-03-01 10:00:07 INFO AutoSwitchHAClient - local epoch entries is [EpochEntry{epoch=1, startOffset=0, endOffset=500}, EpochEntry{epoch=2, startOffset=500, endOffset=9223372036854775807}]",
        "store.log",
    )
    assert event.epoch_entries == (EpochEntry(1, 0, 500), EpochEntry(2, 500, None))


def test_texts_that_read_alike_are_told_apart_by_thread_and_file() -> None:
    line = "2026-03-01 10:00:07 INFO {} - {}"
    scan = "start scanNotActiveBroker"
    assert (
        parsed(line.format("DefaultBrokerHeartbeatManager_scheduledService_1", scan), "namesrv.log").kind == "CTL_SCAN"
    )
    assert parsed(line.format("NSScanScheduledThread", scan), "namesrv.log").kind == "NS_SCAN"
    state = "change state to TRANSFER"
    assert parsed(line.format("AutoSwitchHAClient", state), "store.log").kind == "HA_STATE"
    assert parsed(line.format("DefaultHAClient", state), "store.log").kind == "XHA_SIGN"
    assert parsed(line.format("x", "slave preOnline complete, start service")).kind == "PRE_SLAVE_DONE"
    assert ROCKETMQ.parse(Record(line.format("AdminBrokerThread_1", "brokerRole=SLAVE"), (), "broker.log", 480)) is None
    assert parsed(line.format("main", "brokerRole=SLAVE")).setting == "brokerRole"
    assert parsed(line.format("main", "dLegerSelfId=")).value is None


@pytest.mark.parametrize(
    ("stream", "name"),
    [
        *((f"{one}.log", "rocketmq") for one in ("broker", "broker_default", "store", "controller", "controller_default")),
        *((f"{one}.log", "rocketmq") for one in ("dledger", "jraft", "namesrv", "namesrv_default", "lock", "filter")),
        *((f"{one}.log", "rocketmq") for one in ("transaction", "remoting")),
        *((one, None) for one in ("stdout.log", "console.out", "stats.log", "watermark.log", "rmq_srv_gc.log", "pop.log")),
    ],
)  # fmt: skip
def test_a_file_name_tells_the_dialect(stream: str, name: str | None) -> None:
    dialect = dialect_for(stream)
    assert (dialect.name if dialect else None) == name
    assert dialect is None or dialect in DIALECTS


def test_a_tick_says_only_that_the_log_was_written() -> None:
    event = tick(1_772_330_407_000_000, 1000)
    assert (event.kind, event.protocol, event.event_time, event.time_resolution_ms) == (
        TICK,
        "process",
        1_772_330_407_000_000,
        1000,
    )


def test_half_a_character_in_json_is_no_text() -> None:
    """``\\ud800`` alone is valid JSON and no character; it must not reach a table."""
    line = '2026-03-01 10:00:07 INFO x - [n1][GetVoteResponse] {"code":200,"group":"\\ud800","term":3}'
    with pytest.raises(Unparsable):
        ROCKETMQ.parse(Record(line, (), "broker_default.log", 480))
