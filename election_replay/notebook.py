"""A published warehouse in a notebook: three lines, without Spark.

    import election_replay
    found = election_replay.open("/data/warehouse")
    found.sql("SELECT * FROM findings ORDER BY start_time").df()

What is published can be read, and nothing else: no files, no network. A result is an Arrow table with ``df()`` beside
it; an incident shows itself as the picture and the text of the report.
"""

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from election_replay.jobs.reading.explain import explain
from election_replay.jobs.reading.incident import Incident, incident
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import cell, harmless, moment, paragraph, surely
from election_replay.jobs.showing.explanation_text import explanation_text
from election_replay.jobs.warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["Answer", "Found", "Picture", "Text", "open"]

ROWS_SHOWN = 50


class Answer:
    """The answer to a query: :meth:`arrow` and :meth:`df` give it, and a notebook shows its first rows."""

    def __init__(self, table: "pa.Table") -> None:
        self._table = table

    def arrow(self) -> "pa.Table":
        """As an Arrow table: timestamps are UTC, with microseconds."""
        return self._table

    def df(self) -> "pd.DataFrame":
        """As a pandas data frame; needs pandas."""
        return self._table.to_pandas()

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._table.to_pylist())

    def __repr__(self) -> str:
        """What it holds, where only text is shown."""
        rows = f"{len(self):,} row{'' if len(self) == 1 else 's'}"
        return f"{rows} of {', '.join(self._table.column_names)}: df() and arrow() give them"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self._table.column_names)
        rows = self._table.slice(0, ROWS_SHOWN).to_pylist()
        body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row.values()) + "</tr>" for row in rows)
        more = f"<caption>{len(rows):,} of {len(self):,} rows</caption>"
        return f"<table>{more}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Picture:
    """An incident, shown as its report; ``html`` is the whole page, ``incident`` its data."""

    def __init__(self, found: Incident) -> None:
        from election_replay.jobs.showing.report import page

        self.incident = found
        self.html = page(found)

    def __repr__(self) -> str:
        """The gravest finding in its sentence and what else it holds, where only text is shown."""
        found = self.incident
        worst = f"{surely(found.roots[0])} {found.roots[0]['rule']}: {found.roots[0]['summary']}" if found.roots else ""
        lines = (
            f"{found.cluster} / {found.group}",
            found.span_in_words(),
            worst or "Nothing went wrong in this time that the logs show.",
            f"Findings: {found.numbers_by_severity()}; {len(found.members)} members; {len(found.moments)} moments.",
            "html holds the report as a page, incident its data.",
        )
        return "\n".join(line for text in lines for line in paragraph(harmless(text), "", "  "))

    def _repr_html_(self) -> str:
        page = escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" sandbox="" style="width:100%;height:40em;border:0"></iframe>'


class Text(str):
    """Text that a notebook shows with its line breaks."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


class Found:
    """What is published in a warehouse; ``run`` is the row of ``gold.runs`` that says so."""

    def __init__(self, published: Published) -> None:
        self._published = published
        self.run = published.run

    def __repr__(self) -> str:
        """Which run of which warehouse it is."""
        when = f"{self.run['published_at']:%Y-%m-%d %H:%M} UTC"
        return f"{self._published.place}, run {self.run['run_id']}, published {when}: sql(), incident(), explain()"

    def sql(self, query: str) -> Answer:
        """The answer to one SELECT over the tables, views and functions of docs/tables.md.

        Raises :class:`jobs.JobError` for anything else.
        """
        return Answer(self._published.query(query))

    def incident(self, cluster: str, group: str, since: str | None = None, until: str | None = None) -> Picture:
        """One group's incident as a picture: story, lanes, findings with their lines. Times are ISO, UTC by default."""
        return Picture(incident(self._published, cluster, group, moment(since), moment(until)))

    def explain(self, finding_id: str) -> Text:
        """Why a finding was made, what to do next, and what would refute it; the beginning of its id is enough."""
        return Text("\n".join(explanation_text(explain(self._published, finding_id))))


def open(warehouse: str, run: str | None = None) -> Found:  # noqa: A001 - as in webbrowser and tarfile
    """What is published in a warehouse folder (path or URI), by the last run or the one whose id begins with ``run``.

    Raises :class:`jobs.JobError` when nothing is published there.
    """
    return Found(Published(Warehouse(warehouse), run))


def _cell(value: Any) -> str:
    return "" if value is None else escape(harmless(cell(value)))
