"""The same checks on wild worlds: what was committed, and what was done, by the world's own record.

python -m proof.audit.worlds raft              # 500 worlds of a protocol, its kinds taking turns
python -m proof.audit.worlds raft --worlds 20
python -m proof.audit.worlds controller
python -m proof.audit.worlds raft --electorates    # 2, 4, 5 and 7 voters, and members that come and go
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from benchmarks.deeds import CUT, ENDED, HELD, Deed
from election_replay.election_core.simulate.catalogue import ELECTORATES, WILD
from election_replay.election_core.simulate.judged import rows_of
from election_replay.election_core.simulate.scenario import Scenario, played
from election_replay.election_core.simulate.truth import ends_at, spans
from election_replay.election_core.simulate.world import DOWN, FROZEN, SECOND, World
from proof.audit.checks import FALSE, Breach, audited
from proof.audit.records import Ack, Gap

WRITES_S = 1.0
"""Clients of a world write once in so many seconds."""

CLOCKS_SET = "clocks were set: messages leave open which, when, or by how much"
"""Why what is told of a world whose clocks were set may be false."""


@dataclass(frozen=True)
class WorldRecords:
    """What really happened in one world, as :class:`proof.audit.records.Records` tells it of a real run."""

    world: World
    name: str

    @cached_property
    def _commits(self) -> list[Ack]:
        woke = [(fault.node, fault.true_us) for fault in self.world.faults if fault.action == "thaw"]
        times = sorted(
            time
            for tenure in self.world.tenures
            for time in tenure.grew
            if not any(node == tenure.node and 0 <= time - at < SECOND // 10 for node, at in woke)
        )
        return [Ack(time / SECOND, ("", number), None) for number, time in enumerate(times)]

    def acks(self, group: str, *, alone: bool) -> list[Ack]:  # noqa: ARG002 - a world has one group
        """What was committed, by any leader, but for what it commits as it wakes: that was asked for before."""
        return self._commits

    def gaps(self, group: str, *, alone: bool) -> Iterator[Gap]:
        """The times without a commit; somebody tries all the time."""
        for before, after in pairwise(self.acks(group, alone=alone)):
            if after.at - before.at > 2 * WRITES_S:
                yield Gap(before.at, after.at - WRITES_S, after.at)

    def lost(self, group: str, *, alone: bool) -> list[Ack]:  # noqa: ARG002 - entries of a world bear no names
        """Nothing is known of single entries."""
        return []

    @cached_property
    def deeds(self) -> list[Deed]:
        """What was done; a cut is a deed to all."""
        done = [
            Deed(kind, frozenset([node]), begin / SECOND, end / SECOND)
            for condition, kind in ((DOWN, ENDED), (FROZEN, HELD))
            for node, begin, end in spans(self.world, condition)
        ]
        ends = {fault.detail: fault.true_us for fault in self.world.faults if fault.action == "heal"}
        cuts = [fault for fault in self.world.faults if fault.action == "cut"]
        return done + [
            Deed(CUT, frozenset(), fault.true_us / SECOND, ends.get(fault.detail, self.world.now_us) / SECOND)
            for fault in cuts
        ]

    @cached_property
    def clock_errors(self) -> dict[str, list[tuple[float, float]]]:
        """How far each clock that was set was ahead, from each true time on."""
        errors: dict[str, list[tuple[float, float]]] = {}
        for fault in self.world.faults:
            if fault.action == "clock set" and fault.node is not None:
                row = errors.setdefault(fault.node, [(0.0, 0.0)])
                by_s = int(fault.detail.removeprefix("by ").removesuffix(" ms")) / 1000
                row.append((fault.true_us / SECOND, row[-1][1] + by_s))
        return errors

    def leading(self) -> Iterator[tuple[str, float, float]]:
        """Who led, and for how long."""
        for tenure in self.world.tenures:
            yield tenure.node, tenure.begin_us / SECOND, ends_at(self.world, tenure) / SECOND


def audited_world(name: str, seed: int) -> list[Breach]:
    """What is wrong with the verdict on one wild world."""
    world = played((WILD | ELECTORATES)[name], seed)
    return audited(WorldRecords(world, f"{name} {seed}"), rows_of(world, name))


def names_of(protocol: str, stories: Mapping[str, Scenario] = WILD) -> list[str]:
    """The wild stories of a protocol."""
    return [scenario.name for scenario in stories.values() if scenario.protocol == protocol]


def audited_worlds(protocol: str, worlds: int, stories: Mapping[str, Scenario] = WILD) -> Iterator[Breach]:
    """What is wrong with the verdicts on so many worlds, its stories taking turns."""
    names = names_of(protocol, stories)
    for number in range(worlds):
        yield from audited_world(names[number % len(names)], number // len(names))


def why(breach: Breach) -> str:
    """Why something false is told of a world, where that is known."""
    return CLOCKS_SET if breach.kind == FALSE and breach.run.partition(" ")[0].endswith("-clocks") else ""


def main() -> int:
    """Print what is wrong, and how often; fails where a finding is false."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocol", choices=sorted({scenario.protocol for scenario in WILD.values()}))
    parser.add_argument("--worlds", type=int, default=500)
    parser.add_argument("--electorates", action="store_true", help="groups of other sizes than three, that change")
    given = parser.parse_args()
    stories = ELECTORATES if given.electorates else WILD
    found = Counter[tuple[str, str]]()
    for breach in audited_worlds(given.protocol, given.worlds, stories):
        found[breach.check, breach.kind] += 1
        reason = f" - {known}" if (known := why(breach)) else ""
        sys.stdout.write(f"{breach.kind}, {breach.check}, {breach.run}: {breach.rule}: {breach.words}{reason}\n")
    sys.stdout.write(f"{given.protocol}: {given.worlds} worlds, {dict(found)}\n")
    return 1 if any(kind == FALSE for _, kind in found) else 0


if __name__ == "__main__":
    raise SystemExit(main())
