"""When a broker serves as master: from the end of its change of role, which tells the name servers; and when the first
producer comes.

    Begin to change to master ... Failed to register   Change broker ... to SYNC_MASTER        Registering ... completed
    master on the controllers' record                  no name server knows it               | clients find it

A change of role ends also where no name server could be told; a registration every ten to sixty seconds tells it then.

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
    """What a broker's log says of its service as master of one epoch after the other."""

    _ready: list[tuple[FoldEvent, int]] = field(default_factory=list)
    _came: list[tuple[FoldEvent, int]] = field(default_factory=list)
    _unknown: list[tuple[FoldEvent, FoldEvent | None, int]] = field(default_factory=list)
    _epoch: int | None = None
    _lost: FoldEvent | None = None
    _reached: dict[str | None, bool] = field(default_factory=dict)
    _alone: bool = True

    def begin(self, event: FoldEvent) -> None:
        """The broker begins to change to master of an epoch."""
        self.end(event)
        self._epoch, self._alone = event.term, True

    def end(self, event: FoldEvent) -> None:
        """It is master no more, or of another epoch."""
        self._known_again(event)
        self._epoch = None
        self._reached.clear()

    def registration(self, event: FoldEvent, *, done: bool) -> None:
        """A name server was told of it, or could not be."""
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
        """The change to master is done."""
        if event.term is not None and event.term == self._epoch:
            self._ready.append((event, event.term))

    def producer(self, event: FoldEvent) -> None:
        """A producer sent its first heartbeat on a connection."""
        if self._alone and self._epoch is not None and event.value != CLIENTS_OWN_PRODUCER:
            self._came.append((event, self._epoch))
            self._alone = False

    def facts(self, emit: FactWriter) -> Iterator[Fact]:
        """When it was ready, when no name server knew it, and when the first producer came."""
        for event, term in self._ready:
            yield MasterReady(*emit.at(event), term=term)
        open_end = [(self._lost, None, self._epoch)] if self._lost is not None and self._epoch is not None else []
        for lost, known, term in (*self._unknown, *open_end):
            yield Unregistered(*emit.at(lost, until=known), term=term)
        for event, term in self._came:
            yield ProducerCame(*emit.at(event), term=term)
