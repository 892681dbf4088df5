"""A world written as the files of a landing zone, and its truth as JSON lines."""

import gzip
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from election_replay.election_core.simulate.judged import logs_of
from election_replay.election_core.simulate.scenario import Scenario
from election_replay.election_core.simulate.truth import Truth, ends_at, overlap_us, pairs_of_tenures
from election_replay.election_core.simulate.world import World

ROLL_BYTES = 64_000
"""The size in bytes at which logs roll; small, as worlds are short."""


def files(world: World) -> Iterator[tuple[str, bytes]]:
    """Yield ``(path below the cluster's folder, content)`` of every log file, and of every copy of another file. The
    system's voice names the rolled parts."""
    for node, path, content in sorted(world.copies):
        yield f"nodes/{node}/{path}", content
    for (node, stream), lines in sorted(logs_of(world).items()):
        parts = list(_parts(lines))
        for number, part in reversed(list(enumerate(reversed(parts)))):
            path = f"nodes/{node}/{world.voice.file(stream, number)}"
            yield path, gzip.compress(part, mtime=0) if path.endswith(".gz") else part


def _parts(lines: Iterable[str]) -> Iterator[bytes]:
    size = 0

    def part(line: str) -> int:
        nonlocal size
        size += len(line) + 1
        return size // ROLL_BYTES

    for _, run in groupby(lines, key=part):
        yield "".join(f"{line}\n" for line in run).encode()


def truth_lines(scenario: Scenario, seed: int, world: World, truths: Iterable[Truth]) -> Iterator[str]:
    """Yield the faults, the leaderships, the overlaps, and the true findings with whether they are provable."""
    yield _line(
        "world", scenario=scenario.name, seed=seed, protocol=scenario.protocol, broken=scenario.broken,
        meaning=scenario.meaning, members=world.names(), began=_time(world.began_us), ended=_time(world.now_us),
    )  # fmt: skip
    for fault in world.faults:
        yield _line("fault", time=_time(fault.true_us), action=fault.action, node=fault.node, detail=fault.detail)
    for tenure in world.tenures:
        end = _time(tenure.end_us)
        yield _line(
            "leader",
            node=tenure.node,
            term=tenure.term,
            begin=_time(tenure.begin_us),
            end=end,
            how_ended=tenure.how_ended,
        )
    for first, second in pairs_of_tenures(world):
        lasted = overlap_us((first.begin_us, ends_at(world, first)), (second.begin_us, ends_at(world, second)))
        if lasted:
            begin = max(first.begin_us, second.begin_us)
            yield _line(
                "overlap", nodes=[first.node, second.node], terms=[first.term, second.term], begin=_time(begin),
                lasted_ms=lasted // 1000,
            )  # fmt: skip
    for true in truths:
        yield _line(
            "finding", rule=true.rule, nodes=list(true.nodes), terms=list(true.terms), begin=_time(true.begin_us),
            end=_time(true.end_us), provable=true.provable, words=true.words,
        )  # fmt: skip


def _line(kind: str, **of: Any) -> str:
    return json.dumps({"what": kind, **of})


def _time(us: int | None) -> str | None:
    if us is None:
        return None
    return datetime.fromtimestamp(us // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S") + f".{us % 1_000_000:06d}Z"
