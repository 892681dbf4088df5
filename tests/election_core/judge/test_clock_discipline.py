"""Times of two sources are compared through ``Clocks`` alone: a test on the syntax tree.

A time of one thing (``.at``, ``.by``, ``.since``, ``.until`` and their ``_by``) that is compared with, or subtracted
from, a time of another thing stands in a function that is listed here with its reason.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

CORE = Path(__file__).parents[3] / "election_core"
TIMES = {"at", "by", "since", "since_by", "until", "until_by"}
OF_ONE_LOG = ("log.py", "checks.py", "clock.py", "clock_segments.py")
"""Folds see one node's log, and the clocks themselves compare what they know of."""

ONE_CLOCK = {
    "judge/electorate.py": {"_counted": "what a leader's own log says before and in its tenure"},
    "judge/group.py": {
        "_tenures": "the beginning and the end of one role",
        "known_end": "the beginning and the end of one role",
        "_as_shown": "a role and the files of one log",
        "times_between": "the spans of one clock",
        "length": "the two ends of one hole",
    },
    "judge/rhythm.py": {"stopped": "lengths of spans of one log"},
    "judge/serving.py": {
        "begun": "what a leader's own log says of its tenure",
        "_of": "what a leader's own log says of its tenure",
        "_busy": "what a leader's own log says of its tenure",
    },
    "judge/leaderless.py": {
        "began_early": "moments in common time, for a word in a sentence",
        "_sooner": "moments in common time, of which the earliest is looked for",
        "_followed_again": "the roles of one member and when it heard of the leader for the last time",
    },
    "judge/led_between.py": {"silent_between": "the holes of one log, and a time that it tells"},
    "judge/placed_messages.py": {"most": "what a message proves of two clocks"},
    "judge/quorum_contact.py": {
        "lost": "moments in common time, of which the earliest is looked for",
        "_left_in": "a role of a member and the connections that its own log lost",
        "_led_on": "two roles of one member",
        "_by_own_log": "what a leader's own log says of its tenure",
        "_not_before_a_commit": "what a leader's own log says of its tenure",
    },
    "judge/rejoins.py": {"_left_soon": "the two ends of one role"},
    "judge/silent_logs.py": {"_begins_in": "spans of one log", "_within": "spans of one log"},
    "judge/storm.py": {
        "storm": "elections in common time",
        "_dense": "elections in common time",
        "_storm_of": "elections on one clock",
    },
    "protocols/controller/causes.py": {"_seen_whole": "what one controller's own log says"},
    "protocols/dledger/broker_lines.py": {"steps_of_broker": "a fold: the lines of one broker"},
    "protocols/raft/store_log.py": {
        "_goes_on": "a fold: the lines of one member",
        "_on_refused": "a fold: the lines of one member",
        "_on_synced_late": "a fold: the lines of one member",
    },
    "protocols/dledger/causality.py": {"_at_once": "a raise and an election of one source, which it asks for"},
    "protocols/dledger/losses.py": {
        "_would_be_built": "the roles of one source since its start",
        "_leader_of": "the roles of a member and a cut of its own log",
        "_led_after": "tenures and a start of one source",
        "_cut_again": "starts and a tenure of one source, which it asks for",
    },
    "protocols/acting_master/causality.py": {
        "_incarnations": "lines of one broker's own log",
        "_within": "a moment and an incarnation of one source",
        "_in_rhythm": "what ties two clocks: their difference, event by event",
    },
    "protocols/acting_master/rules.py": {
        "_tenure": "a role, its end on the same clock, and the holes of that log",
        "_without_master": "what one name server says",
        "_seen_preparing": "a role and attempts of one broker",
        "_stuck_finding": "the two ends of one attempt",
    },
    "protocols/broker_identity/rules.py": {
        "_forgotten": "refusals and registrations of one broker",
    },
    "protocols/controller/controller_log.py": {"_expired_before": "a fold: the lines of one controller"},
    "protocols/controller/losses.py": {"_held": "tenures and a cut of one broker"},
    "protocols/controller/outages.py": {
        "_of_tenure": "what a master's own log says of its tenure",
        "_brief_deaths": "a tenure and the first producer in that broker's own log",
        "_first_producer": "a tenure and the first producer in that broker's own log",
        "_slow_change": "a role and the end of its change in one log",
        "_same_change": "a role and the end of its change in one log",
        "_served": "what a master's own log says of its tenure",
    },
    "protocols/controller/reach.py": {"unreached": "a fold: the lines of one broker"},
    "protocols/controller/replication.py": {"without_following": "a fold: the lines of one log"},
    "protocols/controller/sets.py": {"refused_in_a_row": "reports of one master, which it asks for"},
    "protocols/metadata/causality.py": {
        "_meets": "a hole in a source's log and a time of that clock",
    },
    "protocols/metadata/rules.py": {
        "in_order": "asks whether both are of one source",
        "hand_overs": "lines of the broker that returned",
        "_life_before": "lives and a beginning of one broker",
        "_at_the_end": "the hand-over and a copy of one broker",
        "_lost_names": "the hand-over and lines of one broker",
    },
    "protocols/kraft/partition_log.py": {
        "_served_late": "a fold: the lines of one broker",
        "_starts_unseen": "a fold: the lines of one broker",
        "note_set": "a fold: the lines of one broker",
        "_on_renounced": "a fold: the lines of one broker",
        "_cuts": "a fold: the lines of one broker",
        "short_of_replicas": "a fold: the lines of one broker",
        "_on_few_in_sync": "a fold: the lines of one broker",
    },
    "protocols/kraft/partition_rules.py": {"_refused": "the tenures of one leader and the writes that it refused"},
    "protocols/kraft/quorum_log.py": {
        "_serving": "a fold: the lines of one member",
        "_controller_knew": "a fold: the lines of one member",
        "_on_vote": "a fold: the lines of one member",
        "_on_fetch_timeout": "a fold: the lines of one member",
        "_contact_facts": "a fold: the lines of one member",
    },
    "protocols/order_lock/rules.py": {
        "after": "moments of one broker",
        "_earlier": "moments on the clock of one broker",
        "_pairs_near_in_time": "widened by how far the clocks can be apart",
        "_least": "the two ends of one hold, of each of two",
        "_episodes": "grants of one broker, by which they are grouped",
        "_close_together": "grants of one broker, by which they are grouped",
    },
    "protocols/described/rules.py": {"overlaps_without_terms": "widened by how far the clocks can be apart"},
    "protocols/raft_family/stalls.py": {
        "stalled_leaders": "the holes and the tenure of one leader's own log",
        "_surely_kept": "how long one process stood still",
    },
    "protocols/raft_family/two_leaders.py": {"_unshown_silence": "the holes and the growths of one leader's own log"},
    "protocols/zab/standstills.py": {
        "asked": "a fold: the lines of one server",
        "_note": "a fold: the lines of one server",
    },
    "protocols/zab/losses.py": {"_epoch_of_leader": "the roles of a learner and a cut of its own log"},
    "protocols/raft/own_clock.py": {"_stalls": "a fold: the lines of one member"},
    "protocols/redis/causality.py": {
        "_in_turn": "what ties two clocks: their difference, event by event",
        "_mismatches": "what ties two clocks: their difference, event by event",
        "_copies": "what one replica asked for and copied",
    },
    "protocols/redis/epochs.py": {"_between": "roles in common time, for an epoch that only orders and proves nothing"},
    "protocols/redis/losses.py": {
        "restarted": "the roles and a tenure of one server",
        "_all_of_it": "what one server held before it asked",
        "_led_again": "the tenures of one server",
        "leads_again_with_its_data": "the roles of one server and what it copied",
        "_refused_clients": "times of a master and of the next one in common time, for a length in a sentence",
        "_asks_first": "what one server asked for behind its own tenure",
        "goes_on_from": "what one server said at the beginning of its tenure",
        "_everything_lost": "what one server asked for and when its history began",
        "_gave_way": "the roles of one server behind its own tenure",
    },
    "protocols/redis/uncopied.py": {
        "_begun_in": "what one server said in its own tenure",
        "_held_by": "what one server said before its own tenure",
    },
    "protocols/redis/restarts.py": {
        "started_from_snapshots": "what one server wrote before its start",
        "_lost_since_snapshot": "what one server wrote before and after its start",
        "_fewer_keys": "what one server copied",
        "_replaced": "what one server held; and for how long the group was logged, as a bound of its heartbeats",
        "_led_before": "the roles of one server and what it held",
    },
    "protocols/redis/rules.py": {"_refusing": "the tenures of one master and the clients that it refused"},
    "protocols/redis/server_log.py": {
        "_follow": "a fold: the lines of one server",
        "_drop_own_disconnect": "a fold: the lines of one server",
        "_on_epoch": "a fold: the lines of one server",
        "_manual_before": "a fold: the lines of one server",
    },
    "judge/term_rows.py": {
        "_cause": "the campaigns and the tenure of one node",
        "_begins_the_log": "the campaigns of one node, and where its log begins",
        "_led_to": "a campaign and the tenure of one node",
    },
    "protocols/highest_id/rules.py": {
        "_in_order": "widened by the bounds of both clocks: what messages prove of them needs the order first",
        "_leaders_of": "widened by the bounds of both clocks",
        "_surely_at_once": "moments on the clock of one leader",
    },
}
"""Functions that compare times of one clock, and why that is so."""


def raw_comparisons(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Functions, with a line each, in which times of two things are compared or subtracted."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            sides: list[ast.expr] = []
            if isinstance(node, ast.Compare) and any(
                isinstance(op, ast.Lt | ast.Gt | ast.LtE | ast.GtE) for op in node.ops
            ):
                sides = [node.left, *node.comparators]
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
                sides = [node.left, node.right]
            told = [owners for side in sides if (owners := set(_owners(side)))]
            if len(told) > 1 and len(set().union(*told)) > 1:
                yield function.name, node.lineno


def _owners(side: ast.expr) -> Iterator[str]:
    """Whose times an expression reads."""
    for node in ast.walk(side):
        if isinstance(node, ast.Attribute) and node.attr in TIMES:
            yield ast.unparse(node.value)


def test_times_of_two_sources_are_compared_through_the_clocks() -> None:
    found = []
    for room in ("judge", "protocols"):
        for path in sorted((CORE / room).rglob("*.py")):
            name = path.relative_to(CORE).as_posix()
            if path.name in OF_ONE_LOG:
                continue
            raw = raw_comparisons(ast.parse(path.read_text()))
            found += [f"{name}:{line} {function}" for function, line in raw if function not in ONE_CLOCK.get(name, {})]
    assert found == []


def test_every_exception_is_one() -> None:
    for name, functions in ONE_CLOCK.items():
        raw = {function for function, _ in raw_comparisons(ast.parse((CORE / name).read_text()))}
        assert functions.keys() <= raw, name


def test_a_raw_comparison_is_found() -> None:
    source = """
def other_thing(a, b):
    return a.at < b.by

def same_thing(a):
    return a.at < a.by

def difference(a, b):
    return a.since - b.since
"""
    assert [function for function, _ in raw_comparisons(ast.parse(source))] == ["other_thing", "difference"]
