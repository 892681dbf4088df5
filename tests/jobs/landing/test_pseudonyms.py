"""Addresses and client ids under other names: nothing of them is kept, and the verdicts stay what they were."""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from election_replay.election_core.model.facts import Fact
from election_replay.election_core.replay import arrow_passes as core
from election_replay.election_core.replay.fact_rows import rows_of
from election_replay.jobs import JobError
from election_replay.jobs.landing.pseudonyms import Pseudonyms, pseudonyms_of
from election_replay.jobs.replaying.judging import PROGRAM_ORDER
from election_replay.jobs.settings.config import Config, Privacy
from election_replay.schemas import TABLES
from tests.jobs.zone import Zone, leads, line

KEY = "0123456789abcdef"
BOTH = Privacy(("address", "client_id"))
ADDRESS = re.compile(r"10\.8\d\.\d+\.\d+")
"""The addresses of all real clusters."""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BOTH.key_env, KEY)


def names(*kinds: str, hosts: Sequence[str] = ()) -> Pseudonyms:
    found = pseudonyms_of(Privacy(kinds, host_names=tuple(hosts)))
    assert found
    return found


def addr(value: str) -> str:
    return names("address").in_text(value)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("peer 10.0.0.1:10911 left", ["10.0.0.1"]),
        ("n0-10.0.0.1:40911;n1-10.0.0.2:40911", ["10.0.0.1", "10.0.0.2"]),
        ("[10.0.0.1:9878, 10.0.0.2:9878].", ["10.0.0.1", "10.0.0.2"]),
        ("from 10.0.0.1.", ["10.0.0.1"]),
        ("<controllers/10.0.0.1:9878::100>", ["10.0.0.1"]),
        ("at zk-1.corp/10.0.0.1:2888", ["zk-1.corp", "10.0.0.1"]),
        ("http://infra-0.etcd:2380,http://[fe80::1]:2380", ["infra-0.etcd", "fe80::1"]),
        ("plain=[0:0:0:0:0:0:0:1]:2181 /0:0:0:0:0:0:0:1%lo:3888", ["0:0:0:0:0:0:0:1", "0:0:0:0:0:0:0:1%lo"]),
        ("地址10.0.0.1，", ["10.0.0.1"]),
    ],
)
def test_addresses_are_known_by_their_form(text: str, hidden: list[str]) -> None:
    expected = text
    for one in sorted(hidden, key=len, reverse=True):
        expected = expected.replace(one, names("address")._name("address", one))
    assert names("address").in_text(text) == expected != text


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01 10:00:00,123 INFO main - epoch 3, version 1.2.3.4.5, Foo.java:123, 10:00:00",
        "<group/host:9878::100> :: Foo::bar topic@group %RETRY%g@t 12:34:56:78",
        "clientId=null",
        "addr-0123456789ab client-0123456789ab addr-0123456789ab:10911 addr-0123456789ab:9878::100",
    ],
)
def test_nothing_else_is_touched(text: str) -> None:
    assert names("address", "client_id", hosts=["*.corp", "mq-*"]).in_text(text) == text


def test_hosts_are_known_by_patterns_wherever_they_stand() -> None:
    some = names("address", hosts=["mq-*", "*.corp.example", "db1"])
    seen = some.in_text("n0-mq-a.x:40911;n1-mq-b:40911 a.corp.example. db1:22, db12 smq db1.y")
    assert seen == re.sub(
        "mq-a.x|mq-b|a.corp.example|db1(?=:)",
        lambda found: some._name("address", found[0]),
        "n0-mq-a.x:40911;n1-mq-b:40911 a.corp.example. db1:22, db12 smq db1.y",
    )


def test_client_ids_begin_with_an_address_or_stand_behind_their_name() -> None:
    only = names("client_id")
    seen = only.in_text(
        "group=g, clientId=10.0.0.1@app#7, mq=q; ClientId: my-host@12@0@9 at 10.0.0.1 [10.0.0.1@app#7]: 10.0.0.1@app#7:"
    )
    first, second = (only._name("client_id", one) for one in ("10.0.0.1@app#7", "my-host@12@0@9"))
    assert seen == f"group=g, clientId={first}, mq=q; ClientId: {second} at 10.0.0.1 [{first}]: {first}:"


@given(st.text(alphabet="0123456789abf.:@/[]-% \u5730", max_size=60))
def test_a_second_time_changes_nothing(text: str) -> None:
    both = Pseudonyms(("address", "client_id"), KEY.encode(), "mq-[a-z]*")
    once = both.in_text(text)
    assert both.in_text(once) == once


# -- through the landing -----------------------------------------------------------------------------------------------


def test_nothing_that_is_kept_shows_them(tmp_path: Path) -> None:
    """Events, their lines with what follows them, what is in quarantine, and what waits for the next landing."""
    zone = Zone(tmp_path, Config(privacy=BOTH))
    zone.write("n1.log", "")
    zone.write(
        "lock.log",
        line(0, "tryLockBatch, message queue not locked, I got it. Group: g NewClientId: tenant-7 "
             "MessageQueue [topic=t, brokerName=b, queueId=0]", "PullMessageThread")
        + line(30, "silence at 10.81.0.1 clientId=tenant-7, more")
        + line(90, "waits at 10.81.0.2"),
    )  # fmt: skip
    zone.write(
        "broker_default.log",
        line(0, "NETTY CLIENT PIPELINE: CONNECT 10.81.0.1 => broker-b.corp:10911")
        + line(1, "NETTY CLIENT PIPELINE: CONNECT 10.81.0.1 => 10.81.0.2:10911")
        + leads(2, 99999999999999999999)
        + "java.net.ConnectException: " + "x" * 1990 + " 10.81.0.3:1\n"
        + leads(3),
    )  # fmt: skip
    rows = zone.land()
    assert {row["kind"] for row in rows["events"]} >= {"LOCK_NEW", "NET_CLIENT_CONNECT", "TICK"}
    kept = str(rows)
    assert not ADDRESS.search(kept)
    assert "tenant" not in kept
    assert "broker-b" not in kept
    assert "names a host that no pattern of privacy.host_names fits" in [row["reason"] for row in rows["quarantine"]]
    [lock] = [row for row in rows["events"] if row["kind"] == "LOCK_NEW"]
    assert lock["client_id"] == names("client_id")._name("client_id", "tenant-7")
    assert any(lock["client_id"] in row["text"] for row in rows["log_lines"])


RUNS = (
    *("rocketmq-dledger/old-copy-497", "rocketmq-controller/identity-lost-and-moved", "rocketmq-controller/jraft"),
    *("rocketmq-acting-master/locks-strict-cut", "etcd/members-34", "zookeeper/rolling-restart-380"),
)


@pytest.mark.parametrize("run", RUNS)
def test_the_verdict_is_the_same_but_for_the_names(corpora: Path, tmp_path: Path, run: str) -> None:
    plain, hidden = (
        landed(corpora / run, tmp_path / name, privacy) for name, privacy in (("p", Privacy()), ("h", BOTH))
    )
    assert ADDRESS.search(str(plain["log_lines"]))
    assert not ADDRESS.search(str(hidden))
    assert len(hidden["events"]) == len(plain["events"])
    assert len(hidden["quarantine"]) == len(plain["quarantine"])
    told = Counter(renamed(row, names("address", "client_id")) for row in verdict(plain["events"]))
    assert Counter(renamed(row, None) for row in verdict(hidden["events"])) == told != Counter()


def landed(run: Path, root: Path, privacy: Privacy) -> dict[str, list[dict[str, Any]]]:
    zone = Zone(root, Config(privacy=privacy))
    shutil.copytree(run / "nodes", root / "c1/nodes", dirs_exist_ok=True)
    return zone.land()


def verdict(events: list[dict[str, Any]]) -> Iterator[Any]:
    """What the core makes of events, as the job drives it."""
    rows = pa.Table.from_pylist(events, TABLES["events"].arrow_schema())
    rows = rows.append_column("contains(stream, '/')", pa.compute.match_substring(rows["stream"], "/"))
    rows = rows.sort_by([(name, "ascending") for name in PROGRAM_ORDER if name in rows.column_names])
    facts = [fact for fact in core.fold(rows.to_batches()) if isinstance(fact, Fact)]
    facts.sort(key=lambda fact: (fact.cluster, fact.replica_group, repr(fact)))
    for _, group in groupby(facts, key=lambda fact: (fact.cluster, fact.replica_group)):
        yield from core.judge(rows_of(group, TABLES["facts"].arrow_schema()))


LISTS = (
    (", ", re.compile(r"(?:addr|client)-[0-9a-f]{12}(?::\d+)?(?:, (?:addr|client)-[0-9a-f]{12}(?::\d+)?)+")),
    ("; ", re.compile(r"(?<=\()(?:addr-[0-9a-f]{12}(?::\d+)? [^();]+; )+addr-[0-9a-f]{12}[^();]+")),
)
"""Lists of new names in a sentence, and of what each of them did: what stands between two, and the whole."""


def renamed(row: Any, under: Pseudonyms | None) -> str:
    """A row with every text under its new name, and lists in the order of these; without the hash that names it."""

    def value(one: Any) -> Any:
        if isinstance(one, str):
            said = in_order(under.in_text(one) if under else one)
            return ", ".join(sorted(said.split(", ")))
        return sorted(map(str, map(value, one))) if isinstance(one, tuple) else one

    return f"{type(row).__name__} {[value(one) for one in astuple(row)]}"


def in_order(said: str) -> str:
    """The same with its lists in the order of the new names, which is not that of the names that they hide."""
    for between, lists in LISTS:
        for found in sorted(lists.findall(said), key=len, reverse=True):
            said = said.replace(found, between.join(sorted(found.split(between))))
    return said


# -- settings ----------------------------------------------------------------------------------------------------------


def test_a_key_must_be_there_and_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    assert KEY not in repr(names("address"))
    for given_key, state in ((None, "is not set"), ("short", "is too short")):
        monkeypatch.delenv(BOTH.key_env) if given_key is None else monkeypatch.setenv(BOTH.key_env, given_key)
        with pytest.raises(JobError, match=f"ELECTION_REPLAY_SECRET_KEY, which {state}"):
            pseudonyms_of(BOTH)
    assert pseudonyms_of(Privacy()) is None
