"""The order of DataVersions of metadata tables, as a returning master compares them."""

Version = tuple[int | None, int | None, int | None]
"""State version, timestamp (ms), counter."""


def order(version: Version) -> tuple[int, int, int]:
    """Return the sort key of a version (DataVersion#compare): state version, then counter, then timestamp. A missing
    field counts as 0, as for the broker that reads the file: older releases wrote no state version."""
    state_version, timestamp, counter = version
    return state_version or 0, counter or 0, timestamp or 0


def is_taken_over(held: Version, read: Version) -> bool:
    """Return True when a returning master takes a member's table: an equal version is enough
    (BrokerPreOnlineService#syncMetadataReverse)."""
    return order(held) <= order(read)


def following(version: Version, now_ms: int) -> Version:
    """Return the next version (DataVersion#nextVersion)."""
    state_version, counter, _ = order(version)
    return state_version, now_ms, counter + 1
