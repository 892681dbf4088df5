"""What is known of a run from outside its logs: the ``facts`` of its ``run.json``, and clocks that were set wrong."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

Json = dict[str, Any]

WHOLE_SECONDS = {"rocketmq-dledger", "rocketmq-controller"}
"""Systems whose logs have no milliseconds."""

_HURTING = {"kill -9", "stop", "pause", "cut"}
_TERMS = ("term", "epoch", "masterEpoch")


@dataclass(frozen=True)
class Led:
    """A node led a term; times in seconds since 1970, on the clock of the one who wrote down what was done."""

    node: str
    term: int
    since: float
    until: float
    ended_by: str
    of_controllers: bool = False


@dataclass(frozen=True)
class AtOnce:
    """Two nodes called themselves leader at once, by their logs."""

    nodes: frozenset[str]
    terms: frozenset[int]
    seconds: float


@dataclass(frozen=True)
class Gone:
    """Acknowledged messages that a stale master had stored, from the first's offset to the last's, and lost."""

    node: str
    first_offset: int
    last_offset: int


@dataclass(frozen=True)
class Unwritten:
    """A client's time without an acknowledged write; attempts failed in it."""

    since: float
    until: float


@dataclass(frozen=True)
class Known:
    """What one run's records tell."""

    path: Path

    @cached_property
    def about(self) -> Json:
        return dict(json.loads((self.path / "run.json").read_text()))

    @cached_property
    def facts(self) -> Json | None:
        """None for the older runs, which have none."""
        return self.about.get("facts")

    @property
    def ended(self) -> float:
        """When the observed part of the run was over; everything is killed or stopped then."""
        return self.at(self.about["ended"])

    @property
    def step(self) -> float:
        """Seconds to which a logged time is known."""
        return 1.0 if self.path.parent.name in WHOLE_SECONDS else 0.01

    def at(self, clock: str) -> float:
        """``07:26:46.783Z``, or a whole time stamp, as seconds since 1970."""
        stamp = clock if "T" in clock else f"{self.about['started'][:10]}T{clock}"
        return datetime.fromisoformat(stamp).timestamp()

    @cached_property
    def leaders(self) -> list[Led]:
        """Who led which term, and from when to when."""
        facts = self.facts or {}
        return [
            Led(
                row["node"],
                next(row[name] for name in _TERMS if name in row),
                self.at(row["from"]),
                self.at(row["until"]),
                row["ended_by"],
                name == "controller_leaders",
            )
            for name in ("leaders", "controller_leaders")
            for row in facts.get(name, [])
        ]

    @cached_property
    def overlaps(self) -> list[AtOnce]:
        return [
            AtOnce(
                frozenset(row["nodes"]),
                frozenset(next(row[f"{name}s"] for name in _TERMS if f"{name}s" in row)),
                row["s"],
            )
            for row in (self.facts or {}).get("overlaps", [])
        ]

    @property
    def _writes(self) -> Json:
        return dict((self.facts or {}).get("writes", {}))

    @cached_property
    def gone(self) -> list[Gone]:
        """What stale masters of the controllers' brokers took and lost."""
        return [Gone(row["node"], row["phy_from"], row["phy_to"]) for row in self._writes.get("acked_but_gone", [])]

    @property
    def unreadable(self) -> int:
        """Acknowledged messages of a DLedger group that its leader could not give out at the end."""
        return int(self._writes.get("lost", 0))

    @cached_property
    def unwritten(self) -> list[Unwritten]:
        rows = (self.facts or {}).get("no_acknowledged_write", [])
        return [Unwritten(self.at(row["from"]), self.at(row["until"])) for row in rows]

    def hurt_before(self, moment: float) -> float:
        """When something was last done to the cluster, at or before a moment, that can take a leader its majority."""
        rows = [json.loads(line) for line in (self.path / "truth.jsonl").read_text().splitlines()]
        return max((row["t"] for row in rows if row["action"] in _HURTING and row["t"] <= moment), default=moment)

    # clocks

    @cached_property
    def _set_to(self) -> dict[str, list[tuple[float, float]]]:
        """When each node's clock was set, and by how many seconds it was ahead from then on."""
        told: dict[str, list[tuple[float, float]]] = {
            name: [(float("-inf"), node["clock_ms"] / 1000)]
            for name, node in self.about["nodes"].items()
            if node.get("clock_ms")
        }
        for line in (self.path / "truth.jsonl").read_text().splitlines():
            row = json.loads(line)
            if row["action"] == "clock":
                told.setdefault(row["node"], [(float("-inf"), 0.0)]).append((row["t"], row["clock_ms"] / 1000))
        return told

    @property
    def set_clocks(self) -> set[str]:
        """The nodes whose clocks were not those of the machine, always or at some time."""
        return set(self._set_to)

    def own(self, node: str, moment: float) -> float:
        """What the node's clock showed at a moment of true time."""
        ahead = [ahead for since, ahead in self._set_to.get(node, []) if since <= moment]
        return moment + (ahead[-1] if ahead else 0.0)

    def shown_twice(self, node: str, shown: float, near: float = 1) -> bool:
        """Whether the node's clock showed this time twice, or one nearer than ``near`` seconds: it was set back over
        it."""
        return any(later < shown + near and shown - near < before for before, later in self._set_back(node))

    def undecided(self, overlap: AtOnce) -> bool:
        """Whether no log tells if two led at once: a clock showed the older one's end, or the newer one's beginning,
        twice, since it was set back. What lasts less than a second is hidden for half a minute longer: until a message
        bounds the clock again, it may have been set once more."""
        near = 30 if overlap.seconds < 1 else 1
        older, newer = min(overlap.terms), max(overlap.terms)
        ends = [(led.node, led.until) for led in self.leaders if led.term == older and led.node in overlap.nodes]
        begins = [(led.node, led.since) for led in self.leaders if led.term == newer and led.node in overlap.nodes]
        return any(self.shown_twice(node, self.own(node, moment), near) for node, moment in ends + begins)

    def _set_back(self, node: str) -> Iterator[tuple[float, float]]:
        """What the clock showed just before it was set back, and just after."""
        steps = self._set_to.get(node, [])
        for (_, was), (when, is_now) in pairwise(steps):
            if is_now < was:
                yield when + was, when + is_now
