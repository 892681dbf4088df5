"""How what a source saw becomes facts: who speaks, when its processes ran, and the writer of its facts."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from election_core.fold.identity import NOT_LISTED, Identity, Listed, process_of
from election_core.fold.process_runs import SECOND, Incarnation
from election_core.fold.roles import Span
from election_core.model import facts
from election_core.model.facts import Fact


@dataclass(frozen=True, slots=True)
class Speaker:
    """One source after its last event: identity and lives, by process."""

    cluster: str
    source_node: str
    bound_ms: int
    identity: Identity
    incarnations: dict[str, list[Incarnation]]
    listed: Listed = NOT_LISTED

    @property
    def broker_set(self) -> str | None:
        """The broker set, by its own lines, else by the inventory."""
        return self.identity.broker_set or self.listed.replica_group

    def broker_id_at(self, time: int, incarnations: list[Incarnation]) -> str | None:
        """The broker id that the process had, by its own lines, else by the inventory."""
        return self.identity.broker_id_at(time, incarnations) or self.listed.member

    def about(self, group: str, protocol: str, stream: str, node_at: Callable[[int], str | None]) -> "FactWriter":
        """Facts of one protocol about one group, from the process that writes ``stream``."""
        return FactWriter(self, group, protocol, self.incarnations.get(process_of(stream), []), node_at)


class Noted(Protocol):
    """Anything that a log noted with a time: an event, a decision, a grant."""

    @property
    def at(self) -> int:
        """Not before this, in microseconds UTC on the own clock."""

    @property
    def by(self) -> int:
        """Not after this."""

    @property
    def event_id(self) -> str:
        """The line."""


@dataclass(frozen=True, slots=True)
class FactWriter:
    """Makes facts of one protocol about one group. ``node_at`` names the node that speaks, at a time."""

    speaker: Speaker
    group: str
    protocol: str
    incarnations: list[Incarnation]
    node_at: Callable[[int], str | None]

    def saw(self, kind: str, noted: Noted, **more: Any) -> Fact:
        """A fact at the time of what was noted; ``node`` is the speaker unless given."""
        if "node" not in more:
            more["node"] = self.node_at(noted.at)
        return self.fact(kind, noted.at, noted.by, noted.event_id, **more)

    def fact(self, kind: str, since: int, since_by: int, since_event: str | None, **more: Any) -> Fact:
        """A fact with all its parts given; where the clock was put back, an interval still ends after it begins."""
        if more.get("until") is not None and more.get("until_by") is not None:
            more["until_by"] = max(more["until"], more["until_by"])
        return Fact(
            cluster=self.speaker.cluster,
            replica_group=self.group,
            protocol=self.protocol,
            kind=kind,
            source_node=self.speaker.source_node,
            since=since,
            since_by=max(since, since_by),
            since_event=since_event,
            bound_ms=self.speaker.bound_ms,
            **more,
        )

    def roles(self, spans: Iterable[Span]) -> Iterator[Fact]:
        """``ROLE`` facts of role spans."""
        for span in spans:
            step = span.step
            yield self.fact(
                facts.ROLE,
                step.at,
                step.by,
                step.event_id,
                node=step.node or self.node_at(step.at),
                until=span.until,
                until_by=span.until_by,
                until_event=span.until_event,
                role=step.role,
                term=step.term,
                peer=step.leader,
                cause=step.cause,
                result=span.end_cause,
                address=step.address,
            )

    def life(self) -> Iterator[Fact]:
        """``ALIVE`` and ``SILENCE`` facts of the process."""
        for life in self.incarnations:
            yield self.fact(
                facts.ALIVE,
                life.first_seen,
                life.first_seen,
                life.start_event,
                node=self.node_at(life.first_seen),
                until=life.last_seen,
                until_by=life.last_seen + SECOND,
                until_event=life.stop_event,
                flag=life.stop is not None,
            )
            for hole in life.silences:
                yield self.fact(
                    facts.SILENCE,
                    hole.begin,
                    hole.begin + SECOND,
                    hole.begin_event,
                    node=self.node_at(hole.begin),
                    until=hole.end,
                    until_by=hole.end + SECOND,
                    until_event=hole.end_event,
                )
