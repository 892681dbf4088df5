"""Values that Redis prints, and the columns they fill. An address is ``host:port``, however it is printed."""

from collections.abc import Mapping

from election_replay.election_core.dialects.dialect import Fields, Shape, integer

NODE = r"[0-9a-f]{40}"
HUMAN = r"(?: \(?[^():]*\)?)?"
"""The name of a node, mostly empty, that 7.2 and newer print after its id; one line has no brackets."""
_INSTANCE = r"(?:master|slave|sentinel) \S+ \S+ \d+"


def address(host: str, port: str) -> str:
    """Return an address as ``host:port``. Raises ``ValueError`` for no port."""
    number = integer(port)
    if number is None or not 0 <= number <= 65_535:
        raise ValueError(f"not a port: {port[:40]!r}")
    return f"{host}:{number}"


def _instance(printed: str) -> Fields:
    """Read ``slave 10.0.0.2:6379 10.0.0.2 6379 @ mymaster 10.0.0.1 6379``: an instance, and its master as seen.

    ``request`` is its type, ``peer_address`` its address, ``peer`` the id of a sentinel; ``address`` is the master's.
    """
    instance, _, masters = printed.partition(" @ ")
    kind, name, host, port = instance.split(" ")
    group, *of_master = masters.split(" ") if masters else [name, host, port]
    return {
        "request": kind,
        "replica_group": group,
        "address": address(*of_master),
        "peer_address": address(host, port),
        "peer": name if kind == "sentinel" else None,
    }


def _switch(printed: str) -> Fields:
    """Read the addresses of the former and the new master."""
    before, port_before, now, port = printed.split(" ")
    return {"peer_address": address(before, port_before), "address": address(now, port)}


def _agreed(printed: str) -> Fields:
    """Read how many sentinels call the master down, and how many must."""
    agreed, quorum = printed.split("/")
    return {"accepted": integer(agreed), "count": integer(quorum)}


REDIS_SHAPES: Mapping[str, Shape] = {
    "node": Shape(NODE + HUMAN, lambda printed: printed[:40]),
    "instance": Shape(rf"{_INSTANCE}(?: @ \S+ \S+ \d+)?", _instance, spread=True),
    "switch": Shape(r"\S+ \d+ \S+ \d+", _switch, spread=True),
    "agreed": Shape(r"\d+/\d+", _agreed, spread=True),
    "client": Shape(r"[^']*", lambda printed: printed),
}
