"""Sentences about one run, as checks over its gold tables.

Times of :func:`utc` and :func:`log_time` are log times of 2026-11-21, the day of the older runs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Concatenate, ParamSpec

from tests.acceptance.known import Known
from tests.acceptance.published import Row

NEAR = 2.0
"""Seconds: a logged time is a whole second, and a sentence's may come from the observer."""

KILLED = 10.0
"""Seconds: a process that was killed or frozen may have written its last line so long before."""

ROUNDED = 1.0
"""Seconds by which a duration in a sentence may be off: both its ends are whole seconds."""

CONTROLLERS = "controllers"
"""Stands for the group of the controllers, whatever its name: the one that is no broker set."""

SEVERITIES = ("info", "warning", "critical")


def log_time(clock: str) -> float:
    """``17:41:14`` as the RocketMQ logs write it, GMT+8."""
    return _on_the_day(clock, timezone(timedelta(hours=8)))


def utc(clock: str) -> float:
    """``09:41:14``, UTC."""
    return _on_the_day(clock, UTC)


def _on_the_day(clock: str, zone: timezone) -> float:
    hour, minute, second = (int(part) for part in clock.split(":"))
    return datetime(2026, 11, 21, hour, minute, second, tzinfo=zone).timestamp()


@dataclass(frozen=True)
class Run:
    """The gold rows of one cluster. ``ended`` is when the observed part of the run was over."""

    known: Known
    name: str
    ended: float
    broker_sets: frozenset[str]
    terms: list[Row]
    roles: list[Row]
    elections: list[Row]
    sets: list[Row]
    findings: list[Row]
    locks: list[Row]
    versions: list[Row]
    coverage: list[Row]

    def of(self, rows: Iterable[Row], group: str | None) -> list[Row]:
        """The rows of a group; all for None."""
        return [row for row in rows if group is None or self._is(row["replica_group"], group)]

    def member(self, folder: str) -> str:
        """The name in its group of a node that led it, by the folder of its logs."""
        [name] = {row["node"] for row in self.roles if (row["source_node"], row["role"]) == (folder, "leader")}
        return str(name)

    def _is(self, found: str, group: str) -> bool:
        return found not in self.broker_sets if group == CONTROLLERS else found == group


Check = Callable[[Run], None]
Says = ParamSpec("Says")


def sentence(holds: Callable[Concatenate[Run, Says], None]) -> Callable[Says, Check]:
    """Make a function that asserts something of a run by what a sentence says: a maker of such checks."""

    def maker(*args: Says.args, **kwargs: Says.kwargs) -> Check:
        return lambda run: holds(run, *args, **kwargs)

    return maker


def start(row: Row) -> float:
    return float(row["start_time"].timestamp())


def end(row: Row) -> float:
    return float(row["end_time"].timestamp()) if row["end_time"] is not None else float("inf")


def latest_end(row: Row) -> float:
    """The latest moment at which a role interval may have ended."""
    return end(row) + (row["end_uncertainty_ms"] or 0) / 1000


def show(rows: Iterable[Row]) -> str:
    names = (
        "rule",
        "severity",
        "certainty",
        "nodes",
        "node",
        "role",
        "term",
        "terms",
        "leader",
        "start_time",
        "end_time",
        "summary",
    )
    return "\n".join(
        "  " + ", ".join(f"{name}={row[name]}" for name in names if row.get(name) is not None) for row in rows
    )


@sentence
def leads(
    run: Run,
    node: str,
    term: int,
    since: float | None,
    until: float | None,
    group: str | None = None,
    slack: float = NEAR,
) -> None:
    """``node`` leads ``term`` from ``since`` (None: some time) to ``until`` (None: the end of the run)."""
    roles = [
        row for row in run.of(run.roles, group) if (row["role"], row["node"], row["term"]) == ("leader", node, term)
    ]
    good = [
        row for row in roles if (since is None or abs(start(row) - since) <= NEAR) and _ends_at(run, row, until, slack)
    ]
    assert len(good) == 1, f"{node} should lead term {term} in one such interval:\n{show(roles)}"
    terms = [row for row in run.of(run.terms, group) if row["term"] == term]
    assert any(row["leader"] == node for row in terms), f"gold.terms:\n{show(terms)}"


def _ends_at(run: Run, row: Row, until: float | None, slack: float) -> bool:
    if until is None:
        return end(row) >= run.ended - NEAR
    return end(row) - slack <= until <= latest_end(row) + slack


@sentence
def leads_at(run: Run, node: str, term: int, at: float, group: str | None = None) -> None:
    """``node``, and nobody else of its group, leads ``term`` at the moment ``at``."""
    rows = [row for row in run.of(run.roles, group) if row["role"] == "leader" and start(row) <= at < end(row)]
    assert [(row["node"], row["term"]) for row in rows] == [(node, term)], show(rows)


@sentence
def serves(
    run: Run, role: str, node: str, since: float | None, until: float | None, group: str, slack: float = NEAR
) -> None:
    """``node`` is master (``leader``) or acts (``acting_leader``) in one such interval; None as for :func:`leads`."""
    rows = [row for row in run.of(run.roles, group) if (row["role"], row["node"]) == (role, node)]
    good = [
        row for row in rows if (since is None or abs(start(row) - since) <= NEAR) and _ends_at(run, row, until, slack)
    ]
    assert len(good) == 1, f"{node} should be {role} in one such interval:\n{show(rows)}"


@sentence
def only_serving(run: Run, expected: Iterable[tuple[str, str]], group: str) -> None:
    """No others are master, or act as one, before the end of the run."""
    rows = [
        row
        for row in run.of(run.roles, group)
        if row["role"] in ("leader", "acting_leader") and start(row) < run.ended - NEAR
    ]
    assert {(row["role"], row["node"]) for row in rows} == set(expected), show(rows)


@sentence
def never(run: Run, source: str, *roles: str) -> None:
    """By its own log this machine never has one of these roles before the end of the run."""
    rows = [row for row in run.roles if row["source_node"] == source and row["role"] in roles]
    assert not [row for row in rows if start(row) < run.ended - NEAR], show(rows)


@sentence
def only_leaders(run: Run, leaders: Iterable[tuple[str, int]], group: str | None = None) -> None:
    """No others lead any term before the end of the run."""
    rows = [row for row in run.of(run.roles, group) if row["role"] == "leader" and start(row) < run.ended - NEAR]
    found = {(row["node"], row["term"]) for row in rows}
    assert found == set(leaders), show(rows)


@sentence
def nobody_leads(run: Run, since: float, until: float, group: str | None = None, asleep: str | None = None) -> None:
    """No member, but for one that was ``asleep``, is leader at any moment well inside of the interval."""
    inside = (since + NEAR, min(until, run.ended) - NEAR)
    rows = [
        row
        for row in run.of(run.roles, group)
        if row["role"] == "leader" and row["node"] != asleep
        if start(row) < inside[1] and end(row) > inside[0]
    ]
    assert not rows, show(rows)


@sentence
def not_leader(run: Run, node: str, at: float, group: str | None = None) -> None:
    """``node`` is not leader within a second or so of ``at``."""
    rows = [
        row
        for row in run.of(run.roles, group)
        if row["role"] == "leader" and row["node"] == node and start(row) <= at + 1 and end(row) > at - 1
    ]
    assert not rows, show(rows)


@sentence
def nobody_has(run: Run, *terms: int, group: str | None = None) -> None:
    """These terms or epochs exist and were won by nobody."""
    for term in terms:
        rows = [row for row in run.of(run.terms, group) if row["term"] == term]
        assert rows, f"no row for term {term}"
        assert all(row["leader"] is None for row in rows), show(rows)
        led = [row for row in run.of(run.roles, group) if row["role"] == "leader" and row["term"] == term]
        assert not led, show(led)


@sentence
def terms_are(run: Run, *terms: int, group: str | None = None) -> None:
    """The terms that began before the end of the run are these and no others."""
    rows = [row for row in run.of(run.terms, group) if start(row) < run.ended - NEAR and row["term"] > 0]
    assert {row["term"] for row in rows} == set(terms), show(rows)


@sentence
def finding(
    run: Run,
    rule: str,
    *,
    since: float | None = None,
    until: float | None = None,
    group: str | None = None,
    slack: float = NEAR,
    **columns: object,
) -> None:
    """There is such a finding. Lists are compared as sets; a tuple holds the allowed values."""
    rows = [row for row in run.of(run.findings, group) if row["rule"] == rule]
    good = [row for row in rows if _near(row, since, until, slack) and _has(row, columns)]
    assert good, f"no {rule} with {columns} from {since} to {until}; found:\n{show(rows)}"


@sentence
def tells(run: Run, rule: str, *words: str, group: str | None = None, **columns: object) -> None:
    """Exactly one such finding has all these words in its sentence."""
    rows = [row for row in run.of(run.findings, group) if row["rule"] == rule]
    good = [row for row in rows if all(word in row["summary"] for word in words) and _has(row, columns)]
    assert len(good) == 1, f"expected one {rule} with {words} {columns}; found:\n{show(rows)}"


@sentence
def never_tells(run: Run, rule: str, *words: str, group: str | None = None) -> None:
    """No such finding has all these words in its sentence."""
    rows = [row for row in run.of(run.findings, group) if row["rule"] == rule]
    assert not [row for row in rows if all(word in row["summary"] for word in words)], show(rows)


@sentence
def quiet_after(run: Run, moment: float) -> None:
    """No finding above info begins later: from then on everything is being stopped."""
    rows = [row for row in run.findings if row["severity"] != "info" and start(row) > moment + NEAR]
    assert not rows, show(rows)


@sentence
def lasted(run: Run, seconds: float, rule: str, nodes: set[str]) -> None:
    """The bounds of the one overlap of these nodes that is above info hold so many seconds, give or take one."""
    rows = [row for row in run.findings if row["rule"] == rule and row["severity"] != "info"]
    good = [
        row
        for row in rows
        if _has(row, {"nodes": nodes})
        and row["overlap_min_ms"] / 1000 - 1 <= seconds <= row["overlap_max_ms"] / 1000 + 1
    ]
    assert len(good) == 1, show(rows)


@sentence
def judged(run: Run, rule: str, group: str, *, conforms: int = 0, undecidable: str | None = None) -> None:
    """``rule_coverage`` counts so many as right, or says why some cannot be judged."""
    rows = [row for row in run.of(run.coverage, group) if row["rule"] == rule]
    good = [
        row
        for row in rows
        if row["conforms"] >= conforms
        and (undecidable is None or (row["undecidable"] > 0 and undecidable in (row["why_undecidable"] or "")))
    ]
    assert good, f"{rule} of {group}: {rows}"


@sentence
def held(
    run: Run,
    client: str,
    source: str,
    *queues: int,
    since: float,
    until: float | None = None,
    consumers: str = "order-group",
    topic: str = "OrderEvents",
    **columns: object,
) -> None:
    """The client has an entry for each of these queues at one broker from then on; ``until``: to that moment."""
    own = [
        row
        for row in run.locks
        if (row["source_node"], row["consumer_group"], row["topic"]) == (source, consumers, topic)
        and row["client_id"].endswith(f"@{client}")
    ]
    good = {
        row["queue_id"]
        for row in own
        if abs(start(row) - since) <= NEAR and (until is None or abs(end(row) - until) <= NEAR) and _has(row, columns)
    }
    assert set(queues) <= good, "\n".join(str(row) for row in own)


@sentence
def locks_are(run: Run, **columns: object) -> None:
    """All lock entries of the run's first broker set say so."""
    rows = [row for row in run.locks if row["replica_group"] == min(run.broker_sets)]
    assert rows
    assert all(_has(row, columns) for row in rows), rows[0]


@sentence
def counters(run: Run, node: str, kind: str, *expected: int, group: str) -> None:
    """These counters were seen in copies of one table of one broker, in this order."""
    rows = sorted(
        (row for row in run.of(run.versions, group) if (row["node"], row["kind"]) == (node, kind)),
        key=lambda row: float(row["observed_time"].timestamp()),
    )
    seen = iter([row["counter"] for row in rows])
    assert all(counter in seen for counter in expected), [row["counter"] for row in rows]


def _near(row: Row, since: float | None, until: float | None, slack: float) -> bool:
    return (since is None or abs(start(row) - since) <= slack) and (until is None or abs(end(row) - until) <= slack)


def _has(row: Row, columns: dict[str, object]) -> bool:
    for name, wanted in columns.items():
        value = row[name]
        if isinstance(value, list):
            if set(value) != set(wanted):  # type: ignore[call-overload]
                return False
        elif isinstance(wanted, tuple):
            if value not in wanted:
                return False
        elif value != wanted:
            return False
    return True


@sentence
def overlap(
    run: Run,
    seconds: float,
    nodes: set[str],
    terms: set[int],
    *,
    severity: str | tuple[str, ...],
    group: str | None = None,
    rule: str = "SPLIT_BRAIN_OVERLAP",
) -> None:
    """Two leaders at once: the bounds of the overlap hold so many seconds, give or take one."""
    rows = [row for row in run.of(run.findings, group) if row["rule"] == rule]
    good = [
        row
        for row in rows
        if _has(row, {"nodes": nodes, "terms": terms, "severity": severity})
        and row["overlap_min_ms"] / 1000 - 1 <= seconds <= row["overlap_max_ms"] / 1000 + 1
    ]
    assert len(good) == 1, f"expected one of {seconds} s, {nodes}, {terms}, {severity}; found:\n{show(rows)}"


@sentence
def cut_off(run: Run, before: int, after: int, group: str | None = None) -> None:
    """Some finding tells how far a stale master's log went and to where it was cut back."""
    rows = [row for row in run.of(run.findings, group) if row["offset_before"] is not None]
    good = [row for row in rows if (row["offset_before"], row["offset_after"]) == (before, after)]
    assert good, f"no finding with the cut from {before} to {after}; found:\n{show(rows)}"
    assert all(row["bytes_lost"] == before - after for row in good), show(good)


@sentence
def leaderless(
    run: Run,
    since: float,
    until: float | None,
    group: str | None = None,
    asleep: str | None = None,
    served: float | None = None,
) -> None:
    """A ``LEADERLESS`` finding whose bounds hold the interval (None: to the end of the log).

    It may begin when the leader lost its majority, which was not before the last deed; the interval begins when the
    leader says so itself. Nobody leads in it, but for a node that was ``asleep`` and calls itself leader by its own
    log. Where the new leader ``served`` clients only later by its log, the finding lasts until then.

    Of about a second nothing needs to be found: the logs of a killed leader do not tell whether there was one, and the
    coverage says that it is undecidable, or they tell that it was shorter than what the rule asks for.
    """
    rows = [row for row in run.of(run.findings, group) if row["rule"] == "LEADERLESS"]
    hurt = run.known.hurt_before(since + NEAR)
    earliest = min(hurt - NEAR, since - KILLED)
    good = [row for row in rows if earliest <= start(row) <= since + NEAR and _until(run, row, served or until)]
    judged = [row for row in run.of(run.coverage, group) if row["rule"] == "LEADERLESS"]
    brief = not rows and until is not None and until - since <= 1
    covered = brief and any(row["undecidable"] or row["conforms"] for row in judged)
    assert good or covered, f"no LEADERLESS from {since} to {until}; found:\n{show(rows)}"
    if good and until is not None:
        least, most = until - since, (served or until) - min(hurt, since)
        honest = [
            row
            for row in good
            if row["duration_min_ms"] / 1000 - ROUNDED <= most and least <= row["duration_max_ms"] / 1000 + ROUNDED
        ]
        assert honest, f"it lasted about {least:.0f} s to {most:.0f} s:\n{show(good)}"
    nobody_leads(since, until or run.ended, group, asleep)(run)


def _until(run: Run, row: Row, until: float | None) -> bool:
    return end(row) >= run.ended - NEAR if until is None else abs(end(row) - until) <= NEAR


@sentence
def no_finding(run: Run, *rules: str, group: str | None = None, above: str | None = None) -> None:
    """None of these findings (none at all for no rules); with ``above``, none more severe than that."""
    rows = [
        row
        for row in run.of(run.findings, group)
        if (not rules or row["rule"] in rules)
        and (above is None or SEVERITIES.index(row["severity"]) > SEVERITIES.index(above))
    ]
    assert not rows, show(rows)


@sentence
def members(run: Run, *expected: tuple[set[str], int | None, str | None], group: str) -> None:
    """Values of the SyncStateSet in this order: members, epoch, since when; None where nobody says."""
    rows = sorted(run.of(run.sets, group), key=lambda row: (row["master_epoch"], row["sync_state_set_epoch"]))
    at = 0
    for wanted, epoch, since in expected:
        while at < len(rows) and not (
            set(rows[at]["members"]) == wanted
            and epoch in (None, rows[at]["sync_state_set_epoch"])
            and (since is None or abs(start(rows[at]) - log_time(since)) <= NEAR)
        ):
            at += 1
        assert at < len(rows), f"{sorted(wanted)} epoch {epoch} at {since} is not in the order of:\n" + "\n".join(
            f"  {row['start_time']} {row['sync_state_set_epoch']} {row['members']}" for row in rows
        )
        at += 1


@sentence
def log_gap(run: Run, since: float, until: float, node: str) -> None:
    """The silence of ``node`` is a finding of its own: from its last line before to its first line after."""
    rows = [row for row in run.findings if (row["rule"], row["nodes"]) == ("LOG_GAP", [node])]
    good = [row for row in rows if since - KILLED <= start(row) <= since + ROUNDED and abs(end(row) - until) <= NEAR]
    assert good, f"no LOG_GAP of {node} from {since} to {until}; found:\n{show(rows)}"
