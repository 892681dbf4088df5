"""What decides who serves a broker set with a configured master (RIP-32): the rules that judge and machine share.

Sources: RocketMQ ``BrokerController#startService``, ``#onMinBrokerChange``, ``RouteInfoManager#scanNotActiveBroker``.
"""

MASTER_ID = "0"
"""``MixAll.MASTER_ID``."""


def is_smaller(one: str | None, other: str | None) -> bool:
    """Whether one broker id is smaller than another; unknown ones are not."""
    return one is not None and other is not None and one.isdigit() and other.isdigit() and int(one) < int(other)


def acts(own: str, minimum: str | None) -> bool:
    """Whether a slave that believes ``minimum`` to be the smallest live id of its set acts as master."""
    return own != MASTER_ID and own == minimum


def serves(own: str, minimum: str | None) -> bool:
    """Whether a broker runs the special services: the master always, a slave while it acts."""
    return own == MASTER_ID or acts(own, minimum)
