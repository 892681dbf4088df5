"""Landing zones made to do harm: names that are code, archives that hold a thousand times their size, endless lines."""

import bz2
import gzip
import lzma
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

from election_replay.election_core.dialects import Record, dialect_for
from election_replay.election_core.model.events import Unparsable
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.reading.published import Published
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.landing.test_mutated_logs import lines_of
from tests.jobs.nights import night
from tests.jobs.zone import election

NAMES = (
    *("two\nlines", "tab\there", "x'; DROP TABLE findings; --", 'quote"s', "back\\slash", "<script>alert(1)"),
    *(
        "a=b",
        "cluster=c1",
        "%2e%2f",
        "%00",
        "*",
        "?[a-z]",
        "-rf",
        "--help",
        "~",
        "$HOME",
        "$(id)",
        "`id`",
        "a;b",
        "a&b",
    ),
    *("\x1b[31mred", "\u202egnp.exe", "\U0001f4a3", "e\u0301", "\u00e9", "case", "Case", "null", "NaN", "..."),
    *("__HIVE_DEFAULT_PARTITION__", "n" * 255),
)
"""Names of clusters; each is one cluster, and no other one's."""

HELD_MB = 40
"""What a process that lands a bomb may hold beyond what it held for a small file: some megabytes of the bomb."""

ZEROS = 128 << 20
"""Bytes that a bomb comes to."""

BOMBS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zst": lambda data: bytes(pa.compress(data, codec="zstd", asbytes=True)),
    "xz": lambda data: lzma.compress(data, preset=0),
}
LONG = 60_000
LONGEST_S = 1.0


@pytest.mark.slow
def test_names_are_only_names(
    local: LocalEngine, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    zone, warehouse = tmp_path / "landing", Warehouse(str(tmp_path / "w"))
    assert len(NAMES) == 32
    for term in (1, 2):
        for name in NAMES:
            log = zone / name / "nodes" / "n1" / "logs" / "broker_default.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("a") as file:
                file.write(election(100 * term, term))
        night(local, zone, warehouse)
        found = Published(warehouse).rows(
            "SELECT cluster, max(term) AS last, count(*) AS terms FROM terms GROUP BY ALL"
        )
        assert {row["cluster"]: (row["last"], row["terms"]) for row in found} == dict.fromkeys(NAMES, (term, term))
    record_property("hostile names", len(NAMES))


LAND = """
import sys
from pathlib import Path
from tests.jobs.zone import Zone

def landed(zone, packed):
    (zone.logs / sys.argv[2]).write_bytes(Path(packed).read_bytes())
    rows = zone.land()
    [file] = rows["landed_files"]
    status = Path("/proc/self/status").read_text()  # what getrusage tells has that of the process before exec in it
    held_kb = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return held_kb >> 10, len(rows["events"]), len(rows["quarantine"])

before_mb, _, _ = landed(Zone(Path(sys.argv[1], "first")), sys.argv[3])
megabytes, events, quarantined = landed(Zone(Path(sys.argv[1], "second")), sys.argv[4])
print(megabytes - before_mb, events, quarantined)
"""


@pytest.mark.slow
@pytest.mark.parametrize("packed", BOMBS)
def test_a_bomb_is_never_held_whole(
    tmp_path: Path, packed: str, record_property: Callable[[str, object], None]
) -> None:
    small, bomb = tmp_path / "small", tmp_path / "bomb"
    small.write_bytes(BOMBS[packed](bytes(ZEROS >> 8)))
    bomb.write_bytes(BOMBS[packed](bytes(ZEROS)))
    assert bomb.stat().st_size < ZEROS // 500
    done = subprocess.run(
        [sys.executable, "-c", LAND, tmp_path, f"broker.log.{packed}", small, bomb],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (120, 120)),
    )
    megabytes, events, quarantined = map(int, done.stdout.split())
    assert megabytes < HELD_MB
    assert (events, quarantined <= 1) == (0, True)
    record_property("bombs", 1)


@pytest.mark.parametrize(
    ("table", "name"), [("rocketmq", "broker.log"), ("zookeeper", "zookeeper.log"), ("etcd", "etcd.log")]
)
def test_no_line_keeps_a_pattern_busy(table: str, name: str, record_property: Callable[[str, object], None]) -> None:
    """Each shape of a line, with each of four of its parts repeated until it is as long as a line may be."""
    dialect = dialect_for(name)
    assert dialect is not None
    tried = 0
    for line in lines_of(table):
        text = line.decode(errors="replace").partition("\n")[0]
        for quarter in range(4):
            at = len(text) * (2 * quarter + 1) // 8
            for width in (1, 7):
                long = text[:at] + text[at : at + width] * (LONG // width) + text[at:]
                begin = time.process_time()
                with suppress(Unparsable):
                    dialect.parse(Record(long, (), name, 0))
                assert time.process_time() - begin < LONGEST_S, (text, at, width)
                tried += 1
    record_property("endless lines", tried)
