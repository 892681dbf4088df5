"""What decides who serves a broker set with a configured master (RIP-32): the rules that judge and machine share.

Sources: RocketMQ ``BrokerController#startService``, ``#onMinBrokerChange``, ``RouteInfoManager#scanNotActiveBroker``.
"""

from election_replay.election_core.model import digits

MASTER_ID = "0"
"""``MixAll.MASTER_ID``."""


def is_smaller(broker_id: str | None, other: str | None) -> bool:
    """Return True when one broker id is smaller than the other; False if either is unknown."""
    number, compared = digits.number(broker_id), digits.number(other)
    return number is not None and compared is not None and number < compared


def acts(broker_id: str, minimum: str | None) -> bool:
    """Return True when a slave that believes ``minimum`` to be the smallest live id of its set acts as master."""
    return broker_id != MASTER_ID and broker_id == minimum


def serves(broker_id: str, minimum: str | None) -> bool:
    """Return True when a broker runs the special services: a master always, a slave while it acts."""
    return broker_id == MASTER_ID or acts(broker_id, minimum)
