"""Lines of Redis and Valkey become the events that they are."""

import pytest

from election_replay.election_core.dialects import Record
from election_replay.election_core.dialects.redis.dialect import REDIS
from election_replay.election_core.model.events import Event, Unparsable
from tests.election_core.dialects.lines import entries

ENTRIES = list(entries("redis_lines.txt"))
READY = "Ready to accept connections tcp"
AT = 1_795_695_307_613_000


def parsed(line: str, offset: int = 0) -> Event | None:
    return REDIS.parse(Record(line, (), "redis.log", offset))


@pytest.mark.parametrize(
    ("line", "time", "resolution", "role"),
    [
        (f"12:M 26 Nov 2026 13:15:07.613 * {READY}", AT, 1, "M"),
        (f"12:S 2026-11-26T13:15:07.613+01:00 * {READY}", AT, 1, "S"),
        (f"12:X 1795695307613 * {READY}", AT, 1, "X"),
        (f'pid=12 role=replica timestamp="26 Nov 2026 13:15:07.613" level=notice message="{READY}"', AT, 1, "S"),
        (f'pid=12 role=RDB/AOF timestamp="1795695307613" level=notice message="{READY}"', AT, 1, "C"),
        ("12:signal-handler (1795695307) Received SIGTERM scheduling shutdown...", AT - 613_000, 1000, None),
    ],
)
def test_a_layout_tells_time_and_role(line: str, time: int, resolution: int, role: str | None) -> None:
    event = parsed(line, offset=60)
    assert event is not None
    assert (event.event_time, event.time_resolution_ms, event.role) == (time, resolution, role)
    assert event.kind == ("RD_READY" if role else "RD_STOPPING")


@pytest.mark.parametrize(
    "line",
    [
        "12:M 31 Feb 2026 13:15:07.613 * Ready to accept connections",
        "12:M 26 Foo 2026 13:15:07.613 * Ready to accept connections",
        "12:X 26 Nov 2026 13:15:07.613 # +new-epoch 99999999999999999999",
        "12:X 26 Nov 2026 13:15:07.613 # +switch-master m 10.0.0.1 6379 10.0.0.2 99999",
    ],
)
def test_an_impossible_value_goes_to_quarantine(line: str) -> None:
    with pytest.raises(Unparsable):
        parsed(line)
