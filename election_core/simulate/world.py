"""One seeded history: members of a group on machines that can crash, freeze, lose their disks and have wrong clocks.

Everything happens in virtual time, in the order of one queue; all random draws come from the seed. A world writes no
files: it keeps the log lines of its processes, and what really happened.
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
"""A process takes this long (us) to stop."""

DOWN, UP, FROZEN = "down", "up", "frozen"


@dataclass(frozen=True, slots=True)
class Line:
    """A log line of a process; ``kept`` is False if the appender dropped it. ``say`` is its content; None from no
    machine. The stack trace of an exception follows in ``text``, after line feeds."""

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
        """Its content's kind of event; empty without a machine."""
        return self.say.kind if self.say else ""

    @property
    def values(self) -> dict[str, Any]:
        """The columns of the event in it."""
        return dict(self.say.values) if self.say else {}

    def value(self, name: str) -> Any:
        """Return one of these values; None without it."""
        return self.values.get(name)

    def number(self, name: str) -> int:
        """Return a value that is a number; -1 without one."""
        known = self.value(name)
        return known if isinstance(known, int) else -1


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that was injected: ``action`` on ``node``, with ``detail`` as text."""

    true_us: int
    action: str
    node: str | None
    detail: str = ""


@dataclass(slots=True)
class Tenure:
    """One node as leader of one term, in true time (us); ``grew`` are the moments of its commits. ``committed`` is its
    last commit index."""

    node: str
    term: int
    begin_us: int
    end_us: int | None = None
    how_ended: str | None = None
    grew: list[int] = field(default_factory=list)
    committed: int = -1


@dataclass(slots=True)
class Phase:
    """A time in which a machine's process was in one condition: ``up``, ``down`` or ``frozen``."""

    node: str
    condition: str
    begin_us: int
    end_us: int | None = None


class Voice(Protocol):
    """Writes the log of a system's process, as ``(stream, level, text)`` of each line."""

    def boot(self, node: str, wall_us: int) -> list[tuple[str, str, str]]:
        """Return the lines of a process that starts, before those of its machine."""

    def stopping(self, node: str, wall_us: int) -> list[tuple[str, str, str]]:
        """Return the lines of a process that is told to stop."""

    def render(self, node: str, wall_us: int, say: Say) -> list[tuple[str, str, str]]:
        """Return the lines for one ``Say`` of its machine; the first one holds just that."""

    def file(self, stream: str, part: int) -> str:
        """Return the path of a stream's file below its node's folder; part 0 is the live file, 1 the newest rolled one.
        A name that ends in ``.gz`` is compressed."""


@dataclass(frozen=True, slots=True)
class Play:
    """The adapter of a protocol to a world.

    ``voice`` makes the writer of its logs. ``leads`` returns the term or epoch that a member leads, or None;
    ``committed`` a leader's commit index; ``write`` a client's request that adds so many entries (None: clients write
    nothing).

    ``monotonic``: processes measure time by clocks that nobody can set. ``connected``: they keep connections open, and
    learn when the process at the other end ends. ``held_us``: how long a message is retried over a cut. ``leave``: the
    request to a process that is told to stop, before it ends.
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
    """One machine with its process: volatile state, timers and backlog, and the files on its disk."""

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
    """A request of one process to another that waits for its answer."""

    sender: str
    incarnation: int
    to: str
    to_incarnation: int
    message: Hashable


class World:
    """The machines, the queue of future events, and the record of past ones.

    ``drops`` is the rate of bursts of dropped lines, except in files that are ``seldom_written``: appenders drop what
    floods them. ``joining`` are machines that are not members yet. ``shipped`` are folders that hold a second copy of a
    member's log. ``unprinted`` is what machines say without any line: (time, member, content). ``copies`` are snapshots
    of members' files: (member, path below its folder, content).
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
        self.tenures: list[Tenure] = []
        self.phases: list[Phase] = [Phase(name, DOWN, began_us) for name in members]
        self._line_rng = Random(rng.random())  # noqa: S311 - seeded: a world must repeat
        self._dropping: dict[tuple[str, str], int] = {}
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._number = 0
        self._calls: dict[int, _Call] = {}
        self._leading: dict[str, Tenure] = {}
        self._ended: set[tuple[str, int, str]] = set()

    # -- running -----------------------------------------------------------------------------------------------

    def run(self, script: Generator[int, None, None]) -> None:
        """Play a script to its end; it yields the ms until it wants to act again."""
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
        for tenure in self._leading.values():
            tenure.how_ended = tenure.how_ended or "end"

    def at(self, time_us: int, happen: Callable[[], None]) -> None:
        """Schedule an event at a moment of true time (us)."""
        self._number += 1
        heappush(self._queue, (time_us, self._number, happen))

    def names(self) -> list[str]:
        """Return the names of all members."""
        return list(self.processes)

    def note(self, action: str, node: str | None = None, detail: str = "") -> None:
        """Record an injected fault."""
        self.faults.append(Fault(self.now_us, action, node, detail))

    # -- processes ---------------------------------------------------------------------------------------------

    def start(self, name: str) -> None:
        """Start a process with the content of its disk."""
        process = self.processes[name]
        process.incarnation += 1
        process.timers.clear()
        process.backlog.clear()
        self._condition(process, UP)
        self._print(name, self.voice.boot(name, self._wall(process)), None)
        state, acts = self.play.machine.start(process.member, dict(process.files), self._now_ms(process))
        self._after(process, state, acts)

    def kill(self, name: str, how: str = "killed") -> None:
        """End a process at once."""
        process = self.processes[name]
        process.incarnation += 1
        self._condition(process, DOWN)
        self._end_tenure(name, how)
        process.state = None
        if self.play.connected:
            for other in self.processes.values():
                if other is not process:
                    self._carry(name, other.name, self._closed(other, process))

    def stop(self, name: str) -> None:
        """Tell a process to stop; it ends after :data:`STOPPING_US`."""
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
        """Freeze a process: nothing happens in it, and incoming events wait."""
        self._condition(self.processes[name], FROZEN)

    def thaw(self, name: str) -> None:
        """Let a frozen process go on, with everything that waits for it."""
        process = self.processes[name]
        self._condition(process, UP)
        waiting, process.backlog = process.backlog, []
        for number, happen in enumerate(waiting):
            self.at(self.now_us + number * MILLISECOND + self.rng.randrange(MILLISECOND), happen)

    def step_clock(self, name: str, by_ms: int) -> None:
        """Set a clock: timers by the clock fire earlier or later; steady timers do not."""
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
        last = next(phase for phase in reversed(self.phases) if phase.node == process.name)
        last.end_us = self.now_us
        self.phases.append(Phase(process.name, condition, self.now_us))

    def _wall(self, process: Process) -> int:
        return process.clock.at(self.now_us)

    def _now_ms(self, process: Process) -> int:
        """Return the ms of the clock by which a process measures time."""
        return (process.clock.monotonic(self.now_us) if self.play.monotonic else self._wall(process)) // MILLISECOND

    # -- what machines are told --------------------------------------------------------------------------------

    def ask(self, name: str, request: Hashable) -> None:
        """Give a member a request of a client or operator."""
        process = self.processes[name]
        self._tell(process, process.incarnation, Asked(request), None)

    def _tell(self, process: Process, incarnation: int, incoming: Input, call: int | None) -> None:
        """Pass an event to a process, now or when it is thawed; never to a later process."""
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
        call, to = self._number, self.processes[send.to]
        reached = to.incarnation + (to.condition == DOWN)  # whoever is down is called again until it has started
        self._calls[call] = _Call(process.name, process.incarnation, send.to, reached, send.message)
        for _ in range(self.network.copies()):
            self._carry(process.name, send.to, lambda: self._deliver(call))
        if send.answer_within_ms is not None:
            self.at(self.now_us + send.answer_within_ms * MILLISECOND, lambda: self._give_up(call, refused=False))

    def _answer(self, process: Process, message: Hashable, call: int | None) -> None:
        if call is not None and call in self._calls:
            self._carry(process.name, self._calls[call].sender, lambda: self._return(call, process.name, message))

    def _carry(self, sender: str, to: str, arrive: Callable[[], None], held_us: int = 0) -> None:
        """Carry a message over the network; over a cut it is retried for a while, as TCP does."""
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
        """Return the event that tells a process of its peer's end; the peer's messages still under way are then
        lost."""
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
        if to.condition == DOWN or to.incarnation != call.to_incarnation:  # a later process resets its connection
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
        """Return the members that call themselves leader and are awake, ordered by term: the newest is last."""
        awake = [
            tenure for name, tenure in self._leading.items()
            if tenure.end_us is None and self.processes[name].condition == UP
        ]  # fmt: skip
        return [tenure.node for tenure in sorted(awake, key=lambda tenure: (tenure.term, tenure.begin_us))]

    def _watch_leadership(self, name: str, before: Any, state: Any) -> None:
        term = self.play.leads(state)
        tenure = self._leading.get(name)
        if tenure is not None and (term is None or tenure.term != term):
            self._end_tenure(name, "stepped down")
            tenure = None
        if term is not None and tenure is None:
            tenure = self._leading[name] = Tenure(name, term, self.now_us)
            self.tenures.append(tenure)
        elif tenure is not None and before is not None and self.play.committed(state) > self.play.committed(before):
            tenure.grew.append(self.now_us)
        if tenure is not None:
            tenure.committed = self.play.committed(state)

    def _end_tenure(self, name: str, how: str) -> None:
        tenure = self._leading.pop(name, None)
        if tenure is not None:
            tenure.end_us, tenure.how_ended = self.now_us, how

    def _print(self, name: str, lines: list[tuple[str, str, str]], say: Say | None) -> None:
        wall_us = self._wall(self.processes[name])
        if say is not None and not lines:
            self.unprinted.append((self.now_us, name, say))
        for stream, level, text in lines:
            kept = not self._is_dropped(name, stream, level)
            self.lines.append(Line(name, stream, self.now_us, wall_us, level, text, say, kept))

    def _is_dropped(self, name: str, stream: str, level: str) -> bool:
        """Return True when the appender drops the line: only INFO lines, in bursts, for each file separately."""
        if not self.drops or level != "INFO" or stream in self.seldom_written:
            return False
        left = self._dropping.get((name, stream), 0)
        if left == 0 and self._line_rng.random() < self.drops:
            left = self._line_rng.randint(1, 8)
        self._dropping[name, stream] = max(left - 1, 0)
        return left > 0
