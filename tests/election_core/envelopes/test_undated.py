"""Lines without a time have that of their envelope; a line's own time stays."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from election_replay.election_core.dialects import speaker_of
from election_replay.election_core.dialects.undated import dated
from tests.election_core.envelopes.shippers import SHIPPERS, Said
from tests.jobs.zone import Zone

RUNS = {
    "zookeeper": (
        "zookeeper/kill-majority-384/nodes/zk1/logs",
        r"(\S+ \S+),(\d{3}) (?:- )?(.*)",
        "zookeeper.log",
        "java",
    ),
    "etcd": ("etcd/kill-leader-34-text/nodes/etcd2/logs", r"(\S+ \S+)\.(\d{6}) (.*)", "etcd.log", "java"),
    "etcd alone": (
        "etcd/kill-leader-34-text/nodes/etcd2/logs",
        r"(\S+ \S+)\.(\d{6}) . \| [\w/]+: (.*)",
        "0.log",
        "etcd",
    ),
    "rocketmq": ("rocketmq-dledger/kill-leader-533/nodes/n0/logs", r"(\S+ \S+)()( .*)", "broker.log", "java"),
}


def real(corpora: Path, name: str) -> list[tuple[str, datetime, str]]:
    """The dated lines of a real log: the line, its time, and the line without it."""
    folder, layout, wanted, _ = RUNS[name]
    found = []
    for file in sorted((corpora / folder).rglob("*")):
        if file.name == wanted or (file.suffix in {".out", ".log"} and "rocketmq" not in name):
            for line in file.read_text().splitlines()[:400]:
                if speaker_of(line) is not None and (parts := re.fullmatch(layout, line)):
                    at = datetime.fromisoformat(parts[1]).replace(tzinfo=UTC)
                    found.append(
                        (line, at + timedelta(microseconds=int(parts[2].ljust(6, "0") or 0)), parts[3].strip())
                    )
    assert len(found) > 50
    return found


def told(zone: Zone) -> list[tuple[str, datetime]]:
    rows = sorted(zone.tables["events"], key=lambda row: row["line_no"])
    return [(row["kind"], row["event_time"]) for row in rows if row["kind"] != "TICK"]


TIMED = ("cri", "journal json", "kubectl prefix and time stamps", "compose with time stamps", "vector")


@pytest.mark.parametrize(
    ("name", "shipper"),
    [
        *((name, shipper) for name in ("zookeeper", "etcd", "rocketmq") for shipper in TIMED),
        ("etcd alone", "journal json"),  # only the journal says that etcd wrote it
    ],
)
def test_a_line_without_a_time_has_that_of_its_envelope(
    corpora: Path, tmp_path: Path, name: str, shipper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.election_core.envelopes.shippers.PROGRAM", RUNS[name][3])
    lines = real(corpora, name)
    plain = Zone(tmp_path / "plain")
    hours = 8 if name == "rocketmq" else 0
    plain.write(RUNS[name][2].replace("0.log", "etcd.log"), "".join(f"{line}\n" for line, _, _ in lines))
    plain.land()
    zone = Zone(tmp_path / "zone")
    write = SHIPPERS[shipper]
    file = f"/logs/{RUNS[name][2]}"
    rows = [write(Said(bare, at - timedelta(hours=hours), "n1", file)) for _, at, bare in lines]
    zone.write(RUNS[name][2], "\n".join(rows) + "\n")
    zone.land()
    assert told(zone) == told(plain)
    assert not zone.tables["quarantine"]


@pytest.mark.parametrize(
    "text",
    ["\tat org.example.A.b(A.java:7)", "Caused by: java.io.IOException: x", "goroutine 1 [running]:", "", "+ exec"],
)
def test_what_is_no_line_of_a_system_gets_no_time(text: str) -> None:
    assert dated(text, 1_772_359_200_000_000, "java") is None
