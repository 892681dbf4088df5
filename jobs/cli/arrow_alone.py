"""Keeps Arrow from importing pandas in processes of the command line."""

import sys
from importlib.machinery import ModuleSpec

import pyarrow as pa


class _NoPandas:
    """A module finder that reports pandas as not installed."""

    @staticmethod
    def find_spec(name: str, *_: object) -> ModuleSpec | None:
        """Raise :class:`ModuleNotFoundError` for pandas, and return None for any other module."""
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def skip_pandas() -> None:
    """Make Arrow look for pandas now and find none.

    Arrow looks once, when it converts its first value, which might be one of pandas, and imports all of pandas: a fifth
    of a second in each command, and no command has such values. Later imports of pandas work as usual.
    """
    if "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, _NoPandas)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(_NoPandas)
