"""Files that their last landing read but did not understand."""

from typing import Any

from election_replay.jobs.reading.published import Published
from election_replay.schemas.landed_files import NOT_UNDERSTOOD

MISUNDERSTOOD = f"""SELECT cluster, source_node, path, problem FROM landed_files AS now
WHERE problem LIKE '{NOT_UNDERSTOOD}%' AND batch = (SELECT max(batch) FROM landed_files AS other
  WHERE other.cluster = now.cluster AND other.path = now.path) ORDER BY ALL"""


def misunderstood(published: Published) -> list[dict[str, Any]]:
    """Return these files, each with its problem."""
    return published.rows(MISUNDERSTOOD)
