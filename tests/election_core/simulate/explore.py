"""Small-scale model checking: every interleaving of a few members, breadth first, so the first trace is the shortest.

The network may deliver a message once, at any moment after it was sent, or never: that covers loss, delay and
reordering (the protocols here run over TCP, which does not repeat). Any timer may fire at any moment after it was set:
that covers all clocks and pauses. A crash loses a member's state and keeps its files; it is up again at once, and
answers to its former process never reach it. Moments that differ only in the names of members are one.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import permutations
from typing import Any, Generic, TypeVar

from election_replay.election_core.simulate.machine import Act, Answer, Fired, Heard, Input, Machine, Send, Store, Wait

M = TypeVar("M")
S = TypeVar("S", bound=Hashable)

Ids = tuple[int, ...]
Moment = tuple[Ids, Ids, int, Ids]
"""Numbers of the members' nodes, of the letters under way, the crashes left, numbers of the remembered facts."""


Move = tuple[int, str | int]
"""The position of a member, and its event: a timer, a crash, or the number of a letter."""
CRASH = "crashes, and is back"


@dataclass(frozen=True, slots=True)
class Node(Generic[S]):
    """One member: its state, its files, the timers that are set, and its number of crashes."""

    state: S
    files: tuple[tuple[str, Hashable], ...]
    timers: tuple[str, ...]
    crashes: int = 0


@dataclass(frozen=True, slots=True)
class Letter:
    """A message under way; ``incarnation`` is the sender's for a request, and the requester's for an answer."""

    sender: str
    to: str
    message: Hashable
    incarnation: int
    answers: bool

    def __str__(self) -> str:
        return f"{self.sender} -> {self.to}: {self.message}"


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search: the number of different moments, and the shortest trace to a broken invariant."""

    moments: int
    broken: str | None
    trace: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Model(Generic[M, S]):
    """A model to search.

    ``within`` bounds the search: a state outside is not followed further, nor a moment whose members' ``effort``
    exceeds ``most_effort`` in sum. ``remember`` returns what the invariant needs of a member's state; ``broken`` names
    the invariant that all remembered facts break, or returns None. ``spent`` returns True for a message without any
    further effect on its receiver. ``ignored`` timers do not matter for the invariant; ``instant`` ones may fire at
    once, because a timer of any length precedes them. ``crashes`` is the most crashes; ``loses`` are files that a crash
    destroys. Not ``symmetric``: the protocol distinguishes members by their ids.
    """

    machine: Machine[M, S]
    members: Mapping[str, M]
    within: Callable[[S], bool]
    remember: Callable[[str, S], Hashable | None]
    broken: Callable[[frozenset[Hashable]], str | None]
    spent: Callable[[S, str, Hashable], bool]
    effort: Callable[[S], int]
    most_effort: int
    ignored: frozenset[str] = frozenset()
    instant: frozenset[str] = frozenset()
    crashes: int = 0
    loses: frozenset[str] = frozenset()
    symmetric: bool = True


def search(model: Model[M, S]) -> Found:
    """Search all moments; if an invariant breaks, return the shortest trace to it."""
    found = _Search(model, symmetric=model.symmetric).run()
    # Merging moments loses the members' names, so the trace comes from a second search without symmetry.
    return _Search(model, symmetric=False).run() if found.broken and model.symmetric else found


class _Numbers:
    """Numbers different values in order of discovery, so that moments are compared and stored as numbers."""

    def __init__(self) -> None:
        self.of: dict[Any, int] = {}
        self.values: list[Any] = []

    def number(self, value: Any) -> int:
        known = self.of.get(value)
        if known is None:
            known = self.of[value] = len(self.values)
            self.values.append(value)
        return known


@dataclass(slots=True)
class _Search(Generic[M, S]):
    model: Model[M, S]
    symmetric: bool
    names: list[str] = field(init=False)
    nodes: _Numbers = field(default_factory=_Numbers)
    letters: _Numbers = field(default_factory=_Numbers)
    memories: _Numbers = field(default_factory=_Numbers)
    _stepped: dict[tuple[int, int, str | int], tuple[int, Ids, int | None] | None] = field(default_factory=dict)
    _renamed: dict[tuple[str, int], Ids] = field(default_factory=dict)
    _kinds: dict[int, int] = field(default_factory=dict)
    _fitting: dict[Ids, Ids] = field(default_factory=dict)
    _dead: dict[tuple[int, int], bool] = field(default_factory=dict)
    _efforts: dict[int, int] = field(default_factory=dict)
    _places: dict[str, int] = field(init=False)
    _orders: list[Ids] = field(init=False)

    def __post_init__(self) -> None:
        self.names = list(self.model.members)
        self._places = {name: place for place, name in enumerate(self.names)}
        self._orders = list(permutations(range(len(self.names)))) if self.symmetric else []

    def run(self) -> Found:
        first = self._first()
        came_from: dict[Moment, tuple[Moment, Move] | None] = {first: None}
        waiting = deque([first])
        while waiting:
            moment = waiting.popleft()
            for move, reached in self._moves(moment):
                after = self._canonical(reached)
                if after in came_from:
                    continue
                came_from[after] = (moment, move)
                wrong = self._wrong(after[3]) if reached[3] != moment[3] else None
                if wrong is not None:
                    return Found(len(came_from), wrong, self._trace(came_from, after))
                waiting.append(after)
        return Found(len(came_from), None, ())

    def _wrong(self, memory: Ids) -> str | None:
        return self.model.broken(frozenset(self.memories.values[number] for number in memory))

    def _trace(self, came_from: Mapping[Moment, tuple[Moment, Move] | None], moment: Moment) -> tuple[str, ...]:
        done: list[str] = []
        step = came_from[moment]
        while step is not None:
            moment, (place, event) = step
            done.append(f"{self.names[place]}: {event}" if isinstance(event, str) else str(self.letters.values[event]))
            step = came_from[moment]
        return tuple(reversed(done))

    # -- moves -------------------------------------------------------------------------------------------------

    def _first(self) -> Moment:
        nodes, sent = [], set[str | int]()
        for place, name in enumerate(self.names):
            state, acts = self.model.machine.start(self.model.members[name], {}, 0)
            nodes.append(self.nodes.number(self._node(place, state, (), (), acts, 0)))
            sent |= {self.letters.number(letter) for letter in _letters(name, 0, None, acts)}
        return (tuple(nodes), self._alive(tuple(nodes), sent), self.model.crashes, ())

    def _moves(self, moment: Moment) -> Iterator[tuple[Move, Moment]]:
        nodes, letters, crashes_left, _ = moment
        moves: list[Move] = []
        for place, node in enumerate(nodes):
            moves += [(place, timer) for timer in self.nodes.values[node].timers]
            if crashes_left:
                moves.append((place, CRASH))
        moves += [(self._places[self.letters.values[number].to], number) for number in letters]
        for place, event in moves:
            after = self._crashed(moment, place) if event == CRASH else self._received(moment, place, event)
            if after is not None:
                yield (place, event), after

    def _received(self, moment: Moment, place: int, event: str | int) -> Moment | None:
        """Return the moment after a member's timer fired or a letter reached it; None outside of the bounds."""
        key = (place, moment[0][place], event)
        if key not in self._stepped:
            self._stepped[key] = self._step(place, self.nodes.values[moment[0][place]], event)
        stepped = self._stepped[key]
        if stepped is None:
            return None
        node, sent, fact = stepped
        nodes = (*moment[0][:place], node, *moment[0][place + 1 :])
        if sum(self._effort(number) for number in nodes) > self.model.most_effort:
            return None
        letters: set[str | int] = {*moment[1], *sent}
        letters.discard(event)
        memory = moment[3] if fact is None else tuple(sorted({*moment[3], fact}))
        return (nodes, self._alive(nodes, letters), moment[2], memory)

    def _effort(self, number: int) -> int:
        if number not in self._efforts:
            self._efforts[number] = self.model.effort(self.nodes.values[number].state)
        return self._efforts[number]

    def _step(self, place: int, node: Node[S], event: str | int) -> tuple[int, Ids, int | None] | None:
        """Return a member's result for one event, which does not depend on the other members; cached."""
        name = self.names[place]
        letter = None if isinstance(event, str) else self.letters.values[event]
        incoming: Input = Heard(letter.sender, letter.message) if letter else Fired(str(event))
        state, acts = self.model.machine.step(self.model.members[name], node.state, 0, incoming)
        for act in acts:
            if isinstance(act, Wait) and act.timer in self.model.instant:
                state, more = self.model.machine.step(self.model.members[name], state, 0, Fired(act.timer))
                acts = (*acts, *more)
        if not self.model.within(state):
            return None
        timers = tuple(timer for timer in node.timers if timer != event)
        after = self._node(place, state, node.files, timers, acts, node.crashes)
        sent = tuple(self.letters.number(sent_letter) for sent_letter in _letters(name, node.crashes, letter, acts))
        fact = self.model.remember(name, state)
        return (self.nodes.number(after), sent, None if fact is None else self.memories.number(fact))

    def _node(
        self,
        place: int,
        state: S,
        files: tuple[tuple[str, Hashable], ...],
        timers: tuple[str, ...],
        acts: tuple[Act, ...],
        crashes: int,
    ) -> Node[S]:
        kept = {**dict(files), **{act.file: act.content for act in acts if isinstance(act, Store)}}
        alight = {*timers, *(act.timer for act in acts if isinstance(act, Wait))}
        alight -= self.model.ignored | self.model.instant
        member = self.model.members[self.names[place]]
        # A timer that would change nothing when it fires counts as not set.
        busy = (t for t in sorted(alight) if self.model.machine.step(member, state, 0, Fired(t)) != (state, ()))
        return Node(state, tuple(sorted(kept.items())), tuple(busy), crashes)

    def _crashed(self, moment: Moment, place: int) -> Moment:
        node = self.nodes.values[moment[0][place]]
        files = tuple((file, content) for file, content in node.files if file not in self.model.loses)
        state, acts = self.model.machine.start(self.model.members[self.names[place]], dict(files), 0)
        again = self.nodes.number(self._node(place, state, files, (), acts, node.crashes + 1))
        nodes = (*moment[0][:place], again, *moment[0][place + 1 :])
        sent = (self.letters.number(letter) for letter in _letters(self.names[place], node.crashes + 1, None, acts))
        return (nodes, self._alive(nodes, {*moment[1], *sent}), moment[2] - 1, moment[3])

    def _alive(self, nodes: Ids, letters: Iterable[str | int]) -> Ids:
        """Return the letters that may still have an effect."""
        return tuple(sorted(n for n in letters if isinstance(n, int) and not self._is_dead(n, nodes)))

    def _is_dead(self, number: int, nodes: Ids) -> bool:
        letter = self.letters.values[number]
        key = (number, nodes[self._places[letter.to]])
        if key not in self._dead:
            receiver = self.nodes.values[key[1]]
            too_late = letter.answers and letter.incarnation != receiver.crashes
            self._dead[key] = too_late or self.model.spent(receiver.state, letter.sender, letter.message)
        return self._dead[key]

    # -- symmetry ----------------------------------------------------------------------------------------------

    def _canonical(self, moment: Moment) -> Moment:
        """Return the smallest of the moments that renaming gives such that the members' nodes are in order. The
        smallest number among a node's renamings identifies it apart from names."""
        if not self._orders:
            return moment
        fitting = self._orders_that_sort(tuple([self._kind(number) for number in moment[0]]))
        if len(fitting) == 1:
            return self._as(moment, fitting[0])
        return min(self._as(moment, order) for order in fitting)

    def _kind(self, number: int) -> int:
        known = self._kinds.get(number)
        if known is None:
            known = self._kinds[number] = min(self._renamings("nodes", number))
        return known

    def _orders_that_sort(self, kinds: Ids) -> Ids:
        """Return the numbers of the renamings that put these nodes in order."""
        if kinds not in self._fitting:
            wanted = sorted(kinds)
            self._fitting[kinds] = tuple(
                number
                for number, order in enumerate(self._orders)
                if all(wanted[order[place]] == kind for place, kind in enumerate(kinds))
            )
        return self._fitting[kinds]

    def _as(self, moment: Moment, number: int) -> Moment:
        order = self._orders[number]
        nodes = [0] * len(order)
        for place, node in enumerate(moment[0]):
            nodes[order[place]] = self._renamings("nodes", node)[number]
        letters = tuple(sorted(self._renamings("letters", letter)[number] for letter in moment[1]))
        memory = tuple(sorted(self._renamings("memories", memory)[number] for memory in moment[3]))
        return (tuple(nodes), letters, moment[2], memory)

    def _renamings(self, kind: str, number: int) -> Ids:
        """Return the numbers of a value under each renaming of the members."""
        known = self._renamed.get((kind, number))
        if known is None:
            numbers: _Numbers = getattr(self, kind)
            names = [{name: self.names[order[n]] for n, name in enumerate(self.names)} for order in self._orders]
            known = tuple(numbers.number(_with_names(numbers.values[number], renamed)) for renamed in names)
            self._renamed[kind, number] = known
        return known


def _with_names(value: Any, names: Mapping[str, str]) -> Any:
    """Return ``value`` with members renamed, at any depth."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, frozenset):
        return frozenset(_with_names(item, names) for item in value)
    if isinstance(value, tuple):
        renamed = tuple(_with_names(item, names) for item in value)
        # A table keyed by members is kept sorted.
        return (
            tuple(sorted(renamed))
            if all(isinstance(item, tuple) and item[:1] and item[0] in names for item in value)
            else renamed
        )
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _with_names(getattr(value, f.name), names) for f in fields(value)})
    return value


def _letters(name: str, incarnation: int, letter: Letter | None, acts: tuple[Act, ...]) -> Iterator[Letter]:
    for act in acts:
        if isinstance(act, Send):
            yield Letter(name, act.to, act.message, incarnation, answers=False)
        elif isinstance(act, Answer) and letter is not None:
            yield Letter(name, letter.sender, act.message, letter.incarnation, answers=True)


def told(found: Found) -> str:
    """The way to what is broken, for a failed test."""
    return f"{found.moments} moments, {found.broken}\n" + "\n".join(found.trace)
