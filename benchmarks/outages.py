"""How many of the times in which real writers could not write a finding explains.

python -m benchmarks.outages CORPORA             # a table of every outage of every run with writers below that folder
python -m benchmarks.outages CORPORA --write     # the same as a section of docs/accuracy.md

A run has its writers' logs in ``clients/``. An outage lies between two acknowledged writes with failed attempts between
them. Clients wait two to five seconds an attempt, and a request that got lost is not answered when the cluster is well
again. So an outage is an interval too: surely nobody could write until the attempt that failed last *began*; perhaps
nobody could until the next write was acknowledged. Where several write, each through a member of its own, the one whose
last failed attempt began first tells: another one's member may be down while the cluster is well. What counts is how
long it lasted at least; more than two seconds. A finding explains it where it tells of lost availability and covers at
least two fifths of that time.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

from benchmarks.deeds import AGREES, NOT_TOLD, NOTHING_DONE, WRONG, Deed, deeds, during, judged_by
from benchmarks.in_process import judged
from election_replay.election_core.model.rows import Finding, RoleInterval, Row
from election_replay.jobs.showing.markdown import prose

PAGE = Path(__file__).parents[1] / "docs" / "accuracy.md"
HEADING = "## Outages that real writers saw"

LEAST_S = 2.0
COVERED = 0.4
WRITERS = ("writer*.log", "producer*.log")
ACKNOWLEDGED = {"put", "created", "send", "sent"}
FAILED = {"failed", "fail", "send_failed"}

UNEXPLAINED = {
    (
        "zookeeper/chaos-372",
        "07:32:32",
    ): "the leader was cut off for 8.3 s, less than the 10 s (syncLimit of 5 ticks of "
    "2 s) after which servers miss each other: from 07:32:30 to 07:32:50 none of the three logs has a line but those "
    "of the poller's requests and of the writer's session, and no server noticed",
    ("rocketmq-dledger/preferred-leader-533", "09:22:39"): "the hand-over took less than a second by both brokers' "
    'lines ("Finish handling broker role change ... role=LEADER" at 09:22:39); every failed write went to the former '
    "master's address (clients/producer.log: REJECTREQUEST of 10.83.1.11), until the writer asked for the route anew. "
    "What a client knows of the route, and a write that is refused, no log says",
    **dict.fromkeys(
        (("compound-clusters/upgrade-transfer-dl", "11:21:28"), ("compound-clusters/upgrade-transfer-dl", "11:22:33")),
        "the leadership was handed over on request within a second by both brokers' lines; the writer went on sending "
        "to the former master until it asked for the route anew",
    ),
    ("compound-clusters/chaos-loose-540", "11:34:23"): "nothing was done to this set: the one writer of both sets "
    "waited for answers of the other, quay-2, whose master was cut off and then killed",
    ("compound-clusters/chaos-keeper-394", "07:19:49"): "leader and quorum were untouched: the writer's session was on "
    "a follower that was frozen for 5 s",
}
"""Outages that no finding explains, with why the logs cannot show them: where to look stands in the reason."""

EXPLAINING = {
    "LEADERLESS",
    "LEADER_KEPT_WITHOUT_QUORUM",
    "SPLIT_BRAIN_OVERLAP",
    "SPECIAL_SERVICE_GAP",
    "PRE_ONLINE_STUCK",
    "LOG_GAP",
    "WRITES_UNANSWERED",
    "FORMER_LEADER_STILL_MASTER",
}
"""The rules that tell of a time in which nobody could write, or in which a leader was cut off or frozen."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A time in which no write was acknowledged, in seconds since 1970 on the clock of the writer.

    It begins with the last acknowledgement; ``sure_end`` is when the attempt that failed last began, ``end`` is the
    next acknowledgement.
    """

    run: str
    begin: float
    sure_end: float
    end: float
    attempts: int

    @property
    def least(self) -> float:
        """Seconds in which surely nobody could write."""
        return max(0.0, self.sure_end - self.begin)

    @property
    def most(self) -> float:
        """Seconds without an acknowledged write."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class Attempt:
    """A write of ``writer`` that failed: not begun before ``begun``, given up at ``failed``; seconds since 1970."""

    writer: str
    begun: float
    failed: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """An outage beside the finding that covers most of it; ``covered`` seconds of it.

    ``done`` is what was done to the cluster meanwhile, and ``cause`` whether the finding tells that.
    """

    outage: Outage
    finding: Finding | None
    covered: float
    done: tuple[Deed, ...] = ()
    cause: str = ""

    @property
    def explained(self) -> bool:
        """Whether the finding covers enough of the outage."""
        return self.finding is not None and self.covered >= COVERED * self.outage.least


def outages(run: Path) -> Iterator[Outage]:
    """The outages that the writers of a run saw; what any of them wrote counts."""
    acknowledged: list[float] = []
    failed: list[Attempt] = []
    for path in sorted(path for pattern in WRITERS for path in (run / "clients").glob(pattern)):
        before: dict[str, float] = {}  # each writer makes one attempt after the other
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            event, at = entry.get("event", entry.get("ev")), float(entry["t"])
            writer = f"{path.name} {entry.get('member', '')}"
            if event in ACKNOWLEDGED:
                acknowledged.append(at)
            elif event in FAILED:
                failed.append(Attempt(writer, _begun(entry, before.get(writer, at)), at))
            before[writer] = at
    acknowledged.sort()
    name = f"{run.parent.name}/{run.name}"
    for begin, end in pairwise(acknowledged):
        attempts = [attempt for attempt in failed if begin <= attempt.failed <= end]
        last = {attempt.writer: attempt.begun for attempt in sorted(attempts, key=attrgetter("begun"))}
        outage = Outage(name, begin, min(last.values(), default=begin), end, len(attempts))
        if outage.least > LEAST_S:
            yield outage


def _begun(entry: dict[str, Any], before: float) -> float:
    """When a failed attempt began: as its writer measured, else not before the writer's attempt before it ended."""
    return float(entry["t"]) - entry["ms"] / 1000 if "ms" in entry else before


def explanation(outage: Outage, findings: Iterable[Finding]) -> Explanation:
    """The finding that explains an outage best, if any does."""
    measured = [(covered(outage, finding), finding.finding_id, finding) for finding in findings]
    best = max(measured, default=(0.0, "", None), key=lambda one: one[:2])
    return Explanation(outage, best[2] if best[0] > 0 else None, best[0])


def covered(outage: Outage, finding: Finding) -> float:
    """How many seconds of the sure part of an outage a finding covers."""
    until = finding.end_time / 1e6 if finding.end_time is not None else outage.end
    return max(0.0, min(outage.sure_end, until) - max(outage.begin, finding.start_time / 1e6))


def explained(run: Path) -> list[Explanation]:
    """Every outage of a run with its explanation."""
    found = list(outages(run))
    if not found:
        return []
    rows, done = judged(run), list(deeds(run))
    findings = [row for row in rows if isinstance(row, Finding) and row.rule in EXPLAINING]
    sources = sources_of(rows)
    return [_held_against(explanation(outage, findings), done, sources) for outage in found]


def _held_against(
    one: Explanation, done: Iterable[Deed], sources: Mapping[tuple[str, str], frozenset[str]]
) -> Explanation:
    """An explanation with what was done meanwhile."""
    meanwhile = tuple(during(done, one.outage.begin, one.outage.sure_end))
    cause = judged_by(one.finding, meanwhile, sources) if one.finding is not None and one.explained else ""
    return replace(one, done=meanwhile, cause=cause)


def sources_of(rows: Iterable[Row]) -> dict[tuple[str, str], frozenset[str]]:
    """The folders whose logs speak for each member, by group and member."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        if isinstance(row, RoleInterval) and row.node is not None and row.source_node is not None:
            found[row.replica_group, row.node].add(row.source_node)
    return {member: frozenset(sources) for member, sources in found.items()}


def table(explanations: Iterable[Explanation]) -> Iterator[str]:
    """The outages as a table in Markdown."""
    yield (
        "| run | no write from | for at least | at most | failed attempts | explained by | covers | its length "
        "| what was done | the cause |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for one in explanations:
        outage, finding = one.outage, one.finding
        begin = datetime.fromtimestamp(outage.begin, UTC).strftime("%H:%M:%S")
        told = f"`{finding.rule}`" if finding is not None and one.explained else "-"
        length = "" if finding is None or finding.end_time is None else _length(finding)
        share, lasted = f"{one.covered / outage.least:.0%}", f"{outage.least:.1f} s | {outage.most:.1f} s"
        deeds_done = "; ".join(dict.fromkeys(map(str, one.done)))
        yield (
            f"| {outage.run} | {begin} | {lasted} | {outage.attempts} | {told} | {share} | {length} "
            f"| {deeds_done} | {one.cause} |"
        )


def unexplained(explanations: Iterable[Explanation]) -> Iterator[str]:
    """The outages that no finding explains, each with why."""
    for one in explanations:
        begin = datetime.fromtimestamp(one.outage.begin, UTC).strftime("%H:%M:%S")
        if not one.explained:
            why = UNEXPLAINED.get((one.outage.run, begin), "the reason is not known")
            words = f"Not explained, `{one.outage.run}` from {begin}: {why}."
            yield from prose(words, mark="- ")


def _length(finding: Finding) -> str:
    return f"{((finding.end_time or finding.start_time) - finding.start_time) / 1e6:.1f} s"


def causes_told(explanations: Iterable[Explanation]) -> str:
    """How often the cause that explains an outage is what was done."""
    told = Counter(one.cause for one in explanations if one.explained)
    return (
        f"The cause that the finding tells was held against what was done to the cluster meanwhile: {told[AGREES]} "
        f"tell it, {told[WRONG]} tell another cause; {told[NOTHING_DONE]} are of times in which nothing was done, on "
        f"machines short of CPU, and {told[NOT_TOLD]} tell no cause."
    )


def section(explanations: list[Explanation]) -> str:
    """The section of the page."""
    good = sum(one.explained for one in explanations)
    share = good / max(len(explanations), 1)
    lines = [
        HEADING,
        "",
        f"{good} of {len(explanations)} ({share:.0%}) outages of surely more than two seconds are covered by a finding",
        "for at least two fifths of that time. Clients wait two to five seconds an attempt, and a lost request stays",
        "unanswered when the cluster is well again. So an outage lasted at least until the last failed attempt",
        "*began*, and at most until the next acknowledged write. Of several writers the one counts whose last",
        "attempt began first.",
        *prose(causes_told(explanations)),
        "This section is made by `python -m benchmarks.outages CORPORA --write`.",
        "",
        *table(explanations),
        "",
        *unexplained(explanations),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Print the table, or write the section; fails never: it measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path, help="the folder of systems, each with its runs")
    parser.add_argument("--only", default="*/*", help="runs that fit this pattern")
    parser.add_argument("--write", action="store_true", help="rewrite the section of docs/accuracy.md")
    given = parser.parse_args()
    runs = sorted(path.parent for path in given.corpora.glob(f"{given.only}/run.json"))
    text = section([one for run in runs for one in explained(run)])
    if given.write:
        before, _, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
        PAGE.write_text(f"{before.rstrip()}\n\n{text}", encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
