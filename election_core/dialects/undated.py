"""Lines that leave their time to whoever collects them, as programs under journald and in containers do.

etcd up to 3.3 gives journald its messages alone, without time and package; operators drop ``%d`` from a layout because
the collector dates each line anyway. With the collector's time in front such a line reads as its system writes it.
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
    """A line with its time (microseconds UTC) in front, in UTC; ``None`` for what is no such line.

    ``program`` is who wrote it, where that is known.
    """
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
