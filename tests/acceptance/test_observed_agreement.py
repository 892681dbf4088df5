"""Who led what, by the logs, against what an independent observer heard from every node once a second."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from tests.acceptance.observed import SETTLED, Observed, Sample
from tests.acceptance.published import Row, Warehouse

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Excuse:
    """Samples that need not agree, and why the logs are not wrong."""

    run: str
    node: str
    role: str
    reason: str


LAST_LINE = "it was killed a few seconds later; its log ends before, and the interval says how uncertain its end is"

NO_EXCUSE: tuple[Excuse, ...] = ()
CLOSE_BY: tuple[Excuse, ...] = (
    Excuse(
        "master-by-hand",
        "broker-3",
        "master",
        "the controllers forgot its id and never told it a role; its HA service then says master by default",
    ),
    Excuse("incidents-in-a-row", "broker-2", "master", LAST_LINE),
    Excuse("no-unclean-election", "broker-2", "master", LAST_LINE),
)


def seconds(time: datetime) -> float:
    return time.timestamp()


def at(intervals: Iterable[Row], t: float) -> list[Row]:
    """The rows whose interval holds ``t``."""
    return [
        row
        for row in intervals
        if seconds(row["start_time"]) <= t and (row["end_time"] is None or t < seconds(row["end_time"]))
    ]


def disagreement(sample: Sample, claims: list[Row], gone: bool) -> str | None:
    """What is wrong with the roles that gold claims for this sample's node; None if nothing is."""
    if sample.role in ("none", "unreachable", "unsaid"):
        if sample.role == "none" or (sample.role == "unreachable" and gone):
            return "claimed as leader" if any(row["role"] == "leader" for row in claims) else None
        return None
    if len(claims) != 1:
        return f"{len(claims)} roles at once" if claims else "no role"
    [claim] = claims
    if sample.kind == "controller" and sample.role == "follower" and sample.leader is None:
        return "claimed as leader" if claim["role"] == "leader" else None  # any controller that does not lead says so
    role = "leader" if sample.role in ("leader", "master") else "follower"
    wrong = [
        f"{name} {claim[name]}, not {expected}"
        for name, expected in (
            ("role", role),
            ("node", sample.member),
            ("leader", sample.leader),
            ("term", sample.term),
        )
        if expected is not None and claim[name] != expected
    ]
    return "; ".join(wrong) or None


@pytest.mark.parametrize(("margin", "excuses"), [(SETTLED, NO_EXCUSE), (5.0, CLOSE_BY)], ids=["settled", "close by"])
def test_roles_agree_with_the_observer(
    gold: Warehouse, elections: dict[str, Path], margin: float, excuses: tuple[Excuse, ...]
) -> None:
    """Farther than so many seconds from every change."""
    intervals: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in gold.rows("gold/role_intervals"):
        intervals[row["cluster"], row["source_node"]].append(row)

    wrong: list[str] = []
    excused: Counter[Excuse] = Counter()
    agreed: Counter[str] = Counter()
    for run, path in elections.items():
        observed = Observed(path)
        for sample in observed.settled(margin):
            claims = at(intervals[run, sample.node], sample.t)
            problem = disagreement(sample, claims, observed.is_gone(sample.node, sample.t))
            excuse = next((e for e in excuses if (e.run, e.node, e.role) == (run, sample.node, sample.role)), None)
            if problem is None:
                agreed[run] += 1
            elif excuse:
                excused[excuse] += 1
            else:
                wrong.append(f"{run} {sample.node} {clock(sample.t)} {sample.kind} says {sample.role}: {problem}")
    report(agreed, wrong, excused)
    assert not wrong, f"{len(wrong)} samples disagree, the first:\n" + "\n".join(wrong[:40])
    assert set(excused) == set(excuses), "an excuse that nothing needs"


def report(agreed: Counter[str], wrong: list[str], excused: Counter[Excuse]) -> None:
    disagreed = Counter(line.split(" ", 1)[0] for line in wrong)
    for run in sorted(agreed | disagreed):
        total = agreed[run] + disagreed[run]
        print(f"{run:28} {agreed[run]:5} of {total:5} samples agree ({agreed[run] / total:.1%})")
    for excuse, count in excused.items():
        print(f"{excuse.run:28} {count:5} samples of {excuse.node} excused: {excuse.reason}")


def test_sync_state_sets_agree_with_the_leading_controller(gold: Warehouse, elections: dict[str, Path]) -> None:
    """Set and epoch are compared, the epoch with the newest term.

    A stale master's term goes on beside it. An election without a winner raises the epoch and leaves the set alone.
    """
    sets, terms = gold.rows("gold/sync_state_sets"), gold.rows("gold/terms")
    wrong, agreed = [], 0
    for run, path in elections.items():
        for state in Observed(path).settled_sets():
            mine = at(of_group(sets, run, state.group), state.t)
            newest = sorted(at(of_group(terms, run, state.group), state.t), key=lambda row: row["term"])[-1:]
            told = [(state.set_epoch, state.members), (state.master_epoch, state.master)]
            found = [(row["sync_state_set_epoch"], tuple(sorted(row["members"]))) for row in mine]
            found += [(row["term"], row["leader"]) for row in newest]
            if found == told:
                agreed += 1
            else:
                wrong.append(f"{run} {state.group} {clock(state.t)}: the controller says {told}, gold {found}")
    print(f"{agreed} of {agreed + len(wrong)} settled answers of leading controllers agree")
    assert not wrong, f"{len(wrong)} answers disagree, the first:\n" + "\n".join(wrong[:40])


def of_group(rows: Iterable[Row], cluster: str, group: str) -> list[Row]:
    return [row for row in rows if (row["cluster"], row["replica_group"]) == (cluster, group)]


def clock(t: float) -> str:
    return datetime.fromtimestamp(t, UTC).strftime("%H:%M:%SZ")


def test_a_member_has_one_role_at_a_time(gold: Warehouse) -> None:
    """Intervals of one member, told by one log, do not overlap."""
    by_member: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in gold.rows("gold/role_intervals"):
        key = (row["cluster"], row["replica_group"], row["node"], row["source_node"] or "")
        by_member[key].append(row)
    for key, rows in by_member.items():
        rows.sort(key=lambda row: (row["start_time"], row["end_time"] is None, row["end_time"] or row["start_time"]))
        for before, after in pairwise(rows):
            assert before["end_time"] is not None, f"{key}: open interval before {after['start_time']}"
            assert before["end_time"] <= after["start_time"], f"{key}: {before} overlaps {after}"
