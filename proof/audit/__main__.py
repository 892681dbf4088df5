"""Verdicts on real clusters held against what others wrote down of them, as a table by check and rule.

python -m proof.audit              # all bundled real runs; fails where a finding is false
python -m proof.audit CORPORA      # real runs below CORPORA instead
python -m proof.audit --write      # the same as a section of docs/accuracy.md
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from benchmarks.in_process import judged
from benchmarks.outages import HEADING as OUTAGES
from benchmarks.outages import UNEXPLAINED
from election_replay.election_core.model.rows import Finding, Row
from election_replay.jobs.showing.markdown import prose
from proof.audit.checks import CHECKS, FALSE, MISLEADING, MISSING, Breach, audited
from proof.audit.records import Records
from tests.archives import unpack_all

ROOT = Path(__file__).parents[2]
PAGE, ARCHIVES = ROOT / "docs" / "accuracy.md", ROOT / "tests" / "corpora"
HEADING = "## Findings held against clients, an observer and deeds"

INTRODUCTION = f"""{HEADING}

Made by `python -m proof.audit --write` (`make audit`), over all bundled real runs. Every finding is compared with three
records that were kept outside of the cluster:

- clients wrote down what was acknowledged, and what was still there at the end;
- an observer asked each member whether it led;
- the test harness wrote down what it did to whom, and how far each clock was off.

The checks:

- **bounds**: no time without a leader is told for longer than nothing was acknowledged (and a second), nor for much
  shorter (five seconds: clients need some to hear of a new leader).
- **gaps**: each time of three seconds and more in which nothing was acknowledged, though somebody tried, has a finding.
- **losses**: each acknowledged write that no member had at the end has a finding, of the bytes in which it was.
- **fates**: what had become of a former leader is what was done to it.
- **clocks**: each step of a clock of five seconds and more is told, and by how much it was off.
- **leaders**: a member that told the observer that it led, leads by the verdict.

A finding is *false* where its claim cannot be true, *misleading* where a detail is not; what is *missing* no finding
says. What others wrote down decides nothing about the rest of the findings: they count as right.
"""


def table(rows: Iterable[Row], breaches: Sequence[Breach]) -> Iterator[str]:
    """How many findings of each rule are right, misleading and false, and what is missing by each check."""
    found = Counter(row.rule for row in rows if isinstance(row, Finding))
    wrong = {kind: Counter[str]() for kind in (MISLEADING, FALSE)}
    for kind, of_kind in wrong.items():
        of_kind.update(rule for rule, _, _ in {(one.rule, one.run, one.at) for one in breaches if one.kind == kind})
    yield "| rule | findings | right | misleading | false |"
    yield "|---|---|---|---|---|"
    for rule, count in sorted(found.items()):
        misleading, false = wrong[MISLEADING][rule], wrong[FALSE][rule]
        yield f"| `{rule}` | {count} | {count - misleading - false} | {misleading} | {false} |"
    yield ""
    yield "| check | false | misleading | missing |"
    yield "|---|---|---|---|"
    for check in CHECKS:
        kinds = Counter(one.kind for one in breaches if one.check == check)
        yield f"| {check} | {kinds[FALSE]} | {kinds[MISLEADING]} | {kinds[MISSING]} |"


def listed(breaches: Iterable[Breach]) -> Iterator[str]:
    """Each breach, those alike of one run once, with its reason where one is known."""
    ordered = sorted(breaches, key=attrgetter("check", "run", "at"))
    for (check, run, kind, rule), alike in groupby(ordered, key=attrgetter("check", "run", "kind", "rule")):
        of_run = list(alike)
        for first in of_run[:1] if check == "losses" else of_run:
            begin = datetime.fromtimestamp(first.at, UTC).strftime("%H:%M:%S")
            more = f" (and {len(of_run) - 1} more)" if check == "losses" and len(of_run) > 1 else ""
            reason = UNEXPLAINED.get((run, begin), "")
            named = f"`{rule}`: " if rule != "-" else ""
            words = f"{kind}, {check}, `{run}` {begin}: {named}{first.words}{more}{reason and ' - ' + reason}."
            yield from prose(words, mark="- ")


def audited_runs(corpora: Path, only: str = "*/*") -> tuple[list[Row], list[Breach]]:
    """All rows of all runs, and everything that is wrong or missing."""
    rows, breaches = list[Row](), list[Breach]()
    for about in sorted(corpora.glob(f"{only}/run.json")):
        of_run = judged(about.parent)
        rows += of_run
        breaches += audited(Records(about.parent), of_run)
    return rows, breaches


def section(rows: Sequence[Row], breaches: Sequence[Breach]) -> str:
    """The section of the page."""
    return "\n".join([INTRODUCTION, *table(rows, breaches), "", *listed(breaches)]).rstrip() + "\n"


def with_section(page: str, text: str) -> str:
    """The page with the section in its place: before the outages that writers saw."""
    before, _, rest = page.partition(HEADING)
    outages = f"{OUTAGES}{(rest or page).partition(OUTAGES)[2]}" if OUTAGES in page else ""
    return f"{before.partition(OUTAGES)[0].rstrip()}\n\n{text}\n{outages}".rstrip() + "\n"


def main() -> int:
    """Print what came out, or write it; fails where a finding is false."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path, nargs="?", help="a folder of systems, each with its runs")
    parser.add_argument("--only", default="*/*", help="runs that fit this pattern")
    parser.add_argument("--write", action="store_true", help="rewrite the section of docs/accuracy.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.corpora is None:
            unpack_all(ARCHIVES, Path(folder))
        rows, breaches = audited_runs(given.corpora or Path(folder), given.only)
    text = section(rows, breaches)
    if given.write:
        PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    sys.stdout.write(text)
    return 1 if any(one.kind == FALSE for one in breaches) else 0


if __name__ == "__main__":
    raise SystemExit(main())
