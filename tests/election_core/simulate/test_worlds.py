"""Worlds with known faults repeat, write what the dialects read, and are judged as they were."""

import gzip
import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

from benchmarks import accuracy
from election_replay.election_core.dialects import Record, dialect_for
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.events import Event
from election_replay.election_core.simulate.catalogue import PROTOCOLS, SCENARIOS, truths
from election_replay.election_core.simulate.judged import Score, findings_of, logs_of, score
from election_replay.election_core.simulate.landing import files, truth_lines
from election_replay.election_core.simulate.machine import Say
from election_replay.election_core.simulate.scenario import Scenario, played
from election_replay.election_core.simulate.world import Line, World
from tests.election_core.simulate.expected import EXPECTED
from tests.proving import only_when_proving

each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)


@dataclass(frozen=True, slots=True)
class Examined:
    """What tests ask of a world. ``unread``: its lines that are not read as what was said; ``loses``: whether lines may
    be lost; ``dropped``: the levels of those that were; ``digest``: of its logs.
    """

    score: Score
    unread: tuple[str, ...]
    loses: bool
    dropped: frozenset[str]
    digest: str


@cache
def examined(name: str, seed: int) -> Examined:
    """A world is played and judged once for all tests."""
    world = played(SCENARIOS[name], seed)
    return Examined(
        score(truths(SCENARIOS[name], world), findings_of(world, name)),
        tuple(unread(world)),
        world.drops > 0,
        frozenset(line.level for line in world.lines if not line.kept),
        hashlib.sha256(repr(logs_of(world)).encode()).hexdigest(),
    )


def judged(name: str, seed: int) -> Score:
    return examined(name, seed).score


def unread(world: World) -> Iterator[str]:
    """The lines of a world that are not read as what its machines say, at its time."""
    for _, lines in groupby(world.lines, key=lambda line: id(line.say)):
        first, *more = lines
        event = parsed(first)
        if event is None or (first.say is not None and not _says(first, event, first.say)):
            yield first.text
        yield from (line.text for line in more if line.say is None and parsed(line) is None)


def _says(line: Line, event: Event, say: Say) -> bool:
    return event.kind == say.kind and 0 <= line.wall_us - event.event_time < event.time_resolution_ms * 1000


def parsed(line: Line) -> Event | None:
    dialect = dialect_for(line.stream)
    assert dialect is not None, line.stream
    first, *trace = line.text.split("\n")
    return dialect.parse(Record(first, tuple(trace), line.stream, dialect.utc_offset_minutes))


def complaints(worlds: Iterable[tuple[str, int]]) -> list[str]:
    """What is wrong with the verdicts on these worlds, each with the command that repeats it."""
    found = []
    for name, seed in worlds:
        result = judged(name, seed)
        wrong = [f"false: {one.severity} {one.rule}: {one.summary}" for one in result.false]
        wrong += [f"missed: {one.rule}: {one.words}" for one in result.missed]
        if not SCENARIOS[name].broken:
            wrong += [f"unsafe: {one.summary}" for one in accuracy.alarms(result)]
        if wrong:
            found.append(f"election-replay simulate --scenario {name} --seed {seed} --judge\n  " + "\n  ".join(wrong))
    return found


def few_worlds(protocol: str) -> list[tuple[str, int]]:
    """Thirty worlds of a protocol, its scenarios taking turns; each of them at least once."""
    names = sorted(scenario.name for scenario in PROTOCOLS[protocol].scenarios)
    return [(names[number % len(names)], number // len(names)) for number in range(max(30, len(names)))]


def test_a_burst_behind_a_step_is_no_outage() -> None:
    """All of a role's change is logged in one second, behind a step of the clock that another file shows."""
    assert judged("controller-clock-steps", 4).false == ()


@pytest.mark.parametrize(("name", "seed"), [("raft-clock-steps", 17), ("zab-clock-steps", 37)])
def test_what_follows_steps_of_which_nothing_tells_how_far_comes_later(name: str, seed: int) -> None:
    """The clock of two or three members may have been set, twice within one region: terms and roles stay in order."""
    assert judged(name, seed).false == ()


def test_a_log_that_ends_right_behind_a_step_is_no_overlap() -> None:
    """The clock goes back by twenty seconds, and the log ends half a second and thirty lines later."""
    assert judged("zab-clock-steps", 178).false == ()


def test_every_protocol_is_expected() -> None:
    assert set(EXPECTED) == set(PROTOCOLS)
    assert {one.protocol for one in SCENARIOS.values()} == set(PROTOCOLS)
    assert len(SCENARIOS) == sum(len(one.scenarios) for one in PROTOCOLS.values()), "two scenarios have one name"


@each_protocol
def test_thirty_worlds_are_judged_as_they_were(protocol: str) -> None:
    """Nothing false is claimed, and nothing that the logs prove is missed."""
    wrong = complaints(few_worlds(protocol))
    assert not wrong, "\n".join(wrong)


def test_worlds_that_were_judged_wrongly_once() -> None:
    """Lost lines of a stop, two who begin in one second, a master that is there for less than one, a late copy."""
    once = (
        *(("acting-any-faults-lost-lines", 20), ("acting-no-name-server", 42)),
        *(("lock-strict-any-faults", 53), ("metadata-takes-whatever", 47)),
    )
    wrong = complaints(once)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@only_when_proving("seven minutes")
@each_protocol
def test_five_hundred_worlds_are_judged_as_they_were(
    protocol: str, record_property: Callable[[str, object], None]
) -> None:
    """docs/accuracy.md says what comes out. `python -m benchmarks.accuracy <protocol>` rewrites its section."""
    tally = accuracy.measured(protocol, 500)
    record_property("worlds", 500)
    assert not tally.wrong
    written = accuracy.sections_of(accuracy.PAGE.read_text())
    assert list(accuracy.section(protocol, tally)) == written[protocol].splitlines()


def test_worlds_are_counted_by_rule() -> None:
    tally = accuracy.measured("dledger", 3)
    assert not tally.wrong
    assert tally.worlds.total() == 3
    assert tally.claimed.total() >= tally.provable.total() > 0


def test_the_page_on_accuracy_names_every_protocol() -> None:
    """`python -m benchmarks.accuracy` rewrites it."""
    written = accuracy.PAGE.read_text()
    sections = accuracy.sections_of(written)
    assert list(sections) == list(PROTOCOLS)
    assert written == accuracy.page(sections) + accuracy.others_of(written)


@each_protocol
def test_every_rule_is_broken_by_a_world(protocol: str) -> None:
    """Each rule that the logs of a protocol can prove has a world in which its breach is provable."""
    proven = {one.rule for name, seed in few_worlds(protocol) for one in judged(name, seed).provable}
    assert proven == EXPECTED[protocol].proven


WITHOUT_A_WORLD = {
    "BROKER_ROLE_RULE": "the broker above a DLedger member is written by its voice, which has no rules to bend",
    "CONTROLLERS_DISAGREE": "only JRaft controllers print the entries that are compared, and they have no machine",
    "MEMBERS_DISAGREE": "members of a world are given one list of members",
    "QUEUES_CUT_AT_START": "brokers of a world keep no queues",
    "REPLICATION_STUCK": "the logs of a world's brokers begin together and always have a point in common",
    "FORMER_LEADER_STILL_MASTER": "the broker above a DLedger member of a world changes its role at once",
    "NEEDLESS_ELECTION": "only Kafka's logs are judged for it, and KRaft has no machine",
    "CLUSTER_RESTORED": "members of a world belong to one cluster",
    "CLUSTER_FORCED": "operators of a world force no cluster",
    "STORE_WENT_BACK": "members of a world print where their log ends too seldom",
    "STORES_DIFFER": "members of a world do not compare their data",
    "WRITES_UNANSWERED": "clients of a world are never kept waiting",
    "WRITES_REFUSED": "brokers of a world have room for every write, and their operators hand over to the living",
    "BULLY_NOT_HIGHEST": "Bully is a table of moves without a machine; its stories and decisions show it",
    "RING_NOT_HIGHEST": "rings are a table of moves without a machine; their stories and decisions show it",
    "NOT_JUDGED": "no fault of a cluster but of this software: tests/election_core/replay/test_faults.py",
}
"""Findings that no world shows, and why not."""


def test_every_finding_has_a_world() -> None:
    """What the judge may say has been true of a world, and was found there."""
    proven = frozenset[str]().union(*(expected.proven for expected in EXPECTED.values()))
    assert set(RuleId) - proven <= set(WITHOUT_A_WORLD)
    assert set(WITHOUT_A_WORLD) | proven <= set(RuleId)


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_what_is_written_is_read_back(name: str) -> None:
    """What a machine says is read as just that, at its time; what its process says around it is read too."""
    assert examined(name, 0).unread == ()


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_dropped_lines_are_only_quiet_ones(name: str) -> None:
    world = examined(name, 0)
    assert world.dropped == ({"INFO"} if world.loses else set())


DIGEST = """
import hashlib, sys
from election_replay.election_core.simulate.catalogue import SCENARIOS, truths
from election_replay.election_core.simulate.landing import files, truth_lines
from election_replay.election_core.simulate.scenario import Scenario, played
total = hashlib.sha256()
for name in sys.argv[1:]:
    scenario = SCENARIOS[name]
    world = played(scenario, 5)
    for path, content in files(world):
        total.update(path.encode() + content)
    for line in truth_lines(scenario, 5, world, truths(scenario, world)):
        total.update(line.encode())
print(total.hexdigest())
"""


def test_a_seed_repeats_byte_for_byte() -> None:
    """The same seed gives the same files, whatever order Python's sets have."""
    names = [name for expected in EXPECTED.values() for name in expected.repeated]
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST, *names],
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "4242")
    }
    assert len(digests) == 1


@each_protocol
def test_seeds_differ(protocol: str) -> None:
    """A seed is not for show, and a scenario neither."""
    worlds = few_worlds(protocol)
    assert len({examined(*world).digest for world in worlds}) == len(worlds)


@pytest.fixture(scope="module", params=[name for expected in EXPECTED.values() for name in expected.repeated])
def named(request: pytest.FixtureRequest) -> tuple[Scenario, World]:
    """A scenario and its first world, for several tests."""
    return SCENARIOS[request.param], played(SCENARIOS[request.param], 0)


def test_files_hold_all_lines_in_order(named: tuple[Scenario, World]) -> None:
    """The newest rolled part has number 1; old parts, from the highest number down, and the live file are the log."""
    _, world = named
    written = dict(files(world))
    assert len(written) == sum(1 for _ in files(world)), "two files have one path"
    for (node, stream), lines in logs_of(world).items():
        parts: list[bytes] = []
        while (path := f"nodes/{node}/{world.voice.file(stream, len(parts))}") in written:
            content = written.pop(path)
            parts.append(gzip.decompress(content) if path.endswith(".gz") else content)
        assert b"".join(reversed(parts)).decode() == "".join(f"{line}\n" for line in lines)
    assert written == {f"nodes/{node}/{path}": content for node, path, content in world.copies}


def test_long_logs_roll() -> None:
    assert any(path.endswith(".2.log.gz") for path, _ in files(played(SCENARIOS["dledger-old-copy"], 0)))


def test_truth_is_told_in_full(named: tuple[Scenario, World]) -> None:
    scenario, world = named
    true = truths(scenario, world)
    lines = list(truth_lines(scenario, 0, world, true))
    kinds = Counter(line.split('"')[3] for line in lines)
    assert kinds["world"] == 1
    assert kinds["leader"] == len(world.tenures)
    assert kinds["fault"] == len(world.faults)
    assert kinds["finding"] == len(true) > 0


# -- DLedger ---------------------------------------------------------------------------------------------------------


def test_two_leaders_of_one_term_are_told_as_overlap() -> None:
    scenario = SCENARIOS["dledger-old-copy"]
    world = played(scenario, 1)
    assert any('"overlap"' in line for line in truth_lines(scenario, 1, world, truths(scenario, world)))


def test_a_stale_leader_that_commits_is_critical() -> None:
    """The overlap is the same; what the stale leader did makes the difference."""
    for name, severity in (("dledger-commits-alone", "critical"), ("dledger-clings-to-power", "info")):
        said = [one.severity for one in judged(name, 3).claimed if one.rule == "SPLIT_BRAIN_OVERLAP"]
        assert said == [severity], name
