"""etcd-io/raft's own interaction tests as logs: learners, joint changes of members, pre-votes, CheckQuorum.

Its files show what each member prints when a test drives the library step by step: who wrote a line is its first
number. Here each member is a log, and a line comes ten milliseconds after the one before it.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from election_replay.election_core.model.facts import VotersStated
from tests.election_core import story

_LINE = re.compile(r"INFO (newRaft )?(\d+) ")


def _files() -> Mapping[str, list[str]]:
    files: dict[str, list[str]] = {}
    name = ""
    for line in (Path(__file__).parent / "etcd_raft_testdata.txt").read_text().splitlines():
        if line.startswith("["):
            name = line[1:-1]
        elif _LINE.match(line):
            files.setdefault(name, []).append(line)
    return files


FILES = _files()


def logs_of(lines: list[str]) -> dict[tuple[str, str], list[str]]:
    """The log of each member."""
    logs: dict[tuple[str, str], list[str]] = {}
    for number, line in enumerate(lines):
        found = _LINE.match(line)
        assert found is not None, line
        seconds, hundredths = divmod(number, 100)
        time = f"{story.DAY} 02:00:{seconds:02d}.{hundredths:02d}0000"
        logs.setdefault((f"m{found[2]}", "etcd.log"), []).append(f"{time} I | raft: {line.removeprefix('INFO ')}")
    logs[story.INVENTORY] = [f"{node}: {node[1:]} of raft" for node, _ in sorted(logs)]
    return logs


@pytest.mark.parametrize("name", FILES)
def test_every_leader_of_a_term_is_known_and_no_rule_is_broken(name: str) -> None:
    rows = story.judge(story.facts_of(logs_of(FILES[name])))
    became = {(int(found[2]), found[1]) for line in FILES[name] if (found := _BECAME["leader"].search(line))}
    led = {(int(found[2]), found[1]) for line in FILES[name] if (found := _HANDS_OVER.search(line))}
    assert {(row.term, row.leader) for row in rows if isinstance(row, story.Term) and row.leader} == became | led
    asked = {(int(found[2]), found[1]) for line in FILES[name] if (found := _BECAME["candidate"].search(line))}
    assert {(row.term, row.candidate) for row in rows if isinstance(row, story.Election)} == asked
    alarms = [row for row in rows if isinstance(row, story.Finding) and row.severity != "info"]
    assert not alarms, [row.summary for row in alarms]


_HANDS_OVER = re.compile(r" (\d+) \[term (\d+)\] starts to transfer leadership")
_BECAME = {role: re.compile(rf" (\d+) became {role} at term (\d+)") for role in ("leader", "candidate")}


def test_learner_that_is_asked_votes() -> None:
    """It may have been promoted by an entry that it does not have yet, so that the library has it vote."""
    rows = story.judge(story.facts_of(logs_of(FILES["campaign_learner_must_vote"])))
    assert [row.voters for row in rows if isinstance(row, story.Election)] == [("2", "3")]


def test_joint_change_names_both_sets_of_voters() -> None:
    facts = story.facts_of(logs_of(FILES["confchange_v2_replace_leader"]))
    joint = {(fact.voters, fact.voters_before) for fact in facts if isinstance(fact, VotersStated)}
    assert (("2", "3", "4"), ("1", "2", "3")) in joint
