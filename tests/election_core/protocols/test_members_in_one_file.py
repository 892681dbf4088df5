"""Logs of several members in one file, as a collector merges them: nobody's order is taken for another one's.

Real runs are told twice: each member in a folder of its own, and all of them in one file, by time.
"""

from collections.abc import Iterable, Iterator
from heapq import merge
from operator import itemgetter
from pathlib import Path

import pytest

from election_replay.election_core.fold.identity import process_of
from election_replay.election_core.model.catalogue import CRITICAL
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Finding, RoleInterval, Row, Term
from election_replay.election_core.simulate.catalogue import PROTOCOLS, SCENARIOS
from election_replay.election_core.simulate.judged import logs_of, rows_of
from election_replay.election_core.simulate.scenario import played
from election_replay.election_core.simulate.world import World
from tests.election_core import story
from tests.proving import amount

WORLDS = 20
"""So many worlds of each protocol."""
NAMED = (
    *("rocketmq-dledger/kill-leader-533", "rocketmq-dledger/isolate-leader-497", "rocketmq-dledger/old-copy-497"),
    *("etcd/isolate-leader-34", "etcd/kill-leader-35", "etcd/chaos-36"),
    *("zookeeper/isolate-leader-380", "zookeeper/kill-leader-3414", "zookeeper/rolling-restart-380"),
    *("zookeeper/isolate-leader-372-tick3000", "zookeeper/kill-majority-384"),
)
"""Runs whose lines name the member that wrote them; those of some servers lie in files of their own in one folder."""
UNNAMED = (
    *("healthy", "chaos", "master-killed", "master-cut-off", "master-cut-off-empty-log", "rolled-files", "jraft"),
    *("identity-lost-and-moved", "unclean-election-idle", "zombie-master"),
)
"""Runs of brokers under controllers: most of their lines could be anybody's."""


def in_one_folder(run: Path, nodes: Iterable[str] | None = None) -> list[story.Seen]:
    """The lines of all nodes, or of some: those of one stream by time, each member's in their order."""
    streams: dict[str, list[list[tuple[int, story.Seen]]]] = {}
    for node, lines in story.run_lines(run).items():
        if nodes is None or node in nodes:
            of_node: dict[str, list[tuple[int, story.Seen]]] = {}
            for line in lines:
                of_stream = of_node.setdefault(line.stream, [])
                of_stream.append((max(line.time, of_stream[-1][0] if of_stream else 0), line))
            for stream, timed in of_node.items():
                streams.setdefault(stream, []).append(timed)
    in_order = sorted(streams.items(), key=lambda one: ("/" in one[0], one[0]))
    return [line for _, members in in_order for _, line in merge(*members, key=itemgetter(0))]


def facts_in_one_folder(run: Path, nodes: Iterable[str] | None = None) -> list[Fact]:
    """What is read of such a folder."""
    return story.folder_facts(run.name, "all", in_one_folder(run, nodes))


def leaders(rows: Iterable[Row], group: str) -> set[tuple[int, str | None]]:
    """Who led which term."""
    return {(row.term, row.leader) for row in rows if isinstance(row, Term) and row.replica_group == group}


def rules(rows: Iterable[Row], severity: str) -> set[str]:
    """The rules that are said to be broken with this severity."""
    return {str(row.rule) for row in rows if isinstance(row, Finding) and row.severity == severity}


def groups(rows: Iterable[Row], protocols: set[str]) -> Iterator[str]:
    """The groups that elect by these protocols."""
    yield from sorted({row.replica_group for row in rows if isinstance(row, Term) and row.protocol in protocols})


@pytest.mark.parametrize("name", NAMED)
def test_members_that_name_themselves_are_read_apart(corpora: Path, name: str) -> None:
    apart, together = story.run_rows(corpora / name), story.judge(facts_in_one_folder(corpora / name))
    for group in groups(apart, {"dledger", "raft", "zab"}):
        assert leaders(together, group) == leaders(apart, group)
    assert rules(together, CRITICAL) == rules(apart, CRITICAL)
    assert {row.source_node for row in together if isinstance(row, RoleInterval)} <= {"all", None}


@pytest.mark.parametrize("name", UNNAMED)
def test_brokers_that_do_not_name_themselves_are_not_judged(corpora: Path, name: str) -> None:
    together = story.judge(facts_in_one_folder(corpora / "rocketmq-controller" / name))
    contradicted = {
        row.replica_group for row in together if isinstance(row, Finding) and row.rule == "IDENTITY_CONTRADICTION"
    }
    by_name = {"controller"} if name != "jraft" else set()  # who name themselves in each line are read apart
    assert contradicted == {"bs-orders", "controller"} - by_name
    assert not rules(together, CRITICAL)
    assert not [row for row in together if isinstance(row, RoleInterval) and row.replica_group == "bs-orders"]


def test_brokers_in_one_folder_beside_controllers_in_their_own(corpora: Path) -> None:
    run = corpora / "rocketmq-controller" / "master-killed"
    lines = story.run_lines(run)
    brokers = {node for node, of_node in lines.items() if any(process_of(line.stream) == "broker" for line in of_node)}
    assert brokers
    facts = facts_in_one_folder(run, brokers)
    for node in lines.keys() - brokers:
        facts += story.folder_facts(run.name, node, lines[node])
    rows = story.judge(facts)
    assert not rules(rows, CRITICAL)
    assert leaders(rows, "controller") == leaders(story.run_rows(run), "controller")


def test_each_member_in_the_file_has_its_own_clock(corpora: Path) -> None:
    run = corpora / "zookeeper" / "isolate-leader-380"
    sources = {fact.speaker for fact in facts_in_one_folder(run) if fact.protocol == "zab"}
    assert sources == {"1", "2", "3"}


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_worlds_in_one_folder(protocol: str) -> None:
    """Nothing is critical that is not when each member has a folder of its own."""
    names = sorted(scenario.name for scenario in PROTOCOLS[protocol].scenarios)
    for number in range(0, WORLDS, amount(2, 1)):
        name, seed = names[number % len(names)], number // len(names)
        world = played(SCENARIOS[name], seed)
        together = story.judge(story.facts_of(world_in_one_folder(world)))
        assert rules(together, CRITICAL) <= rules(rows_of(world, name), CRITICAL), f"{name} {seed}"


def world_in_one_folder(world: World) -> dict[tuple[str, str], list[str]]:
    """The lines of all members, those of one stream by time."""
    streams: dict[str, list[list[tuple[str, str]]]] = {}
    for (_, stream), lines in logs_of(world).items():
        timed: list[tuple[str, str]] = []
        for line in lines:
            before = timed[-1][0] if timed else ""
            timed.append((max(line[:23], before) if line[:2] == "20" else before, line))
        streams.setdefault(stream, []).append(timed)
    return {
        ("all", stream): [line for _, line in merge(*members, key=itemgetter(0))] for stream, members in streams.items()
    }
