"""The dialect of a program that the settings describe by a table.

Its name is the table itself, as JSON after the word ``described``: any machine that reads a file needs nothing else, and
a changed table gives the dialect another name.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from election_replay.election_core.dialects.described.table import MEANINGS, MOST_TEXTS, Row, Rows, refused
from election_replay.election_core.dialects.dialect import Dialect, Record, Table, Text
from election_replay.election_core.dialects.json_layouts import JsonLayout
from election_replay.election_core.dialects.layouts import BadLayout, any_layout
from election_replay.election_core.dialects.readings import in_json
from election_replay.election_core.dialects.system import Spoken, System
from election_replay.election_core.model.events import Event

NAME = "described"
PREFIX = "TOLD"
PROTOCOL = "described"
LONGEST = 64 << 10
"""The most characters of a table as JSON."""
NEVER = "described by nobody"
"""A text that no line begins with: the dialect without a table reads nothing."""


def named(name: str, layout: str, texts: list[Mapping[str, Any]]) -> str:
    """Return the dialect name of the program ``name``. Raises ``ValueError`` for a table that cannot be read."""
    table = json.dumps({"name": name, "layout": layout, "texts": texts}, separators=(",", ":"), sort_keys=True)
    described(table)
    return f"{NAME} {table}"


def shown(dialect: str) -> str:
    """Return a dialect's name for people: for one with a table, the program that it describes."""
    base, _, table = dialect.partition(" ")
    return f"{NAME} {json.loads(table)['name']}" if base == NAME and table else dialect


@lru_cache(maxsize=64)
def described(table: str) -> Dialect:
    """Return the dialect of a table. Raises ``ValueError`` with the reason for one that cannot be read."""
    if len(table) > LONGEST:
        raise ValueError(f"the table is longer than {LONGEST:,} characters")
    found = json.loads(table)
    rows = [Row(**row) for row in found["texts"]]
    if not 0 < len(rows) <= MOST_TEXTS:
        raise ValueError(f"it has no text, or more than {MOST_TEXTS}")
    for number, row in enumerate(rows, 1):
        if reason := refused(row):
            raise ValueError(f"text {number}, {row.text[:60]!r}: {reason}")
    try:
        layout = any_layout(found["layout"])
    except BadLayout as error:
        raise ValueError(f"the layout {found['layout']} cannot be read: {error}") from None
    reads = Rows(rows, PREFIX, {"protocol": PROTOCOL, "replica_group": found["name"]})

    def parse(record: Record) -> Event | None:
        line = layout.line(record.text)
        return None if line is None else reads.read(line, record)

    anchors = reads.table.anchors()
    return Dialect(
        name=f"{NAME} {table}",
        record_start=layout.record_start,
        needles=in_json(anchors) if isinstance(layout, JsonLayout) else anchors,
        utc_offset_minutes=0,
        parse=parse,
        time_of=layout.time_of,
        reads=lambda text: layout.line(text) is not None,
        anchors=anchors,
        plain=layout.plain,
    )


SYSTEM = System(
    title="Described programs",
    dialect=Dialect(
        name=NAME,
        record_start=f"^{NEVER}",
        needles=(NEVER,),
        utc_offset_minutes=0,
        parse=lambda _: None,
        time_of=lambda *_: None,
    ),
    table=Table(
        [Text(f"{PREFIX}_{of.kind}", f"{NEVER} {of.kind}", of.says, does=of.deeds) for of in MEANINGS.values()], {}
    ),
    streams=(f"{NAME}-*",),
    stream=f"{NAME}-program.log",
    protocols=(Spoken(PROTOCOL),),
    releases=((0, 0), (0, 0)),
    member="name",
)
"""Each file has a process of its own."""
