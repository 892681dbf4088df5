"""The lines of real runs, in every envelope, give exactly the events of the plain file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from election_replay.election_core.dialects import speaker_of
from tests.election_core.envelopes.shippers import NODE, SHIPPERS, exported, records, shipped
from tests.jobs.zone import Zone

LOGS = {
    "zookeeper": ("zookeeper/rolling-restart-380/nodes/zk1/logs/zookeeper.log", "zookeeper.log"),
    "etcd": ("etcd/isolate-leader-34/nodes/etcd1/logs/etcd.log", "etcd.log"),
    "etcd in text": ("etcd/kill-leader-34-text/nodes/etcd2/logs/etcd.log", "etcd.log"),
    "rocketmq": ("rocketmq-dledger/kill-leader-533/nodes/n0/logs/rocketmqlogs/broker.log", "broker.log"),
}
MOST_LINES = 150
OTHERWISE = {"source_file", "batch", "event_id", "fingerprint", "file_time", "line_no", "stream"}
"""What may differ: names and numbers of the file, and the stream where the envelope names a file."""


@pytest.fixture(scope="session")
def texts(corpora: Path) -> dict[str, list[str]]:
    """Real lines of each system, those around its first stack trace if it has any."""
    found = {}
    for system, (path, _) in LOGS.items():
        lines = (corpora / path).read_text().splitlines()
        odd = next((at for at, line in enumerate(lines) if at > 50 and speaker_of(line) is None), MOST_LINES // 2)
        begin = max(0, min(odd - 50, len(lines) - MOST_LINES))
        found[system] = lines[begin : begin + MOST_LINES]
        assert len(found[system]) >= 100
    return found


def landed(root: Path, name: str, data: bytes | str) -> Zone:
    zone = Zone(root)
    zone.write(name, data)
    zone.land()
    row, *_ = zone.tables["landed_files"]
    assert row["lines_total"] == row["lines_event"] + row["lines_ignored"] + row["lines_quarantined"]
    assert row["lines_event"] == len(zone.tables["events"])
    assert row["lines_quarantined"] == len(zone.tables["quarantine"])
    assert len({one["event_id"] for one in zone.tables["events"]}) == len(zone.tables["events"])
    return zone


def events(zone: Zone) -> list[str]:
    rows = sorted(zone.tables["events"], key=lambda row: row["line_no"])
    return [repr({name: value for name, value in row.items() if name not in OTHERWISE}) for row in rows]


def kept(zone: Zone) -> list[str]:
    return [row["text"] for row in sorted(zone.tables["log_lines"], key=lambda row: row["line_no"])]


@pytest.fixture(scope="session")
def plain(texts: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Zone]:
    """What the plain files give."""
    return {
        system: landed(tmp_path_factory.mktemp("plain"), LOGS[system][1], "\n".join(lines) + "\n")
        for system, lines in texts.items()
    }


def same(zone: Zone, expected: Zone, *, lines: bool = True) -> None:
    assert events(zone) == events(expected)
    assert any(row["kind"] != "TICK" for row in expected.tables["events"])
    if lines:
        assert kept(zone) == kept(expected)
        assert [row["line_no"] for row in zone.tables["events"]] == [
            row["line_no"] for row in expected.tables["events"]
        ]
    assert not zone.tables["quarantine"]


@pytest.mark.parametrize("system", LOGS)
@pytest.mark.parametrize("shipper", SHIPPERS)
def test_a_file_in_envelopes_gives_the_events_of_the_plain_file(
    texts: dict[str, list[str]], plain: dict[str, Zone], tmp_path: Path, system: str, shipper: str
) -> None:
    name = LOGS[system][1]
    zone = landed(tmp_path, name, "\n".join(shipped(shipper, texts[system], file=f"/logs/{name}")) + "\n")
    same(zone, plain[system])
    assert zone.tables["landed_files"][0]["envelope"]


@pytest.mark.parametrize("system", LOGS)
def test_the_journals_export_gives_the_events_of_the_plain_file(
    texts: dict[str, list[str]], plain: dict[str, Zone], tmp_path: Path, system: str
) -> None:
    gathered = records(texts[system], lambda line: speaker_of(line) is not None)
    same(landed(tmp_path, LOGS[system][1], exported(gathered)), plain[system], lines=False)


@pytest.mark.parametrize("system", LOGS)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cr", "crlf"])
def test_encodings_and_line_ends(
    texts: dict[str, list[str]], plain: dict[str, Zone], tmp_path: Path, system: str, encoding: str
) -> None:
    end = {"cr": "\r", "crlf": "\r\n"}.get(encoding, "\n")
    data = "".join(line + end for line in texts[system])
    data_as = "utf-8" if encoding.startswith("cr") else encoding
    same(landed(tmp_path, LOGS[system][1], data.encode(data_as)), plain[system])


def test_utf_16_with_a_big_endian_mark(texts: dict[str, list[str]], plain: dict[str, Zone], tmp_path: Path) -> None:
    data = "\ufeff" + "\r\n".join([*texts["zookeeper"], ""])
    same(landed(tmp_path, "zookeeper.log", data.encode("utf-16-be")), plain["zookeeper"])


def nights(texts: list[str], cuts: int) -> Iterator[int]:
    size = sum(len(line.encode()) + 1 for line in texts)
    yield from (size * (at + 1) // cuts for at in range(cuts - 1))
    yield size


@pytest.mark.parametrize("shipper", ["cri", "compose with time stamps", "filebeat", "docker json-file", "stern"])
def test_night_by_night_is_the_same_as_at_once(texts: dict[str, list[str]], tmp_path: Path, shipper: str) -> None:
    lines = shipped(shipper, texts["zookeeper"], file="/logs/zookeeper.log")
    data = ("\n".join(lines) + "\n").encode()
    once = landed(tmp_path / "once", "zookeeper.log", data)
    zone = Zone(tmp_path / "nights")
    for end in nights(lines, 7):
        zone.write("zookeeper.log", data[:end])
        zone.land()
    assert sum(row["lines_total"] for row in zone.tables["landed_files"]) == len(lines)
    kinds = [row for row in events(zone) if "TICK" not in row]
    assert kinds == [row for row in events(once) if "TICK" not in row]
    assert {row["event_id"] for row in once.tables["events"]} == {row["event_id"] for row in zone.tables["events"]}


def test_a_rolled_and_delivered_again_file_lands_once(texts: dict[str, list[str]], tmp_path: Path) -> None:
    lines = shipped("cri", texts["zookeeper"])
    zone = landed(tmp_path, "zookeeper.log", "\n".join(lines) + "\n")
    before = len(zone.tables["events"])
    zone.write("zookeeper.log.1", "\n".join(lines) + "\n")
    made = zone.land()
    assert [row["status"] for row in made["landed_files"]] == ["seen_before"]
    assert len(zone.tables["events"]) == before


@pytest.mark.parametrize(
    "shipper", ["compose", "journal short", "filebeat", "kubectl prefix", "columns", "stern", "host and colon"]
)
def test_the_node_that_an_envelope_names_is_the_source(
    texts: dict[str, list[str]], tmp_path: Path, shipper: str
) -> None:
    zone = landed(tmp_path, "zookeeper.log", "\n".join(shipped(shipper, texts["zookeeper"], node="zk-7")) + "\n")
    assert {row["source_node"] for row in zone.tables["events"]} == {"zk-7"}
    assert [(row["source_node"], row["status"]) for row in zone.tables["landed_files"]] == [
        (NODE, "landed"),
        ("zk-7", "part"),
    ]
