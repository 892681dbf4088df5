"""The tables agree with every other form of them: the dataclasses of the core, the documentation."""

import re
import sys
from dataclasses import fields

import pytest

from election_replay.election_core.model.events import Event
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.measures import Fate, LostFrom, Scope, Standing, Unit
from election_replay.election_core.model.rows import TABLE_OF, Finding
from election_replay.election_core.replay import source_fold  # noqa: F401 - so that the rooms of all protocols are there
from election_replay.election_core.replay.registry import FACT_KINDS
from election_replay.schemas import TABLES, Table, docs
from election_replay.schemas.findings import ADVICE, FIRST_SEEN
from election_replay.schemas.model import EPOCH_ENTRIES

EVERY = pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)


SQL_TYPES = {
    "str": {"STRING"},
    "int": {"BIGINT", "TIMESTAMP"},
    "Fate": {"STRING"},
    "LostFrom": {"STRING"},
    "Scope": {"STRING"},
    "Standing": {"STRING"},
    "Unit": {"STRING"},
    "bool": {"BOOLEAN"},
    "tuple[str, ...]": {"ARRAY<STRING>"},
    "tuple[int, ...]": {"ARRAY<BIGINT>"},
    "tuple[election_replay.election_core.model.events.EpochEntry, ...]": {EPOCH_ENTRIES.sql},
}
"""The types that a field's type may have in a table."""


def names_of(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def test_an_event_row_is_its_source_its_meaning_and_its_batch() -> None:
    assert list(TABLES["events"].names)[-len(names_of(Event)) - 1 :] == [*names_of(Event), "batch"]


def test_a_fact_row_has_the_fields_of_every_kind_and_no_other() -> None:
    fields_of_kinds = {name for kind in FACT_KINDS.values() for name in names_of(kind)}
    assert set(TABLES["facts"].names) == {"kind", *fields_of_kinds}


@pytest.mark.parametrize("kind", FACT_KINDS.values(), ids=lambda kind: kind.__name__)
def test_a_kind_fits_its_columns(kind: type[Fact]) -> None:
    columns = {column.name: column for column in TABLES["facts"].columns}
    assert kind.kind == re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).upper()
    assert set(kind.KNOWN_AT_START) <= set(names_of(kind))
    for field in fields(kind):
        said = field.type if isinstance(field.type, str) else repr(field.type)
        plain = said.removeprefix("<class '").removesuffix("'>").removesuffix(" | None").rpartition("measures.")[2]
        assert columns[field.name].type.sql in SQL_TYPES[plain], field.name
        assert columns[field.name].nullable or not said.endswith("| None"), field.name


def test_every_kind_of_fact_is_listed() -> None:
    facts = re.compile(r"election_replay\.election_core\..*\bfacts")
    rooms = [module for name, module in sys.modules.items() if facts.fullmatch(name)]
    things = [thing for room in rooms for thing in vars(room).values() if isinstance(thing, type)]
    assert {thing for thing in things if issubclass(thing, Fact) and thing.kind} == set(FACT_KINDS.values())


@pytest.mark.parametrize("kind", TABLE_OF, ids=lambda kind: kind.__name__)
def test_a_gold_row_is_a_row_of_the_core(kind: type) -> None:
    of_runs = [*(column.name for column in (*FIRST_SEEN, *ADVICE))] if kind is Finding else []
    assert list(TABLES[TABLE_OF[kind]].names) == [*names_of(kind), *of_runs, "run_id"]


@pytest.mark.parametrize(
    ("kind", "table"),
    [(Event, "events"), *TABLE_OF.items()],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_types_are_those_of_the_dataclasses(kind: type, table: str) -> None:
    columns = {column.name: column for column in TABLES[table].columns}
    for field in fields(kind):
        column = columns[field.name]
        said = field.type if isinstance(field.type, str) else repr(field.type)
        plain = said.removeprefix("<class '").removesuffix("'>").removesuffix(" | None").rpartition("measures.")[2]
        assert column.type.sql in SQL_TYPES[plain], field.name
        assert column.nullable == said.endswith("| None"), field.name


@EVERY
def test_a_table_is_complete(table: Table) -> None:
    assert table.layer in {"bronze", "silver", "gold", "side"}
    assert table.comment.endswith(".")
    assert len(set(table.names)) == len(table.names)
    assert set(table.partitioned_by) <= set(table.names)
    for column in table.columns:
        assert column.comment.endswith((".", "?")), column.name
        if column.name.endswith("_ms"):
            assert column.unit == "ms", column.name
        if column.type.sql == "TIMESTAMP":
            assert column.unit == "UTC", column.name


def test_the_documentation_is_up_to_date() -> None:
    assert docs.PAGE.read_text(encoding="utf-8") == docs.render(), "run `python -m election_replay.schemas.docs`"


@EVERY
def test_the_values_of_a_closed_column_are_in_its_comment(table: Table) -> None:
    for column in table.columns:
        assert all(value in column.comment for value in column.one_of), column.name


def test_the_values_of_typed_columns_are_the_cores() -> None:
    columns = {column.name: column for column in TABLES["findings"].columns}
    assert columns["former_leader_fate"].one_of == tuple(Fate)
    assert columns["unit"].one_of == tuple(Unit)
    assert columns["lost_from"].one_of == tuple(LostFrom)
    assert columns["scope"].one_of == tuple(Scope)
    states = next(column for column in TABLES["terms"].columns if column.name == "former_leader_state")
    assert set(states.one_of) == set(Standing)


def test_open_facts_keep_all_their_fields_from_night_to_night() -> None:
    """A column that is missing there is null the next night, and the fact moves no more."""
    kept = set(TABLES["open_facts"].names)
    lost = {kind.__name__: set(names_of(kind)) - kept for kind in FACT_KINDS.values() if "goes_on" in names_of(kind)}
    assert not any(lost.values()), lost
