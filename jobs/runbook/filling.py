"""Commands that name what is known, in place of names in capitals.

Names in capitals remain where a thing is not known, and where its name is not plain: logs and folders could bring words
that a shell would run.
"""

import re
from collections.abc import Mapping
from datetime import datetime

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")
"""A name that means itself in a shell and in SQL, inside quotes and outside; no other one is put into a command."""
PLACEHOLDER = re.compile(r"'TIME'|\b(?:WAREHOUSE|FINDING_ID|CLUSTER|TIME|BROKER_NAME|BROKER:10911|HOST PORT|HOST)\b")


def filled(command: str | None, known: Mapping[str, str | None]) -> str | None:
    """A command with what is ``known`` for its names in capitals; ``None``: that one remains."""
    return command and PLACEHOLDER.sub(lambda found: known.get(found[0]) or found[0], command)


def plain(name: str) -> str | None:
    """The name, if it is plain, and none of those in capitals."""
    return name if PLAIN.fullmatch(name) and not PLACEHOLDER.search(name) else None


def at(moment: datetime) -> dict[str, str | None]:
    """A time, in the forms that our own views and journalctl read."""
    return {"'TIME'": f"'{moment:%Y-%m-%dT%H:%M:%SZ}'", "TIME": f'"{moment:%Y-%m-%d %H:%M:%S} UTC"'}
