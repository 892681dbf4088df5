"""Bully as a machine that runs: one node, one function a message.

Source: Garcia-Molina, "Elections in a Distributed Computing System" (1982). A node that misses its coordinator asks
every higher one whether it lives. An answer makes it wait for the announcement; without one in time it leads. A node
that hears of a lower coordinator holds an election itself.

The paper leaves open how a failure is noticed and what a node does when it starts. Here the coordinator sends beats,
which also tell a node of a coordinator whose announcement it missed; and a node that starts listens for one before it
holds an election. Elections are numbered: the number is on disk, is told in every message, and only grows. No decision
rests on it but that a coordinator which is named wrongly calls a new election. The algorithm stands on two things: a
message arrives within a known time, and who does not answer within it is dead.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from election_replay.election_core.protocols.highest_id.id_order import higher, rank
from election_replay.election_core.simulate.machine import Act, Fired, Heard, Input, Turn

LISTENING, ASKING, WAITING, FOLLOWING, LEADING = "listening", "asking", "waiting", "following", "leading"

LISTEN_MS = (2000, 2500)
BEAT_MS = 1000
COORDINATOR_MS = (5000, 5500)
LISTEN, OK_WAIT, COORDINATOR_WAIT, SILENCE, BEAT, HUSH = "listen", "ok", "coordinator", "silence", "beat", "hush"
"""The timers: for a coordinator after a start, for answers, for an announcement, for the next beat to come, for the
next beat to send, and for the next word to a lower coordinator that goes on beating."""

NUMBER_FILE = "election"


@dataclass(frozen=True, slots=True)
class Rules:
    """What a node decides by. A broken world bends one of these.

    ``asked``: whom it asks; ``accepts``: whether it (first) takes another one (second) for its coordinator; ``ok_ms``:
    how long it waits for answers, at least and below; ``silence_ms``: the same for a beat.
    """

    asked: Callable[[str, tuple[str, ...]], tuple[str, ...]] = higher
    accepts: Callable[[str, str], bool] = lambda node, other: rank(other) > rank(node)
    ok_ms: tuple[int, int] = (2000, 2100)
    silence_ms: tuple[int, int] = (3500, 4000)


@dataclass(frozen=True, slots=True)
class Member:
    """One node of a group, as its configuration says."""

    name: str
    peers: tuple[str, ...]
    rules: Rules = field(default_factory=Rules)

    @property
    def others(self) -> tuple[str, ...]:
        """All nodes but this one."""
        return tuple(peer for peer in self.peers if peer != self.name)


@dataclass(frozen=True, slots=True)
class Election:
    """Do you live? I am lower than you."""

    number: int


@dataclass(frozen=True, slots=True)
class Ok:
    """I live, and will see to it."""

    number: int


@dataclass(frozen=True, slots=True)
class Coordinator:
    """I lead."""

    number: int


@dataclass(frozen=True, slots=True)
class Beat:
    """I lead on."""

    number: int


@dataclass(frozen=True, slots=True)
class State:
    """What a node knows. ``number`` is the largest election that it has heard of; ``led`` the one that it won, as long
    as it is coordinator; ``hushed``: it has just told a lower coordinator off."""

    number: int = 0
    phase: str = LISTENING
    leader: str | None = None
    led: int | None = None
    hushed: bool = False


Step = tuple[State, tuple[Act, ...]]


class _Turn(Turn[Member, State]):
    def tell(self, kind: str, **values: Any) -> None:
        """Write a line, with the name of its node."""
        self.say(kind, node=self.member.name, **values)

    def number(self, number: int) -> None:
        """Hear of an election."""
        if number > self.state.number:
            self.change(number=number)
            self.store(NUMBER_FILE, number)


def start(member: Member, stored: Mapping[str, Any], now_ms: int) -> Step:
    """A node's process begins: it listens for a coordinator."""
    turn = _Turn(member, State(number=stored.get(NUMBER_FILE, 0)), now_ms, "")
    turn.wait(LISTEN, *LISTEN_MS)
    return turn.done()


def step(member: Member, state: State, now_ms: int, incoming: Input) -> Step:
    """One thing happens to a node. Nobody waits for an answer, so that none can be missing."""
    turn = _Turn(member, state, now_ms, "")
    match incoming:
        case Heard(sender, message):
            _HEARD[type(message)](turn, sender, message)
        case Fired(timer):
            _FIRED[timer](turn)
    return turn.done()


# -- holding an election --------------------------------------------------------------------------------------------


def _hold_election(turn: _Turn, number: int) -> None:
    """Ask all that are higher; the highest of all need not ask."""
    turn.number(number)
    asked = turn.member.rules.asked(turn.member.name, turn.member.others)
    if not asked:
        _lead(turn)
        return
    turn.change(phase=ASKING, leader=None, led=None)
    for peer in asked:
        turn.tell("BULLY_ELECTION_SENT", peer=peer, term=turn.state.number)
        turn.send(peer, Election(turn.state.number))
    turn.wait(OK_WAIT, *turn.member.rules.ok_ms)


def _on_election(turn: _Turn, sender: str, message: Election) -> None:
    """A lower node asks: it is to wait, and an election is held, by whoever does not hold one already."""
    turn.tell("BULLY_ELECTION_RECEIVED", peer=sender, term=message.number)
    turn.tell("BULLY_OK_SENT", peer=sender, term=message.number)
    turn.send(sender, Ok(message.number))
    if turn.state.phase == LEADING:
        _lead_on(turn, sender, message.number)
    elif turn.state.phase in (LISTENING, FOLLOWING):
        _hold_election(turn, message.number)
    else:
        turn.number(message.number)


def _on_ok(turn: _Turn, sender: str, message: Ok) -> None:
    turn.tell("BULLY_OK_RECEIVED", peer=sender, term=message.number)
    turn.number(message.number)
    if turn.state.phase == ASKING:
        turn.change(phase=WAITING)
        turn.wait(COORDINATOR_WAIT, *COORDINATOR_MS)


def _on_no_ok(turn: _Turn) -> None:
    if turn.state.phase == ASKING:
        turn.tell("BULLY_OK_TIMEOUT", term=turn.state.number)
        _lead(turn)


def _on_no_coordinator(turn: _Turn) -> None:
    if turn.state.phase == WAITING:
        turn.tell("BULLY_COORDINATOR_TIMEOUT", term=turn.state.number)
        _hold_election(turn, turn.state.number + 1)


# -- leading ---------------------------------------------------------------------------------------------------------


def _lead(turn: _Turn) -> None:
    turn.change(phase=LEADING, leader=turn.member.name, led=turn.state.number)
    _announce(turn, turn.member.others)
    turn.wait(BEAT, BEAT_MS, BEAT_MS + 1)


def _announce(turn: _Turn, to: tuple[str, ...]) -> None:
    won = turn.state.led or 0
    for peer in to:
        turn.tell("BULLY_COORDINATOR_SENT", peer=peer, term=won)
        turn.send(peer, Coordinator(won))


def _lead_on(turn: _Turn, asker: str, number: int) -> None:
    """A coordinator is asked: a new election is won at once; in the one that it has won it says so again."""
    turn.number(number)
    if number > (turn.state.led or 0):
        turn.change(led=number)
        _announce(turn, turn.member.others)
    else:
        _announce(turn, (asker,))


def _on_beat_due(turn: _Turn) -> None:
    if turn.state.phase == LEADING:
        for peer in turn.member.others:
            turn.send(peer, Beat(turn.state.led or 0))
        turn.wait(BEAT, BEAT_MS, BEAT_MS + 1)


# -- following -------------------------------------------------------------------------------------------------------


def _on_coordinator(turn: _Turn, sender: str, message: Coordinator) -> None:
    turn.tell("BULLY_COORDINATOR_RECEIVED", peer=sender, term=message.number)
    if turn.member.rules.accepts(turn.member.name, sender):
        _follow(turn, sender, message.number)
    else:
        _refuse(turn, sender, message.number)


def _on_beat(turn: _Turn, sender: str, message: Beat) -> None:
    """A beat of one's coordinator says that it lives; one of another is news only where it changes something."""
    state = turn.state
    if not turn.member.rules.accepts(turn.member.name, sender):
        if state.phase == LEADING and not state.hushed:
            _on_coordinator(turn, sender, Coordinator(message.number))
        else:
            turn.number(message.number)
    elif state.phase == FOLLOWING and state.leader == sender:
        _follow(turn, sender, message.number)
    elif state.phase != FOLLOWING or rank(sender) > rank(state.leader or ""):
        _on_coordinator(turn, sender, Coordinator(message.number))


def _follow(turn: _Turn, leader: str, number: int) -> None:
    turn.number(number)
    turn.change(phase=FOLLOWING, leader=leader, led=None)
    turn.wait(SILENCE, *turn.member.rules.silence_ms)


def _refuse(turn: _Turn, sender: str, number: int) -> None:
    """A lower node calls itself coordinator: bully it out of that."""
    if turn.state.phase == LEADING and not turn.state.hushed:
        turn.change(hushed=True)
        turn.wait(HUSH, BEAT_MS, BEAT_MS + 1)
        _lead_on(turn, sender, number + 1 if number >= (turn.state.led or 0) else number)
    elif turn.state.phase in (LISTENING, FOLLOWING):
        _hold_election(turn, max(number, turn.state.number) + 1)
    else:
        turn.number(number)


def _on_silence(turn: _Turn) -> None:
    if turn.state.phase == FOLLOWING:
        turn.tell("BULLY_SUSPECT", peer=turn.state.leader, term=turn.state.number)
        _hold_election(turn, turn.state.number + 1)


def _on_listened(turn: _Turn) -> None:
    if turn.state.phase == LISTENING:
        _hold_election(turn, turn.state.number + 1)


def _on_hushed(turn: _Turn) -> None:
    turn.change(hushed=False)


_HEARD: Mapping[type[Hashable], Callable[[_Turn, str, Any], None]] = {
    Election: _on_election,
    Ok: _on_ok,
    Coordinator: _on_coordinator,
    Beat: _on_beat,
}
_FIRED: Mapping[str, Callable[[_Turn], None]] = {
    LISTEN: _on_listened,
    OK_WAIT: _on_no_ok,
    COORDINATOR_WAIT: _on_no_coordinator,
    SILENCE: _on_silence,
    BEAT: _on_beat_due,
    HUSH: _on_hushed,
}
