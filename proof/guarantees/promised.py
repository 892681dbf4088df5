"""The guarantees as they are listed: what shows each of them, and what breaks it on purpose."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath

LIST = Path(__file__).with_name("guarantees.toml")
ROOM = 3
"""Tests whose paths have so many parts in common run in one session: they share what is dear to make."""


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
    """A promise, the tests and modules that show it, and what breaks it."""

    name: str
    says: str
    tests: tuple[str, ...]
    mutations: tuple[Mutation, ...]
    commands: tuple[str, ...] = ()

    def has(self, test: str) -> bool:
        """Whether a test, as ``file::name``, is one of those that show it."""
        file, _, _ = test.partition("::")
        return any(test == one or file == one or file.startswith(f"{one}/") for one in self.tests)


def guarantees() -> list[Guarantee]:
    """All guarantees, in the order of the list."""
    return [
        Guarantee(
            entry["name"],
            " ".join(entry["says"].split()),
            tuple(entry["tests"]),
            tuple(Mutation(**mutation) for mutation in entry["mutation"]),
            tuple(entry.get("commands", ())),
        )
        for entry in tomllib.loads(LIST.read_text())["guarantee"]
    ]


def sessions(chosen: Iterable[Guarantee]) -> dict[str, list[str]]:
    """The tests of some guarantees, each once, by the room that they share; those that take longest come first."""
    tests = {test for guarantee in chosen for test in guarantee.tests}
    whole = {test for test in tests if test.partition("::")[0] not in tests - {test}}
    rooms: dict[str, list[str]] = {}
    for test in sorted(whole):
        parts = PurePath(test.partition("::")[0]).parts
        rooms.setdefault("/".join(parts[: min(ROOM, len(parts) - 1)]), []).append(test)
    first: list[str] = tomllib.loads(LIST.read_text())["first"]
    order = {room: place for place, room in enumerate(first)}
    return {room: rooms[room] for room in sorted(rooms, key=lambda room: (order.get(room, len(order)), room))}
