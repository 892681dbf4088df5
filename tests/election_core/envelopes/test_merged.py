"""The lines of several real nodes in one file give the verdict of their separate files."""

import random
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from election_replay.election_core.dialects import dialect_for, speaker_of
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.fold_event import LINE_FIELDS, FoldEvent
from election_replay.election_core.replay.source_fold import INTERESTING, SourceLog
from election_replay.jobs.landing.listing import log_files
from tests.election_core import story
from tests.election_core.envelopes.shippers import exported, merged, records, shipped
from tests.jobs.zone import Zone

CLUSTER = "c1"
MANY = 6_000
"""Of longer files only the beginning is taken."""

RUNS = [
    ("zookeeper/isolate-leader-380", "compose"),
    ("zookeeper/kill-leader-384", "journal short"),
    ("zookeeper/kill-majority-384", "filebeat of a pod"),
    ("etcd/isolate-leader-34", "kubectl prefix and time stamps"),
    ("etcd/kill-leader-34-text", "syslog 5424"),
    ("etcd/members-34", "logcli jsonl"),
    ("rocketmq-controller/controller-leader-lost", "compose of version 1"),
    ("rocketmq-dledger/kill-leader-533", "fluent bit"),
]


def logs_of(run: Path) -> dict[str, dict[str, list[str]]]:
    """Stream -> node -> its lines."""
    logs: dict[str, dict[str, list[str]]] = {}
    for file in log_files(str(run), "{cluster}/nodes/{node}/logs/**"):
        if dialect_for(file.stream) is not None and file.name == file.stream:
            lines = (run / file.path).read_text().splitlines()[:MANY]
            stream = "zookeeper.out" if file.name.endswith(".out") else file.stream  # it holds the node's name
            logs.setdefault(stream, {})[file.source_node] = lines
    return logs


def micros(time: datetime) -> int:
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def verdict(zone: Zone) -> list[str]:
    """What the core says of what was landed, line by line: rows of one moment stand in the order of their event ids."""
    return sorted(story.tell(story.judge(facts_of(zone.tables["events"])), of_sources=True).splitlines())


def facts_of(rows: Iterable[dict[str, Any]]) -> Iterator[Fact]:
    def order(row: dict[str, Any]) -> tuple[Any, ...]:
        return row["source_node"], row["stream"], row["file_time"], row["fingerprint"], row["line_no"]

    for node, own in groupby(sorted(rows, key=order), key=lambda row: row["source_node"]):
        source = SourceLog(CLUSTER, node, story.BOUND_MS)
        for row in own:
            at = micros(row["event_time"])
            by = at + 1000 * row["time_resolution_ms"]
            source.seen(row["stream"], at, by, row["event_id"], row["fingerprint"])
            if row["kind"] in INTERESTING:
                known = {name: _plain(row[name]) for name in LINE_FIELDS}
                source.on(FoldEvent(row["event_id"], row["stream"], row["kind"], at, by, **known))
        yield from source.facts()


def _plain(value: Any) -> Any:
    """A column's value as the fold gets it: lists are tuples, and so are the entries of a record of epochs."""
    if isinstance(value, list):
        return tuple(tuple(one.values()) if isinstance(one, dict) else one for one in value)
    return value


def separate(root: Path, logs: dict[str, dict[str, list[str]]]) -> Zone:
    zone = Zone(root)
    for stream, nodes in logs.items():
        for node, lines in nodes.items():
            zone.write(f"../../{node}/logs/{stream}", "\n".join(lines) + "\n")
    zone.land()
    return zone


def gathered(lines: list[str]) -> list[list[str]]:
    return records(lines, lambda line: speaker_of(line) is not None)


@pytest.mark.parametrize(("name", "shipper"), RUNS)
def test_a_merged_file_gives_the_verdict_of_the_separate_ones(
    corpora: Path, tmp_path: Path, name: str, shipper: str
) -> None:
    logs = logs_of(corpora / name)
    plain = separate(tmp_path / "separate", logs)
    zone = Zone(tmp_path / "merged")
    for number, (stream, nodes) in enumerate(sorted(logs.items())):
        row = merged({node: [[line] for line in lines] for node, lines in nodes.items()}, random.Random(number))
        lines = [line for at, (node, text) in enumerate(row) for line in shipped(shipper, [text], node, first=at)]
        zone.write(stream, "\n".join(lines) + "\n")
    zone.land()
    assert {row["source_node"] for row in zone.tables["events"]} == {node for nodes in logs.values() for node in nodes}
    assert len(zone.tables["events"]) == len(plain.tables["events"])
    assert verdict(zone) == verdict(plain)
    assert "roles:" in verdict(plain)


def test_a_merged_journal_export_gives_the_verdict_of_the_separate_files(corpora: Path, tmp_path: Path) -> None:
    logs = logs_of(corpora / "zookeeper/kill-leader-384")
    plain = separate(tmp_path / "separate", logs)
    [nodes] = logs.values()
    row = merged(
        {node: [["\n".join(one)] for one in gathered(lines)] for node, lines in nodes.items()}, random.Random(1)
    )
    zone = Zone(tmp_path / "merged")
    zone.write("journal.export", b"".join(exported([text.split("\n")], node) for node, text in row))
    zone.land()
    assert verdict(zone) == verdict(plain)


def test_several_systems_in_one_file(corpora: Path, tmp_path: Path) -> None:
    """What one machine's compose project wrote: each container's lines are read in its own dialect."""
    of = {name: logs_of(corpora / name) for name in ("zookeeper/isolate-leader-380", "etcd/isolate-leader-34")}
    logs = {stream: nodes for found in of.values() for stream, nodes in found.items()}
    plain = separate(tmp_path / "separate", logs)
    every = {node: [[line] for line in lines] for nodes in logs.values() for node, lines in nodes.items()}
    zone = Zone(tmp_path / "merged")
    row = merged(every, random.Random(3))
    zone.write("all.txt", "\n".join(line for node, text in row for line in shipped("compose", [text], node)) + "\n")
    zone.land()
    assert verdict(zone) == verdict(plain)


def test_folders_name_the_node_where_the_settings_say_so(corpora: Path, tmp_path: Path) -> None:
    from election_replay.jobs.settings.config import Config, SourceRule

    [nodes] = logs_of(corpora / "zookeeper/isolate-leader-380").values()
    zone = Zone(tmp_path, Config(sources=(SourceRule(node="n1", node_from="folder"),)))
    zone.write("zookeeper.log", "\n".join(shipped("syslog 5424", nodes["zk1"], "ip-10-0-0-7")) + "\n")
    zone.land()
    assert {row["source_node"] for row in zone.tables["events"]} == {"n1"}


@pytest.mark.parametrize("seed", range(3))
def test_merged_night_by_night_is_the_same_as_at_once(corpora: Path, tmp_path: Path, seed: int) -> None:
    [nodes] = logs_of(corpora / "zookeeper/isolate-leader-380").values()
    row = merged({node: [[line] for line in lines] for node, lines in nodes.items()}, random.Random(seed))
    text = "\n".join(line for node, text in row for line in shipped("compose", [text], node)) + "\n"
    once = Zone(tmp_path / "once")
    once.write("zookeeper.log", text)
    once.land()
    nights = Zone(tmp_path / "nights")
    cuts = sorted(random.Random(seed).sample(range(len(text)), 6))
    for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        nights.append("zookeeper.log", text[begin:end])
        nights.land()

    def said(zone: Zone) -> list[str]:
        hidden = {"batch"}
        return sorted(repr({k: v for k, v in row.items() if k not in hidden}) for row in zone.tables["events"])

    assert said(nights) == said(once)
    assert sum(row["lines_total"] for row in nights.tables["landed_files"]) == len(row)
