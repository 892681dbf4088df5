"""How each system writes its log: text of a record in, :class:`~election_core.events.Event` out.

A dialect is a module of literal tables. To teach a new text, add a row to the table of the system that prints it;
to teach a new system, add its module and name its files in :data:`STREAMS`.
"""

from collections.abc import Mapping

from election_core.dialects import rocketmq
from election_core.dialects.model import Dialect, Record, Unparsable
from election_core.events import Event

__all__ = ["DIALECTS", "KINDS", "TICK", "Dialect", "Record", "Unparsable", "dialect_for", "tick"]

TICK = "TICK"

DIALECTS: tuple[Dialect, ...] = (rocketmq.ROCKETMQ,)

STREAMS: Mapping[str, Dialect] = dict.fromkeys(sorted(rocketmq.STREAMS), rocketmq.ROCKETMQ)
"""Which dialect a file speaks, by its name."""

KINDS: dict[str, str] = {
    TICK: "this log was being written then; made of lines that are otherwise not of interest",
    **rocketmq.TABLE.kinds,
}
"""Every kind of event and its meaning: the closed enumeration."""


def dialect_for(stream: str) -> Dialect | None:
    """The dialect of a file by its name without suffixes of rolling and compression; ``None``: not of interest."""
    return STREAMS.get(stream)


def tick(event_time: int, resolution_ms: int) -> Event:
    """The sign of life of a log at ``event_time`` (microseconds UTC)."""
    return Event(kind=TICK, event_time=event_time, time_resolution_ms=resolution_ms, protocol="process")
