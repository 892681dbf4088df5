"""Findings held against what others wrote down of a run: a few real runs pass, and each check sees what is spoiled."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from election_replay.election_core.model.measures import Fate
from election_replay.election_core.model.rows import Finding, RoleInterval, Row
from election_replay.election_core.simulate.catalogue import WILD
from election_replay.election_core.simulate.judged import rows_of
from election_replay.election_core.simulate.scenario import played
from proof.audit import worlds as of_worlds
from proof.audit.__main__ import HEADING, OUTAGES, PAGE, listed, table, with_section
from proof.audit.checks import CHECKS, FALSE, MISLEADING, MISSING, Breach, audited
from proof.audit.records import Records
from proof.audit.worlds import WorldRecords
from tests.election_core.story import run_rows

KILLED, CUT, SET = "etcd/chaos-36", "rocketmq-controller/deaf-master", "zookeeper/chaos-372"
"""Runs in which leaders were killed, acknowledged writes were lost, and a clock was set."""

KNOWN = {(SET, "gaps", MISSING): 1}
"""What is missing in them: a time in which the leader was cut off for less than any server notices."""


def breaches(corpora: Path, run: str, change: Callable[[Row], list[Row]] = lambda row: [row]) -> list[Breach]:
    rows = run_rows(corpora / run)
    return audited(Records(corpora / run), [changed for row in rows for changed in change(row)])


@pytest.mark.parametrize("run", [KILLED, CUT, SET])
def test_a_real_run_is_told_as_others_saw_it(corpora: Path, run: str) -> None:
    found = breaches(corpora, run)
    assert len(found) == sum(count for (of_run, _, _), count in KNOWN.items() if of_run == run), found
    assert {(one.run, one.check, one.kind) for one in found} <= set(KNOWN)


def without(*rules: str) -> Callable[[Row], list[Row]]:
    return lambda row: [] if isinstance(row, Finding) and row.rule in rules else [row]


def says(rule: str, **values: object) -> Callable[[Row], list[Row]]:
    def change(row: Row) -> list[Row]:
        return [replace(row, **values)] if isinstance(row, Finding) and row.rule == rule else [row]  # type: ignore[arg-type]

    return change


def other_bytes(row: Row) -> list[Row]:
    cut = isinstance(row, Finding) and row.cut_from is not None
    return [replace(row, cut_from=0, cut_to=9)] if cut else [row]  # type: ignore[call-arg]


def never_leads(row: Row) -> list[Row]:
    return [replace(row, role="follower")] if isinstance(row, RoleInterval) and row.role == "leader" else [row]


SPOILED: dict[str, tuple[str, Callable[[Row], list[Row]], str, str]] = {
    "too long": (KILLED, says("LEADERLESS", duration_min_ms=99_000), "bounds", FALSE),
    "too short": (KILLED, says("LEADERLESS", duration_max_ms=100), "bounds", MISLEADING),
    "not told": (KILLED, without("LEADERLESS"), "gaps", MISSING),
    "no loss": (CUT, without("SPLIT_BRAIN_OVERLAP", "POSSIBLE_DATA_LOSS"), "losses", MISSING),
    "other bytes": (CUT, other_bytes, "losses", MISSING),
    "frozen, and was killed": (KILLED, says("LEADERLESS", former_leader_fate=Fate.FROZEN), "fates", FALSE),
    "a clock that is not told": (SET, without("CLOCK_SKEW"), "clocks", MISSING),
    "another clock": (SET, says("CLOCK_SKEW", clock_least_ms=900_000, clock_most_ms=901_000), "clocks", FALSE),
    "nobody leads": (KILLED, never_leads, "leaders", MISLEADING),
}
"""What is made of a run's rows, and which check says what of it."""


@pytest.mark.parametrize("name", SPOILED)
def test_a_check_sees_what_is_spoiled(corpora: Path, name: str) -> None:
    run, change, check, kind = SPOILED[name]
    before = breaches(corpora, run)
    new = [one for one in breaches(corpora, run, change) if one not in before]
    assert (check, kind) in {(one.check, one.kind) for one in new}


def test_a_time_that_a_wrong_clock_tells_elsewhere_is_misleading() -> None:
    """Its length is right: only the clock of its leader was set, by 20 s."""
    world = played(WILD["raft-wild-clocks"], 296)
    found = audited(WorldRecords(world, "raft"), rows_of(world, "raft"))
    assert [one.kind for one in found if one.check == "bounds"] == [MISLEADING]


def test_every_check_is_spoiled_once() -> None:
    assert {check for _, _, check, _ in SPOILED.values()} == set(CHECKS)


def test_what_is_wrong_is_counted_and_listed() -> None:
    found = [
        Breach("bounds", FALSE, "LEADERLESS", "etcd/a", 0.0, "at least 9 s"),
        Breach("losses", MISSING, "-", "etcd/a", 1.0, "g: 7 is lost"),
        Breach("losses", MISSING, "-", "etcd/a", 2.0, "g: 8 is lost"),
    ]
    assert "| bounds | 1 | 0 | 0 |" in list(table([], found))
    assert "| losses | 0 | 0 | 2 |" in list(table([], found))
    lines = list(listed(found))
    assert lines[0].startswith("- false, bounds, `etcd/a` 00:00:00: `LEADERLESS`: at least 9 s")
    assert "(and 1 more)" in lines[1]


def test_the_section_of_wild_worlds_is_replaced_alone() -> None:
    page = "# How right\n\nworlds\n\n## Findings held against clients, an observer and deeds\n\nreal\n"
    once = of_worlds.with_section(page, "## Wild worlds\n\nfirst\n")
    assert of_worlds.with_section(once, "## Wild worlds\n\nsecond\n") == once.replace("first", "second")
    assert once.replace("## Wild worlds\n\nfirst\n\n", "") == page


def test_the_page_has_the_section_in_its_place() -> None:
    """`make audit` rewrites it."""
    page = PAGE.read_text(encoding="utf-8")
    assert page.count(HEADING) == 1
    assert page.index(HEADING) < page.index(OUTAGES)
    again = with_section(page, f"{HEADING}\n\nnew\n")
    assert "new" in again
    assert again.partition(OUTAGES)[2] == page.partition(OUTAGES)[2]
    assert again.partition(HEADING)[0] == page.partition(HEADING)[0]
