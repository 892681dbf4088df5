"""What holds for all dialects together, and the worked example of ``docs/dialects.md``."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from election_replay.election_core.dialects import (
    DIALECTS,
    FLOODS,
    KINDS,
    SYSTEMS,
    TICK,
    Dialect,
    Record,
    dialect_for,
    named,
)
from election_replay.election_core.dialects.canonical import dialect as canonical
from election_replay.election_core.dialects.dialect import SIGN
from election_replay.election_core.dialects.rocketmq import metadata as rocketmq_metadata
from election_replay.election_core.model.events import Unparsable
from election_replay.election_core.replay.source_fold import INTERESTING
from election_replay.jobs.runbook import notices
from election_replay.jobs.settings.config import load
from tests.election_core.dialects.lines import entries

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "dialects.md"


def every_line() -> Iterator[tuple[str, Record]]:
    for name in (system.name for system in SYSTEMS):
        yield from ((name, record) for record, _ in entries(f"{name}_lines.txt"))


def claims(dialect: Dialect, record: Record) -> bool:
    try:
        return dialect.parse(record) is not None
    except Unparsable:
        return False


def test_no_line_is_claimed_by_two_dialects() -> None:
    for name, record in every_line():
        assert [one.name for one in DIALECTS if claims(one, record)] == [name], record.text


def test_kinds_are_documented_and_closed() -> None:
    tables = (rocketmq_metadata.KINDS, canonical.KINDS, *(system.table.kinds for system in SYSTEMS))
    assert all(KINDS.values())
    assert {TICK, *(kind for table in tables for kind in table)} == set(KINDS)
    assert 1 + sum(map(len, tables)) == len(KINDS), "two systems share a kind"


def test_no_rule_reads_a_kind_that_floods() -> None:
    assert {
        *("HA_ACK_LATE", "HA_CONFIRM_INIT", "DLB_APPEND_REFUSED", "META_PULL_BEYOND_END", "META_PULL_MOVED"),
    } == FLOODS
    assert not FLOODS & INTERESTING


def test_a_kind_that_nobody_reads_is_a_sign_of_life() -> None:
    """Its text is a template in the table's ``SIGNS``. Some have kinds of their own: simulated worlds print them."""
    signs = {kind for kind in KINDS if kind.endswith(SIGN)}
    assert signs == {
        *("BRK_SIGN", "CTL_SIGN", "DLB_SIGN", "DL_SIGN", "ESC_SIGN", "HA_SIGN", "JR_SIGN", "LOCK_SIGN", "META_SIGN"),
        *("NS_SIGN", "RAFT_SIGN", "SRV_SIGN", "XHA_SIGN", "ZK_SIGN"),
    }
    assert not signs & INTERESTING
    told = {kind.partition("/")[0] for kind in (*notices.ALWAYS, *notices.WHERE_LITTLE_IS_KNOWN, *notices.NEVER)}
    worlds = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "election_core/simulate").rglob("*.py"))
    unread = {kind for kind in set(KINDS) - INTERESTING - told - FLOODS - signs if f'"{kind}"' not in worlds}
    assert unread == {
        TICK,
        *("RC_FAILED_OVER", "RC_HANDED", "RD_ASKS_NEW", "RD_HANDED"),
        *("SN_END", "SN_FIX", "ZK_LEADER_STOPPING"),
        *("META_SNAPSHOT_EPOCHS", "META_SNAPSHOT_LEDGER", "META_SNAPSHOT_STORE", "META_SNAPSHOT_TERM"),
    }


@pytest.mark.parametrize(
    ("stream", "name"),
    [
        *((one, "zookeeper") for one in ("zookeeper.log", "zookeeper.log.2026-03-01", "zookeeper-zk-server-zk1.out")),
        *((one, "zookeeper") for one in ("zookeeper-zk-server-zk1.example.org.log", "zookeeper-server.log")),
        *((one, "etcd") for one in ("etcd.log", "etcd-member-1.log", "etcd.txt", "etcd.log-20260301", "etcd0.out")),
        *((one, "canonical") for one in ("ring.events.jsonl", "etcd.events.jsonl", "zookeeper.log.events.jsonl")),
        *((one, None) for one in ("events.json", "zookeeper_trace.log", "kube-etcd.log", "nohup.out", "")),
        *((one, None) for one in ("0.log", "zookeeper-gc.log", "zookeeper_audit.log", "gc.log.0.current")),
    ],
)
def test_a_file_name_tells_the_dialect(stream: str, name: str | None) -> None:
    dialect = dialect_for(stream)
    assert (dialect.name if dialect else None) == name


def test_a_console_is_known_by_its_first_line() -> None:
    for name, record in every_line():
        dialect = dialect_for("nohup.out", record.text)
        compact = name == "zookeeper" and re.match(r"\S+ \S+ [A-Z]", record.text)  # reads like a line of RocketMQ
        assert compact or (dialect is not None and dialect.name == name), record.text
        assert dialect_for("nohup.txt", record.text) is None
    assert dialect_for("nohup.out", "Starting server") is None
    assert dialect_for("nohup.out", '{"kind": "TICK"}') is not None


ZK = "2026-03-01 10:00:00,221 [myid:] - INFO  [x:o.a.z.s.q.QuorumPeer@1] - "
RAFT = "raft2026/03/01 10:00:00 INFO: "
NAMED = (
    '{"level":"info","ts":1,"msg":"published local member to cluster through raft","local-member-attributes":"{Name:'
)


@pytest.mark.parametrize(
    "line",
    [
        "a" * 64_000,
        "2026-03-01 10:00:00,221 - INFO  [" + ":a@1] " * 10_000,
        "[2026-03-01 10:00:00,221] INFO x" + " (org.apache.zookeeper.X) [" * 2_400,
        ZK + "Have quorum of supporters, sids: [" + "1," * 31_000,
        ZK + "Notification: " + "1 (n.leader), " * 4_500,
        RAFT + "1a switched to configuration voters=(" + "1 " * 31_000 + ")",
        RAFT + "1a [logterm: 3, index: " * 2_700,
        NAMED + " ClientURLs:[" * 4_800 + '"}',
        '{"a":' * 9_000,
    ],
    ids=range(9),
)
def test_a_long_line_made_to_be_slow_is_not(line: str) -> None:
    began = time.process_time()
    for dialect in DIALECTS:
        claims(dialect, Record(line, (line, line), "x", 0))
        dialect.time_of(line, 0)
    assert time.process_time() - began < 2


def test_names_can_be_configured() -> None:
    assert dialect_for("gossip.json", streams={"*.json": DIALECTS[-1]}) is DIALECTS[-1]


def test_the_worked_example_works(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    [table] = (found for found in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if found.startswith("programs:"))
    line = next(found for found in re.findall(r"```text\n(.*?)\n```", page, re.DOTALL) if "gate.Keeper" in found)
    settings = tmp_path / "pipeline.yaml"
    settings.write_text(table, encoding="utf-8")
    program = named(load(settings).dialect_of("roads", "west", ["tollgate.log"]))
    assert program is not None
    event = program.parse(Record(line, (), "tollgate.log", 0))
    assert event is not None
    assert (event.kind, event.term, event.replica_group) == ("TOLD_LEADS", 3, "tollgate")
    with pytest.raises(Unparsable, match="whole number"):
        program.parse(Record(line.replace("shift 3", "shift three"), (), "tollgate.log", 0))
