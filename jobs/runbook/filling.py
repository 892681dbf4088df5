"""Fills known values into the placeholders of commands, which are names in capitals.

A placeholder stays if its value is unknown, or is not a plain name: logs and folders could contain text that a shell
would run.
"""

import re
from collections.abc import Mapping
from datetime import datetime

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")
"""A name without special characters for a shell or SQL, quoted or not; only such names are put into commands."""
PLACEHOLDER = re.compile(r"'TIME'|\b(?:WAREHOUSE|FINDING_ID|CLUSTER|TIME|BROKER_NAME|BROKER:10911|HOST PORT|HOST)\b")


def filled(command: str | None, known: Mapping[str, str | None]) -> str | None:
    """Return a command with the ``known`` values of its placeholders; a placeholder whose value is ``None`` stays."""
    return command and PLACEHOLDER.sub(lambda found: known.get(found[0]) or found[0], command)


def plain(name: str) -> str | None:
    """Return the name if it is plain and contains no placeholder; else ``None``."""
    return name if PLAIN.fullmatch(name) and not PLACEHOLDER.search(name) else None


def at(moment: datetime) -> dict[str, str | None]:
    """Return the values of the time placeholders, in the forms that our views and journalctl read."""
    return {"'TIME'": f"'{moment:%Y-%m-%dT%H:%M:%SZ}'", "TIME": f'"{moment:%Y-%m-%d %H:%M:%S} UTC"'}
