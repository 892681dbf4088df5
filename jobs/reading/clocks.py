"""The clocks that are proven wrong, and times as right clocks would have shown them.

``CLOCK_SKEW`` says how far a clock was ahead while it was wrong. All that is shown of its machine in that time (roles,
lines, moments) is shifted by the middle of what is proven, as the judge does it; everything else stays as logged. The
interval of a finding is the judge's: where it stands on an unshifted line of its evidence it is shifted with it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from election_replay.election_core.judge.wording import seconds
from election_replay.election_core.model.catalogue import RuleId
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import Row, clock, name_of

WRONG = f"""
    SELECT nodes[1] AS node, start_time, end_time, clock_least_ms, clock_most_ms, summary FROM findings
    WHERE cluster = ? AND replica_group = ? AND rule = '{RuleId.CLOCK_SKEW}' AND len(nodes) = 1
        AND (clock_least_ms IS NOT NULL OR clock_most_ms IS NOT NULL)
"""

SIGNS = """
    SELECT source_node, min(start_time) AS first, max(greatest(start_time, coalesce(end_time, start_time))) AS last
    FROM role_intervals WHERE cluster = ? AND replica_group = ? GROUP BY source_node
"""
LINES = """
    SELECT finding_id, event_time AS logged_at, source_node FROM evidence_lines
    WHERE cluster = $cluster AND finding_id IN (SELECT unnest($ids)) AND event_time IS NOT NULL
"""

EVER, NEVER = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
LIMITED_MS = 1
"""A shift below this is none."""


@dataclass(frozen=True, slots=True)
class WrongClock:
    """The clock of ``source`` showed ``ahead`` more than it was, in its readings from ``first`` to ``last``.

    ``told_from`` and ``told_to`` are the ends that the finding tells: the first and the last sign of the machine, where
    nothing shows that it was right before or after.
    """

    source: str
    first: datetime
    last: datetime
    ahead: timedelta
    told_from: datetime | None = None
    told_to: datetime | None = None

    @property
    def shift(self) -> str:
        """By how much what it logged is shifted: ``+88.5 s``."""
        behind = -self.ahead // timedelta(microseconds=1)
        return f"{'+' if behind > 0 else '-'}{seconds(abs(behind))}"


def is_about(finding: Row, clock: WrongClock) -> bool:
    """Whether a finding is the one that tells of a wrong clock; its times are readings of that clock."""
    return bool(finding["rule"] == RuleId.CLOCK_SKEW and finding["start_time"] == clock.told_from)


@dataclass(frozen=True, slots=True)
class Clocks:
    """The wrong clocks of a group; without any, all times are as logged."""

    wrong: tuple[WrongClock, ...] = ()

    def ahead(self, source: str | None, at: datetime) -> timedelta:
        """How far the clock of ``source`` was ahead when it showed ``at``."""
        return next(
            (clock.ahead for clock in self.wrong if clock.source == source and clock.first <= at <= clock.last),
            timedelta(0),
        )

    def adjusted(self, source: str | None, at: datetime) -> datetime:
        """``at``, read from the clock of ``source``, as a right clock would have shown it."""
        return at - self.ahead(source, at)

    def of_finding(self, finding: Row, lines: Iterable[Row]) -> Row:
        """A finding on right clocks: an end of it that is the time of a line of its evidence moves with the line.

        ``lines`` are its evidence as logged (``logged_at``, ``source_node``). The judge has shifted some ends already:
        those are no line's time any more.
        """
        moved = dict(finding)
        about = [clock.ahead for clock in self.wrong if is_about(finding, clock)]
        if about:
            return moved | {name: moved[name] and moved[name] - about[0] for name in ("start_time", "end_time")}
        for name in ("start_time", "end_time"):
            at = finding[name]
            of_that_time = [row for row in lines if at is not None and row["logged_at"] == at]
            shifts = {self.ahead(row["source_node"], at) for row in of_that_time}
            if len(shifts) == 1:
                moved[name] = at - shifts.pop()
        if moved["end_time"] is not None:
            moved["end_time"] = max(moved["end_time"], moved["start_time"])
        return moved

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The same as lists of values, for a query."""
        return {
            "wrong_sources": [clock.source for clock in self.wrong],
            "wrong_first": [clock.first for clock in self.wrong],
            "wrong_last": [clock.last for clock in self.wrong],
            "wrong_ahead_us": [clock.ahead // timedelta(microseconds=1) for clock in self.wrong],
        }


def clocks_of(published: Published, cluster: str, group: str, members: Iterable[Row]) -> Clocks:
    """The clocks of a group that are proven wrong; ``members`` are its lanes (``node``, ``source_node``).

    A finding names a member. Where two machines have one id, its sentence says whose clock it is.
    """
    lanes = [(row["node"], row["source_node"]) for row in members if row["source_node"] is not None]
    found = []
    rows = published.rows(WRONG, [cluster, group])
    signs = {row["source_node"]: row for row in published.rows(SIGNS, [cluster, group])} if rows else {}
    for row in rows:
        lanes_meant = {(node, source) for node, source in lanes if row["node"] in (node, source)}
        if len(lanes_meant) > 1:
            lanes_meant = {
                (node, source) for node, source in lanes_meant if f" of {name_of(node, source)} " in row["summary"]
            }
        known = [bound for bound in (row["clock_least_ms"], row["clock_most_ms"]) if bound is not None]
        ahead = timedelta(milliseconds=sum(known) / len(known))
        if len({source for _, source in lanes_meant}) == 1 and abs(ahead) >= timedelta(milliseconds=LIMITED_MS):
            source = min(source for _, source in lanes_meant)
            sign = signs.get(source, row | {"first": NEVER, "last": EVER})
            begin, end = row["start_time"], row["end_time"] or NEVER
            first = EVER if begin <= sign["first"] else begin
            last = NEVER if end >= sign["last"] else end
            found.append(WrongClock(source, first, last, ahead, begin, end))
    return Clocks(tuple(sorted(found, key=lambda clock: (clock.source, clock.first))))


def findings_on(published: Published, clocks: Clocks, cluster: str, findings: list[Row]) -> list[Row]:
    """Findings of one group with their times on right clocks, in order of time."""
    if not clocks.wrong:
        return findings
    lines: dict[str, list[Row]] = {}
    ids = [finding["finding_id"] for finding in findings]
    for row in published.rows(LINES, {"cluster": cluster, "ids": ids}):
        lines.setdefault(row["finding_id"], []).append(row)
    moved = [clocks.of_finding(finding, lines.get(finding["finding_id"], [])) for finding in findings]
    return sorted(moved, key=lambda finding: (finding["start_time"], finding["finding_id"]))


def in_words(clocks: Clocks, *, raw: bool) -> str:
    """Which clock the times of a picture or a story are on."""
    if raw:
        return "by the clock of the node that logged it, right or wrong"
    if not clocks.wrong:
        return "by the clocks of the nodes that logged it"
    shifted = "; ".join(f"{clock.source} {clock.shift}{readings(clock)}" for clock in clocks.wrong)
    return f"by the clocks of the nodes that logged it, wrong ones put right: {shifted}"


def readings(wrong: WrongClock) -> str:
    """Which readings of a clock are shifted; nothing where all are."""
    since = "" if wrong.first == EVER else f" from {clock(wrong.first)}"
    until = "" if wrong.last == NEVER else f" to {clock(wrong.last)}"
    return f" (its readings{since}{until})" if since or until else ""
