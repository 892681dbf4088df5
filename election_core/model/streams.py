"""What the name of a log file says: its stream, whatever rolling and compression have made of it."""

import re
from pathlib import PurePath, PureWindowsPath

PACKED = (".gz", ".zst", ".bz2")
"""Suffixes of the compressions that can be read."""

_DATED = re.compile(
    r"[._-](?:19|20)\d\d-?[01]\d-?[0-3]\d"
    r"(?:[T_.-]?[0-2]\d(?:-?[0-5]\d(?:-?[0-5]\d(?:\.\d{3})?)?)?)?(?:[.-](?:\d{1,4}|1\d{9}))?(?=\.|$)"
    r"|-1\d{9}(?=\.|$)"
)
"""What logrotate, the loggers' daily files, kubelet and lumberjack write into the name of a file that they put away."""

_DATE_FIRST = re.compile(r"^(?:19|20)\d\d-?[01]\d-?[0-3]\d[._-](?=[A-Za-z])")

_ROLL = re.compile(r"\.\d+(?=\.|$)")

_COPY = re.compile(
    r"(?:~|\.(?:bak|old|orig|save|tmp|temp|part|partial|filepart|_COPYING_)| \(\d{1,3}\))\Z", re.IGNORECASE | re.ASCII
)
"""What editors, people and programs that copy add to the name of a file, for a while or for ever."""

_OF_RSYNC = re.compile(r"\.(.+\..+)\.[A-Za-z0-9]{6}\Z", re.ASCII)
"""What rsync calls a file that it has not copied whole."""


def stream_of(name: str) -> str:
    """``name`` without what rolling, compression and copying add: ``broker.3.log.gz``, ``broker.log-20260301``,
    ``broker.log.bak`` are ``broker.log``.
    """
    plain = uncopied(unpacked(uncopied(name)))
    return uncopied(_ROLL.sub("", _DATED.sub("", _DATE_FIRST.sub("", plain)))) or name


def uncopied(name: str) -> str:
    """``name`` without what is added to that of a copy."""
    rsync = _OF_RSYNC.fullmatch(name)
    return _COPY.sub("", rsync[1] if rsync else name) or name


def unpacked(name: str) -> str:
    """``name`` without compression suffixes."""
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    return name


def stream_at(path: str) -> str:
    """The stream of a file by its whole path: ``/logs/broker.3.log`` is ``broker.log``."""
    return stream_of((PureWindowsPath if "\\" in path else PurePath)(path).name)
