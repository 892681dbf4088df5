"""The identity rules on real clusters: what each run's ``expected`` says about broker ids, and what it rules out."""

import json
from functools import cache
from pathlib import Path
from random import Random

import pytest

from election_replay.election_core.model.catalogue import INFO
from election_replay.election_core.model.rows import Finding, Row, RuleCoverage
from election_replay.election_core.protocols.broker_identity.log import PROTOCOL
from tests.election_core import story

SAID = {
    ("identity-lost-and-moved", "broker-2 (id 2) lost its brokerIdentity file"): [
        "warning proven BROKER_IDENTITY_RESET 2 4"
    ],
    ("master-by-hand", "broker-3 is started at 18:33:16 with its old brokerIdentity"): [
        "warning proven BROKER_IDENTITY_RESET 2"
    ],
    # Brokers were told the same next id; the later ones were refused. Nothing above info is expected.
    ("controller-leader-lost", ""): ["info proven REGISTER_CODE_MISMATCH 1", "info proven REGISTER_CODE_MISMATCH 1"],
    ("jraft", ""): ["info proven REGISTER_CODE_MISMATCH 2"],
    ("master-cut-off", ""): ["info proven REGISTER_CODE_MISMATCH 1"],
    ("healthy", "Nothing above info"): [],
    ("rolled-files", "Nothing above info"): [],
    **{
        (run, ""): []
        for run in (
            "deaf-master",
            "embedded",
            "incidents-in-a-row",
            "master-cut-off-empty-log",
            "master-killed",
            "master-killed-5.1.4",
            "no-unclean-election",
            "unclean-election",
            "unclean-election-idle",
            "zombie-master",
        )
    },
}
"""``(run, how the sentence of expected begins)`` to all findings of this protocol in the run."""


@cache
def rows_of(run: Path) -> tuple[Row, ...]:
    return tuple(row for row in story.run_rows(run) if row.protocol == PROTOCOL)


def _findings(rows: tuple[Row, ...]) -> list[str]:
    return [
        f"{row.severity} {row.certainty} {row.rule} {' '.join(row.nodes)}" for row in rows if isinstance(row, Finding)
    ]


@pytest.mark.parametrize(("run", "sentence"), SAID)
def test_expected(corpora: Path, run: str, sentence: str) -> None:
    """All findings of a run, and none about a broker that only changed its address."""
    path = corpora / "rocketmq-controller" / run
    assert any(said.startswith(sentence) for said in json.loads((path / "run.json").read_text())["expected"])
    assert _findings(rows_of(path)) == SAID[(run, sentence)]


@pytest.mark.parametrize("run", ["healthy", "identity-lost-and-moved", "jraft", "master-killed-5.1.4"])
def test_every_allocation_is_followed(corpora: Path, run: str) -> None:
    """Each id that a broker owns was accepted with the code in its temporary file."""
    rows = rows_of(corpora / "rocketmq-controller" / run)
    codes = [row for row in rows if isinstance(row, RuleCoverage) and row.rule == "REGISTER_CODE_MISMATCH"]
    assert [(row.conforms, row.undecidable) for row in codes] == [(4 if run == "identity-lost-and-moved" else 3, 0)]


def dropping(random: Random) -> story.Keep:
    """Drops some of the INFO lines."""
    return lambda line: line.level != "INFO" or random.random() > 0.03


@pytest.mark.parametrize("run", ["healthy", "identity-lost-and-moved", "jraft", "master-by-hand"])
def test_dropped_info_lines_raise_no_alarm(corpora: Path, run: str) -> None:
    """Appenders drop INFO lines: that may hide an alarm and never makes one."""
    path = corpora / "rocketmq-controller" / run
    known = _alarms(rows_of(path))
    for seed in range(2):
        facts = story.run_facts(path, keep=dropping(Random(seed)))
        assert _alarms(tuple(story.judge(fact for fact in facts if fact.protocol == PROTOCOL))) <= known


def _alarms(rows: tuple[Row, ...]) -> set[tuple[str, str]]:
    return {(row.rule, row.nodes[0]) for row in rows if isinstance(row, Finding) and row.severity != INFO}
