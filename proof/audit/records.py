"""What is known of a real run from outside of its logs: what its clients had acknowledged and what was done to it."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from benchmarks.deeds import Deed, deeds
from benchmarks.outages import ACKNOWLEDGED, FAILED, WRITERS

Json = dict[str, Any]

NOTICED_S = 3.0
"""A time without an acknowledged write that somebody notices."""

NEVER_TOLD = -1
"""Slaves in sync of a broker that nobody has told a role yet: it answers "master" for want of another role."""

_PUT_BACK = re.compile(r"clock of (\S+) put back (\d+) s$")
"""How some records tell it in words."""

ANY_GROUP = ""
"""The group of clients that name none."""


@dataclass(frozen=True, slots=True)
class Ack:
    """An acknowledged write, by the clock of its client in seconds since 1970; ``place`` in a log, in bytes."""

    at: float
    key: tuple[str, int | str]
    place: int | None


@dataclass(frozen=True, slots=True)
class Gap:
    """A time without an acknowledged write: ``sure_end`` is when the attempt that failed last in it began."""

    begin: float
    sure_end: float
    end: float

    @property
    def least(self) -> float:
        """Seconds in which surely nobody could write."""
        return max(self.sure_end - self.begin, 0.0)


@dataclass(frozen=True)
class Records:
    """The records of one run, as they lie beside its logs."""

    run: Path

    @property
    def name(self) -> str:
        """``system/run``."""
        return f"{self.run.parent.name}/{self.run.name}"

    @cached_property
    def _writes(self) -> tuple[dict[str, list[Ack]], list[tuple[str, float, float]]]:
        """Acknowledged writes of each group; and of each failed attempt who made it, when it began and ended."""
        acks: dict[str, list[Ack]] = defaultdict(list)
        failed: list[tuple[str, float, float]] = []
        for path in sorted(path for pattern in WRITERS for path in (self.run / "clients").glob(pattern)):
            before: dict[str, float] = {}
            for entry in _entries(path):
                event, at = entry.get("event", entry.get("ev")), float(entry["t"])
                writer = f"{path.stem} {entry.get('member', '')}"
                refused = entry.get("status", "SEND_OK") != "SEND_OK"
                if event in ACKNOWLEDGED | {"set"} and not refused:
                    group = str(entry.get("set") or entry.get("broker") or ANY_GROUP)
                    acks[group].append(Ack(at, _key_of(path.stem, entry), entry.get("phy")))
                elif event in FAILED or refused:
                    begun = at - entry["ms"] / 1000 if "ms" in entry else before.get(writer, at)
                    failed.append((writer, begun, at))
                before[writer] = at
        return {group: sorted(of_group, key=lambda ack: ack.at) for group, of_group in acks.items()}, failed

    def acks(self, group: str, *, alone: bool) -> list[Ack]:
        """What a group acknowledged; where clients name no group, all is of the one that is ``alone``."""
        acks = self._writes[0]
        return acks.get(group, acks.get(ANY_GROUP, []) if alone and set(acks) == {ANY_GROUP} else [])

    def gaps(self, group: str, *, alone: bool) -> Iterator[Gap]:
        """The times between two acknowledged writes of a group in which attempts failed.

        A client that serves several groups may hang in another one: then nothing is known of this one.
        """
        acks, failed = self.acks(group, alone=alone), self._writes[1]
        others = [ack.at for other, rows in self._writes[0].items() if other != group for ack in rows]
        several = len(self._writes[0]) > 1
        for before, after in pairwise(acks):
            if several and sum(before.at < at < after.at for at in others) < (after.at - before.at) / NOTICED_S:
                continue
            last: dict[str, float] = {}
            for writer, begun, ended in failed if after.at - before.at > 1 else ():
                if before.at <= ended <= after.at:
                    last[writer] = max(begun, last.get(writer, begun))
            if last:
                yield Gap(before.at, min(last.values()), after.at)

    def lost(self, group: str, *, alone: bool) -> list[Ack]:
        """What a group acknowledged and no member had at the end; nothing where nobody looked."""
        names, spans = self._there
        return [
            ack for ack in self.acks(group, alone=alone) if (names or spans) and not _is_there(ack.key, names, spans)
        ]

    @cached_property
    def _there(self) -> tuple[set[str], dict[str, list[tuple[int, int]]]]:
        """The keys that some member had at the end: by name, and as ranges by client."""
        names, spans = set[str](), dict[str, list[tuple[int, int]]]()
        for entry in _entries(self.run / "clients" / "audit.log"):
            if entry.get("event", entry.get("ev")) != "has":
                continue
            keys = [entry["key"]] if "key" in entry else entry.get("keys", [])
            for client, of_client in keys.items() if isinstance(keys, Mapping) else ((ANY_GROUP, keys),):
                for key in of_client:
                    if isinstance(key, list):
                        spans.setdefault(client, []).append((key[0], key[1]))
                    else:
                        names.add(str(key))
        return names, spans

    @cached_property
    def deeds(self) -> list[Deed]:
        """What was done to the cluster."""
        return list(deeds(self.run))

    @cached_property
    def clock_errors(self) -> dict[str, list[tuple[float, float]]]:
        """How far a machine's clock was ahead, in seconds, from each true time on; those that were always right are
        not named."""
        about = json.loads((self.run / "run.json").read_text(encoding="utf-8"))
        errors: dict[str, list[tuple[float, float]]] = {}
        for node, said in about.get("nodes", {}).items():
            if isinstance(said, Mapping) and said.get("clock_ms"):
                errors[node] = [(0.0, said["clock_ms"] / 1000)]
        for entry in _entries(self.run / "truth.jsonl"):
            if entry.get("action") == "clock" and ("clock_ms" in entry or "by" in entry):
                by_s = entry["clock_ms"] / 1000 if "clock_ms" in entry else float(entry["by"])
                errors.setdefault(entry["node"], [(0.0, 0.0)]).append((entry["t"], by_s))
            elif put_back := _PUT_BACK.match(entry.get("deed", "")):
                at = datetime.fromisoformat(entry["at"]).timestamp()
                errors.setdefault(put_back[1], [(0.0, 0.0)]).append((at, -float(put_back[2])))
        return errors

    def leading(self) -> Iterator[tuple[str, float, float]]:
        """Who told an observer again and again, for how long without another answer in between, that it leads."""
        asked: dict[str, list[tuple[float, bool]]] = defaultdict(list)
        said = [entry for entry in _entries(self.run / "observed.jsonl") if {"t", "node", "role"} <= entry.keys()]
        for entry in sorted(said, key=lambda row: float(row["t"])):
            if entry.get("in_sync_slaves") != NEVER_TOLD:
                leads = str(entry["role"]).lower() in ("leader", "master")
                asked[f"{entry['node']} {entry.get('kind')} {entry.get('via')}"].append((float(entry["t"]), leads))
        for asked_of, answers in asked.items():
            for leads, alike in groupby(answers, key=lambda answer: answer[1]):
                times = [at for at, _ in alike]
                if leads and times[-1] > times[0]:
                    yield asked_of.split()[0], times[0], times[-1]


def _entries(path: Path) -> Iterator[Json]:
    """The lines of a record that are JSON; some clients write words."""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line.startswith("{"):
            yield json.loads(line)


def _key_of(client: str, entry: Json) -> tuple[str, int | str]:
    """What a write wrote: a key by name, or a number of its client."""
    if "n" in entry:
        return str(entry.get("member") or client.removeprefix("writer").removeprefix("-")), int(entry["n"])
    return ANY_GROUP, f"{client}-{entry['k']}" if "k" in entry else str(entry.get("key"))


def _is_there(key: tuple[str, int | str], names: set[str], spans: Mapping[str, list[tuple[int, int]]]) -> bool:
    client, number = key
    if isinstance(number, str):
        return number in names or not names
    of_client = spans.get(client, spans.get(ANY_GROUP))
    return of_client is None or any(first <= number <= last for first, last in of_client)
