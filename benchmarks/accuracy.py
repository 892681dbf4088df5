"""How right the judge is: precision and recall on simulated worlds, for every rule, as a page.

python -m benchmarks.accuracy                        # 500 worlds a protocol; rewrites docs/accuracy.md
python -m benchmarks.accuracy dledger                # only the section of one protocol is measured and rewritten
python -m benchmarks.accuracy --worlds 30 --print    # fewer, to look at
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from election_replay.election_core.model.rows import Finding
from election_replay.election_core.simulate.catalogue import PROTOCOLS
from election_replay.election_core.simulate.judged import Score
from election_replay.jobs.cli.simulate import SCENARIOS, simulate

PAGE = Path(__file__).parents[1] / "docs" / "accuracy.md"

AVAILABILITY = {"LEADERLESS", "ELECTION_STORM", "SPECIAL_SERVICE_GAP", "PRE_ONLINE_STUCK", "WRITES_REFUSED"}
"""What may be said above info of a safe world: somebody had to wait. No rule of safety is broken in one."""

INTRODUCTION = """# How right the judge is

Simulated worlds have known faults: who led when, what was done to whom, which lines the logger dropped. Each world is
judged by its logs alone, and the verdict is compared with what really happened. The truth is made from the states of
the simulated members and the lines that were kept (`election_core/simulate/*/truth.py`), not by the judge.

- **provable**: true things that the kept lines prove; **found**: those of them that a finding claims. Recall is
  found / provable.
- **claimed**: all findings, information too; **true**: those that happened as claimed, with a length inside the claimed
  bounds. Precision is true / claimed.
- What is true but not proven may be claimed or not: a killed leader says no farewell, whole seconds blur, dropped lines
  hide.

In safe worlds nothing is claimed above information but time that was really lost (`LEADERLESS`, `ELECTION_STORM`,
`SPECIAL_SERVICE_GAP`, `PRE_ONLINE_STUCK`). A world that is judged wrongly is named below with the command that repeats
it. This page is made by `python -m benchmarks.accuracy`.

Electorates: a figure is of three fixed voters, in the `five-` stories of `dledger` of five. What is told of groups of
two, four, five and seven voters, and of etcd clusters whose members come and go, is held against what their worlds
committed: `python -m proof.audit.worlds raft --electorates`. Most real runs have three members; of etcd six have four
to seven, with learners and replaced members among them, and of ZooKeeper two have five.

What the worlds do not hold:

- messages that TCP loses for good while both ends live;
- joint changes of members, observers, and voters with weights or in groups: scenarios have them;
- breaches of `BROKER_ROLE_RULE` and `MEMBERS_DISAGREE` (that they are not claimed without one is measured);
- clocks off by more than their bound where nobody elects (`acting_master`): no line there is surely the effect of
  another machine's, so nothing can prove it;
- lines about order locks that are lost: they have a file of their own, which nothing floods; the judge takes it that a
  lock whose release is not printed within a minute was not released;
- elections among the controllers themselves, and breaches of `CONTROLLERS_DISAGREE`: the worlds of brokers have one
  controller, on DLedger;
- many faults at once in Redis, Kafka, order locks, metadata and broker identities (the others: "Wild worlds" below);
- protocols that are not named below: they have no machine.
"""


@dataclass(slots=True)
class Tally:
    """The counts of one protocol, by rule; and what went wrong."""

    worlds: Counter[str] = field(default_factory=Counter)
    provable: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    claimed: Counter[str] = field(default_factory=Counter)
    false: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def measured(protocol: str, worlds: int) -> Tally:
    """So many worlds of a protocol, its scenarios taking turns."""
    names = [scenario.name for scenario in PROTOCOLS[protocol].scenarios]
    tally = Tally()
    for number in range(worlds):
        name, seed = names[number % len(names)], number // len(names)
        found = simulate(name, seed).judged()
        tally.worlds[name] += 1
        tally.provable.update(one.rule for one in found.provable)
        tally.missed.update(one.rule for one in found.missed)
        tally.claimed.update(one.rule for one in found.claimed)
        tally.false.update(one.rule for one in found.false)
        if not found.perfect or (not SCENARIOS[name].broken and alarms(found)):
            tally.wrong.append(f"election-replay simulate --scenario {name} --seed {seed} --judge")
    return tally


def alarms(found: Score) -> list[Finding]:
    """The findings above information that a safe world must not have."""
    return [finding for finding in found.alarms if finding.rule not in AVAILABILITY]


def section(protocol: str, tally: Tally) -> Iterator[str]:
    """What the page says of a protocol, line by line."""
    safe = sum(count for name, count in tally.worlds.items() if not SCENARIOS[name].broken)
    yield f"## {protocol}: {sum(tally.worlds.values())} worlds, {safe} of them safe"
    yield ""
    yield "| rule | provable | found | recall | claimed | true | precision |"
    yield "|---|---|---|---|---|---|---|"
    for rule in sorted({*tally.provable, *tally.claimed}):
        yield _row(rule, tally)
    yield ""
    yield f"Judged wrongly: {len(tally.wrong)}"
    yield from (f"- `{command}`" for command in tally.wrong)


def _row(rule: str, tally: Tally) -> str:
    provable, claimed = tally.provable[rule], tally.claimed[rule]
    found, true = provable - tally.missed[rule], claimed - tally.false[rule]
    recall, precision = _ratio(found, provable), _ratio(true, claimed)
    return f"| `{rule}` | {provable} | {found} | {recall} | {claimed} | {true} | {precision} |"


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def page(sections: Mapping[str, str]) -> str:
    """The page with these sections, in the order of the catalogue."""
    return "\n".join((INTRODUCTION, *(sections[protocol] for protocol in PROTOCOLS if protocol in sections)))


def sections_of(text: str) -> dict[str, str]:
    """The sections of a page, by protocol."""
    parts = (part for part in text.split("\n## ")[1:] if part.partition(":")[0] in PROTOCOLS)
    return {part.partition(":")[0]: f"## {part.rstrip()}\n" for part in parts}


def others_of(text: str) -> str:
    """What follows the sections of the protocols: other commands write it."""
    parts = [part for part in text.split("\n## ")[1:] if part.partition(":")[0] not in PROTOCOLS]
    return "".join(f"\n## {part}" for part in parts)


def _remeasured(protocols: Iterable[str], worlds: int) -> tuple[dict[str, str], list[str]]:
    tallies = {protocol: measured(protocol, worlds) for protocol in protocols}
    sections = {name: "".join(f"{line}\n" for line in section(name, tally)) for name, tally in tallies.items()}
    return sections, [command for tally in tallies.values() for command in tally.wrong]


def main() -> int:
    """Measure, write the page, and fail if anything was judged wrongly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocol", nargs="*", help="measure only these; all others stay as they are on the page")
    parser.add_argument("--worlds", type=int, default=500, help="worlds of each protocol")
    parser.add_argument("--print", action="store_true", help="print the sections, and leave the page alone")
    given = parser.parse_args()
    sections, wrong = _remeasured(given.protocol or PROTOCOLS, given.worlds)
    if given.print:
        sys.stdout.write("\n".join(sections.values()))
    else:
        before = PAGE.read_text()
        PAGE.write_text(page({**sections_of(before), **sections}) + others_of(before))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
