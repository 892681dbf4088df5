"""``docs/event.schema.json`` from the event: ``python -m election_replay.election_core.dialects.canonical.schema`` prints it."""

import json
import sys
from typing import Any

from election_replay.election_core.dialects import KINDS
from election_replay.election_core.dialects.canonical.dialect import FIELDS

TIME = {
    "description": "Time with a zone as in RFC 3339, or milliseconds since 1970-01-01 UTC.",
    "anyOf": [{"type": "string", "format": "date-time"}, {"type": "integer", "minimum": 0}],
}
REQUIRED = ("kind", "event_time")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of one line of a ``*.events.jsonl`` file."""
    given = {
        "kind": {"description": "What the line says.", "enum": sorted(KINDS)},
        "event_time": TIME,
        "time_resolution_ms": {
            "description": "Length of the logged unit of time; without it 1, or 1000 for a text without a fraction.",
            "anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}],
        },
    }
    others = {name: {"anyOf": [shape, {"type": "null"}]} for name, (_, shape) in FIELDS.items() if name not in given}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Canonical event",
        "description": "One line of a *.events.jsonl file. Fields have the meaning of the columns of silver.events.",
        "type": "object",
        "properties": given | others,
        "required": list(REQUIRED),
        "additionalProperties": False,
    }


def render() -> str:
    """Return the schema as text for the documentation."""
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())
