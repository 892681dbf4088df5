"""From the facts of one replica group to its rows, whichever protocols it speaks."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from election_core.clock import Clocks
from election_core.facts import Fact
from election_core.protocols import jraft
from election_core.protocols.acting_master import rules as acting_master
from election_core.protocols.broker_identity import rules as broker_identity
from election_core.protocols.controller import rules as controller
from election_core.protocols.dledger import rules as dledger
from election_core.protocols.metadata import rules as metadata
from election_core.protocols.order_lock import rules as order_lock
from election_core.rows import Row

_RULES: dict[str, Callable[[list[Fact], Clocks], Iterator[Row]]] = {
    dledger.PROTOCOL: dledger.judge,
    jraft.PROTOCOL: jraft.judge,
    controller.PROTOCOL: controller.judge,
    metadata.PROTOCOL: metadata.judge,
    order_lock.PROTOCOL: order_lock.judge,
    broker_identity.PROTOCOL: broker_identity.judge,
    acting_master.PROTOCOL: acting_master.judge,
}


def rows_of_group(facts: Iterable[Fact]) -> Iterator[Row]:
    """All rows of one group. The same facts give the same rows, in the same order, however they came.

    Clocks belong to machines, not to protocols: what the messages of one protocol prove about them holds for all.
    """
    by_protocol = sorted(facts, key=lambda fact: fact.protocol)
    bounds = {fact.source_node: fact.bound_ms * 1000 for fact in by_protocol}
    clocks = Clocks(bounds, [*dledger.messages(by_protocol), *controller.messages(by_protocol)])
    for protocol, own in groupby(by_protocol, key=lambda fact: fact.protocol):
        yield from _RULES[protocol](list(own), clocks)
