"""Scenarios: scripts that are played in a world, and the acts that a script may use."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from election_replay.election_core.simulate.world import DOWN, MILLISECOND, UP, Play, Tenure, World

BEGAN_US = 1_772_330_400 * 1_000_000
"""Every world begins on 2026-03-01 at 02:00:00 UTC."""

Script = Generator[int, None, None]
"""A script in steps: each value is the ms until the next step."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A named script. ``broken``: it may break a safety rule, by a bug, an operator's error, or a fault beyond the
    protocol's promise.

    ``cast`` are the members; those ``joining`` are not members at first. ``prepare`` sets up clocks, network and logs.
    """

    name: str
    protocol: str
    meaning: str
    script: Callable[["Stage"], Script]
    play: Play
    cast: Mapping[str, Any]
    broken: bool = False
    prepare: Callable[[World], None] = lambda _: None
    joining: tuple[str, ...] = ()


def played(scenario: Scenario, seed: int) -> World:
    """Return the world of a scenario and a seed, played to its end."""
    rng = Random(f"{scenario.name}/{seed}")  # noqa: S311 - a world must repeat
    world = World(scenario.play, scenario.cast, rng, BEGAN_US)
    world.joining = set(scenario.joining)
    scenario.prepare(world)
    world.run(scenario.script(Stage(world)))
    return world


class Stage:
    """The acts of a script on its world; each one is recorded among the faults."""

    def __init__(self, world: World) -> None:
        self.world, self.rng = world, world.rng

    @property
    def names(self) -> list[str]:
        """All members that found the group."""
        return [name for name in self.world.names() if name not in self.world.joining]

    # -- time --------------------------------------------------------------------------------------------------

    def seconds(self, at_least: float, below: float | None = None) -> Script:
        """Wait for a number of seconds drawn from the range."""
        yield int((at_least if below is None else self.rng.uniform(at_least, below)) * 1000)

    def until_led(self) -> Generator[int, None, str | None]:
        """Wait until a member has led for two seconds; return its name, or None if none does."""
        for _ in range(900):
            leader = self.leader()
            tenure = self._tenure_of(leader) if leader else None
            if tenure is not None and self.world.now_us - tenure.begin_us >= 2000 * MILLISECOND:
                return leader
            yield 100
        return None

    def led_again(self, by_another_than: str) -> Generator[int, None, str | None]:
        """Wait until another member leads; return its name, or None if none does."""
        for _ in range(600):
            others = [name for name in self.world.leaders() if name != by_another_than]
            if others:
                return others[-1]
            yield 100
        return None

    def led_for(self, at_least: float, below: float) -> Generator[int, None, str | None]:
        """Start all, and wait until one has led for about that many seconds; return its name, or None if none does."""
        yield from self.start_all()
        leader = yield from self.until_led()
        yield from self.seconds(at_least, below)
        return leader

    def killed_for(self, name: str, at_least: float, below: float) -> Script:
        """Kill with ``kill -9``, and start again after about that many seconds."""
        self.kill(name)
        yield from self.seconds(at_least, below)
        self.start(name)

    def stopped_for(self, name: str, at_least: float, below: float) -> Script:
        """Stop cleanly, and start again after about that many seconds."""
        self.stop(name)
        yield from self.seconds(at_least, below)
        self.start(name)

    def frozen_for(self, name: str, at_least: float, below: float) -> Script:
        """Freeze a process for about that many seconds."""
        self.freeze(name)
        yield from self.seconds(at_least, below)
        self.thaw(name)

    def healed_after(self, at_least: float, below: float) -> Script:
        """Restore all links after about that many seconds."""
        yield from self.seconds(at_least, below)
        self.heal()

    def leader(self) -> str | None:
        """Return the member that leads the largest term now; None without a leader."""
        return next(reversed(self.world.leaders()), None)

    def followers(self) -> list[str]:
        """Return the members that are up and do not lead."""
        leader = self.leader()
        return [name for name in self.up() if name != leader]

    def up(self) -> list[str]:
        """Return the members whose process runs."""
        return [name for name, process in self.world.processes.items() if process.condition == UP]

    def down(self) -> list[str]:
        """Return the members whose process does not exist."""
        return [name for name, process in self.world.processes.items() if process.condition == DOWN]

    def _tenure_of(self, name: str) -> Tenure:
        return next(tenure for tenure in reversed(self.world.tenures) if tenure.node == name)

    # -- acts --------------------------------------------------------------------------------------------------

    def start_all(self, apart: float = 2.0) -> Script:
        """Start every process, each within ``apart`` seconds of the one before; traffic begins."""
        for name in self.names:
            self.start(name)
            yield self.rng.randrange(0, max(int(apart * 1000), 1))
        self._traffic()

    def _traffic(self) -> None:
        """Let a client write a few entries a second to every member that calls itself leader."""

        def write() -> None:
            for name in self.world.leaders():
                request = self.world.play.write(self.rng.randint(1, 5))
                if request is not None:
                    self.world.ask(name, request)
            self.world.at(self.world.now_us + 1000 * MILLISECOND, write)

        write()

    def start(self, name: str) -> None:
        """Start a process."""
        self.world.note("start", name)
        self.world.start(name)

    def kill(self, name: str) -> None:
        """``kill -9``."""
        self.world.note("kill", name)
        self.world.kill(name)

    def stop(self, name: str) -> None:
        """Stop a member cleanly."""
        self.world.note("stop", name)
        self.world.stop(name)

    def freeze(self, name: str) -> None:
        """``kill -STOP``."""
        self.world.note("freeze", name)
        self.world.freeze(name)

    def thaw(self, name: str) -> None:
        """``kill -CONT``."""
        self.world.note("thaw", name)
        self.world.thaw(name)

    def isolate(self, name: str) -> None:
        """Cut a member off from all other members, but not from its clients."""
        self.world.note("isolate", name)
        self.world.network.cut_between([name], [other for other in self.names if other != name])

    def cut(self, some: list[str], others: list[str]) -> None:
        """Cut all links between two sides."""
        self.world.note("cut", None, f"nothing passes between {' '.join(some)} and {' '.join(others)}")
        self.world.network.cut_between(some, others)

    def cut_one_way(self, sender: str, to: str) -> None:
        """Cut one direction between two members."""
        self.world.note("cut one way", sender, f"nothing gets to {to}")
        self.world.network.cuts.add((sender, to))

    def cut_all(self) -> None:
        """Cut every link."""
        self.world.note("cut all links")
        self.world.network.cut_all(self.names)

    def heal(self) -> None:
        """Restore all links."""
        self.world.note("heal")
        self.world.network.cuts.clear()

    def step_clock(self, name: str, by_ms: int) -> None:
        """Set a clock."""
        self.world.note("clock set", name, f"by {by_ms} ms")
        self.world.step_clock(name, by_ms)

    def copy_of_disk(self, name: str) -> dict[str, Any]:
        """Return a copy of a member's files, like a backup."""
        self.world.note("disk copied", name)
        return dict(self.world.processes[name].files)

    def put_back(self, name: str, files: Mapping[str, Any]) -> None:
        """Replace a member's disk by an old copy; its process must be down."""
        self.world.note("old copy put back", name)
        self.world.processes[name].files = dict(files)

    def lose(self, name: str, file: str) -> None:
        """Lose a file; the process must be down."""
        self.world.note("file lost", name, file)
        self.world.processes[name].files.pop(file, None)

    def ship_twice(self, name: str, folder: str) -> None:
        """Ship the log of a member in a second folder too."""
        self.world.note("log shipped twice", name, f"as {folder}")
        self.world.shipped[folder] = name

    def ask(self, name: str, request: Any, detail: str) -> None:
        """Let an operator give a member a request."""
        self.world.note("operator asks", name, detail)
        self.world.ask(name, request)
