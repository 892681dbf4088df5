"""Every decision of the systems has a scenario on both sides, or says why a log cannot show that side."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from election_replay.election_core.model.catalogue import RuleId
from tests.election_core import story
from tests.election_core.decisions import Decision
from tests.election_core.decisions.acting_master import ACTING_MASTER
from tests.election_core.decisions.broker_identity import BROKER_IDENTITY
from tests.election_core.decisions.classics import BULLY, RAFT, TOKEN_RING, ZAB
from tests.election_core.decisions.controller import CONTROLLER
from tests.election_core.decisions.dledger import DLEDGER
from tests.election_core.decisions.kafka import KRAFT, PARTITION
from tests.election_core.decisions.metadata import METADATA
from tests.election_core.decisions.order_lock import ORDER_LOCK
from tests.election_core.decisions.redis import REDIS
from tests.election_core.decisions.writes import WRITES

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "tests" / "scenarios"
PAGE = ROOT / "docs" / "decisions.md"

TABLES: dict[str, tuple[Decision, ...]] = {
    "dledger": DLEDGER,
    "controller": CONTROLLER,
    "broker_identity": BROKER_IDENTITY,
    "acting_master": ACTING_MASTER,
    "order_lock": ORDER_LOCK,
    "writes": WRITES,
    "metadata": METADATA,
    "raft": RAFT,
    "kraft": KRAFT,
    "partition": PARTITION,
    "zab": ZAB,
    "bully": BULLY,
    "token_ring": TOKEN_RING,
    "redis": REDIS,
}
"""``protocol -> decisions``; a protocol's scenarios are in the folder of its name."""

CONFORMS, VIOLATES = "Conforms", "Violates"
CASES = [(protocol, decision) for protocol, table in TABLES.items() for decision in table]


def cited(protocol: str, side: str) -> dict[str, list[str]]:
    """``decision -> scenarios`` that say they show this side of it."""
    found: dict[str, list[str]] = {}
    for path in sorted((SCENARIOS / protocol).glob("*.txt")):
        for key in _cited_in(path.read_text(), side):
            found.setdefault(key, []).append(path.stem)
    return found


def _cited_in(text: str, side: str) -> list[str]:
    intent = text.split("\n[")[0]
    line = re.search(rf"^{side}: (.*)$", intent, re.MULTILINE)
    return line.group(1).split(", ") if line else []


def _ids(case: object) -> str:
    return case.key if isinstance(case, Decision) else str(case)


@pytest.mark.parametrize(("protocol", "decision"), CASES, ids=_ids)
def test_both_sides_are_shown_or_cannot_be(protocol: str, decision: Decision) -> None:
    assert decision.rule in {*RuleId}
    for side, reason in ((CONFORMS, decision.never_conforms), (VIOLATES, decision.never_violates)):
        shown = cited(protocol, side).get(decision.key, [])
        assert shown or reason, f"{decision.key}: no scenario says {side}, and no reason why none can"
        assert not (shown and reason), f"{decision.key}: {shown} show what is said to be impossible: {reason}"


@pytest.mark.parametrize("protocol", TABLES)
def test_scenarios_cite_decisions_that_are_in_the_table(protocol: str) -> None:
    keys = [decision.key for decision in TABLES[protocol]]
    assert len(keys) == len(set(keys))
    for side in (CONFORMS, VIOLATES):
        assert set(cited(protocol, side)) <= set(keys)


@pytest.mark.parametrize(("protocol", "decision"), CASES, ids=_ids)
def test_verdicts_of_the_scenarios_bear_it_out(protocol: str, decision: Decision) -> None:
    """Where a decision is said to be broken its rule counts a violation; where it is said to hold it conforms, or what
    the code then allows for is told as information."""
    for side, word in ((CONFORMS, "conforms"), (VIOLATES, "violates")):
        for name in cited(protocol, side).get(decision.key, []):
            told = (SCENARIOS / protocol / f"{name}.txt").read_text().split(f"{story.RULE}\n")[1]
            assert _counted(told, decision.rule, word), f"{name} does not show {decision.key}: {word}"


def _counted(told: str, rule: str, word: str) -> int:
    counts = re.findall(rf"^  \S+ {rule}: (\d+) conform, (\d+) violate", told, re.MULTILINE)
    found = len(re.findall(rf"^  \w+ \w+ {rule}:", told, re.MULTILINE))
    if word == "violates":
        return sum(int(violating) for _, violating in counts) + found
    information = len(re.findall(rf"^  info \w+ {rule}:", told, re.MULTILINE))
    return sum(int(conforming) for conforming, _ in counts) + information


def page() -> Iterator[str]:
    """docs/decisions.md."""
    yield "# Decisions"
    yield ""
    yield "What the systems decide, row by row, and the scenario (in `tests/scenarios/`) that shows what the core says"
    yield "when a decision was taken as the code takes it, and when not. Where no log can show a side, the reason"
    yield "stands. [rules.md](rules.md) describes the rules. `pytest --rewrite tests/election_core/test_decisions.py`"
    yield "writes this page."
    for protocol, table in TABLES.items():
        yield ""
        yield f"## {protocol}"
        yield ""
        yield "| decision | source | rule | conforms | violates |"
        yield "|---|---|---|---|---|"
        held, broken = cited(protocol, CONFORMS), cited(protocol, VIOLATES)
        for one in table:
            sides = (
                _side(held.get(one.key, []), one.never_conforms),
                _side(broken.get(one.key, []), one.never_violates),
            )
            yield f"| {one.says} | {one.source} | {one.rule} | {sides[0]} | {sides[1]} |"


def _side(scenarios: list[str], reason: str | None) -> str:
    return ", ".join(f"`{name}`" for name in scenarios) if scenarios else f"not to be told: {reason}"


def test_the_page_is_up_to_date(request: pytest.FixtureRequest) -> None:
    """``--rewrite`` writes it."""
    text = "\n".join(page()) + "\n"
    if request.config.getoption("--rewrite"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text
