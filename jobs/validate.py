"""Validating: what must hold for the newest tables is looked at, noted and shown; nothing else is changed."""

import sys
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from jobs.gates.checks import Check, check, chosen_tables, record
from jobs.warehouse.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Validation:
    """What one validation found: its id in ``gold.validations``, the tables, the checks, and the first page of docs."""

    validation_id: str
    tables: tuple[str, ...]
    checks: tuple[Check, ...]
    page: Path | None = None


def validate(
    warehouse: Warehouse,
    layers: Collection[str] = (),
    clusters: Collection[str] | None = None,
    as_of: datetime | None = None,
    *,
    docs: bool = True,
) -> Validation:
    """Look at the tables of some layers, of all by default; of ``clusters``, unless that is ``None``.

    Sources are to be no staler than ``as_of`` asks. ``docs``: the data docs are written too. Raises
    :class:`~jobs.JobError` when nothing was ever landed, or when an expectation cannot be checked.
    """
    tables = chosen_tables(warehouse, layers)
    checks = check(warehouse, tables, clusters, as_of)
    validation_id = record(warehouse, checks)
    page = written_docs(warehouse, checks) if docs else None
    return Validation(validation_id, tuple(tables), tuple(checks), page)


def written_docs(warehouse: Warehouse, checks: Collection[Check]) -> Path | None:
    """The first page of the data docs, once they are written; Great Expectations is only imported for them."""
    from jobs.gates.data_docs import data_docs

    return data_docs(warehouse, tuple(checks))


if __name__ == "__main__":
    from jobs.cli.app import main

    sys.exit(main(["validate", *sys.argv[1:]]))
