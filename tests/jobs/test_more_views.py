"""Views about losses, clocks, machines, recoveries and days, by small made-up histories."""

from pathlib import Path
from typing import Any

from election_replay.jobs.runbook.filling import filled
from election_replay.jobs.runbook.rules import catalogue
from election_replay.jobs.runbook.steps import SYSTEMS, steps_for, system_of
from election_replay.jobs.showing.runbook_page import page as runbook
from tests.jobs.tables import GROUP, at, event, finding, log_line, role, term
from tests.jobs.test_views import asked

MS = 1000


def test_a_cut_is_counted_once_whoever_tells_of_it(tmp_path: Path) -> None:
    cut = {"offset_after": 10, "offset_before": 50, "bytes_lost": 40}
    findings = [
        finding("root", "SPLIT_BRAIN_OVERLAP", 0, 9, severity="critical", **cut),
        finding("echo", "POSSIBLE_DATA_LOSS", 10, 10, implied_by="root", **cut),
        finding("far", "POSSIBLE_DATA_LOSS", 11, 11, implied_by="step", bytes_lost=40),
        finding("step", "LEADERLESS", 9, 10, implied_by="root"),
        finding("same", "UNCLEAN_ELECTION", 1, 1, **cut),
        finding("other", "POSSIBLE_DATA_LOSS", 20, 20, offset_after=10, offset_before=51, bytes_lost=41),
        finding("queues", "QUEUES_CUT_AT_START", 30, 30, bytes_lost=7, lost_from="queues"),
        finding("none", "UNCLEAN_ELECTION", 40, 40, bytes_lost=0),
    ]
    rows = asked(tmp_path, "SELECT * FROM losses ORDER BY start_time", findings=findings)
    assert [(row["finding_id"], row["bytes_lost"], row["told_by"], row["lost_from"]) for row in rows] == [
        ("root", 40, 4, "log"),
        ("other", 41, 1, "log"),
        ("queues", 7, 1, "queues"),
    ]


def test_the_damage_is_what_distinct_ranges_hold(tmp_path: Path) -> None:
    """What two cuts of one epoch share is lost once; bytes in no queue are others."""

    def cut(name: str, since: int, until: int, epoch: int | None = 2, **more: Any) -> dict[str, Any]:
        place = {"offset_after": since, "offset_before": until, "cut_from": since, "cut_to": until, "cut_epoch": epoch}
        measured = {"bytes_lost": until - since, "unit": "bytes", "lost_from": "log", "cut_node": "n1"}
        return finding(name, "POSSIBLE_DATA_LOSS", 0, 0, **(place | measured | more))

    findings = [
        cut("whole", 10, 50),
        cut("inside", 20, 30),
        cut("beyond", 40, 70),
        cut("later", 10, 50, 3),
        cut("led", 10, 50, None, lost_from="queues"),
        cut("more", 40, 90, None, lost_from="queues", severity="info"),
        cut("other", 10, 50, lost_from="one_side"),
    ]
    rows = asked(tmp_path, "SELECT * FROM losses", findings=findings)
    damage = {row["finding_id"]: row["damage"] for row in rows}
    assert damage == {"whole": 40, "inside": 0, "beyond": 20, "later": 40, "led": 40, "more": 40, "other": 40}


def wrong_clock(name: str, node: str, **more: Any) -> dict[str, Any]:
    """A finding about a clock."""
    return finding(name, "CLOCK_SKEW", 0, 100, nodes=[node], **more)


def offset(name: str, source: str, position: int, start: float, end: float, **more: Any) -> dict[str, Any]:
    """A row about how far a clock was off; what it showed is later by as much as its times were moved."""
    moved = more.pop("moved_ms", 0)
    shown = {"start_time_logged": at(start - moved / MS), "end_time_logged": at(end - moved / MS)}
    when = {"source_node": source, "position": position, "start_time": at(start), "end_time": at(end), **shown}
    return GROUP | {"finding_id": name, "moved_ms": moved} | when | more


def test_a_clock_is_ahead_or_behind_or_was_only_set(tmp_path: Path) -> None:
    findings = [
        wrong_clock("a", "n1", clock_least_ms=4 * MS, clock_most_ms=6 * MS),
        wrong_clock("b", "n2", clock_least_ms=-9 * MS, clock_most_ms=-7 * MS),
        wrong_clock("c", "n3", clock_most_ms=-3 * MS),
        wrong_clock("d", "n4", clock_set_by_ms=-500),
        finding("e", "CLOCK_SKEW", 0, 1, nodes=["n1", "n2"]),
    ]
    rows = asked(tmp_path, "SELECT * FROM clocks ORDER BY finding_id", findings=findings)
    assert [(row["node"], row["reads"], row["least_ms"], row["most_ms"], row["adjust_ms"]) for row in rows] == [
        ("n1", "ahead", 4 * MS, 6 * MS, 0),
        ("n2", "behind", 7 * MS, 9 * MS, 0),
        ("n3", "behind", 3 * MS, None, 0),
        ("n4", "set", None, None, 0),
        ("n1", "apart", None, None, 0),
    ]


def test_a_clock_that_was_set_has_a_row_for_each_time_between(tmp_path: Path) -> None:
    """Their times are common time: nothing is to be added to them. What it showed stands beside them."""
    ahead = {"clock_least_ms": 179 * MS, "clock_most_ms": 181 * MS}
    rows = asked(
        tmp_path,
        "SELECT * FROM clocks ORDER BY position",
        findings=[wrong_clock("a", "n1", clock_least_ms=-9 * MS, clock_most_ms=181 * MS)],
        clock_offsets=[
            offset("a", "m1", 1, 0, 10, clock_least_ms=-500, clock_most_ms=500),
            offset("a", "m1", 2, 10, 20, moved_ms=-180 * MS, set_by_least_ms=178_500, set_by_most_ms=181_500, **ahead),
            offset("a", "m1", 3, 20, 50, moved_ms=8 * MS, clock_least_ms=-9 * MS, clock_most_ms=-7 * MS),
        ],
    )
    assert [(row["start_time"], row["end_time"], row["reads"], row["least_ms"], row["moved_ms"]) for row in rows] == [
        (at(0), at(10), "right", None, 0),
        (at(10), at(20), "ahead", 179 * MS, -180 * MS),
        (at(20), at(50), "behind", 7 * MS, 8 * MS),
    ]
    assert [(row["start_time_logged"], row["set_by_least_ms"], row["adjust_ms"]) for row in rows] == [
        (at(0), None, 0),
        (at(190), 178_500, 0),
        (at(12), None, 0),
    ]


def landed(source: str, begin: float, end: float, **more: Any) -> dict[str, Any]:
    """A row of ``landed_files``."""
    name = f"c1/nodes/{source}/logs/{begin}.log"
    where = {"batch": 1, "cluster": "c1", "source_node": source, "stream": "broker.log", "path": name}
    zeros = ("file_bytes", "lines_total", "lines_event", "lines_ignored", "lines_quarantined", "bytes_landed")
    more_zeros = dict.fromkeys((*zeros, "bytes_waiting", "lines_landed"), 0)
    said = {"fingerprint": "f", "head": "h", "status": "landed", "content_hash": "x"}
    return where | said | more_zeros | {"file_time": at(begin), "last_line_time": at(end)} | more


def test_lines_around_a_moment_stand_in_one_time(tmp_path: Path) -> None:
    """The clock of n2 is 20 s ahead: what it logs 20 s later was said at that moment."""
    rows = asked(
        tmp_path,
        "SELECT * FROM events_around('c1', '2026-03-01T12:00:30Z', within_seconds := 5)",
        clock_offsets=[offset("a", "n2", 1, 0, 90, moved_ms=-20 * MS)],
        role_intervals=[role("n1", "leader", 0, None), role("n2", "follower", 0, None)],
        events=[event("e1", "n1", 31), event("e2", "n2", 50), event("e3", "n2", 30), event("e4", "n3", 26)],
        landed_files=[landed(name, 0, 100) for name in ("n1", "n2", "n3")],
        log_lines=[log_line("e2", "c1/nodes/n2/logs/broker.log", 7, "the line")],
    )
    assert [(row["event_id"], row["happened_at"], row["shifted_ms"], row["members"]) for row in rows] == [
        ("e4", at(26), 0, []),
        ("e2", at(30), -20 * MS, ["g1/n2"]),
        ("e1", at(31), 0, ["g1/n1"]),
    ]
    assert (rows[1]["text"], rows[1]["logged_at"]) == ("the line", at(50))


def test_a_machine_that_changes_its_member_has_two_stretches(tmp_path: Path) -> None:
    roles = [
        role("n1", "follower", 0, 10, source_node="m1"),
        role("n1", "leader", 10, 20, source_node="m1"),
        role("n9", "follower", 30, None, source_node="m1"),
        role("n2", "follower", 0, 50, source_node=None),
        role("n3", "follower", 5, 40, source_node=None),
    ]
    fact = GROUP | {"since": at(0), "since_by": at(0), "bound_ms": 0, "ordinal": 0, "evidence": []}
    facts = [fact | {"kind": "MEMBER_ADDRESS", "source_node": "m1", "node": "n1", "address": "10.0.0.1:1"}]
    rows = asked(
        tmp_path,
        "SELECT * FROM identities ORDER BY since, node",
        role_intervals=roles,
        landed_files=[landed("m1", 0, 90)],
        facts=[*facts, *facts],
    )
    assert [(row["source_node"], row["node"], row["since"], row["until"], row["addresses"]) for row in rows] == [
        ("m1", "n1", at(0), at(20), ["10.0.0.1:1"]),
        (None, "n2", at(0), at(50), []),
        (None, "n3", at(5), at(40), []),
        ("m1", "n9", at(30), at(90), []),
    ]


def test_a_recovery_has_its_moments_and_its_cause(tmp_path: Path) -> None:
    election = GROUP | {
        "term": 2,
        "candidate": "n2",
        "outcome": "won",
        "rounds": 1,
        "voters": [],
        "start_time": at(41),
        "end_time": at(42),
    }
    rows = asked(
        tmp_path,
        "SELECT * FROM recoveries ORDER BY lost_at",
        findings=[
            finding("f1", "LEADERLESS", 30, 44, duration_min_ms=12 * MS, duration_max_ms=15 * MS),
            finding("f2", "LEADERLESS", 31, 44, implied_by="f1"),
            finding("f3", "LEADERLESS", 90, None),
        ],
        terms=[term(1, "n1", 0, 30), term(2, "n2", 42, None, cause="heartbeat_timeout", former_leader_state="died")],
        elections=[election],
        role_intervals=[role("n1", "leader", 0, 30, term=1, end_cause="died"), role("n2", "leader", 42, None, term=2)],
    )
    assert [row["finding_id"] for row in rows] == ["f1", "f3"]
    shown = ("cause", "old_leader", "old_leader_state", "new_leader", "lost_at", "detected_at", "elected_at")
    assert [rows[0][name] for name in shown] == ["heartbeat_timeout", "n1", "died", "n2", at(30), at(41), at(42)]
    assert (rows[0]["serving_at"], rows[0]["election_ms"], rows[0]["duration_min_ms"]) == (at(44), MS, 12 * MS)
    assert (rows[1]["cause"], rows[1]["new_leader"], rows[1]["serving_at"]) == (None, None, None)


DAY = 86_400
EVENING = 43_200


def test_a_day_of_which_little_was_seen_says_so(tmp_path: Path) -> None:
    """Logs from noon to midnight and two hours more, then nothing, then an hour of the third day."""
    rows = asked(
        tmp_path,
        "SELECT * FROM availability ORDER BY day",
        role_intervals=[role("n1", "leader", 0, None), role("n2", "follower", 0, None)],
        landed_files=[
            landed("n1", 0, EVENING),
            landed("n2", EVENING + 300, EVENING + 7200),
            landed("n1", 2 * DAY, 2 * DAY + 3600),
        ],
        findings=[
            finding("f1", "LEADERLESS", 100, 160, duration_min_ms=50 * MS, duration_max_ms=70 * MS),
            finding("f2", "LEADERLESS", 120, 140, implied_by="f1"),
            finding("inside", "LEADERLESS", 99.5, 150, duration_min_ms=40 * MS, duration_max_ms=50 * MS),
            finding("f3", "LEADERLESS", EVENING - 10, EVENING + 20, severity="info", duration_min_ms=29 * MS),
            finding("f4", "LEADERLESS", 2 * DAY + 3000, None, duration_min_ms=0),
        ],
    )
    shown = ("observed_ms", "leaderless_least_ms", "leaderless_most_ms", "outages", "planned")
    assert [(row["day"], *(row[name] for name in shown)) for row in rows] == [
        (at(-EVENING), EVENING * MS, 60 * MS, 80 * MS, 2, 1),
        (at(EVENING), 7200 * MS, 20 * MS, 20 * MS, 1, 1),
        (at(DAY + EVENING), 3600 * MS, 0, 600 * MS, 1, 0),
    ]


def test_what_to_do_next_is_a_column_and_a_view(tmp_path: Path) -> None:
    found = finding("f1", "LEADERLESS", 30, 44, protocol="raft", cause="died", cluster="pay")
    old = finding("old", "LEADERLESS", 0, 1, cause=None, next_steps=None)
    (row,) = asked(tmp_path, "SELECT * FROM next_steps", findings=[found, old])
    assert (row["finding_id"], row["system"], row["cause"]) == ("f1", "etcd", "died")
    steps = steps_for("LEADERLESS", "etcd", "died")
    assert steps
    told = [row[name] for name in ("first_check", "second_check", "third_check")]
    known = {"CLUSTER": "pay", "'TIME'": "'2026-03-01T12:00:30Z'", "TIME": '"2026-03-01 12:00:30 UTC"'}
    assert told == [filled(str(check), known) for check in steps.checks]
    assert told != [*map(str, steps.checks)]
    assert (row["do_not"], row["steps_source"]) == (steps.do_not, steps.source)


def test_every_finding_has_its_steps_and_every_rule_a_row(tmp_path: Path) -> None:
    findings = [finding(f"{rule.rule}", rule.rule, 0, 1, protocol="dledger") for rule in catalogue().values()]
    query = (
        "SELECT found.finding_id, rule.rule FROM findings AS found LEFT JOIN rules AS rule ON rule.rule = found.rule"
    )
    assert all(row["rule"] for row in asked(tmp_path, query, findings=findings))
    told = asked(tmp_path / "more", "SELECT * FROM next_steps", findings=findings)
    etcd = {"CLUSTER_FORCED", "CLUSTER_RESTORED", "STORES_DIFFER"}
    only_elsewhere = etcd | {
        "NEEDLESS_ELECTION",
        "ZAB_WRONG_WINNER",
    }  # Kafka, etcd and ZooKeeper alone are judged by these
    assert {row["finding_id"] for row in told} == {rule.rule for rule in catalogue().values()} - only_elsewhere


def test_the_view_knows_the_systems_of_the_core(tmp_path: Path) -> None:
    groups = {f"{protocol} {group}": (protocol, group) for protocol in SYSTEMS for group in ("g", "controller")}
    findings = [
        finding(name, "LEADERLESS", 0, 1, protocol=protocol, replica_group=group)
        for name, (protocol, group) in groups.items()
    ]
    told = asked(tmp_path, "SELECT finding_id, system FROM next_steps", findings=findings)
    assert {row["finding_id"]: row["system"] for row in told} == {name: system_of(*of) for name, of in groups.items()}


def test_the_runbook_is_up_to_date() -> None:
    page = Path(__file__).parents[2] / "docs" / "runbook.md"
    assert page.read_text("utf-8").splitlines() == [*runbook()], (
        "run `python -m election_replay.jobs.showing.runbook_page > docs/runbook.md`"
    )
