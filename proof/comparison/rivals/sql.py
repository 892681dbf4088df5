"""DuckDB over the events: the second judge's queries, and two more with LAG.

python -m proof.comparison.rivals.sql EVENTS
"""

import sys
from pathlib import Path

import duckdb

from proof.comparison.questions import Question
from proof.comparison.rivals.claims import claim, event_files
from proof.second_judge.__main__ import HERE as SECOND_JUDGE

MEANS = {
    "SPLIT_BRAIN_OVERLAP": Question.TWO_LEADERS,
    "SPLIT_BRAIN_SAME_TERM": Question.SAME_TERM,
    "DOUBLE_VOTE": Question.DOUBLE_VOTE,
    "LEADERLESS": Question.LEADERLESS,
    "COMMITTED_ENTRY_LOST": Question.WRITES_LOST,
    "LOCK_DOUBLE_HOLD": Question.DOUBLE_LOCK,
    "METADATA_ROLLBACK": Question.ROLLBACK,
}
"""What the rules of the queries answer."""


def main(events: Path) -> None:
    """Print what the queries claim of the runs whose events lie below ``events``."""
    queries = [*sorted(SECOND_JUDGE.glob("*.sql")), *sorted(Path(__file__).parent.glob("*.sql"))]
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'; SET threads = 1")
        for run, file in event_files(events):
            database.execute(
                "CREATE OR REPLACE TABLE events AS SELECT * REPLACE (? AS cluster) FROM read_parquet(?)",
                [run, str(file)],
            )
            for query in queries:
                rules = {row[1] for row in database.execute(query.read_text()).fetchall()}
                for rule in sorted(rules & MEANS.keys()):
                    claim(run, MEANS[rule])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
