"""The gates as a Great Expectations project with data docs.

The project is in ``gx/`` of a warehouse. Its data source ``election_replay`` is a DuckDB database of the newest rows,
each table has a suite of our SQL expectations, and the checkpoint ``gates`` runs them all. Validation definitions that
the user adds run too. Great Expectations takes seconds, so this is only for ``validate``, and for a failed gate.
"""

import atexit
import os
import re
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from election_replay.jobs import JobError
from election_replay.jobs.engines.duckdb_rows import database_in
from election_replay.jobs.gates.checks import MEMORY, THREADS, Check, Newest, columns_read
from election_replay.jobs.templates import templates_of
from election_replay.jobs.warehouse.stores import is_uri
from election_replay.jobs.warehouse.table_sets import JUDGED, LANDED
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.model import sql_text

if TYPE_CHECKING:
    from great_expectations.core import ExpectationValidationResult
    from great_expectations.data_context.data_context.file_data_context import FileDataContext
    from great_expectations.expectations.core.unexpected_rows_expectation import UnexpectedRowsExpectation

SOURCE, CHECKPOINT = "election_replay", "gates"
"""The names of the data source and of the checkpoint of our suites."""
WHOLE = "whole table"

VARIABLE = re.compile(r"getvariable\('(\w+)'\)")
"""A variable in an expectation's SQL, which is replaced by a literal."""

LEFT_OUT = re.compile(r"<script\b.*?</script>|<(?:link|img)\b[^>]*\b(?:href|src)=[\"'](?:https?:)?//[^>]*>", re.DOTALL)
"""Scripts, and elements that a page would fetch from another machine."""

TEMPLATES = templates_of("election_replay.jobs.gates")
HEAD = "<head>" + TEMPLATES.get_template("data_docs_head.html.j2").render()


@dataclass(frozen=True, slots=True)
class Pages:
    """The data docs of one run of Great Expectations.

    ``first`` is the first page, ``unexpected`` the number of failing rows by (table, expectation), ``failed`` are the
    names of the user's own validation definitions that failed.
    """

    first: Path
    unexpected: dict[tuple[str, str], int]
    failed: tuple[str, ...]


def data_docs(warehouse: Warehouse, checks: Sequence[Check], as_of: datetime | None = None) -> Pages | None:
    """Run the suites of the checked tables, and the user's own; ``None`` if the warehouse is not a local folder.

    Raises :class:`~jobs.JobError` if the project of the warehouse cannot be opened.
    """
    if is_uri(warehouse.root):
        return None
    folder = Path(warehouse.root).absolute() / "data_docs"
    shutil.rmtree(folder, ignore_errors=True)
    context = project(Path(warehouse.root).absolute(), folder)
    database = new_database(Path(context.root_directory, "uncommitted"))
    fill(database, warehouse, [table for table, _ in groupby(checks, key=lambda check: check.table)], as_of)
    with redirect_stdout(StringIO()):  # it warns that each suite reads whole tables, which is intended
        unexpected = run_ours(context, database, checks, variables(warehouse, as_of))
        looked_at = {check.table for check in checks}
        failed = tuple(run_others(context)) if looked_at >= {*LANDED, *JUDGED} else ()
        context.build_data_docs()
    for page in folder.rglob("*.html"):
        page.write_text(offline(page.read_text(encoding="utf-8")), encoding="utf-8")
    first = folder / "index.html"
    first.write_text(index(folder, checks), encoding="utf-8")
    return Pages(first, unexpected, failed)


def new_database(folder: Path) -> Path:
    """Return the path of a new database, and delete database and results of the validation before.

    The new one is kept after the run, for users who write suites.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "validations", ignore_errors=True)
    for older in folder.glob(f"{SOURCE}-*.duckdb*"):
        older.unlink(missing_ok=True)
    return folder / f"{SOURCE}-{uuid4().hex}.duckdb"


def fill(database: Path, warehouse: Warehouse, tables: Collection[str], as_of: datetime | None) -> None:
    """Write the newest rows of ``tables``, and of tables that their expectations read, to a DuckDB database.

    All other tables are created without rows: Great Expectations looks for each table that it has ever known.
    """
    read = {*tables, *columns_read(tables)}
    with database_in(MEMORY, THREADS) as (memory, _):
        Newest(memory, warehouse, as_of=as_of, columns={name: TABLES[name].names for name in read})
        memory.execute(f"ATTACH {sql_text(str(database))} AS project")
        for name in sorted(read):
            memory.execute(f"CREATE TABLE project.{name} AS FROM {name}")
        for name in {*LANDED, *JUDGED} - read:
            memory.register("no_rows", TABLES[name].arrow_schema().empty_table())
            memory.execute(f"CREATE TABLE project.{name} AS FROM no_rows")


def variables(warehouse: Warehouse, as_of: datetime | None) -> dict[str, str]:
    """Return the SQL literals of the variables in expectations."""
    moment = f"TIMESTAMPTZ '{as_of.isoformat()}'" if as_of else "NULL"
    return {"as_of": moment, "since": "0", "forgotten": str(warehouse.forgotten())}


def offline(page: str) -> str:
    """Return a page of Great Expectations without scripts and without references to other machines."""
    return LEFT_OUT.sub("", page).replace("<head>", HEAD, 1)


def index(folder: Path, checks: Sequence[Check]) -> str:
    """Return the first page, with a link for each table. Great Expectations' own needs scripts from the network."""
    pages = {page.stem.rpartition("-")[2]: page for page in (folder / "validations").rglob("*.html")}
    tables = []
    for table, found in groupby(checks, key=lambda check: check.table):
        name, of_table = name_of(table), list(found)
        href = quote(pages[name].relative_to(folder).as_posix())
        broken = sum(sum(check.failed.values()) for check in of_table)
        tables.append((name, href, len(of_table), sum(check.holds for check in of_table), broken))
    return TEMPLATES.get_template("data_docs.html.j2").render(tables=tables, checks=checks, name_of=name_of)


def name_of(table: str) -> str:
    """Return the name of a table in Great Expectations: layer and name."""
    return TABLES[table].path.replace("/", ".")


def project(root: Path, pages: Path) -> "FileDataContext":
    """Return the project of a warehouse, created if missing, without analytics and with its pages in ``pages``."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig
    from great_expectations.exceptions.exceptions import GreatExpectationsError

    keep_connections()
    try:
        context = gx.get_context(mode="file", project_root_dir=root)
    except GreatExpectationsError as error:
        raise JobError(f"the project of Great Expectations in {root / 'gx'} cannot be opened: {error}") from error
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    site: Any = {
        "class_name": "SiteBuilder",
        "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
        "store_backend": {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(pages)},
    }
    for name in list(context.get_site_names()):
        context.delete_data_docs_site(name)
    context.add_data_docs_site("gates", site)
    return context


def keep_connections() -> None:
    """Make Great Expectations fetch results from DuckDB before it closes a connection, as it does with SQLite.

    For other databases it closes first, and a DuckDB result ends with its transaction.
    """
    from great_expectations.execution_engine import sqlalchemy_execution_engine as engine

    if "duckdb" not in engine._PERSISTED_CONNECTION_DIALECTS:
        known: Any = engine._PERSISTED_CONNECTION_DIALECTS
        engine._PERSISTED_CONNECTION_DIALECTS = (*known, Dialect("duckdb"))
        atexit.register(silence_stderr)


def silence_stderr() -> None:
    """Redirect standard error to nowhere at exit: DuckDB's library would report objects that its dialect holds."""
    sys.stderr.flush()
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device
        os.dup2(nowhere.fileno(), 2)


class Dialect(str):
    """The name of a SQL dialect in the form of Great Expectations' enum members."""

    __slots__ = ()

    @property
    def value(self) -> str:
        """Return the name."""
        return str(self)


def run_ours(
    context: "FileDataContext", database: Path, checks: Sequence[Check], given: Mapping[str, str]
) -> dict[tuple[str, str], int]:
    """Run the checkpoint of our suites, and return the number of failing rows by (table, expectation)."""
    import great_expectations as gx

    source = source_of(context, f"duckdb:///{database}")
    known = {asset.name: asset for asset in source.assets}
    definitions = []
    for table, found in groupby(checks, key=lambda check: check.table):
        name = name_of(table)
        suite = gx.ExpectationSuite(name=name, expectations=[expectation(check, given) for check in found])
        asset = known.get(name) or source.add_table_asset(name, table_name=table)
        whole = [batch for batch in asset.batch_definitions if batch.name == WHOLE]
        batch = whole[0] if whole else asset.add_batch_definition_whole_table(WHOLE)
        kept = context.suites.add_or_update(suite)
        definition = gx.ValidationDefinition(name=name, data=batch, suite=kept)
        definitions.append(context.validation_definitions.add_or_update(definition))
    checkpoint = gx.Checkpoint(name=CHECKPOINT, validation_definitions=definitions, result_format="SUMMARY")
    done = context.checkpoints.add_or_update(checkpoint).run()
    return {
        (table_of(result.suite_name), meta_of(single)["name"]): unexpected_rows(single)
        for result in done.run_results.values()
        for single in result.results
    }


def source_of(context: "FileDataContext", address: str) -> Any:
    """Return the data source with the users' additions, pointed to the current database ``address``."""
    if SOURCE not in context.data_sources.all():
        return context.data_sources.add_sql(SOURCE, connection_string=address)
    source: Any = context.data_sources.get(SOURCE)
    if str(source.connection_string) != address:
        source.connection_string = address
        source = context.data_sources.update_sql(source)
    return source


def unexpected_rows(result: "ExpectationValidationResult") -> int:
    """Return the number of failing rows. Raises :class:`~jobs.JobError` if Great Expectations could not check."""
    info = result.exception_info
    if "raised_exception" not in info or info["raised_exception"]:
        raise JobError(f"Great Expectations could not check {meta_of(result)['name']}: {readable_info(info)}")
    return int(result.result["observed_value"])


def meta_of(result: "ExpectationValidationResult") -> Mapping[str, Any]:
    """Return the metadata of one of our expectations."""
    return (result.expectation_config and result.expectation_config.meta) or {"name": "an expectation"}


def readable_info(info: Mapping[str, Any]) -> str:
    """Return the first line of an exception's message, which stands at the top level or under a metric."""
    found = info if "exception_message" in info else next(iter(info.values()), {})
    return (str(found.get("exception_message") or "it does not say why").splitlines() or [""])[0]


def run_others(context: "FileDataContext") -> Iterator[str]:
    """Run the user's own validation definitions, and yield the names of those that failed."""
    ours = set(map(name_of, (*LANDED, *JUDGED)))
    for definition in context.validation_definitions.all():
        if definition.name not in ours and definition.data_source.name == SOURCE and not definition.run().success:
            yield definition.name


def expectation(check: Check, given: Mapping[str, str]) -> "UnexpectedRowsExpectation":
    """Return an expectation that the SELECT of the gate finds no row."""
    from great_expectations.expectations.core.unexpected_rows_expectation import UnexpectedRowsExpectation
    from great_expectations.expectations.metadata_types import FailureSeverity

    failing = VARIABLE.sub(lambda found: given[found[1]], check.expectation.failing)
    rows = failing.replace("{", "{{").replace("}", "}}")
    return UnexpectedRowsExpectation(
        # As texts: to fetch times with a zone DuckDB needs another Python package.
        unexpected_rows_query=f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({rows}) AS failing",  # noqa: S608
        severity=FailureSeverity(check.expectation.severity),
        description=f"{check.expectation.name}: {check.expectation.says}",
        meta={"name": check.expectation.name, "rows": check.rows, "version": check.version},
    )


def table_of(name: str) -> str:
    """Return the table for a name that :func:`name_of` made."""
    return name.rpartition(".")[2]
