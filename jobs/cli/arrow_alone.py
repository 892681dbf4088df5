"""Arrow without pandas, in a process that is a command."""

import sys
from importlib.machinery import ModuleSpec

import pyarrow as pa


class _NoPandas:
    """Says of pandas that it is not installed."""

    @staticmethod
    def find_spec(name: str, *_: object) -> ModuleSpec | None:
        """Nothing of any module but pandas. Raises :class:`ModuleNotFoundError` for that."""
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def arrow_alone() -> None:
    """Let Arrow ask now whether there is pandas, and hear that there is none.

    It asks once, with the first value that it is given, as that might be one of pandas, and imports all of pandas for
    it: a fifth of a second in each command, none of which has such values. Whoever asks for pandas later gets it.
    """
    if "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, _NoPandas)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(_NoPandas)
