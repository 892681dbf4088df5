"""Who led what, by the logs, against what an independent observer heard from every node once a second."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from tests.acceptance.conftest import ELECTING
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


BEGINS = "its log says that it begins to change its role; until that is done it answers what it was before"

EXCUSES = (Excuse("master-cut-off-slow-timing", "broker-2", "slave", BEGINS),)
CLOSE, AGREEMENT = 3.0, 0.9995
"""Seconds from a change, and which part of the samples must agree there."""

WITHOUT_ROLES = {"solr-warn-396"}
"""Its servers logged nothing below WARN: no line tells a role."""

OPEN_AT_MOST, OPEN_UNDER_MANY_FAULTS = 0.001, 0.003
"""The part of the samples about which gold may leave open who is right; a power cut ends several logs at once, and two
processes that speak for one server write one member's roles."""


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
    role = {"leader": "leader", "master": "leader", "observer": "observer"}.get(sample.role, "follower")
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


def possible(intervals: Iterable[Row], t: float) -> list[Row]:
    """The rows that hold ``t`` if each ended as late as its uncertainty allows."""
    return [
        row
        for row in intervals
        if seconds(row["start_time"]) <= t
        and (row["end_time"] is None or t < seconds(row["end_time"]) + (row["end_uncertainty_ms"] or 0) / 1000)
    ]


@dataclass(frozen=True)
class Disagreement:
    """A sample that gold contradicts."""

    run: str
    sample: Sample
    problem: str

    def __str__(self) -> str:
        sample = self.sample
        return f"{self.run} {sample.node} {clock(sample.t)} {sample.kind} says {sample.role}: {self.problem}"

    def excuse(self) -> Excuse | None:
        sample = self.sample
        return next((e for e in EXCUSES if (e.run, e.node, e.role) == (self.run, sample.node, sample.role)), None)


@dataclass
class Compared:
    """The samples of all runs that are farther than some seconds from every change.

    ``open`` are those between the earliest and the latest moment at which a role may have ended by its log, of which
    one of the roles that are possible then is the observed one: a process that is killed may have written its last line
    long before.
    """

    agreed: Counter[str]
    open: Counter[str]
    wrong: list[Disagreement]

    @property
    def agreement(self) -> float:
        agreed = self.agreed.total()
        return agreed / (agreed + len(self.wrong))

    def report(self) -> None:
        """Print the number, and every run, the worst first."""
        print(
            f"\n{self.agreement:.5f} of {self.agreed.total() + len(self.wrong)} samples agree; "
            f"{len(self.wrong)} do not, {self.open.total()} are left open"
        )
        bad = Counter(one.run for one in self.wrong)
        for run in sorted(self.agreed | bad, key=lambda run: (-bad[run], run)):
            print(f"{run:32} {self.agreed[run]:5} of {self.agreed[run] + bad[run]:5} agree, {self.open[run]:3} open")


def comparison(warehouse: Warehouse, runs: dict[str, Path]) -> Callable[[float], Compared]:
    """Compares the published roles of runs with the observer's samples so many seconds from every change."""
    intervals: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in warehouse.rows("gold/role_intervals"):
        intervals[row["cluster"], row["source_node"]].append(row)
    observers = {run: Observed(path) for run, path in runs.items()}

    def with_margin(margin: float) -> Compared:
        done = Compared(Counter(), Counter(), [])
        for run, observed in observers.items():
            for sample in observed.settled(margin):
                shown, gone = sample.t, observed.is_gone(sample.node, sample.t)
                own = intervals[run, sample.node]
                if (problem := disagreement(sample, at(own, shown), gone)) is None:
                    done.agreed[run] += 1
                elif any(disagreement(sample, [row], gone) is None for row in possible(own, shown)):
                    done.open[run] += 1
                else:
                    done.wrong.append(Disagreement(run, sample, problem))
        return done

    return with_margin


@pytest.fixture(scope="module")
def compare(gold: Warehouse, elections: dict[str, Path]) -> Callable[[float], Compared]:
    """The comparison of the clusters that were hurt once at a time."""
    return comparison(gold, elections)


@pytest.mark.parametrize("margin", [SETTLED, 5.0], ids=["settled", "close by"])
def test_roles_agree_with_the_observer(compare: Callable[[float], Compared], margin: float) -> None:
    """Farther than so many seconds from every change."""
    compared = compare(margin)
    compared.report()
    wrong = [str(one) for one in compared.wrong if one.excuse() is None]
    assert not wrong, f"{len(wrong)} samples disagree, the first:\n" + "\n".join(wrong[:40])
    assert {one.excuse() for one in compared.wrong} == set(EXCUSES), "an excuse that nothing needs"


def test_roles_agree_with_the_observer_very_close_to_changes_too(
    compare: Callable[[float], Compared], record_property: Callable[[str, object], None]
) -> None:
    """Nothing is excused here: the number says all."""
    compared = compare(CLOSE)
    compared.report()
    record_property("samples of an observer", compared.agreed.total())
    wrong = "\n".join(str(one) for one in compared.wrong)
    assert compared.agreement >= AGREEMENT, f"{compared.agreement:.5f}:\n{wrong}"
    assert compared.open.total() <= OPEN_AT_MOST * compared.agreed.total(), compared.open


def test_roles_agree_with_the_observer_under_many_faults_at_once(compound: Warehouse, corpora: Path) -> None:
    """Very close to changes; who led, whom each followed, in which term."""
    folders = [path.parent for path in sorted((corpora / "compound-clusters").glob("*/run.json"))]
    compared = comparison(
        compound,
        {
            folder.name: folder
            for folder in folders
            if Observed(folder).run["system"] in ELECTING and folder.name not in WITHOUT_ROLES
        },
    )(CLOSE)
    compared.report()
    assert compared.agreed.total() > 10_000
    wrong = "\n".join(str(one) for one in compared.wrong)
    assert compared.agreement >= AGREEMENT, f"{compared.agreement:.5f}:\n{wrong}"
    assert compared.open.total() <= OPEN_UNDER_MANY_FAULTS * compared.agreed.total(), compared.open


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
