"""A world with acting masters as a story for somebody who has never heard of one."""

from collections.abc import Iterator

from election_replay.election_core.protocols.acting_master.tables import MASTER_ID
from election_replay.election_core.simulate.telling import Sentences, Values, story
from election_replay.election_core.simulate.world import World


def _min_changed(v: Values) -> str:
    return f"hears from a name server that the smallest live id is {v['after'][0]} now, no longer {v['before'][0]}"


def _serves(v: Values) -> str | None:
    return None if "flag" not in v else ("STARTS the special services" if v["flag"] else "stops the special services")


def _service_on(v: Values) -> str:
    role = "as master" if v["number"] == MASTER_ID else f"as slave; the smallest live id is {v['minimum'][0]}"
    return f"registers and serves, {role}"


def _permission(v: Values) -> str:
    return f"shows the topic {v['topic']} as {'writable' if v['permission'] & 2 else 'read only'}"


SENTENCES: Sentences = {
    "PRE_BEGIN": lambda _: "is up, and prepares to serve",
    "PRE_ALONE": lambda _: "finds no other member at the name server",
    "PRE_NO_MASTER": lambda _: "finds no master at the name server",
    "PRE_WAIT": lambda v: f"waits for replication with {v['peer_address']}",
    "PRE_REVERSE": lambda v: f"reads what consumers have read meanwhile from {v['peer_address']}",
    "PRE_NS_ERR": lambda _: "reaches no name server: it may not serve yet",
    "PRE_SEND_ERR": lambda v: f"does not reach {v['peer_address']}: tries again",
    "BRK_SERVICE_ON": lambda _: "serves without having prepared",
    "BRK_SERVICE_ON_MIN": _service_on,
    "BRK_MIN_CHANGED": _min_changed,
    "BRK_SCHEDULE": _serves,
    "NS_CHANNEL_CLOSED": lambda _: "sees the connection of a broker close",
    "NS_BROKER_EXPIRED": lambda v: f"has heard nothing of {v['address']} for {v['duration_ms'] // 1000} s",
    "NS_UNREG_LIVE": lambda v: f"drops {v['address']} from its table" if v["result"] == "OK" else None,
    "NS_BROKER_NEW": lambda v: f"has {v['address']} in its table",
    "NS_TOPIC_CHANGED": _permission,
}

WHY: dict[str, str] = {
    "BRK_MIN_CHANGED": "Nobody elects: each broker asks a name server every second who lives.",
    "BRK_SCHEDULE": "Delayed messages and checks of transactions: the smallest broker that lives must run them.",
    "NS_CHANNEL_CLOSED": "A process that dies closes its connections: that is noticed at once.",
    "NS_BROKER_EXPIRED": "A machine that is frozen or cut off closes nothing: that costs ten seconds and more.",
    "NS_TOPIC_CHANGED": "A set without its master can be read, not written.",
    "PRE_REVERSE": "The master comes back with offsets as old as its death: it asks the slaves for newer ones.",
}


def narrate(world: World) -> Iterator[str]:
    """The story, line by line."""
    return story(world, SENTENCES, WHY)
