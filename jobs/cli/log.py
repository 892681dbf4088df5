"""What a command says while it works: lines for people, or one JSON object a line for machines.

People read on standard output. Machines read on standard error, whole: the time in UTC, the level, the command, the
stage where there is one, the message, and what is known by then of the landing (``batch``) and the run (``run_id``).
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from rich.console import Console

from election_replay.jobs.reading.words import harmless

FORMATS = ("text", "json")

OUT = Console(highlight=False, markup=False, emoji=False)
ERR = Console(stderr=True, highlight=False, markup=False, emoji=False)
"""What stands in a log is shown as it is: ``:100:`` is no emoji."""

FURTHER_LINE = "\n    "
"""Behind this a message goes on. A name with a line end in it can bring no line that looks like one of ours."""

_log = logging.getLogger("election_replay")
_known: dict[str, Any] = {}


class JsonLines(logging.Handler):
    """Writes each record as one JSON object."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write it to standard error, as that is now."""
        head = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        line = head | _known | getattr(record, "fields", {})
        sys.stderr.write(json.dumps(line, default=str) + "\n")
        sys.stderr.flush()


class Text(logging.Handler):
    """Prints what each record says."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print it as it is, however long its lines."""
        lines = record.getMessage().split(FURTHER_LINE)
        OUT.print(FURTHER_LINE.join(map(harmless, lines)), soft_wrap=True)


def log_as(form: str, **known: Any) -> None:
    """Say things in this form from now on; ``known`` goes with each of them, where it is for machines."""
    _log.handlers = [JsonLines() if form == "json" else Text()]
    _log.setLevel(logging.INFO)
    _log.propagate = False
    _known.clear()
    _known.update(known)


def for_machines() -> bool:
    """Whether nobody reads along who would like a bar or an explanation."""
    return any(isinstance(handler, JsonLines) for handler in _log.handlers)


def known(**fields: Any) -> None:
    """What all that is said from now on is about."""
    _known.update({name: value for name, value in fields.items() if value is not None})


def log_event(message: str, level: int = logging.INFO, **fields: Any) -> None:
    """Say something. ``fields`` say it once more, for machines."""
    _log.log(level, "%s", message, extra={"fields": fields})
