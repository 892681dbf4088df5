"""Each guarantee, shown by its tests, and broken on purpose by changes of the code that its tests catch.

python -m proof.guarantees                       # all of it, with progress
python -m proof.guarantees --only Incremental    # one guarantee
python -m proof.guarantees --write               # the same as docs/guarantees.md; with --only, its section of it

Every test runs once, however many guarantees it shows; three pieces of the work run at a time. A change is tried in a
copy of this checkout. It is caught where the test that is named beside it fails there; a change that nothing catches,
like a guarantee whose tests fail or count nothing, ends with exit code 1.
"""

import argparse
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

from election_replay.jobs.showing.markdown import prose
from proof.guarantees.checkout import ROOT, copy_into, is_caught, pytest_run, run
from proof.guarantees.promised import Guarantee, Mutation, guarantees, sessions

PAGE = ROOT / "docs" / "guarantees.md"
LOGS = ROOT / "build" / "prove"
AT_ONCE = 3
"""How many pieces run at a time. What Spark and the tests wait for leaves two cores half idle with two."""

INTRODUCTION = """# Guarantees, and what shows them

Made by `make prove`. Each guarantee is shown by tests, and its tests can fail: the changes of the code below break it
on purpose, each in a copy of the checkout, and a test catches each of them. Seconds are those of the tests, of which
two run at a time on two cores; a test that shows two guarantees runs once.
"""


@dataclass(frozen=True, slots=True)
class Case:
    """What one test came to, what it counted, and how long it took in seconds."""

    name: str
    outcome: str
    figures: Counter[str]
    seconds: float


@dataclass(frozen=True, slots=True)
class Piece:
    """What came of a session of tests, of a change of the code, or of a module."""

    well: bool
    said: str
    tests: tuple[Case, ...] = ()


def session(room: str, tests: list[str]) -> Piece:
    """Run tests that share a room."""
    report, log = (LOGS / f"{room.replace('/', '-')}{suffix}" for suffix in (".xml", ".log"))
    with log.open("wb") as output:
        code = pytest_run(ROOT, tests, output, f"--junitxml={report}")
    found = tuple(cases_of(ElementTree.parse(report)))  # noqa: S314 - pytest wrote it just now
    counts = Counter(test.outcome for test in found)
    said = f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"
    return Piece(code == 0, said if code == 0 else f"{said}: {log}", found)


def cases_of(report: "ElementTree.ElementTree[ElementTree.Element]") -> Iterator[Case]:
    """The tests in a report of pytest."""
    for case in report.iter("testcase"):
        told = {part.tag for part in case}
        outcome = "failed" if told & {"failure", "error"} else "skipped" if "skipped" in told else "passed"
        figures: Counter[str] = Counter()
        for recorded in case.iter("property"):
            if (value := recorded.get("value", "")).isdigit():  # Hypothesis records texts of its own
                figures[recorded.get("name", "")] += int(value)
        file = case.get("classname", "").replace(".", "/") + ".py"
        name = case.get("name", "").partition("[")[0]
        yield Case(f"{file}::{name}", outcome, figures, float(case.get("time", 0)))


def broken(mutation: Mutation) -> Piece:
    """Try a change in a copy of the checkout."""
    with tempfile.TemporaryDirectory() as folder:
        copy_into(Path(folder))
        mutation.apply(Path(folder))
        caught = is_caught(Path(folder), [mutation.caught_by])
    return Piece(caught, "caught" if caught else "NOT CAUGHT")


def module(name: str) -> Piece:
    """Run a module; what it says last is what it came to."""
    log = LOGS / f"{name}.log"
    with log.open("wb") as output:
        code = run(ROOT, ["-m", *name.split()], output)
    said = (log.read_text().splitlines() or [""])[-1]
    return Piece(code == 0, said if code == 0 else f"failed: {log}")


def work(chosen: Iterable[Guarantee], *, break_only: bool) -> dict[str, Callable[[], Piece]]:
    """All pieces of the work by their names, in the order in which they begin: what takes longest comes first."""
    chosen = list(chosen)
    pieces: dict[str, Callable[[], Piece]] = {}
    if not break_only:
        pieces |= {room: partial(session, room, tests) for room, tests in sessions(chosen).items()}
        pieces |= {name: partial(module, name) for one in chosen for name in one.commands}
    return pieces | {one.breaks: partial(broken, one) for guarantee in chosen for one in guarantee.mutations}


def done(pieces: dict[str, Callable[[], Piece]]) -> dict[str, Piece]:
    """Do the work and say how far it is."""
    began = time.monotonic()
    LOGS.mkdir(parents=True, exist_ok=True)
    results: dict[str, Piece] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        begun: dict[Future[Piece], str] = {pool.submit(piece): name for name, piece in pieces.items()}
        for future in as_completed(begun):
            name, piece = begun[future], future.result()
            results[name] = piece
            minutes, seconds = divmod(int(time.monotonic() - began), 60)
            tell(f"{minutes:3}:{seconds:02} {len(results)} of {len(pieces)}: {name.removesuffix('.')}: {piece.said}")
    return results


def section(guarantee: Guarantee, results: dict[str, Piece]) -> str:
    """A guarantee's part of the page."""
    tests = cases_for(guarantee, results)
    figures = ", ".join(f"{count:,} {name}" for name, count in sorted(counted(tests).items()))
    counts = Counter(test.outcome for test in tests)
    seconds = sum(test.seconds for test in tests)
    passed = f"{counts['passed']:,} passed, {counts['failed']} failed, {counts['skipped']} skipped in {seconds:.0f} s"
    lines = [
        f"## {guarantee.name}",
        "",
        *prose(guarantee.says),
        "",
        *prose(f"Shown by: {figures}; {passed}."),
        "",
        "    pytest " + " \\\n        ".join(guarantee.tests),
        "",
    ]
    for command in guarantee.commands:
        lines += [*prose(f"Beside the tests: {results[command].said}."), "", f"    python -m {command}", ""]
    lines += ["Broken on purpose:", ""]
    for one in guarantee.mutations:
        was = "**caught**" if results[one.breaks].well else "NOT CAUGHT"
        lines += prose(f"{one.breaks} `{one.file}`: {was} by `{one.caught_by}`.", "- ")
    return "\n".join([*lines, ""])


def cases_for(guarantee: Guarantee, results: dict[str, Piece]) -> list[Case]:
    """The tests that show a guarantee, of all that ran."""
    return [test for piece in results.values() for test in piece.tests if guarantee.has(test.name)]


def counted(tests: Iterable[Case]) -> Counter[str]:
    """What tests counted; figures of one name are added up."""
    return sum((test.figures for test in tests), Counter())


def write(guarantee: Guarantee, text: str) -> None:
    """Put a guarantee's section into the page, in place of its former one; the sections have the order of the list."""
    former = re.split(r"^(?=## )", PAGE.read_text(), flags=re.MULTILINE)[1:] if PAGE.exists() else []
    by_name = {part.partition("\n")[0].removeprefix("## "): part for part in former} | {guarantee.name: text}
    sections = [by_name[entry.name].rstrip() + "\n" for entry in guarantees() if entry.name in by_name]
    PAGE.write_text("\n".join([INTRODUCTION, *sections]))


def tell(line: str) -> None:
    """Print how far the proof is."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Show and break the guarantees."""
    parser = argparse.ArgumentParser(prog="python -m proof.guarantees", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--only", metavar="NAME", choices=[entry.name for entry in guarantees()], help="one, by its name"
    )
    parser.add_argument("--write", action="store_true", help="write docs/guarantees.md")
    parser.add_argument("--mutations", action="store_true", help="only break them; run no other tests")
    options = parser.parse_args(arguments)
    if options.write and options.mutations:
        parser.error("--write needs the tests too")
    chosen = [guarantee for guarantee in guarantees() if options.only in (None, guarantee.name)]
    began = time.monotonic()
    results = done(work(chosen, break_only=options.mutations))
    well = all(piece.well for piece in results.values())
    for guarantee in chosen if not options.mutations else ():
        if not counted(cases_for(guarantee, results)):
            tell(f"{guarantee.name}: its tests count nothing")
            well = False
        if options.write:
            write(guarantee, section(guarantee, results))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    tell(f"{(time.monotonic() - began) / 60:.0f} minutes; {(used.ru_utime + used.ru_stime) / 60:.0f} of processors")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
