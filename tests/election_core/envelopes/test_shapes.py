"""What single envelopes say: nodes, programs, files, times."""

import json

import pytest

from election_replay.election_core.envelopes.detection import NAMED, chain_in, chain_text, detected
from election_replay.election_core.envelopes.model import Opened, instant
from election_replay.election_core.envelopes.objects import time_of
from election_replay.election_core.envelopes.prefixes import ANSI

TEN = 1_772_359_200_000_000
"""2026-03-01T10:00:00Z."""


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        ("compose", "web.3.0123456789abcdefghijklmno@node-1    | hi", Opened("hi", "web.3")),
        ("compose", "zk1  |", Opened("", "zk1")),
        ("compose", "2026-03-01 10:00:00.123456 I | raft: x", None),
        ("syslog", "<30>Mar  1 10:00:00 host-1 docker/zk-2[812]: hi", Opened("hi", "zk-2", "zk-2")),
        ("syslog", "Mar 11 10:00:00 10.0.0.7 zookeeper: a#012\tb", Opened("a\n\tb", "10.0.0.7", "zookeeper")),
        ("syslog 5424", "57 <14>1 2026-03-01T10:00:00Z - - - - - hi", Opened("hi", time=TEN)),
        ("syslog 5424", '<14>1 - h a 1 ID [x@1 k="]\\]"][y z="1"] \ufeffhi', None),
        ("syslog 5424", '<14>1 - h a 1 ID [x@1 k="\\]"][y z="1"] \ufeffhi', Opened("hi", "h", "a")),
        ("cri", "2026-03-01T18:00:00+08:00 stderr P half", Opened("half", channel="stderr", time=TEN, partial=True)),
        ("cri", "2026-03-01T10:00:00Z stdout F", Opened("", channel="stdout", time=TEN)),
        ("time stamp", "2026-03-01T10:00:00Z", Opened("", time=TEN)),
        ("time stamp", "2026-03-01T10:00:00,123 [myid:1] - INFO", None),
        ("logcli", '2026-03-01T10:00:00Z {app="a b", pod="p-0"} hi', Opened("hi", "p-0", "a b", time=TEN)),
        ("host", "a/b/zookeeper.log:12: hi", Opened("hi", "a/b", file="a/b/zookeeper.log")),
        ("host", "broker.log.1:hi", Opened("hi", file="broker.log.1")),
        ("host", "10.0.0.7: hi", Opened("hi", "10.0.0.7")),
        ("gcp", json.dumps({"logName": "x", "jsonPayload": {"level": "info", "msg": "m"}}),
         Opened('{"level":"info","msg":"m"}')),
        ("cloudwatch", json.dumps({"logStream": "s", "logEvents": [{"timestamp": 1_772_359_200_000, "message": "hi"}]}),
         Opened("hi", "s", time=TEN)),
        ("filebeat", json.dumps({"@timestamp": "x", "message": "hi", "log.file.path": "/a.log", "host.name": "h"}),
         Opened("hi", "h", file="/a.log")),
        ("docker",
         json.dumps({"log": "hi\n", "stream": "stdout", "time": "2026-03-01T10:00:00Z", "attrs": {"tag": "/z"}}),
         Opened("hi", "z", channel="stdout", time=TEN)),
    ],
    ids=range(20),
)  # fmt: skip
def test_an_envelope_says(name: str, line: str, expected: Opened | None) -> None:
    assert NAMED[name].opens(line) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-01T10:00:00Z", TEN),
        ("2026-03-01 10:00:00.5 UTC", TEN + 500_000),
        ("2026-03-01T18:00:00.123456789+0800", TEN + 123_456),
        (1_772_359_200, TEN),
        (1_772_359_200.5, TEN + 500_000),
        (1_772_359_200_000, TEN),
        ("1772359200000000", TEN),
        (1_772_359_200_000_000_000, TEN),
        ("2026-03-01T10:00:00", None),
        ("2026-13-01T10:00:00Z", None),
        ("9" * 400, None),
        (float("nan"), None),
        (float("inf"), None),
        (-1, None),
        (True, None),
        (None, None),
    ],
)
def test_times(value: object, expected: int | None) -> None:
    assert time_of(value) == expected


def test_half_a_day_is_no_time() -> None:
    assert instant("2026-03-01T10:00Z") is None


def test_orders_to_a_terminal_come_off() -> None:
    text = "\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain #033[32mgreen#033[0m\x1b(B"
    assert ANSI.sub("", text).startswith("red plain green")


def test_a_chain_is_told_and_understood() -> None:
    assert chain_text(("filebeat", "docker")) == "filebeat > docker"
    assert chain_in("filebeat > docker") == ("filebeat", "docker")
    assert chain_in("") == ()
    with pytest.raises(ValueError, match="no such envelope: tape"):
        chain_in("cri > tape")


def test_words_in_front_of_words_are_text() -> None:
    """A loose envelope counts only where known lines are inside, however many lines it fits."""
    assert detected([f"host-{at} said: something {at}" for at in range(20)], lambda _: False) == ()
    assert detected([f"host-{at} said: something {at}" for at in range(20)], lambda text: text.startswith("said")) == (
        "host",
    )
