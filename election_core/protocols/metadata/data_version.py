"""The order of versions of metadata tables: what a returning master compares, and the judge too."""

Version = tuple[int | None, int | None, int | None]
"""State version, timestamp (ms), counter."""


def order(version: Version) -> tuple[int, int, int]:
    """The order of versions (DataVersion#compare): state version, then counter, then timestamp."""
    state_version, timestamp, counter = version
    return state_version or 0, counter or 0, timestamp or 0


def is_taken_over(held: Version, read: Version) -> bool:
    """Whether a returning master takes a member's table: a version that equals its own is enough
    (BrokerPreOnlineService#syncMetadataReverse)."""
    return order(held) <= order(read)


def following(version: Version, now_ms: int) -> Version:
    """The next version (DataVersion#nextVersion)."""
    state_version, _, counter = version
    return state_version or 0, now_ms, (counter or 0) + 1
