"""``docs/tables.md`` from the schemas: ``python -m schemas.docs`` rewrites it."""

from pathlib import Path

from schemas import TABLES
from schemas.model import Column, Table

PAGE = Path(__file__).parent.parent / "docs" / "tables.md"

HEAD = """# Tables

Generated from `schemas/` by `python -m schemas.docs`; do not edit.

Delta tables at `<warehouse>/<layer>/<table>`. Times are UTC timestamps with microseconds. Read the tables at the
versions that the last row of `gold/runs` names, as `election-replay sql` does: what is newer is not published yet.
"""


def render() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(section(table) for table in TABLES.values())])


def section(table: Table) -> str:
    """One table: what it holds, its key, its columns."""
    lines = [f"## {table.path}", "", table.comment, ""]
    if table.key:
        lines += ["Key: " + ", ".join(f"`{name}`" for name in table.key) + ".", ""]
    if table.partitioned_by:
        lines += ["Partitioned by " + ", ".join(f"`{name}`" for name in table.partitioned_by) + ".", ""]
    lines += ["| column | type | null | meaning |", "|---|---|---|---|", *(row(c) for c in table.columns), ""]
    return "\n".join(lines)


def row(column: Column) -> str:
    """One column as a line of the table."""
    null = "yes" if column.nullable else "no"
    meaning = column.remark.replace("|", "\\|")
    return f"| `{column.name}` | {column.type.sql.lower()} | {null} | {meaning} |"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(render(), encoding="utf-8")
