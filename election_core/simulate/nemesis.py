"""A seeded nemesis: several faults at once, as real clusters meet them, for any world whose members keep a disk.

    kill n1   [-------- down --------]
    pause n0         [--- frozen ---]
    cut n2                    [----- nothing gets through -----]
    clock n0                     |  set by +47 s

Two to fifteen faults begin within ten minutes. Each ends by itself after a drawn time, and all are independent: a
member may be cut off while it is frozen, or killed twice. The truth is computed from the members' states, as in every
world.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from election_replay.election_core.simulate.scenario import Scenario, Script, Stage
from election_replay.election_core.simulate.world import FROZEN, SECOND

LONG_S = 600
"""The time in s within which the faults of a world begin."""

STEP_MS = 500
"""The interval in ms at which the nemesis checks what is due."""


@dataclass(slots=True)
class Nemesis:
    """The faults of a world, and the acts that end them with their times."""

    stage: Stage
    names: list[str]
    copies: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    due: list[tuple[int, int, Callable[[], None]]] = field(default_factory=list)
    cuts: list[frozenset[tuple[str, str]]] = field(default_factory=list)

    def later(self, at_least: float, below: float, act: Callable[[], None]) -> None:
        """Schedule an act after a number of seconds drawn from the range."""
        at_us = self.stage.world.now_us + int(self.stage.rng.uniform(at_least, below) * SECOND)
        self.due.append((at_us, len(self.due), act))

    def happen(self) -> None:
        """Run the acts that are due."""
        ready = sorted(act[:2] for act in self.due if act[0] <= self.stage.world.now_us)
        acts = {act[:2]: act[2] for act in self.due}
        self.due = [act for act in self.due if act[0] > self.stage.world.now_us]
        for key in ready:
            acts[key]()

    # -- faults --------------------------------------------------------------------------------------------------

    def kill(self, name: str) -> None:
        """``kill -9``, and a start a while later."""
        if name in self.stage.up():
            self.stage.kill(name)
            self.later(2, 60, partial(self.start, name))

    def stop(self, name: str) -> None:
        """Stop a member cleanly, and start it a while later."""
        if name in self.stage.up():
            self.stage.stop(name)
            self.later(3, 60, partial(self.start, name))

    def start(self, name: str) -> None:
        """Start what is down."""
        if name in self.names and name in self.stage.down():
            self.stage.start(name)

    def pause(self, name: str, below: float = 60) -> None:
        """Freeze a process for a while."""
        if name in self.stage.up():
            self.stage.freeze(name)
            self.later(min(4, below / 2), below, partial(self.thaw, name))

    def slow_disk(self, name: str) -> None:
        """Freeze a process again and again for a few seconds, as while it waits for its disk."""
        for number in range(self.stage.rng.randint(2, 5)):
            self.later(number * 8, number * 8 + 6, partial(self.pause, name, 5))

    def thaw(self, name: str) -> None:
        """Let a frozen process go on."""
        if self.stage.world.processes[name].condition == FROZEN:
            self.stage.thaw(name)

    def cut(self, pairs: Iterable[tuple[str, str]], words: str) -> None:
        """Cut the network from the first to the second of each pair, for a while."""
        cut, network = frozenset(pairs), self.stage.world.network
        self.stage.world.note("cut", None, words)
        self.cuts.append(cut)
        network.cuts |= cut

        def heal() -> None:
            self.stage.world.note("heal", None, words)
            self.cuts.remove(cut)
            network.cuts = set().union(*self.cuts)

        self.later(4, 60, heal)

    def isolate(self, name: str) -> None:
        """Cut a member off from all others."""
        pairs = [(name, other) for other in self.names if other != name]
        self.cut((*pairs, *((other, this) for this, other in pairs)), f"{name} from all others")

    def split(self, name: str) -> None:
        """Split the network into two parts."""
        part = {name, *(other for other in self.names if self.stage.rng.random() < 1 / 3)}
        pairs = [(inside, other) for inside in part for other in self.names if other not in part]
        self.cut((*pairs, *((other, this) for this, other in pairs)), f"{', '.join(sorted(part))} from the others")

    def one_way(self, name: str) -> None:
        """Cut one direction between two members."""
        other = self.stage.rng.choice([other for other in self.names if other != name])
        self.cut([(name, other)], f"nothing gets from {name} to {other}")

    def deafen(self, name: str) -> None:
        """Let a member send but receive nothing."""
        self.cut([(other, name) for other in self.names if other != name], f"{name} hears nobody")

    def set_clock(self, name: str) -> None:
        """Set a clock."""
        self.stage.step_clock(name, self.stage.rng.choice((-1, 1)) * self.stage.rng.randrange(5_000, 90_000))

    def power_cut(self, _: str) -> None:
        """Kill all processes, and start each again 3 to 20 s later."""
        for name in self.names:
            if name not in self.stage.down():
                self.stage.kill(name)
            self.later(3, 20, partial(self.start, name))

    def wipe(self, name: str) -> None:
        """Restart a member with an empty disk."""
        self.come_back(name, {})

    def restore(self, name: str) -> None:
        """Restart a member with a copy of its disk from the beginning."""
        self.come_back(name, self.copies[name])

    def come_back(self, name: str, files: Mapping[str, Any]) -> None:
        """Kill a member, and start it with other files."""
        if name not in self.stage.up():
            return
        self.stage.kill(name)
        self.stage.put_back(name, files)
        self.later(2, 30, partial(self.start, name))


FAULTS: tuple[Callable[[Nemesis, str], None], ...] = (
    Nemesis.kill,
    Nemesis.stop,
    Nemesis.pause,
    Nemesis.slow_disk,
    Nemesis.isolate,
    Nemesis.split,
    Nemesis.one_way,
    Nemesis.deafen,
    Nemesis.power_cut,
)
"""Faults that a protocol must survive."""


KINDS: dict[str, tuple[Callable[[Nemesis, str], None], ...]] = {
    "faults": FAULTS,
    "clocks": (*FAULTS, Nemesis.set_clock, Nemesis.set_clock),
    "disks": (*FAULTS, Nemesis.wipe, Nemesis.restore),
}
"""The kinds of wild worlds: survivable faults, clocks that are set, and disks that are lost or go back."""


def wildly(faults: Sequence[Callable[[Nemesis, str], None]]) -> Callable[[Stage], Script]:
    """Play two to fifteen of these faults once there is a first leader."""

    def script(stage: Stage) -> Script:
        yield from stage.led_for(8, 15)
        nemesis = Nemesis(stage, stage.names, {name: stage.copy_of_disk(name) for name in stage.names})
        count = stage.rng.randint(2, 15)
        within = min(LONG_S, count * stage.rng.randrange(8, 40))
        for _ in range(count):
            nemesis.later(0, within, partial(stage.rng.choice(faults), nemesis, stage.rng.choice(nemesis.names)))
        while nemesis.due:
            nemesis.happen()
            yield STEP_MS
        yield from stage.seconds(40, 50)

    return script


def wild(scenario: Scenario) -> tuple[Scenario, ...]:
    """Return the wild scenarios of a protocol, in the world of one of its scenarios."""
    return tuple(
        replace(
            scenario,
            name=scenario.name.replace("any-faults", f"wild-{kind}"),
            broken=True,
            meaning=f"two to fifteen faults within ten minutes ({kind})",
            script=wildly(faults),
        )
        for kind, faults in KINDS.items()
    )
