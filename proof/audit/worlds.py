"""The same checks on wild worlds: what was committed, and what was done, by the world's own record.

python -m proof.audit.worlds raft              # 500 worlds of a protocol, its kinds taking turns
python -m proof.audit.worlds raft --worlds 20
python -m proof.audit.worlds controller
python -m proof.audit.worlds raft --electorates    # 2, 4, 5 and 7 voters, and members that come and go
python -m proof.audit.worlds --write           # all protocols: the section of docs/accuracy.md
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from benchmarks.deeds import CUT, ENDED, HELD, Deed
from election_replay.election_core.judge.wording import listed
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.simulate.catalogue import ELECTORATES, WILD
from election_replay.election_core.simulate.judged import rows_of
from election_replay.election_core.simulate.scenario import Scenario, played
from election_replay.election_core.simulate.truth import ends_at, spans
from election_replay.election_core.simulate.world import DOWN, FROZEN, SECOND, World
from election_replay.jobs.showing.markdown import prose
from proof.audit.__main__ import HEADING as REAL_RUNS
from proof.audit.__main__ import PAGE
from proof.audit.checks import FALSE, MISLEADING, MISSING, Breach, audited
from proof.audit.records import Ack, Gap

WRITES_S = 1.0
"""Clients of a world write once in so many seconds."""

SHORT_S = 12.0
"""Whoever waits for a leader waits up to so many seconds: ten, and two for a tick (ZooKeeper's syncLimit)."""

LED_ON = "its leader led on: it waited or was cut off for less than anybody takes to miss it"
UNSHOWN = "a clock was set, and all messages in the logs fit without that"
APART = "several clocks were set: messages show how far they are apart, not which were set"
UNSURE = "a clock was set: messages show that it was, and not surely when or how far"
"""Why a verdict on a world is wrong, or lacks something."""

STILL_FALSE = (
    ("controller-wild-clocks", 1030),
    ("controller-wild-clocks", 1100),
    ("dledger-wild-clocks", 92),
    ("dledger-wild-clocks", 1098),
    ("dledger-wild-clocks", 2004),
    ("dledger-wild-clocks", 2007),
    ("raft-wild-clocks", 162),
    ("raft-wild-clocks", 1018),
    ("raft-wild-clocks", 1025),
    ("zab-wild-clocks", 253),
    ("zab-wild-clocks", 264),
    ("zab-wild-clocks", 1011),
    ("zab-wild-clocks", 1033),
    ("zab-wild-clocks", 1048),
    ("zab-wild-clocks", 2038),
)
"""Worlds of which something false is told, found among more than those of the page."""


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


@dataclass(frozen=True, slots=True)
class Judgement:
    """How many findings a world has, and what is wrong or missing, each with its reason (empty: not known)."""

    findings: int
    breaches: tuple[tuple[Breach, str], ...]

    @property
    def false(self) -> list[Breach]:
        """What is false."""
        return [breach for breach, _ in self.breaches if breach.kind == FALSE]


def judged_world(name: str, seed: int) -> Judgement:
    """What is wrong with the verdict on one wild world."""
    world = played((WILD | ELECTORATES)[name], seed)
    records, rows = WorldRecords(world, f"{name} {seed}"), rows_of(world, name)
    findings = [row for row in rows if isinstance(row, Finding)]
    breaches = audited(records, rows)
    return Judgement(len(findings), tuple((breach, why(breach, records, findings)) for breach in breaches))


def audited_world(name: str, seed: int) -> list[Breach]:
    """What is wrong with the verdict on one wild world, without reasons."""
    return [breach for breach, _ in judged_world(name, seed).breaches]


def names_of(protocol: str, stories: Mapping[str, Scenario] = WILD) -> list[str]:
    """The wild stories of a protocol."""
    return [scenario.name for scenario in stories.values() if scenario.protocol == protocol]


def judged_worlds(protocol: str, worlds: int, stories: Mapping[str, Scenario] = WILD) -> Iterator[Judgement]:
    """The verdicts on so many worlds, a protocol's stories taking turns."""
    names = names_of(protocol, stories)
    for number in range(worlds):
        yield judged_world(names[number % len(names)], number // len(names))


# -- reasons -----------------------------------------------------------------------------------------------------------


def why(breach: Breach, records: WorldRecords, findings: Sequence[Finding]) -> str:
    """Why a verdict is wrong or lacks something, where no line of the world tells it better; else nothing."""
    if breach.check == "gaps" and (reason := _led_on(breach, records)):
        return reason
    if breach.check == "fates" and breach.kind == MISLEADING:
        return "its log stops with the first deed" if "log stops" in breach.words else ""
    return _clocks_set(records, findings)


def _led_on(breach: Breach, records: WorldRecords) -> str:
    """Why a short time without a write is not told, or a part of a longer one: its leader led on."""
    gap = next((gap for gap in records.gaps("", alone=True) if gap.begin <= breach.at < gap.sure_end), None)
    if gap is None:
        return ""
    part = _UNTOLD.search(breach.words)
    end = breach.at + float(part[1]) if part else gap.sure_end
    led = any(
        one.begin_us / SECOND <= breach.at and end <= ends_at(records.world, one) / SECOND + WRITES_S
        for one in records.world.tenures
    )
    return LED_ON if led and end - breach.at <= SHORT_S else ""


_UNTOLD = re.compile(r"no finding says ([0-9.]+) s of it")


def _clocks_set(records: WorldRecords, findings: Sequence[Finding]) -> str:
    """Which clocks were set that no finding names; or that the named ones may be several."""
    skews = [found for found in findings if found.rule == RuleId.CLOCK_SKEW]
    unnamed = sorted(
        node
        for node in records.clock_errors
        if not any(node in found.nodes or f"({node})" in found.summary for found in skews)
    )
    if unnamed:
        return f"{UNSHOWN} ({listed(unnamed)})"
    if records.clock_errors:
        return APART if len(records.clock_errors) > 1 else UNSURE
    return ""


# -- the page ----------------------------------------------------------------------------------------------------------

HEADING = "## Wild worlds"
INTRODUCTION = f"""{HEADING}

Made by `python -m proof.audit.worlds --write`. Two to fifteen faults begin within ten minutes, also within each other:
members die, stop, freeze, wait for their disks, are cut off or deaf, power fails; in every third world clocks are set,
in every third stores are wiped or put back. The verdict on each world is held against what it committed and what was
done, by the checks of the next section; `tests/proof/test_wild_worlds.py` has those that were told wrongly once.

A time without a leader whose length is right, and that a clock which was off tells at another time, is misleading. What
is false or misleading is listed, also of worlds beyond the counted ones that were found by a longer search.
"""


def section(judged: Mapping[str, Sequence[Judgement]]) -> str:
    """The section of the page: what came out for each protocol, and what is false or misleading, with reasons."""
    breaches = {protocol: [pair for one in of_it for pair in one.breaches] for protocol, of_it in judged.items()}
    lines = ["| protocol | worlds | findings | false | misleading | missing |", "|---|---|---|---|---|---|"]
    for protocol, of_it in judged.items():
        kinds = Counter(breach.kind for breach, _ in breaches[protocol])
        counts = " | ".join(f"{kinds[kind]:,}" for kind in (FALSE, MISLEADING, MISSING))
        lines.append(f"| {protocol} | {len(of_it):,} | {sum(one.findings for one in of_it):,} | {counts} |")
    every = [pair for of_it in breaches.values() for pair in of_it]
    known = [pair for name, seed in STILL_FALSE for pair in judged_world(name, seed).breaches]
    lines += ["", "| check | kind | reason | times |", "|---|---|---|---|"]
    alike = Counter((breach.check, breach.kind, reason.partition(" (")[0]) for breach, reason in every)
    lines += [
        f"| {check} | {kind} | {reason or 'not known'} | {times:,} |"
        for (check, kind, reason), times in sorted(alike.items())
    ]
    lines.append("")
    for breach, reason in dict.fromkeys((*every, *known)):
        if breach.kind != MISSING:
            named = f"`{breach.rule}`: " if breach.rule != "-" else ""
            words = f"{breach.kind}, {breach.check}, `{breach.run}`: {named}{breach.words}{reason and ' - ' + reason}."
            lines += prose(words, mark="- ")
    return "\n".join([INTRODUCTION, *lines]).rstrip() + "\n"


def with_section(page: str, text: str) -> str:
    """The page with the section in its place: before what is held against real clients."""
    before, real_runs, rest = page.partition(f"{REAL_RUNS}\n")
    return f"{before.partition(HEADING)[0].rstrip()}\n\n{text}\n{real_runs}{rest}"


def main() -> int:
    """Print what is wrong, and how often; fails where a finding is false."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    protocols = sorted({scenario.protocol for scenario in WILD.values()})
    parser.add_argument("protocol", nargs="*", help=f"any of {', '.join(protocols)}; all by default")
    parser.add_argument("--worlds", type=int, default=500)
    parser.add_argument("--electorates", action="store_true", help="groups of other sizes than three, that change")
    parser.add_argument("--write", action="store_true", help="rewrite the section of docs/accuracy.md")
    given = parser.parse_args()
    if unknown := {*given.protocol}.difference(protocols):
        parser.error(f"no worlds of {', '.join(sorted(unknown))}")
    judged: dict[str, list[Judgement]] = {}
    for protocol in given.protocol or protocols:
        for world in judged_worlds(protocol, given.worlds, ELECTORATES if given.electorates else WILD):
            judged.setdefault(protocol, []).append(world)
            for breach, reason in world.breaches:
                words = f"{breach.kind}, {breach.check}, {breach.run}: {breach.rule}: {breach.words}"
                sys.stdout.write(f"{words}{reason and ' - ' + reason}\n")
    text = section(judged)
    if given.write:
        PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    sys.stdout.write(text)
    return 1 if any(world.false for of_it in judged.values() for world in of_it) else 0


if __name__ == "__main__":
    raise SystemExit(main())
