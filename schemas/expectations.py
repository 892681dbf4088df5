"""The expectations of a table: those that follow from its columns, and those that it defines."""

from collections.abc import Iterator

from election_replay.schemas.model import Column, Expectation, Table, sql_text

PLACE = ("source_node", "path", "source_file", "line_no")
"""Columns that locate a row for a person; examples of failing rows show them."""


def suite(table: Table) -> tuple[Expectation, ...]:
    """Return all expectations of ``table``."""
    return (*derived(table), *table.expectations)


def derived(table: Table) -> Iterator[Expectation]:
    """Yield the expectations that follow from columns: keys, nulls, closed sets and least values."""
    if table.key:
        yield one_row_a_key(table)
    wanted = [column.name for column in table.columns if not column.nullable]
    if wanted:
        yield Expectation(
            name="no_missing_values",
            says="Columns that are never null have a value.",
            failing=rows_where(table, " OR ".join(f"{name} IS NULL" for name in wanted)),
        )
    for column in table.columns:
        if column.one_of:
            yield one_of(table, column.name, column.one_of)
        if column.at_least is not None:
            yield at_least(table, column)


def one_row_a_key(table: Table) -> Expectation:
    """Expect that no two rows have the same key."""
    shown = [name for name in PLACE if name in table.names and name not in table.key]
    columns = [cluster_of(table), *(name for name in table.key if name != "cluster")]
    seen = [*columns, *(f"any_value({name}) AS {name}" for name in shown), "count(*) AS times"]
    return Expectation(
        name="one_row_a_key",
        says=f"No two rows have the same {', '.join(table.key)}.",
        failing=f"SELECT {', '.join(seen)} FROM {table.name} GROUP BY {', '.join(table.key)} HAVING count(*) > 1",
    )


def one_of(table: Table, column: str, values: tuple[str, ...]) -> Expectation:
    """Expect that the column has only known values."""
    known = ", ".join(sql_text(value) for value in values)
    return Expectation(
        name=f"known_{column}",
        says=f"{column} is one of its {len(values)} known values.",
        # Not NOT IN: DuckDB pushes that down into the reader of the files, which gets it wrong for some encodings.
        failing=rows_where(table, f"NOT list_contains([{known}], {column})"),
    )


def at_least(table: Table, column: Column) -> Expectation:
    """Expect that the column is not less than ``column.at_least``."""
    return Expectation(
        name=f"least_{column.name}",
        says=f"{column.name} is at least {column.at_least}.",
        failing=rows_where(table, f"{column.name} < {column.at_least}"),
    )


def rows_where(table: Table, condition: str) -> str:
    """Return a SELECT of the rows for which ``condition`` is true."""
    names = ["*"] if "cluster" in table.names else [cluster_of(table), "*"]
    return f"SELECT {', '.join(names)} FROM {table.name} WHERE {condition}"


def cluster_of(table: Table) -> str:
    """Return the SQL of a row's cluster; null in tables without that column."""
    if "cluster" not in table.names:
        return "NULL AS cluster"
    return "cluster" if "cluster" in table.key else "any_value(cluster) AS cluster"
