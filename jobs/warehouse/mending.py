"""Tables that an older release left unreadable: its ``forget`` wrote texts as a type by which Arrow cannot filter."""

import re
from collections.abc import Iterable
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

BY_DELTA = re.compile(r".*-c\d{3}(\.\w+)?\.parquet")
"""How data files are called that Delta-rs wrote: only these need be looked into."""


def mend(warehouse: Warehouse, names: Iterable[str]) -> None:
    """Write those tables anew of which some texts are of such a type."""
    for name in filter(partial(has_views, warehouse), names):
        warehouse.overwrite(name, warehouse.dataset(name).scanner(list(TABLES[name].names)).to_reader())


def has_views(warehouse: Warehouse, name: str) -> bool:
    """Whether some texts of a table are of such a type."""
    system, root = warehouse.files(warehouse.location(name))
    written = pa.table(warehouse.opened(name).get_add_actions())["path"].to_pylist()
    schemas = (pq.read_schema(f"{root}/{path}", filesystem=system) for path in written if BY_DELTA.fullmatch(path))
    return any(is_view(field.type) for schema in schemas for field in schema)


def is_view(kind: pa.DataType) -> bool:
    """Whether values of a type are views, or hold some."""
    if kind in {pa.string_view(), pa.binary_view()}:
        return True
    return any(is_view(kind.field(at).type) for at in range(kind.num_fields))
