"""The epochs of masters: sentinels' statements matched with the roles that servers print without an epoch.

    redis-3     M  MASTER MODE enabled                    a role without an epoch
    sentinel-2  +new-epoch 4, +promoted-slave redis-3     so it is the master of epoch 4

The n-th time that a server was told to become master belongs to the n-th epoch in which sentinels promoted it, if both
counts are equal and all pairs are equally far apart in time (with lines missing, counts may be equal by accident). If
not, the pairs nearest in time belong together. A role whose epoch no line prints gets one that only gives its order.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace

from election_replay.election_core.fold.roles import FOLLOWER, LEADER
from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.judge.group import in_order, since
from election_replay.election_core.judge.moments import belong_together
from election_replay.election_core.model.facts import Candidacy, Fact, Role, TermRaised, TermWentBack
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.redis.facts import SentinelSaid
from election_replay.election_core.protocols.redis.sentinel_log import NAMES, PROMOTED
from election_replay.election_core.protocols.redis.server_log import BY_COMMAND

Place = tuple[str, int, int]
"""The key of a role: its source, its begin, and its place in the log."""


def place_of(role: Fact) -> Place:
    """Return the key of a role."""
    return role.source_node, role.since, role.ordinal


@dataclass(frozen=True, slots=True)
class Epochs:
    """The facts with an epoch for each role of a master; ``guessed`` epochs, of roles in ``ordering``, only give an
    order. ``promotions`` maps (epoch, address) to the first message about it."""

    facts: list[Fact]
    ordering: frozenset[tuple[str, int]]
    guessed: frozenset[int]
    promotions: dict[tuple[int, str], SentinelSaid]

    @classmethod
    def of(cls, facts: Iterable[Fact], clocks: Clocks) -> "Epochs":
        """Make it from the facts of one group."""
        every = list(in_order(set(facts)))
        promotions = _promotions(every)
        leading = sorted(
            (fact for fact in every if isinstance(fact, Role) and fact.role == LEADER and fact.term is None),
            key=lambda role: (role.source_node, role.since, role.ordinal),
        )
        known = _promoted(leading, promotions, clocks)
        known |= _kept(every, known, _first(every), clocks)
        guessed = _guessed(every, known, leading)
        taken = [
            replace(fact, term=known.get(place_of(fact), guessed.get(place_of(fact))))
            if isinstance(fact, Role) and fact.role == LEADER and fact.term is None
            else fact
            for fact in every
        ]
        ordering = frozenset((source, begin) for source, begin, _ in guessed)
        printed = {fact.term for fact in every if isinstance(fact, TermRaised | Candidacy)}
        printed |= {*known.values(), *(fact.after for fact in every if isinstance(fact, TermWentBack))}
        printed |= {*(fact.before for fact in every if isinstance(fact, TermWentBack))}
        return cls(taken, ordering, frozenset(guessed.values()).difference(printed), promotions)


def _promotions(facts: Iterable[Fact]) -> dict[tuple[int, str], SentinelSaid]:
    """Map (epoch, address) of each promotion to its first message, by the promoting sentinel if its log is there."""
    word = [fact for fact in facts if isinstance(fact, SentinelSaid) and fact.term is not None and fact.node]
    found: dict[tuple[int, str], SentinelSaid] = {}
    for message in (PROMOTED, NAMES):
        for fact in sorted((fact for fact in word if fact.message == message), key=lambda fact: fact.since):
            found.setdefault((fact.term or 0, fact.node or ""), fact)
    return found


def _promoted(leading: list[Role], promotions: dict[tuple[int, str], SentinelSaid], clocks: Clocks) -> dict[Place, int]:
    """Return the epochs of roles that a server took by command."""
    known: dict[Place, int] = {}
    first_words = sorted(((epoch, word) for (epoch, _), word in promotions.items()), key=lambda promotion: promotion[0])
    taken: dict[str, list[Role]] = {}
    for role in leading:
        if role.cause == BY_COMMAND and role.node is not None:
            taken.setdefault(role.node, []).append(role)
    for address, roles in taken.items():
        epochs = sorted(epoch for epoch, of in promotions if of == address)
        in_turn = list(zip(roles, epochs, strict=False)) if len(epochs) == len(roles) > 1 else []
        apart = [_apart(role, promotions[epoch, address], clocks) for role, epoch in in_turn]
        later = any(_came_later(role, epoch, first_words, clocks) for role, epoch in in_turn)
        if apart and not later and belong_together(apart, Timeout.REDIS_PROMOTION.us):
            known |= {place_of(role): epoch for role, epoch in in_turn}
            continue
        promoted = {epoch: promotions[epoch, address] for epoch in epochs}
        known |= _nearest(roles, promoted, first_words, clocks)
    return known


def _nearest(
    roles: list[Role], promoted: dict[int, SentinelSaid], first_words: list[tuple[int, SentinelSaid]], clocks: Clocks
) -> dict[Place, int]:
    """Return the epochs of roles matched with the promotion nearest in time; the rest have no line."""
    found: dict[Place, tuple[int, int]] = {}
    for epoch, word in promoted.items():
        apart, role = min(((abs(_apart(role, word, clocks)), role) for role in roles), key=lambda near: near[0])
        place = place_of(role)
        if apart < Timeout.REDIS_PROMOTION.us and not _came_later(role, epoch, first_words, clocks):
            found[place] = min(found.get(place, (apart, epoch)), (apart, epoch))
    return {place: epoch for place, (_, epoch) in found.items()}


def _came_later(role: Role, epoch: int, first_words: list[tuple[int, SentinelSaid]], clocks: Clocks) -> bool:
    """Return True when a server of a lower epoch was promoted after the role began: so this epoch cannot be its own."""
    lower = bisect_left(first_words, epoch, key=lambda promotion: promotion[0]) - 1
    return lower >= 0 and clocks.elapsed(since(role), since(first_words[lower][1]))[0] > 0


def _apart(role: Role, promotion: SentinelSaid, clocks: Clocks) -> int:
    """Return the time in us from a role to its promotion; the least that clocks allow where one of them was set."""
    least, most = clocks.elapsed(since(role), since(promotion))
    return most if abs(most) < Timeout.REDIS_PROMOTION.us else min(max(least, 0), most)


def _first(facts: Iterable[Fact]) -> Fact | None:
    """Return the fact that raised the epoch to 1, if the logs cover it: before it the epoch was 0."""
    raised = [f for f in facts if isinstance(f, TermRaised | Candidacy) and f.term is not None]
    lowest = min((f.term or 0 for f in raised), default=0)
    return next((f for f in raised if f.term == 1), None) if lowest == 1 else None


def _kept(facts: Iterable[Fact], known: dict[Place, int], first: Fact | None, clocks: Clocks) -> dict[Place, int]:
    """Return the epochs of roles that continue an earlier one: of a restarted master, or of the first one. If a log
    begins with a master later than that, its epoch is unknown."""
    kept: dict[Place, int] = {}
    epoch: dict[str, int | None] = {}
    for role in sorted((fact for fact in facts if isinstance(fact, Role)), key=place_of):
        source = role.source_node
        if role.role == FOLLOWER:
            epoch[source] = None
        elif role.role == LEADER and role.term is None:
            found = known.get(place_of(role))
            if found is None and role.cause != BY_COMMAND:
                of_first = first is not None and clocks.elapsed(since(role), since(first))[0] > 0
                found = epoch.get(source, 0 if of_first else None)
                if found is not None:
                    kept[place_of(role)] = found
            epoch[source] = found
    return kept


def _guessed(facts: Iterable[Fact], known: dict[Place, int], leading: list[Role]) -> dict[Place, int]:
    """Return epochs that only give an order. A restarted master keeps its epoch, so later promotions come after it."""
    guessed: dict[Place, int] = {}
    before: dict[str, int] = {}
    for role in sorted((fact for fact in facts if isinstance(fact, Role)), key=place_of):
        place, source = place_of(role), role.source_node
        if role.role == FOLLOWER or role.cause == BY_COMMAND:
            before.pop(source, None)
        if role.role == LEADER:
            if role.term is None and place not in known:
                guessed[place] = before[source] if source in before else _between(role, known, leading)
            before[source] = known.get(place, guessed.get(place, role.term or 0))
    return guessed


def _between(role: Role, known: dict[Place, int], leading: list[Role]) -> int:
    """Return an epoch that only gives an order: that of the last known role before, or one below all."""
    before = [known[place_of(other)] for other in leading if place_of(other) in known and other.since <= role.since]
    after = [known[place_of(other)] for other in leading if place_of(other) in known and other.since > role.since]
    if before:
        return max(before)
    return max(min(after) - 1, 0) if after else 0
