"""What the gates found as validations of Great Expectations, with its data docs: pages for people.

Great Expectations gets one frame and one suite a table: a row for each cluster, a column for each expectation, with
the number of rows that break it, which has to be 0. Its import takes seconds, so it is paid where somebody will look:
by ``validate``, and when a gate fails.
"""

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

import pandas as pd

from election_replay.jobs.gates.checks import Check
from election_replay.jobs.warehouse.stores import is_uri
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

if TYPE_CHECKING:
    from great_expectations.data_context.data_context.ephemeral_data_context import EphemeralDataContext
    from great_expectations.datasource.fluent.pandas_datasource import PandasDatasource
    from great_expectations.expectations.core.expect_column_values_to_be_between import ExpectColumnValuesToBeBetween

NOBODY = "(rows without a cluster)"

STYLE = files("election_replay.jobs.gates").joinpath("data_docs.css").read_text(encoding="utf-8")

LEFT_OUT = re.compile(r"<script\b.*?</script>|<(?:link|img)\b[^>]*\b(?:href|src)=[\"'](?:https?:)?//[^>]*>", re.DOTALL)
"""Scripts, and what a page would fetch from another machine."""

POLICY = "default-src 'self' data:; style-src 'unsafe-inline'"
HEAD = f"""<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<style>{STYLE}</style>"""

INDEX = """<!DOCTYPE html>
<html lang="en">{head}<meta charset="utf-8"><title>Gates</title></head>
<body><h1>Gates</h1><p>{summary}</p>
<table><tr><th>table<th>expectations<th>hold<th>rows that break one</tr>
{rows}</table></body></html>
"""


def data_docs(warehouse: Warehouse, checks: Sequence[Check]) -> Path | None:
    """Write the pages of what was found; the path of the first. ``None`` where the warehouse is no local folder."""
    if is_uri(warehouse.root):
        return None
    folder = Path(warehouse.root) / "data_docs"
    shutil.rmtree(folder, ignore_errors=True)
    context = context_with_pages(folder)
    clusters = warehouse.distinct("landed_files", "cluster")
    for table, found in groupby(checks, key=lambda check: check.table):
        validate(context, table, list(found), clusters)
    context.build_data_docs()
    for page in folder.rglob("*.html"):
        page.write_text(offline(page.read_text(encoding="utf-8")), encoding="utf-8")
    first = folder / "index.html"
    first.write_text(index(folder, checks), encoding="utf-8")
    return first


def offline(page: str) -> str:
    """A page of Great Expectations that runs no script, asks no other machine for anything, and can be read so."""
    return LEFT_OUT.sub("", page).replace("<head>", HEAD, 1)


def index(folder: Path, checks: Sequence[Check]) -> str:
    """The first page: each table with its page. Great Expectations' own one is drawn by scripts that it fetches."""
    pages = {page.stem.rpartition("-")[2]: page for page in (folder / "validations").rglob("*.html")}
    rows = []
    for table, found in groupby(checks, key=lambda check: check.table):
        name, of_table = name_of(table), list(found)
        href = quote(pages[name].relative_to(folder).as_posix())
        broken = sum(sum(check.failed.values()) for check in of_table)
        numbers = f"<td>{len(of_table)}<td>{sum(check.holds for check in of_table)}<td>{broken:,}"
        rows.append(f'<tr{" class=failed" * bool(broken)}><td><a href="{href}">{name}</a>{numbers}</tr>')
    summary = f"{sum(check.holds for check in checks):,} of {len(checks):,} expectations hold."
    return INDEX.format(head=HEAD, summary=summary, rows="\n".join(rows))


def name_of(table: str) -> str:
    """What Great Expectations calls a table: its layer and name."""
    return TABLES[table].path.replace("/", ".")


def context_with_pages(folder: Path) -> "EphemeralDataContext":
    """Great Expectations with nothing but a site of pages; it calls nobody."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    for site in list(context.get_site_names()):
        context.delete_data_docs_site(site)
    context.add_data_docs_site(
        "gates",
        {
            "class_name": "SiteBuilder",
            "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
            "store_backend": {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(folder.absolute())},
        },
    )
    context.data_sources.add_pandas("failing rows")
    return context


def validate(context: "EphemeralDataContext", table: str, checks: Sequence[Check], clusters: Iterable[str]) -> None:
    """Let Great Expectations judge one table, with its failing rows only where there are some."""
    import great_expectations as gx

    name = name_of(table)
    source = cast("PandasDatasource", context.data_sources.get("failing rows"))
    batch = source.add_dataframe_asset(name).add_batch_definition_whole_dataframe("all clusters")
    suite = context.suites.add(
        gx.ExpectationSuite(name=name, expectations=[expectation(expected) for expected in checks])
    )
    definition = context.validation_definitions.add(gx.ValidationDefinition(name=name, data=batch, suite=suite))
    failing = [check for check in checks if not check.holds]
    details = {
        "result_format": "COMPLETE",
        "unexpected_index_column_names": ["cluster", *(examples_of(check) for check in failing)],
    }
    definition.run(
        batch_parameters={"dataframe": frame(checks, clusters)},
        result_format=details if failing else "BOOLEAN_ONLY",
    )


def expectation(check: Check) -> "ExpectColumnValuesToBeBetween":
    """No cluster has a row that breaks it."""
    from great_expectations.expectations.core.expect_column_values_to_be_between import ExpectColumnValuesToBeBetween
    from great_expectations.expectations.metadata_types import FailureSeverity

    return ExpectColumnValuesToBeBetween(
        column=check.expectation.name,
        min_value=0,
        max_value=0,
        severity=FailureSeverity(check.expectation.severity),
        description=f"{check.expectation.name}: {check.expectation.says}",
        meta={"rows": check.rows, "version": check.version, "failing_rows": check.expectation.failing},
    )


def frame(checks: Sequence[Check], clusters: Iterable[str]) -> pd.DataFrame:
    """How many rows of each cluster break each expectation, and some of these rows."""
    failing = {cluster or NOBODY for check in checks for cluster in check.failed}
    table = pd.DataFrame({"cluster": sorted(failing.union(clusters))})
    for check in checks:
        failed = {cluster or NOBODY: count for cluster, count in check.failed.items()}
        table[check.expectation.name] = [failed.get(cluster, 0) for cluster in table["cluster"]]
        if not check.holds:
            examples = {cluster or NOBODY: "; ".join(rows) for cluster, rows in check.examples.items()}
            table[examples_of(check)] = [examples.get(cluster, "") for cluster in table["cluster"]]
    return table


def examples_of(check: Check) -> str:
    """The column with examples of an expectation's failing rows."""
    return f"rows that break {check.expectation.name}"
