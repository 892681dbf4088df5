"""Whether a slave finds the point from which it can continue its master's log.

A slave compares its epochs with its master's when it connects, and cuts its log where both diverge. If they have
nothing in common, or the cut fails, it tries again at the next connection and copies nothing meanwhile.

Source: RocketMQ ``AutoSwitchHAClient#doTruncate``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.fold.process_runs import Incarnation, incarnation_at
from election_replay.election_core.fold.roles import FOLLOWER, UNKNOWN, Step
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.protocols.controller.facts import EpochRead, SlaveStuck

STUCK = "replication_stuck"
"""The cause of the role UNKNOWN of a slave that has nothing in common with its master."""


_COPIES_ON = frozenset({"HA_CLIENT_CUT", "HA_STATE"})
"""Lines that end a try successfully: the slave copies."""


@dataclass(frozen=True, slots=True)
class Tries:
    """Failed tries within one run of the process; ``until``: the line that ended them, if one did."""

    failed: tuple[FoldEvent, ...]
    until: FoldEvent | None


@dataclass(slots=True)
class Replication:
    """A slave's tries to follow its masters, by its ``store.log``."""

    _done: list[Tries] = field(default_factory=list)
    _failed: list[FoldEvent] = field(default_factory=list)
    _epochs: dict[int, FoldEvent] = field(default_factory=dict)

    def read(self, epoch: int, event: FoldEvent) -> None:
        """Take that the record of a master goes up to ``epoch``; the first line of each epoch counts."""
        self._epochs.setdefault(epoch, event)

    def failed(self, event: FoldEvent) -> None:
        """Take a failed try: no point in common, or a cut that did not work."""
        self._failed.append(event)

    def ended(self, event: FoldEvent) -> None:
        """Take the end of failed tries: copying goes on, or there is another master."""
        if self._failed:
            self._done.append(Tries(tuple(self._failed), event))
            self._failed = []

    def stuck(self, incarnations: Sequence[Incarnation]) -> Iterator[Tries]:
        """Yield the failed tries in a row, those of each run of the process separately."""
        for tries in (*self._done, Tries(tuple(self._failed), None)):
            by_life: dict[int, list[FoldEvent]] = {}
            for event in tries.failed:
                by_life.setdefault(incarnation_at(incarnations, event.at), []).append(event)
            for life, of_life in by_life.items():
                until = tries.until
                over = until is not None and incarnation_at(incarnations, until.at) == life
                yield Tries(tuple(of_life), until if over else None)

    def facts(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield a ``SlaveStuck`` fact for each row of failed tries, and an ``EpochRead`` for each epoch of a master."""
        for term, event in self._epochs.items():
            yield EpochRead(*emit.at(event), term=term)
        for tries in self.stuck(emit.incarnations):
            first = tries.failed[0]
            nothing_in_common = any(event.kind == "HA_CLIENT_NO_POINT" for event in tries.failed)
            last = tries.failed[-1]
            yield SlaveStuck(
                *emit.at(first, tries.until),
                nothing_in_common=nothing_in_common,
                count=len(tries.failed),
                last_at=last.at,
                evidence=tuple(dict.fromkeys((first.event_id, last.event_id))),
            )

    def without_following(self, steps: Sequence[Step], incarnations: Sequence[Incarnation]) -> list[Step]:
        """Return a broker's role steps, in order of time, without times in which it had nothing in common with its
        master."""
        apart = list(steps)
        for tries in self.stuck(incarnations):
            begin = next((event for event in tries.failed if event.kind == "HA_CLIENT_NO_POINT"), None)
            if begin is None:
                continue
            before = [step for step in steps if step.at <= begin.at]
            if not before or before[-1].role != FOLLOWER:
                continue
            follows = before[-1]
            lost = replace(follows, at=begin.at, by=begin.by, role=UNKNOWN, leader=None)
            apart.append(replace(lost, event_id=begin.event_id, cause=STUCK))
            until = tries.until
            if until is not None and until.kind in _COPIES_ON:
                apart.append(replace(follows, at=until.at, by=until.by, event_id=until.event_id, cause="told"))
        return sorted(apart, key=lambda step: step.at)
