"""The second judge over real runs and simulated worlds, and every difference from the core's verdict with its reason.

python -m proof.second_judge             # the bundled real runs and every simulated scenario
python -m proof.second_judge CORPORA     # real runs below CORPORA instead
python -m proof.second_judge --write     # the same as docs/second-judge.md

The queries beside this file were written from the papers and from the systems' sources. They import nothing of the core
and share only the events with it. They know no clocks, no settings and no gaps: where the core says more or less than
they do, ``differences.toml`` gives the reason. A difference without a reason, or a reason without a difference, fails.
"""

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from benchmarks.in_process import events_of, verdicts
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.simulate.catalogue import SCENARIOS
from election_replay.election_core.simulate.landing import files
from election_replay.election_core.simulate.scenario import played
from tests.archives import unpack_all

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "second-judge.md"
ARCHIVES = ROOT / "tests" / "corpora"
SEED = 1

RULES = (
    "SPLIT_BRAIN_SAME_TERM",
    "SPLIT_BRAIN_OVERLAP",
    "DOUBLE_VOTE",
    "TERM_REGRESSION",
    "EPOCH_REGRESSION",
    "COMMITTED_ENTRY_LOST",
    "LOCK_DOUBLE_HOLD",
)
"""What the queries judge."""


INTRODUCTION = """# A second judge

Made by `python -m proof.second_judge --write`. Six queries ([proof/second_judge/](../proof/second_judge/)),
written from the papers and from the systems' sources, judge the same events as the election core and import nothing of
it. They take clocks as printed and know neither settings nor what lines can be missing. Every difference between them
and the core was looked at in the logs, but for those of which the table says otherwise.
"""


@dataclass(frozen=True, slots=True, order=True)
class Verdict:
    """A rule that was broken in a run or world, as one of the two judges says."""

    run: str
    rule: str

    def __str__(self) -> str:
        return f"{self.run} {self.rule}"


@dataclass(frozen=True, slots=True)
class Difference:
    """What only one of the judges says, and why."""

    verdict: Verdict
    by_core: bool
    reason: str | None


def by_sql(events: pa.Table, run: str) -> set[Verdict]:
    """What the queries say of a run's events."""
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        database.register("landed", events)
        database.execute("CREATE TABLE events AS SELECT * REPLACE (? AS cluster) FROM landed", [run])
        rows = [row for query in sorted(HERE.glob("*.sql")) for row in database.execute(query.read_text()).fetchall()]
    return {Verdict(run, rule) for _, rule, _, _ in rows}


def by_core(events: pa.Table, run: str) -> set[Verdict]:
    """What the core says of the same events, whatever the severity; what it calls possible is no claim."""
    return {
        Verdict(run, row.rule)
        for row in verdicts(events)
        if isinstance(row, Finding) and row.rule in RULES and row.certainty != "possible"
    }


def runs(corpora: Path, empty: Path) -> Iterator[tuple[str, Path]]:
    """Names and folders of the real runs below ``corpora`` and of every scenario's world, written below ``empty``."""
    for described in sorted(corpora.glob("*/*/run.json")):
        yield f"{described.parents[1].name}/{described.parent.name}", described.parent
    for name, scenario in sorted(SCENARIOS.items()):
        for path, content in files(played(scenario, SEED)):
            file = empty / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        yield f"world/{name}", empty / name


def differences(
    sql: set[Verdict], core: set[Verdict], reasons: Mapping[str, Mapping[str, str]]
) -> Iterator[Difference]:
    """What one judge says and the other does not, each with the reason that somebody gave after looking at the logs."""
    for verdict in sorted(sql ^ core):
        yield Difference(verdict, verdict in core, reasons.get(verdict.run, {}).get(verdict.rule))


def stale(found: Iterable[Difference], reasons: Mapping[str, Mapping[str, str]]) -> list[Verdict]:
    """The reasons given for differences that are none."""
    differing = {difference.verdict for difference in found}
    return [
        Verdict(run, rule) for run, rules in reasons.items() for rule in rules if Verdict(run, rule) not in differing
    ]


def summary(judged_runs: int, agreed: int, differing: int) -> str:
    """What came of all of it."""
    return f"{judged_runs} runs and worlds: both judges say the same of {agreed} verdicts and differ in {differing}"


def page(said: str, found: list[Difference]) -> str:
    """docs/second-judge.md."""
    lines = [
        f"| {one.verdict.run} | {one.verdict.rule} | {'core' if one.by_core else 'queries'} | {one.reason} |"
        for one in found
    ]
    return "\n".join([INTRODUCTION, f"{said}.", "", "| run | rule | said by | why |", "|---|---|---|---|", *lines, ""])


def main() -> int:
    """Print or write the page; 1 where a difference has no reason, or a reason no difference."""
    parser = argparse.ArgumentParser(prog="python -m proof.second_judge", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "corpora", type=Path, nargs="?", help="a folder of systems, each with its runs; the bundled ones if not given"
    )
    parser.add_argument("--write", action="store_true", help="write docs/second-judge.md")
    asked = parser.parse_args()
    reasons = tomllib.loads((HERE / "differences.toml").read_text())
    sql: set[Verdict] = set()
    core: set[Verdict] = set()
    count = 0
    with tempfile.TemporaryDirectory() as bundled, tempfile.TemporaryDirectory() as empty:
        if asked.corpora is None:
            unpack_all(ARCHIVES, Path(bundled))
        for run, folder in runs(asked.corpora or Path(bundled), Path(empty)):
            events = events_of(folder)
            sql |= by_sql(events, run)
            core |= by_core(events, run)
            count += 1
            if count % 50 == 0:
                sys.stderr.write(f"{count} runs and worlds\n")
    found = list(differences(sql, core, reasons))
    said = summary(count, len(sql & core), len(found))
    if asked.write:
        PAGE.write_text(page(said, found))
    sys.stdout.write(f"{said}\n" if asked.write else page(said, found))
    wrong = [f"no reason is given: {one.verdict}" for one in found if one.reason is None]
    wrong += [f"a reason for a difference that is none: {verdict}" for verdict in stale(found, reasons)]
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
