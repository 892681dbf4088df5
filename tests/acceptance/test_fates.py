"""What had become of former leaders in real runs, each by what had been done to them; and the words of all stories.

Where what the logs show does not decide, the state says no more than they do.
"""

import json
import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

import election_replay.jobs.reading.published
from election_replay.jobs.reading.incident import incident
from election_replay.jobs.reading.losses import damage
from election_replay.jobs.reading.published import Published, register_table
from election_replay.jobs.reading.story import outcome, story
from election_replay.jobs.warehouse.warehouse import Warehouse as Tables
from tests.acceptance.published import Row, Warehouse
from tests.acceptance.verdict import end, start

pytestmark = pytest.mark.slow

FATES = {
    "five-kill-leader-then-two-533": {("n4", 2): "members_died"},
    "kill-two-497": {("n0", 1): "members_died"},
    "kill-majority-384": {("5", 1): "members_died"},
    "pause-leader-384": {("2", 1): "frozen"},
    "isolate-leader-497": {("n1", 1): "cut_off"},
    "chaos-533": {
        ("n2", 1): "cut_off",
        ("n0", 2): "died",
        ("n2", 3): "cut_off",
        ("n1", 4): "died",
        ("n2", 5): "without_quorum",
        ("n0", 6): "frozen",
    },
    "master-cut-off": {("1", 1): "cut_off"},
    "deaf-master": {("1", 1): "cut_off"},
    "kill-leader-533": {("n1", 1): "died"},
    "isolate-follower-34": {("59a04900bccefb6d", 2): "toppled"},
}
"""Of each run the former leaders with their terms, and what they were when the next one began."""


@pytest.mark.parametrize("run", FATES)
def test_what_had_become_of_the_former_leader(run: str, gold: Warehouse) -> None:
    led = sorted((row for row in gold.rows("gold/terms") if is_led(row, run)), key=in_order)
    changes = [(old, new) for old, new in pairwise(led) if in_order(old)[0] == in_order(new)[0]]
    states = {(old["leader"], old["term"]): new["former_leader_state"] for old, new in changes}
    assert {who: states.get(who) for who in FATES[run]} == FATES[run], states


ENDINGS = re.compile("kill|stop|term|flap|power cut|SIGTERM|boot|old_store|copied|emptied|end|logs collected")
"""What was done to a process, in the words of ``truth.jsonl``, that may have ended it."""


def ended_at(run: Path) -> dict[str, list[float]]:
    """When something was done that may have ended the process of each node; ``*``: of all of them."""
    found = defaultdict(list)
    for done in map(json.loads, (run / "truth.jsonl").read_text().splitlines()):
        if "t" in done and ENDINGS.match(done["action"]):
            for node in done.get("nodes") or {done.get("node") or "*", done.get("peer") or "*"}:
                found[node].append(done["t"])
    return found


def test_no_process_ends_unless_something_was_done_to_it(gold: Warehouse, runs: dict[str, Path]) -> None:
    for row in gold.rows("gold/role_intervals"):
        ends = ended_at(runs[row["cluster"]])
        if row["role"] == "down" and row["start_cause"] in {"died", "stopped", "ended_itself"} and ends:
            since, by = start(row) - 3, end(row) + 3
            done = [at for at in ends[row["source_node"]] + ends["*"] if since <= at <= by]
            assert done, (row["cluster"], row["node"], row["start_time"], row["end_time"])


def in_order(row: Row) -> tuple[tuple[str, str], int]:
    return (row["replica_group"], row["protocol"]), row["term"]


def is_led(row: Row, run: str) -> bool:
    """Whether a row of terms is of the group that a run is about, and somebody led."""
    electing = {"dledger", "controller", "zab", "raft"}
    return row["cluster"] == run and row["leader"] is not None and row["protocol"] in electing


BANNED = re.compile(
    r"heard of (it|them) no more|had ended for|at most any time|\bdoes neither\b|had given up by itself"
    r"|nothing but the election|\b[a-z]+_[a-z_]+\b"
)


def test_summaries_are_in_words(gold: Warehouse) -> None:
    """No code words, no empty words; what took a part of a time is not told to be longer than it."""
    for row in gold.rows("gold/findings"):
        names = {*row["nodes"], row["replica_group"], row["cluster"]}
        said = row["summary"]
        for name in sorted(names, key=len, reverse=True):
            said = said.replace(name, "X")
        if row["rule"] == "LEADERLESS":
            assert not BANNED.search(said), said
            assert len(re.findall(r"lost contact with it;", said)) <= 1, said
        for minutes, seconds in re.findall(r"(?:(\d+) min )?([\d.]+) s of (?:that|it)\b", said):
            longest = row["duration_max_ms"] or row["overlap_max_ms"]
            assert longest is None or (60 * float(minutes or 0) + float(seconds)) * 1000 <= longest + 500, said


@pytest.fixture
def published(gold: Warehouse, monkeypatch: pytest.MonkeyPatch) -> Published:
    """What is published, each table read from its files once: a hundred stories ask for it again and again."""

    def keep(database: duckdb.DuckDBPyConnection, *of_run: Any) -> None:
        register_table(database, *of_run)
        name = of_run[3]
        database.register("shown", database.table(name).to_arrow_table())
        database.execute(f"DROP VIEW IF EXISTS {name}")
        database.execute(f"CREATE TABLE {name} AS FROM shown")
        database.unregister("shown")

    monkeypatch.setattr(election_replay.jobs.reading.published, "register_table", keep)
    return Published(Tables(str(gold.path)))


def test_stories_are_in_words(gold: Warehouse, published: Published) -> None:
    """Each line of each story, names aside."""
    for cluster, group in sorted({(row["cluster"], row["replica_group"]) for row in gold.rows("gold/role_intervals")}):
        found = incident(published, cluster, group, story_alone=True)
        names = {cluster, group, *found.names, *found.names.values(), *found.drawn.names.values()}
        for line in [*(entry.sentence for entry in story(found)), *damage(found), *outcome(found)]:
            said = line
            for name in sorted(names, key=len, reverse=True):
                said = said.replace(name, "X")
            assert not BANNED.search(said), line
