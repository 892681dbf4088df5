"""What the gates of a night read of the ledger of landed files, which has a row for each file and landing.

Of the landings after the last published one every row is looked at. Whether a landing of a file is missing shows only
in all of its rows, so that those of files that went on are read too, though they be old. Whether a source has fallen
behind, or reads other volumes than it used to, is asked against some landings before. No other row is read.
"""

from tempfile import gettempdir

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from election_replay.schemas.landed_files import PART

LATELY = 30
"""So many landings before the new ones tell what is usual: about a month of nights."""


def lately(ledger: ds.Dataset, since: int) -> ds.Dataset:
    """The rows of ``ledger`` that a night after the landing ``since`` is judged by; all where that is 0."""
    if not since:
        return ledger
    recent = pc.field("batch") > since - LATELY
    if older := begun_before(ledger, since, recent):
        recent |= pc.field("fingerprint").isin(pa.array(older, pa.string()))
    return ledger.filter(recent)


def begun_before(ledger: ds.Dataset, since: int, recent: pc.Expression) -> list[str]:
    """The files with new rows whose first landing is not among the ``recent`` ones."""
    columns = ["cluster", "source_node", "stream", "fingerprint", "batch", "status"]
    with duckdb.connect() as database:
        database.execute("SET temp_directory = ?", [gettempdir()])
        database.register("recent", ledger.scanner(columns, filter=recent).to_reader())
        found = database.execute(
            "SELECT DISTINCT fingerprint FROM (SELECT fingerprint FROM recent WHERE status <> ? AND fingerprint <> '' "
            "GROUP BY cluster, source_node, stream, fingerprint "
            "HAVING max(batch) > ? AND NOT bool_or(status = 'landed')) ORDER BY fingerprint",
            [PART, since],
        )
        return [fingerprint for (fingerprint,) in found.fetchall()]
