"""What is known of a run from outside its logs: the ``facts`` of its ``run.json``, and clocks that were set wrong."""

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
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
    def set_clocks(self) -> set[str]:
        """The nodes whose clocks were not those of the machine, always or at some time."""
        always = {name for name, node in self.about["nodes"].items() if node.get("clock_ms")}
        lines = map(json.loads, (self.path / "truth.jsonl").read_text().splitlines())
        return always | {row["node"] for row in lines if row["action"] == "clock"}

    def undecided(self, overlap: AtOnce) -> bool:
        """Whether no log tells if two led at once: what a clock that was set shows is known less exactly than that."""
        return overlap.seconds < 0.5 and bool(self.set_clocks & overlap.nodes)
