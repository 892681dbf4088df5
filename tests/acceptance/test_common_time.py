"""Clusters whose clocks were set while they worked: what is told of them stands in common time, and nothing is lost."""

from itertools import pairwise
from pathlib import Path

import pytest

from election_replay.election_core.fold.roles import ACTING, LEADER
from election_replay.election_core.model.rows import ClockOffset, Finding, RoleInterval, Term
from election_replay.election_core.model.timing import SECOND
from tests.election_core.story import run_rows

SET = {
    "compound-clusters/chaos-stock": ("srv-12", 1_795_331_330, 1_795_332_100),
    "compound-clusters/chaos-wh-533": ("wh-b", 1_795_332_090, 1_795_332_850),
    "compound-clusters/chaos-keeper-394": ("keeper-2", 1_795_331_690, 1_795_332_590),
}
"""Runs, the machine whose clock was set, and from when to when the run may have lasted, in seconds of true time."""


def findings(run: Path, rule: str, *terms: int) -> list[Finding]:
    return [row for row in run_rows(run) if isinstance(row, Finding) and row.rule == rule and row.terms == terms]


@pytest.mark.parametrize("run", SET)
def test_terms_follow_one_another_and_only_the_last_goes_on(corpora: Path, run: str) -> None:
    terms = [row for row in run_rows(corpora / run) if isinstance(row, Term) and row.leader is not None and row.term]
    for group in {(row.replica_group, row.protocol) for row in terms}:
        of_group = sorted(
            (row for row in terms if (row.replica_group, row.protocol) == group), key=lambda row: row.term
        )
        assert all(before.start_time <= after.start_time for before, after in pairwise(of_group)), group
        assert [row.term for row in of_group if row.end_time is None] == [of_group[-1].term]


@pytest.mark.parametrize("run", SET)
def test_no_time_lies_outside_of_the_run(corpora: Path, run: str) -> None:
    _, first, last = SET[run]
    for row in run_rows(corpora / run):
        if isinstance(row, Finding | Term | RoleInterval):
            for time in (row.start_time, row.end_time):
                assert time is None or first * SECOND <= time <= last * SECOND, row


@pytest.mark.parametrize("run", SET)
def test_what_the_clock_showed_stands_beside_the_common_time(corpora: Path, run: str) -> None:
    machine, _, _ = SET[run]
    roles = [row for row in run_rows(corpora / run) if isinstance(row, RoleInterval)]
    assert any(row.start_time_logged for row in roles if row.source_node == machine)
    assert not any(row.start_time_logged for row in roles if row.source_node not in (machine, None))


def test_a_clock_that_is_set_forward_is_no_gap_in_a_log(corpora: Path) -> None:
    assert findings(corpora / "compound-clusters/chaos-stock", "LOG_GAP") != []
    for run, nodes in (("compound-clusters/chaos-stock", {"3"}), ("compound-clusters/chaos-wh-533", set())):
        gaps = findings(corpora / run, "LOG_GAP")
        assert all((gap.duration_max_ms or 0) < 30_000 for gap in gaps)
        assert not nodes & {node for gap in gaps for node in gap.nodes}


def test_a_freeze_that_a_step_had_hidden_is_told(corpora: Path) -> None:
    """keeper-2 was frozen for 33.6 s and led on 28 s after epoch 15 was served; wh-b was paused for 24 s."""
    keeper = corpora / "compound-clusters/chaos-keeper-394"
    (overlap,) = findings(keeper, "SPLIT_BRAIN_OVERLAP", 14, 15)
    assert 27_000 <= (overlap.overlap_min_ms or 0) <= (overlap.overlap_max_ms or 0) <= 29_000
    assert any(33_000 <= (gap.duration_max_ms or 0) <= 34_000 for gap in findings(keeper, "LOG_GAP"))
    (outage,) = findings(keeper, "LEADERLESS", 10, 11)
    assert 4_800 <= (outage.duration_min_ms or 0) <= (outage.duration_max_ms or 0) <= 9_800
    gaps = findings(corpora / "compound-clusters/chaos-wh-533", "LOG_GAP")
    assert any(23_000 <= (gap.duration_max_ms or 0) <= 26_000 and gap.nodes == ("n4",) for gap in gaps)


def test_outages_beside_a_step_are_as_long_as_they_were(corpora: Path) -> None:
    """By clients' acknowledgements: 9.4 s in chaos-stock, 10.0 s and 11.9 s in chaos-wh-533."""
    stock, wh = corpora / "compound-clusters/chaos-stock", corpora / "compound-clusters/chaos-wh-533"
    for run, terms, seconds in ((stock, (12, 13), 11.4), (wh, (1, 2), 10), (wh, (5, 7), 11.9)):
        (outage,) = findings(run, "LEADERLESS", *terms)
        assert (outage.duration_min_ms or 0) - 1000 <= seconds * 1000 <= (outage.duration_max_ms or 0) + 5000
        assert outage.start_time < (outage.end_time or 0)


def test_what_a_stepped_master_lost_is_found(corpora: Path) -> None:
    (loss,) = findings(corpora / "compound-clusters/chaos-stock", "POSSIBLE_DATA_LOSS", 12)
    assert (loss.offset_after, loss.offset_before) == (536_957, 537_216)


def test_starts_behind_a_step_are_dated_by_common_time(corpora: Path) -> None:
    run = corpora / "compound-clusters/chaos-wh-533"
    roles = [row for row in run_rows(run) if isinstance(row, RoleInterval) and row.source_node == "wh-b"]
    starts = [round(row.start_time / SECOND) for row in roles if row.start_cause == "start"]
    assert starts[1:3] == [1_795_332_442, 1_795_332_518], "07:27:22 and 07:28:38"
    (cut,) = findings(run, "QUEUES_CUT_AT_START", 11)
    assert round(cut.start_time / SECOND) == 1_795_332_523, "07:28:43: the start before cut them too, and led nobody"


def test_a_notice_of_who_leads_shows_a_clock_behind(corpora: Path) -> None:
    """coord-b was 40 s behind: it reads that coord-a leads 37 s before coord-a says so."""
    (skew,) = findings(corpora / "compound-clusters/clock-coord", "CLOCK_SKEW")
    assert skew.nodes == ("12",)
    assert -41_500 <= (skew.clock_least_ms or 0) <= -40_000 <= (skew.clock_most_ms or 0) <= -35_000


def test_a_leader_in_office_is_one_by_all_clocks(corpora: Path) -> None:
    for run in SET:
        roles = [row for row in run_rows(corpora / run) if isinstance(row, RoleInterval)]
        leading = [row for row in roles if row.role == LEADER and row.end_time is None]
        groups = [(row.replica_group, row.protocol) for row in leading]
        assert len(groups) == len(set(groups)), leading


STEPS = {
    "compound-clusters/chaos-stock": [(1_795_331_790.4, 180), (1_795_331_972.2, -188)],
    "compound-clusters/chaos-wh-533": [(1_795_332_281.6, 55), (1_795_332_363.0, -43), (1_795_332_497.0, -49)],
    "compound-clusters/chaos-keeper-394": [(1_795_331_899.0, 180), (1_795_331_909.0, -188), (1_795_332_132.3, 188)],
}
"""When, in seconds of true time, and by how many seconds the machine's clock was set; one step of two within 22 s, of
which lines show one, is one here."""


@pytest.mark.parametrize("run", SET)
def test_each_step_of_a_clock_is_told_with_what_it_was_off_in_between(corpora: Path, run: str) -> None:
    (skew,) = findings(corpora / run, "CLOCK_SKEW")
    told = [row for row in run_rows(corpora / run) if isinstance(row, ClockOffset)]
    assert {row.source_node for row in told} == {SET[run][0]}
    assert {row.finding_id for row in told} == {skew.finding_id}
    off = 0
    for (before, after), (when, by) in zip(pairwise(told), STEPS[run], strict=True):
        off += by
        assert (before.end_time or 0) / SECOND - 2.5 <= when <= after.start_time / SECOND + 2.5
        assert (after.set_by_least_ms or 0) <= by * 1000 <= (after.set_by_most_ms or 0)
        assert (after.clock_least_ms or 0) <= off * 1000 <= (after.clock_most_ms or 0)
        assert (skew.clock_least_ms or 0) <= off * 1000 <= (skew.clock_most_ms or 0)
        assert f"It was put {'forward' if by > 0 else 'back'} by" in skew.summary
    assert skew.summary.count("It was put") == len(STEPS[run])


def test_a_clock_that_little_is_known_of_has_its_moments_in_an_interval(corpora: Path) -> None:
    """trade-2-2's clock was 120 s ahead, which is known as 55 s to 121.5 s: it acted from 10:56:46 to 10:57:57."""
    rows = run_rows(corpora / "compound-clusters/h10-clock-future")
    (acting,) = [row for row in rows if isinstance(row, RoleInterval) and row.role == ACTING]
    begun, ended = 1_795_258_606, 1_795_258_677
    assert acting.start_time / SECOND <= begun <= acting.start_time / SECOND + acting.start_uncertainty_ms / 1000
    assert acting.end_time is not None
    assert acting.end_uncertainty_ms is not None
    assert acting.end_time / SECOND <= ended + 1 <= acting.end_time / SECOND + acting.end_uncertainty_ms / 1000
    assert acting.start_time_logged == acting.start_time + 121_500_000
    assert all(row.start_time / SECOND <= 1_795_258_715 for row in rows if isinstance(row, RoleInterval | Finding))
