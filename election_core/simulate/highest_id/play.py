"""Systems that write canonical events: each thing that a node says is one JSON line.

Lines about elections come from a logger that may drop them; that a process starts or stops is always written.
"""

import json
from datetime import UTC, datetime
from random import Random
from typing import Any

from election_replay.election_core.simulate.machine import Machine, Say
from election_replay.election_core.simulate.world import MILLISECOND

Lines = list[tuple[str, str, str]]


class EventVoice:
    """``protocol`` is the first word of the kinds; ``numbered``: the events tell the number of their election."""

    def __init__(self, protocol: str, group: str, *, numbered: bool) -> None:
        self.numbered = numbered
        self._protocol, self._group = protocol, group
        self._stream = f"{protocol.lower()}.events.jsonl"

    def boot(self, node: str, wall_us: int) -> Lines:
        """The start of a process."""
        return self._line(wall_us, "NOTICE", f"{self._protocol}_START", node=node)

    def stopping(self, node: str, wall_us: int) -> Lines:
        """A clean stop."""
        return self._line(wall_us, "NOTICE", f"{self._protocol}_STOP", node=node)

    def render(self, node: str, wall_us: int, say: Say) -> Lines:  # noqa: ARG002 - what is said names its speaker
        """One event."""
        values = {name: value for name, value in say.values if self.numbered or name != "term"}
        return self._line(wall_us, "INFO", say.kind, **values)

    def file(self, stream: str, part: int) -> str:
        """Rolled parts are numbered and packed."""
        return f"logs/{stream.replace('.events.', f'.{part}.events.')}.gz" if part else f"logs/{stream}"

    def _line(self, wall_us: int, level: str, kind: str, **values: Any) -> Lines:
        time = datetime.fromtimestamp(wall_us // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        time = f"{time}.{wall_us // MILLISECOND % 1000:03d}Z"
        event = {"kind": kind, "event_time": time, "replica_group": self._group, **values}
        return [(self._stream, level, json.dumps(event))]


class ElectionPlay:
    """A protocol whose clients write nothing, for a world; a member's state tells in ``led`` which election it won."""

    def __init__(self, machine: Machine[Any, Any], protocol: str, group: str, *, numbered: bool) -> None:
        self._machine, self._protocol, self._group, self._numbered = machine, protocol, group, numbered

    @property
    def machine(self) -> Machine[Any, Any]:
        """The algorithm."""
        return self._machine

    def voice(self, rng: Random) -> EventVoice:  # noqa: ARG002 - nothing is drawn
        """Canonical events."""
        return EventVoice(self._protocol, self._group, numbered=self._numbered)

    def leads(self, state: Any) -> int | None:
        """The election that made a node the leader."""
        return state.led  # type: ignore[no-any-return]

    def committed(self, state: Any) -> int:  # noqa: ARG002
        """Nothing is committed."""
        return 0

    def write(self, count: int) -> None:
        """Clients write nothing."""
