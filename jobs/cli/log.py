"""Messages of a command while it works: lines for people, or one JSON object a line for machines.

Lines for people go to standard output. JSON goes to standard error, with the time in UTC, level, command, stage if any,
message, and the landing (``batch``) and the run (``run_id``) once they are known.
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
"""Consoles that print text literally: ``:100:`` in a log line is not an emoji."""

FURTHER_LINE = "\n    "
"""The line break within a message. Other line ends are escaped, so a name cannot fake a line of ours."""

_log = logging.getLogger("election_replay")
_known: dict[str, Any] = {}


class JsonLines(logging.Handler):
    """Writes each record as one JSON object."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record to the current standard error."""
        head = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        line = head | _known | getattr(record, "fields", {})
        sys.stderr.write(json.dumps(line, default=str) + "\n")
        sys.stderr.flush()


class Text(logging.Handler):
    """Prints the message of each record."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the message literally and without wrapping."""
        lines = record.getMessage().split(FURTHER_LINE)
        OUT.print(FURTHER_LINE.join(map(harmless, lines)), soft_wrap=True)


def log_as(form: str, **known: Any) -> None:
    """Log in this form from now on; ``known`` fields are added to each JSON object."""
    _log.handlers = [JsonLines() if form == "json" else Text()]
    _log.setLevel(logging.INFO)
    _log.propagate = False
    _known.clear()
    _known.update(known)


def for_machines() -> bool:
    """Return True if messages are JSON, so that progress bars and explanations are unwanted."""
    return any(isinstance(handler, JsonLines) for handler in _log.handlers)


def known(**fields: Any) -> None:
    """Add fields to each JSON object from now on; ``None`` values are skipped."""
    _known.update({name: value for name, value in fields.items() if value is not None})


def log_event(message: str, level: int = logging.INFO, **fields: Any) -> None:
    """Log a message. ``fields`` are added to its JSON object."""
    _log.log(level, "%s", message, extra={"fields": fields})
