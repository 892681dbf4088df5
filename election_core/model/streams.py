"""Streams: the name of a log file without what rolling, compression and copying add."""

import re
from pathlib import PurePath, PureWindowsPath

PACKED = (".gz", ".zst", ".bz2")
"""Suffixes of the compressions that can be read."""

_DATED = re.compile(
    r"[._-](?:19|20)\d\d-?[01]\d-?[0-3]\d"
    r"(?:[T_.-]?[0-2]\d(?:-?[0-5]\d(?:-?[0-5]\d(?:\.\d{3})?)?)?)?(?:[.-](?:\d{1,4}|1\d{9}))?(?=\.|$)"
    r"|-1\d{9}(?=\.|$)"
)
"""Dates that logrotate, the loggers' daily files, kubelet and lumberjack write into the names of rolled files."""

_DATE_FIRST = re.compile(r"^(?:19|20)\d\d-?[01]\d-?[0-3]\d[._-](?=[A-Za-z])")

_ROLL = re.compile(r"\.\d+(?=\.|$)")

_COPY = re.compile(
    r"(?:~|(?<=\.log)\.txt|\.(?:bak|old|orig|save|tmp|temp|part|partial|filepart|_COPYING_)| \(\d{1,3}\))\Z",
    re.IGNORECASE | re.ASCII,
)
"""Suffixes that editors, people and copying programs add to the name of a file."""

_OF_RSYNC = re.compile(r"\.(.+\..+)\.[A-Za-z0-9]{6}\Z", re.ASCII)
"""The name of a file that rsync has not copied completely."""


def stream_of(name: str) -> str:
    """Return ``name`` without what rolling, compression and copying add: ``broker.3.log.gz``, ``broker.log-20260301``
    and ``broker.log.bak`` are ``broker.log``."""
    plain = uncopied(unpacked(uncopied(name)))
    return uncopied(_ROLL.sub("", _DATED.sub("", _DATE_FIRST.sub("", plain)))) or name


def uncopied(name: str) -> str:
    """Return ``name`` without what copying adds."""
    rsync = _OF_RSYNC.fullmatch(name)
    return _COPY.sub("", rsync[1] if rsync else name) or name


def unpacked(name: str) -> str:
    """Return ``name`` without compression suffixes."""
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    return name


def stream_at(path: str) -> str:
    """Return the stream of a file by its whole path: ``/logs/broker.3.log`` is ``broker.log``."""
    return stream_of((PureWindowsPath if "\\" in path else PurePath)(path).name)
