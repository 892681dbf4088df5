"""Values that etcd and its Raft library print, and the columns they fill.

A member's id is 64 bits, printed in hexadecimal without leading zeros; only ``switched to configuration`` of etcd
before 3.7 prints decimals, which become hexadecimal here so that a member has one name.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from election_replay.election_core.dialects.dialect import Fields, Shape, integer

_IN_BRACKETS = re.compile(r"\(([0-9a-f ]*)\)")
_CONFIGURATION = re.compile(r"voters=\(([0-9a-f ]*)\)(?:&&\(([0-9a-f ]*)\))? *(.*)")
_DURATION = re.compile(r"-?(?:\d+(?:\.\d+)?(?:h|m|s|ms|us|\u00b5s|\u03bcs|ns))+")
_PART = re.compile(r"(\d+)(?:\.(\d+))?(h|ms|m|s|us|\u00b5s|\u03bcs|ns)")
_NANOSECONDS = {
    "h": 3_600_000_000_000,
    "m": 60_000_000_000,
    "s": 1_000_000_000,
    "ms": 1_000_000,
    "us": 1_000,
    "\u00b5s": 1_000,
    "\u03bcs": 1_000,
    "ns": 1,
}


def member(printed: str) -> str | None:
    """Return a member's id as printed; None for 0. Raises ``ValueError`` for anything but 64 bits."""
    if not re.fullmatch(r"[0-9a-f]{1,16}", printed):
        raise ValueError(f"not the id of a member: {printed[:40]!r}")
    return None if printed == "0" else printed


def members(printed: str) -> tuple[str, ...]:
    """Return the ids of a list like ``1a,2b``."""
    return tuple(name for name in map(member, printed.split(",")) if name) if printed else ()


def _voters(printed: str, base: int) -> tuple[str, ...]:
    numbers = [int(number, base) for number in printed.split() if len(number) <= 20]
    if len(numbers) != len(printed.split()) or any(number >= 2**64 for number in numbers):
        raise ValueError(f"not ids of members: {printed[:80]!r}")
    return tuple(f"{number:x}" for number in numbers)


def _configuration(printed: str) -> Fields:
    """Read ``voters=(1 2)&&(2 3) learners=(4)``; after ``&&`` are the voters that a change replaces.

    The Raft library prints ids in hexadecimal since its 3.7.0 (etcd 3.7), and in decimal before. A letter in any id
    decides; one hashed id in two thousand has no letter, but then another one does. All ids are returned in
    hexadecimal.
    """
    found = _CONFIGURATION.fullmatch(printed)
    if found is None:
        raise ValueError(f"not a configuration: {printed[:80]!r}")
    now, replaced, rest = found.groups()
    ids = (now, replaced or "", *_IN_BRACKETS.findall(rest))
    base = 16 if re.search("[a-f]", "".join(ids)) else 10
    before = {} if replaced is None else {"members_before": _voters(replaced, base)}
    learners = _IN_BRACKETS.sub(lambda listed: f"({' '.join(_voters(listed[1], base))})", rest)
    return {"members": _voters(now, base), **before, "value": learners or None}


def milliseconds(printed: str) -> int:
    """Return a duration as Go prints it, ``1m2.5s``, in whole ms."""
    if len(printed) > 40 or not _DURATION.fullmatch(printed):
        raise ValueError(f"not a duration: {printed[:40]!r}")
    length = sum(map(_nanoseconds, _PART.finditer(printed))) // 1_000_000
    return -length if printed.startswith("-") else length


def _nanoseconds(part: re.Match[str]) -> int:
    whole, fraction, unit = part.groups()
    scale = _NANOSECONDS[unit]
    number = int(whole) * scale + int((fraction or "0")[:9].ljust(9, "0")) * scale // 10**9
    if number > 2**63:
        raise ValueError(f"duration beyond 64 bits: {part.group()}")
    return number


def _vote(printed: str) -> str:
    """Return the kind of request; before 2016 there was only one, printed as ``vote``."""
    return {"vote": "MsgVote"}.get(printed, printed)


def _answer(printed: str) -> str:
    return {"vote": "MsgVoteResp"}.get(printed, printed)


def _attributes(printed: str) -> Fields:
    """Read ``{Name:etcd1 ClientURLs:[http://10.0.0.1:2379]}``."""
    name, mark, urls = printed.partition(" ClientURLs:[")
    if not (mark and name.startswith("{Name:") and urls.endswith("]}")):
        raise ValueError(f"not the attributes of a member: {printed[:80]!r}")
    return {"broker_name": name.removeprefix("{Name:") or None, "address": urls.removesuffix("]}") or None}


ETCD_SHAPES: Mapping[str, Shape] = {
    "id": Shape(r"[0-9a-f]+", member),
    "ids": Shape(r"\S*?", members),
    "configuration": Shape(r".*?", _configuration, spread=True),
    "duration": Shape(r"\S*?", milliseconds),
    "vote": Shape(r"\w+", _vote),
    "answer": Shape(r"\w+", _answer),
    "attributes": Shape(r".*?", _attributes, spread=True),
}


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        raise ValueError(f"not a text: {str(value)[:40]!r}")
    value.encode()  # half a character, such as \\ud800, cannot be stored
    return value or None


def _of_text(read: Callable[[str], Any]) -> Callable[[Any], Any]:
    def read_value(value: Any) -> Any:
        text = _text(value)
        return None if text is None else read(text)

    return read_value


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"not a whole number: {str(value)[:40]!r}")
    return integer(str(value))


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"neither true nor false: {str(value)[:40]!r}")
    return value


def _urls(value: Any) -> str | None:
    if not isinstance(value, list):
        raise ValueError(f"not a list: {str(value)[:40]!r}")
    return ",".join(_text(url) or "" for url in value) or None


def _id(value: Any) -> str | None:
    """Return the id of a member; some lines write it as a number."""
    if type(value) is int:
        return member(f"{value:x}") if 0 <= value < 2**64 else member(str(value))
    return None if _text(value) is None else member(value)


ID, DURATION = _id, _of_text(milliseconds)

FIELDS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "local-member-id": ("node", ID),
    **dict.fromkeys(("remote-peer-id", "peer-id", "added-peer-id", "removed-remote-peer-id", "to"), ("peer", ID)),
    **dict.fromkeys(("remote-peer-id-from", "recovered-remote-peer-id", "updated-remote-peer-id"), ("peer", ID)),
    **dict.fromkeys(("promoted-member-id", "removed-member-id", "mismatch-member-id", "from"), ("peer", ID)),
    **dict.fromkeys(("follower-peer-id", "new-lead"), ("peer", ID)),
    **dict.fromkeys(("transferee-member-id", "new-leader-member-id", "raft-conf-change-node-id"), ("peer", ID)),
    **dict.fromkeys(("old-leader-member-id", "current-leader-member-id"), ("value_before", ID)),
    **dict.fromkeys(("added-peer-peer-urls", "removed-remote-peer-urls"), ("peer_address", _urls)),
    **dict.fromkeys(("recovered-remote-peer-urls", "updated-remote-peer-urls"), ("peer_address", _urls)),
    **dict.fromkeys(("took", "exceeded-duration", "clock-drift", "election-timeout"), ("duration_ms", DURATION)),
    "rtt": ("value", _of_text(lambda printed: str(milliseconds(printed)))),
    **dict.fromkeys(("etcd-version", "local-server-version", "signal", "alarm"), ("value", _text)),
    "cluster-id": ("cluster_name", ID),
    "name": ("broker_name", _text),
    "error": ("result", _text),
    **dict.fromkeys(("commit-index", "commit-index-from-wal"), ("committed", _whole)),
    "current-rev": ("state_version", _whole),
    "number-of-discarded-entries": ("count", _whole),
    "remote-peer-cluster-id": ("value", _text),
    "raft-conf-change": ("request", _text),
    **dict.fromkeys(("pre-vote", "added-peer-is-learner"), ("flag", _flag)),
    "local-member-attributes": ("", _of_text(_attributes)),
}
"""The fields of a JSON line beside its message, with the column of each; an empty name fills several columns."""
