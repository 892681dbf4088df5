"""election-replay: what leader election really did, found out afterwards from the logs.

All that is installed lies below this name. In a checkout its folders are links to those at the top, which hold the
code: ``jobs`` runs the pipeline, ``election_core`` judges, ``schemas`` names the columns. :func:`open` reads what was
published, in a notebook; :mod:`election_replay.notebook` says more.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from election_replay.notebook import Found

__all__ = ["open"]


def open(warehouse: str, run: str | None = None) -> "Found":  # noqa: A001 - as in webbrowser and tarfile
    """What is published in a warehouse folder (path or URI), by the last run or the one whose id begins with ``run``.

    Raises :class:`election_replay.jobs.JobError` when nothing is published there.
    """
    from election_replay import notebook  # it brings DuckDB, which no worker needs

    return notebook.open(warehouse, run)
