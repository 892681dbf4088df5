"""Each guarantee, shown by its tests, and broken on purpose by changes of the code that its tests catch.

python -m proof.guarantees                       # all of it, with progress
python -m proof.guarantees --only Incremental    # one guarantee
python -m proof.guarantees --write               # the same as docs/guarantees.md; with --only, its section of it

A change is tried in a copy of this checkout. It is caught where the test that is named beside it fails there; a change
that nothing catches, like a guarantee whose tests fail, ends with exit code 1.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from election_replay.jobs.showing.markdown import prose

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("guarantees.toml")
PAGE = ROOT / "docs" / "guarantees.md"
COPIED = (
    *("pyproject.toml", "election_replay", "election_core", "schemas", "jobs", "conf"),
    *("tests", "benchmarks", "proof", "texts", "docs"),
)
"""What a copy of the checkout needs for its tests."""
TESTS_FAILED = 1
"""What pytest ends with when tests ran and some failed."""

INTRODUCTION = """# Guarantees, and what shows them

Made by `make prove`. Each guarantee is shown by tests, and its tests can fail: the changes of the code below break it
on purpose, each in a copy of the checkout, and a test catches each of them. Seconds are those of two cores.
"""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change of one file that breaks a guarantee, and the test that has to fail then."""

    breaks: str
    file: str
    before: str
    after: str
    caught_by: str

    def apply(self, root: Path) -> None:
        """Change the file below ``root``; :class:`ValueError` where the text to change does not stand exactly once."""
        file = root / self.file
        text = file.read_text()
        if (count := text.count(self.before)) != 1:
            raise ValueError(f"{self.file}: the text to change stands {count} times, not once: {self.before!r}")
        file.write_text(text.replace(self.before, self.after))


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A promise, the tests that show it, and what breaks it."""

    name: str
    says: str
    tests: tuple[str, ...]
    mutations: tuple[Mutation, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """What running some tests came to: how many there were, what they counted, and how long they took in seconds."""

    passed: int
    failed: int
    skipped: int
    figures: Counter[str]
    seconds: float


def guarantees() -> list[Guarantee]:
    """All guarantees, in the order of the list."""
    return [
        Guarantee(
            entry["name"],
            " ".join(entry["says"].split()),
            tuple(entry["tests"]),
            tuple(Mutation(**mutation) for mutation in entry["mutation"]),
        )
        for entry in tomllib.loads(LIST.read_text())["guarantee"]
    ]


def pytest_run(root: Path, tests: Iterable[str], report: Path | None, *, stop_at_first: bool) -> int:
    """The exit code of pytest over ``tests`` in the checkout ``root``, whose code comes before what is installed."""
    options = ["-q", "-p", "no:cacheprovider", *(["-x"] if stop_at_first else [])]
    options += [f"--junitxml={report}"] if report else []
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root), "PROVE": "1"},
        stdout=subprocess.DEVNULL if stop_at_first else None,
        check=False,
    )
    return ended.returncode


def show(guarantee: Guarantee) -> Shown:
    """Run the tests of a guarantee."""
    with tempfile.TemporaryDirectory() as folder:
        report, began = Path(folder) / "report.xml", time.monotonic()
        pytest_run(ROOT, guarantee.tests, report, stop_at_first=False)
        return summed_up(ElementTree.parse(report), time.monotonic() - began)  # noqa: S314 - pytest wrote it just now


def summed_up(report: "ElementTree.ElementTree[ElementTree.Element]", seconds: float) -> Shown:
    """The counts of a report of pytest; what tests recorded under one name is added up."""
    suites = list(report.iter("testsuite"))
    total, failed, skipped = (
        sum(int(suite.get(key, 0)) for suite in suites for key in keys)
        for keys in (("tests",), ("failures", "errors"), ("skipped",))
    )
    figures: Counter[str] = Counter()
    for recorded in report.iter("property"):
        if (value := recorded.get("value", "")).isdigit():  # Hypothesis records texts of its own
            figures[recorded.get("name", "")] += int(value)
    return Shown(total - failed - skipped, failed, skipped, figures, seconds)


def is_caught(mutation: Mutation) -> bool:
    """Whether the test beside a change fails in a copy of the checkout that has this change."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        copy.mkdir()
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, copy / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, copy / name)
        mutation.apply(copy)
        return pytest_run(copy, [mutation.caught_by], None, stop_at_first=True) == TESTS_FAILED


def section(guarantee: Guarantee, shown: Shown, caught: dict[Mutation, bool]) -> str:
    """A guarantee's part of the page."""
    figures = ", ".join(f"{count:,} {name}" for name, count in sorted(shown.figures.items()))
    counts = f"{shown.passed:,} passed, {shown.failed} failed, {shown.skipped} skipped in {shown.seconds:.0f} s"
    lines = [
        f"## {guarantee.name}",
        "",
        *prose(guarantee.says),
        "",
        "Shown by: " + (f"{figures}; " if figures else "") + f"{counts}.",
        "",
        "    pytest " + " \\\n        ".join(guarantee.tests),
        "",
        "Broken on purpose:",
        "",
        *(
            line
            for mutation, was_caught in caught.items()
            for line in prose(
                f"{mutation.breaks} `{mutation.file}`: {'**caught**' if was_caught else 'NOT CAUGHT'} by "
                f"`{mutation.caught_by}`.",
                "- ",
            )
        ),
        "",
    ]
    return "\n".join(lines)


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
    well = True
    for guarantee in guarantees():
        if options.only in (None, guarantee.name):
            tell(f"== {guarantee.name}: {guarantee.says}")
            shown = Shown(0, 0, 0, Counter(), 0) if options.mutations else show(guarantee)
            caught = {}
            for mutation in guarantee.mutations:
                caught[mutation] = is_caught(mutation)
                tell(f"{'caught' if caught[mutation] else 'NOT CAUGHT'}: {mutation.breaks}")
            well &= not shown.failed and (shown.passed > 0 or options.mutations) and all(caught.values())
            if options.write:
                write(guarantee, section(guarantee, shown, caught))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
