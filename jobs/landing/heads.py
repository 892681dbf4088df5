"""What the beginning of a file shows: its dialect, the envelopes around its lines, the time of its first line."""

from typing import Any

from election_replay.election_core.dialects import CANONICAL, Dialect
from election_replay.jobs.landing.enveloped import chain_of, head_in_envelopes, opened_by
from election_replay.jobs.landing.evidence import HEAD_BYTES, Head, head_of
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.recognising import dialect_of
from election_replay.jobs.landing.understanding import archive
from election_replay.jobs.settings.config import Config


def head_found(file: LogFile, data: bytes, config: Config) -> Head:
    """Return the head of a file that begins with ``data``, without regard to known files.

    A metadata snapshot has no dialect, nor has an archive: lines of its members are those of no one log.
    """
    first = data[:HEAD_BYTES]
    if file.below or archive(first):
        return head_of(first, None, 0)
    setting = config.dialect_of(file.cluster, file.source_node, (file.name, file.stream))
    if chain := chain_of(file.stream, first, setting):
        inside = dialect_of(file.stream, opened_by(chain, data), setting)
        return head_in_envelopes(first, chain, inside, config, file.cluster, file.source_node)
    dialect = dialect_of(file.stream, data, setting)
    return head_of(first, dialect, zone_of(file, dialect, config))


def zone_of(file: LogFile, dialect: Dialect | None, config: Config) -> int | str:
    """Return the zone of a file's times: minutes east of UTC or an IANA name.

    For canonical events an IANA name in the settings counts as 0.
    """
    found = config.zone_of(file.cluster, file.source_node, dialect.utc_offset_minutes if dialect else 0)
    return 0 if dialect is CANONICAL and isinstance(found, str) else found


def zone_fields(zone: int | str) -> dict[str, Any]:
    """Return the two fields of a task that hold a zone: minutes for a fixed offset, a name for an IANA zone."""
    named = isinstance(zone, str)
    return {"utc_offset_minutes": 0 if named else zone, "time_zone": zone if named else None}
