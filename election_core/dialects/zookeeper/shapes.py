"""Values that ZooKeeper prints, and the columns they fill.

A zxid has 64 bits: the epoch in the upper half, a counter in the lower. It fills two columns, an entry's term and index.
Numbers are hexadecimal with or without ``0x``; releases up to 3.4.1 wrote decimals.
"""

import re
from collections.abc import Mapping

from election_replay.election_core.dialects.dialect import Fields, Shape, integer

ROLES = {"LOOKING": "CANDIDATE", "FOLLOWING": "FOLLOWER", "LEADING": "LEADER", "OBSERVING": "OBSERVER"}
"""Roles by ``QuorumPeer.ServerState``."""

NO_VOTE = -(2**63)
"""``Long.MIN_VALUE``: the vote of a server that must not vote."""

_DETAIL = re.compile(r"(\w+)(?: - (discovery|synchronization|broadcast))?(?: - (diff|snap|trunc))?")


def hexadecimal(printed: str) -> int:
    """Return a 64-bit number as Java prints it: sixteen f are -1."""
    digits = printed.removeprefix("0x")
    if not re.fullmatch(r"[0-9a-f]{1,16}", digits):
        raise ValueError(f"not a hexadecimal number: {printed[:40]!r}")
    number = int(digits, 16)
    return number - 2**64 if number >= 2**63 else number


def known(printed: str) -> int | None:
    """Return a hexadecimal number; None for the vote of a server that must not vote."""
    found = hexadecimal(printed)
    return None if found == NO_VOTE else found


def number(printed: str) -> int | None:
    """Return a number: hexadecimal after ``0x``, else decimal as in 3.4.1 and older."""
    return hexadecimal(printed) if printed.startswith("0x") else integer(printed)


def halves(zxid: int | None) -> tuple[int | None, int | None]:
    """Return epoch and counter of a zxid: (-1, -1) for a server without usable data, None for one without a vote."""
    if zxid is None or zxid == NO_VOTE:
        return None, None
    return (-1, -1) if zxid == -1 else (zxid >> 32, zxid & 0xFFFFFFFF)


def epoch(printed: str) -> int | None:
    """Return the epoch of a zxid, or a bare epoch: no epoch exceeds 32 bits."""
    found = hexadecimal(printed)
    return found if abs(found) < 2**32 else halves(found)[0]


def counter(printed: str) -> int | None:
    """Return the counter of a zxid."""
    return halves(hexadecimal(printed))[1]


def server(printed: str) -> str | None:
    """Return a server id; None where a server that must not vote names one."""
    found = integer(printed) if printed != str(NO_VOTE) else None
    return None if found is None else str(found)


def role(printed: str) -> str:
    """Return the role of a server's state. Raises ``ValueError`` for an unknown state."""
    try:
        return ROLES[printed]
    except KeyError:
        raise ValueError(f"not a state of a server: {printed[:40]!r}") from None


def servers(printed: str) -> tuple[str, ...]:
    """Return the ids of one or two quorums, ``1,2`` or ``[1, 2],[1, 3]``, each once, in order."""
    if re.search(r"[^\d\s,\[\]-]", printed):
        raise ValueError(f"not a set of server ids: {printed[:40]!r}")
    found = (server(name) for name in re.findall(r"-?\d+", printed))
    return tuple(dict.fromkeys(name for name in found if name is not None))


def _zxid(printed: str) -> Fields:
    term, index = halves(hexadecimal(printed))
    return {"ledger_end_term": term, "ledger_end": index}


def _zxid_old(printed: str) -> Fields:
    term, index = halves(number(printed))
    return {"ledger_end_term": term, "ledger_end": index}


def _peer_zxid(printed: str) -> Fields:
    term, index = halves(hexadecimal(printed))
    return {"peer_ledger_end_term": term, "peer_ledger_end": index}


def _peer_zxid_old(printed: str) -> Fields:
    term, index = halves(number(printed))
    return {"peer_ledger_end_term": term, "peer_ledger_end": index}


def _established(printed: str) -> Fields:
    """Read the zxid with which a leader begins: its epoch is the leader's."""
    term, index = halves(number(printed))
    return {"term": term, "ledger_end_term": term, "ledger_end": index}


def _detail(printed: str) -> Fields:
    """Read ``following - synchronization - diff``: state, phase, and how the log is brought up to date."""
    found = _DETAIL.fullmatch(printed)
    if found is None:
        raise ValueError(f"not a state in detail: {printed[:40]!r}")
    return {"role": role(found.group(1).upper()), "value": found.group(2), "result": found.group(3)}


ZOOKEEPER_SHAPES: Mapping[str, Shape] = {
    "hex": Shape(r"\S*?", known),
    "number": Shape(r"\S*?", number),
    "epoch": Shape(r"\S*?", epoch),
    "counter": Shape(r"\S*?", counter),
    "server": Shape(r"\S*?", server),
    "servers": Shape(r".*?", servers),
    "role": Shape(r"\S*?", role),
    "zxid": Shape(r"\S*?", _zxid, spread=True),
    "zxid_old": Shape(r"\S*?", _zxid_old, spread=True),
    "peer_zxid": Shape(r"\S*?", _peer_zxid, spread=True),
    "peer_zxid_old": Shape(r"\S*?", _peer_zxid_old, spread=True),
    "established": Shape(r"\S*?", _established, spread=True),
    "detail": Shape(r".*?", _detail, spread=True),
}
