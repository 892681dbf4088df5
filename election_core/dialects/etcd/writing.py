"""Writing etcd's log lines: JSON of the zap logger, as members of 3.4 and 3.5 print it."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from election_replay.election_core.dialects.etcd import texts as etcd_texts
from election_replay.election_core.dialects.writing import Writer

WRITER = Writer(etcd_texts.TEXTS)


def line(
    time_us: int, digits: int, level: str, caller: str, message: str, fields: Mapping[str, Any],
    logger: str | None = None,
) -> str:  # fmt: skip
    """Return a line; ``digits`` of the second's fraction are printed, the rest is cut off."""
    second = datetime.fromtimestamp(time_us // 1_000_000, UTC)
    time = f"{second:%Y-%m-%dT%H:%M:%S}.{f'{time_us % 1_000_000:06d}'[:digits]}Z"
    named = {"logger": logger} if logger else {}
    of = {"level": level, "ts": time, **named, "caller": caller, "msg": message, **fields}
    return json.dumps(of, separators=(",", ":"), ensure_ascii=False)


def member(name: str | None) -> str:
    """Return a member's id; 0 for None."""
    return name or "0"


def configuration(voters: Iterable[str], learners: Iterable[str] = ()) -> str:
    """Return ``voters=(1 2) learners=(3)``: ids in decimal, in order."""
    voting, learning = (sorted(int(member, 16) for member in members) for members in (voters, learners))
    also = f" learners=({' '.join(map(str, learning))})" if learning else ""
    return f"voters=({' '.join(map(str, voting))}){also}"


def duration(milliseconds: int) -> str:
    """Return a duration as Go prints it: ``20ms``, ``5s``, ``19.878s``, ``1m2.5s``."""
    if milliseconds < 1000:
        return f"{milliseconds}ms"
    minutes, rest = divmod(milliseconds, 60_000)
    seconds = f"{rest / 1000:.3f}".rstrip("0").rstrip(".")
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"
