"""Lines without a time, which their collector adds, as under journald and in containers.

etcd up to 3.3 passes only its messages to journald, without time and package; operators drop ``%d`` from a layout
because the collector dates each line anyway. With the collector's time before it, such a line reads as usual.
"""

import re
from datetime import UTC, datetime, timedelta

from election_replay.election_core.dialects.hashicorp.system import SYSTEM as HASHICORP

_LEVEL = "(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)"
_ZOOKEEPER = re.compile(rf"(\[myid:[^\]]*\] - )?{_LEVEL} +\[.{{1,200}}?:[\w.$]+@\d+\]", re.ASCII)
_ROCKETMQ = re.compile(rf"{_LEVEL} [^\s\[].{{0,200}}? - ", re.ASCII)
_ETCD = re.compile(
    r"(?:[A-Z] \| )?(?:raft|rafthttp|etcdserver|etcdmain|embed|membership|wal|snap|mvcc|pkg|auth)(?:/[\w-]+)*: ",
    re.ASCII,
)
_HASHICORP = re.compile(r"(\[[A-Z]{3,5}\] +)?(?=[\w./-]*raft: )", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def dated(text: str, time: int, program: str | None) -> str | None:
    """Return a line with its time (us UTC) before it, in UTC; None if the line is not of this kind. ``program`` wrote
    the line; None if unknown."""
    at = _EPOCH + timedelta(microseconds=time)
    if found := _ZOOKEEPER.match(text):
        return f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d} {'' if found[1] else '- '}{text}"
    if program in HASHICORP.places and (found := _HASHICORP.match(text)):
        return f"{at:%Y/%m/%d %H:%M:%S.%f} {found[1] or '[INFO] '}{text[found.end() :]}"
    if _ETCD.match(text):
        return f"{at:%Y-%m-%d %H:%M:%S.%f} {text}"
    if program == "etcd" and text[:1].isalnum():
        return f"{at:%Y-%m-%d %H:%M:%S.%f} etcd: {text}"
    if _ROCKETMQ.match(text):
        return f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d} {text}"
    return None
