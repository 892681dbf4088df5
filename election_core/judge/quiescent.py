"""Quiescent groups: verdicts that do not depend on how far the logs go.

Nothing has happened for long in a quiescent group: its members run, and their logs show nothing else. It is judged as
if its logs ended soon after the last event, provided that its rows are the same when they end later. Another quiet
night then changes nothing in its input, and its verdicts are kept. All other groups are judged to the end of their
logs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from election_replay.election_core.model.facts import Alive, Committed, Fact, Role, Written
from election_replay.election_core.model.timing import Timeout

FIRST_END, SECOND_END = Timeout.QUIESCENT_END.us, Timeout.QUIESCENT_END_LATER.us
"""So long after the last thing that happened the logs are taken to end: the rows must be the same with both."""
LAGGING = Timeout.SILENT_END.us


@dataclass(frozen=True, slots=True)
class Quiescent:
    """The time since which nothing happens in a group (us UTC), and a hash of its open facts."""

    since: int
    open_facts_hash: str

    @classmethod
    def of(cls, since: int, open_facts: Sequence[Fact]) -> "Quiescent":
        """Return the state of a group; ``open_facts`` are its facts that the next line of a log changes."""
        cut = [sorted(map(repr, ended(open_facts, since + end))) for end in (FIRST_END, SECOND_END)]
        return cls(since, sha256(repr(cut).encode()).hexdigest()[:16])

    def holds(self, open_facts: Sequence[Fact]) -> bool:
        """Return True when the group is still quiescent, ``open_facts`` being all that changed."""
        return self.since == quiescent_since(open_facts, self.since) and self == Quiescent.of(self.since, open_facts)


def quiescent_since(facts: Iterable[Fact], begun: int = 0) -> int | None:
    """Return since when (us UTC) nothing happened in a group, not before ``begun``. ``None``: something happened
    shortly before its logs end. The last line of a process is an event where it is well before the last line of the
    group."""
    of_group = list(facts)
    ends = [fact.until for fact in of_group if fact.end_provisional and fact.until is not None]
    if not ends:
        return None
    end, since = max(ends), begun
    for fact in of_group:
        since = max(since, _last_change(fact, end))
    return since if end - since >= SECOND_END + LAGGING else None


def _last_change(fact: Fact, end: int) -> int:
    """Return the last moment of a fact in us, but for an end that the next line of its log moves."""
    if fact.value_provisional:
        return 0
    if fact.until is None or fact.until_by is None or isinstance(fact, Written):
        return fact.since_by
    if fact.end_provisional and end - fact.until < LAGGING:
        return fact.since_by
    return max(fact.since_by, fact.until_by)


def may_be_quiescent(facts: Iterable[Fact]) -> bool:
    """Return True unless a leader of an older term still commits."""
    newest: dict[str, int] = {}
    growing: list[Committed] = []
    for fact in facts:
        if isinstance(fact, Committed) and fact.value_provisional:
            growing.append(fact)
        if isinstance(fact, Role) and fact.term is not None:
            newest[fact.protocol] = max(newest.get(fact.protocol, 0), fact.term)
    return all(fact.term >= newest.get(fact.protocol, 0) for fact in growing)


def ended(facts: Iterable[Fact], end: int) -> list[Fact]:
    """Return the facts as they are if the logs end at ``end`` (us UTC) and nothing happens after that."""
    return [shown for fact in facts if (shown := _ended(fact, end)) is not None]


def _ended(fact: Fact, end: int) -> Fact | None:
    """Return the fact as of ``end``; ``None`` where it would begin later."""
    if fact.value_provisional and fact.since > end:
        # The leader commits something by then; which entries, and what its followers know of them, does not matter.
        at_end = {"since": end, "since_by": end, "since_event": None, "from_index": None, "to_index": None}
        return replace(fact, **at_end) if isinstance(fact, Committed) else None  # type: ignore[arg-type]
    if not fact.end_provisional or fact.until is None or fact.until_by is None or fact.until <= end:
        return fact
    until_by = end + fact.until_by - fact.until
    shown = replace(fact, until=end, until_by=until_by, until_event=None)
    if isinstance(shown, Alive) and shown.sure_until is not None:
        return replace(shown, sure_until=min(shown.sure_until, end))
    return shown
