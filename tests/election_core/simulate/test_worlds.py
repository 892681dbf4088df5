"""Worlds with known faults repeat, write what the dialects read, and are judged as they were."""

import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from benchmarks import accuracy
from election_core.dialects import Record, dialect_for
from election_core.findings import INFO
from election_core.simulate.catalogue import SCENARIOS, told, truths
from election_core.simulate.judged import Score, findings_of, logs_of, score
from election_core.simulate.landing import files, truth_lines
from election_core.simulate.scenario import played

NAMES = sorted(SCENARIOS)
AVAILABILITY = {"LEADERLESS", "ELECTION_STORM"}
"""What may be said above info of a safe world: somebody had to wait. No rule of safety is broken in one."""


@cache
def judged(name: str, seed: int) -> Score:
    world = played(SCENARIOS[name], seed)
    return score(truths(SCENARIOS[name], world), findings_of(world, name))


def complaints(worlds: Iterable[tuple[str, int]]) -> list[str]:
    """What is wrong with the verdicts on these worlds, each with the command that repeats it."""
    found = []
    for name, seed in worlds:
        result = judged(name, seed)
        wrong = [f"false: {one.severity} {one.rule}: {one.summary}" for one in result.false]
        wrong += [f"missed: {one.rule}: {one.words}" for one in result.missed]
        if not SCENARIOS[name].broken:
            wrong += [f"unsafe: {one.summary}" for one in result.alarms if one.rule not in AVAILABILITY]
        if wrong:
            found.append(f"election-replay simulate --scenario {name} --seed {seed} --judge\n  " + "\n  ".join(wrong))
    return found


def worlds(count: int) -> list[tuple[str, int]]:
    """So many worlds, the scenarios taking turns."""
    return [(NAMES[number % len(NAMES)], number // len(NAMES)) for number in range(count)]


def test_thirty_worlds_are_judged_as_they_were() -> None:
    """Nothing false is claimed, and nothing that the logs prove is missed."""
    wrong = complaints(worlds(30))
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_five_hundred_worlds_are_judged_as_they_were() -> None:
    """Of each protocol; docs/accuracy.md says what comes out. `python -m benchmarks.accuracy` rewrites it."""
    tallies = accuracy.measured(500)
    assert not [command for tally in tallies.values() for command in tally.wrong]
    page = (Path(__file__).parents[3] / "docs" / "accuracy.md").read_text()
    assert list(accuracy.page(tallies)) == page.splitlines()


def test_every_rule_of_dledger_is_broken_by_a_world() -> None:
    """Each rule that a DLedger log can prove has a world in which its breach is provable."""
    proven = {one.rule for name, seed in worlds(30) for one in judged(name, seed).provable}
    assert proven == {
        *("SPLIT_BRAIN_SAME_TERM", "SPLIT_BRAIN_OVERLAP", "DOUBLE_VOTE", "TERM_REGRESSION", "LEADER_WITHOUT_QUORUM"),
        *("LEADER_KEPT_WITHOUT_QUORUM", "WRONG_ROUND_RESULT", "WRONG_VOTE_RESULT", "HEARTBEAT_RULE"),
        *("LEADERLESS", "ELECTION_STORM", "LOG_GAP", "CLOCK_SKEW"),
    }


def test_a_stale_leader_that_commits_is_critical() -> None:
    """The overlap is the same; what the stale leader did makes the difference."""
    for name, severity in (("dledger-commits-alone", "critical"), ("dledger-clings-to-power", INFO)):
        said = [one.severity for one in judged(name, 3).claimed if one.rule == "SPLIT_BRAIN_OVERLAP"]
        assert said == [severity], name


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read_back(name: str) -> None:
    """Every line of an elector is the event that was said, and nothing goes to quarantine."""
    world = played(SCENARIOS[name], 2)
    for line in world.lines:
        dialect = dialect_for(line.stream)
        assert dialect is not None
        event = dialect.parse(Record(line.text, (), line.stream, dialect.utc_offset_minutes))
        if line.said is None:
            assert event is not None, line.text
        elif line.stream == "broker_default.log":
            assert event is not None, line.text
            assert event.kind == line.said.kind, line.text
            assert event.event_time == line.wall_us // 1_000_000 * 1_000_000


def test_dropped_lines_are_only_quiet_ones() -> None:
    world = played(SCENARIOS["dledger-lost-lines"], 0)
    assert {line.level for line in world.lines if not line.kept} == {"INFO"}


DIGEST = """
import hashlib
from election_core.simulate.catalogue import SCENARIOS, truths
from election_core.simulate.landing import files, truth_lines
from election_core.simulate.scenario import played
total = hashlib.sha256()
for name in ("dledger-old-copy", "dledger-any-faults-lost-lines"):
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
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "4242")
    }
    assert len(digests) == 1


def test_seeds_differ() -> None:
    """A seed is not for show."""
    logs = {
        hashlib.sha256(repr(logs_of(played(SCENARIOS["dledger-healthy"], s))).encode()).hexdigest() for s in range(5)
    }
    assert len(logs) == 5  # fmt: skip


def test_files_hold_all_lines_in_order_and_roll() -> None:
    """The newest part has number 1; old parts, from the highest number down, and then the live file are the log."""
    import gzip

    world = played(SCENARIOS["dledger-old-copy"], 0)
    written = dict(files(world))
    assert any(path.endswith(".2.log.gz") for path in written), "the log is long enough to roll twice"
    for (node, stream), lines in logs_of(world).items():
        folder, stem = f"nodes/{node}/logs/rocketmqlogs", stream.removesuffix(".log")
        parts = [written[f"{folder}/{stream}"]]
        while (older := f"{folder}/otherdays/{stem}.{len(parts)}.log.gz") in written:
            parts.append(gzip.decompress(written[older]))
        assert b"".join(reversed(parts)).decode().splitlines() == lines


def test_the_story_names_what_happens() -> None:
    """A newcomer reads who leads, why it ends, and what became of it."""
    scenario = SCENARIOS["dledger-isolated-leader"]
    text = "\n".join(told(scenario, played(scenario, 1)))
    for words in (
        ">>> isolate n1",
        "n1  LEADS term 1",
        "has heard nothing of its leader n1",
        "n2  LEADS term 2",
        "cuts",
    ):
        assert words in text


def test_truth_is_told_in_full() -> None:
    scenario = SCENARIOS["dledger-old-copy"]
    world = played(scenario, 1)
    lines = list(truth_lines(scenario, 1, world, truths(scenario, world)))
    kinds = Counter(line.split('"')[3] for line in lines)
    assert kinds["world"] == 1
    assert kinds["leader"] == len(world.reigns)
    assert kinds["fault"] == len(world.faults)
    assert kinds["overlap"]
    assert kinds["finding"]
