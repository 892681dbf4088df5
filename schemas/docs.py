"""Generates ``docs/tables.md`` from the schemas: ``python -m election_replay.schemas.docs``."""

from pathlib import Path
from textwrap import fill

from election_replay.schemas import TABLES
from election_replay.schemas.model import Column, Table, View
from election_replay.schemas.views import VIEWS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tables.md"

HEAD = """# Tables

Generated from `schemas/` by `python -m election_replay.schemas.docs`; do not edit.

Delta tables at `<warehouse>/<layer>/<table>`. Times are UTC timestamps with microseconds. To the judged tables rows are
only added: those count whose `cluster`, `replica_group` and `run_id` stand in `gold/published`, and all others are of
former runs or not published yet. [reading.md](reading.md) has the join for other engines.

`election-replay sql`, and any Spark session after `election_replay.jobs.spark_views.register(spark, warehouse)`, know
the tables by their bare names, and the views and table functions at the end of this page; [queries.md](queries.md) asks
them.
"""

VIEWS_HEAD = """# Views

Defined in `schemas/views.py`, once for Spark and duckdb. A view with parameters is a table function: `SELECT * FROM
leader_at('cluster', 'group', '2026-03-01T05:00:00Z')`; a parameter with a default may be left out.
"""


def render() -> str:
    """Return the page."""
    return "\n".join([HEAD, *map(section, TABLES.values()), VIEWS_HEAD, *map(view_section, VIEWS.values())])


def section(table: Table) -> str:
    """Return the section of a table: comment, key and columns."""
    lines = [f"## {table.path}", "", prose(table.comment), ""]
    if table.key:
        lines += [prose("Key: " + ", ".join(f"`{name}`" for name in table.key) + "."), ""]
    if table.partitioned_by:
        lines += ["Partitioned by " + ", ".join(f"`{name}`" for name in table.partitioned_by) + ".", ""]
    if table.replaced_by:
        lines += ["A night replaces rows by " + " and ".join(f"`{name}`" for name in table.replaced_by) + ".", ""]
    if table.by_run:
        lines += ["Rows are only added: join with `gold/published` by `cluster`, `replica_group` and `run_id`.", ""]
    lines += ["| column | type | null | meaning |", "|---|---|---|---|", *(row(c) for c in table.columns), ""]
    return "\n".join(lines)


def view_section(view: View) -> str:
    """Return the section of a view or function: comment, parameters and columns."""
    lines = [f"## {view.call}", "", prose(view.comment), ""]
    for parameter in view.parameters:
        default = f" Default: {parameter.default}." if parameter.default else ""
        lines.append(f"- `{parameter.name}` ({parameter.type.sql.lower()}): {parameter.comment}{default}")
    lines += [""] * bool(view.parameters)
    lines += ["| column | type | null | meaning |", "|---|---|---|---|", *(row(c) for c in view.columns), ""]
    return "\n".join(lines)


def prose(text: str) -> str:
    """Return a paragraph wrapped at 120 characters."""
    return fill(text, 120, break_long_words=False, break_on_hyphens=False)


def row(column: Column) -> str:
    """Return a column as a row of the Markdown table."""
    null = "yes" if column.nullable else "no"
    meaning = column.remark.replace("|", "\\|")
    return f"| `{column.name}` | {column.type.sql.lower()} | {null} | {meaning} |"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(render(), encoding="utf-8")
