"""What the name of a log file says: its stream, whatever rolling and compression have made of it."""

import re
from pathlib import PurePath, PureWindowsPath

PACKED = (".gz", ".zst", ".bz2")
"""Suffixes of the compressions that can be read."""

_ROLL = re.compile(r"\.\d+(?=\.|$)")


def stream_of(name: str) -> str:
    """``name`` without roll and compression suffixes: ``broker.3.log.gz`` is ``broker.log``."""
    return _ROLL.sub("", unpacked(name)) or name


def unpacked(name: str) -> str:
    """``name`` without compression suffixes."""
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    return name


def stream_at(path: str) -> str:
    """The stream of a file by its whole path: ``/logs/broker.3.log`` is ``broker.log``."""
    return stream_of((PureWindowsPath if "\\" in path else PurePath)(path).name)
