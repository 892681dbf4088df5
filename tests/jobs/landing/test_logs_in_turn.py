"""Logs of one member in two folders that follow on each other are one log; those of two machines are not."""

from datetime import UTC, datetime, timedelta

import pytest

from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.regrouping import Span, logs_in_turn, logs_of_one

BEGIN = datetime(2026, 3, 1, 10, tzinfo=UTC)


def span(folder: str, first: float, last: float, *, starts: bool = False, stream: str = "broker.log") -> Span:
    """Return the span of a file in a folder, in seconds since :data:`BEGIN`."""
    since, until = (BEGIN + timedelta(seconds=second) for second in (first, last))
    return stream, f"{folder}/{stream}", since, until, starts


def test_the_log_of_a_host_that_was_renamed_goes_on_in_another_folder() -> None:
    old = [span("n1-old", 0, 60, starts=True), span("n1-old", 2, 30, stream="store.log")]
    new = [span("n1-new", 60, 90), span("n1-new", 75, 90, stream="store.log")]
    assert logs_in_turn(["n1-new", "n1-old"], {"n1-new": new, "n1-old": old}) == {
        "n1-new/broker.log": "broker.log",
        "n1-new/store.log": "store.log",
        "n1-old/broker.log": "broker.log.1",
        "n1-old/store.log": "store.log.1",
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(span("a", 0, 60), span("b", 30, 90), id="both write at once"),
        pytest.param(span("a", 0, 60), span("b", 70, 90, starts=True), id="a member that moved to another machine"),
        pytest.param(span("a", 0, 0), span("b", 0, 60), id="both begin in one second"),
        pytest.param(span("a", 0, 60), span("b", 600, 900), id="ten minutes later"),
        pytest.param(span("a", 0, 60), span("b", 61, 90, stream="store.log"), id="other logs"),
    ],
)
def test_logs_of_two_machines_stay_apart(one: Span, other: Span) -> None:
    assert logs_in_turn(["a", "b"], {"a": [one], "b": [other]}) == {}


def test_two_servers_with_one_id_in_numbered_files_write_at_the_same_time() -> None:
    files = [LogFile(f"{name}.log", "c", name, 1, 0) for name in ("zk", "zk-1")]
    kinds = {name: frozenset({"ZK_LOOKING"}) for name in ("zk", "zk-1")}
    rolled = {"zk": [span("zk", 60, 90)], "zk-1": [span("zk-1", 0, 60)]}
    twins = {"zk": [span("zk", 30, 90)], "zk-1": [span("zk-1", 0, 60)]}
    assert logs_of_one(files, ["zk", "zk-1"], kinds, rolled) == {"zk.log": "zk.log.1", "zk-1.log": "zk.log.2"}
    assert logs_of_one(files, ["zk", "zk-1"], kinds, twins) == {}
