"""The findings that brokers' logs prove about order locks, by the content of their tables.

Findings about locks name a broker by its folder.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.simulate.acting_master import truth as services
from election_replay.election_core.simulate.acting_master.machine import Broker
from election_replay.election_core.simulate.order_lock.machine import Key, LockRules
from election_replay.election_core.simulate.truth import Claim, Truth, clocks_agree, downtime, lossless, overlap_us
from election_replay.election_core.simulate.world import SECOND, Line, World

LOCK_LIFE, CLIENT_LIFE = Timeout.LOCK_LIFE.us, Timeout.LOCK_CLIENT_LIFE.us
_BLUR_US = 3 * SECOND
_EPISODE_US = 60 * SECOND
"""Findings combine holds that begin this close together, in us."""

RELEASED, PROCESS_ENDED, TAKEN, OPEN = "released", "process ended", "taken", "open"


@dataclass(slots=True)
class Stood:
    """One entry in one broker's table, from its grant to its end; ``renewed_us`` is its last grant. ``given_up_us`` is
    when its client released or locked the queue at another broker."""

    broker: str
    key: Key
    client: str
    begin_us: int
    shown: bool
    renewed_us: int
    end_us: int
    how: str = OPEN
    given_up_us: int | None = None

    @property
    def alive_until_us(self) -> int:
        """True time (us) at which the entry expired or ended."""
        return min(self.end_us, self.renewed_us + LOCK_LIFE)

    @property
    def held_until_us(self) -> int:
        """True time (us) at which the entry expired or ended, or its client gave it up."""
        return self.alive_until_us if self.given_up_us is None else min(self.alive_until_us, self.given_up_us)


@dataclass(slots=True)
class _LockLine:
    """One statement of a machine about locks, printed or not."""

    time_us: int
    node: str
    kind: str
    of: dict[str, Any]
    line: Line | None = field(default=None)


def truths(world: World) -> list[Truth]:
    """Return everything that a reviewer should be told about a world: about services and about locks."""
    lines = _lock_lines(world)
    stood = entries(world, lines)
    found = services.truths(world)
    found += _doubles(world, stood)
    found += _risks(world, stood)
    found += _without_quorum(world, stood, lines)
    found += _late(lines)
    return sorted(found, key=lambda truth: (truth.begin_us, truth.rule, truth.nodes, truth.words))


def _rules(world: World) -> LockRules:
    return next(p.member.rules.locks for p in world.processes.values() if isinstance(p.member, Broker))


# -- tables ---------------------------------------------------------------------------------------------------------


def _lock_lines(world: World) -> list[_LockLine]:
    lines = [
        _LockLine(line.true_us, line.node, line.kind, line.values, line)
        for line in world.lines
        if line.kind.startswith("LOCK_")
    ]
    silent = [_LockLine(t, node, say.kind, dict(say.values)) for t, node, say in world.unprinted if "LOCK_" in say.kind]
    return sorted([*lines, *silent], key=lambda line: line.time_us)


def entries(world: World, lines: list[_LockLine]) -> list[Stood]:
    """Return all entries of all tables."""
    found: list[Stood] = []
    standing: dict[tuple[str, Key], Stood] = {}
    for line in lines:
        if line.kind in ("LOCK_NEW", "LOCK_TAKEN_EXPIRED"):
            place = (line.node, line.of["key"])
            _end(standing, place, line.time_us, TAKEN)
            shown = line.line is not None and line.line.kept
            entry = Stood(*place, line.of["client_id"], line.time_us, shown, line.time_us, _end_of_life(world, line))
            standing[place] = entry
            found.append(entry)
        elif line.kind == "LOCK_RENEWED":
            standing[line.node, line.of["key"]].renewed_us = line.time_us
        elif line.kind == "LOCK_RELEASED":
            _end(standing, (line.node, line.of["key"]), line.time_us, RELEASED)
    for entry in found:
        if entry.how == OPEN and entry.end_us < world.now_us:
            entry.how = PROCESS_ENDED
        entry.given_up_us = _given_up(lines, found, entry, strict=_rules(world).strict)
    return found


def _end(standing: dict[tuple[str, Key], Stood], place: tuple[str, Key], time_us: int, how: str) -> None:
    entry = standing.pop(place, None)
    if entry is not None and time_us <= entry.end_us:
        entry.end_us, entry.how = time_us, how


def _end_of_life(world: World, line: _LockLine) -> int:
    """Return when the process that made an entry ended."""
    return next((begin for begin, _ in downtime(world, line.node) if begin > line.time_us), world.now_us)


def _given_up(lines: list[_LockLine], found: list[Stood], entry: Stood, *, strict: bool) -> int | None:
    """Return when the client released the queue at another broker or, unless strict, locked it there; None if it did
    not."""
    times = [
        line.time_us
        for line in lines
        if line.kind.startswith("LOCK_RELEASE")
        and line.node != entry.broker
        and line.of.get("client_id") == entry.client
        and entry.key in line.of.get("keys", (line.of.get("key"),))
    ]
    if not strict:
        times += [
            other.begin_us
            for other in found
            if other.broker != entry.broker and (other.key, other.client) == (entry.key, entry.client)
        ]
    return min((time for time in times if time > entry.begin_us), default=None)


def _pairs(stood: list[Stood]) -> Iterator[tuple[Stood, Stood]]:
    """Yield pairs of entries of one queue at two brokers, the earlier one first."""
    ordered = sorted(stood, key=lambda entry: entry.begin_us)
    for number, earlier in enumerate(ordered):
        for later in ordered[number + 1 :]:
            if earlier.key == later.key and earlier.broker != later.broker:
                yield earlier, later


# -- two holders ----------------------------------------------------------------------------------------------------


def _doubles(world: World, stood: list[Stood]) -> Iterator[Truth]:
    """Yield ``LOCK_DOUBLE_HOLD``: two clients with enough living entries each, or, as a weaker claim, with entries at
    all."""
    strict = _rules(world).strict
    for first, second in _pairs(stood):
        together = overlap_us((first.begin_us, first.end_us), (second.begin_us, second.end_us))
        if first.client == second.client or together == 0:
            continue
        lasted = overlap_us((first.begin_us, first.held_until_us), (second.begin_us, second.held_until_us))
        soon = second.begin_us - first.begin_us < LOCK_LIFE - _BLUR_US
        provable = not strict and lasted > _BLUR_US and soon and _both_show(world, first, second)
        holders = f"{first.client} at {first.broker} and {second.client} at {second.broker}"
        words = f"{holders} both had {first.key[2]} for {lasted / SECOND:.1f} s."
        nodes, claim = (first.broker, second.broker), _double_of(world, stood, first, second, strict)
        yield Truth("LOCK_DOUBLE_HOLD", nodes, (), second.begin_us, None, provable, words, claim)


def _both_show(world: World, first: Stood, second: Stood) -> bool:
    shown = first.shown and second.shown and lossless(world, first.broker, second.broker)
    return shown and clocks_agree(world)


def _double_of(world: World, stood: list[Stood], first: Stood, second: Stood, strict: bool) -> Claim:
    """Return a claim: if definite, about entries that lived together, for the stated time on the longest queue. An
    entry that lives at the end of the world is known only up to the last line."""
    shown = (line.true_us for line in world.lines if line.kept and line.node in (first.broker, second.broker))
    unseen_us = world.now_us - max(shown) + SECOND
    brokers = {first.broker, second.broker}
    lengths = [
        overlap_us((a.begin_us, a.held_until_us), (b.begin_us, b.held_until_us))
        for a, b in _pairs(stood)
        if {a.client, b.client} == {first.client, second.client}
        and {a.broker, b.broker} == {first.broker, second.broker}
    ]

    def covers(finding: Finding) -> bool:
        near = abs(finding.start_time - second.begin_us) <= _EPISODE_US + _BLUR_US
        if not near or set(finding.nodes) != brokers or strict:
            return False
        if finding.certainty != "definite":
            return True
        least, most = (finding.overlap_min_ms or 0) * 1000, (finding.overlap_max_ms or 0) * 1000
        open_us = unseen_us if max(first.held_until_us, second.held_until_us) >= world.now_us else 0
        return any(length > 0 and least <= length <= most + open_us for length in lengths)

    return covers


# -- what the non-strict mode risks ---------------------------------------------------------------------------------


def _risks(world: World, stood: list[Stood]) -> Iterator[Truth]:
    """Yield ``LOCK_NON_STRICT_RISK``: another client locks a queue at another broker soon after the table was lost."""
    if _rules(world).strict:
        return
    for first, second in _pairs(stood):
        lost_us = second.begin_us - first.end_us
        lost = first.how == PROCESS_ENDED and -_BLUR_US < lost_us < CLIENT_LIFE + 10 * SECOND
        if first.client == second.client or not lost:
            continue
        words = f"The lock of {first.key[2]} moved from {first.broker} to {second.broker}, which knew nothing of it."
        nodes = (first.broker, second.broker)
        provable = 13 * SECOND < lost_us < CLIENT_LIFE - 8 * SECOND and _both_show(world, first, second)
        yield Truth("LOCK_NON_STRICT_RISK", nodes, (), second.begin_us, None, provable, words, _near(nodes, second))


def _near(nodes: tuple[str, ...], entry: Stood) -> Claim:
    return lambda finding: (
        finding.nodes == nodes and -_BLUR_US <= entry.begin_us - finding.start_time <= 2 * _EPISODE_US + _BLUR_US
    )


# -- the quorum of the strict mode ----------------------------------------------------------------------------------


def _without_quorum(world: World, stood: list[Stood], lines: list[_LockLine]) -> Iterator[Truth]:
    """Yield ``LOCK_WITHOUT_QUORUM``: an entry made at the requested broker while no peer answered."""
    rules = _rules(world)
    if not rules.strict:
        return
    errors = [item for item in lines if item.kind == "LOCK_PEER_ERR"]
    for entry in stood:
        silent = {
            item.of["peer_address"]
            for item in errors
            if item.node == entry.broker and 0 <= item.time_us - entry.begin_us <= 5 * SECOND
        }
        others = [
            item
            for item in stood
            if item.broker != entry.broker and (item.key, item.client) == (entry.key, entry.client)
            and item.begin_us - 5 * SECOND < entry.begin_us
        ]  # fmt: skip
        living = {item.broker for item in others if item.alive_until_us > entry.begin_us}
        if rules.replicas - len(silent) >= rules.quorum or len(living) + 1 >= rules.quorum:
            continue
        lately = any(entry.begin_us - item.begin_us < LOCK_LIFE + 10 * SECOND for item in others)
        provable = entry.shown and not lately and lossless(world, entry.broker)
        words = f"{entry.broker} granted {entry.client} {entry.key[2]} alone: {', '.join(sorted(silent))} were silent."
        nodes = (entry.broker,)
        begin, claim = entry.begin_us, _from(nodes, entry.begin_us)
        yield Truth("LOCK_WITHOUT_QUORUM", nodes, (), begin, None, provable, words, claim)


def _from(nodes: tuple[str, ...], begin_us: int) -> Claim:
    """Return a claim that may begin earlier: with the first entry of its client at the broker."""
    return lambda finding: finding.nodes == nodes and finding.start_time <= begin_us + _BLUR_US


# -- after expiry ---------------------------------------------------------------------------------------------------


def _late(lines: list[_LockLine]) -> Iterator[Truth]:
    """Yield ``LOCK_USED_AFTER_EXPIRY``: a client releases a lock that had expired and gone to another."""
    taken: dict[tuple[str, Key], _LockLine] = {}
    for line in lines:
        if line.kind == "LOCK_TAKEN_EXPIRED":
            taken[line.node, line.of["key"]] = line
        elif line.kind == "LOCK_RELEASE_REFUSED":
            before = taken.get((line.node, line.of["key"]))
            if before is not None and before.of["peer_client_id"] == line.of["client_id"]:
                nodes = (line.node,)
                words = f"{line.of['client_id']} gave back {line.of['key'][2]}, which was another's by then."
                begin, claim = line.time_us, _from(nodes, line.time_us)
                yield Truth("LOCK_USED_AFTER_EXPIRY", nodes, (), begin, None, True, words, claim)
