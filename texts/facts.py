"""The facts of ``texts/facts/``: which statement stands in which releases. One file a system, one source file a line.

A line holds the archive (``of``), the source ``file``, and its ``statements``: level, class (a receiver in Go; empty
for the class that the file is named after), releases as ranges of the archive's releases, text with ``{}`` for each
value (literal braces are doubled), and for what a structured logger prints the keys and types beside the message.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from texts.releases import COMPONENTS, Component

FACTS = Path(__file__).parent / "facts"
SYSTEMS = tuple(dict.fromkeys(one.system for one in COMPONENTS))


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement and the releases that have it, oldest first.

    ``place`` is the class without its package, inner ones behind dots. ``fields`` are ``key:Type`` of what a structured
    logger prints beside the message; ``None`` where the message is all.
    """

    component: Component
    file: str
    place: str
    text: str
    level: str
    fields: tuple[str, ...] | None
    releases: tuple[str, ...]

    @property
    def system(self) -> str:
        """The dialect that should know it."""
        return self.component.system


def extracted() -> Iterator[Fact]:
    """All facts, from the archives in the cache."""
    from texts import calls, golang, java  # their parsers are installed for `make texts` alone
    from texts.fetch import sources

    parse = {"java": java.statements, "go": golang.statements, **calls.PARSERS}
    for component in COMPONENTS:
        found: dict[tuple[str, str, str, str, bool], list[str]] = {}
        fields: dict[tuple[str, str, str, str, bool], tuple[str, ...] | None] = {}
        known: dict[bytes, list[Any]] = {}
        for release in component.releases:
            for file, source in sources(component, release):
                if source not in known:
                    known[source] = parse[component.language](source)
                for one in known[source]:
                    key = (file, one.place, one.text, one.level, one.fields is not None)
                    releases = found.setdefault(key, [])
                    if not releases or releases[-1] != release:
                        releases.append(release)
                    fields[key] = one.fields
        for key in sorted(found):
            file, place, text, level, _ = key
            yield Fact(component, file, place, text, level, fields[key], tuple(found[key]))


def write(facts: Sequence[Fact]) -> None:
    """Write the facts of every system."""
    FACTS.mkdir(exist_ok=True)
    for system in SYSTEMS:
        own = [one for one in facts if one.system == system]
        lines = []
        for (of, file), of_file in groupby(own, lambda one: (one.component.name, one.file)):
            said = {"of": of, "file": file, "statements": [_said(one) for one in of_file]}
            lines.append(json.dumps(said, ensure_ascii=False, separators=(",", ":")) + "\n")
        (FACTS / f"{system}.jsonl").write_text("".join(lines), encoding="utf-8")


def read(system: str) -> list[Fact]:
    """The committed facts of a system."""
    components = {one.name: one for one in COMPONENTS if one.system == system}
    facts = []
    for line in (FACTS / f"{system}.jsonl").read_text(encoding="utf-8").splitlines():
        said = json.loads(line)
        component = components[said["of"]]
        for level, place, releases, text, *fields in said["statements"]:
            beside = tuple(fields[0]) if fields else None
            cls = place or own_class(said["file"])
            facts.append(Fact(component, said["file"], cls, text, level, beside, _releases(component, releases)))
    return facts


def own_class(file: str) -> str:
    """The class that a Java file is named after."""
    return file.rpartition("/")[2].removesuffix(".java") if file.endswith(".java") else ""


def _said(fact: Fact) -> list[Any]:
    place = "" if fact.place == own_class(fact.file) else fact.place
    said: list[Any] = [fact.level, place, ranges(fact.component, fact.releases), fact.text]
    return said if fact.fields is None else [*said, fact.fields]


def ranges(component: Component, releases: Sequence[str]) -> str:
    """``4.5.0..4.9.7 5.1.0``: runs of the component's releases."""
    runs: list[list[str]] = [[]]
    for release in component.releases:
        if release in releases:
            runs[-1].append(release)
        elif runs[-1]:
            runs.append([])
    return " ".join(run[0] if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs if run)


def _releases(component: Component, said: str) -> tuple[str, ...]:
    every, found = component.releases, list[str]()
    for run in said.split():
        first, _, last = run.partition("..")
        found.extend(every[every.index(first) : every.index(last or first) + 1])
    return tuple(found)
