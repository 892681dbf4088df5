"""When a broker serves as master: once its change of role has told the name servers; and when producers come.

    Begin to change to master ... Failed to register   Change broker ... to SYNC_MASTER        Registering ... completed
    master on the controllers' record                  no name server knows it               | clients find it

A change of role ends even if no name server could be told; then a registration, every ten to sixty seconds, does it.

Sources: RocketMQ ``ReplicasManager#changeToMaster``, ``BrokerOuterAPI#registerBrokerAll``,
``ProducerManager#registerProducer``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.protocols.controller.facts import MasterReady, ProducerCame, Unregistered

CLIENTS_OWN_PRODUCER = "CLIENT_INNER_PRODUCER"
"""``MixAll.CLIENT_INNER_PRODUCER_GROUP``: each client has one, also one that only consumes."""


@dataclass(slots=True)
class Service:
    """A broker's service as master of one epoch after the other, by its log."""

    _ready: list[tuple[FoldEvent, int]] = field(default_factory=list)
    _came: list[tuple[FoldEvent, int]] = field(default_factory=list)
    _unknown: list[tuple[FoldEvent, FoldEvent | None, int]] = field(default_factory=list)
    _epoch: int | None = None
    _lost: FoldEvent | None = None
    _reached: dict[str | None, bool] = field(default_factory=dict)
    _no_producer_yet: bool = True

    def begin(self, event: FoldEvent) -> None:
        """Take the begin of a change to master."""
        self.end(event)
        self._epoch, self._no_producer_yet = event.term, True

    def end(self, event: FoldEvent) -> None:
        """Take the end of its role as master of the present epoch."""
        self._known_again(event)
        self._epoch = None
        self._reached.clear()

    def registration(self, event: FoldEvent, *, done: bool) -> None:
        """Take an attempt to register at one name server."""
        self._reached[event.peer_address] = done
        if done:
            self._known_again(event)
        elif not any(self._reached.values()):
            self._lost = self._lost or event

    def _known_again(self, event: FoldEvent) -> None:
        if self._lost is not None and self._epoch is not None:
            self._unknown.append((self._lost, event, self._epoch))
        self._lost = None

    def role_changed(self, event: FoldEvent) -> None:
        """Take the end of the change to master."""
        if event.term is not None and event.term == self._epoch:
            self._ready.append((event, event.term))

    def producer(self, event: FoldEvent) -> None:
        """Take the first heartbeat of a producer on a connection."""
        if self._no_producer_yet and self._epoch is not None and event.value != CLIENTS_OWN_PRODUCER:
            self._came.append((event, self._epoch))
            self._no_producer_yet = False

    def facts(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield when the broker was ready, when no name server knew it, and when the first producer came."""
        for event, term in self._ready:
            yield MasterReady(*emit.at(event), term=term)
        open_end = [(self._lost, None, self._epoch)] if self._lost is not None and self._epoch is not None else []
        for lost, known, term in (*self._unknown, *open_end):
            yield Unregistered(*emit.at(lost, until=known), term=term)
        for event, term in self._came:
            yield ProducerCame(*emit.at(event), term=term)
