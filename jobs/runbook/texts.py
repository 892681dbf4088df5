"""The YAML files of this package, read once."""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@cache
def text_of(file: str) -> Any:
    """Return the parsed content of a file of this package, which may be inside a zip archive."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(files(__package__).joinpath(file).read_text("utf-8"), loader)  # noqa: S506 - both are safe
