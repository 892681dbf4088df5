"""``gold.fold_checkpoints``: the lines of former nights that a fold needs; see ``election_core.replay.checkpoint``."""

from dataclasses import replace

from election_replay.schemas.common import BATCH
from election_replay.schemas.events import MEANING, SOURCE
from election_replay.schemas.model import STRING, TIMESTAMP, Column, Table

_NOT_READ = frozenset({"broker_name", "committed_from", "committed_to", "level", "protocol", "source_file"})
"""Columns of events that folds do not read."""
_REQUIRED = frozenset({"cluster", "source_node", "stream", "kind", "event_time"})


TABLE = Table(
    name="fold_checkpoints",
    layer="gold",
    comment="The events of each source that a later night still needs, and LIVED rows for the times in which it wrote "
    "others. Made anew from silver.events when the rules change.",
    replaced_by=("cluster", "source_node"),
    columns=(
        *(
            replace(column, key=False, nullable=column.name not in _REQUIRED)
            for column in (*SOURCE, *MEANING)
            if column.name not in _NOT_READ
        ),
        Column(name="until", type=TIMESTAMP, comment="Of a LIVED row: the time of the last line.", unit="UTC"),
        Column(
            name="until_by", type=TIMESTAMP, comment="Of a LIVED row: the last line was written by then.", unit="UTC"
        ),
        Column(name="until_event", type=STRING, comment="Of a LIVED row: the last line."),
        Column(
            name="rules_version",
            type=STRING,
            comment="Version of the rules that decided what is needed.",
            nullable=False,
        ),
        replace(BATCH, comment="The last landing whose events the replay read that wrote the row."),
    ),
)
