"""Files of which a reader must know: those that were read but not understood, and those not read as they stand."""

from typing import Any

from election_replay.jobs.reading.published import Published
from election_replay.schemas.landed_files import NOT_UNDERSTOOD

MISUNDERSTOOD = f"""SELECT cluster, source_node, path, problem FROM landed_files AS now
WHERE problem LIKE '{NOT_UNDERSTOOD}%' AND batch = (SELECT max(batch) FROM landed_files AS other
  WHERE other.cluster = now.cluster AND other.path = now.path) ORDER BY ALL"""


def misunderstood(published: Published) -> list[dict[str, Any]]:
    """Return the files that their last landing read but did not understand, each with its problem."""
    return published.rows(MISUNDERSTOOD)


def files_put_right(published: Published) -> list[tuple[str, str]]:
    """Return (path, how) of the files whose lines are not read as they stand."""
    rows = published.rows("SELECT DISTINCT path, put_right FROM landed_files WHERE put_right IS NOT NULL ORDER BY ALL")
    return [(row["path"], row["put_right"]) for row in rows]
