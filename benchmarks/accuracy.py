"""How right the judge is: precision and recall on simulated worlds, for every rule, as a page.

make accuracy                                   # 500 worlds a protocol, into docs/accuracy.md
python -m benchmarks.accuracy --worlds 30       # fewer, to look at
"""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from jobs.simulate import SCENARIOS, simulate

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

In safe worlds nothing is claimed above information but time that was really lost (`LEADERLESS`, `ELECTION_STORM`). A
world that is judged wrongly is named below with the command that repeats it. This page is made by
`python -m benchmarks.accuracy > docs/accuracy.md`.

What the worlds do not hold: messages that TCP loses for good while both ends live, groups of more than three members,
breaches of `TERM_RULE`, `TRANSFER_RULE`, `BROKER_ROLE_RULE` and `MEMBERS_DISAGREE` (that they are not claimed without
one is measured), and all protocols that are not named below: they have no machine yet.
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


def measured(worlds: int) -> dict[str, Tally]:
    """So many worlds of each protocol, its scenarios taking turns."""
    by_protocol: dict[str, list[str]] = defaultdict(list)
    for name, scenario in SCENARIOS.items():
        by_protocol[scenario.protocol].append(name)
    return {protocol: _measured(names, worlds) for protocol, names in by_protocol.items()}


def _measured(names: list[str], worlds: int) -> Tally:
    tally = Tally()
    for number in range(worlds):
        name, seed = names[number % len(names)], number // len(names)
        found = simulate(name, seed).judged()
        tally.worlds[name] += 1
        tally.provable.update(one.rule for one in found.provable)
        tally.missed.update(one.rule for one in found.missed)
        tally.claimed.update(one.rule for one in found.claimed)
        tally.false.update(one.rule for one in found.false)
        if not found.perfect:
            tally.wrong.append(f"election-replay simulate --scenario {name} --seed {seed} --judge")
    return tally


def page(tallies: dict[str, Tally]) -> Iterator[str]:
    """The page, line by line."""
    yield from INTRODUCTION.splitlines()
    for protocol, tally in tallies.items():
        safe = sum(count for name, count in tally.worlds.items() if not SCENARIOS[name].broken)
        yield ""
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


def main() -> int:
    """Measure, print the page, and fail if anything was judged wrongly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=500, help="worlds of each protocol")
    tallies = measured(parser.parse_args().worlds)
    sys.stdout.write("".join(f"{line}\n" for line in page(tallies)))
    return 1 if any(tally.wrong for tally in tallies.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
