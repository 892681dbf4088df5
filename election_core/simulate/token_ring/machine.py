"""Ring elections as a machine that runs: one node, one function a message, in both forms that go by the name.

``one_id`` is the form of Chang and Roberts (1979): a node passes on the larger of the id it got and its own, and the
id that comes home leads. The other is the form of most textbooks: each node adds itself to a list, and the node that
finds itself in it names the largest id of it. Then the result goes round once. A successor that does not answer is
passed over.

The sources leave open how a failure is noticed. Here each node looks in each second for its next living neighbour; it
suspects the leader when it had to pass it over twice in a row, and calls an election when its neighbour follows another
leader than itself. Who starts an election, or takes part in one, starts another if no result comes by. Elections are
numbered: the number is told in every message and only grows. What comes late from an election before the last one that
had a result is dropped without a word.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from election_replay.election_core.protocols.highest_id.id_order import highest, rank
from election_replay.election_core.simulate.machine import Act, Fired, Heard, Input, Turn, Unanswered

ANSWER_MS = 2000
LOOK_MS = (1000, 1001)
RESULT_MS = (12_000, 14_000)
LOOK, RESULT = "look", "result"
"""The timers: for the next look at the neighbours, and for the result of an election."""

NUMBER_FILE = "election"


@dataclass(frozen=True, slots=True)
class Rules:
    """What a node decides by. A broken world bends one of these.

    ``one_id``: the form of the message. ``larger``: whether the first id beats the second; ``named``: whom a list makes
    leader.
    """

    one_id: bool = False
    larger: Callable[[str, str], bool] = lambda node, other: rank(node) > rank(other)
    named: Callable[[tuple[str, ...]], str] = highest


@dataclass(frozen=True, slots=True)
class Member:
    """One node of a ring, as its configuration says; ``ring`` is in the order in which messages go."""

    name: str
    ring: tuple[str, ...]
    rules: Rules = field(default_factory=Rules)

    def after(self, node: str) -> str:
        """The next node of the ring."""
        return self.ring[(self.ring.index(node) + 1) % len(self.ring)]


@dataclass(frozen=True, slots=True)
class Election:
    """An election on its way: the one id, or the list of ids."""

    number: int
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Elected:
    """The result on its way; ``members`` took part, as far as the message says."""

    number: int
    leader: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """Do you live?"""


@dataclass(frozen=True, slots=True)
class LooksBack:
    """I live, know this number, and follow this leader."""

    number: int
    leader: str | None


@dataclass(frozen=True, slots=True)
class Taken:
    """The message arrived."""


@dataclass(frozen=True, slots=True)
class State:
    """What a node knows. ``number`` is the largest election that it has heard of, ``settled`` the last with a result.

    ``led`` is the election that made it leader. ``pending`` is the one that it takes part in. ``failed`` are the
    neighbours that did not answer in this look, ``missed`` those of the one before; ``strange``: the neighbour had
    another leader then.
    """

    number: int = 0
    settled: int = 0
    leader: str | None = None
    led: int | None = None
    pending: int | None = None
    failed: frozenset[str] = frozenset()
    missed: frozenset[str] = frozenset()
    strange: bool = False


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
    """A node's process begins: it looks for a neighbour, and calls an election when it has one."""
    turn = _Turn(member, State(number=stored.get(NUMBER_FILE, 0)), now_ms, "")
    turn.wait(LOOK, 0, 500)
    return turn.done()


def step(member: Member, state: State, now_ms: int, incoming: Input) -> Step:
    """One thing happens to a node."""
    turn = _Turn(member, state, now_ms, "")
    match incoming:
        case Heard(sender, message):
            _HEARD[type(message)](turn, sender, message)
        case Unanswered(to, message, _):
            _unanswered(turn, to, message)
        case Fired(timer):
            _FIRED[timer](turn)
    return turn.done()


# -- elections -----------------------------------------------------------------------------------------------------


def _call_election(turn: _Turn, number: int) -> None:
    turn.number(number)
    _take_part(turn, turn.state.number)
    _pass_on(turn, Election(turn.state.number, (turn.member.name,)), turn.member.name)


def _take_part(turn: _Turn, number: int) -> None:
    turn.change(pending=number)
    turn.wait(RESULT, *RESULT_MS)


def _on_election(turn: _Turn, sender: str, message: Election) -> None:
    turn.answer(Taken())
    if message.number > turn.state.settled:
        turn.tell("RING_ELECTION_RECEIVED", peer=sender, term=message.number, **_ids(turn, message.members))
        turn.number(message.number)
        (_one_id if turn.member.rules.one_id else _list_of_ids)(turn, message)


def _one_id(turn: _Turn, message: Election) -> None:
    """Chang and Roberts: a larger id goes on, a smaller one is replaced, once; the own one has been round."""
    name, (candidate,), pending = turn.member.name, message.members, turn.state.pending
    if candidate == name:
        if pending is not None:
            _settle(turn, Elected(message.number, name, ()))
    elif turn.member.rules.larger(candidate, name):
        _take_part(turn, message.number)
        _pass_on(turn, message, name)
    elif pending != message.number:
        _call_election(turn, message.number)
    else:
        turn.tell("RING_ELECTION_DROPPED", value=candidate, term=message.number)


def _list_of_ids(turn: _Turn, message: Election) -> None:
    """The list: each node adds itself; who finds itself in it names the leader."""
    name = turn.member.name
    if name not in message.members:
        _take_part(turn, message.number)
        _pass_on(turn, Election(message.number, (*message.members, name)), name)
    elif turn.state.pending is not None:
        _settle(turn, Elected(message.number, turn.member.rules.named(message.members), message.members))


def _on_elected(turn: _Turn, sender: str, message: Elected) -> None:
    turn.answer(Taken())
    state, name, larger = turn.state, turn.member.name, turn.member.rules.larger
    news = message.number > state.settled or (
        message.number == state.settled and larger(message.leader, state.leader or "")
    )
    if not news and (message.number, message.leader) != (state.settled, state.leader):
        return
    members = {"members": message.members} if message.members else {}
    turn.tell("RING_ELECTED_RECEIVED", peer=sender, value=message.leader, term=message.number, **members)
    turn.number(message.number)
    if news:
        _settle(turn, message)
        if name not in message.members and larger(name, message.leader):
            # The election had passed before this node was there.
            _call_election(turn, turn.state.number + 1)


def _settle(turn: _Turn, message: Elected) -> None:
    """Take the result, and hand it on."""
    turn.number(message.number)
    led = message.number if message.leader == turn.member.name else None
    turn.change(settled=message.number, pending=None, leader=message.leader, led=led)
    _pass_on(turn, message, turn.member.name)


def _on_no_result(turn: _Turn) -> None:
    if turn.state.pending is not None:
        _call_election(turn, turn.state.number + 1)


# -- the ring ------------------------------------------------------------------------------------------------------


def _pass_on(turn: _Turn, message: Election | Elected, after: str) -> None:
    """Send a message to the next node; where nobody else lives, it has been round already."""
    to = turn.member.after(after)
    if to == turn.member.name:
        if isinstance(message, Election):
            (_one_id if turn.member.rules.one_id else _list_of_ids)(turn, message)
        return
    if isinstance(message, Election):
        turn.tell("RING_ELECTION_SENT", peer=to, term=message.number, **_ids(turn, message.members))
    else:
        members = {"members": message.members} if message.members else {}
        turn.tell("RING_ELECTED_SENT", peer=to, value=message.leader, term=message.number, **members)
    turn.send(to, message, ANSWER_MS)


def _ids(turn: _Turn, members: tuple[str, ...]) -> dict[str, Any]:
    return {"value": members[0]} if turn.member.rules.one_id else {"members": members}


def _unanswered(turn: _Turn, to: str, message: Hashable) -> None:
    if isinstance(message, Look):
        turn.change(failed=turn.state.failed | {to})
        _look_at(turn, turn.member.after(to))
    elif isinstance(message, Election | Elected):
        turn.tell("RING_SKIPPED", peer=to, term=message.number)
        if not _is_over(turn.state, message):
            _pass_on(turn, message, to)


def _is_over(state: State, message: Election | Elected) -> bool:
    """Whether another result has come meanwhile."""
    if isinstance(message, Election):
        return message.number <= state.settled
    return (message.number, message.leader) != (state.settled, state.leader)


def _on_taken(turn: _Turn, sender: str, message: Taken) -> None:
    """The message is the other's now."""


# -- looking for failures -------------------------------------------------------------------------------------------


def _on_look_due(turn: _Turn) -> None:
    turn.change(failed=frozenset())
    _look_at(turn, turn.member.after(turn.member.name))


def _look_at(turn: _Turn, neighbour: str) -> None:
    if neighbour == turn.member.name:
        _looked(turn, strange=False)
    else:
        turn.send(neighbour, Look(), ANSWER_MS)


def _on_look(turn: _Turn, sender: str, message: Look) -> None:  # noqa: ARG001 - all are told the same
    turn.answer(LooksBack(turn.state.number, turn.state.leader))


def _on_look_back(turn: _Turn, sender: str, message: LooksBack) -> None:  # noqa: ARG001
    turn.number(message.number)
    _looked(turn, strange=message.leader is not None and message.leader != turn.state.leader)


def _looked(turn: _Turn, *, strange: bool) -> None:
    """A look is over: the nearest neighbour that lives is found, or there is none."""
    state = turn.state
    lost, differs = state.failed & state.missed, strange and state.strange
    turn.change(missed=state.failed, strange=strange)
    turn.wait(LOOK, *LOOK_MS)
    if state.pending is not None:
        return
    if state.leader in lost:
        turn.tell("RING_SUSPECT", peer=state.leader, term=state.number)
        turn.change(leader=None)
        _call_election(turn, state.number + 1)
    elif state.leader is None or differs:
        _call_election(turn, turn.state.number + 1)


_HEARD: Mapping[type[Hashable], Callable[[_Turn, str, Any], None]] = {
    Election: _on_election,
    Elected: _on_elected,
    Look: _on_look,
    LooksBack: _on_look_back,
    Taken: _on_taken,
}
_FIRED: Mapping[str, Callable[[_Turn], None]] = {LOOK: _on_look_due, RESULT: _on_no_result}
