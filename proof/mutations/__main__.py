"""Changes of the code that tests should notice, tried one at a time.

python -m proof.mutations                        # a sample of each room; goes on where it stopped
python -m proof.mutations --only clock           # one room
python -m proof.mutations --again                # what survived the stories, before all tests
python -m proof.mutations --write                # docs/mutations.md, of what was tried

A change is caught where a test fails or takes far too long. Only what stands in functions is changed: a session of
pytest that has collected everything is forked for each change, and the functions of the fork get other code. What was
tried is kept in build/mutations.jsonl.
"""

import argparse
import gc
import json
import os
import signal
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import import_module
from inspect import CO_OPTIMIZED
from itertools import islice
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NoReturn

from election_replay.jobs.showing.markdown import prose
from proof.guarantees.__main__ import tell
from proof.guarantees.checkout import copy_into, is_caught
from proof.mutations.changes import Change, changes, parses

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "mutations.md"
TRIED = ROOT / "build" / "mutations.jsonl"
SEED = 23
STORIES = "tests/election_core/test_scenarios.py::test_verdict_is_the_one_in_the_file"
CHECK = tuple(
    f"tests/election_core/{name}"
    for name in ("test_scenarios.py", "judge", "fold", "model", "protocols", "replay", "simulate")
)
"""The tests of `make check` that judge anything."""

LAST_STAGE = 2
"""All that is not of the room and no story."""

LIMIT_S = 900
"""How long the tests may take for one change; without a change they take a small part of it."""

CAUGHT, TOO_LONG, SURVIVED, EQUIVALENT = "caught", "too long", "survived", "equivalent"

OUTCOMES = {0: SURVIVED, 1: CAUGHT, -signal.SIGALRM: TOO_LONG}
"""What a fork ends with."""

INTRODUCTION = """Made by `python -m proof.mutations --write`. A sample of small changes of the code (a comparison, a
condition, a number, a call or a sum is another; seed {seed}), one at a time, and whether the tests of `make check`
notice; the gates, which are jobs, have tests of their own in `make test`. A change that nothing notices is shown below,
with the reason if it changes nothing that anybody could see. What `survived` was not noticed by the tests of its room
and by the stories; `--again` asks all others. Tests were written for what survived at first (of the clock's changes 12
of 24, and of other 24 another 7), so a new sample will show less than this one."""


Key = tuple[str, str, int, str]


@dataclass(frozen=True, slots=True)
class Room:
    """Files of one purpose, and the tests that are asked first."""

    name: str
    files: tuple[str, ...]
    sample: int
    tests: tuple[str, ...]
    but: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    alone: bool = False

    def sampled(self) -> list[Change]:
        """The changes that are tried: those of the first digests, so that other code leaves most of them alone."""
        paths = sorted({path for pattern in self.files for path in ROOT.glob(pattern)})
        names = [name for path in paths if (name := str(path.relative_to(ROOT))) not in self.but]
        found = [change for name in names for change in changes(name, (ROOT / name).read_text())]
        chosen = (change for change in sorted(found, key=digest) if parses(change.applied(source(change.file))))
        return list(islice(chosen, self.sample))

    def collected(self) -> tuple[str, ...]:
        """The tests that a fork runs."""
        return self.tests if self.alone else (*self.tests, *CHECK)

    def stage(self, test: str) -> int:
        """Which tests come first: those of the room, then the stories, then what is left of `make check`."""
        if test.startswith(self.tests):
            return 0
        return 1 if test.startswith(STORIES) else LAST_STAGE


def digest(change: Change) -> str:
    """A text as good as any to choose by."""
    return sha256(repr((SEED, *key(change))).encode()).hexdigest()


def rooms() -> list[Room]:
    """All rooms, in the order of the list."""
    return [
        Room(
            name=entry["name"],
            files=tuple(entry["files"]),
            sample=entry["sample"],
            tests=tuple(entry["tests"]),
            but=tuple(entry.get("but", ())),
            last=tuple(entry.get("last", ())),
            alone=entry.get("alone", False),
        )
        for entry in tomllib.loads((HERE / "rooms.toml").read_text())["room"]
    ]


def session(room: Room, wanted: list[Change], *, all_of_it: bool) -> None:
    """Try changes in forks of one session of pytest, which has imported and collected everything once."""
    import pytest

    arguments = ["-q", "-x", "-p", "no:cacheprovider", "--capture=no", "-m", "not slow", *room.collected()]
    pytest.main(arguments, plugins=[Forks(room, wanted, all_of_it=all_of_it)])


class Forks:
    """Runs the collected tests once for each change, in a fork that has it."""

    def __init__(self, room: Room, wanted: list[Change], *, all_of_it: bool) -> None:
        self._room, self._wanted, self._all = room, wanted, all_of_it

    def pytest_runtestloop(self, session: Any) -> bool:
        """In place of the tests: the tests as often as there are changes, the likely ones first."""
        items = sorted(session.items, key=lambda item: self._room.stage(item.nodeid))
        if not self._all:
            items = [item for item in items if self._room.stage(item.nodeid) < LAST_STAGE]
        if self._forked(session, items, None) != SURVIVED:
            raise SystemExit(f"{self._room.name}: a test fails without any change")
        for change in self._wanted:
            result = self._forked(session, items, change)
            if result == SURVIVED and self._room.last and self._all:
                result = outside(self._room.last, change)
            remember(change, result)
            tell(f"{self._room.name}: {result}: {change}")
        return True

    def _forked(self, session: Any, items: list[Any], change: Change | None) -> str:
        """What the tests make of a change, or of none."""
        sys.stdout.flush()
        if not (child := os.fork()):
            self._child(session, items, change)
        _, status = os.waitpid(child, 0)
        if (ended := os.waitstatus_to_exitcode(status)) not in OUTCOMES:
            raise SystemExit(f"the fork of {change} ended with {ended}")
        return OUTCOMES[ended]

    def _child(self, session: Any, items: list[Any], change: Change | None) -> NoReturn:
        signal.alarm(LIMIT_S)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        ended = 3
        try:
            if change is not None:
                put_in(change)
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.testsfailed:
                    break
            ended = int(bool(session.testsfailed))
        finally:
            os._exit(ended)


def put_in(change: Change) -> None:
    """Give the functions of a file the code that they would have with a change.

    The tests' ``conftest.py`` freezes what is collected, and what is frozen the garbage collector does not list.
    """
    path, text = str(ROOT / change.file), source(change.file)
    import_module(f"election_replay.{change.file.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}")
    gc.unfreeze()
    changed = dict(codes(compile(text, path, "exec"), compile(change.applied(text), path, "exec")))
    functions = [found for found in gc.get_objects() if isinstance(found, FunctionType) and found.__code__ in changed]
    if not functions:
        raise LookupError(f"nobody has the code of {change}")
    for function in functions:
        function.__code__ = changed[function.__code__]


def codes(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The functions of a module, before and after, that differ; what stands inside of a function comes with it."""
    inner = [
        (one, other)
        for one, other in zip(
            *([part for part in code.co_consts if isinstance(part, CodeType)] for code in (before, after)), strict=True
        )
    ]
    for one, other in inner:
        if is_class(one):
            yield from codes(one, other)
        elif one != other:
            yield one, other


def is_class(code: CodeType) -> bool:
    """Whether a code object is the body of a class."""
    return not code.co_flags & CO_OPTIMIZED


def outside(tests: Iterable[str], change: Change) -> str:
    """What tests that no fork can run, because they start processes of their own, make of a change in a copy."""
    with tempfile.TemporaryDirectory() as folder:
        copy_into(Path(folder))
        file = Path(folder) / change.file
        file.write_text(change.applied(file.read_text()))
        return CAUGHT if is_caught(Path(folder), tests) else SURVIVED


def remembered() -> dict[Key, str]:
    """What was tried before."""
    if not TRIED.exists():
        return {}
    entries = [json.loads(line) for line in TRIED.read_text().splitlines()]
    return {tuple(entry["change"]): entry["outcome"] for entry in entries}


def remember(change: Change, result: str) -> None:
    """Keep what a change came to."""
    TRIED.parent.mkdir(exist_ok=True)
    with TRIED.open("a") as file:
        file.write(json.dumps({"change": key(change), "outcome": result}) + "\n")


def equivalents() -> dict[Key, str]:
    """The reasons of changes that change nothing that anybody could see."""
    entries = tomllib.loads((HERE / "equivalent.toml").read_text()).get("equivalent", [])
    return {
        (entry["file"], entry["line"], entry["at"], entry["after"]): " ".join(entry["why"].split()) for entry in entries
    }


def key(change: Change) -> Key:
    """How a change is known wherever its line may move: its file, the line, where in the line, and what comes there."""
    text = source(change.file)
    begin, end = text.rfind("\n", 0, change.begin) + 1, text.find("\n", change.begin)
    line = text[begin:end]
    return change.file, line.strip(), change.begin - begin - (len(line) - len(line.lstrip())), change.after


@cache
def source(file: str) -> str:
    """The text of a file."""
    return (ROOT / file).read_text()


def table(results: Mapping[Room, Mapping[Change, str]], reasons: Mapping[Key, str]) -> list[str]:
    """The score of each room."""
    lines = ["| room | tried | caught | too long | no difference | survived | caught of those that differ |"]
    lines.append("|---|---|---|---|---|---|---|")
    for room, of_room in results.items():
        counts = Counter(
            EQUIVALENT if result == SURVIVED and key(change) in reasons else result
            for change, result in of_room.items()
        )
        differ = sum(counts.values()) - counts[EQUIVALENT]
        share = f"{100 * (counts[CAUGHT] + counts[TOO_LONG]) / differ:.0f} %" if differ else "-"
        cells = (counts[name] for name in (CAUGHT, TOO_LONG, EQUIVALENT, SURVIVED))
        lines.append(f"| {room.name} | {sum(counts.values())} | {' | '.join(map(str, cells))} | {share} |")
    return lines


def page(results: Mapping[Room, Mapping[Change, str]]) -> str:
    """docs/mutations.md."""
    reasons = equivalents()
    lines = ["# Changes that tests notice", "", *prose(INTRODUCTION.replace("\n", " ").format(seed=SEED)), ""]
    lines += table(results, reasons)
    for room, of_room in results.items():
        survivors = sorted(change for change, result in of_room.items() if result == SURVIVED)
        if survivors:
            lines += ["", f"## {room.name[:1].upper()}{room.name[1:]}", ""]
        for change in survivors:
            why = reasons.get(key(change), "**survived**")
            shown = " ".join(str(change).split())
            lines += prose(f"{shown}: {why}", "- ")
    return "\n".join([*lines, ""])


def main() -> None:
    """Try what was not tried, or write the page."""
    parser = argparse.ArgumentParser(prog="python -m proof.mutations", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", metavar="ROOM", choices=[room.name for room in rooms()])
    parser.add_argument(
        "--again", action="store_true", help="try what survived the stories before all tests of `make check`"
    )
    parser.add_argument("--write", action="store_true", help="write docs/mutations.md and try nothing")
    asked = parser.parse_args()
    before, reasons = remembered(), equivalents()
    if asked.write:
        sampled = {room: room.sampled() for room in rooms()}
        PAGE.write_text(
            page({room: {one: before[key(one)] for one in of if key(one) in before} for room, of in sampled.items()})
        )
        return
    for room in (room for room in rooms() if asked.only in (None, room.name)):
        again = {known for known, result in before.items() if result == SURVIVED and known not in reasons}
        known = {change: key(change) for change in room.sampled()}
        wanted = [one for one, its in known.items() if (its in again if asked.again else its not in before)]
        if wanted and not (child := os.fork()):
            session(room, wanted, all_of_it=asked.again)
            os._exit(0)
        elif wanted:
            os.waitpid(child, 0)


if __name__ == "__main__":
    main()
