"""Each rule says what to do next, in each system that it judges, with commands that those systems really have."""

import re

import pytest

from election_replay.election_core.model.catalogue import RuleId
from election_replay.jobs.runbook.rules import Rule, catalogue
from election_replay.jobs.runbook.steps import (
    ANY,
    CAUSES,
    CUT_OFF,
    DIED,
    ETCD,
    FROZEN,
    LARGER_TERM,
    MEMBERS_DIED,
    REDIS,
    ROCKETMQ,
    SYSTEMS,
    ZOOKEEPER,
    NextSteps,
    all_steps,
    steps_for,
    system_of,
)
from election_replay.jobs.runbook.texts import text_of
from election_replay.jobs.showing.rules_page import judged_in
from tests.jobs.tables import finding

KNOWN = {
    "mqadmin": {
        # tools/src/main/java/org/apache/rocketmq/tools/command: each name with its options
        "clusterList": "mic",
        "brokerStatus": "bc",
        "getBrokerConfig": "bc",
        "haStatus": "bci",
        "getBrokerEpoch": "bci",
        "getSyncStateSet": "abci",
        "getControllerMetaData": "a",
        "getControllerConfig": "a",
        "topicRoute": "tl",
        "topicStatus": "tc",
        "consumerProgress": "gtsc",
        "consumerConnection": "gb",
        "consumerStatus": "gibs",
        "queryCq": "tqicbg",
        "queryMsgByKey": "tkbemc",
        "sendMsgStatus": "bsc",
    },
    "etcdctl": {"endpoint status", "endpoint health", "endpoint hashkv", "member list", "alarm list", "snapshot save"},
    "words": {"srvr", "mntr", "conf"},
    "redis-cli": {"ROLE", "INFO", "CONFIG GET", "SENTINEL MASTER", "SENTINEL SENTINELS", "SENTINEL CKQUORUM"}
    | {"CLUSTER NODES", "CLUSTER INFO", "--cluster check"},
    "others": {
        *(
            "zkServer.sh status",
            "zkCli.sh -server",
            "zkTxnLogToolkit.sh --dump",
            "zkSnapShotToolkit.sh DATA_DIR/version-2/snapshot.ZXID",
        ),
        *(
            "kafka-metadata-quorum.sh --bootstrap-controller",
            "kafka-topics.sh --bootstrap-server",
            "kafka-get-offsets.sh --bootstrap-server",
            "kafka-configs.sh --bootstrap-server",
            "kafka-dump-log.sh --cluster-metadata-decoder",
            "cat DATA_DIR/__cluster_metadata-0/quorum-state",
        ),
        *(
            "etcd-dump-logs DATA_DIR",
            "curl -s",
            "chronyc tracking",
            "chronyc sources",
            "journalctl -u",
            "journalctl -k",
        ),
        *("grep -i", "systemctl status", "iostat -x", "ps -eo", "nc -vz", "ls -l", "cat STORE/brokerIdentity"),
        "cat SENTINEL_DIR/sentinel.conf",
        *("cat DATA_DIR/myid", "cat DATA_DIR/version-2/acceptedEpoch", "df -h", "election-replay explain"),
        *("election-replay sql", "election-replay inspect", "election-replay replay"),
    },
}
"""Names of commands, as the sources of those systems have them."""


def commands_said() -> list[str]:
    return sorted({check.command for steps in all_steps() for check in steps.checks})


@pytest.mark.parametrize("command", commands_said())
def test_a_command_is_one_that_its_tool_has(command: str) -> None:
    tool, *words = command.split()
    if tool == "mqadmin":
        options = re.findall(r" -(\w)\b", command)
        assert set(options) <= set(KNOWN["mqadmin"][words[0]]) | {"n"}, command  # type: ignore[call-overload]
    elif tool == "etcdctl":
        assert " ".join(words[:2]) in KNOWN["etcdctl"]
    elif tool == "redis-cli":
        asked = re.sub(r"^redis-cli (-h HOST |-p 26379 )?", "", command)
        assert any(asked.startswith(known) for known in KNOWN["redis-cli"]), command
    elif tool == "echo":
        assert words[0] in KNOWN["words"]
        assert command.endswith("| nc HOST 2181")
    else:
        assert " ".join([tool, words[0]]) in KNOWN["others"]


def test_no_command_is_kept_that_nobody_is_told() -> None:
    assert set(text_of("commands.yaml").values()) == set(commands_said())


OF_DLEDGER = {RuleId.LEADER_KEPT_WITHOUT_QUORUM, RuleId.WRONG_VOTE_RESULT}
"""Rules of the Raft family that only DLedger's logs can break: no other prints what they need."""


def systems_of(rule: Rule) -> set[str]:
    """The systems whose protocols judge a rule; a judge that all protocols share stands for the others beside it."""
    rooms = {path.split("/")[2] for path in judged_in(rule) if path.startswith("election_core/protocols/")}
    if "raft_family" in rooms:
        rooms = rooms - {"raft_family"} | {"dledger"} | ({"raft"} if rule.rule not in OF_DLEDGER else set())
    return {SYSTEMS.get(room, ANY) for room in rooms} or {ROCKETMQ, ETCD, ZOOKEEPER, REDIS, ANY}


@pytest.mark.parametrize("rule", [*catalogue().values()], ids=lambda rule: rule.rule)
def test_each_rule_says_what_to_do_in_each_system_that_it_judges(rule: Rule) -> None:
    for system in systems_of(rule):
        found = steps_for(rule.rule, system)
        assert found, system
        assert found.system in {system, ANY}


@pytest.mark.parametrize("steps", all_steps(), ids=lambda steps: f"{steps.rule}-{steps.system}-{steps.cause}")
def test_steps_are_three_different_checks_and_one_warning(steps: NextSteps) -> None:
    assert len({check.look for check in steps.checks}) == 3
    assert len({check.command for check in steps.checks}) >= 2
    assert steps.do_not.startswith("Do not ")
    assert steps.do_not.endswith(".")
    assert steps.source
    assert steps.cause in CAUSES
    assert steps.cause == ANY or steps_for(steps.rule, steps.system).cause == ANY  # type: ignore[union-attr]


def test_controllers_on_jraft_have_the_tools_of_rocketmq_and_no_other_raft_has() -> None:
    assert (system_of("raft", "controller"), system_of("raft", "cdf818194e3a8c32")) == (ROCKETMQ, ETCD)


@pytest.mark.parametrize(
    ("group", "node", "asked"),
    [
        ("shard-rc-2", "08aa16a133fb0afae13830d7f94742bced213cf2", False),
        ("shard-rc-2", "10.0.0.1:6379", True),
        ("orders", "08aa16a133fb0afae13830d7f94742bced213cf2", True),
    ],
)
def test_sentinels_are_asked_where_there_are_some(group: str, node: str, asked: bool) -> None:
    """A master may be watched by sentinels under a name like that of a shard."""
    found = finding("f", "LEADERLESS", 0, 1, protocol="redis", replica_group=group, nodes=[node])
    assert any("SENTINEL" in (step["command"] or "") for step in found["next_steps"]) == asked


def test_of_one_rule_system_and_cause_there_is_one() -> None:
    keys = [(one.rule, one.system, one.cause) for one in all_steps()]
    assert len(set(keys)) == len(keys)


def test_what_fits_best_comes_first() -> None:
    assert steps_for("LEADERLESS", ETCD, "died").cause == "died"  # type: ignore[union-attr]
    assert steps_for("LEADERLESS", ETCD, "was_set").cause == ANY  # type: ignore[union-attr]
    assert steps_for("LOG_GAP", ETCD).system == ANY  # type: ignore[union-attr]
    assert steps_for("NO_RULE", ETCD) is None


@pytest.mark.parametrize("cause", [DIED, FROZEN, CUT_OFF, MEMBERS_DIED, LARGER_TERM])
@pytest.mark.parametrize("system", [ETCD, ROCKETMQ, ZOOKEEPER])
def test_a_time_without_a_leader_has_steps_for_its_cause(system: str, cause: str) -> None:
    """ZooKeeper's leaders hear of a larger epoch from no member that stood alone."""
    steps = steps_for(RuleId.LEADERLESS, system, cause)
    assert steps is not None
    assert steps.cause == cause or (system, cause) == (ZOOKEEPER, LARGER_TERM)
