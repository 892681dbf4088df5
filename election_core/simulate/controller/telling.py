"""A world of the controller mode as a story for somebody who has never seen an election."""

from collections.abc import Iterator

from election_replay.election_core.simulate.telling import Sentences, Values, story
from election_replay.election_core.simulate.world import World


def narrate(world: World) -> Iterator[str]:
    """The story, line by line."""
    return story(world, _TELL, _WHY)


def _decided(v: Values) -> str | None:
    for name, *of in v["events"]:
        event = dict(of)
        recorded = v["recorded"]
        if name == "ElectMasterEvent" and event["newMasterElected"]:
            return f"ELECTS broker {recorded.master} master of epoch {recorded.epoch}"
        if name == "ElectMasterEvent":
            return f"finds nobody to elect: no master in epoch {recorded.epoch}"
        if name == "AlterSyncStateSetEvent":
            return f"records the SyncStateSet {{{', '.join(map(str, recorded.members))}}}"
        if name == "ApplyBrokerIdEvent":
            return f"gives the id {event['newBrokerId']} to {event['registerCheckCode']}"
        if name == "UpdateBrokerAddressEvent":
            return f"hears that broker {event['brokerId']} is at {event['brokerAddress']} now"
        if name == "CleanBrokerDataEvent":
            return "forgets brokers, as the operator says"
    return None


def _cut(v: Values) -> str | None:
    return f"cuts {v['lost']} bytes off its log: its master never had them" if v["lost"] else None


_TELL: Sentences = {
    "BRK_ELECT_FAILED": lambda _: "asks to be elected in vain",
    "BRK_MASTER_BEGIN": lambda v: f"IS MASTER of epoch {v['term']}",
    "BRK_META_POLL_ERR": lambda _: "asks who is master and gets no answer",
    "BRK_REG_APPLIED": lambda v: f"owns the id {v['identity'].broker_id}, and writes its identity file",
    "BRK_REG_APPLY_ERR": lambda v: f"does not get the id {v['value']}, and starts over",
    "BRK_REG_FILE_INVALID": lambda _: "has the identity of another broker set: it does not register",
    "BRK_REG_NEXT_ERR": lambda _: "is not told an id",
    "BRK_REG_SEND_ERR": lambda _: "could not register",
    "BRK_REG_TEMP": lambda v: f"is told that id {v['identity'].broker_id} is the next one, and will apply for it",
    "BRK_SLAVE_BEGIN": lambda v: f"follows broker {v['peer']} in epoch {v['term']}",
    "BRK_SSS_ALTER_ERR": lambda v: (
        "could not change its SyncStateSet" + (": no answer" if v["code"] is None else f": refused ({v['code']})")
    ),
    "CTL_BROKER_CHANNEL_CLOSED": lambda v: f"has lost the connection of broker {v['broker_id']}",
    "CTL_BROKER_EXPIRED": lambda v: f"has heard nothing of broker {v['broker_id']} for more than 10 s",
    "CTL_EVENT": _decided,
    "HA_ACK_TIMEOUT": lambda _: "cannot acknowledge a message: not all of its set have it",
    "HA_CAUGHT_UP": lambda v: f"sees that slave {v['peer']} has caught up: it wants it in the SyncStateSet",
    "HA_CLIENT_CUT": _cut,
    "HA_MASTER_STALE": lambda v: f"has a log of epoch {v['max_term']}, but is to lead epoch {v['term']}",
    "HA_SLAVE_STALE": lambda v: f"has a log of epoch {v['max_term']}, but is to follow in epoch {v['term']}",
}

_WHY: dict[str, str] = {
    "BRK_MASTER_BEGIN": "There is no lease: a master stays one until it hears of a larger epoch.",
    "BRK_REG_TEMP": "The code with the id makes a second try of the same broker the same request.",
    "BRK_SSS_ALTER_ERR": "Until the set shrinks, no message is acknowledged that one of its members does not have.",
    "CTL_BROKER_EXPIRED": "Brokers send heartbeats every second, and the controllers look every 5 s.",
    "CTL_EVENT": "The controllers' record decides: who has which id, who is master, who is in sync.",
    "HA_CAUGHT_UP": "Only a member of the SyncStateSet can be elected without losing acknowledged messages.",
    "HA_CLIENT_CUT": "With all members of the set acknowledging, nobody was told that these messages were safe.",
}
