"""The order of versions of metadata tables: what a returning master compares, and the judge too."""

Version = tuple[int | None, int | None, int | None]
"""State version, timestamp (ms), counter."""


def order(version: Version) -> tuple[int, int, int]:
    """The order of versions (DataVersion#compare): state version, then counter, then timestamp.

    What a file does not have counts as 0, as it does for the broker that reads the file: the state version is younger
    than the other two.
    """
    state_version, timestamp, counter = version
    return state_version or 0, counter or 0, timestamp or 0


def is_taken_over(held: Version, read: Version) -> bool:
    """Whether a returning master takes a member's table: a version that equals its own is enough
    (BrokerPreOnlineService#syncMetadataReverse)."""
    return order(held) <= order(read)


def following(version: Version, now_ms: int) -> Version:
    """The next version (DataVersion#nextVersion)."""
    state_version, counter, _ = order(version)
    return state_version, now_ms, counter + 1
