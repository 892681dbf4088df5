"""``incident --format trace``: a trace that viewers of trace events can read, with all that the picture shows."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from jsonschema import validate

from election_replay.jobs.cli.app import main
from tests.jobs.showing.test_dashboard import HOSTILE, filled

NUMBER = {"type": "integer", "minimum": 0}
SHARED = {"pid": NUMBER, "tid": NUMBER, "name": {"type": "string"}, "args": {"type": "object"}}
TIMED = SHARED | {"ts": NUMBER, "cat": {"type": "string"}}


def event(phase: str, properties: dict[str, Any], *needed: str) -> dict[str, Any]:
    """The schema of the events of one phase."""
    return {
        "properties": properties | {"ph": {"const": phase}},
        "required": ["ph", "pid", "tid", "name", *needed],
        "additionalProperties": False,
    }


FORMAT = {
    "type": "object",
    "required": ["traceEvents"],
    "properties": {
        "displayTimeUnit": {"enum": ["ms", "ns"]},
        "traceEvents": {
            "type": "array",
            "items": {
                "oneOf": [
                    event("M", SHARED, "args"),
                    event("X", TIMED | {"dur": NUMBER}, "ts", "dur"),
                    event("i", TIMED | {"s": {"enum": ["g", "p", "t"]}}, "ts", "s"),
                    event("s", TIMED | {"id": NUMBER}, "ts", "id", "cat"),
                    event("f", TIMED | {"id": NUMBER, "bp": {"const": "e"}}, "ts", "id", "cat", "bp"),
                ]
            },
        },
    },
}
"""What the Trace Event Format asks of the events that are used here."""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of the dashboard's tests."""
    return Path(filled(tmp_path_factory.mktemp("trace") / "w").root)


def test_lanes_are_threads_findings_are_instants_and_votes_are_flows(
    text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--warehouse", str(text), "--cluster", "c1", "--group", "bs-orders", "--format", "trace"]
    assert main(["incident", *given]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    told = json.loads(out)
    validate(told, FORMAT)
    events = told["traceEvents"]
    threads = {one["tid"]: one["args"]["name"] for one in events if one["name"] == "thread_name"}
    assert [name for name in threads.values() if not name.startswith("findings")] == [f"n1 ({HOSTILE})", "n2"]
    assert {(one["name"], threads[one["tid"]]) for one in events if one["ph"] == "i"} == {
        ("SPLIT_BRAIN_OVERLAP", "findings: critical"),
        ("LEADERLESS", "findings: warning"),
        ("POSSIBLE_DATA_LOSS", "findings: warning"),
    }
    assert {one["s"] for one in events if one["ph"] == "i"} == {"t"}
    assert not {one["pid"] for one in events} & set(threads)
    slices = [one for one in events if one["ph"] == "X"]
    assert [one["name"] for one in slices] == ["leader 1", "leader 2"]
    for thread in threads:
        own = [one for one in slices if one["tid"] == thread]
        assert all(one["ts"] + one["dur"] <= later["ts"] for one, later in pairwise(own))
    begun, ended = ([one for one in events if one["ph"] == phase] for phase in "sf")
    assert [(threads[one["tid"]][:2], one["id"]) for one in begun] == [("n1", 1)]
    assert [(threads[one["tid"]], one["id"]) for one in ended] == [("n2", 1)]
