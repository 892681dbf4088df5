"""Writing ZooKeeper's log lines in the layout of its own log4j and logback files."""

from collections.abc import Iterable
from datetime import UTC, datetime

from election_replay.election_core.dialects.writing import Writer
from election_replay.election_core.dialects.zookeeper.texts import REASONS, TEXTS

WRITER = Writer(TEXTS)
REASON = Writer(REASONS)
"""Why a role ended."""
SETTINGS = {str(text.sets["setting"]): Writer([text]) for text in TEXTS if text.kind == "ZK_SETTING"}
"""Lines of the settings, which differ only in the name."""


def line(time_us: int, level: str, thread: str, place: str, message: str) -> str:
    """Return a line; ``place`` is the class with its line number, ``QuorumPeer@909``. Times are truncated to ms."""
    second = datetime.fromtimestamp(time_us // 1_000_000, UTC)
    return f"{second:%Y-%m-%d %H:%M:%S},{time_us // 1000 % 1000:03d} - {level:<5} [{thread}:{place}] - {message}"


def servers(sids: Iterable[str]) -> str:
    """Return a set of ids as Java prints it."""
    return f"[{', '.join(sids)}]"
