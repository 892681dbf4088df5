"""One seeded history: members of a group on machines that can crash, freeze, lose their disks and misread the time.

Everything happens in virtual time, in the order of one queue; everything that is drawn comes from the seed. A world
writes nothing itself: it keeps the log lines that its processes said, and what really happened.
"""

from collections.abc import Callable, Generator, Hashable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random
from typing import Any, Protocol

from election_replay.election_core.simulate.clocks import WallClock
from election_replay.election_core.simulate.machine import (
    Act,
    Answer,
    Asked,
    Closed,
    Fired,
    Heard,
    Input,
    Machine,
    Say,
    Send,
    Store,
    Unanswered,
    Wait,
)
from election_replay.election_core.simulate.network import HELD_US, Network

SECOND = 1_000_000
MILLISECOND = 1_000

STOPPING_US = SECOND // 2
"""How long a process takes to stop when it is told to."""

DOWN, UP, FROZEN = "down", "up", "frozen"


@dataclass(frozen=True, slots=True)
class Line:
    """A line that a process said. ``kept`` is false where the appender dropped it; ``say`` is what it says.

    The stack trace of an exception follows its line in ``text``, after line feeds.
    """

    node: str
    stream: str
    true_us: int
    wall_us: int
    level: str
    text: str
    say: Say | None
    kept: bool

    @property
    def kind(self) -> str:
        """What the line says, as the kind of an event; empty where no machine says it."""
        return self.say.kind if self.say else ""

    @property
    def values(self) -> dict[str, Any]:
        """The columns of the event that it says."""
        return dict(self.say.values) if self.say else {}

    def value(self, name: str) -> Any:
        """One of these values; ``None`` where the line says none."""
        return self.values.get(name)

    def number(self, name: str) -> int:
        """A value that is a number; -1 where the line says none."""
        known = self.value(name)
        return known if isinstance(known, int) else -1


@dataclass(frozen=True, slots=True)
class Fault:
    """What was done to the world: ``action`` on ``node``, with ``detail`` in words."""

    true_us: int
    action: str
    node: str | None
    detail: str = ""


@dataclass(slots=True)
class Leadership:
    """One node as leader of one term, in true time; ``grew`` are the moments at which it committed something.

    ``committed`` is how far it had committed in the end.
    """

    node: str
    term: int
    begin_us: int
    end_us: int | None = None
    how_ended: str | None = None
    grew: list[int] = field(default_factory=list)
    committed: int = -1


@dataclass(slots=True)
class Outage:
    """A time in which a machine's process was in one condition: ``up``, ``down`` or ``frozen``."""

    node: str
    condition: str
    begin_us: int
    end_us: int | None = None


class Voice(Protocol):
    """How a system's process writes its log: ``(stream, level, text)`` of each line."""

    def boot(self, node: str, wall_us: int) -> list[tuple[str, str, str]]:
        """What a process prints when it starts, before its machine says anything."""

    def stopping(self, node: str, wall_us: int) -> list[tuple[str, str, str]]:
        """What a process prints when it is told to stop."""

    def render(self, node: str, wall_us: int, say: Say) -> list[tuple[str, str, str]]:
        """What a process prints for one thing its machine says: first the line that says just this."""

    def file(self, stream: str, part: int) -> str:
        """The path of a stream's file below its node's folder; part 0 is the live file, 1 the newest rolled one.

        A name that ends with ``.gz`` is packed.
        """


@dataclass(frozen=True, slots=True)
class Play:
    """What a world has to know of a protocol.

    ``voice`` is the way in which its processes write their logs, ``leads`` the term or epoch that a member leads, or
    ``None``, ``committed`` how far a leader has committed, ``write`` what a client asks for that adds so many entries
    (``None`` where clients write nothing).

    ``monotonic``: the processes measure time by clocks that nobody can set. ``connected``: they keep connections open
    and are told when the process at the other end is gone. ``held_us``: for so long a message that met a cut is tried
    again. ``leave`` is what a process does about being told to stop, before it ends.
    """

    machine: Machine[Any, Any]
    voice: Callable[[Random], Voice]
    leads: Callable[[Any], int | None]
    committed: Callable[[Any], int] = lambda _: 0
    write: Callable[[int], Hashable | None] = lambda _: None
    monotonic: bool = False
    connected: bool = False
    held_us: int = HELD_US
    leave: Hashable | None = None


@dataclass(slots=True)
class Process:
    """One machine with its process: what dies with it, and what its disk holds."""

    name: str
    member: Any
    clock: WallClock
    condition: str = DOWN
    incarnation: int = 0
    state: Any = None
    files: dict[str, Any] = field(default_factory=dict)
    timers: dict[str, tuple[int, int]] = field(default_factory=dict)
    steady: set[str] = field(default_factory=set)
    backlog: list[Callable[[], None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Call:
    """A request that waits for its answer."""

    sender: str
    incarnation: int
    to: str
    message: Hashable


class World:
    """The machines, the queue of what is to happen, and the record of what did.

    ``drops`` is how often a burst of dropped lines begins, but in files that are ``seldom_written``: appenders drop
    what floods them. ``joining`` are machines that are no members yet. ``shipped`` are folders that hold the log of a
    member once more. ``unprinted`` is what machines say that no system writes down: time, member, and what it says.
    ``copies`` are those that somebody took of the members' files: member, path below its folder, content.
    """

    def __init__(self, play: Play, members: Mapping[str, Any], rng: Random, began_us: int) -> None:
        self.play, self.rng, self.now_us, self.began_us = play, rng, began_us, began_us
        self.network = Network(rng, held_us=play.held_us)
        self.processes = {name: Process(name, member, WallClock()) for name, member in members.items()}
        self.voice = play.voice(rng)
        self.drops = 0.0
        self.seldom_written: frozenset[str] = frozenset()
        self.lines: list[Line] = []
        self.unprinted: list[tuple[int, str, Say]] = []
        self.copies: list[tuple[str, str, bytes]] = []
        self.faults: list[Fault] = []
        self.joining: set[str] = set()
        self.shipped: dict[str, str] = {}
        self.reigns: list[Leadership] = []
        self.spells: list[Outage] = [Outage(name, DOWN, began_us) for name in members]
        self._line_rng = Random(rng.random())  # noqa: S311 - seeded: a world must repeat
        self._dropping: dict[tuple[str, str], int] = {}
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._number = 0
        self._calls: dict[int, _Call] = {}
        self._leading: dict[str, Leadership] = {}
        self._ended: set[tuple[str, int, str]] = set()

    # -- running -----------------------------------------------------------------------------------------------

    def run(self, script: Generator[int, None, None]) -> None:
        """Play a script, which yields the milliseconds until it wants to act again, to its end."""
        running = True

        def act() -> None:
            nonlocal running
            wait_ms = next(script, None)
            running = wait_ms is not None
            if wait_ms is not None:
                self.at(self.now_us + wait_ms * MILLISECOND, act)

        self.at(self.now_us, act)
        while running:
            self.now_us, _, happen = heappop(self._queue)
            happen()
        for reign in self._leading.values():
            reign.how_ended = reign.how_ended or "end"

    def at(self, time_us: int, happen: Callable[[], None]) -> None:
        """Let something happen at a moment of true time."""
        self._number += 1
        heappush(self._queue, (time_us, self._number, happen))

    def names(self) -> list[str]:
        """All members."""
        return list(self.processes)

    def note(self, action: str, node: str | None = None, detail: str = "") -> None:
        """Record what is done to the world."""
        self.faults.append(Fault(self.now_us, action, node, detail))

    # -- processes ---------------------------------------------------------------------------------------------

    def start(self, name: str) -> None:
        """A process starts, with what its disk holds."""
        process = self.processes[name]
        process.incarnation += 1
        process.timers.clear()
        process.backlog.clear()
        self._condition(process, UP)
        self._print(name, self.voice.boot(name, self._wall(process)), None)
        state, acts = self.play.machine.start(process.member, dict(process.files), self._now_ms(process))
        self._after(process, state, acts)

    def kill(self, name: str, how: str = "killed") -> None:
        """A process ends at once."""
        process = self.processes[name]
        process.incarnation += 1
        self._condition(process, DOWN)
        self._end_reign(name, how)
        process.state = None
        if self.play.connected:
            for other in self.processes.values():
                if other is not process:
                    self._carry(name, other.name, self._closed(other, process))

    def stop(self, name: str) -> None:
        """A process is told to stop, and does so soon."""
        process = self.processes[name]
        self._print(name, self.voice.stopping(name, self._wall(process)), None)
        incarnation = process.incarnation
        if self.play.leave is not None:
            self.ask(name, self.play.leave)
        self.at(
            self.now_us + STOPPING_US,
            lambda: self.kill(name, "stopped") if process.incarnation == incarnation else None,
        )

    def freeze(self, name: str) -> None:
        """A process gets no time: nothing happens in it, and what comes for it waits."""
        self._condition(self.processes[name], FROZEN)

    def thaw(self, name: str) -> None:
        """A frozen process goes on, with everything that waits for it."""
        process = self.processes[name]
        self._condition(process, UP)
        waiting, process.backlog = process.backlog, []
        for number, happen in enumerate(waiting):
            self.at(self.now_us + number * MILLISECOND + self.rng.randrange(MILLISECOND), happen)

    def step_clock(self, name: str, by_ms: int) -> None:
        """Somebody sets a clock: what waits by it comes earlier or later; steady timers do not."""
        process = self.processes[name]
        process.clock.step(by_ms * MILLISECOND)
        if self.play.monotonic:
            return
        for timer, (due_us, token) in list(process.timers.items()):
            if timer in process.steady:
                continue
            moved = max(due_us - by_ms * MILLISECOND, self.now_us)
            process.timers[timer] = (moved, token)
            self.at(moved, self._timer(process, timer, token))

    def _condition(self, process: Process, condition: str) -> None:
        process.condition = condition
        last = next(spell for spell in reversed(self.spells) if spell.node == process.name)
        last.end_us = self.now_us
        self.spells.append(Outage(process.name, condition, self.now_us))

    def _wall(self, process: Process) -> int:
        return process.clock.at(self.now_us)

    def _now_ms(self, process: Process) -> int:
        """The clock by which a process measures time."""
        return (process.clock.monotonic(self.now_us) if self.play.monotonic else self._wall(process)) // MILLISECOND

    # -- what machines are told --------------------------------------------------------------------------------

    def ask(self, name: str, request: Hashable) -> None:
        """A client or an operator asks a member for something."""
        process = self.processes[name]
        self._tell(process, process.incarnation, Asked(request), None)

    def _tell(self, process: Process, incarnation: int, incoming: Input, call: int | None) -> None:
        """Something happens in a process, now, or when it is thawed; never in a later life."""
        if process.incarnation != incarnation or process.condition == DOWN:
            return
        if process.condition == FROZEN:
            process.backlog.append(lambda: self._tell(process, incarnation, incoming, call))
            return
        state, acts = self.play.machine.step(process.member, process.state, self._now_ms(process), incoming)
        self._after(process, state, acts, call)

    def _after(self, process: Process, state: Any, acts: tuple[Act, ...], call: int | None = None) -> None:
        before, process.state = process.state, state
        self._watch_leadership(process.name, before, state)
        for act in acts:
            match act:
                case Send():
                    self._send(process, act)
                case Answer(message):
                    self._answer(process, message, call)
                case Wait():
                    self._wait(process, act)
                case Store(file, content):
                    process.files[file] = content
                case Say():
                    self._print(process.name, self.voice.render(process.name, self._wall(process), act), act)

    def _wait(self, process: Process, wait: Wait) -> None:
        after_us = self.rng.randrange(wait.at_least_ms * MILLISECOND, wait.below_ms * MILLISECOND)
        self._number += 1
        token, due_us = self._number, self.now_us + after_us
        process.timers[wait.timer] = (due_us, token)
        (process.steady.discard if wait.by_clock else process.steady.add)(wait.timer)
        self.at(due_us, self._timer(process, wait.timer, token))

    def _timer(self, process: Process, timer: str, token: int) -> Callable[[], None]:
        incarnation = process.incarnation

        def fire() -> None:
            due = process.timers.get(timer)
            if process.incarnation == incarnation and due is not None and due[1] == token and due[0] <= self.now_us:
                del process.timers[timer]
                self._tell(process, incarnation, Fired(timer), None)

        return fire

    # -- messages ----------------------------------------------------------------------------------------------

    def _send(self, process: Process, send: Send) -> None:
        self._number += 1
        call, incarnation = self._number, process.incarnation
        self._calls[call] = _Call(process.name, incarnation, send.to, send.message)
        for _ in range(self.network.copies()):
            self._carry(process.name, send.to, lambda: self._deliver(call))
        if send.answer_within_ms is not None:
            self.at(self.now_us + send.answer_within_ms * MILLISECOND, lambda: self._give_up(call, refused=False))

    def _answer(self, process: Process, message: Hashable, call: int | None) -> None:
        if call is not None and call in self._calls:
            self._carry(process.name, self._calls[call].sender, lambda: self._return(call, process.name, message))

    def _carry(self, sender: str, to: str, arrive: Callable[[], None], held_us: int = 0) -> None:
        """Take a message over the network; one that meets a cut is tried again, as TCP does, for a while."""
        if held_us > self.network.held_us:
            return
        delay_us = self.network.delay()

        def try_it() -> None:
            if self.network.passes(sender, to):
                arrive()
            else:
                self.at(self.now_us + SECOND // 4, lambda: self._carry(sender, to, arrive, held_us + SECOND // 4))

        self.at(self.now_us + delay_us, try_it)

    def _closed(self, process: Process, peer: Process) -> Callable[[], None]:
        """Tell a process that the peer's just ended; what that one sent and is still under way then never arrives."""
        incarnation, ended = process.incarnation, (peer.name, peer.incarnation - 1, process.name)

        def close() -> None:
            self._ended.add(ended)
            self._tell(process, incarnation, Closed(peer.name), None)

        return close

    def _deliver(self, number: int) -> None:
        call = self._calls.get(number)
        if call is None or (call.sender, call.incarnation, call.to) in self._ended:
            return
        to = self.processes[call.to]
        if to.condition == DOWN:
            self._carry(call.to, call.sender, lambda: self._give_up(number, refused=True))
        else:
            self._tell(to, to.incarnation, Heard(call.sender, call.message), number)

    def _return(self, number: int, sender: str, message: Hashable) -> None:
        call = self._calls.pop(number, None)
        if call is not None:
            self._tell(self.processes[call.sender], call.incarnation, Heard(sender, message), None)

    def _give_up(self, number: int, *, refused: bool) -> None:
        call = self._calls.pop(number, None)
        if call is not None:
            incoming = Unanswered(call.to, call.message, refused)
            self._tell(self.processes[call.sender], call.incarnation, incoming, None)

    # -- the record --------------------------------------------------------------------------------------------

    def leaders(self) -> list[str]:
        """The members that call themselves leader and are awake, by the term that they lead: the last is the newest."""
        awake = [
            reign for name, reign in self._leading.items()
            if reign.end_us is None and self.processes[name].condition == UP
        ]  # fmt: skip
        return [reign.node for reign in sorted(awake, key=lambda reign: (reign.term, reign.begin_us))]

    def _watch_leadership(self, name: str, before: Any, state: Any) -> None:
        term = self.play.leads(state)
        reign = self._leading.get(name)
        if reign is not None and (term is None or reign.term != term):
            self._end_reign(name, "stepped down")
            reign = None
        if term is not None and reign is None:
            reign = self._leading[name] = Leadership(name, term, self.now_us)
            self.reigns.append(reign)
        elif reign is not None and before is not None and self.play.committed(state) > self.play.committed(before):
            reign.grew.append(self.now_us)
        if reign is not None:
            reign.committed = self.play.committed(state)

    def _end_reign(self, name: str, how: str) -> None:
        reign = self._leading.pop(name, None)
        if reign is not None:
            reign.end_us, reign.how_ended = self.now_us, how

    def _print(self, name: str, lines: list[tuple[str, str, str]], say: Say | None) -> None:
        wall_us = self._wall(self.processes[name])
        if say is not None and not lines:
            self.unprinted.append((self.now_us, name, say))
        for stream, level, text in lines:
            kept = not self._is_dropped(name, stream, level)
            self.lines.append(Line(name, stream, self.now_us, wall_us, level, text, say, kept))

    def _is_dropped(self, name: str, stream: str, level: str) -> bool:
        """Appenders drop INFO lines in bursts, never louder ones; each file has a queue of its own."""
        if not self.drops or level != "INFO" or stream in self.seldom_written:
            return False
        left = self._dropping.get((name, stream), 0)
        if left == 0 and self._line_rng.random() < self.drops:
            left = self._line_rng.randint(1, 8)
        self._dropping[name, stream] = max(left - 1, 0)
        return left > 0
