"""However the logs of a real run arrive, the same rows come out: grown, renamed, rolled, packed, sent twice, late."""

import bz2
import gzip
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from election_replay.schemas.events import MEANING
from tests.jobs.zone import Zone
from tests.proving import amount

pytestmark = pytest.mark.slow

RUN = "rocketmq-dledger/kill-leader-533"

PACKED: Mapping[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda data: bytes(pa.compress(data, codec="zstd", asbytes=True)),
}

WHERE = {"source_file", "path", "batch"}
"""What tells of the delivery: the name that a file had when it was read."""


@pytest.fixture(scope="module")
def logs(corpora: Path) -> dict[str, bytes]:
    """Every log of the run by its path below the cluster's folder."""
    nodes = corpora / RUN / "nodes"
    return {path.relative_to(nodes).as_posix(): path.read_bytes() for path in sorted(nodes.glob("*/logs/**/*.log"))}


@pytest.fixture(scope="module")
def at_once(logs: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Zone:
    """All of it landed in one go."""
    zone = Zone(tmp_path_factory.mktemp("once"))
    for path, data in logs.items():
        put(zone, path, data)
    zone.land()
    zone.land()
    return zone


def put(zone: Zone, path: str, data: bytes) -> None:
    """Lay a file into the zone."""
    file = zone.root / "c1" / "nodes" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def silver(zone: Zone) -> dict[str, list[str]]:
    """All rows but those of ``landed_files``, without what tells of the delivery."""
    return {
        table: sorted(repr({name: value for name, value in row.items() if name not in WHERE}) for row in rows)
        for table, rows in zone.tables.items()
        if table != "landed_files"
    }


def lines_landed(zone: Zone) -> int:
    return sum(row["lines_total"] for row in zone.tables["landed_files"])


@pytest.mark.parametrize("seed", range(amount(2, 5)))
def test_growth_rolling_packing_and_copies_change_no_row(
    tmp_path: Path, logs: dict[str, bytes], at_once: Zone, seed: int
) -> None:
    """Each file grows over some nights, is renamed or packed at last, and comes again under other names."""
    chance = random.Random(seed)
    zone = Zone(tmp_path)
    for night in range(4):
        for path, data in chance.sample(sorted(logs.items()), len(logs)):
            _deliver(zone, path, data, night, chance)
        zone.land()
    zone.land()
    assert silver(zone) == silver(at_once)
    assert lines_landed(zone) == lines_landed(at_once)


def _deliver(zone: Zone, path: str, data: bytes, night: int, chance: random.Random) -> None:
    """One night's delivery of one file: not yet, more of it than before, or the whole under its own or another name.

    A file that stops to grow in the middle of a line is taken as it is, so these do not stop there.
    """
    known = zone.root / "c1" / "nodes" / path
    if night < 3:
        begin = known.stat().st_size if known.exists() else 0
        if begin or chance.random() < 0.5:
            end = chance.randint(min(begin + 1, len(data)), len(data))
            put(zone, path, data[: _outside_of_records(data, end)])
        return
    node, _, rest = path.partition("/logs/")
    stem = rest.removesuffix(".log")
    packing = chance.choice(sorted(PACKED))
    name = chance.choice([f"{stem}.1.log{packing}", f"otherdays/{Path(stem).name}.7.log{packing}", f"{stem}.log"])
    if name != rest:
        known.unlink(missing_ok=True)
    put(zone, f"{node}/logs/{name}", PACKED[packing](data) if name.endswith(packing) else data)
    if chance.random() < 0.5:
        again = chance.choice(sorted(PACKED))
        put(zone, f"{node}/logs/2026-11-22/{Path(stem).name}.2.log{again}", PACKED[again](data))


def _outside_of_records(data: bytes, end: int) -> int:
    """``end``, or the next begin of a record where it would cut the undated lines off theirs.

    A stack trace is written at once. One that is cut all the same keeps the lines that it had.
    """
    current = data.rfind(b"\n", 0, end - 1) + 1
    following = data.find(b"\n", end - 1) + 1 or len(data)
    if {data[at : at + 2] for at in (current, following)} <= {b"20", b""}:
        return end
    begins = data.find(b"\n20", following - 1)
    return begins + 1 if begins >= 0 else len(data)


@pytest.mark.parametrize("seed", range(amount(2, 5)))
def test_where_a_log_is_rolled_changes_no_event(
    tmp_path: Path, logs: dict[str, bytes], at_once: Zone, seed: int
) -> None:
    """The same lines in more files: other names for the events, the same events in the same order."""
    chance = random.Random(seed)
    zone = Zone(tmp_path)
    for path, data in logs.items():
        stem = path.removesuffix(".log")
        parts = list(_rolled(data, chance))
        for number, part in enumerate(parts[:-1]):
            packing = chance.choice(sorted(PACKED))
            put(zone, f"{stem}.{number}.log{packing}", PACKED[packing](part))
        put(zone, path, parts[-1])
    zone.land()
    zone.land()
    assert lines_landed(zone) == lines_landed(at_once)
    assert said(zone) == said(at_once)


def _rolled(data: bytes, chance: random.Random) -> Iterator[bytes]:
    """The log cut in front of some dated lines, no two files beginning in one second."""
    lines = data.splitlines(keepends=True)
    firsts, latest = [], lines[0][:19]
    for at, line in enumerate(lines):
        if line.startswith(b"20") and line[:19] > latest:
            firsts.append(at)
            latest = line[:19]
    cuts = sorted(chance.sample(firsts, min(len(firsts), chance.randint(0, 6))))
    for begin, end in zip([0, *cuts], [*cuts, len(lines)], strict=True):
        yield b"".join(lines[begin:end])


def said(zone: Zone) -> dict[tuple[str, str], list[Any]]:
    """What each stream says, in program order; signs of life begin anew in each file."""
    order = sorted(
        (row for row in zone.tables["events"] if row["kind"] != "TICK"),
        key=lambda row: (row["file_time"], row["fingerprint"], row["line_no"]),
    )
    streams = defaultdict(list)
    for row in order:
        streams[row["source_node"], row["stream"]].append(tuple(row[column.name] for column in MEANING))
    return dict(streams)
