"""When a broker serves as master: from the end of its change of role, which tells the name servers; and when the first
producer comes.

Sources: RocketMQ ``ReplicasManager#changeToMaster``, ``ProducerManager#registerProducer``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.protocols.controller.facts import MasterReady, ProducerCame

CLIENTS_OWN_PRODUCER = "CLIENT_INNER_PRODUCER"
"""``MixAll.CLIENT_INNER_PRODUCER_GROUP``: each client has one, also one that only consumes."""


@dataclass(slots=True)
class Service:
    """What a broker's log says of its service as master of one epoch after the other."""

    _ready: list[tuple[FoldEvent, int, bool]] = field(default_factory=list)
    _came: list[tuple[FoldEvent, int]] = field(default_factory=list)
    _epoch: int | None = None
    _registered: bool = True
    _alone: bool = True

    def begin(self, event: FoldEvent) -> None:
        """The broker begins to change to master of an epoch."""
        self._epoch, self._registered, self._alone = event.term, True, True

    def end(self) -> None:
        """It is master no more."""
        self._epoch = None

    def not_registered(self, event: FoldEvent) -> None:
        """The name servers were not told of the change of role."""
        self._registered = False

    def role_changed(self, event: FoldEvent) -> None:
        """The change to master is done, and the name servers know it."""
        if event.term is not None and event.term == self._epoch:
            self._ready.append((event, event.term, self._registered))

    def producer(self, event: FoldEvent) -> None:
        """A producer sent its first heartbeat on a connection."""
        if self._alone and self._epoch is not None and event.value != CLIENTS_OWN_PRODUCER:
            self._came.append((event, self._epoch))
            self._alone = False

    def facts(self, emit: FactWriter) -> Iterator[Fact]:
        """When it was ready, and when the first producer came."""
        for event, term, registered in self._ready:
            yield MasterReady(*emit.at(event), term=term, registered=registered)
        for event, term in self._came:
            yield ProducerCame(*emit.at(event), term=term)
