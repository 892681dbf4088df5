"""A table of texts and their effects, from settings or a system's folder, compiled to read lines.

    - {text: "became leader of term {term}", does: leads}
    - {text: "following {leader} since term {term}", does: follows}
    - {text: "state changed", where: {to: Leader}, fields: {term: raft_term}, does: leads}

A text is a literal with placeholders: ``{term}`` and the other :data:`PLACES`, ``{}`` for a word that is not kept, and
``{...}`` for anything. A value ends at the first occurrence of the literal after it, so a line is read in one way only,
and only once. ``fields`` and ``where`` are for lines with values under keys: JSON, or ``key=value``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

from election_replay.election_core.dialects.canonical.dialect import KINDS, PROTOCOLS
from election_replay.election_core.dialects.dialect import SHAPES, Pattern, Record, Shape, Table, Text
from election_replay.election_core.dialects.json_layouts import value_of
from election_replay.election_core.dialects.parts import Line, event_of
from election_replay.election_core.model.deeds import Deed
from election_replay.election_core.model.events import Event

LONGEST_TEXT = 400
LONGEST_VALUE = 400
"""The most characters of a text in a table, and of a value in a line."""
MOST_PLACES = 8
MOST_TEXTS = 200

PLACES = {
    "term": "term",
    "node": "node",
    "leader": "peer",
    "candidate": "peer",
    "voter": "peer",
    "group": "replica_group",
    "peer": "peer",
    "value": "value",
    "members": "members",
    "duration": "duration_ms",
}
"""Placeholder names, and the columns that they fill. ``node`` is the writer of the line; ``value`` and ``members`` are the
ids in a message of a ring, separated by commas; ``duration`` is written as Go does, ``1m2.5s``."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The effect of a line: suffix of its kind's name, meaning, and the placeholder that it requires, if any."""

    kind: str
    says: str
    needs: str | None = None
    deeds: tuple[Deed, ...] = ()


MEANINGS: Mapping[str, Meaning] = {
    "starts": Meaning("START", "the program starts", deeds=(Deed.STARTS,)),
    "stops": Meaning("STOP", "the program was told to stop, or stops", deeds=(Deed.STOPS,)),
    "names_itself": Meaning("NAME", "the program says which member it is", "node"),
    "in_term": Meaning("TERM", "the member reaches a term", "term"),
    "leads": Meaning("LEADS", "the member leads from here on"),
    "follows": Meaning("FOLLOWS", "the member follows from here on, and whom"),
    "asks_for_votes": Meaning("ASKS", "the member asks for votes in a term"),
    "votes": Meaning("VOTES", "the member votes for a candidate", "candidate"),
    "gets_a_vote": Meaning("VOTED", "the member gets the vote of another one", "voter"),
    "refuses": Meaning("REFUSES", "the member does not vote for a candidate", "candidate"),
    "loses_leader": Meaning("LOST", "the member does not hear its leader any more"),
    "loses_quorum": Meaning("ALONE", "the member leads no more, since it does not reach enough others"),
    "misses": Meaning("MISSES", "the leader has not reached a member for a while", "duration"),
    "hands_over": Meaning("HANDS_OVER", "the leader begins to hand over its leadership"),
    "is_removed": Meaning("REMOVED", "the member was removed, or lost its vote: it leads and follows no more"),
}
"""The effects that a text of a table can have in an election by votes."""

ELECTIONS = {kind: says for kind, says in KINDS.items() if kind.partition("_")[0] in PROTOCOLS}
"""The effects that it can have where the highest id leads, by the kinds of canonical events."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: ``fields`` maps placeholders to keys, ``where`` maps keys to required values."""

    text: str
    does: str
    fields: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)


def refused(row: Row) -> str | None:
    """Return why a row cannot be read; None if it can."""
    meaning = MEANINGS.get(row.does)
    if meaning is None and row.does not in ELECTIONS:
        return f"does: {row.does} is none of {', '.join((*MEANINGS, *ELECTIONS))}"
    if not 0 < len(row.text) <= LONGEST_TEXT:
        return f"text: it has no character, or more than {LONGEST_TEXT}"
    try:
        parts = list(Formatter().parse(row.text))
    except ValueError as error:
        return f"text: {error}"
    named = [name for _, name, _, _ in parts if name is not None]
    unknown = [name for name in (*filter(None, named), *row.fields) if name not in {*PLACES, "..."}]
    if unknown or any(shape or conversion for _, _, shape, conversion in parts):
        return f"text: a place is {{}}, {{...}} or one of {', '.join(f'{{{name}}}' for name in PLACES)}"
    if len(named) > MOST_PLACES or len(set(filter(None, named)) - {"..."}) < len(
        [n for n in named if n not in ("", "...")]
    ):
        return f"text: more than {MOST_PLACES} places, or one of them twice"
    if any(not literal for literal, name, _, _ in parts[1:] if name is not None):
        return "text: between two places something must stand that tells where the first one ends"
    if not any(re.search(r"\w{2}", literal) for literal, _, _, _ in parts):
        return "text: it has no word of its own"
    if meaning and meaning.needs and meaning.needs not in {*named, *row.fields}:
        return f"text: what {row.does} needs {{{meaning.needs}}}, in the text or among the fields"
    return None


def compiled(text: Text, _shapes: Mapping[str, Any], _before: str) -> Pattern:
    """Return a text of a table as a pattern that reads each character once, from left to right."""
    parts = list(Formatter().parse(text.template.rstrip()))
    regex, literals, places, open_value = "", [""], [], ""
    for literal, name, _, _ in parts:
        literals[-1] += literal
        if name is None:
            continue
        regex, open_value = _closed(regex, open_value, literals[-1]), ""
        value = r"[^\n]" if name == "..." else r"\S"
        open_value = f"{value}{{0,{LONGEST_VALUE}}}"
        if name not in ("", "..."):
            open_value = f"({open_value}?)"
            places.append((PLACES[name], OTHER_SHAPES.get(name, SHAPES[""])))
        else:
            open_value += "?"
        literals.append("")
    regex = _closed(regex, open_value, literals[-1], last=True)
    anchor = max(literals, key=len)
    return Pattern(text, rf"{regex}\s*\Z", literals[0], anchor, anchor, tuple(places))


def listed(value: str) -> tuple[str, ...]:
    """Return the ids of a list printed with commas, in any brackets."""
    return tuple(name.strip() for name in value.strip("[](){}").split(",") if name.strip())


def milliseconds(value: str) -> int:
    """Return the length in ms of a duration as Go writes it: ``504.87293ms``, ``1m2.5s``. Raises ``ValueError`` for
    anything else."""
    if not _DURATION.fullmatch(value):
        raise ValueError(f"no duration: {value[:40]!r}")
    return round(sum(float(number) * _MS_OF[unit] for number, unit in _LENGTH.findall(value)))


_MS_OF = {"h": 3_600_000.0, "m": 60_000.0, "s": 1_000.0, "ms": 1.0, "us": 0.001, "µs": 0.001, "ns": 0.000_001}
_LENGTH = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|us|µs|ns|h|m|s)")
_DURATION = re.compile(rf"(?:{_LENGTH.pattern}){{1,4}}")

OTHER_SHAPES = {
    "term": SHAPES["int"],
    "members": Shape(SHAPES[""].pattern, listed),
    "duration": Shape(SHAPES[""].pattern, milliseconds),
}
"""The shapes of placeholders that hold no word."""


def _closed(regex: str, value: str, literal: str, last: bool = False) -> str:
    """Add one more value to a pattern; it ends at the first occurrence of the literal after it."""
    if not value:
        return regex + re.escape(literal)
    if not literal and last:
        return regex + value.replace("}?", "}")
    return rf"{regex}(?>{value}{re.escape(literal)})"


class Rows:
    """The rows of a table, compiled. ``sets`` are columns that all of them fill."""

    def __init__(self, rows: Sequence[Row], prefix: str, sets: Mapping[str, Any]) -> None:
        self.rows = tuple(rows)
        self.table = Table(
            (_text(row, prefix, {**sets, "_row": number}) for number, row in enumerate(self.rows)),
            {},
            before="",
            compile_text=compiled,
        )

    def read(self, line: Line, record: Record) -> Event | None:
        """Return the event of a line, or None. Raises :class:`Unparsable` for a known text with an impossible value."""

        def more(_kind: str, columns: dict[str, Any]) -> dict[str, Any] | None:
            row = self.rows[columns.pop("_row")]
            fields = line.fields
            return {"node": line.node, **columns, **_of_fields(row, fields)} if _fits(row, fields) else None

        return event_of(self.table, line._replace(thread=None), record, more=more)


def _text(row: Row, prefix: str, sets: Mapping[str, Any]) -> Text:
    if row.does in ELECTIONS:
        protocol = PROTOCOLS[row.does.partition("_")[0]]
        return Text(row.does, row.text, ELECTIONS[row.does], sets={**sets, "protocol": protocol})
    meaning = MEANINGS[row.does]
    return Text(f"{prefix}_{meaning.kind}", row.text, meaning.says, sets=sets, does=meaning.deeds)


def _fits(row: Row, found: Mapping[str, Any]) -> bool:
    return all(str(value_of(dict(found), key)) == wanted for key, wanted in row.where.items())


def _of_fields(row: Row, found: Mapping[str, Any]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for place, key in row.fields.items():
        value = value_of(dict(found), key)
        if place == "members" and isinstance(value, list):
            value = ",".join(map(str, value))
        if value is None or value == "" or isinstance(value, dict | list):
            continue
        printed = str(value)
        if len(printed) > LONGEST_VALUE:
            raise ValueError(f"{key} has more than {LONGEST_VALUE} characters")
        columns[PLACES[place]] = OTHER_SHAPES[place].read(printed) if place in OTHER_SHAPES else printed
    return columns
